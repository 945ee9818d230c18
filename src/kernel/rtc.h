// SPDX-License-Identifier: Apache-2.0
// Shared by NVRTC and HIPRTC: the same functions with two prefixes, and the same numbers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/gpu/library.h"
#include "kernel/compiler.h"
#include "kernel/compiler_record.h"

namespace max {

// nvrtcResult and hiprtcResult.
enum RtcResult : int {
  kRtcSuccess = 0,
  kRtcOutOfMemory = 1,
  kRtcProgramCreationFailure = 2,
  kRtcInvalidInput = 3,
  kRtcInvalidProgram = 4,
  kRtcInvalidOption = 5,
  kRtcCompilation = 6,
  kRtcInternalError = 11,
};

struct RtcApi {
  int (*version)(int* major, int* minor) = nullptr;
  const char* (*getErrorString)(int result) = nullptr;
  int (*createProgram)(void** program, const char* source, const char* name, int headerCount,
                       const char* const* headers, const char* const* headerNames) = nullptr;
  int (*compileProgram)(void* program, int optionCount, const char* const* options) = nullptr;
  int (*destroyProgram)(void** program) = nullptr;
  int (*getProgramLogSize)(void* program, size_t* bytes) = nullptr;
  int (*getProgramLog)(void* program, char* log) = nullptr;
};

// A library function and where to store its address. Functions of later versions may be missing.
struct LibrarySymbol {
  const char* name;
  void* address;  // of the function pointer
  bool required = true;
};
// UNAVAILABLE if the library is not open or lacks a required function.
void loadSymbols(const gpu::Library& library, std::string_view what, std::span<const LibrarySymbol> symbols);
// All of `api`; `prefix` is "nvrtc" or "hiprtc".
void loadRtcApi(const gpu::Library& library, std::string_view what, const std::string& prefix, RtcApi& api);

// An opened compiler.
struct Rtc {
  RtcApi api;
  std::string label;  // "NVRTC 13.5"
  CompilerFacts facts;
};

// A source and its compilation.
class RtcProgram {
 public:
  using SizeFunction = int (*)(void*, size_t*);
  using BytesFunction = int (*)(void*, char*);

  // `prelude` goes before the source, which keeps its line numbers.
  RtcProgram(const Rtc& rtc, const KernelSource& source, std::string_view prelude);
  ~RtcProgram();
  RtcProgram(const RtcProgram&) = delete;
  RtcProgram& operator=(const RtcProgram&) = delete;

  // INVALID_ARGUMENT with the log if the source or an option is wrong.
  void compile(const std::vector<std::string>& options);
  std::string log() const;
  std::string bytes(SizeFunction size, BytesFunction get) const;

 private:
  void check(int result, const char* action) const;

  const Rtc& rtc_;
  std::string name_;
  void* program_ = nullptr;
};

// -DNAME=VALUE for each macro, then the source's own flags.
void appendCommonOptions(std::vector<std::string>& options, const KernelSource& source);

}  // namespace max
