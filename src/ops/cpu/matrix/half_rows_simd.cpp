// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/cpu/matrix/half_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/half_rows_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int64_t kAhead = 1024, kLine = 32;  // elements

// A single row has several sums for a column, none of which waits for another.
template <bool kHalf, int kRows, int kVectors>
HWY_NOINLINE void multiply(const HalfRows& p) {
  const D d;
  constexpr int kSums = kRows == 1 ? 4 : 1;
  const float* rows[kRows];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) rows[i] = p.rows[std::min<int64_t>(i, p.count - 1)] + p.rowOffset;
  V sums[kSums][kRows][kVectors];
  MAX_UNROLL for (auto& some : sums) MAX_UNROLL for (auto& row : some) MAX_UNROLL for (V& sum : row) sum = hn::Zero(d);
  const uint16_t* b = p.b;
  const auto add = [&](int64_t k, V(&some)[kRows][kVectors]) HWY_ATTR {
    MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      if (j * kLanes % kLine == 0) __builtin_prefetch(b + kAhead + j * kLanes, 0, 3);
      const V weights = floatsOf<kHalf>(hn::LoadU(hn::Rebind<uint16_t, D>(), b + j * kLanes));
      MAX_UNROLL for (int i = 0; i < kRows; ++i) some[i][j] = hn::MulAdd(weights, hn::Set(d, rows[i][k]), some[i][j]);
    }
    b += kVectors * kLanes;
  };
  int64_t k = 0;
  for (; k + kSums <= p.depth; k += kSums) MAX_UNROLL for (int i = 0; i < kSums; ++i) add(k + i, sums[i]);
  for (; k < p.depth; ++k) add(k, sums[0]);
  for (int64_t i = 0; i < p.count; ++i) MAX_UNROLL for (int j = 0; j < kVectors; ++j) {
      const int64_t columns = std::min(p.columns - j * kLanes, kLanes);
      V sum = sums[0][i][j];
      MAX_UNROLL for (int n = 1; n < kSums; ++n) sum = hn::Add(sum, sums[n][i][j]);
      if (p.bias) sum = hn::Add(sum, loadFirst(d, p.bias + j * kLanes, columns));
      storeFirst(d, sum, p.c + i * p.ldc + j * kLanes, columns);
    }
}

template <bool kHalf, int kVectors>
void rowsOf(const HalfRows& p) {
  p.count == 1 ? multiply<kHalf, 1, kVectors>(p) : multiply<kHalf, kHalfRows, kVectors>(p);
}

template <bool kHalf>
void rows(const HalfRows& p) {
  if (p.width == kLanes) return rowsOf<kHalf, 1>(p);
  if constexpr (kLanes == 16)  // others' panels are narrower
    if (p.width == 3 * kLanes) return rowsOf<kHalf, 3>(p);
  rowsOf<kHalf, 2>(p);
}

constexpr HalfRowsTable makeTable() { return {rows<true>, rows<false>}; }
#else
constexpr HalfRowsTable makeTable() { return {}; }
#endif

}  // namespace

extern const HalfRowsTable kHalfRowsTable;
constexpr HalfRowsTable kHalfRowsTable = makeTable();

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const HalfRowsTable& halfRowsTable() { return MAX_CHOOSE_TARGET(kHalfRowsTable); }

}  // namespace max
#endif
