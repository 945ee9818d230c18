// SPDX-License-Identifier: Apache-2.0
// The fake libnvrtc.so, of CUDA 12.4 or, with FAKE_NVRTC_13, of CUDA 13.0, which knows other chips.
#include <algorithm>
#include <iterator>

#include "artefact.h"
#include "rtc.h"

using fake::RtcProgram;

namespace {

#if defined(FAKE_NVRTC_13)
constexpr int kVersion = 13000;
constexpr int kChips[] = {90, 100};
const std::vector<std::string> kArchitectures = {"sm_90",      "sm_90a",      "sm_100",      "sm_100a",
                                                 "compute_90", "compute_90a", "compute_100", "compute_100a"};
#else
constexpr int kVersion = 12040;
constexpr int kChips[] = {80, 90};
const std::vector<std::string> kArchitectures = {"sm_80", "sm_90", "sm_90a", "compute_80", "compute_90", "compute_90a"};
#endif

// The host's dialect has what max_cuda.h adds.
bool takesHeader(std::string_view name, std::string& text) {
  if (name != "max_cuda.h") return false;
  text.clear();
  return true;
}

const fake::RtcDialect& dialect() {
  static const fake::RtcDialect only = {"--gpu-architecture=",
                                        kArchitectures,
                                        {"--std=", "--use_fast_math", "--maxrregcount=", "--generate-line-info",
                                         "--device-as-default-execution-space", "-default-device"},
                                        takesHeader,
                                        [](const std::string&) { return fake::Macros(); }};
  return only;
}

// Texts end with a NUL that counts.
std::string ptxOf(const RtcProgram& program) {
  const std::string chip = "sm_" + program.architecture.substr(program.architecture.find('_') + 1);
  return fake::toPtx(program.object, chip, kVersion) + '\0';
}

// A virtual chip has none.
std::string cubinOf(const RtcProgram& program) {
  if (!program.architecture.starts_with("sm_")) return "";
  return fake::toBinary(program.object, fake::kCudaMachine, fake::cubinFlags(program.architecture, kVersion));
}

std::string logOf(const RtcProgram& program) { return program.log + '\0'; }

}  // namespace

FAKE_RTC_API const char* nvrtcGetErrorString(int result) { return fake::resultText(result); }

FAKE_RTC_API int nvrtcVersion(int* major, int* minor) {
  *major = kVersion / 1000;
  *minor = kVersion % 1000 / 10;
  return fake::kRtcSuccess;
}

FAKE_RTC_API int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(std::size(kChips));
  return fake::kRtcSuccess;
}

FAKE_RTC_API int nvrtcGetSupportedArchs(int* numbers) {
  std::ranges::copy(kChips, numbers);
  return fake::kRtcSuccess;
}

FAKE_RTC_API int nvrtcCreateProgram(RtcProgram** program, const char* source, const char* name, int headerCount,
                                    const char* const* headers, const char* const* headerNames) {
  return fake::createProgram(program, source, name, headerCount, headers, headerNames);
}

FAKE_RTC_API int nvrtcDestroyProgram(RtcProgram** program) { return fake::destroyProgram(program); }

FAKE_RTC_API int nvrtcCompileProgram(RtcProgram* program, int optionCount, const char* const* options) {
  return fake::compileProgram(program, dialect(), optionCount, options);
}

FAKE_RTC_API int nvrtcGetPTXSize(RtcProgram* program, size_t* size) { return fake::sizeOf(ptxOf(*program), size); }
FAKE_RTC_API int nvrtcGetPTX(RtcProgram* program, char* ptx) { return fake::copyOut(ptxOf(*program), ptx); }
FAKE_RTC_API int nvrtcGetCUBINSize(RtcProgram* program, size_t* size) { return fake::sizeOf(cubinOf(*program), size); }
FAKE_RTC_API int nvrtcGetCUBIN(RtcProgram* program, char* cubin) { return fake::copyOut(cubinOf(*program), cubin); }
FAKE_RTC_API int nvrtcGetProgramLogSize(RtcProgram* program, size_t* size) {
  return fake::sizeOf(logOf(*program), size);
}
FAKE_RTC_API int nvrtcGetProgramLog(RtcProgram* program, char* log) { return fake::copyOut(logOf(*program), log); }
