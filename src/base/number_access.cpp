// SPDX-License-Identifier: Apache-2.0
#include "base/number_access.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/half.h"
#include "base/interrupt_point.h"

namespace max {

namespace {

struct Half {
  uint16_t bits;
  operator float() const { return floatFromHalf(bits); }
};
struct BFloat {
  uint16_t bits;
  operator float() const { return floatFromBFloat16(bits); }
};

// False if the type is below 8 bits, or a small float.
template <class F>
bool visitWhole(DType dtype, F function) {
  switch (dtype) {
#define MAX_VISIT(name, type)                                          \
  case DType::name:                                                    \
    function(type{}); /* NOLINT(bugprone-macro-parentheses): a type */ \
    return true;
    MAX_VISIT(Bool, bool)
    MAX_VISIT(Int8, int8_t)
    MAX_VISIT(Int16, int16_t)
    MAX_VISIT(Int32, int32_t)
    MAX_VISIT(Int64, int64_t)
    MAX_VISIT(UInt8, uint8_t)
    MAX_VISIT(UInt16, uint16_t)
    MAX_VISIT(UInt32, uint32_t)
    MAX_VISIT(UInt64, uint64_t)
    MAX_VISIT(Float16, Half)
    MAX_VISIT(BFloat16, BFloat)
    MAX_VISIT(Float32, float)
    MAX_VISIT(Float64, double)
#undef MAX_VISIT
    default:
      return false;
  }
}

template <class T, class D>
T saturate(D value) {
  if (value != value) return 0;
  // The largest value may round up to one past the end, hence >=.
  if (value <= static_cast<D>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (value >= static_cast<D>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <class T, class D>
T convert(D value) {
  if constexpr (std::is_same_v<T, Half>)
    return Half{halfFromFloat(static_cast<float>(value))};
  else if constexpr (std::is_same_v<T, BFloat>)
    return BFloat{bfloat16FromFloat(static_cast<float>(value))};
  else if constexpr (std::is_same_v<T, bool>)
    return value != D{0};
  else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<D>)
    return saturate<T>(value);
  else
    return static_cast<T>(value);
}

template <class D, class T>
D read(T value) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
    return convert<D>(value);
  else
    return convert<D>(static_cast<float>(value));
}

// Bool is read as a byte with any value.
template <class D>
void loadBools(const void* data, int64_t begin, int64_t count, D* numbers) {
  const auto* source = static_cast<const uint8_t*>(data) + begin;
  for (int64_t i = 0; i < count; ++i) numbers[i] = source[i] != 0 ? D{1} : D{0};
}

uint8_t codeAt(const uint8_t* packed, int64_t index, unsigned bits) {
  const int64_t first = index * bits;
  const unsigned shift = static_cast<unsigned>(first % 8);
  unsigned bytes = packed[first / 8];
  if (shift + bits > 8) bytes |= static_cast<unsigned>(packed[first / 8 + 1]) << 8;
  return static_cast<uint8_t>((bytes >> shift) & ((1u << bits) - 1));
}

void setCode(uint8_t* packed, int64_t index, unsigned bits, unsigned code) {
  const int64_t first = index * bits;
  const unsigned shift = static_cast<unsigned>(first % 8), mask = (1u << bits) - 1;
  const auto put = [](uint8_t& byte, unsigned where, unsigned what) {
    byte = static_cast<uint8_t>((byte & ~where) | (what & where));
  };
  put(packed[first / 8], mask << shift & 255, (code & mask) << shift);
  if (shift + bits > 8) put(packed[first / 8 + 1], mask >> (8 - shift), (code & mask) >> (8 - shift));
}

bool isSignedInteger(DType dtype) { return isInteger(dtype) && isSigned(dtype); }

template <class D>
D numberOf(DType dtype, uint8_t code) {
  if (isFloat(dtype)) return convert<D>(floatFromSmall(dtype, code));
  return isSigned(dtype) ? static_cast<D>(static_cast<int8_t>(code)) : static_cast<D>(code);
}

template <class D>
unsigned smallCode(DType dtype, D number, const SmallFloatRules& rules) {
  if (isFloat(dtype)) return smallFromDouble(dtype, static_cast<double>(number), rules);
  return static_cast<unsigned>(convert<int64_t>(number) & 255);
}

}  // namespace

bool isNumeric(DType dtype) { return dtype == DType::Bool || isInteger(dtype) || isFloat(dtype); }

void unpackCodes(DType dtype, const void* packed, int64_t begin, int64_t count, uint8_t* codes) {
  const unsigned bits = static_cast<unsigned>(bitsOf(dtype));
  const auto* source = static_cast<const uint8_t*>(packed);
  const unsigned shift = isSignedInteger(dtype) ? 8 - bits : 0;
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass()) {
    const auto code = static_cast<uint8_t>(codeAt(source, begin + i, bits) << shift);
    codes[i] = shift ? static_cast<uint8_t>(static_cast<int8_t>(code) >> shift) : code;
  }
}

void packCodes(DType dtype, void* packed, int64_t begin, int64_t count, const uint8_t* codes) {
  const unsigned bits = static_cast<unsigned>(bitsOf(dtype));
  auto* target = static_cast<uint8_t*>(packed);
  if (begin * bits % 8 == 0 && count > 0) clearBytes(target + begin * bits / 8, bytesFor(dtype, count));
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass()) setCode(target, begin + i, bits, codes[i]);
  // Unused bits of the last byte are zero.
  const int64_t end = (begin + count) * bits;
  if (count > 0 && end % 8 != 0) target[end / 8] = static_cast<uint8_t>(target[end / 8] & ((1u << end % 8) - 1));
}

void copyElements(DType dtype, const void* source, int64_t from, void* target, int64_t to, int64_t count) {
  const auto bits = static_cast<int64_t>(bitsOf(dtype));
  const auto* in = static_cast<const uint8_t*>(source);
  auto* out = static_cast<uint8_t*>(target);
  if ((from * bits | to * bits | count * bits) % 8 == 0) {
    if (count > 0) copyBytes(out + to * bits / 8, in + from * bits / 8, static_cast<size_t>(count * bits / 8));
    return;
  }
  const auto width = static_cast<unsigned>(bits);
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i, work.pass()) setCode(out, to + i, width, codeAt(in, from + i, width));
}

namespace {

constexpr int64_t kNumbersPerPart = 1 << 16;  // between interrupt checks; a multiple of 8: whole bytes
constexpr int64_t kStepsOfNumber = kStepsPerLook / 4 / kNumbersPerPart;

template <class D>
void loadPart(DType dtype, const void* data, int64_t begin, int64_t count, D* numbers) {
  if (dtype == DType::Bool) return loadBools(data, begin, count, numbers);
  const bool whole = visitWhole(dtype, [&]<class T>(T) {
    const auto* source = static_cast<const std::byte*>(data) + begin * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < count; ++i, source += sizeof(T)) {
      T element;  // weights in files need not be aligned
      std::memcpy(&element, source, sizeof element);
      numbers[i] = read<D>(element);
    }
  });
  if (whole) return;
  require(isNumeric(dtype), MAX_STATUS_INTERNAL, "Elements of ", dtype, " are not numbers");
  const unsigned bits = static_cast<unsigned>(bitsOf(dtype));
  const auto* source = static_cast<const uint8_t*>(data);
  D table[256];
  const bool extend = isSignedInteger(dtype);
  for (unsigned code = 0; code < 1u << bits; ++code) {
    const unsigned wide = extend && code >> (bits - 1) ? code | (~0u << bits) : code;
    table[code] = numberOf<D>(dtype, static_cast<uint8_t>(wide));
  }
  for (int64_t i = 0; i < count; ++i) numbers[i] = table[codeAt(source, begin + i, bits)];
}

template <class D>
void storePart(DType dtype, void* data, int64_t begin, int64_t count, const D* numbers, const SmallFloatRules& rules) {
  const bool whole = visitWhole(dtype, [&]<class T>(T) {
    T* target = static_cast<T*>(data) + begin;
    for (int64_t i = 0; i < count; ++i) target[i] = convert<T>(numbers[i]);
  });
  if (whole) return;
  require(isNumeric(dtype), MAX_STATUS_INTERNAL, "Elements of ", dtype, " are not numbers");
  constexpr int64_t kCodes = 256;
  uint8_t codes[kCodes];
  for (int64_t done = 0; done < count; done += kCodes) {
    const int64_t part = std::min(kCodes, count - done);
    for (int64_t i = 0; i < part; ++i) codes[i] = static_cast<uint8_t>(smallCode(dtype, numbers[done + i], rules));
    if (isPacked(dtype))
      packCodes(dtype, data, begin + done, part, codes);
    else
      std::memcpy(static_cast<uint8_t*>(data) + begin + done, codes, static_cast<size_t>(part));
  }
}

}  // namespace

template <class D>
void loadNumbers(DType dtype, const void* data, int64_t begin, int64_t count, D* numbers) {
  if (count <= kNumbersPerPart) return loadPart(dtype, data, begin, count, numbers);
  inParts(count, kStepsOfNumber,
          [&](int64_t first, int64_t last) { loadPart(dtype, data, begin + first, last - first, numbers + first); });
}

template <class D>
void storeNumbers(DType dtype, void* data, int64_t begin, int64_t count, const D* numbers,
                  const SmallFloatRules& rules) {
  if (count <= kNumbersPerPart) return storePart(dtype, data, begin, count, numbers, rules);
  inParts(count, kStepsOfNumber, [&](int64_t first, int64_t last) {
    storePart(dtype, data, begin + first, last - first, numbers + first, rules);
  });
}

template void loadNumbers<float>(DType, const void*, int64_t, int64_t, float*);
template void loadNumbers<double>(DType, const void*, int64_t, int64_t, double*);
template void loadNumbers<int64_t>(DType, const void*, int64_t, int64_t, int64_t*);
template void loadNumbers<uint64_t>(DType, const void*, int64_t, int64_t, uint64_t*);
template void storeNumbers<float>(DType, void*, int64_t, int64_t, const float*, const SmallFloatRules&);
template void storeNumbers<double>(DType, void*, int64_t, int64_t, const double*, const SmallFloatRules&);
template void storeNumbers<int64_t>(DType, void*, int64_t, int64_t, const int64_t*, const SmallFloatRules&);
template void storeNumbers<uint64_t>(DType, void*, int64_t, int64_t, const uint64_t*, const SmallFloatRules&);

}  // namespace max
