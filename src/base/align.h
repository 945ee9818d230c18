// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace max {

// The least multiple of `unit` that is not less than `value`; 64 bytes are a cache line.
template <class T>
constexpr T alignUp(T value, std::type_identity_t<T> unit = 64) {
  return (value + unit - 1) / unit * unit;
}

// The quotient rounded up; b > 0.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }

}  // namespace max
