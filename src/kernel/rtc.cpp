// SPDX-License-Identifier: Apache-2.0
#include "kernel/rtc.h"

#include <climits>
#include <cstring>

#include "base/error.h"
#include "kernel/builtin_headers.h"

namespace max {

namespace {

MaxStatus statusOf(int result) {
  switch (result) {
    case kRtcOutOfMemory:
      return MAX_STATUS_RESOURCE_EXHAUSTED;
    case kRtcInvalidInput:
    case kRtcInvalidOption:
    case kRtcCompilation:
      return MAX_STATUS_INVALID_ARGUMENT;
    default:
      return MAX_STATUS_INTERNAL;
  }
}

std::vector<const char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

void loadSymbols(const gpu::Library& library, std::string_view what, std::span<const LibrarySymbol> symbols) {
  require(library.isOpen(), MAX_STATUS_UNAVAILABLE, what, " is not available: ", library.problem());
  for (const LibrarySymbol& each : symbols) {
    void* function = library.symbol(each.name);
    require(function || !each.required, MAX_STATUS_UNAVAILABLE, what, " is not available: '", library.name(),
            "' has no function ", each.name);
    std::memcpy(each.address, &function, sizeof function);
  }
}

void loadRtcApi(const gpu::Library& library, std::string_view what, const std::string& prefix, RtcApi& api) {
  const std::pair<const char*, void*> functions[] = {
      {"Version", &api.version},
      {"GetErrorString", &api.getErrorString},
      {"CreateProgram", &api.createProgram},
      {"CompileProgram", &api.compileProgram},
      {"DestroyProgram", &api.destroyProgram},
      {"GetProgramLogSize", &api.getProgramLogSize},
      {"GetProgramLog", &api.getProgramLog},
  };
  for (const auto& [name, address] : functions) {
    const std::string fullName = prefix + name;
    const LibrarySymbol symbol = {fullName.c_str(), address};
    loadSymbols(library, what, std::span(&symbol, 1));
  }
}

RtcProgram::RtcProgram(const Rtc& rtc, const KernelSource& source, std::string_view prelude)
    : rtc_(rtc), name_(source.name) {
  const std::vector<std::pair<std::string, std::string>> headers = allHeaders(source);
  require(headers.size() <= INT_MAX, MAX_STATUS_INVALID_ARGUMENT, "Too many headers: ", headers.size());
  std::vector<const char*> names, texts;
  for (const auto& [header, content] : headers) names.push_back(header.c_str()), texts.push_back(content.c_str());
  const std::string text = sourceText(source, prelude);
  check(rtc_.api.createProgram(&program_, text.c_str(), name_.c_str(), static_cast<int>(names.size()), texts.data(),
                               names.data()),
        "read the source");
}

RtcProgram::~RtcProgram() {
  if (program_) rtc_.api.destroyProgram(&program_);
}

void RtcProgram::check(int result, const char* action) const {
  if (result == kRtcSuccess) return;
  const char* text = rtc_.api.getErrorString(result);
  fail(statusOf(result), rtc_.label, " cannot ", action, " '", name_, "': ", text ? text : "unknown error", " (",
       result, ")");
}

void RtcProgram::compile(const std::vector<std::string>& options) {
  const std::vector<const char*> pointers = pointersTo(options);
  require(pointers.size() <= INT_MAX, MAX_STATUS_INVALID_ARGUMENT, "Too many options: ", pointers.size());
  const int result = rtc_.api.compileProgram(program_, static_cast<int>(pointers.size()), pointers.data());
  if (result == kRtcCompilation || result == kRtcInvalidOption) failCompilation(name_, log());
  check(result, "compile");
}

std::string RtcProgram::bytes(SizeFunction size, BytesFunction get) const {
  size_t count = 0;
  check(size(program_, &count), "return the result's size for");
  std::string result(count, '\0');
  if (count > 0) check(get(program_, result.data()), "return the result for");
  return result;
}

std::string RtcProgram::log() const {
  std::string text = bytes(rtc_.api.getProgramLogSize, rtc_.api.getProgramLog);
  text.erase(text.find_last_not_of(std::string_view("\0\n\r ", 4)) + 1);
  return text;
}

void appendCommonOptions(std::vector<std::string>& options, const KernelSource& source) {
  for (const auto& [name, value] : source.defines) options.push_back(concat("-D", name, "=", value));
  options.insert(options.end(), source.flags.begin(), source.flags.end());
}

}  // namespace max
