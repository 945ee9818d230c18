// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "failure.h"

namespace max::cli {
namespace {

template <class T>
T load(const Array& array, int64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

double fromBfloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// A small float with these field widths; in types without infinities only the last code is NaN.
double fromSmallFloat(uint32_t bits, int exponentBits, int mantissaBits, int bias, bool hasInfinity) {
  const uint32_t mantissa = bits & ((1u << mantissaBits) - 1);
  const uint32_t exponent = (bits >> mantissaBits) & ((1u << exponentBits) - 1);
  const double sign = (bits >> (mantissaBits + exponentBits)) & 1 ? -1.0 : 1.0;
  const uint32_t top = (1u << exponentBits) - 1;
  if (hasInfinity && exponent == top) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1u << mantissaBits), static_cast<int>(exponent) - bias - mantissaBits);
}

double fromFloat8(MaxDType dtype, uint8_t bits) {
  switch (dtype) {
    case MAX_DTYPE_FLOAT8_E8M0FNU:
      return bits == 0xFF ? std::nan("") : std::ldexp(1.0, bits - 127);
    case MAX_DTYPE_FLOAT8_E4M3FN:
      return (bits & 0x7F) == 0x7F ? std::nan("") : fromSmallFloat(bits, 4, 3, 7, false);
    case MAX_DTYPE_FLOAT8_E4M3FNUZ:
      return bits == 0x80 ? std::nan("") : fromSmallFloat(bits, 4, 3, 8, false);
    case MAX_DTYPE_FLOAT8_E5M2:
      return fromSmallFloat(bits, 5, 2, 15, true);
    default:
      return bits == 0x80 ? std::nan("") : fromSmallFloat(bits, 5, 2, 16, false);
  }
}

// Types below 8 bits are packed, the first element in the lowest bits.
double fromPacked(const Array& array, int64_t index, unsigned bits) {
  const size_t first = static_cast<size_t>(index) * bits, shift = first % 8;
  unsigned bytes = std::to_integer<unsigned>(array.bytes[first / 8]);
  if (shift + bits > 8) bytes |= std::to_integer<unsigned>(array.bytes[first / 8 + 1]) << 8;
  const unsigned raw = (bytes >> shift) & ((1u << bits) - 1);
  if (array.dtype == MAX_DTYPE_FLOAT4_E2M1FN) return fromSmallFloat(raw, 2, 1, 1, false);
  if (array.dtype == MAX_DTYPE_FLOAT6_E2M3FN) return fromSmallFloat(raw, 2, 3, 1, false);
  if (array.dtype == MAX_DTYPE_FLOAT6_E3M2FN) return fromSmallFloat(raw, 3, 2, 3, false);
  const bool isSigned = array.dtype == MAX_DTYPE_INT2 || array.dtype == MAX_DTYPE_INT4;
  return isSigned && raw >> (bits - 1) ? static_cast<double>(raw) - (1u << bits) : raw;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

int64_t elementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      throw Failure("INVALID_ARGUMENT", "Shape " + shapeText(shape) + " does not fit in memory");
  return count;
}

size_t byteCount(MaxDType dtype, const std::vector<int64_t>& shape) {
  const auto count = static_cast<size_t>(elementCount(shape));
  size_t bits;
  if (__builtin_mul_overflow(count, maxDTypeGetBits(dtype), &bits) || bits > std::numeric_limits<size_t>::max() - 7)
    throw Failure("INVALID_ARGUMENT", "Shape " + shapeText(shape) + " does not fit in memory");
  return (bits + 7) / 8;
}

std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

double elementAt(const Array& array, int64_t index) {
  switch (array.dtype) {
    case MAX_DTYPE_BOOL:
    case MAX_DTYPE_UINT8:
      return load<uint8_t>(array, index);
    case MAX_DTYPE_INT8:
      return load<int8_t>(array, index);
    case MAX_DTYPE_UINT16:
      return load<uint16_t>(array, index);
    case MAX_DTYPE_INT16:
      return load<int16_t>(array, index);
    case MAX_DTYPE_UINT32:
      return load<uint32_t>(array, index);
    case MAX_DTYPE_INT32:
      return load<int32_t>(array, index);
    case MAX_DTYPE_UINT64:
      return static_cast<double>(load<uint64_t>(array, index));
    case MAX_DTYPE_INT64:
      return static_cast<double>(load<int64_t>(array, index));
    case MAX_DTYPE_FLOAT16:
      return fromSmallFloat(load<uint16_t>(array, index), 5, 10, 15, true);
    case MAX_DTYPE_BFLOAT16:
      return fromBfloat16(load<uint16_t>(array, index));
    case MAX_DTYPE_FLOAT32:
      return load<float>(array, index);
    case MAX_DTYPE_FLOAT64:
      return load<double>(array, index);
    default:
      break;
  }
  const auto bits = static_cast<unsigned>(maxDTypeGetBits(array.dtype));
  if (bits == 8) return fromFloat8(array.dtype, load<uint8_t>(array, index));
  return bits && bits < 8 ? fromPacked(array, index, bits) : std::nan("");
}

std::string elementText(const Array& array, int64_t index) {
  if (array.dtype == MAX_DTYPE_STRING) return quoted(array.strings[static_cast<size_t>(index)]);
  if (array.dtype == MAX_DTYPE_INT64) return std::to_string(load<int64_t>(array, index));
  if (array.dtype == MAX_DTYPE_UINT64) return std::to_string(load<uint64_t>(array, index));
  if (array.dtype == MAX_DTYPE_BOOL) return load<uint8_t>(array, index) ? "true" : "false";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", elementAt(array, index));
  return text;
}

}  // namespace max::cli
