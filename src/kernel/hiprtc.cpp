// SPDX-License-Identifier: Apache-2.0
// HIP's compiler.
#include <mutex>

#include "base/error.h"
#include "kernel/builtin_headers.h"
#include "kernel/comgr.h"
#include "kernel/gpu_compilers.h"

namespace max {

namespace {

constexpr const char* kLibraryVariable = "MAX_HIPRTC_LIBRARY";
// Up to ROCm 5 the runtime library holds it.
constexpr const char* kNames[] = {"libhiprtc.so",   "libhiprtc.so.7",   "libhiprtc.so.6",
                                  "libhiprtc.so.5", "libamdhip64.so.5", "libamdhip64.so"};
constexpr const char* kBuiltinNames[] = {"libhiprtc-builtins.so", "libhiprtc-builtins.so.7", "libhiprtc-builtins.so.6",
                                         "libhiprtc-builtins.so.5"};
// What NVIDIA's dialect has besides HIP's.
constexpr std::string_view kPrelude = "#include \"max_hip.h\"\n";
constexpr const char* kRuntimeHeader = "hiprtc_runtime.h";

struct Hiprtc : Rtc {
  RtcProgram::SizeFunction getCodeSize = nullptr;
  RtcProgram::BytesFunction getCode = nullptr;

  explicit Hiprtc(const CompilerName& name);
};

Hiprtc::Hiprtc(const CompilerName&) {
  const gpu::Library library(kLibraryVariable, kNames);
  loadRtcApi(library, "HIPRTC", "hiprtc", api);
  const LibrarySymbol symbols[] = {{"hiprtcGetCodeSize", &getCodeSize}, {"hiprtcGetCode", &getCode}};
  loadSymbols(library, "HIPRTC", symbols);
  int major = 0, minor = 0;
  const int result = api.version(&major, &minor);
  require(result == kRtcSuccess, MAX_STATUS_UNAVAILABLE, "HIPRTC is not available: '", library.name(),
          "' returned error ", result);
  label = concat("HIPRTC ", major, ".", minor);
  facts.version = 1000 * major + 10 * minor;
  facts.files = {fileOfSymbol(reinterpret_cast<const void*>(api.version)), comgrFile()};
  facts.identity = concat(label, " ", stampOfFile(facts.files[0]), " ", comgrLabel(), " ", stampOfFile(facts.files[1]));
}

LazyCompiler<Hiprtc>& hiprtc() {
  static auto& only = *new LazyCompiler<Hiprtc>({"hiprtc", {kLibraryVariable, kComgrVariable}});
  return only;
}

// HIP's own device header, which HIPRTC includes before each source.
std::string runtimeHeader() {
  const gpu::Library library("MAX_HIPRTC_BUILTINS_LIBRARY", kBuiltinNames);
  const char* text = nullptr;
  const unsigned* bytes = nullptr;
  const LibrarySymbol symbols[] = {{"__hipRTC_header", &text}, {"__hipRTC_header_size", &bytes}};
  loadSymbols(library, "LLVM IR of HIP", symbols);
  return {text, *bytes};
}

// With a chip that it does not know HIPRTC ends the process: only the one that was checked may reach it.
void refuseOtherChips(const KernelSource& source) {
  constexpr std::string_view kOptions[] = {"offload-arch", "gpu-architecture", "gpu-arch", "amdgpu-target", "mcpu",
                                           "march",        "target",           "arch"};
  for (const std::string& flag : source.flags) {
    const size_t start = flag.find_first_not_of('-');
    const std::string_view name = start == std::string::npos ? "" : std::string_view(flag).substr(start);
    for (const std::string_view option : kOptions)
      if (name == option || name.starts_with(concat(option, "=")))
        invalidArgument("Flag '", flag, "' sets an architecture; use the option architecture");
  }
}

std::vector<std::string> optionsFor(const KernelSource& source) {
  std::vector<std::string> options = {"-std=c++17"};
  if (source.fastMath) options.emplace_back("-ffast-math");
  if (source.lineInfo) options.emplace_back("-gline-tables-only");
  appendCommonOptions(options, source);
  return options;
}

CompiledCode compileToCode(const KernelSource& source) {
  const Hiprtc& compiler = hiprtc().open();
  std::vector<std::string> options = optionsFor(source);
  options.insert(options.begin(), concat("--offload-arch=", source.architecture));
  static std::mutex& mutex = *new std::mutex;  // versions before 6 are not safe for threads
  const std::lock_guard lock(mutex);
  RtcProgram program(compiler, source, kPrelude);
  program.compile(options);
  std::string code = program.bytes(compiler.getCodeSize, compiler.getCode);
  return {std::move(code), program.log()};
}

// What HIPRTC does inside, stopped at text instead of an executable.
CompiledCode compileToText(const KernelSource& source) {
  std::vector<std::string> options = optionsFor(source);
  const char* const own[] = {"-O3",
                             "-nogpuinc",
                             "-D__HIPCC_RTC__",
                             "-include",
                             kRuntimeHeader,
                             "-Wno-gnu-line-marker",
                             "-Wno-missing-prototypes",
                             "-Wno-unused-command-line-argument",
                             "-S"};
  options.insert(options.begin(), std::begin(own), std::end(own));
  std::vector<std::pair<std::string, std::string>> headers = allHeaders(source);
  headers.emplace_back(kRuntimeHeader, runtimeHeader());
  return compileToLlvm(source, sourceText(source, kPrelude), headers, options);
}

class HiprtcCompiler final : public KernelCompiler {
 public:
  std::string identity(const KernelSource&) const override { return hiprtc().facts().identity; }

  MaxArtifactKind executableKind(const KernelSource&) const override { return MAX_ARTIFACT_KIND_CODE_OBJECT; }

  CompiledCode compile(const KernelSource& source, MaxArtifactKind kind) const override {
    require(source.registerLimit == 0, MAX_STATUS_UNIMPLEMENTED, hiprtc().open().label,
            " does not support a register limit");
    refuseOtherChips(source);
    requireHipArchitecture(source.architecture);
    switch (kind) {
      case MAX_ARTIFACT_KIND_LLVM_IR:
        return compileToText(source);
      case MAX_ARTIFACT_KIND_ASSEMBLY: {
        CompiledCode code = compileToCode(source);
        return {disassemble(code.bytes, source.architecture), std::move(code.log)};
      }
      case MAX_ARTIFACT_KIND_CODE_OBJECT:
        return compileToCode(source);
      case MAX_ARTIFACT_KIND_LOG:
        return {"", compileToCode(source).log};
      default:
        failArtifact(hiprtc().open().label, kind);
    }
  }
};

}  // namespace

const KernelCompiler& hiprtcCompiler() {
  static const HiprtcCompiler& compiler = *new HiprtcCompiler;
  hiprtc().facts();
  return compiler;
}

}  // namespace max
