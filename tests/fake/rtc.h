// SPDX-License-Identifier: Apache-2.0
// What the fake NVRTC and the fake HIPRTC have in common: programs that the host's compiler compiles.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define FAKE_RTC_API extern "C" __attribute__((visibility("default")))

namespace fake {

// Numbers that nvrtcResult and hiprtcResult have in common.
enum RtcResult : int {
  kRtcSuccess = 0,
  kRtcOutOfMemory = 1,
  kRtcProgramCreationFailure = 2,
  kRtcInvalidInput = 3,
  kRtcInvalidProgram = 4,
  kRtcInvalidOption = 5,
  kRtcCompilation = 6,
};

using Macros = std::vector<std::pair<std::string, std::string>>;

// What differs between the two: how options are written, and which chips there are.
struct RtcDialect {
  const char* architectureOption;  // what stands before the chip
  std::vector<std::string> architectures;
  // Beginnings of other options, which change nothing.
  std::vector<std::string> ignoredOptions;
  // Whether the compiler is given a header that the library brings for accelerators alone; then its text, which may be
  // another. The host's compiler has its own of the others.
  bool (*takesHeader)(std::string_view name, std::string& text);
  // Macros that tell about the architecture.
  Macros (*macrosOf)(const std::string& architecture);
};

struct RtcProgram {
  std::string source;
  std::string name;
  std::vector<std::pair<std::string, std::string>> headers;  // name and text
  std::string architecture;
  std::string object;  // for the host; empty = not compiled
  std::string log;
};

int createProgram(RtcProgram** program, const char* source, const char* name, int headerCount,
                  const char* const* headers, const char* const* headerNames);
int destroyProgram(RtcProgram** program);
int compileProgram(RtcProgram* program, const RtcDialect& dialect, int optionCount, const char* const* options);
int sizeOf(const std::string& bytes, size_t* size);
int copyOut(const std::string& bytes, char* target);
// As the compilers name it, without their prefix.
const char* resultText(int result);

}  // namespace fake
