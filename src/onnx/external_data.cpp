// SPDX-License-Identifier: Apache-2.0
#include "onnx/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace max::onnx {

namespace {

struct Location {
  std::string_view path;
  std::string_view tensor;

  [[noreturn]] void refuse(const char* why) const {
    fail(MAX_STATUS_PERMISSION_DENIED, "tensor '", tensor, "': external data at '", path, "' is rejected: ", why);
  }
  [[noreturn]] void failWithErrno(int error) const {
    if (error == ELOOP) refuse("it goes through a symbolic link");
    const MaxStatus status = error == ENOENT || error == ENOTDIR ? MAX_STATUS_NOT_FOUND
                             : error == EACCES                   ? MAX_STATUS_PERMISSION_DENIED
                                                                 : MAX_STATUS_UNAVAILABLE;
    fail(status, "tensor '", tensor, "': cannot open external data '", path, "': ", std::strerror(error));
  }
};

Descriptor openAt(const Location& location, const Descriptor& folder, const std::string& name, int flags) {
  Descriptor file(openat(folder.number(), name.c_str(), flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    // O_NOFOLLOW with O_DIRECTORY reports a link as "not a directory".
    struct stat status {};
    const int error = errno;
    const bool isLink =
        fstatat(folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    location.failWithErrno(isLink ? ELOOP : error);
  }
  return file;
}

Descriptor walk(const Location& location, const std::string& folder) {
  Descriptor current(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!current) location.failWithErrno(errno);
  std::string_view rest = location.path;
  while (true) {
    const size_t slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    if (name.empty()) location.refuse("its path is not normalised");
    if (name == "." || name == "..") location.refuse("it is outside the model's folder");
    if (slash == std::string_view::npos) return openAt(location, current, name, O_NONBLOCK);
    current = openAt(location, current, name, O_DIRECTORY);
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace

Ref<MappedFile> openExternalData(const std::string& folder, std::string_view path, std::string_view tensor) {
  const Location location{path, tensor};
  if (folder.empty()) location.refuse("a model loaded from memory has no folder");
  if (path.empty() || path.find('\0') != std::string_view::npos) location.refuse("its path is not normalised");
  if (path.front() == '/') location.refuse("its path is absolute");
  Descriptor file = walk(location, folder);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) location.failWithErrno(errno);
  if (!S_ISREG(status.st_mode)) location.refuse("it is not a regular file");
  if (status.st_nlink > 1) location.refuse("it has hard links");
  return MappedFile::share(File::adopt(std::move(file), std::string(path)));
}

}  // namespace max::onnx
