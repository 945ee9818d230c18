// SPDX-License-Identifier: Apache-2.0
#include "rtc.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "kernel/builtin_headers.h"
#include "kernel/cpu_compiler.h"

namespace fake {

namespace {

std::optional<std::string_view> after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

// -DNAME or -DNAME=VALUE.
void addMacro(std::string_view text, max::KernelSource& source) {
  const size_t equals = std::min(text.find('='), text.size());
  source.defines.emplace_back(text.substr(0, equals), equals < text.size() ? text.substr(equals + 1) : "1");
}

bool isIgnored(const RtcDialect& dialect, std::string_view option) {
  return std::ranges::any_of(dialect.ignoredOptions,
                             [&](const std::string& start) { return option.starts_with(start); });
}

// False if the compiler would refuse it, with a line in the log.
bool takeOption(RtcProgram& program, const RtcDialect& dialect, std::string_view option, max::KernelSource& source) {
  if (const auto macro = after("-D", option)) {
    addMacro(*macro, source);
    return true;
  }
  if (const auto architecture = after(dialect.architectureOption, option)) {
    program.architecture = *architecture;
    if (std::ranges::count(dialect.architectures, *architecture) > 0) return true;
    program.log = "error: invalid value for " + std::string(option);
    return false;
  }
  if (isIgnored(dialect, option)) return true;
  program.log = "error: unrecognized option " + std::string(option) + " found";
  return false;
}

// What the library brings for accelerators alone, while the host's compiler has the real ones.
bool isForAccelerators(std::string_view name, std::string_view text) {
  return std::ranges::any_of(max::builtinHeaders(), [&](const max::BuiltinHeader& header) {
    return header.onlyAccelerators && header.name == name && header.text == text;
  });
}

void addHeader(const RtcDialect& dialect, const std::string& name, std::string text, max::KernelSource& source) {
  const bool isForBoth = !isForAccelerators(name, text);
  if (dialect.takesHeader(name, text) || isForBoth) source.headers.emplace_back(name, text);
}

// The message of a failed compilation is a summary and the log.
std::string logOf(const std::string& message) {
  const size_t line = message.find('\n');
  return line == message.npos ? message : message.substr(line + 1);
}

int compileForHost(RtcProgram& program, const max::KernelSource& source) {
  try {
    max::CompiledCode code = max::cpuCompiler().compile(source, MAX_ARTIFACT_KIND_SHARED_OBJECT);
    program.object = std::move(code.bytes);
    program.log = std::move(code.log);
    return kRtcSuccess;
  } catch (const max::Error& error) {
    program.log = logOf(error.message());
    return kRtcCompilation;
  } catch (const std::exception& error) {
    program.log = error.what();
    return kRtcOutOfMemory;
  }
}

// FAKE_RTC_SOURCES names a folder for the texts of all programs, so that a test may compile them with the vendor's own.
void keepSource(const std::string& source) {
  const char* folder = std::getenv("FAKE_RTC_SOURCES");
  if (!folder) return;
  std::ofstream(std::string(folder) + "/" + std::to_string(std::hash<std::string>()(source)) + ".cu") << source;
}

}  // namespace

int createProgram(RtcProgram** program, const char* source, const char* name, int headerCount,
                  const char* const* headers, const char* const* headerNames) {
  if (!program || !source || headerCount < 0) return kRtcInvalidInput;
  auto* made = new RtcProgram;
  made->source = source;
  made->name = name ? name : "default_program";
  keepSource(made->source);
  for (int i = 0; i < headerCount; ++i) made->headers.emplace_back(headerNames[i], headers[i]);
  *program = made;
  return kRtcSuccess;
}

int destroyProgram(RtcProgram** program) {
  if (!program || !*program) return kRtcInvalidProgram;
  delete *program;
  *program = nullptr;
  return kRtcSuccess;
}

int compileProgram(RtcProgram* program, const RtcDialect& dialect, int optionCount, const char* const* options) {
  if (!program) return kRtcInvalidProgram;
  max::KernelSource source;
  source.name = program->name;
  source.text = program->source;
  for (const auto& [name, text] : program->headers) addHeader(dialect, name, text, source);
  for (int i = 0; i < optionCount; ++i)
    if (!takeOption(*program, dialect, options[i], source)) return kRtcInvalidOption;
  for (auto& macro : dialect.macrosOf(program->architecture)) source.defines.push_back(std::move(macro));
  // Most kernels run for less time than it takes to make them fast.
  source.flags.emplace_back(source.text.find("max_mma.h") == std::string::npos ? "-O0" : "-Og");
  // Nothing of the C++ library is in them, whose names take the linker longer to read than all else does.
  source.flags.insert(source.flags.end(), {"-nostdlib", "-lm"});
  return compileForHost(*program, source);
}

int sizeOf(const std::string& bytes, size_t* size) {
  if (!size) return kRtcInvalidInput;
  *size = bytes.size();
  return kRtcSuccess;
}

int copyOut(const std::string& bytes, char* target) {
  if (!target) return kRtcInvalidInput;
  std::memcpy(target, bytes.data(), bytes.size());
  return kRtcSuccess;
}

const char* resultText(int result) {
  constexpr const char* kNames[] = {"SUCCESS",       "OUT_OF_MEMORY",   "PROGRAM_CREATION_FAILURE",
                                    "INVALID_INPUT", "INVALID_PROGRAM", "INVALID_OPTION",
                                    "COMPILATION"};
  return result >= 0 && result < static_cast<int>(std::size(kNames)) ? kNames[result] : "unknown";
}

}  // namespace fake
