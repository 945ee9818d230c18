// SPDX-License-Identifier: Apache-2.0
// Functions of float64 as vectors, for numbers that vector code knows; libm computes the others, such as NaN.
#include "ops/cpu/elementwise/f64.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/f64.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// The baseline's vectors have two lanes, with which libm keeps up.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// NaN is left to libm.
constexpr double kAll = HUGE_VAL, kExpEnd = HWY_TARGET == HWY_AVX3 ? kAll : 700;

struct Exp {
  static constexpr double kLow = -kExpEnd, kHigh = kExpEnd;
  static HWY_INLINE V apply(V x) { return expOfDouble(D(), x); }
  static double plain(double x) { return std::exp(x); }
};
struct Log {
  static constexpr double kLow = 1e-300, kHigh = 1e300;
  static HWY_INLINE V apply(V x) { return hn::Log(D(), x); }
  static double plain(double x) { return std::log(x); }
};
struct Tanh {
  static constexpr double kEnd = HWY_TARGET == HWY_AVX3 ? kAll : 1e300, kLow = -kEnd, kHigh = kEnd;
#if HWY_TARGET == HWY_AVX3
  // e^2x - 1 by itself and two more; it has all digits around 0.
  static HWY_INLINE V apply(V x) {
    constexpr double kMost = 40;  // of 2x, from which on the result is 1
    const D d;
    const V one = hn::Set(d, 1.0), twice = hn::Min(hn::Abs(hn::Add(x, x)), hn::Set(d, kMost));
    const DoublePower<V> power = powerOf(d, twice);
    const V scale{_mm512_scalef_pd(one.raw, power.power.raw)};
    const V less = hn::MulAdd(scale, power.rest, hn::Sub(scale, one));
    return hn::CopySignToAbs(hn::Div(less, hn::Add(less, hn::Set(d, 2.0))), x);
  }
#else
  static HWY_INLINE V apply(V x) { return hn::Tanh(D(), x); }
#endif
  static double plain(double x) { return std::tanh(x); }
};
struct Sigmoid {
  static constexpr double kLow = -kExpEnd, kHigh = kExpEnd;
  static HWY_INLINE V apply(V x) {
    const V one = hn::Set(D(), 1.0), e = expOfDouble(D(), hn::Neg(hn::Abs(x)));
    // Of a number below zero, e / (1 + e), which loses nothing.
    return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(D())), e, one), hn::Add(one, e));
  }
  static double plain(double x) { return 1 / (1 + std::exp(-x)); }
};
struct Sin {
  static constexpr double kLow = -30000, kHigh = 30000;
  static HWY_INLINE V apply(V x) { return hn::Sin(D(), x); }
  static double plain(double x) { return std::sin(x); }
};
struct Cos {
  static constexpr double kLow = -30000, kHigh = 30000;
  static HWY_INLINE V apply(V x) { return hn::Cos(D(), x); }
  static double plain(double x) { return std::cos(x); }
};

template <class Op>
void unary(const TileOperands& operands) {
  const TileOperands tile = operands;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const double* from = static_cast<const double*>(tile.src[0]);
  double* to = static_cast<double*>(tile.dst);
  const V low = hn::Set(d, Op::kLow), high = hn::Set(d, Op::kHigh);
  for (int64_t i = 0; i < tile.count; i += lanes) {
    // The last vector is padded with its first number.
    HWY_ALIGN double last[hn::MaxLanes(d)];
    const double* some = from + i * tile.step[0];
    double* result = to + i;
    const int64_t left = tile.count - i;
    if (HWY_UNLIKELY(left < lanes)) {
      for (int64_t k = 0; k < lanes; ++k) last[k] = some[k < left ? k * tile.step[0] : 0];
      some = result = last;
    }
    const V x = hn::LoadU(d, some);
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(hn::Ge(x, low), hn::Le(x, high)))))
      hn::StoreU(Op::apply(x), d, result);
    else
      for (int64_t k = 0; k < lanes; ++k) result[k] = Op::plain(some[k]);
    if (HWY_UNLIKELY(left < lanes)) std::copy_n(last, left, to + i);
  }
}

TileFunction find(ElementOp op) {
  switch (op) {
    case ElementOp::Exp:
      return unary<Exp>;
    case ElementOp::Log:
      return unary<Log>;
    case ElementOp::Tanh:
      return unary<Tanh>;
    case ElementOp::Sigmoid:
      return unary<Sigmoid>;
    case ElementOp::Sin:
      return unary<Sin>;
    case ElementOp::Cos:
      return unary<Cos>;
    default:
      return nullptr;
  }
}

#else

TileFunction find(ElementOp) { return nullptr; }

#endif

}  // namespace

extern const DoubleTileTable kDoubleTileTable;
const DoubleTileTable kDoubleTileTable = {find};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
TileFunction findDoubleTileFunction(ElementOp op) { return MAX_CHOOSE_TARGET(kDoubleTileTable).find(op); }
}  // namespace max
#endif
