// SPDX-License-Identifier: Apache-2.0
// Functions of float64 as vectors, for numbers that vector code knows; libm computes the others, such as NaN.
#include "ops/cpu/elementwise/f64.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/f64.cpp"
#include "ops/cpu/dispatch.h"
// Highway's functions are included after it.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// The baseline's vectors have two lanes, with which libm keeps up.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

struct Exp {
  static constexpr double kLow = -700, kHigh = 700;
  static HWY_INLINE V apply(V x) { return hn::Exp(D(), x); }
  static double plain(double x) { return std::exp(x); }
};
struct Log {
  static constexpr double kLow = 1e-300, kHigh = 1e300;
  static HWY_INLINE V apply(V x) { return hn::Log(D(), x); }
  static double plain(double x) { return std::log(x); }
};
struct Tanh {
  static constexpr double kLow = -1e300, kHigh = 1e300;
  static HWY_INLINE V apply(V x) { return hn::Tanh(D(), x); }
  static double plain(double x) { return std::tanh(x); }
};
struct Sigmoid {
  static constexpr double kLow = -700, kHigh = 700;
  static HWY_INLINE V apply(V x) {
    const V one = hn::Set(D(), 1.0), e = hn::Exp(D(), hn::Neg(hn::Abs(x)));
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
