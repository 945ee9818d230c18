// SPDX-License-Identifier: Apache-2.0
// Compilers of kernel sources: one per API, found at run time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "max/module.h"

namespace max {

// A source and everything its compiled form depends on, except the compiler.
struct KernelSource {
  std::string name = "kernel.cu";  // name in messages
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  // name and text
  std::vector<std::pair<std::string, std::string>> defines;  // name and value
  std::string architecture;                                  // "sm_90", "gfx90a"; empty = the host's own
  std::vector<std::string> flags;
  int64_t driverVersion = 0;  // of the driver that loads the code, 1000 * major + 10 * minor; 0 = of none here
  int32_t registerLimit = 0;
  bool fastMath = false;
  bool lineInfo = false;
};

// `bytes` are empty if only the log was requested.
struct CompiledCode {
  std::string bytes;
  std::string log;
};

class KernelCompiler {
 public:
  // The source's compiler, its version, and other properties of this machine that affect the code: part of the cache
  // key. Begins with two words that messages name it by.
  virtual std::string identity(const KernelSource& source) const = 0;
  // The name under which the source's chip has all its instructions, for code that runs on no other chip: "sm_90a" of
  // "sm_90".
  virtual std::string exactArchitecture(const KernelSource& source) const { return source.architecture; }
  // The form that a device loads.
  virtual MaxArtifactKind executableKind(const KernelSource& source) const = 0;
  // UNIMPLEMENTED for unsupported forms and architectures, INVALID_ARGUMENT with the log if the source is wrong.
  virtual CompiledCode compile(const KernelSource& source, MaxArtifactKind kind) const = 0;

 protected:
  ~KernelCompiler() = default;
};

// "kernel.cu does not compile: FIRST ERROR", then the log: INVALID_ARGUMENT.
[[noreturn]] void failCompilation(const std::string& name, const std::string& log);
// "ptx", "shared object": the name in messages.
const char* artifactName(MaxArtifactKind kind);
// "COMPILER has no ptx": UNIMPLEMENTED.
[[noreturn]] void failArtifact(std::string_view compiler, MaxArtifactKind kind);

}  // namespace max
