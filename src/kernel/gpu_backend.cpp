// SPDX-License-Identifier: Apache-2.0
// Kernels on CUDA and HIP.
#include "kernel/gpu_backend.h"

#include <elf.h>

#include <cstring>

#include "kernel/gpu_compilers.h"
#include "kernel/gpu_module.h"
#include "kernel/virtual_module.h"

namespace max {

namespace {

constexpr uint16_t kCudaMachine = 190;
constexpr uint16_t kAmdMachine = 224;
constexpr uint32_t kFatBinaryMagic = 0xBA55ED50;
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";

bool isElf(std::string_view code) { return code.starts_with(std::string_view(ELFMAG, SELFMAG)); }

bool fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t total) {
  return offset <= total && (size == 0 || count <= (total - offset) / size);
}

// The driver gets no size, so the tables, and everything they refer to, must be inside.
bool isWhole(std::string_view code, const Elf64_Ehdr& header) {
  if (!fits(header.e_shoff, header.e_shnum, header.e_shentsize, code.size()) ||
      !fits(header.e_phoff, header.e_phnum, header.e_phentsize, code.size()) ||
      (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
    return false;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, code.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && !fits(section.sh_offset, section.sh_size, 1, code.size())) return false;
  }
  return true;
}

bool isElfFor(std::string_view code, uint16_t machine) {
  Elf64_Ehdr header;
  if (!isElf(code) || code.size() < sizeof header) return false;
  std::memcpy(&header, code.data(), sizeof header);
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == machine && isWhole(code, header);
}

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
  return header.magic == kFatBinaryMagic && fits(header.headerSize, header.contentSize, 1, code.size());
}

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
    if (!fits(offset, size, 1, code.size()) || name > code.size() - at) return false;
    at += name;
  }
  return true;
}

// Text up to its end; a NUL inside would cut off the rest.
bool isPtx(std::string_view code) {
  return code.find(".version") != code.npos && code.find(".target") != code.npos && code.find('\0') == code.npos;
}

class GpuBackend : public KernelBackend {
 public:
  std::string architecture(const MaxDevice& device) const override { return device.architectureName(); }
  Ref<MaxModule> load(MaxDevice& device, ModuleContent content) const override {
    if (const auto* missing = dynamic_cast<const gpu::VirtualDevice*>(&device))
      return makeRef<VirtualModule>(*missing, std::move(content));
    return makeRef<GpuModule>(static_cast<gpu::GpuDevice&>(device), std::move(content));
  }

 protected:
  ~GpuBackend() = default;
};

class CudaBackend final : public GpuBackend {
 public:
  const KernelCompiler& compiler() const override { return nvrtcCompiler(); }
  MaxArtifactKind kindOf(std::string_view code) const override {
    if (isElfFor(code, kCudaMachine) || isFatBinary(code)) return MAX_ARTIFACT_KIND_CUBIN;
    if (!isElf(code) && isPtx(code)) return MAX_ARTIFACT_KIND_PTX;
    invalidArgument("The data (", code.size(), " bytes) is neither PTX nor a whole CUBIN");
  }
};

class HipBackend final : public GpuBackend {
 public:
  const KernelCompiler& compiler() const override { return hiprtcCompiler(); }
  MaxArtifactKind kindOf(std::string_view code) const override {
    if (isElfFor(code, kAmdMachine) || isBundle(code)) return MAX_ARTIFACT_KIND_CODE_OBJECT;
    invalidArgument("The data (", code.size(), " bytes) is no whole code object of AMD's");
  }
};

}  // namespace

const KernelBackend& cudaKernels() {
  static const CudaBackend backend;
  return backend;
}

const KernelBackend& hipKernels() {
  static const HipBackend backend;
  return backend;
}

}  // namespace max
