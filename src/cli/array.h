// SPDX-License-Identifier: Apache-2.0
// A tensor in the command's own memory, and its files.
#pragma once

#include <max/dtype.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace max::cli {

// Row-major elements in the library's own form (types below 8 bits packed).
struct Array {
  MaxDType dtype = MAX_DTYPE_INVALID;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  std::vector<std::string> strings = {};  // instead of bytes for the string type
};

// Maximum bytes of strings in one array: a model's strings may all be the same megabyte.
inline constexpr size_t kMostText = size_t{256} << 20;

int64_t elementCount(const std::vector<int64_t>& shape);
// Bytes of that many elements; throws a Failure if the size overflows.
size_t byteCount(MaxDType dtype, const std::vector<int64_t>& shape);
std::string shapeText(const std::vector<int64_t>& shape);

// Element i of n as a number, for statistics (not of strings) and printing.
double elementAt(const Array& array, int64_t index);
std::string elementText(const Array& array, int64_t index);

}  // namespace max::cli
