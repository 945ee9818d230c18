// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace max {

namespace {

struct stat statusOf(const File& file) {
  struct stat info;
  if (fstat(file.descriptor(), &info) != 0) failErrno(errno, "Cannot examine", file.path());
  return info;
}

// O_NONBLOCK, so that a pipe without a writer cannot block the caller.
Descriptor openDescriptor(const std::string& path, int flags) {
  Descriptor descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!descriptor && (flags & O_CREAT)) failCreate(errno, path);
  if (!descriptor) failErrno(errno, "Cannot open", path);
  return descriptor;
}

void requireRegular(const File& file) {
  const struct stat info = statusOf(file);
  require(!S_ISDIR(info.st_mode), MAX_STATUS_INVALID_ARGUMENT, "Cannot open '", file.path(), "': it is a folder");
  require(S_ISREG(info.st_mode), MAX_STATUS_INVALID_ARGUMENT, "Cannot open '", file.path(),
          "': it is not a regular file");
}

}  // namespace

File::File(Descriptor descriptor, std::string path) : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

File File::adopt(Descriptor descriptor, std::string path) { return File(std::move(descriptor), std::move(path)); }

File File::openForRead(const std::string& path) {
  File file(openDescriptor(path, O_RDONLY), path);
  requireRegular(file);
  return file;
}

File File::openForWrite(const std::string& path, bool create) {
  File file(openDescriptor(path, create ? O_RDWR | O_CREAT : O_RDWR), path);
  requireRegular(file);
  if (create && ftruncate(file.descriptor(), 0) != 0) failErrno(errno, "Cannot truncate", path);
  return file;
}

uint64_t File::size() const { return static_cast<uint64_t>(statusOf(*this).st_size); }

void File::read(void* target, size_t count, uint64_t offset) const {
  auto* bytes = static_cast<char*>(target);
  while (count > 0) {
    const ssize_t done = pread(descriptor(), bytes, count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) failErrno(errno, "Cannot read", path_);
    require(done != 0, MAX_STATUS_DATA_LOSS, "File '", path_, "' ends at byte ", offset, ", ", count, " bytes short");
    bytes += done;
    offset += static_cast<uint64_t>(done);
    count -= static_cast<size_t>(done);
  }
}

void File::extend(uint64_t bytes) const {
  if (size() < bytes && ftruncate(descriptor(), static_cast<off_t>(bytes)) != 0)
    failErrno(errno, "Cannot extend", path_);
}

FileIdentity File::identity() const {
  const struct stat info = statusOf(*this);
  const auto nanoseconds = [](const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
          nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

std::string readSmallTextFile(const char* path, size_t limit) {
  std::string text;
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return text;
  char chunk[4096];
  ssize_t count;
  while (text.size() < limit && (count = ::read(file.number(), chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<size_t>(count));
  return text;
}

}  // namespace max
