// SPDX-License-Identifier: Apache-2.0
// What the API of an accelerator does with kernels: one row for each API of device/gpu/api.h whose devices run some.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernel/compiler.h"

namespace max {

struct GpuKernelApi {
  const char* api;  // "cuda"
  // UNAVAILABLE if it cannot be opened, here or when it is used.
  const KernelCompiler& (*compiler)();
  // The form of code to load; INVALID_ARGUMENT if it is not one of this API's.
  MaxArtifactKind (*kindOf)(std::string_view code);
  // Sizes of a kernel's parameters, for drivers that do not tell; none if the code does not tell either.
  std::optional<std::vector<size_t>> (*parameterSizes)(std::string_view code, std::string_view kernel);
};

std::span<const GpuKernelApi* const> gpuKernelApis();

}  // namespace max
