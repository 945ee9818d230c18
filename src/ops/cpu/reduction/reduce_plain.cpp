// SPDX-License-Identifier: Apache-2.0
// Reductions of integers, bool and float64 as plain loops.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/interrupt_point.h"
#include "ops/cpu/reduction/reduce.h"

namespace max {

namespace {

// Integers wrap at 64 bits.
template <class A>
using Wrapping = typename std::conditional_t<std::is_integral_v<A>, std::make_unsigned<A>, std::type_identity<A>>::type;

template <class A>
A plus(A a, A b) {
  return static_cast<A>(static_cast<Wrapping<A>>(a) + static_cast<Wrapping<A>>(b));
}
template <class A>
A times(A a, A b) {
  return static_cast<A>(static_cast<Wrapping<A>>(a) * static_cast<Wrapping<A>>(b));
}

template <class A, Fold kFold>
A startOf() {
  using Limits = std::numeric_limits<A>;
  constexpr bool kInfinite = Limits::has_infinity;
  if constexpr (kFold == Fold::Product) return 1;
  if constexpr (kFold == Fold::Max) return kInfinite ? static_cast<A>(-Limits::infinity()) : Limits::min();
  if constexpr (kFold == Fold::Min) return kInfinite ? Limits::infinity() : Limits::max();
  return 0;
}

template <class A, Fold kFold>
A mapElement(A x) {
  if constexpr (kFold == Fold::SumOfMagnitudes) return x < 0 ? static_cast<A>(-static_cast<Wrapping<A>>(x)) : x;
  if constexpr (kFold == Fold::SumOfSquares) return times(x, x);
  return x;
}

template <class A, Fold kFold>
A joinElements(A a, A b) {
  if constexpr (kFold == Fold::Product) return times(a, b);
  // NaN stays, by a jump that is nearly never taken.
  const bool isNan = a != a;
  if constexpr (kFold == Fold::Max) return isNan ? a : a > b ? a : b;
  if constexpr (kFold == Fold::Min) return isNan ? a : a < b ? a : b;
  return plus(a, b);
}

template <class T, class A, Fold kFold>
struct Plain {
  static void rows(const void* data, int64_t count, int64_t stride, int64_t size, void* accumulators, const void*) {
    A* a = static_cast<A*>(accumulators);
    for (int64_t r = 0; r < count; ++r) {
      const T* x = static_cast<const T*>(data) + r * stride;
      for (int64_t i = 0; i < size; i += kStepsPerLook) {
        a[r] = joinElements<A, kFold>(a[r], row(x + i, std::min(size - i, kStepsPerLook)));
        if (size > kStepsPerLook) passWork(kStepsPerLook);
      }
    }
  }
  // Several results side by side do not wait for each other; of integers the compiler makes them.
  static A row(const T* x, int64_t size) {
    constexpr int64_t kSide = std::is_integral_v<A> ? 1 : 8;
    A results[kSide];
    start(results, kSide);
    int64_t i = 0;
    for (; i + kSide <= size; i += kSide)
      for (int64_t k = 0; k < kSide; ++k) results[k] = joined(results[k], x[i + k]);
    for (; i < size; ++i) results[0] = joined(results[0], x[i]);
    A result = results[0];
    for (int64_t k = 1; k < kSide; ++k) result = joinElements<A, kFold>(result, results[k]);
    return result;
  }
  static A joined(A a, T x) { return joinElements<A, kFold>(a, mapElement<A, kFold>(static_cast<A>(x))); }
  static void columns(const void* data, int64_t rows, int64_t stride, int64_t width, void* accumulators, const void*) {
    A* a = static_cast<A*>(accumulators);
    WorkCounter work;
    for (int64_t r = 0; r < rows; ++r, work.pass(width)) {
      const T* x = static_cast<const T*>(data) + r * stride;
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) a[i] = joined(a[i], x[i]);
    }
  }
  static void join(void* to, const void* from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      A& a = static_cast<A*>(to)[i];
      a = joinElements<A, kFold>(a, static_cast<const A*>(from)[i]);
    }
  }
  static void start(void* accumulators, int64_t count) {
    std::fill_n(static_cast<A*>(accumulators), count, startOf<A, kFold>());
  }
  static constexpr FoldFunctions kFunctions = {rows, columns, join, start};
};

// Products and extremes of accumulators that are not wider than elements.
template <class T>
const FoldFunctions* findInElements(Fold fold) {
  if (fold == Fold::Max) return &Plain<T, T, Fold::Max>::kFunctions;
  if (fold == Fold::Min) return &Plain<T, T, Fold::Min>::kFunctions;
  if constexpr (sizeof(T) > 1) return &Plain<T, T, Fold::Product>::kFunctions;
  return nullptr;  // products of bytes are left to the reference
}

template <class T, class A>
const FoldFunctions* find(Fold fold) {
  switch (fold) {
    case Fold::Sum:
      return &Plain<T, A, Fold::Sum>::kFunctions;
    case Fold::SumOfMagnitudes:
      return &Plain<T, A, Fold::SumOfMagnitudes>::kFunctions;
    case Fold::SumOfSquares:
      return &Plain<T, A, Fold::SumOfSquares>::kFunctions;
    case Fold::SumOfExponentials:
      return nullptr;
    default:
      return findInElements<T>(fold);
  }
}

}  // namespace

bool foldsInElements(DType dtype, Fold fold) {
  const bool isNarrow = dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Bool || dtype == DType::Int32;
  const bool isExtreme = fold == Fold::Max || fold == Fold::Min;
  return (isNarrow && isExtreme) || (dtype == DType::Int32 && fold == Fold::Product);
}

const FoldFunctions* findPlainFold(Fold fold, DType dtype) {
  if (foldsInElements(dtype, fold))
    return dtype == DType::Int32  ? findInElements<int32_t>(fold)
           : dtype == DType::Int8 ? findInElements<int8_t>(fold)
                                  : findInElements<uint8_t>(fold);
  switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
      return find<uint8_t, int64_t>(fold);
    case DType::Int8:
      return find<int8_t, int64_t>(fold);
    case DType::Int32:
      return find<int32_t, int64_t>(fold);
    case DType::Int64:
      return find<int64_t, int64_t>(fold);
    case DType::Float64:
      return find<double, double>(fold);
    default:
      return nullptr;
  }
}

}  // namespace max
