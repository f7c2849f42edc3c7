// SPDX-License-Identifier: Apache-2.0
// Files that go bad under an open store: cut short or removed by somebody, or pages that their disk cannot give.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/store/slotted_table.h"
#include "core/store/store_names.h"

namespace dsa {

namespace {

/// What became of a file that should be `expected` bytes long; no value: nothing that its inode tells.
std::optional<std::string> lossOf(const struct stat& now, const std::string& path, std::uint64_t expected) {
  if (now.st_nlink == 0) return fmt::format("{}: removed by another program while it was in use", path);
  if (static_cast<std::uint64_t>(now.st_size) < expected) {
    return fmt::format("{}: cut short by another program while it was in use ({} bytes long, expected {})", path,
                       now.st_size, expected);
  }
  return std::nullopt;
}

}  // namespace

/// The files' lengths, then the pages that faulted. A length tells more: a new record's pwrite makes a file that was
/// cut short longer again, and what is cut off inside a page reads as zeros; neither faults.
std::optional<RowStore::Loss> RowStore::loss() const {
  std::optional<Loss> lost;
  const auto measure = [&](int fd, const std::string& path, std::uint64_t expected) {
    struct stat now {};
    if (lost) return;
    // By its name where no descriptor is kept.
    if ((fd >= 0 ? ::fstat(fd, &now) : ::stat(path.c_str(), &now)) == 0) {
      if (auto what = lossOf(now, path, expected)) lost = Loss{std::move(*what), true};
    } else if (fd < 0 && errno == ENOENT) {
      lost = Loss{fmt::format("{}: removed by another program while it was in use", path), true};
    }
  };
  const auto faulted = [&](const Mapping& map, const std::string& path) {
    if (!lost && map.damaged())
      lost = Loss{fmt::format("{}: its disk failed: a page of it could not be read or written", path), false};
  };
  const auto look = [&](const Mapping& map, int fd, const std::string& path) {
    if (map.size() == 0) return;  // a reader maps less
    measure(fd, path, map.size());
    faulted(map, path);
  };
  for (std::size_t t = 0; t < m_rowFiles.size(); ++t) {
    const RowFile& rows = m_rowFiles[t];
    for (std::size_t s = 0; s < rows.files().size(); ++s)
      measure(rows.files()[s].fd(), rows.files()[s].path(), kPage + rows.layout().contentOf(s));
    faulted(m_rowMaps[t], rows.path());
    look(m_touchedMaps[t], m_touchedFiles[t].fd(), m_touchedFiles[t].path());
  }
  look(m_storeMap, m_storeFile.fd(), m_storeFile.path());
  look(m_lossMap, m_lossFile.fd(), m_lossFile.path());
  look(m_intent.mapping(), -1, names::intent(m_folder));
  return lost;
}

bool RowStore::damaged() const {
  const auto lost = [](const Mapping& map) { return map.damaged(); };
  return lost(m_storeMap) || lost(m_lossMap) || lost(m_intent.mapping()) ||
         std::any_of(m_rowMaps.begin(), m_rowMaps.end(), lost) ||
         std::any_of(m_touchedMaps.begin(), m_touchedMaps.end(), lost);
}

Error RowStore::lostError(const Loss& lost) const {
  if (!m_writable) {
    return Error{ErrorCode::machine, fmt::format("{}. What was read of it is thrown away; {}", lost.what,
                                                 lost.forGood ? "resume the run, or take the table from a copy"
                                                              : "see to the disk, then try again")};
  }
  if (!lost.forGood) {
    return Error{ErrorCode::machine,
                 fmt::format("{}. Nothing more is written to this table; see to the disk, then "
                             "resume the run: it goes on from {}",
                             lost.what, m_durability == Durability::power ? "its last checkpoint" : "step 0")};
  }
  return Error{ErrorCode::machine,
               fmt::format("{}. Its rows are lost, and nothing more is written to this table. Delete the folder {}, "
                           "then resume the run: it starts again from step 0 and ends in the same bits",
                           lost.what, m_folder)};
}

/// Asked several times a step: no system call while all is well.
Result<void> RowStore::intact() const {
  if (!damaged()) return {};
  const std::optional<Loss> lost = loss();
  return tl::unexpected(lostError(lost.value_or(Loss{m_folder, false})));
}

/// What stands in the files is any subset of the stores, as after a power loss: the boot id goes, so that the next open
/// treats it as one. Where a file's content is gone, the undo journal cannot bring it back, even if somebody makes the
/// file as long as it was: "power" goes, too, and every row counts as untouched.
void RowStore::disown(bool forGood) {
  struct Flags {
    unsigned char bootId[16];
    std::uint64_t clean;
    std::uint64_t power;
  };
  static_assert(offsetof(LivePage, clean) == offsetof(LivePage, bootId) + offsetof(Flags, clean));
  static_assert(offsetof(LivePage, power) == offsetof(LivePage, bootId) + offsetof(Flags, power));
  constexpr std::uint64_t kAt = 3 * kPage + offsetof(LivePage, bootId);
  Flags flags{};
  // The mapping may have lost this very page; a file that was cut short is not made longer by what is written here.
  const bool byFile = m_storeMap.damaged();
  if (!byFile) {
    std::memcpy(&flags, live().bootId, sizeof flags);
  } else if (!m_storeFile.readAt(std::as_writable_bytes(std::span(&flags, 1)), kAt)) {
    return;
  }
  if (flags.clean == 1) return;  // nothing has changed: still as it was closed
  std::fill(std::begin(flags.bootId), std::end(flags.bootId), std::uint8_t{0});
  if (forGood) flags.power = 0;
  if (byFile) {
    (void)m_storeFile.writeAt(std::as_bytes(std::span(&flags, 1)), kAt);
  } else {
    std::memcpy(live().bootId, &flags, sizeof flags);
  }
}

Result<void> RowStore::usable() {
  if (m_closed)
    return fail(ErrorCode::bug, "{}: the table is closed and was not changed; open it again to go on", m_folder);
  if (!m_broken.message.empty()) return tl::unexpected(m_broken);
  const std::optional<Loss> lost = loss();
  if (!lost) return {};
  m_broken = lostError(*lost);
  disown(lost->forGood);
  return tl::unexpected(m_broken);
}

RowStore::~RowStore() {
  // Whoever gave up for another reason must not leave rows behind that the next open believes.
  if (m_writable && !m_closed) (void)usable();
}

}  // namespace dsa
