// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/system_error.h"

namespace max {

namespace {

constexpr mode_t kDefaultMode = 0666;
constexpr int kAttempts = 16;  // names of 128 random bits do not collide, unless every call returns EEXIST

std::string folderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string nameOf(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);  // the whole path if it has no slash
  require(!name.empty() && name != "." && name != "..", MAX_STATUS_INVALID_ARGUMENT, "Cannot write '", path,
          "': it is a folder");
  return name;
}

Descriptor openFolder(const std::string& path) {
  Descriptor folder(::open(folderOf(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) failCreate(errno, path);
  return folder;
}

std::string randomName() {
  uint64_t words[2];
  if (getentropy(words, sizeof words) != 0) failErrno(errno, "Cannot create a name for", "a temporary file");
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(words[0]),
                static_cast<unsigned long long>(words[1]));
  return concat(kTemporaryPrefix, text);
}

// Such as /dev/stdout, a link into /proc: its target is not a file that can be replaced.
bool leadsIntoProc(const Descriptor& folder, const std::string& link) {
  char start[6];
  const ssize_t size = readlinkat(folder.number(), link.c_str(), start, sizeof start);
  return size >= 0 && std::string_view(start, static_cast<size_t>(size)) == "/proc/";
}

// The permissions of a new file: those of the file it replaces, if this user owns that.
mode_t modeFor(const Descriptor& folder, const std::string& name, const std::string& path) {
  constexpr mode_t kPermissions = 0777;
  struct stat info;
  if (fstatat(folder.number(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return kDefaultMode;
  const bool isLink = S_ISLNK(info.st_mode), isOwn = info.st_uid == geteuid();
  if (isLink && fstatat(folder.number(), name.c_str(), &info, 0) != 0) return kDefaultMode;  // a dangling link
  require(!S_ISDIR(info.st_mode), MAX_STATUS_INVALID_ARGUMENT, "Cannot write '", path, "': it is a folder");
  require(S_ISREG(info.st_mode) && !(isLink && leadsIntoProc(folder, name)), MAX_STATUS_INVALID_ARGUMENT,
          "Cannot write '", path, "': it is not a regular file");
  return isOwn && !isLink ? info.st_mode & kPermissions : kDefaultMode;
}

std::string pathOfDescriptor(int descriptor) { return concat("/proc/self/fd/", descriptor); }

}  // namespace

NewFile::NewFile(const std::string& path, Form form) : path_(path), name_(nameOf(path)), folder_(openFolder(path)) {
  const mode_t mode = modeFor(folder_, name_, path_);
  open(form, mode);
  if (mode != kDefaultMode) fchmod(file_.number(), mode);  // whatever the mask; some file systems have no permissions
}

NewFile::NewFile(const Descriptor& folder, std::string name, std::string path)
    : path_(std::move(path)),
      name_(std::move(name)),
      folder_(::openat(folder.number(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (!folder_) failWrite(errno);
  open(Form::Automatic, 0600);
}

NewFile::~NewFile() {
  if (!temporaryName_.empty()) unlinkat(folder_.number(), temporaryName_.c_str(), 0);
}

// A file without a name gets one through /proc, which may not be mounted.
void NewFile::open(Form form, mode_t mode) {
  if (form == Form::Automatic) {
    file_ = Descriptor(::openat(folder_.number(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
    if (file_ && access(pathOfDescriptor(file_.number()).c_str(), F_OK) == 0) return;
  }
  openNamed(mode);
}

void NewFile::openNamed(mode_t mode) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = randomName();
    file_ =
        Descriptor(::openat(folder_.number(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file_) {
      temporaryName_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  failWrite(errno);
}

void NewFile::write(const void* data, size_t size) const {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::write(file_.number(), bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) failWrite(done < 0 ? errno : ENOSPC);
    bytes += done;
    size -= static_cast<size_t>(done);
  }
}

// A full disk may only be noticed here.
void NewFile::keep() {
  while (fdatasync(file_.number()) != 0)
    if (errno != EINTR) failWrite(errno);
  if (temporaryName_.empty()) {
    const std::string file = pathOfDescriptor(file_.number());
    if (linkat(AT_FDCWD, file.c_str(), folder_.number(), name_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) failWrite(errno);
    std::string name = randomName();
    if (linkat(AT_FDCWD, file.c_str(), folder_.number(), name.c_str(), AT_SYMLINK_FOLLOW) != 0) failWrite(errno);
    temporaryName_ = std::move(name);
  }
  if (renameat(folder_.number(), temporaryName_.c_str(), folder_.number(), name_.c_str()) != 0) failWrite(errno);
  temporaryName_.clear();
}

void NewFile::failWrite(int error) const { failErrno(error, "Cannot write", path_); }

void writeFile(const std::string& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.keep();
}

}  // namespace max
