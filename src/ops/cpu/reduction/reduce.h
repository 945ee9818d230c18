// SPDX-License-Identifier: Apache-2.0
// Folds of rows and of columns, for each CPU target (reduce_simd.cpp) and for other types (reduce_plain.cpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"

namespace max {

// Converts a root or a logarithm to the accumulator's type: truncated for integers, or the minimum if infinite or NaN
// (of zero, of a sum that wrapped).
template <class A>
A accumulatorOf(double value) {
  if constexpr (std::is_floating_point_v<A>) return static_cast<A>(value);
  return std::isfinite(value) ? static_cast<A>(value) : std::numeric_limits<A>::min();
}

// Kinds of folds. Sums of |x|, x^2, e^(x - shift) are separate folds.
enum class Fold : uint8_t { Sum, Product, Max, Min, SumOfMagnitudes, SumOfSquares, SumOfExponentials };
inline constexpr int kFoldCount = 7;

// Joins `rows` rows, `stride` elements apart, to `width` accumulators. shift: one per accumulator.
using FoldColumns = void (*)(const void* x, int64_t rows, int64_t stride, int64_t width, void* accumulators,
                             const void* shift);

// Folding functions of one element type; the accumulators may be wider than the elements.
struct FoldFunctions {
  // Joins the `count` elements of each of `rows` rows, `stride` elements apart, to an accumulator per row.
  void (*rows)(const void* x, int64_t rows, int64_t stride, int64_t count, void* accumulators, const void* shift);
  FoldColumns columns;
  // Joins two accumulators: *to with *from.
  void (*join)(void* to, const void* from, int64_t count);
  // Starts accumulators.
  void (*start)(void* accumulators, int64_t count);
  // Accumulators that fill vectors: long rows are folded as columns, so many side by side. 0 = by `rows`.
  int64_t side = 0;
};

struct ReduceTable {
  FoldFunctions folds[kFoldCount];
};
const ReduceTable& reduceTable();  // of the CPU target of now

inline constexpr int64_t kArgColumns = 1024;  // whose greatest elements stay in the first cache

// Searches of one element type.
struct ArgFunctions {
  // Index of the first greatest element, after exclusive or of all bits with those of `turn`.
  int64_t (*row)(const void* x, int64_t size, int64_t turn, bool lastIndex);
  // The same for at most kArgColumns columns of elements `stride` apart.
  void (*columns)(const void* x, int64_t size, int64_t stride, int64_t width, int64_t turn, bool lastIndex,
                  int64_t* indices);
  int64_t turns[2];  // for the greatest and the least
  int64_t longestColumn;
};
struct ArgTable {
  ArgFunctions (*find)(DType dtype);
};
ArgFunctions findArgFunctions(DType dtype);  // of the CPU target of now; NULL if it has none

// Of the CPU target of now, for the accumulators of a plain fold. NULL where that is as fast.
struct WideFoldTable {
  FoldColumns (*find)(Fold fold, DType dtype);
};
FoldColumns findWideColumns(Fold fold, DType dtype);

// Accumulators are int64 for integers and bool, double for float64. NULL if the type is not served.
const FoldFunctions* findPlainFold(Fold fold, DType dtype);
// Whether accumulators have the elements' type; of other integers they have 64 bits.
bool foldsInElements(DType dtype, Fold fold);

}  // namespace max
