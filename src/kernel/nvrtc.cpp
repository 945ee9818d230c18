// SPDX-License-Identifier: Apache-2.0
// CUDA's compiler.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "kernel/gpu_compilers.h"
#include "kernel/nvrtc_library.h"

namespace max {

namespace {

constexpr std::string_view kPrelude = "#include \"max_cuda.h\"\n";

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

bool isKnown(const CompilerFacts& facts, const Chip& chip) { return isKnownChip(facts, chip.number); }

NvrtcTarget targetOf(const KernelSource& source) {
  return {parseChip(source.architecture).number, source.driverVersion};
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
  std::string identity(const KernelSource& source) const override { return nvrtcFacts(targetOf(source)).identity; }

  std::string exactArchitecture(const KernelSource& source) const override {
    const std::string& chip = source.architecture;
    return hasExactName(nvrtcFacts(targetOf(source)), parseChip(chip)) ? chip + "a" : chip;
  }

  MaxArtifactKind executableKind(const KernelSource& source) const override {
    const Chip chip = parseChip(source.architecture);
    const CompilerFacts& facts = nvrtcFacts(targetOf(source));
    if (chip.isVirtual || !isKnown(facts, chip)) return MAX_ARTIFACT_KIND_PTX;
    // Versions that do not list their architectures may be too old to produce a CUBIN.
    return !facts.chips.empty() || openNvrtc(targetOf(source)).getCubin ? MAX_ARTIFACT_KIND_CUBIN
                                                                        : MAX_ARTIFACT_KIND_PTX;
  }

  CompiledCode compile(const KernelSource& source, MaxArtifactKind kind) const override {
    const Nvrtc& compiler = openNvrtc(targetOf(source));
    const bool wantsCubin = kind == MAX_ARTIFACT_KIND_CUBIN;
    if (!wantsCubin && kind != MAX_ARTIFACT_KIND_PTX && kind != MAX_ARTIFACT_KIND_LOG)
      failArtifact(compiler.label, kind);
    const Chip chip = parseChip(source.architecture);
    if (wantsCubin) requireCubin(compiler, chip, source.architecture);
    const std::string architecture =
        wantsCubin ? source.architecture : virtualName(compiler, chip, source.architecture);
    RtcProgram program(compiler, source, kPrelude);
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
  return compiler;
}

}  // namespace max
