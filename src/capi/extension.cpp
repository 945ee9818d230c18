// SPDX-License-Identifier: Apache-2.0
#include "capi/extension.h"

#include <utility>
#include <vector>

#include "capi/guard.h"
#include "capi/options.h"
#include "extension/extension.h"
#include "extension/extension_library.h"
#include "extension/kernel_operator.h"

using max::capi::guard;
using max::capi::requireArgument;

namespace max::capi {

namespace {

constexpr int32_t kMaxOperators = 65536;

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
  if (isKernelSource(path)) return addKernelExtension(path, readKernelSource(path));
  ExtensionLibrary library(path);
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
