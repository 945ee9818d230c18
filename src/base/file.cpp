// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/fork.h"

namespace max {

namespace {

MaxStatus statusOfErrno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return MAX_STATUS_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
      return MAX_STATUS_PERMISSION_DENIED;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return MAX_STATUS_RESOURCE_EXHAUSTED;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
      return MAX_STATUS_INVALID_ARGUMENT;
    default:
      return MAX_STATUS_UNKNOWN;
  }
}

struct stat statusOf(const File& file) {
  struct stat info;
  if (fstat(file.descriptor(), &info) != 0) failErrno(errno, "Cannot examine", file.path());
  return info;
}

// What a file that is made lacks is its folder.
[[noreturn]] void failCreate(int error, const std::string& path) {
  const size_t slash = path.rfind('/');
  if (error == ENOENT && slash != path.npos && slash > 0)
    fail(MAX_STATUS_NOT_FOUND, "Cannot write '", path, "': the folder '", path.substr(0, slash), "' does not exist");
  failErrno(error, "Cannot write", path);
}

// O_NONBLOCK, so that a pipe without a writer cannot block the caller. `shown`: what messages call the file.
int openDescriptor(const std::string& path, int flags, const std::string& shown) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0 && (flags & O_CREAT)) failCreate(errno, shown);
  if (descriptor < 0) failErrno(errno, "Cannot open", shown);
  return descriptor;
}

void requireRegular(const File& file) {
  const struct stat info = statusOf(file);
  require(!S_ISDIR(info.st_mode), MAX_STATUS_INVALID_ARGUMENT, "Cannot open '", file.path(), "': it is a folder");
  require(S_ISREG(info.st_mode), MAX_STATUS_INVALID_ARGUMENT, "Cannot open '", file.path(),
          "': it is not a regular file");
}

}  // namespace

void failErrno(int error, std::string_view action, std::string_view path) {
  char text[128];
  fail(statusOfErrno(error), action, " '", path, "': ", static_cast<const char*>(strerror_r(error, text, sizeof text)));
}

File::File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File File::openForRead(const std::string& path) {
  File file(openDescriptor(path, O_RDONLY, path), path);
  requireRegular(file);
  return file;
}

File File::openForWrite(const std::string& path, bool create) {
  File file(openDescriptor(path, create ? O_RDWR | O_CREAT : O_RDWR, path), path);
  requireRegular(file);
  if (create && ftruncate(file.descriptor(), 0) != 0) failErrno(errno, "Cannot empty", path);
  return file;
}

uint64_t File::size() const { return static_cast<uint64_t>(statusOf(*this).st_size); }

void File::read(void* target, size_t count, uint64_t offset) const {
  auto* bytes = static_cast<char*>(target);
  while (count > 0) {
    const ssize_t done = pread(descriptor_, bytes, count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failErrno(errno, "Cannot read", path_);
    require(done != 0, MAX_STATUS_DATA_LOSS, "File '", path_, "' ends at byte ", offset, ", ", count,
            " bytes too early");
    bytes += done;
    offset += static_cast<uint64_t>(done);
    count -= static_cast<size_t>(done);
  }
}

void File::write(const void* source, size_t count) const {
  const auto* bytes = static_cast<const char*>(source);
  while (count > 0) {
    const ssize_t done = ::write(descriptor_, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failErrno(errno, "Cannot write", path_);
    bytes += done;
    count -= static_cast<size_t>(done);
  }
}

void File::extend(uint64_t bytes) const {
  if (size() < bytes && ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    failErrno(errno, "Cannot extend", path_);
}

FileIdentity File::identity() const {
  const struct stat info = statusOf(*this);
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

TemporaryFile::TemporaryFile(const std::string& target)
    : target_(target),
      path_(concat(target, ".", getpid(), ".tmp")),
      file_(File::adopt(openDescriptor(path_, O_RDWR | O_CREAT | O_TRUNC, target_), path_)) {}

TemporaryFile::~TemporaryFile() {
  if (!kept_) unlink(path_.c_str());
}

void TemporaryFile::keep() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) failErrno(errno, "Cannot write", target_);
  kept_ = true;
}

namespace {

// Never destroyed: mappings may be released while the process exits. Guarded by processMutex().
std::vector<MappedFile*>& sharedMappings() {
  static auto& mappings = *new std::vector<MappedFile*>;
  return mappings;
}

}  // namespace

MappedFile::MappedFile(const File& file, MapMode mode, uint64_t offset, size_t size)
    : path_(file.path()), identity_(file.identity()) {
  size_ = size;
  if (size == 0) return;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const size_t lead = static_cast<size_t>(offset % page);
  const size_t mapped = checkedAdd(size, lead);
  const int protection = mode == MapMode::Read ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = mode == MapMode::Read || mode == MapMode::CopyOnWrite ? MAP_PRIVATE : MAP_SHARED;
  void* mapping = mmap(nullptr, mapped, protection, flags, file.descriptor(), static_cast<off_t>(offset - lead));
  if (mapping == MAP_FAILED) failErrno(errno, "Cannot map", path_);
  mapping_ = mapping;
  mappingSize_ = mapped;
  data_ = static_cast<char*>(mapping) + lead;
}

MappedFile::~MappedFile() {
  if (shared_) {
    const std::lock_guard lock(processMutex());
    std::erase(sharedMappings(), this);
  }
  if (mapping_) munmap(mapping_, mappingSize_);
}

Ref<MappedFile> MappedFile::share(const File& file) {
  const FileIdentity identity = file.identity();
  const std::lock_guard lock(processMutex());
  std::vector<MappedFile*>& mappings = sharedMappings();
  for (MappedFile* mapping : mappings)
    if (mapping->identity_ == identity && mapping->tryRetain()) return Ref<MappedFile>::adopt(mapping);
  mappings.reserve(mappings.size() + 1);
  auto* mapping = new MappedFile(file, MapMode::Read, 0, static_cast<size_t>(identity.size));
  mappings.push_back(mapping);
  mapping->shared_ = true;
  return Ref<MappedFile>::adopt(mapping);
}

void MappedFile::dropPages(const void* data, size_t bytes) const noexcept {
  if (!shared_) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

Ref<MappedFile> MappedFile::open(const std::string& path, MapMode mode, uint64_t offset, size_t size) {
  const uint64_t end = checkedAdd(offset, static_cast<uint64_t>(size));
  require(end <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()), MAX_STATUS_OUT_OF_RANGE,
          "File offset is too large: ", end);
  const bool writes = mode == MapMode::ReadWrite || mode == MapMode::Create;
  const File file = writes ? File::openForWrite(path, mode == MapMode::Create) : File::openForRead(path);
  if (writes) file.extend(end);
  const uint64_t fileSize = file.size();
  require(end <= fileSize, MAX_STATUS_OUT_OF_RANGE, "File '", path, "' has ", fileSize, " bytes; bytes [", offset, ", ",
          end, ") were asked for");
  return Ref<MappedFile>::adopt(new MappedFile(file, mode, offset, size));
}

std::span<const std::byte> MappedFile::bytes(size_t offset, size_t count) const {
  checkRange(path_.c_str(), offset, count, size_);
  return {static_cast<const std::byte*>(data_) + offset, count};
}

Ref<Storage> readFile(const File& file) {
  Ref<Storage> storage = allocateStorage(static_cast<size_t>(file.size()));
  file.read(storage->data(), storage->size(), 0);
  return storage;
}

Ref<Storage> loadFile(const File& file) {
  if (file.size() <= kMapThreshold) return readFile(file);
  return MappedFile::share(file);
}

std::string readSmallTextFile(const char* path, size_t limit) {
  std::string text;
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return text;
  char chunk[4096];
  ssize_t count;
  while (text.size() < limit && (count = ::read(descriptor, chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<size_t>(count));
  ::close(descriptor);
  return text;
}

}  // namespace max
