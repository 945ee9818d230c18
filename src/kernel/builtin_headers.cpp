// SPDX-License-Identifier: Apache-2.0
#include "kernel/builtin_headers.h"

#include <algorithm>

#include "base/error.h"

// Generated from the files of headers/.
extern const unsigned char kernel_header_max_cuda[], kernel_header_max_half[], kernel_header_max_half_arithmetic[],
    kernel_header_max_half_hip[], kernel_header_max_hip[], kernel_header_max_limits[], kernel_header_max_math[],
    kernel_header_max_mma[], kernel_header_max_stdint[], kernel_header_max_warp[];
extern const size_t kernel_header_max_cuda_size, kernel_header_max_half_size, kernel_header_max_half_arithmetic_size,
    kernel_header_max_half_hip_size, kernel_header_max_hip_size, kernel_header_max_limits_size,
    kernel_header_max_math_size, kernel_header_max_mma_size, kernel_header_max_stdint_size, kernel_header_max_warp_size;

namespace max {

namespace {

std::string_view textOf(const unsigned char* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

constexpr std::string_view kHalf = "#include \"max_half.h\"\n";
constexpr std::string_view kInteger = "#include \"max_stdint.h\"\n";
constexpr std::string_view kLimits = "#include \"max_limits.h\"\n";
constexpr std::string_view kMath = "#include \"max_math.h\"\n";
// The compilers provide the contents anyway.
constexpr std::string_view kNothing = "#pragma once\n";

// Escaped as in a C string.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

std::span<const BuiltinHeader> builtinHeaders() {
  static const BuiltinHeader headers[] = {
      {"max_half.h", textOf(kernel_header_max_half, kernel_header_max_half_size), false},
      {"max_half_arithmetic.h", textOf(kernel_header_max_half_arithmetic, kernel_header_max_half_arithmetic_size),
       false},
      {"cuda_fp16.h", kHalf, false},
      {"cuda_bf16.h", kHalf, false},
      {"hip/hip_fp16.h", kHalf, false},
      {"hip/hip_bf16.h", "#include \"max_half.h\"\ntypedef __nv_bfloat16 __hip_bfloat16;\n", false},
      {"hip/hip_bfloat16.h", "#include \"max_half.h\"\ntypedef __nv_bfloat16 hip_bfloat16;\n", false},
      {"max_mma.h", textOf(kernel_header_max_mma, kernel_header_max_mma_size), false},
      {"cuda_runtime.h", kNothing, false},
      {"device_launch_parameters.h", kNothing, false},
      {"hip/hip_runtime.h", kNothing, false},
      {"max_math.h", textOf(kernel_header_max_math, kernel_header_max_math_size), false},
      {"math.h", kMath, false},
      {"cmath", kMath, false},
      {"max_cuda.h", textOf(kernel_header_max_cuda, kernel_header_max_cuda_size), true},
      {"max_half_hip.h", textOf(kernel_header_max_half_hip, kernel_header_max_half_hip_size), true},
      {"max_hip.h", textOf(kernel_header_max_hip, kernel_header_max_hip_size), true},
      {"max_warp.h", textOf(kernel_header_max_warp, kernel_header_max_warp_size), true},
      {"max_stdint.h", textOf(kernel_header_max_stdint, kernel_header_max_stdint_size), true},
      {"max_limits.h", textOf(kernel_header_max_limits, kernel_header_max_limits_size), true},
      {"limits.h", kLimits, true},
      {"climits", kLimits, true},
      {"float.h", kLimits, true},
      {"cfloat", kLimits, true},
      {"stdint.h", kInteger, true},
      {"cstdint", kInteger, true},
      {"stddef.h", kInteger, true},
      {"cstddef", kInteger, true},
      {"stdio.h", kNothing, true},
      {"cstdio", kNothing, true},
      {"assert.h", kNothing, true},
      {"cassert", kNothing, true},
  };
  return headers;
}

std::vector<std::pair<std::string, std::string>> allHeaders(const KernelSource& source) {
  std::vector<std::pair<std::string, std::string>> all = source.headers;
  for (const BuiltinHeader& header : builtinHeaders())
    if (std::none_of(source.headers.begin(), source.headers.end(),
                     [&](const auto& own) { return own.first == header.name; }))
      all.emplace_back(header.name, header.text);
  return all;
}

std::string sourceText(const KernelSource& source, std::string_view prelude) {
  std::string_view text = source.text;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a UTF-8 byte order mark
  return concat(prelude, "#line 1 ", quoted(source.name), "\n", text);
}

}  // namespace max
