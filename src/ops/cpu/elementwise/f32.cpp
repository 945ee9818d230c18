// SPDX-License-Identifier: Apache-2.0
// Elementwise instructions on float32, vectorised for each CPU target.
#include "ops/cpu/elementwise/f32.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/elementwise/f32.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/elementwise/math-inl.h"
#include "ops/cpu/elementwise/power-inl.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
using M = hn::Mask<F>;

// Walks a tile: `body(offsets of the sources, destination offset, lanes left or 0 for a full vector)`.
template <class Body>
HWY_INLINE void forEachVector(const TileOperands& tile, const Body& body) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= tile.count; i += lanes) body(i, size_t{0});
  if (i < tile.count) body(i, static_cast<size_t>(tile.count - i));
}

HWY_INLINE V load(const TileOperands& tile, int source, int64_t i, size_t left) {
  const F d;
  const float* from = static_cast<const float*>(tile.src[source]) + i * tile.step[source];
  return left == 0 ? hn::LoadU(d, from) : loadPartial(d, from, left);
}

HWY_INLINE M loadCondition(const TileOperands& tile, int64_t i, size_t left) {
  const F d;
  const hn::Rebind<uint8_t, F> d8;
  const hn::RebindToSigned<F> di;
  const uint8_t* from = static_cast<const uint8_t*>(tile.src[0]) + i * tile.step[0];
  const auto bytes = left == 0 ? hn::LoadU(d8, from) : loadPartial(d8, from, left);
  return hn::RebindMask(d, hn::Ne(hn::PromoteTo(di, bytes), hn::Zero(di)));
}

template <bool kStreamed>
HWY_INLINE void store(const TileOperands& tile, int64_t i, size_t left, V result) {
  const F d;
  float* to = static_cast<float*>(tile.dst) + i;
  if (left == 0) {
    if constexpr (kStreamed)
      hn::Stream(result, d, to);
    else
      hn::StoreU(result, d, to);
  } else {
    storePartial(result, d, to, left);
  }
}

// A mask becomes bytes 0 and 1.
template <bool>
HWY_INLINE void store(const TileOperands& tile, int64_t i, size_t left, M result) {
  const hn::Rebind<uint8_t, F> d8;
  const hn::RebindToSigned<F> di;
  uint8_t* to = static_cast<uint8_t*>(tile.dst) + i;
  const auto bytes = hn::DemoteTo(d8, hn::IfThenElseZero(hn::RebindMask(di, result), hn::Set(di, 1)));
  if (left == 0)
    hn::StoreU(bytes, d8, to);
  else
    storePartial(bytes, d8, to, left);
}

HWY_INLINE V one(F d) { return hn::Set(d, 1.f); }
HWY_INLINE M positive(F d, V x) { return hn::Gt(x, hn::Zero(d)); }
HWY_INLINE M negative(F d, V x) { return hn::Lt(x, hn::Zero(d)); }
HWY_INLINE V sign(F d, V x) {
  const V magnitude = hn::IfThenElse(hn::Or(positive(d, x), negative(d, x)), one(d), hn::Abs(x));
  return hn::CopySign(magnitude, x);
}
HWY_INLINE V shrink(F d, V x, V limit, V bias) {
  const V inner = hn::IfThenElse(hn::IsNaN(x), x, hn::Zero(d));
  return hn::IfThenElse(hn::Gt(x, limit), hn::Sub(x, bias),
                        hn::IfThenElse(hn::Lt(x, hn::Neg(limit)), hn::Add(x, bias), inner));
}
HWY_INLINE M isInfinite(F d, V x, V negativeToo, V positiveToo) {
  const V infinity = hn::Set(d, HUGE_VALF);
  return hn::Or(hn::And(hn::Eq(x, infinity), positive(d, positiveToo)),
                hn::And(hn::Eq(x, hn::Neg(infinity)), positive(d, negativeToo)));
}

// Stores of one element are never streamed.
constexpr bool kStreams = HWY_TARGET != HWY_SCALAR;

// Calls body(whether results are streamed), a constant.
template <class Body>
HWY_INLINE void withStreaming(const TileOperands& tile, const Body& body) {
  if (kStreams && tile.isStreamed)
    body(std::bool_constant<kStreams>());
  else
    body(std::false_type());
}

template <class Op>
void unary(const TileOperands& operands) {
  const TileOperands tile = operands;
  const F d;
  const V alpha = hn::Set(d, tile.alpha), beta = hn::Set(d, tile.beta);
  withStreaming(tile, [&](auto streamed) HWY_ATTR {
    forEachVector(tile, [&](int64_t i, size_t left) HWY_ATTR {
      store<streamed>(tile, i, left, Op::apply(d, load(tile, 0, i, left), alpha, beta));
    });
  });
}

template <class Op>
void binary(const TileOperands& operands) {
  const TileOperands tile = operands;
  withStreaming(tile, [&](auto streamed) HWY_ATTR {
    forEachVector(tile, [&](int64_t i, size_t left) HWY_ATTR {
      store<streamed>(tile, i, left, Op::apply(F(), load(tile, 0, i, left), load(tile, 1, i, left)));
    });
  });
}

template <class Op>
void ternary(const TileOperands& operands) {
  const TileOperands tile = operands;
  withStreaming(tile, [&](auto streamed) HWY_ATTR {
    forEachVector(tile, [&](int64_t i, size_t left) HWY_ATTR {
      store<streamed>(tile, i, left,
                      Op::apply(F(), load(tile, 0, i, left), load(tile, 1, i, left), load(tile, 2, i, left)));
    });
  });
}

void where(const TileOperands& operands) {
  const TileOperands tile = operands;
  withStreaming(tile, [&](auto streamed) HWY_ATTR {
    forEachVector(tile, [&](int64_t i, size_t left) HWY_ATTR {
      store<streamed>(tile, i, left,
                      hn::IfThenElse(loadCondition(tile, i, left), load(tile, 1, i, left), load(tile, 2, i, left)));
    });
  });
}

// Where a function takes so long that two jumps for each vector do not count: its code is there once, not four times.
template <class Body>
HWY_INLINE void forEachLong(const TileOperands& tile, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t i = 0; i < tile.count; i += lanes) {
    const size_t left = i + lanes <= tile.count ? 0 : static_cast<size_t>(tile.count - i);
    const V result = body(i, left);
    if (kStreams && tile.isStreamed)
      store<kStreams>(tile, i, left, result);
    else
      store<false>(tile, i, left, result);
  }
}

template <class Op>
void longUnary(const TileOperands& operands) {
  const TileOperands tile = operands;
  const F d;
  const V alpha = hn::Set(d, tile.alpha), beta = hn::Set(d, tile.beta);
  forEachLong(tile, [&](int64_t i, size_t left) HWY_ATTR { return Op::apply(d, load(tile, 0, i, left), alpha, beta); });
}

template <class Op>
void longBinary(const TileOperands& operands) {
  const TileOperands tile = operands;
  forEachLong(tile, [&](int64_t i, size_t left)
                        HWY_ATTR { return Op::apply(F(), load(tile, 0, i, left), load(tile, 1, i, left)); });
}

struct Cube {
  static HWY_INLINE V apply(F, V x, V, V) { return hn::Mul(hn::Mul(x, x), x); }
};
struct Power {
  static HWY_INLINE V apply(F d, V x, V y) { return power(d, x, y); }
};

TileFunction find(ElementOp op);

// The exponents that most models use cost a few multiplications.
void powers(const TileOperands& tile) {
  const float exponent = *static_cast<const float*>(tile.src[1]);
  if (tile.step[1] == 0 && tile.step[0] == 1) {
    if (exponent == 1.f) return find(ElementOp::Copy)(tile);
    if (exponent == 2.f) return find(ElementOp::Square)(tile);
    if (exponent == 3.f) return unary<Cube>(tile);
    if (exponent == -1.f) return find(ElementOp::Reciprocal)(tile);
  }
  binary<Power>(tile);
}

// alpha and beta are immediates of the instruction.
#define MAX_UNARY_BY(function, name, ...)                                                                          \
  case ElementOp::name: {                                                                                          \
    struct Op {                                                                                                    \
      static HWY_INLINE auto apply([[maybe_unused]] F d, V x, [[maybe_unused]] V alpha, [[maybe_unused]] V beta) { \
        return __VA_ARGS__;                                                                                        \
      }                                                                                                            \
    };                                                                                                             \
    return function<Op>;                                                                                           \
  }
#define MAX_BINARY_BY(function, name, ...)                                                 \
  case ElementOp::name: {                                                                  \
    struct Op {                                                                            \
      static HWY_INLINE auto apply([[maybe_unused]] F d, V x, V y) { return __VA_ARGS__; } \
    };                                                                                     \
    return function<Op>;                                                                   \
  }
#define MAX_UNARY(name, ...) MAX_UNARY_BY(unary, name, __VA_ARGS__)
#define MAX_LONG_UNARY(name, ...) MAX_UNARY_BY(longUnary, name, __VA_ARGS__)
#define MAX_BINARY(name, ...) MAX_BINARY_BY(binary, name, __VA_ARGS__)
#define MAX_LONG_BINARY(name, ...) MAX_BINARY_BY(longBinary, name, __VA_ARGS__)
#define MAX_TERNARY(name, ...)                                                                  \
  case ElementOp::name: {                                                                       \
    struct Op {                                                                                 \
      static HWY_INLINE auto apply([[maybe_unused]] F d, V x, V y, V z) { return __VA_ARGS__; } \
    };                                                                                          \
    return ternary<Op>;                                                                         \
  }

TileFunction find(ElementOp op) {
  switch (op) {
    MAX_UNARY(Copy, x)
    MAX_UNARY(Neg, hn::Neg(x))
    MAX_UNARY(Abs, hn::Abs(x))
    MAX_UNARY(Sign, sign(d, x))
    MAX_UNARY(Square, hn::Mul(x, x))
    MAX_UNARY(Sqrt, hn::Sqrt(x))
    MAX_UNARY(Rsqrt, hn::Div(one(d), hn::Sqrt(x)))
    MAX_UNARY(Reciprocal, hn::Div(one(d), x))
    MAX_UNARY(Exp, exp(d, x))
    MAX_LONG_UNARY(Log, log(d, x))
    MAX_UNARY(Relu, maximum(d, x, hn::Zero(d)))
    MAX_UNARY(LeakyRelu, hn::IfThenElse(negative(d, x), hn::Mul(x, alpha), x))
    MAX_LONG_UNARY(Elu, hn::IfThenElse(positive(d, x), x, hn::Mul(alpha, expm1(d, x))))
    MAX_LONG_UNARY(Selu, hn::Mul(beta, hn::IfThenElse(positive(d, x), x, hn::Mul(alpha, expm1(d, x)))))
    MAX_LONG_UNARY(Celu,
                   hn::IfThenElse(positive(d, x), x, hn::Mul(alpha, expm1(d, hn::Mul(x, hn::Div(one(d), alpha))))))
    MAX_UNARY(ThresholdedRelu, hn::IfThenElse(hn::Gt(x, alpha), x, hn::Zero(d)))
    MAX_UNARY(HardSigmoid, clamp(d, hn::MulAdd(x, alpha, beta), hn::Zero(d), one(d)))
    MAX_UNARY(HardSwish,
              hn::Mul(x, clamp(d, hn::MulAdd(x, hn::Set(d, 1.f / 6), hn::Set(d, 0.5f)), hn::Zero(d), one(d))))
    MAX_UNARY(Sigmoid, sigmoid(d, x))
    MAX_UNARY(Swish, hn::Mul(x, sigmoid(d, hn::Mul(x, alpha))))
    MAX_LONG_UNARY(Mish, mish(d, x))
    MAX_UNARY(Tanh, tanh(d, x))
    MAX_UNARY(Erf, erf(d, x))
    MAX_UNARY(Gelu, gelu(d, x))
    MAX_UNARY(GeluTanh, geluTanh(d, x))
    MAX_LONG_UNARY(Softplus, softplus(d, x))
    MAX_UNARY(Softsign, hn::Div(x, hn::Add(one(d), hn::Abs(x))))
    MAX_UNARY(Shrink, shrink(d, x, alpha, beta))
    MAX_UNARY(Floor, hn::Floor(x))
    MAX_UNARY(Ceil, hn::Ceil(x))
    MAX_UNARY(Round, hn::Round(x))
    MAX_LONG_UNARY(Sin, sine(d, x))
    MAX_LONG_UNARY(Cos, cosine(d, x))
    MAX_LONG_UNARY(Tan, tangent(d, x))
    MAX_LONG_UNARY(Asin, hn::Asin(d, x))
    MAX_LONG_UNARY(Acos, hn::Acos(d, x))
    MAX_LONG_UNARY(Atan, hn::Atan(d, x))
    MAX_LONG_UNARY(Sinh, sinhOf(d, x))
    MAX_LONG_UNARY(Cosh, coshOf(d, x))
    MAX_LONG_UNARY(Asinh, inverseSinh(d, x))
    MAX_LONG_UNARY(Acosh, inverseCosh(d, x))
    MAX_LONG_UNARY(Atanh, inverseTanh(d, x))
    MAX_UNARY(Scale, hn::MulAdd(x, alpha, beta))
    MAX_UNARY(IsNaN, hn::IsNaN(x))
    MAX_UNARY(IsInf, isInfinite(d, x, alpha, beta))
    MAX_BINARY(Add, hn::Add(x, y))
    MAX_BINARY(Sub, hn::Sub(x, y))
    MAX_BINARY(Mul, hn::Mul(x, y))
    MAX_BINARY(Div, hn::Div(x, y))
    MAX_BINARY(Min, minimum(d, x, y))
    MAX_BINARY(Max, maximum(d, x, y))
#if HWY_NATIVE_FMA
    MAX_LONG_BINARY(Mod, modulo(d, x, y))
    MAX_LONG_BINARY(Fmod, remainder(d, x, y))
#endif
    MAX_BINARY(PRelu, hn::IfThenElse(negative(d, x), hn::Mul(x, y), x))
    MAX_BINARY(Equal, hn::Eq(x, y))
    MAX_BINARY(Less, hn::Lt(x, y))
    MAX_BINARY(LessOrEqual, hn::Le(x, y))
    MAX_BINARY(Greater, hn::Gt(x, y))
    MAX_BINARY(GreaterOrEqual, hn::Ge(x, y))
    MAX_TERNARY(Clip, clamp(d, x, y, z))
    MAX_TERNARY(MulAdd, hn::MulAdd(x, y, z))
    case ElementOp::Where:
      return where;
    case ElementOp::Pow:
      return powers;
    default:
      return nullptr;
  }
}

#undef MAX_UNARY
#undef MAX_LONG_UNARY
#undef MAX_UNARY_BY
#undef MAX_BINARY
#undef MAX_LONG_BINARY
#undef MAX_BINARY_BY
#undef MAX_TERNARY

template <class T>
void splat(const void* from, int64_t step, int64_t rows, int64_t count, void* target) {
  const hn::ScalableTag<T> d;
  const auto* element = static_cast<const uint8_t*>(from);
  T* to = static_cast<T*>(target);
  for (int64_t r = 0; r < rows; ++r, element += step, to += count) {
    T value;
    std::memcpy(&value, element, sizeof value);
    const auto all = hn::Set(d, value);
    for (int64_t i = 0; i < count; i += static_cast<int64_t>(hn::Lanes(d))) hn::StoreU(all, d, to + i);
  }
}

SplatFunction findSplat(size_t elementSize) {
  if (elementSize == 1) return splat<uint8_t>;
  if (elementSize == 2) return splat<uint16_t>;
  return elementSize == 4 ? splat<uint32_t> : splat<uint64_t>;
}

}  // namespace

extern const FloatTileTable kFloatTileTable;
const FloatTileTable kFloatTileTable = {find, findSplat};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
TileFunction findFloatTileFunction(ElementOp op) { return MAX_CHOOSE_TARGET(kFloatTileTable).find(op); }
SplatFunction findSplatFunction(size_t elementSize) {
  return MAX_CHOOSE_TARGET(kFloatTileTable).findSplat(elementSize);
}
}  // namespace max
#endif
