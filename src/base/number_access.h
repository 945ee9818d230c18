// SPDX-License-Identifier: Apache-2.0
// Reads and writes elements of any numeric type, including packed ones, as numbers of a few wide types, for kernels
// written once for all dtypes.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/small_float.h"

namespace max {

// Elements per tile of kernels that convert elements. A multiple of 8, so that tiles of packed elements start at whole
// bytes.
inline constexpr int64_t kNumberTile = 1024;

// Bool, integers and floating-point numbers of all widths; not strings and complex numbers.
bool isNumeric(DType dtype);

// Elements begin..begin + count of a dense tensor. D: float, double, int64_t or uint64_t.
template <class D>
void loadNumbers(DType dtype, const void* data, int64_t begin, int64_t count, D* numbers);

// Element `i` as a double.
inline double numberAt(DType dtype, const void* data, int64_t i) {
  double number = 0;
  loadNumbers(dtype, data, i, 1, &number);
  return number;
}

// Rounds to nearest even. Floats to integers: truncated, clamped to the range, NaN becomes 0; below 8 bits the higher
// bits are dropped instead, as in ONNX. Integers to narrower integers wrap. Anything but zero is true. Threads that
// write packed elements must keep to whole bytes.
template <class D>
void storeNumbers(DType dtype, void* data, int64_t begin, int64_t count, const D* numbers,
                  const SmallFloatRules& rules = {});

// Copies elements of any type between two tensors; other packed elements in the same bytes are preserved.
void copyElements(DType dtype, const void* source, int64_t from, void* target, int64_t to, int64_t count);

// Unpacks elements to one per byte, and packs them. Signed integers are extended to 8 bits.
void unpackCodes(DType dtype, const void* packed, int64_t begin, int64_t count, uint8_t* codes);
void packCodes(DType dtype, void* packed, int64_t begin, int64_t count, const uint8_t* codes);

}  // namespace max
