// SPDX-License-Identifier: Apache-2.0
// Headers that the library provides for kernels, so that one source compiles with all compilers: files of headers/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/compiler.h"

namespace max {

struct BuiltinHeader {
  std::string_view name;  // the name in #include
  std::string_view text;
  bool onlyAccelerators;  // the host has the original
};
std::span<const BuiltinHeader> builtinHeaders();

// The source's own headers, then ours with other names.
std::vector<std::pair<std::string, std::string>> allHeaders(const KernelSource& source);

// The source for compilers: after the prelude, with lines counted from 1 in messages.
std::string sourceText(const KernelSource& source, std::string_view prelude);

}  // namespace max
