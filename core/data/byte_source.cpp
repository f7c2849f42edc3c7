// SPDX-License-Identifier: Apache-2.0
#include "core/data/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/base/file.h"
#include "core/data/archive_source.h"

namespace dsa {

namespace {

/// The raw bytes of a file on disk.
class FileSource : public ByteSource {
 public:
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path) {
    auto source = std::make_unique<FileSource>();
    DSA_ASSIGN(source->m_file, File::open(path, File::Mode::readOnly));
    return source;
  }
  Result<std::size_t> read(std::span<char> bytes) override {
    while (true) {
      const ssize_t got = ::read(m_file.fd(), bytes.data(), bytes.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return failErrno(m_file.path(), "read", errno);
    }
  }

 private:
  File m_file;
};

Result<struct stat> statOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return fail(ErrorCode::input, "{}: there is no such file or folder", path);
    return failErrno(path, "read", errno);
  }
  return status;
}

Result<std::vector<Container::Member>> listFolder(const std::string& path, const UnpackLimits& limits) {
  std::vector<Container::Member> members;
  std::error_code error;
  std::filesystem::directory_iterator at(path, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code entryError;
    const std::string name = at->path().filename().string();
    if (name.empty() || name[0] == '.' || !at->is_regular_file(entryError)) continue;
    const std::uint64_t size = at->file_size(entryError);
    members.push_back({name, entryError ? 0 : size});
    if (members.size() > limits.members) {
      return fail(ErrorCode::input, "{}: more than {} files in the folder; give one of them", path, limits.members);
    }
  }
  if (error) return failErrno(path, "list", error.value());
  if (members.empty()) return fail(ErrorCode::input, "{}: the folder has no files", path);
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return members;
}

/// macOS adds "._x" and "__MACOSX/": not data.
bool isArchiveNoise(const std::string& name) {
  return name.starts_with("__MACOSX/") || std::filesystem::path(name).filename().string().starts_with(".");
}

Result<std::unique_ptr<ArchiveSource>> openPacked(const std::string& path, const UnpackLimits& limits) {
  DSA_ASSIGN(auto file, FileSource::open(path));
  return ArchiveSource::open(std::move(file), path, limits);
}

}  // namespace

std::string fileStem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.substr(0, name.find('.', 1));
}

Result<Container> Container::open(const std::string& path, const UnpackLimits& limits) {
  Container container;
  container.m_path = path;
  container.m_limits = limits;
  while (container.m_path.size() > 1 && container.m_path.back() == '/') container.m_path.pop_back();
  DSA_ASSIGN(const struct stat status, statOf(path));
  if (S_ISDIR(status.st_mode)) {
    container.m_kind = Kind::folder;
    DSA_ASSIGN(container.m_members, listFolder(container.m_path, limits));
    return container;
  }
  if (!S_ISREG(status.st_mode)) {  // a pipe or a device could block or never end
    return fail(ErrorCode::input, "{}: not a regular file or a folder; save the data to a file first", path);
  }
  DSA_ASSIGN(const auto source, openPacked(path, limits));
  if (!source->isArchive()) {
    container.m_members.push_back(
        {std::filesystem::path(path).filename().string(), static_cast<std::uint64_t>(status.st_size)});
    return container;
  }
  container.m_kind = Kind::archive;
  while (true) {
    DSA_ASSIGN(const bool more, source->nextFile());
    if (!more) break;
    if (!isArchiveNoise(source->memberName()))
      container.m_members.push_back({source->memberName(), source->memberSize()});
  }
  if (container.m_members.empty()) return fail(ErrorCode::input, "{}: the archive has no files in it", path);
  return container;
}

std::string Container::label(std::size_t member) const {
  DSA_CHECK(member < m_members.size());
  if (m_kind == Kind::file) return m_path;
  return m_path + (m_kind == Kind::folder ? "/" : ":") + m_members[member].name;
}

Result<std::unique_ptr<ByteSource>> Container::openMember(std::size_t member) const {
  const std::string name = label(member);
  if (m_kind != Kind::archive) {
    DSA_ASSIGN(auto source, openPacked(m_kind == Kind::file ? m_path : name, m_limits));
    if (source->isArchive())
      return fail(ErrorCode::input, "{}: an archive inside a folder is not read; unpack it first", name);
    DSA_TRY(source->nextFile());
    return source;
  }
  DSA_ASSIGN(auto outer, openPacked(m_path, m_limits));
  while (true) {
    DSA_ASSIGN(const bool more, outer->nextFile());
    if (!more) return fail(ErrorCode::input, "{}: gone from the archive since it was listed", name);
    if (outer->memberName() == m_members[member].name) break;
  }
  DSA_ASSIGN(auto inner, ArchiveSource::open(std::move(outer), name, m_limits));
  if (inner->isArchive())
    return fail(ErrorCode::input, "{}: an archive inside an archive is not read; unpack it first", name);
  DSA_TRY(inner->nextFile());
  return inner;
}

}  // namespace dsa
