// SPDX-License-Identifier: Apache-2.0
// What CUDA does with kernels.
#include <cstring>

#include "base/error.h"
#include "kernel/elf_code.h"
#include "kernel/gpu_compilers.h"
#include "kernel/gpu_kernel_api.h"
#include "kernel/ptx_parameters.h"

namespace max {

namespace {

constexpr uint16_t kMachine = 190;
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;

// Several CUBINs and PTX texts in one file.
struct FatBinaryHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t headerSize;
  uint64_t contentSize;
};

bool isFatBinary(std::string_view code) {
  FatBinaryHeader header;
  if (code.size() < sizeof header) return false;
  std::memcpy(&header, code.data(), sizeof header);
  return header.magic == kFatBinaryMagic && liesInside(header.headerSize, header.contentSize, 1, code.size());
}

// Text up to its end; a NUL inside would cut off the rest.
bool isPtx(std::string_view code) {
  return code.find(".version") != code.npos && code.find(".target") != code.npos && code.find('\0') == code.npos;
}

MaxArtifactKind kindOf(std::string_view code) {
  if (isElfFor(code, kMachine) || isFatBinary(code)) return MAX_ARTIFACT_KIND_CUBIN;
  if (!isElf(code) && isPtx(code)) return MAX_ARTIFACT_KIND_PTX;
  invalidArgument("The data (", code.size(), " bytes) is neither PTX nor a complete CUBIN");
}

}  // namespace

extern const GpuKernelApi kCudaKernels;
constinit const GpuKernelApi kCudaKernels = {
    .api = "cuda", .compiler = nvrtcCompiler, .kindOf = kindOf, .parameterSizes = ptxParameterSizes};

}  // namespace max
