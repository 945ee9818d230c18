// SPDX-License-Identifier: Apache-2.0
#include "extension/extension_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/file_format.h"

namespace max {

namespace {

constexpr const char* kEntry = "maxExtensionGetTable";
constexpr uint64_t kMaxSource = 16 << 20;

void requireFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) failErrno(errno, "Cannot open extension", path);
  if (!S_ISREG(status.st_mode)) invalidArgument("Extension '", path, "' is not a file");
  if (access(path.c_str(), R_OK) != 0) failErrno(errno, "Cannot open extension", path);
}

}  // namespace

bool isKernelSource(const std::string& path) { return path.ends_with(".cu") || path.ends_with(".hip"); }

std::string readKernelSource(const std::string& path) {
  const File file = File::openForRead(path);
  require(file.size() <= kMaxSource, MAX_STATUS_INVALID_ARGUMENT, "Extension '", path, "' has ", file.size(),
          " bytes, at most ", kMaxSource);
  std::string text(file.size(), '\0');
  file.read(text.data(), text.size(), 0);
  return text;
}

ExtensionLibrary::ExtensionLibrary(const std::string& path) : path_(path) {
  requireFile(path);
  // Names without a slash would be searched for.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) return;
  const std::string reason = dlerror(), format = describeFormat(File::openForRead(path), FileFormat::Other);
  const bool isLibrary = format.find("shared library") != format.npos;
  invalidArgument("Extension '", path, "' cannot be loaded: ", isLibrary || format.empty() ? reason : format);
}

ExtensionLibrary::~ExtensionLibrary() {
  if (!isUsed) dlclose(handle_);
}

const MaxExtensionTable& ExtensionLibrary::table() const {
  requireThisLibrary();
  void* const entry = dlsym(handle_, kEntry);
  if (!entry) invalidArgument("'", path_, "' is not an extension: it has no function ", kEntry);
  const auto* table = reinterpret_cast<decltype(&maxExtensionGetTable)>(entry)(MAX_EXTENSION_ABI_VERSION);
  require(table != nullptr, MAX_STATUS_UNIMPLEMENTED, "Extension '", path_, "' has no table for version ",
          MAX_EXTENSION_ABI_VERSION, " of the interface");
  return *table;
}

// Its calls would go to a library that does not know our objects.
void ExtensionLibrary::requireThisLibrary() const {
  Dl_info own, other;
  void* const linked = dlsym(handle_, "maxExtensionFail");
  if (!linked || dladdr(linked, &other) == 0 || dladdr(kEntry, &own) == 0) return;
  require(own.dli_fbase == other.dli_fbase, MAX_STATUS_FAILED_PRECONDITION, "Extension '", path_,
          "' is linked to another copy of this library, '", other.dli_fname, "'; this one is '", own.dli_fname, "'");
}

}  // namespace max
