// SPDX-License-Identifier: Apache-2.0
#include "max/kernel.h"

#include "capi/guard.h"
#include "capi/options.h"
#include "kernel/module.h"

using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

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
    max::capi::requireKindIfGiven(stream, "stream");
    MaxStream& order = stream ? *stream : kernel->module().device().defaultStream();
    const bool isCurrent = config->structSize == sizeof *config;
    MaxLaunchConfig chosen = isCurrent ? *config : max::capi::readOptions(config, "MaxLaunchConfig");
    const_cast<MaxKernel*>(kernel)->launch(chosen, arguments, sizes, argumentCount, order);
  });
}
