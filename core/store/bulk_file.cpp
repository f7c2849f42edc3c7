// SPDX-License-Identifier: Apache-2.0
#include "core/store/bulk_file.h"

#include <fcntl.h>

#include <algorithm>

namespace dsa {

namespace {

constexpr std::size_t kPendingBytes = 1u << 20;
constexpr std::uint64_t kDropBytes = 16ull << 20;

}  // namespace

BulkFile::BulkFile(File file, std::uint64_t offset) : m_file(std::move(file)), m_offset(offset), m_dropped(offset) {
  m_pending.reserve(kPendingBytes);
}

Result<void> BulkFile::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t taken = std::min(bytes.size(), kPendingBytes - m_pending.size());
    m_pending.insert(m_pending.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (m_pending.size() == kPendingBytes) DSA_TRY(flush());
  }
  return {};
}

Result<void> BulkFile::flush() {
  DSA_TRY(m_file.writeAt(m_pending, m_offset));
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

Result<void> BulkFile::finish() {
  DSA_TRY(flush());
  DSA_TRY(m_file.sync());
  // Of the whole file: a folio that lay across the end of an earlier piece is still there.
  ::posix_fadvise(m_file.fd(), 0, 0, POSIX_FADV_DONTNEED);
  return {};
}

}  // namespace dsa
