// SPDX-License-Identifier: Apache-2.0
// Conversions between element types, tile by tile.
//
// Numbers to integers: truncated towards zero; out-of-range values become the
// nearest limit, NaN becomes 0. Integers to narrower integers wrap. Anything
// but zero is true.
#include "ops/cpu/elementwise/cast.h"

#include <concepts>
#include <cstring>
#include <limits>

#include "base/half.h"

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

// Both limits as values of F that convert to T and back without leaving it.
template <class T, class F>
T saturate(F x) {
  constexpr F kLow = static_cast<F>(std::numeric_limits<T>::min());
  constexpr T kHalf = std::numeric_limits<T>::max() / 2 + 1;
  constexpr F kEnd = static_cast<F>(kHalf) * 2;  // the first value that does not fit
  if (!(x > kLow)) return x != x ? T{0} : std::numeric_limits<T>::min();
  return x < kEnd ? static_cast<T>(x) : std::numeric_limits<T>::max();
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

template <class From, class To>
void convert(const TileOperands& tile) {
  const From* from = static_cast<const From*>(tile.src[0]);
  To* to = static_cast<To*>(tile.dst);
  if (tile.step[0] == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < tile.count; ++i) to[i] = convertValue<To>(loadValue(from[i]));
  } else {
    const To value = convertValue<To>(loadValue(from[0]));
    for (int64_t i = 0; i < tile.count; ++i) to[i] = value;
  }
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

TileFunction findVectorised(DType from, DType to) {
  const CastTable& table = castTable();
  if (to == DType::Float32 && from == DType::Bool) return table.floatFromBool;
  if (to == DType::Float32)
    return from == DType::Float16 ? table.floatFromHalf : from == DType::BFloat16 ? table.floatFromBFloat16 : nullptr;
  if (from != DType::Float32) return nullptr;
  if (to == DType::Int32) return table.int32FromFloat;
  if (to == DType::Int64) return table.int64FromFloat;
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
