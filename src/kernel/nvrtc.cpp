// SPDX-License-Identifier: Apache-2.0
// CUDA's compiler.
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "kernel/gpu_compilers.h"
#include "kernel/rtc.h"

namespace max {

namespace {

constexpr const char* kLibraryVariable = "MAX_NVRTC_LIBRARY";
// The user's choice first, then the newest.
constexpr const char* kNames[] = {"libnvrtc.so",      "libnvrtc.so.13",   "libnvrtc.so.12",
                                  "libnvrtc.so.11.2", "libnvrtc.so.11.1", "libnvrtc.so.11.0"};

struct Nvrtc : Rtc {
  RtcProgram::SizeFunction getPtxSize = nullptr;
  RtcProgram::BytesFunction getPtx = nullptr;
  // Since 11.1.
  RtcProgram::SizeFunction getCubinSize = nullptr;
  RtcProgram::BytesFunction getCubin = nullptr;
  // Since 11.2.
  int (*getNumSupportedArchs)(int* count) = nullptr;
  int (*getSupportedArchs)(int* numbers) = nullptr;

  // facts.chips: compute capabilities, 10 * major + minor; empty = unknown

  Nvrtc();
};

Nvrtc::Nvrtc() {
  const gpu::Library library(kLibraryVariable, kNames);
  loadRtcApi(library, "NVRTC", "nvrtc", api);
  const LibrarySymbol symbols[] = {{"nvrtcGetPTXSize", &getPtxSize},
                                   {"nvrtcGetPTX", &getPtx},
                                   {"nvrtcGetCUBINSize", &getCubinSize, false},
                                   {"nvrtcGetCUBIN", &getCubin, false},
                                   {"nvrtcGetNumSupportedArchs", &getNumSupportedArchs, false},
                                   {"nvrtcGetSupportedArchs", &getSupportedArchs, false}};
  loadSymbols(library, "NVRTC", symbols);
  int major = 0, minor = 0, count = 0;
  const int result = api.version(&major, &minor);
  require(result == kRtcSuccess, MAX_STATUS_UNAVAILABLE, "NVRTC is not available: '", library.name(),
          "' returned error ", result);
  label = concat("NVRTC ", major, ".", minor);
  facts.version = 1000 * major + 10 * minor;
  facts.files = {fileOfSymbol(reinterpret_cast<const void*>(api.version))};
  facts.identity = concat(label, " ", stampOfFile(facts.files[0]));
  if (getNumSupportedArchs && getSupportedArchs && getNumSupportedArchs(&count) == kRtcSuccess && count > 0) {
    facts.chips.resize(static_cast<size_t>(count));
    if (getSupportedArchs(facts.chips.data()) != kRtcSuccess) facts.chips.clear();
    std::sort(facts.chips.begin(), facts.chips.end());
  }
}

LazyCompiler<Nvrtc>& nvrtc() {
  static auto& only = *new LazyCompiler<Nvrtc>({"nvrtc", {kLibraryVariable}});
  return only;
}

// "sm_90a", or "compute_90a" for PTX alone.
struct Chip {
  int number = 0;
  std::string suffix;  // "a" and "f" mean one architecture and one family
  bool isVirtual = false;
};

Chip parseChip(const std::string& text) {
  Chip chip;
  chip.isVirtual = text.starts_with("compute_");
  const size_t prefix = chip.isVirtual ? 8 : 3;
  if (chip.isVirtual || text.starts_with("sm_")) {
    const char *begin = text.data() + prefix, *end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, chip.number);
    chip.suffix.assign(rest, end);
    if (error == std::errc() && chip.number >= 10 && chip.number <= 9999 &&
        (chip.suffix.empty() || chip.suffix == "a" || chip.suffix == "f"))
      return chip;
  }
  invalidArgument("'", text, "' is not a cuda architecture; write for example sm_90");
}

std::string chipNames(const std::vector<int>& chips) {
  std::string names;
  for (const int chip : chips) names += concat(names.empty() ? "sm_" : ", sm_", chip);
  return names;
}

bool isKnown(const CompilerFacts& facts, const Chip& chip) {
  return facts.chips.empty() || std::binary_search(facts.chips.begin(), facts.chips.end(), chip.number);
}

// Chips with instructions that no other chip has, and the version of the compilers since which these have a name.
constexpr int kOldestExactChip = 90;
constexpr int kOldestExactVersion = 12000;

bool hasExactName(const CompilerFacts& facts, const Chip& chip) {
  return facts.version >= kOldestExactVersion && chip.number >= kOldestExactChip && !chip.isVirtual &&
         chip.suffix.empty() && std::binary_search(facts.chips.begin(), facts.chips.end(), chip.number);
}

[[noreturn]] void failChip(const Nvrtc& compiler, const std::string& name, const char* advice) {
  fail(MAX_STATUS_UNIMPLEMENTED, compiler.label, " does not know ", name, "; it knows ",
       chipNames(compiler.facts.chips), advice);
}

// PTX runs on its architecture and newer ones, so an architecture that the compiler does not know yet gets PTX for the
// newest older one.
std::string virtualName(const Nvrtc& compiler, const Chip& chip, const std::string& name) {
  const std::vector<int>& chips = compiler.facts.chips;
  if (isKnown(compiler.facts, chip)) return concat("compute_", chip.number, chip.suffix);
  const auto newer = std::upper_bound(chips.begin(), chips.end(), chip.number);
  if (newer == chips.begin() || !chip.suffix.empty()) failChip(compiler, name, "");
  return concat("compute_", *(newer - 1));
}

std::vector<std::string> optionsFor(const KernelSource& source, const std::string& architecture) {
  std::vector<std::string> options = {concat("--gpu-architecture=", architecture), "--std=c++17"};
  if (source.fastMath) options.push_back("--use_fast_math");
  if (source.registerLimit > 0) options.push_back(concat("--maxrregcount=", source.registerLimit));
  if (source.lineInfo) options.push_back("--generate-line-info");
  appendCommonOptions(options, source);
  return options;
}

class NvrtcCompiler final : public KernelCompiler {
 public:
  std::string identity() const override { return nvrtc().facts().identity; }

  std::string exactArchitecture(const std::string& chip) const override {
    return hasExactName(nvrtc().facts(), parseChip(chip)) ? chip + "a" : chip;
  }

  MaxArtifactKind executableKind(const KernelSource& source) const override {
    const Chip chip = parseChip(source.architecture);
    const CompilerFacts& facts = nvrtc().facts();
    if (chip.isVirtual || !isKnown(facts, chip)) return MAX_ARTIFACT_KIND_PTX;
    // Versions that do not list their architectures may be too old to produce a CUBIN.
    return !facts.chips.empty() || nvrtc().open().getCubin ? MAX_ARTIFACT_KIND_CUBIN : MAX_ARTIFACT_KIND_PTX;
  }

  CompiledCode compile(const KernelSource& source, MaxArtifactKind kind) const override {
    const Nvrtc& compiler = nvrtc().open();
    const bool wantsCubin = kind == MAX_ARTIFACT_KIND_CUBIN;
    if (!wantsCubin && kind != MAX_ARTIFACT_KIND_PTX && kind != MAX_ARTIFACT_KIND_LOG)
      failArtifact(compiler.label, kind);
    const Chip chip = parseChip(source.architecture);
    if (wantsCubin) requireCubin(compiler, chip, source.architecture);
    const std::string architecture =
        wantsCubin ? source.architecture : virtualName(compiler, chip, source.architecture);
    RtcProgram program(compiler, source, "");
    program.compile(optionsFor(source, architecture));
    CompiledCode code;
    code.log = program.log();
    if (wantsCubin)
      code.bytes = program.bytes(compiler.getCubinSize, compiler.getCubin);
    else if (kind == MAX_ARTIFACT_KIND_PTX)
      code.bytes = program.bytes(compiler.getPtxSize, compiler.getPtx).c_str();  // up to its NUL
    return code;
  }

 private:
  static void requireCubin(const Nvrtc& compiler, const Chip& chip, const std::string& name) {
    require(compiler.getCubin && compiler.getCubinSize, MAX_STATUS_UNIMPLEMENTED, compiler.label,
            " produces PTX, but not CUBIN");
    require(!chip.isVirtual, MAX_STATUS_INVALID_ARGUMENT, "'", name,
            "' is a virtual architecture: there is PTX for it, but no CUBIN");
    if (!isKnown(compiler.facts, chip)) failChip(compiler, name, "; PTX runs on newer ones");
  }
};

}  // namespace

const KernelCompiler& nvrtcCompiler() {
  static const NvrtcCompiler& compiler = *new NvrtcCompiler;
  nvrtc().facts();
  return compiler;
}

}  // namespace max
