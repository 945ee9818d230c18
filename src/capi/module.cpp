// SPDX-License-Identifier: Apache-2.0
#include "kernel/module.h"

#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "max/module.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

std::string textAt(const char* const* list, int32_t index, const char* what) {
  requireArgument(list, what);
  requireArgument(list[index], what);
  return list[index];
}

void requireCount(int32_t count, const char* what) {
  max::require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, what, " of MaxModuleOptions is ", count);
}

// A macro's name with its parameters, or a name: nothing that ends the option that defines it.
void readDefines(max::KernelSource& source, const MaxModuleOptions& options) {
  requireCount(options.defineCount, "defineCount");
  for (int32_t i = 0; i < options.defineCount; ++i) {
    std::string name = textAt(options.defineNames, i, "defineNames");
    max::require(!name.empty() && name.find_first_of("= \t\n") == std::string::npos, MAX_STATUS_INVALID_ARGUMENT,
                 "Macro ", i, " is named '", name, "'");
    const char* value = options.defineValues ? options.defineValues[i] : nullptr;
    source.defines.emplace_back(std::move(name), value ? value : "1");
  }
}

void readHeaders(max::KernelSource& source, const MaxModuleOptions& options) {
  requireCount(options.headerCount, "headerCount");
  for (int32_t i = 0; i < options.headerCount; ++i)
    source.headers.emplace_back(textAt(options.headerNames, i, "headerNames"),
                                textAt(options.headerTexts, i, "headerTexts"));
}

bool readFlag(int32_t value, const char* name) {
  max::require(value == 0 || value == 1, MAX_STATUS_INVALID_ARGUMENT, name, " of MaxModuleOptions is ", value,
               "; it is 0 or 1");
  return value == 1;
}

max::KernelSource readSource(const char* text, const char* name, const MaxModuleOptions& options) {
  max::KernelSource source;
  source.text = text;
  if (name && *name) source.name = name;
  if (options.architecture) source.architecture = options.architecture;
  readDefines(source, options);
  readHeaders(source, options);
  requireCount(options.flagCount, "flagCount");
  for (int32_t i = 0; i < options.flagCount; ++i) source.flags.push_back(textAt(options.flags, i, "flags"));
  requireCount(options.registerLimit, "registerLimit");
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
    requireArgument(device, "device");
    requireArgument(source, "source");
    const MaxModuleOptions chosen = max::capi::readOptions(options, "MaxModuleOptions");
    *outModule = max::compileModule(const_cast<MaxDevice&>(*device), readSource(source, name, chosen)).detach();
  });
}

MaxStatus maxModuleLoad(const MaxDevice* device, const void* data, size_t byteCount, MaxModule** outModule) {
  return guard([&] {
    clearOutput(outModule, "outModule");
    requireArgument(device, "device");
    requireArgument(data, "data");
    const std::string_view code(static_cast<const char*>(data), byteCount);
    *outModule = max::loadModule(const_cast<MaxDevice&>(*device), code).detach();
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

void maxKernelRetain(const MaxKernel* kernel) {
  if (kernel) kernel->module().retain();
}

void maxKernelRelease(const MaxKernel* kernel) {
  if (kernel) kernel->module().release();
}

MaxStatus maxKernelGetModule(const MaxKernel* kernel, MaxModule** outModule) {
  return guard([&] {
    clearOutput(outModule, "outModule");
    requireArgument(kernel, "kernel");
    *outModule = &kernel->module();
  });
}

MaxStatus maxKernelGetName(const MaxKernel* kernel, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(kernel, "kernel");
    *outName = kernel->name().c_str();
  });
}

MaxStatus maxKernelGetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute, int64_t* outValue) {
  return guard([&] {
    requireArgument(outValue, "outValue");
    requireArgument(kernel, "kernel");
    *outValue = kernel->attribute(attribute);
  });
}

MaxStatus maxKernelSetAttribute(const MaxKernel* kernel, MaxKernelAttribute attribute, int64_t value) {
  return guard([&] {
    requireArgument(kernel, "kernel");
    const_cast<MaxKernel*>(kernel)->setAttribute(attribute, value);
  });
}

MaxStatus maxKernelLaunch(const MaxKernel* kernel, const MaxLaunchConfig* config, const void* const* arguments,
                          const size_t* sizes, int32_t argumentCount, MaxStream* stream) {
  return guard([&] {
    requireArgument(kernel, "kernel");
    requireArgument(config, "config");
    MaxStream& order = stream ? *stream : kernel->module().device().defaultStream();
    const auto launch = [&](const MaxLaunchConfig& chosen) {
      const_cast<MaxKernel*>(kernel)->launch(chosen, arguments, sizes, argumentCount, order);
    };
    if (config->structSize == sizeof *config) [[likely]]  // no copy of what is as this library knows it
      launch(*config);
    else
      launch(max::capi::readOptions(config, "MaxLaunchConfig"));
  });
}
