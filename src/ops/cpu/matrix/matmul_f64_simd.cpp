// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt_point.h"
#include "ops/cpu/matrix/matmul_f64.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/matmul_f64_simd.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// A tile of kRows rows and kVectors vectors of columns stays in registers.
template <int kRows, int kVectors, class D>
HWY_INLINE void tile(D d, const DoubleRows& r, int64_t m, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const double* a = r.a + m * r.aRow;
  const double* b = r.b + n;
  hn::Vec<D> sums[kRows][kVectors];
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
  for (int64_t k = 0; k < r.depth; ++k, b += r.ldb, a += r.aColumn) {
    hn::Vec<D> row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * lanes);
    for (int i = 0; i < kRows; ++i) {
      const auto factor = hn::Set(d, a[i * r.aRow]);
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, r.c + (m + i) * r.ldc + n + v * lanes);
}

template <int kRows>
HWY_INLINE void rowsOf(const DoubleRows& r, int64_t m) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  WorkCounter work;
  int64_t n = 0;
  const int64_t steps = 16 * r.depth;  // rows of B may be far apart
  for (; n + 2 * lanes <= r.columns; n += 2 * lanes, work.pass(steps)) tile<kRows, 2>(d, r, m, n);
  for (; n + lanes <= r.columns; n += lanes, work.pass(steps)) tile<kRows, 1>(d, r, m, n);
  for (; n < r.columns; ++n, work.pass(kRows * r.depth))
    for (int i = 0; i < kRows; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < r.depth; ++k) sum += r.a[(m + i) * r.aRow + k * r.aColumn] * r.b[k * r.ldb + n];
      r.c[(m + i) * r.ldc + n] = sum;
    }
}

void doubleRows(const DoubleRows& r) {
  int64_t m = 0;
  for (; m + 4 <= r.rows; m += 4) rowsOf<4>(r, m);
  for (; m < r.rows; ++m) rowsOf<1>(r, m);
}

}  // namespace

extern const DoubleRowsFunction kDoubleRows;
const DoubleRowsFunction kDoubleRows = doubleRows;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
DoubleRowsFunction doubleRowsFunction() { return MAX_CHOOSE_TARGET(kDoubleRows); }
}  // namespace max
#endif
