// SPDX-License-Identifier: Apache-2.0
#include "core/exchange/part_file.h"

#include <fcntl.h>

#include <utility>

#include "core/store/content_file.h"

namespace dsa {

namespace {

constexpr std::size_t kPendingBytes = 1u << 20;
constexpr std::uint64_t kDropBytes = 16ull << 20;

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
  PartFile file;
  file.m_path = path;
  std::filesystem::remove(file.partPath(), ignored);
  DSA_ASSIGN(file.m_file, File::open(file.partPath(), File::Mode::createNew));
  file.m_unfinished = true;
  file.m_pending.reserve(kPendingBytes);
  return file;
}

PartFile::PartFile(PartFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_file(std::move(other.m_file)),
      m_pending(std::move(other.m_pending)),
      m_offset(other.m_offset),
      m_dropped(other.m_dropped),
      m_unfinished(std::exchange(other.m_unfinished, false)) {}

PartFile::~PartFile() {
  std::error_code ignored;
  if (m_unfinished) std::filesystem::remove(partPath(), ignored);
}

Result<void> PartFile::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), kPendingBytes - m_pending.size());
    m_pending.insert(m_pending.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (m_pending.size() == kPendingBytes) DSA_TRY(flush());
  }
  return {};
}

Result<void> PartFile::flush() {
  if (auto written = m_file.writeAt(m_pending, m_offset); !written) return nothingLeft(written.error());
  m_offset += m_pending.size();
  m_pending.clear();
  if (m_offset - m_dropped < kDropBytes) return {};
  // An error of the write-back comes again from finish().
  const auto from = static_cast<off_t>(m_dropped), length = static_cast<off_t>(m_offset - m_dropped);
  ::sync_file_range(m_file.fd(), from, length,
                    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  ::posix_fadvise(m_file.fd(), from, length, POSIX_FADV_DONTNEED);
  m_dropped = m_offset;
  return {};
}

Result<void> PartFile::finish() {
  DSA_TRY(flush());
  if (auto synced = m_file.sync(); !synced) return nothingLeft(synced.error());
  return {};
}

Result<void> PartFile::publish() {
  if (auto named = renameNew(partPath(), m_path); !named) return nothingLeft(named.error());
  m_unfinished = false;
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
