// SPDX-License-Identifier: Apache-2.0
// Elementwise instructions as plain loops: integers, bool and float64, and remainders of float32.
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/cpu/elementwise/pieces.h"

namespace max {

namespace {

template <class T>
using Wide = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// Arithmetic that wraps instead of overflowing. (Types below int are computed as unsigned int, not int.)
template <class T, class F>
T wrapping(T a, T b, const F& f) {
  if constexpr (std::integral<T>) {
    using U = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, Wide<T>>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <class T>
T negate(T a) {
  return wrapping(T{0}, a, [](auto x, auto y) { return x - y; });
}

// Integers of up to 16 bits: float has their quotients, and the loop is one of vectors.
template <class T>
constexpr bool kIsShort = std::integral<T> && sizeof(T) <= 2;

// The quotient, truncated, of a divisor that is not 0.
template <class T>
T quotientOf(T a, T b) {
  if constexpr (kIsShort<T>) {
    return static_cast<T>(static_cast<int>(static_cast<float>(a) / static_cast<float>(b)));
  } else {
    if constexpr (std::signed_integral<T>)
      if (b == -1) return negate(a);
    return static_cast<T>(a / b);
  }
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return a / b;
  } else if constexpr (kIsShort<T>) {
    const T quotient = quotientOf(a, b == 0 ? T{1} : b);
    return b == 0 ? T{0} : quotient;
  } else {
    return b == 0 ? T{0} : quotientOf(a, b);
  }
}

// The result has the sign of the dividend.
template <class T>
T remainder(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return std::fmod(a, b);
  } else if constexpr (kIsShort<T>) {
    return static_cast<T>(b == 0 ? 0 : a - divide(a, b) * b);
  } else {
    if constexpr (std::signed_integral<T>)
      if (b == -1) return 0;
    return b == 0 ? T{0} : static_cast<T>(a % b);
  }
}

// The result has the sign of the divisor.
template <class T>
T modulo(T a, T b) {
  const T rest = remainder(a, b);
  if constexpr (std::unsigned_integral<T>) return rest;
  return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

template <class T>
T multiply(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}

template <class T>
T power(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return std::pow(a, b);
  } else {
    if constexpr (std::signed_integral<T>)
      if (b < 0) return a == 1 ? T{1} : a == T{-1} ? static_cast<T>(b % 2 ? -1 : 1) : T{0};
    T result = 1;
    for (; b > 0; b = static_cast<T>(b / 2), a = multiply(a, a))
      if (b % 2) result = multiply(result, a);
    return result;
  }
}

template <class T>
T smaller(T a, T b) {
  if constexpr (std::floating_point<T>)
    if (a != a) return a;
  return b < a || b != b ? b : a;
}
template <class T>
T larger(T a, T b) {
  if constexpr (std::floating_point<T>)
    if (a != a) return a;
  return b > a || b != b ? b : a;
}

template <class T>
T signOf(T a) {
  if constexpr (std::floating_point<T>)
    if (a != a) return a;
  return static_cast<T>((a > 0) - (a < 0));
}

// Of the sum with 2^52, a double has no fraction; it is rounded to even.
inline double roundEven(double a) {
  constexpr double kWhole = 0x1p52;
  const double size = std::abs(a), rounded = size + kWhole - kWhole;
  return std::copysign(size < kWhole ? rounded : size, a);
}

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}
template <class T>
T softplus(T x) {
  return larger(x, T{0}) + std::log1p(std::exp(-std::abs(x)));
}
template <class T>
T clip(T x, T low, T high) {
  return smaller(larger(x, low), high);
}

// The loops. ivdep: a destination that overlaps a source is that source. Operands are copied, since stores of bytes may
// be to anything that has an address.
template <class A, class R, class F>
void loop(const TileOperands& operands, const F& f) {
  const TileOperands t = operands;
  const A* a = static_cast<const A*>(t.src[0]);
  R* r = static_cast<R*>(t.dst);
  int64_t i = 0;
  for (; i + kPiece<A> <= t.count; i += kPiece<A>) {
    const A* x = a + i * t.step[0];
    R* z = r + i;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t k = 0; k < kPiece<A>; ++k) z[k] = f(x[k]);
  }
  for (; i < t.count; i = nextOne(i)) r[i] = f(a[i * t.step[0]]);
}

template <class A, class R, class F>
void loop2(const TileOperands& operands, const F& f) {
  const TileOperands t = operands;
  const A *a = static_cast<const A*>(t.src[0]), *b = static_cast<const A*>(t.src[1]);
  R* r = static_cast<R*>(t.dst);
  int64_t i = 0;
  for (; i + kPiece<A> <= t.count; i += kPiece<A>) {
    const A *x = a + i * t.step[0], *y = b + i * t.step[1];
    R* z = r + i;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t k = 0; k < kPiece<A>; ++k) z[k] = f(x[k], y[k]);
  }
  for (; i < t.count; i = nextOne(i)) r[i] = f(a[i * t.step[0]], b[i * t.step[1]]);
}

template <class A, class F>
void loop3(const TileOperands& operands, const F& f) {
  const TileOperands t = operands;
  const A *a = static_cast<const A*>(t.src[0]), *b = static_cast<const A*>(t.src[1]),
          *c = static_cast<const A*>(t.src[2]);
  A* r = static_cast<A*>(t.dst);
  int64_t i = 0;
  for (; i + kPiece<A> <= t.count; i += kPiece<A>) {
    const A *x = a + i * t.step[0], *y = b + i * t.step[1], *z = c + i * t.step[2];
    A* to = r + i;
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t k = 0; k < kPiece<A>; ++k) to[k] = f(x[k], y[k], z[k]);
  }
  for (; i < t.count; i = nextOne(i)) r[i] = f(a[i * t.step[0]], b[i * t.step[1]], c[i * t.step[2]]);
}

#define MAX_UNARY(name, ...)                                                                   \
  case ElementOp::name:                                                                        \
    return [](const TileOperands& t) {                                                         \
      [[maybe_unused]] const T alpha = static_cast<T>(t.alpha), beta = static_cast<T>(t.beta); \
      loop<T, T>(t, [=](T x) -> T { return static_cast<T>(__VA_ARGS__); });                    \
    };
#define MAX_TEST(name, ...)                                             \
  case ElementOp::name:                                                 \
    return [](const TileOperands& t) {                                  \
      [[maybe_unused]] const float alpha = t.alpha, beta = t.beta;      \
      loop<T, uint8_t>(t, [=](T x) -> uint8_t { return __VA_ARGS__; }); \
    };
#define MAX_BINARY(name, ...) \
  case ElementOp::name:       \
    return [](const TileOperands& t) { loop2<T, T>(t, [](T x, T y) -> T { return static_cast<T>(__VA_ARGS__); }); };
#define MAX_COMPARE(name, ...) \
  case ElementOp::name:        \
    return [](const TileOperands& t) { loop2<T, uint8_t>(t, [](T x, T y) -> uint8_t { return __VA_ARGS__; }); };
#define MAX_TERNARY(name, ...) \
  case ElementOp::name:        \
    return [](const TileOperands& t) { loop3<T>(t, [](T x, T y, T z) -> T { return static_cast<T>(__VA_ARGS__); }); };

template <class T>
TileFunction findComparison(ElementOp op) {
  switch (op) {
    MAX_COMPARE(Equal, x == y)
    MAX_COMPARE(Less, x < y)
    MAX_COMPARE(LessOrEqual, x <= y)
    MAX_COMPARE(Greater, x > y)
    MAX_COMPARE(GreaterOrEqual, x >= y)
    default:
      return nullptr;
  }
}

template <class T>
TileFunction findArithmetic(ElementOp op) {
  switch (op) {
    MAX_UNARY(Neg, negate(x))
    MAX_UNARY(Abs, x < 0 ? negate(x) : x)
    MAX_UNARY(Sign, signOf(x))
    MAX_UNARY(Square, multiply(x, x))
    MAX_UNARY(Relu, larger(x, T{0}))
    MAX_BINARY(Add, wrapping(x, y, [](auto a, auto b) { return a + b; }))
    MAX_BINARY(Sub, wrapping(x, y, [](auto a, auto b) { return a - b; }))
    MAX_BINARY(Mul, multiply(x, y))
    MAX_BINARY(Div, divide(x, y))
    MAX_BINARY(Pow, power(x, y))
    MAX_BINARY(Min, smaller(x, y))
    MAX_BINARY(Max, larger(x, y))
    MAX_BINARY(Mod, modulo(x, y))
    MAX_BINARY(Fmod, remainder(x, y))
    MAX_BINARY(PRelu, x < 0 ? multiply(x, y) : x)
    MAX_TERNARY(Clip, clip(x, y, z))
    default:
      return findComparison<T>(op);
  }
}

template <class T>
constexpr T kBits = std::numeric_limits<std::make_unsigned_t<T>>::digits;

// A power of two; plain vectors have no shifts that differ.
inline float powerOfTwo(int exponent) { return std::bit_cast<float>((exponent + 127) << 23); }

template <class T>
T shiftLeft(T x, T y) {
  const bool isInside = y >= 0 && y < kBits<T>;
  if constexpr (sizeof(T) <= 2) {
    const auto factor = static_cast<unsigned>(static_cast<int>(powerOfTwo(y & (kBits<T> - 1))));
    return static_cast<T>(isInside ? static_cast<unsigned>(x) * factor : 0);
  } else {
    return isInside ? wrapping(x, y, [](auto a, auto b) { return a << b; }) : T{0};
  }
}

template <class T>
T shiftRight(T x, T y) {
  const bool isInside = y >= 0 && y < kBits<T>;
  if constexpr (sizeof(T) <= 2 && std::unsigned_integral<T>) {
    const auto shifted = static_cast<int>(static_cast<float>(x) * powerOfTwo(-(y & (kBits<T> - 1))));
    return static_cast<T>(isInside ? shifted : 0);
  } else {
    return isInside ? static_cast<T>(x >> y) : x < 0 ? static_cast<T>(-1) : T{0};
  }
}

template <class T>
TileFunction findBitwise(ElementOp op) {
  switch (op) {
    MAX_UNARY(BitwiseNot, ~x)
    MAX_BINARY(BitwiseAnd, x & y)
    MAX_BINARY(BitwiseOr, x | y)
    MAX_BINARY(BitwiseXor, x ^ y)
    MAX_BINARY(ShiftLeft, shiftLeft(x, y))
    MAX_BINARY(ShiftRight, shiftRight(x, y))
    default:
      return findArithmetic<T>(op);
  }
}

// Of float32, what libm does as fast as vectors without FMA.
TileFunction findRemainder(ElementOp op) {
  using T = float;
  switch (op) {
    MAX_BINARY(Mod, modulo(x, y))
    MAX_BINARY(Fmod, remainder(x, y))
    default:
      return nullptr;
  }
}

TileFunction findDouble(ElementOp op) {
  using T = double;
  switch (op) {
    MAX_UNARY(Sqrt, std::sqrt(x))
    MAX_UNARY(Rsqrt, 1 / std::sqrt(x))
    MAX_UNARY(Reciprocal, 1 / x)
    MAX_UNARY(Exp, std::exp(x))
    MAX_UNARY(Log, std::log(x))
    MAX_UNARY(Abs, std::abs(x))
    MAX_UNARY(Neg, -x)
    MAX_UNARY(LeakyRelu, x < 0 ? alpha * x : x)
    MAX_UNARY(Elu, x > 0 ? x : alpha * std::expm1(x))
    MAX_UNARY(Selu, beta * (x > 0 ? x : alpha * std::expm1(x)))
    MAX_UNARY(Celu, x > 0 ? x : alpha * std::expm1(x / alpha))
    MAX_UNARY(ThresholdedRelu, x > alpha ? x : 0)
    MAX_UNARY(HardSigmoid, clip(x * alpha + beta, 0., 1.))
    MAX_UNARY(HardSwish, x * clip(x / 6 + 0.5, 0., 1.))
    MAX_UNARY(Sigmoid, sigmoid(x))
    MAX_UNARY(Swish, x * sigmoid(alpha * x))
    MAX_UNARY(Mish, x * std::tanh(softplus(x)))
    MAX_UNARY(Tanh, std::tanh(x))
    MAX_UNARY(Erf, std::erf(x))
    MAX_UNARY(Gelu, 0.5 * x * (1 + std::erf(x * M_SQRT1_2)))
    MAX_UNARY(GeluTanh, 0.5 * x * (1 + std::tanh(std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x))))
    MAX_UNARY(Softplus, softplus(x))
    MAX_UNARY(Softsign, x / (1 + std::abs(x)))
    MAX_UNARY(Shrink, x < -alpha ? x + beta : x > alpha ? x - beta : x != x ? x : 0)
    MAX_UNARY(Floor, std::floor(x))
    MAX_UNARY(Ceil, std::ceil(x))
    MAX_UNARY(Round, roundEven(x))
    MAX_UNARY(Sin, std::sin(x))
    MAX_UNARY(Cos, std::cos(x))
    MAX_UNARY(Tan, std::tan(x))
    MAX_UNARY(Asin, std::asin(x))
    MAX_UNARY(Acos, std::acos(x))
    MAX_UNARY(Atan, std::atan(x))
    MAX_UNARY(Sinh, std::sinh(x))
    MAX_UNARY(Cosh, std::cosh(x))
    MAX_UNARY(Asinh, std::asinh(x))
    MAX_UNARY(Acosh, std::acosh(x))
    MAX_UNARY(Atanh, std::atanh(x))
    MAX_UNARY(Scale, x * alpha + beta)
    MAX_TERNARY(MulAdd, x * y + z)
    MAX_TEST(IsNaN, x != x)
    MAX_TEST(IsInf, (x == HUGE_VAL && beta > 0) || (x == -HUGE_VAL && alpha > 0))
    default:
      return findArithmetic<double>(op);
  }
}

TileFunction findLogical(ElementOp op) {
  using T = uint8_t;
  switch (op) {
    MAX_UNARY(Not, x == 0)
    MAX_BINARY(And, (x != 0) & (y != 0))
    MAX_BINARY(Or, (x != 0) | (y != 0))
    MAX_BINARY(Xor, (x != 0) ^ (y != 0))
    MAX_BINARY(Min, (x != 0) & (y != 0))
    MAX_BINARY(Max, (x != 0) | (y != 0))
    MAX_COMPARE(Equal, (x != 0) == (y != 0))
    default:
      return findComparison<T>(op);
  }
}

#undef MAX_UNARY
#undef MAX_TEST
#undef MAX_BINARY
#undef MAX_COMPARE
#undef MAX_TERNARY

}  // namespace

TileFunction findPlainTileFunction(ElementOp op, DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return findLogical(op);
    case DType::Int8:
      return findBitwise<int8_t>(op);
    case DType::Int16:
      return findBitwise<int16_t>(op);
    case DType::Int32:
      return findBitwise<int32_t>(op);
    case DType::Int64:
      return findBitwise<int64_t>(op);
    case DType::UInt8:
      return findBitwise<uint8_t>(op);
    case DType::UInt16:
      return findBitwise<uint16_t>(op);
    case DType::UInt32:
      return findBitwise<uint32_t>(op);
    case DType::UInt64:
      return findBitwise<uint64_t>(op);
    case DType::Float32:
      return findRemainder(op);
    case DType::Float64:
      return findDouble(op);
    default:
      return nullptr;
  }
}

}  // namespace max
