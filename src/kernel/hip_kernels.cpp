// SPDX-License-Identifier: Apache-2.0
// What HIP does with kernels.
#include <cstring>

#include "base/error.h"
#include "kernel/amd_parameters.h"
#include "kernel/elf_code.h"
#include "kernel/gpu_compilers.h"
#include "kernel/gpu_kernel_api.h"

namespace max {

namespace {

constexpr uint16_t kMachine = 224;
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

// Code objects for several architectures in one file: their number, then the offset, size and name of each.
bool isBundle(std::string_view code) {
  if (!code.starts_with(kBundleMagic)) return false;
  size_t at = kBundleMagic.size();
  const auto read = [&](uint64_t& value) {
    if (code.size() - at < sizeof value) return false;
    std::memcpy(&value, code.data() + at, sizeof value);
    at += sizeof value;
    return true;
  };
  uint64_t count = 0;
  if (!read(count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = 0, size = 0, name = 0;
    if (!read(offset) || !read(size) || !read(name)) return false;
    if (!liesInside(offset, size, 1, code.size()) || name > code.size() - at) return false;
    at += name;
  }
  return true;
}

MaxArtifactKind kindOf(std::string_view code) {
  if (isElfFor(code, kMachine) || isBundle(code)) return MAX_ARTIFACT_KIND_CODE_OBJECT;
  invalidArgument("The data (", code.size(), " bytes) is not a complete AMD code object");
}

}  // namespace

extern const GpuKernelApi kHipKernels;
constinit const GpuKernelApi kHipKernels = {
    .api = "hip", .compiler = hiprtcCompiler, .kindOf = kindOf, .parameterSizes = amdParameterSizes};

}  // namespace max
