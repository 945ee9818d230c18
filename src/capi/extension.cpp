// SPDX-License-Identifier: Apache-2.0
#include "capi/extension.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "base/file_format.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "extension/extension.h"
#include "extension/kernel_operator.h"

using max::capi::guard;
using max::capi::requireArgument;

namespace max::capi {

namespace {

constexpr const char* kEntry = "maxExtensionGetTable";
constexpr int32_t kMaxOperators = 65536;
constexpr uint64_t kMaxSource = 16 << 20;

bool isKernelSource(const std::string& path) { return path.ends_with(".cu") || path.ends_with(".hip"); }

std::string textOf(const std::string& path) {
  const File file = File::openForRead(path);
  require(file.size() <= kMaxSource, MAX_STATUS_INVALID_ARGUMENT, "Extension '", path, "' has ", file.size(),
          " bytes, at most ", kMaxSource);
  std::string text(file.size(), '\0');
  file.read(text.data(), text.size(), 0);
  return text;
}

void requireFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) failErrno(errno, "Cannot open extension", path);
  if (!S_ISREG(status.st_mode)) invalidArgument("Extension '", path, "' is not a file");
  if (access(path.c_str(), R_OK) != 0) failErrno(errno, "Cannot open extension", path);
}

// Closed again unless it is used.
class Library {
 public:
  explicit Library(const std::string& path) : path_(path) {
    requireFile(path);
    // Names without a slash would be searched for.
    const std::string file = path.find('/') == path.npos ? "./" + path : path;
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return;
    const std::string reason = dlerror(), format = describeFormat(File::openForRead(path), FileFormat::Other);
    const bool isLibrary = format.find("shared library") != format.npos;
    invalidArgument("Extension '", path, "' cannot be loaded: ", isLibrary || format.empty() ? reason : format);
  }
  Library(const Library&) = delete;
  ~Library() {
    if (!isUsed) dlclose(handle_);
  }

  const MaxExtensionTable& table() const {
    requireThisLibrary();
    void* const entry = dlsym(handle_, kEntry);
    if (!entry) invalidArgument("'", path_, "' is not an extension: it has no function ", kEntry);
    const auto* table = reinterpret_cast<decltype(&maxExtensionGetTable)>(entry)(MAX_EXTENSION_ABI_VERSION);
    require(table != nullptr, MAX_STATUS_UNIMPLEMENTED, "Extension '", path_, "' has no table for version ",
            MAX_EXTENSION_ABI_VERSION, " of the interface");
    return *table;
  }

  bool isUsed = false;

 private:
  // Its calls would go to a library that does not know our objects.
  void requireThisLibrary() const {
    Dl_info own, other;
    void* const linked = dlsym(handle_, "maxExtensionFail");
    if (!linked || dladdr(linked, &other) == 0 || dladdr(kEntry, &own) == 0) return;
    require(own.dli_fbase == other.dli_fbase, MAX_STATUS_FAILED_PRECONDITION, "Extension '", path_,
            "' is linked to another copy of this library, '", other.dli_fname, "'; this one is '", own.dli_fname, "'");
  }

  const std::string& path_;
  void* handle_ = nullptr;
};

std::vector<ExtensionOperator> operatorsOf(const std::string& name, const MaxExtensionTable& given) {
  // The version comes before everything that versions may change.
  const size_t size = checkedStructSize(&given, "MaxExtensionTable");
  if (size < offsetof(MaxExtensionTable, operatorCount))
    invalidArgument("Extension '", name, "': structSize of its table is ", size);
  require(given.abiVersion == MAX_EXTENSION_ABI_VERSION, MAX_STATUS_UNIMPLEMENTED, "Extension '", name,
          "' was built for version ", given.abiVersion, " of the interface; this library supports ",
          MAX_EXTENSION_ABI_VERSION);
  const MaxExtensionTable table = readOptions(&given, "MaxExtensionTable");
  if (table.operatorCount < 0 || table.operatorCount > kMaxOperators)
    invalidArgument("Extension '", name, "': operatorCount is ", table.operatorCount, "; it must be 0 to ",
                    kMaxOperators);
  if (table.operatorCount > 0 && !table.operators) invalidArgument("Extension '", name, "': operators is NULL");
  std::vector<ExtensionOperator> operators;
  for (int32_t i = 0; i < table.operatorCount; ++i) {
    if (!table.operators[i]) invalidArgument("Extension '", name, "': operator ", i, " is NULL");
    operators.push_back(checkedOperator(readOptions(table.operators[i], "MaxOperator"), name));
  }
  return operators;
}

}  // namespace

void loadExtension(const std::string& path) {
  if (isKernelSource(path)) return addKernelExtension(path, textOf(path));
  Library library(path);
  addExtensionOperators(operatorsOf(path, library.table()), library.isUsed);
}

void addExtension(const std::string& name, const MaxExtensionTable& table) {
  bool isUsed = false;
  addExtensionOperators(operatorsOf(name, table), isUsed);
}

}  // namespace max::capi

MaxStatus maxExtensionLoad(const char* path) {
  return guard([&] {
    requireArgument(path, "path");
    max::capi::loadExtension(path);
  });
}

MaxStatus maxExtensionAdd(const char* name, const MaxExtensionTable* table) {
  return guard([&] {
    requireArgument(name, "name");
    requireArgument(table, "table");
    max::capi::addExtension(name, *table);
  });
}

MaxStatus maxExtensionFail(MaxStatus status, const char* message) {
  const MaxStatus failure = status == MAX_STATUS_OK ? MAX_STATUS_UNKNOWN : status;
  return max::capi::reportError(failure, message ? message : "");
}
