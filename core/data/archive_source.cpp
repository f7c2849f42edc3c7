// SPDX-License-Identifier: Apache-2.0
#include "core/data/archive_source.h"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>

#include "core/base/file.h"

namespace dsa {

struct ArchiveSource::Input {
  std::unique_ptr<ByteSource> packed;
  std::uint64_t packedBytes = 0;
  std::optional<Error> error;
  std::array<char, 1 << 16> buffer;
};

namespace {

/// Only what people pack datasets in: each further format or filter is a parser more for hostile bytes (and text that
/// begins with
/// "#mtree" or "begin 644" must stay text).
void supportFormats(struct archive* reader) {
  archive_read_support_filter_gzip(reader);
  archive_read_support_filter_bzip2(reader);
  archive_read_support_filter_xz(reader);
  archive_read_support_filter_lzma(reader);
  archive_read_support_filter_zstd(reader);
  archive_read_support_filter_lz4(reader);
  archive_read_support_filter_compress(reader);
  archive_read_support_format_tar(reader);
  archive_read_support_format_zip_streamable(reader);
  archive_read_support_format_empty(reader);
  archive_read_support_format_raw(reader);
}

}  // namespace

ArchiveSource::~ArchiveSource() {
  if (m_archive != nullptr) archive_read_free(m_archive);
}

tl::unexpected<Error> ArchiveSource::archiveError(const char* what) const {
  if (m_input->error) return tl::unexpected<Error>(*m_input->error);
  const char* reason = archive_error_string(m_archive);
  return fail(ErrorCode::input, "{}: {}: {}; the file is damaged or cut short", m_label, what,
              reason != nullptr ? reason : "unknown reason");
}

Result<std::unique_ptr<ArchiveSource>> ArchiveSource::open(std::unique_ptr<ByteSource> packed, std::string label,
                                                           const UnpackLimits& limits) {
  std::unique_ptr<ArchiveSource> source(new ArchiveSource());
  source->m_label = std::move(label);
  source->m_limits = limits;
  source->m_input = std::make_unique<Input>();
  source->m_input->packed = std::move(packed);
  source->m_archive = archive_read_new();
  if (source->m_archive == nullptr) return fail(ErrorCode::machine, "{}: no memory to unpack it", source->m_label);
  supportFormats(source->m_archive);
  const auto readPacked = [](struct archive* reader, void* data, const void** bytes) -> la_ssize_t {
    auto& input = *static_cast<Input*>(data);
    auto got = input.packed->read(input.buffer);
    if (!got) {
      archive_set_error(reader, EIO, "%s", got.error().message.c_str());
      input.error = got.error();
      return -1;
    }
    input.packedBytes += *got;
    *bytes = input.buffer.data();
    return static_cast<la_ssize_t>(*got);
  };
  if (archive_read_open(source->m_archive, source->m_input.get(), nullptr, readPacked, nullptr) < ARCHIVE_WARN) {
    return source->archiveError("cannot unpack");
  }
  DSA_ASSIGN(const bool any, source->nextHeader());
  if (!any) {
    // Zero bytes, or a compressed stream of zero bytes: neither has a header.
    if (source->m_input->packedBytes == 0) return fail(ErrorCode::input, "{}: the file is empty", source->m_label);
    return fail(ErrorCode::input, "{}: the file is empty, or holds only NUL bytes", source->m_label);
  }
  source->m_isArchive = archive_format(source->m_archive) != ARCHIVE_FORMAT_RAW;
  source->m_atHeader = true;
  return source;
}

Result<bool> ArchiveSource::nextHeader() {
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(m_archive, &entry);
  if (status == ARCHIVE_EOF) return false;
  if (status < ARCHIVE_WARN) return archiveError("cannot unpack");
  if (++m_headers > m_limits.members) {
    return fail(ErrorCode::input, "{}: more than {} entries in the archive; unpack it and give the file", m_label,
                m_limits.members);
  }
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) name = archive_entry_pathname_utf8(entry);
  m_memberName = name != nullptr ? name : fmt::format("member {}", m_headers);
  m_isRegular = archive_format(m_archive) == ARCHIVE_FORMAT_RAW || archive_entry_filetype(entry) == AE_IFREG;
  m_memberSize = archive_entry_size_is_set(entry) != 0 ? static_cast<std::uint64_t>(archive_entry_size(entry)) : 0;
  return true;
}

Result<void> ArchiveSource::skipRest() {
  std::array<char, 1 << 16> sink;
  while (true) {
    DSA_ASSIGN(const std::size_t got, read(sink));  // not archive_read_data_skip: the limits count here too
    if (got == 0) return {};
  }
}

Result<bool> ArchiveSource::nextFile() {
  while (!m_ended) {
    if (!m_atHeader) {
      DSA_TRY(skipRest());
      DSA_ASSIGN(const bool more, nextHeader());
      m_ended = !more;
      if (m_ended) break;
    }
    m_atHeader = false;
    if (m_isRegular) return true;
  }
  return false;
}

Result<std::size_t> ArchiveSource::read(std::span<char> bytes) {
  const la_ssize_t got = archive_read_data(m_archive, bytes.data(), bytes.size());
  if (got < 0) return archiveError("cannot unpack");
  m_unpacked += static_cast<std::uint64_t>(got);
  if (m_unpacked > m_limits.bytes) {
    return fail(ErrorCode::input, "{}: more than {} once unpacked, which is the limit; unpack it and give a part",
                m_label, formatBytes(m_limits.bytes));
  }
  if (m_unpacked > m_limits.ratioFreeBytes && m_unpacked / m_limits.ratio > m_input->packedBytes) {
    return fail(ErrorCode::input,
                "{}: {} unpack to more than {}, over {} times as much: this looks like a decompression bomb. If it is "
                "not, unpack it "
                "yourself and give the file",
                m_label, formatBytes(m_input->packedBytes), formatBytes(m_unpacked), m_limits.ratio);
  }
  return static_cast<std::size_t>(got);
}

}  // namespace dsa
