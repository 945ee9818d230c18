// SPDX-License-Identifier: Apache-2.0
// Conversions between element types, tile by tile.
//
// Numbers to integers: truncated towards zero; out-of-range values become the
// nearest limit, NaN becomes 0. Integers to narrower integers wrap. Anything
// but zero is true.
#include "ops/cpu/elementwise/cast.h"

#include <concepts>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "ops/cpu/elementwise/pieces.h"

namespace max {

namespace {

// Types with different storage and arithmetic types.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct Truth {
  uint8_t value;
};

template <class T>
T loadValue(T x) {
  return x;
}
float loadValue(Half x) { return floatFromHalf(x.bits); }
float loadValue(Brain x) { return floatFromBFloat16(x.bits); }
uint8_t loadValue(Truth x) { return x.value != 0; }

template <class T, class F>
T saturate(F x) {
  constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  constexpr F kLow = static_cast<F>(kLeast);
  if constexpr (std::numeric_limits<T>::digits <= std::numeric_limits<F>::digits) {
    // F has both limits: no jumps, so that loops are those of vectors.
    const F least = x > kLow ? x : kLow, number = least < static_cast<F>(kMost) ? least : static_cast<F>(kMost);
    using Wide = std::conditional_t<(sizeof(T) < sizeof(int)), int, T>;
    return static_cast<T>(static_cast<Wide>(kLow == 0 || x == x ? number : F{0}));
  } else {
    // Limits as values of F that convert to T and back without leaving it.
    constexpr T kHalf = kMost / 2 + 1;
    constexpr F kEnd = static_cast<F>(kHalf) * 2;  // the first value that does not fit
    if (!(x > kLow)) return x != x ? T{0} : kLeast;
    return x < kEnd ? static_cast<T>(x) : kMost;
  }
}

template <class To, class From>
To convertValue(From x) {
  if constexpr (std::same_as<To, Half>) {
    return {halfFromFloat(static_cast<float>(x))};
  } else if constexpr (std::same_as<To, Brain>) {
    return {bfloat16FromFloat(static_cast<float>(x))};
  } else if constexpr (std::same_as<To, Truth>) {
    return {static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    return saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// Operands are copied, since stores of bytes may be to anything that has an address.
template <class From, class To>
void convert(const TileOperands& operands) {
  constexpr int64_t kNarrowPiece = 16;  // vectors of the widest numbers become one of bytes
  const TileOperands tile = operands;
  const From* from = static_cast<const From*>(tile.src[0]);
  To* to = static_cast<To*>(tile.dst);
  int64_t i = 0;
  for (; tile.step[0] == 1 && i + kNarrowPiece <= tile.count; i += kNarrowPiece) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t k = i; k < i + kNarrowPiece; ++k) to[k] = convertValue<To>(loadValue(from[k]));
  }
  for (; i < tile.count; i = nextOne(i)) to[i] = convertValue<To>(loadValue(from[i * tile.step[0]]));
}

// clang-format off
#define MAX_FOR_EACH_CASTABLE(X) \
  X(Bool, Truth) X(Int8, int8_t) X(Int16, int16_t) X(Int32, int32_t) X(Int64, int64_t) X(UInt8, uint8_t) \
  X(UInt16, uint16_t) X(UInt32, uint32_t) X(UInt64, uint64_t) X(Float16, Half) X(BFloat16, Brain) \
  X(Float32, float) X(Float64, double)
// clang-format on

template <class From>
TileFunction findTo(DType to) {
  switch (to) {
#define MAX_CASE(name, type) \
  case DType::name:          \
    return convert<From, type>;
    MAX_FOR_EACH_CASTABLE(MAX_CASE)
#undef MAX_CASE
    default:
      return nullptr;
  }
}

TileFunction findWide(DType from, DType to) {
  const WideCasts& wide = castTable().wide;
  if (from == DType::Int64)
    return to == DType::Float64 ? wide.doubleFromInt64 : to == DType::Bool ? wide.boolFromInt64 : nullptr;
  if (to == DType::Bool) return wide.boolFromDouble;
  return to == DType::Int32 ? wide.int32FromDouble : to == DType::Int64 ? wide.int64FromDouble : nullptr;
}

TileFunction findVectorised(DType from, DType to) {
  const CastTable& table = castTable();
  if (from == DType::Int64 || from == DType::Float64)
    if (const TileFunction wide = findWide(from, to)) return wide;
  if (to == DType::Float32 && from == DType::Bool) return table.floatFromBool;
  if (to == DType::Float32)
    return from == DType::Float16 ? table.floatFromHalf : from == DType::BFloat16 ? table.floatFromBFloat16 : nullptr;
  if (from != DType::Float32) return nullptr;
  if (to == DType::Int32) return table.int32FromFloat;
  if (to == DType::Int64) return table.int64FromFloat;
  if (to == DType::UInt8) return table.uint8FromFloat;
  if (to == DType::Int8) return table.int8FromFloat;
  return to == DType::Float16 ? table.halfFromFloat : to == DType::BFloat16 ? table.bfloat16FromFloat : nullptr;
}

}  // namespace

TileFunction findCastTileFunction(DType from, DType to) {
  if (const TileFunction vectorised = findVectorised(from, to)) return vectorised;
  switch (from) {
#define MAX_CASE(name, type) \
  case DType::name:          \
    return findTo<type>(to);
    MAX_FOR_EACH_CASTABLE(MAX_CASE)
#undef MAX_CASE
    default:
      return nullptr;
  }
}

bool isCastable(DType dtype) { return findCastTileFunction(dtype, dtype) != nullptr; }

}  // namespace max
