// SPDX-License-Identifier: Apache-2.0
// Fuzz target: store.dsa - superblock, checkpoints, live page - and what open() then does with the other files.
//
// Input: a byte of flags; superblock, the two slots, the live page as far as they go; what is missing stays as it was.
#include "fuzz_files.h"

using namespace dsa;

namespace {

enum Flags : std::uint8_t { fixSuper = 1, fixSlots = 2, power = 4, anotherBoot = 8, ownUuid = 16 };

template <class T>
void overlay(std::string& file, std::size_t at, fuzz::Bytes& bytes) {
  bytes.take(file.data() + at, sizeof(T));
}

template <class T>
void fixChecksum(std::string& file, std::size_t at) {
  const std::uint64_t sum = checksumOf(file.data() + at, offsetof(T, checksum));
  std::memcpy(file.data() + at + offsetof(T, checksum), &sum, sizeof sum);
}

/// Whatever was opened: every row can be read, and a step be made.
void use(RowStore& store, bool writable) {
  std::vector<float> weights;
  for (std::uint32_t t = 0; t < store.shape().tables.size(); ++t) {
    weights.resize(store.shape().tables[t].dim);
    for (std::uint64_t row = 0; row < store.shape().tables[t].rows; ++row) store.readWeights(t, row, weights.data());
  }
  if (!writable) return;
  ThreadPool pool(1);
  fuzz::require(fuzz::advance(store, pool).has_value());
  fuzz::require(store.close().has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Template base("store");
  fuzz::Bytes bytes(data, size);
  const auto flags = bytes.take<std::uint8_t>();
  std::string file = base.file("store.dsa");
  overlay<Superblock>(file, 0, bytes);
  // The other files carry it, and it is another one in each process.
  if ((flags & ownUuid) != 0) file.replace(offsetof(Superblock, uuid), 16, base.file("store.dsa"), 16, 16);
  overlay<CheckpointSlot>(file, kPage, bytes);
  overlay<CheckpointSlot>(file, 2 * kPage, bytes);
  overlay<LivePage>(file, 3 * kPage, bytes);
  if ((flags & fixSuper) != 0) fixChecksum<Superblock>(file, 0);
  if ((flags & fixSlots) != 0) {
    fixChecksum<CheckpointSlot>(file, kPage);
    fixChecksum<CheckpointSlot>(file, 2 * kPage);
  }
  base.put("store.dsa", file);
  overrideBootId((flags & anotherBoot) != 0 ? "00000000-0000-0000-0000-000000000002" : fuzz::kBoot);
  if (const auto reader = RowStore::openReadOnly(base.folder())) use(**reader, false);
  const Durability durability = (flags & power) != 0 ? Durability::power : Durability::process;
  const auto store = RowStore::open(base.folder(), durability, fuzz::Template::kernels());
  if (store) {
    use(**store, true);
  } else {
    // Refused: not a byte was changed.
    fuzz::require(*readTextFile(base.folder() + "/store.dsa") == file);
  }
  return 0;
}
