// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_compiler.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "kernel/builtin_headers.h"
#include "kernel/compiler_record.h"
#include "kernel/cpu_source.h"
#include "kernel/process.h"
#include "kernel/temporary_folder.h"

// Generated from the files of headers/.
extern const unsigned char kernel_header_max_cpu_abi[], kernel_header_max_cpu_atomics[], kernel_header_max_cpu_kernel[],
    kernel_header_max_cpu_math[], kernel_header_max_cpu_types[];
extern const size_t kernel_header_max_cpu_abi_size, kernel_header_max_cpu_atomics_size,
    kernel_header_max_cpu_kernel_size, kernel_header_max_cpu_math_size, kernel_header_max_cpu_types_size;

namespace max {

namespace {

struct EmbeddedHeader {
  const char* name;
  const unsigned char* text;
  size_t size;
};

std::span<const EmbeddedHeader> embeddedHeaders() {
#define MAX_ROW(name) \
  { #name ".h", kernel_header_##name, kernel_header_##name##_size }
  static const EmbeddedHeader rows[] = {
      MAX_ROW(max_cpu_abi),  MAX_ROW(max_cpu_atomics), MAX_ROW(max_cpu_kernel),
      MAX_ROW(max_cpu_math), MAX_ROW(max_cpu_types),
  };
#undef MAX_ROW
  return rows;
}

constexpr const char* kPlainFlags[] = {
    "-std=gnu++17",
    "-O3",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-threadsafe-statics",
    "-pipe",
#if defined(__x86_64__)
    "-mprefer-vector-width=512",  // masks the loop's end in each iteration
#endif
    // Kernels run on small stacks.
    "-Wframe-larger-than=65536",
};
// An overflowing sum of thread numbers must not end the loop over threads.
constexpr const char* kGccFlags[] = {"-fno-semantic-interposition", "-fno-gnu-unique",
                                     "-fno-aggressive-loop-optimizations"};
// Keeps "if (x < width && y < height)" as two conditions; the second moves out of the loop over x.
constexpr const char* kGcc9Flags[] = {"--param=logical-op-non-short-circuit=0"};
// -ffast-math itself would change the rounding mode of the thread that loads the library.
constexpr const char* kFastFlags[] = {"-fno-signed-zeros", "-fassociative-math", "-freciprocal-math"};

using Command = std::vector<std::string>;

template <size_t Count>
void append(Command& command, const char* const (&flags)[Count]) {
  command.insert(command.end(), std::begin(flags), std::end(flags));
}

// GCC's major version: 12 for "c++ (Debian 12.2.0-14) 12.2.0"; 0 = unknown.
int majorVersion(const std::string& version) {
  const size_t at = version.find(") ");
  return at == std::string::npos ? 0 : std::atoi(version.c_str() + at + 2);
}

// The last part of a path, as a file name; never the name of one of our files.
std::string fileName(const std::string& name) {
  std::string last = name.substr(name.rfind('/') + 1);
  return last.empty() || last[0] == '-' || last == "." || last == ".." ? "kernel.cu" : last;
}

std::string hostChip() {
  const std::string info = readSmallTextFile("/proc/cpuinfo", 1 << 14);
  std::string chip;
  for (const char* field : {"\nmodel name", "\nflags", "\nCPU part", "\nFeatures"}) {
    const size_t at = info.find(field);
    if (at == std::string::npos) continue;
    chip += info.substr(at + 1, info.find('\n', at + 1) - at - 1) + '\n';
  }
  return chip;
}

// Macros are defined after our own header, since they could break it: T, N and value are popular names.
struct Flags {
  std::string macros;
  std::vector<std::string> others;
};

// "NAME=VALUE", "NAME", or "NAME(x)=VALUE".
std::string definition(std::string_view text) {
  const size_t sign = text.find('=');
  std::string line = concat("#define ", text.substr(0, sign), ' ',
                            sign == std::string_view::npos ? std::string_view("1") : text.substr(sign + 1));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line + '\n';
}

Flags readFlags(const KernelSource& source) {
  Flags read;
  for (size_t i = 0; i < source.flags.size(); ++i) {
    std::string_view flag = source.flags[i];
    const bool defines = flag.starts_with("-D");
    if (!defines && !flag.starts_with("-U")) {
      read.others.emplace_back(flag);
      continue;
    }
    flag.remove_prefix(2);
    if (flag.empty() && i + 1 < source.flags.size()) flag = source.flags[++i];
    read.macros += defines ? definition(flag) : concat("#undef ", flag, '\n');
  }
  for (const auto& [name, value] : source.defines) read.macros += definition(concat(name, '=', value));
  return read;
}

class HostCompiler final : public KernelCompiler {
 public:
  HostCompiler(std::string program, std::string version)
      : program_(std::move(program)),
        version_(std::move(version)),
        identity_(concat(program_, '\n', version_, '\n', hostChip())),
        isClang_(version_.find("clang") != std::string::npos) {}

  std::string identity(const KernelSource&) const override { return identity_; }
  MaxArtifactKind executableKind(const KernelSource&) const override { return MAX_ARTIFACT_KIND_SHARED_OBJECT; }
  CompiledCode compile(const KernelSource& source, MaxArtifactKind kind) const override;

 private:
  Command plainCommand(const KernelSource& source) const;
  Command outputFlags(MaxArtifactKind kind) const;
  void run(const TemporaryFolder& folder, const Command& command, const std::string& name, const char* output,
           std::string& log) const;

  std::string program_;
  std::string version_;
  std::string identity_;
  bool isClang_;
};

Command HostCompiler::plainCommand(const KernelSource& source) const {
  Command command = {program_};
  append(command, kPlainFlags);
  if (!isClang_) append(command, kGccFlags);
  if (!isClang_ && majorVersion(version_) >= 9) append(command, kGcc9Flags);
  command.push_back("-march=" + (source.architecture.empty() ? "native" : source.architecture));
  if (source.fastMath) append(command, kFastFlags);
  if (source.lineInfo) command.emplace_back("-g1");
  const Flags flags = readFlags(source);
  command.insert(command.end(), flags.others.begin(), flags.others.end());
  return command;
}

Command HostCompiler::outputFlags(MaxArtifactKind kind) const {
  switch (kind) {
    case MAX_ARTIFACT_KIND_SHARED_OBJECT:
      return {"-shared", "-Wl,-Bsymbolic", "-Wl,--as-needed"};
    case MAX_ARTIFACT_KIND_ASSEMBLY:
      return {"-S"};
    case MAX_ARTIFACT_KIND_LOG:
      return {"-fsyntax-only"};
    case MAX_ARTIFACT_KIND_LLVM_IR:
      if (isClang_) return {"-S", "-emit-llvm"};
      [[fallthrough]];
    default:
      failArtifact(concat("The host's compiler ", program_), kind);
  }
}

// Headers are in a temporary folder.
std::string withOwnNames(std::string log) {
  for (size_t at = 0; (at = log.find(kCpuHeaders, at)) != std::string::npos;) log.erase(at, kCpuHeaders.size());
  return log;
}

void HostCompiler::run(const TemporaryFolder& folder, const Command& command, const std::string& name,
                       const char* output, std::string& log) const {
  const bool ended = runProgram(command, folder.path("source"), "../log");
  log += withOwnNames(folder.read("log"));
  const bool isTooDeep = log.find("[-Wframe-larger-than") != std::string::npos;  // the number differs by compiler
  if (!ended || isTooDeep || (output && folder.read(output).empty())) failCompilation(name, log);
}

void writeHeaders(const TemporaryFolder& folder, const KernelSource& source) {
  for (const BuiltinHeader& header : builtinHeaders())
    if (!header.onlyAccelerators) folder.write(std::string(header.name), header.text, "include");
  folder.write("assert.h", "", "include");  // the first of our headers has one
  for (const EmbeddedHeader& header : embeddedHeaders())
    folder.write(header.name, {reinterpret_cast<const char*>(header.text), header.size}, "include");
  for (const auto& [name, text] : source.headers) folder.write(name, text, "include");
}

// Preprocesses, rewrites, compiles.
CompiledCode HostCompiler::compile(const KernelSource& source, MaxArtifactKind kind) const {
  Command compilation = plainCommand(source), preprocessing = compilation;
  for (std::string& flag : outputFlags(kind)) compilation.push_back(std::move(flag));
  const TemporaryFolder folder;
  const std::string file = fileName(source.name);
  writeHeaders(folder, source);
  folder.write(file, source.text, "source");
  folder.write("definitions", readFlags(source).macros);
  preprocessing.insert(preprocessing.end(),
                       {"-E", "-I../include", "-include", "max_cpu_kernel.h", "-include", "../definitions"});
  preprocessing.insert(preprocessing.end(), {"-o", "../preprocessed", "-x", "c++", file});
  compilation.insert(compilation.end(), {"-o", "../compiled", "-x", "c++-cpp-output", "../rewritten"});
  CompiledCode code;
  run(folder, preprocessing, source.name, "preprocessed", code.log);
  folder.write("rewritten", hostSourceOf(folder.read("preprocessed")));
  run(folder, compilation, source.name, kind == MAX_ARTIFACT_KIND_LOG ? nullptr : "compiled", code.log);
  if (kind != MAX_ARTIFACT_KIND_LOG) code.bytes = folder.read("compiled");
  return code;
}

// The path of a program, found like the system does; empty if there is none.
std::string fileOfProgram(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* folders = secure_getenv("PATH");
  std::string_view rest = folders ? folders : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    const std::string file = concat(folder, "/", program);
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
  }
  return "";
}

// The first line of a compiler's version output, cached; empty if it does not run.
std::string versionOf(const std::string& program) {
  const std::string file = fileOfProgram(program), record = concat("program ", file);
  if (const auto known = recallCompiler({record.c_str(), {}})) return known->identity;
  const TemporaryFolder folder;
  if (!runProgram({program, "--version"}, folder.path(), "log")) return "";
  const std::string text = folder.read("log"), version = text.substr(0, text.find('\n'));
  if (!file.empty() && !version.empty()) rememberCompiler({record.c_str(), {}}, {.identity = version, .files = {file}});
  return version;
}

struct Search {
  std::optional<HostCompiler> compiler;
  std::string tried;
};

Search findCompiler() {
  Search search;
  if (getauxval(AT_SECURE) != 0) return search;
  const char* chosen = secure_getenv("MAX_CXX");
  for (const char* program : {chosen, "c++", "clang++", "g++"}) {
    if (!program || !*program || search.compiler) continue;
    search.tried += concat(search.tried.empty() ? "" : ", ", program);
    std::string version = versionOf(program);
    if (!version.empty()) search.compiler.emplace(program, std::move(version));
  }
  return search;
}

}  // namespace

const KernelCompiler& cpuCompiler() {
  static const Search& search = *new Search(findCompiler());
  if (!search.compiler && search.tried.empty())
    fail(MAX_STATUS_UNAVAILABLE, "The compiler is not run in a program with raised privileges");
  require(search.compiler.has_value(), MAX_STATUS_UNAVAILABLE, "No C++ compiler was found; tried ", search.tried,
          "; MAX_CXX can name another");
  return *search.compiler;
}

}  // namespace max
