// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from files and callers: overflow is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/error.h"

namespace max {

template <class T>
T checkedAdd(T a, std::type_identity_t<T> b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) fail(MAX_STATUS_OUT_OF_RANGE, "Size overflow: ", a, " + ", b);
  return result;
}

template <class T>
T checkedMultiply(T a, std::type_identity_t<T> b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) fail(MAX_STATUS_OUT_OF_RANGE, "Size overflow: ", a, " * ", b);
  return result;
}

// alignUp (base/align.h) for sizes that are near the end of their type.
template <class T>
T checkedAlignUp(T value, std::type_identity_t<T> unit) {
  return checkedAdd(value, unit - 1) / unit * unit;
}

// Throws unless [offset, offset + count) is inside [0, size).
inline void checkRange(const char* what, size_t offset, size_t count, size_t size) {
  if (offset > size || count > size - offset)
    fail(MAX_STATUS_OUT_OF_RANGE, what, " [", offset, ", ", offset, " + ", count, ") ends past its ", size, " bytes");
}

}  // namespace max
