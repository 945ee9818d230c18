// SPDX-License-Identifier: Apache-2.0
#include "max/module.h"

#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "kernel/module_registry.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;
using max::capi::requireCount;

namespace {

std::string textAt(const char* const* list, int32_t index, const char* what) {
  requireArgument(list, what);
  requireArgument(list[index], what);
  return list[index];
}

// A macro's name with its parameters, or a name: nothing that ends the option that defines it.
void readDefines(max::KernelSource& source, const MaxModuleOptions& options) {
  requireCount(options.defineCount, "defineCount of MaxModuleOptions");
  for (int32_t i = 0; i < options.defineCount; ++i) {
    std::string name = textAt(options.defineNames, i, "defineNames");
    max::require(!name.empty() && name.find_first_of("= \t\n") == std::string::npos, MAX_STATUS_INVALID_ARGUMENT,
                 "Macro ", i, " is named '", name, "'");
    const char* value = options.defineValues ? options.defineValues[i] : nullptr;
    source.defines.emplace_back(std::move(name), value ? value : "1");
  }
}

void readHeaders(max::KernelSource& source, const MaxModuleOptions& options) {
  requireCount(options.headerCount, "headerCount of MaxModuleOptions");
  for (int32_t i = 0; i < options.headerCount; ++i)
    source.headers.emplace_back(textAt(options.headerNames, i, "headerNames"),
                                textAt(options.headerTexts, i, "headerTexts"));
}

bool readFlag(int32_t value, const char* name) {
  max::require(value == 0 || value == 1, MAX_STATUS_INVALID_ARGUMENT, name, " of MaxModuleOptions is ", value,
               "; it must be 0 or 1");
  return value == 1;
}

max::KernelSource readSource(const char* text, const char* name, const MaxModuleOptions& options) {
  max::KernelSource source;
  source.text = text;
  if (name && *name) source.name = name;
  if (options.architecture) source.architecture = options.architecture;
  readDefines(source, options);
  readHeaders(source, options);
  requireCount(options.flagCount, "flagCount of MaxModuleOptions");
  for (int32_t i = 0; i < options.flagCount; ++i) source.flags.push_back(textAt(options.flags, i, "flags"));
  requireCount(options.registerLimit, "registerLimit of MaxModuleOptions");
  source.registerLimit = options.registerLimit;
  source.fastMath = readFlag(options.fastMath, "fastMath");
  source.lineInfo = readFlag(options.lineInfo, "lineInfo");
  return source;
}

}  // namespace

MaxStatus maxModuleCompile(const MaxDevice* device, const char* source, const char* name,
                           const MaxModuleOptions* options, MaxModule** outModule) {
  return guard([&] {
    clearOutput(outModule, "outModule");
    requireArgument(source, "source");
    const MaxModuleOptions chosen = max::capi::readOptions(options, "MaxModuleOptions");
    const max::Ref<MaxDevice> place = max::capi::deviceFor(const_cast<MaxDevice*>(device));
    *outModule = max::compileModule(*place, readSource(source, name, chosen)).detach();
  });
}

MaxStatus maxModuleLoadFromMemory(const MaxDevice* device, const void* data, size_t byteCount, MaxModule** outModule) {
  return guard([&] {
    clearOutput(outModule, "outModule");
    requireArgument(data, "data");
    const std::string_view code(static_cast<const char*>(data), byteCount);
    *outModule = max::loadModule(*max::capi::deviceFor(const_cast<MaxDevice*>(device)), code).detach();
  });
}

void maxModuleRetain(const MaxModule* module) {
  if (module) module->retain();
}

void maxModuleRelease(const MaxModule* module) {
  if (module) module->release();
}

MaxStatus maxModuleGetDevice(const MaxModule* module, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(module, "module");
    *outDevice = &module->device();
  });
}

MaxStatus maxModuleGetArtifact(const MaxModule* module, MaxArtifactKind kind, const void** outData,
                               size_t* outByteCount) {
  return guard([&] {
    requireArgument(outData, "outData");
    *outData = nullptr;
    requireArgument(outByteCount, "outByteCount");
    requireArgument(module, "module");
    const std::string& artifact = const_cast<MaxModule*>(module)->artifact(kind);
    *outData = artifact.c_str();
    *outByteCount = artifact.size();
  });
}

MaxStatus maxModuleGetKernel(const MaxModule* module, const char* name, MaxKernel** outKernel) {
  return guard([&] {
    clearOutput(outKernel, "outKernel");
    requireArgument(module, "module");
    requireArgument(name, "name");
    *outKernel = &const_cast<MaxModule*>(module)->kernel(name);
  });
}

MaxStatus maxModuleSetConstant(const MaxModule* module, const char* name, const void* data, size_t byteCount,
                               MaxStream* stream) {
  return guard([&] {
    requireArgument(module, "module");
    requireArgument(name, "name");
    requireArgument(data, "data");
    MaxStream& order = max::capi::streamFor(module->device(), stream);
    const_cast<MaxModule*>(module)->setConstant(name, data, byteCount, order);
  });
}
