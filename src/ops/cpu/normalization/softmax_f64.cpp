// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of float64.
#include <cmath>

#include "base/interrupt_point.h"
#include "ops/cpu/normalization/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/normalization/softmax_f64.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if HWY_TARGET == HWY_AVX3

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// One line, whose elements fill vectors that are joined, or a line in each of `width` lanes.
struct Lines {
  int64_t size, stride, width;
  bool isOne;

  // Calls body(place, mask) for each vector.
  template <class Body>
  HWY_INLINE void forEachVector(const Body& body) const {
    const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
    WorkCounter work;
    for (int64_t i = 0; i < size; i += isOne ? lanes : 1, work.pass(lanes))
      body(i * stride, hn::FirstN(D(), static_cast<size_t>(HWY_MIN(isOne ? size - i : width, lanes))));
  }
};

void softmax(const double* x, double* y, const Lines& lines, bool logarithm) {
  const D d;
  V largest = hn::Set(d, -HUGE_VAL), sum = hn::Zero(d);
  lines.forEachVector([&](int64_t i, hn::Mask<D> mask) HWY_ATTR {
    largest = hn::IfThenElse(mask, hn::Max(largest, hn::MaskedLoad(mask, d, x + i)), largest);
  });
  if (lines.isOne) largest = hn::MaxOfLanes(d, largest);
  lines.forEachVector([&](int64_t i, hn::Mask<D> mask) HWY_ATTR {
    const V weight = expOfDouble(d, hn::Sub(hn::MaskedLoad(mask, d, x + i), largest));
    sum = hn::Add(sum, hn::IfThenElseZero(mask, weight));
    if (!logarithm) hn::BlendedStore(weight, mask, d, y + i);
  });
  if (lines.isOne) sum = hn::SumOfLanes(d, sum);
  HWY_ALIGN double sums[hn::MaxLanes(d)];
  hn::Store(sum, d, sums);
  for (size_t i = 0; i < (lines.isOne ? 1 : hn::Lanes(d)); ++i) sums[i] = logarithm ? std::log(sums[i]) : 1 / sums[i];
  const V by = lines.isOne ? hn::Set(d, sums[0]) : hn::Load(d, sums);
  lines.forEachVector([&](int64_t i, hn::Mask<D> mask) HWY_ATTR {
    const V number = hn::MaskedLoad(mask, d, (logarithm ? x : y) + i);
    hn::BlendedStore(logarithm ? hn::Sub(hn::Sub(number, largest), by) : hn::Mul(number, by), mask, d, y + i);
  });
}

void row(const double* x, double* y, int64_t size, bool logarithm) { softmax(x, y, {size, 1, 0, true}, logarithm); }

void columns(const double* x, double* y, int64_t size, int64_t stride, int64_t count, bool logarithm) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t i = 0; i < count; i += lanes) softmax(x + i, y + i, {size, stride, count - i, false}, logarithm);
}

constexpr DoubleSoftmaxTable table() { return {row, columns}; }
#else
constexpr DoubleSoftmaxTable table() { return {}; }
#endif

}  // namespace

extern const DoubleSoftmaxTable kDoubleSoftmaxTable;
const DoubleSoftmaxTable kDoubleSoftmaxTable = table();

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const DoubleSoftmaxTable& doubleSoftmaxTable() { return MAX_CHOOSE_TARGET(kDoubleSoftmaxTable); }
}  // namespace max
#endif
