// SPDX-License-Identifier: Apache-2.0
// The fake libhiprtc.so, and in the same library a comgr that knows chips and nothing else.
#include <algorithm>
#include <cstdint>

#include "artefact.h"
#include "rtc.h"
#include "wavefront.h"

using fake::RtcProgram;

namespace {

constexpr const char* kIsas[] = {"amdgcn-amd-amdhsa--gfx90a", "amdgcn-amd-amdhsa--gfx1030"};
constexpr int kComgrError = 1;

uint32_t lanesOf(const std::string& architecture) { return architecture.starts_with("gfx9") ? 64 : 32; }

fake::Macros macrosOf(const std::string& architecture) {
  const uint32_t lanes = lanesOf(architecture);
  return {{"FAKE_LANES", std::to_string(lanes)}, {lanes == 64 ? "__gfx90a__" : "MAX_MMA_IS_PLAIN", "1"}};
}

// The library's own, over a model of the hardware.
bool takesHeader(std::string_view name, std::string& text) {
  if (name == "max_hip.h") text = fake::kWavefront + text + fake::kHostTraps;
  if (name == "max_mma.h") text = fake::kMatrices + text;
  return name == "max_hip.h" || name == "max_warp.h";
}

const fake::RtcDialect& dialect() {
  static const fake::RtcDialect only = {
      "--offload-arch=", {"gfx90a", "gfx1030"}, {"-std=", "-ffast-math", "-gline-tables-only"}, takesHeader, macrosOf};
  return only;
}

std::string codeOf(const RtcProgram& program) {
  return fake::toBinary(program.object, fake::kAmdMachine, lanesOf(program.architecture));
}

std::string logOf(const RtcProgram& program) { return program.log + '\0'; }

}  // namespace

FAKE_RTC_API const char* hiprtcGetErrorString(int result) { return fake::resultText(result); }

FAKE_RTC_API int hiprtcVersion(int* major, int* minor) {
  *major = 5;
  *minor = 2;
  return fake::kRtcSuccess;
}

FAKE_RTC_API int hiprtcCreateProgram(RtcProgram** program, const char* source, const char* name, int headerCount,
                                     const char* const* headers, const char* const* headerNames) {
  return fake::createProgram(program, source, name, headerCount, headers, headerNames);
}

FAKE_RTC_API int hiprtcDestroyProgram(RtcProgram** program) { return fake::destroyProgram(program); }

FAKE_RTC_API int hiprtcCompileProgram(RtcProgram* program, int optionCount, const char* const* options) {
  return fake::compileProgram(program, dialect(), optionCount, options);
}

FAKE_RTC_API int hiprtcGetCodeSize(RtcProgram* program, size_t* size) { return fake::sizeOf(codeOf(*program), size); }
FAKE_RTC_API int hiprtcGetCode(RtcProgram* program, char* code) { return fake::copyOut(codeOf(*program), code); }
FAKE_RTC_API int hiprtcGetProgramLogSize(RtcProgram* program, size_t* size) {
  return fake::sizeOf(logOf(*program), size);
}
FAKE_RTC_API int hiprtcGetProgramLog(RtcProgram* program, char* log) { return fake::copyOut(logOf(*program), log); }

FAKE_RTC_API void amd_comgr_get_version(size_t* major, size_t* minor) {
  *major = 2;
  *minor = 4;
}

FAKE_RTC_API int amd_comgr_status_string(int, const char** text) {
  *text = "the fake comgr cannot do that";
  return 0;
}

FAKE_RTC_API int amd_comgr_get_isa_count(size_t* count) {
  *count = std::size(kIsas);
  return 0;
}

FAKE_RTC_API int amd_comgr_get_isa_name(size_t index, const char** name) {
  if (index >= std::size(kIsas)) return kComgrError;
  *name = kIsas[index];
  return 0;
}

FAKE_RTC_API int amd_comgr_create_action_info(uint64_t* action) {
  *action = 1;
  return 0;
}

FAKE_RTC_API int amd_comgr_destroy_action_info(uint64_t) { return 0; }

FAKE_RTC_API int amd_comgr_action_info_set_isa_name(uint64_t, const char* name) {
  return std::ranges::count(kIsas, std::string(name)) > 0 ? 0 : kComgrError;
}

// What only disassembly and intermediate code need.
#define FAKE_COMGR_FAILURE(name) \
  FAKE_RTC_API int name() { return kComgrError; }
FAKE_COMGR_FAILURE(amd_comgr_create_data)
FAKE_COMGR_FAILURE(amd_comgr_release_data)
FAKE_COMGR_FAILURE(amd_comgr_set_data)
FAKE_COMGR_FAILURE(amd_comgr_set_data_name)
FAKE_COMGR_FAILURE(amd_comgr_get_data)
FAKE_COMGR_FAILURE(amd_comgr_create_data_set)
FAKE_COMGR_FAILURE(amd_comgr_destroy_data_set)
FAKE_COMGR_FAILURE(amd_comgr_data_set_add)
FAKE_COMGR_FAILURE(amd_comgr_action_data_count)
FAKE_COMGR_FAILURE(amd_comgr_action_data_get_data)
FAKE_COMGR_FAILURE(amd_comgr_action_info_set_language)
FAKE_COMGR_FAILURE(amd_comgr_action_info_set_option_list)
FAKE_COMGR_FAILURE(amd_comgr_action_info_set_logging)
FAKE_COMGR_FAILURE(amd_comgr_do_action)
#undef FAKE_COMGR_FAILURE
