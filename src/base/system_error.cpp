// SPDX-License-Identifier: Apache-2.0
#include "base/system_error.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"

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
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return MAX_STATUS_RESOURCE_EXHAUSTED;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
    case ENXIO:  // a socket, or a device that is not there
    case ENODEV:
      return MAX_STATUS_INVALID_ARGUMENT;
    case EIO:
    case EOPNOTSUPP:
      return MAX_STATUS_UNAVAILABLE;
    default:
      return MAX_STATUS_UNKNOWN;
  }
}

}  // namespace

void failErrno(int error, std::string_view action, std::string_view path) {
  char text[128];
  fail(statusOfErrno(error), action, " '", path, "': ", static_cast<const char*>(strerror_r(error, text, sizeof text)));
}

void failCreate(int error, std::string_view path) {
  const size_t slash = path.rfind('/');
  if (error == ENOENT && slash != path.npos && slash > 0)
    fail(MAX_STATUS_NOT_FOUND, "Cannot write '", path, "': the folder '", path.substr(0, slash), "' does not exist");
  failErrno(error, "Cannot write", path);
}

}  // namespace max
