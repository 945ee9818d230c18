// SPDX-License-Identifier: Apache-2.0
#include "random.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "failure.h"

namespace max::cli {
namespace {

template <class T>
void store(Array& array, size_t index, T value) {
  std::memcpy(array.bytes.data() + index * sizeof(T), &value, sizeof(T));
}

// A number in [0, 1) as a 16-bit float with this many exponent bits; rounding down is fine here.
uint16_t toHalfWidth(double value, int mantissaBits, int bias) {
  if (value <= 0) return 0;
  int exponent;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  if (exponent - 1 + bias <= 0) return 0;
  const auto fraction = static_cast<uint16_t>((mantissa * 2 - 1) * (1 << mantissaBits));
  return static_cast<uint16_t>((exponent - 1 + bias) << mantissaBits | fraction);
}

bool storeFloat(Array& array, size_t index, double value) {
  switch (array.dtype) {
    case MAX_DTYPE_FLOAT16:
      return store(array, index, toHalfWidth(value, 10, 15)), true;
    case MAX_DTYPE_BFLOAT16:
      return store(array, index, toHalfWidth(value, 7, 127)), true;
    case MAX_DTYPE_FLOAT32:
      return store(array, index, static_cast<float>(value)), true;
    case MAX_DTYPE_FLOAT64:
      return store(array, index, value), true;
    default:
      return false;
  }
}

bool isInteger(MaxDType dtype) {
  return dtype == MAX_DTYPE_BOOL || (dtype >= MAX_DTYPE_UINT8 && dtype <= MAX_DTYPE_INT64);
}

// Little-endian, so the low bytes of the wide number are the narrow one.
void storeInteger(Array& array, size_t index, uint64_t value) {
  const size_t size = maxDTypeGetSize(array.dtype);
  std::memcpy(array.bytes.data() + index * size, &value, size);
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

Array randomArray(Random& random, MaxDType dtype, const std::vector<int64_t>& shape, int64_t maximum) {
  Array array{dtype, shape, std::vector<std::byte>(byteCount(dtype, shape)), {}};
  const auto count = static_cast<size_t>(elementCount(shape));
  const uint64_t range = dtype == MAX_DTYPE_BOOL ? 2 : static_cast<uint64_t>(maximum) + 1;
  for (size_t i = 0; i < count; ++i) {
    if (isInteger(dtype)) {
      storeInteger(array, i, random.next() % range);
    } else if (!storeFloat(array, i, std::min(random.uniform(), 1 - 0x1p-24))) {
      throw Failure("UNIMPLEMENTED", std::string("Random values of type ") + maxDTypeGetName(dtype) +
                                         " are not supported; use --input with a file");
    }
  }
  return array;
}

}  // namespace max::cli
