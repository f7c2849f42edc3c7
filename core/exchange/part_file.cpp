// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/part_file.h"

#include <unistd.h>

#include <utility>

#include "core/store/content_file.h"

namespace dsa {

namespace {

tl::unexpected<Error> nothingLeft(const Error& error) {
  return fail(error.code, "{}. The table is as it was, and nothing of the export is left", error.message);
}

}  // namespace

Result<PartFile> PartFile::create(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    return fail(ErrorCode::input, "{}: exists already; it was not touched and nothing was written. Choose another name",
                path);
  }
  PartFile part;
  part.m_path = path;
  auto file = File::openUnnamed(path);
  if (!file) {
    // No such files here; where the reason is another, this says it again.
    const std::string name = fmt::format("{}.{}.part", path, ::getpid());
    file = File::open(name, File::Mode::createNew);
    if (!file) return tl::unexpected(std::move(file).error());
    part.m_partPath = name;
  }
  part.m_bulk = BulkFile(std::move(*file));
  return part;
}

PartFile::PartFile(PartFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_partPath(std::exchange(other.m_partPath, {})),
      m_bulk(std::move(other.m_bulk)) {}

PartFile::~PartFile() {
  std::error_code ignored;
  if (!m_partPath.empty()) std::filesystem::remove(m_partPath, ignored);
}

Result<void> PartFile::add(std::span<const std::byte> bytes) {
  if (auto added = m_bulk.add(bytes); !added) return nothingLeft(added.error());
  return {};
}

Result<void> PartFile::finish() {
  if (auto synced = m_bulk.finish(); !synced) return nothingLeft(synced.error());
  return {};
}

Result<void> PartFile::publish() {
  const bool unnamed = m_partPath.empty();
  if (auto named = unnamed ? m_bulk.file().giveName() : renameNew(m_partPath, m_path); !named)
    return nothingLeft(named.error());
  m_partPath.clear();
  return {};
}

Result<void> publishAll(std::vector<PartFile>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (auto named = files[i].publish(); !named) {
      std::error_code ignored;
      for (std::size_t before = 0; before < i; ++before) std::filesystem::remove(files[before].path(), ignored);
      return named;
    }
  }
  return {};
}

}  // namespace dsa
