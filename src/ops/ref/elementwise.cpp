// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of one or two inputs, Clip, Where, Cast and the variadic ones.
#include "graph/readers/elementwise.h"

#include <algorithm>
#include <numbers>

#include "base/interrupt_point.h"
#include "graph/readers/matrix.h"
#include "ops/ref/reference.h"

namespace max::reference {

namespace {

// y[i] = f(x[i]) in the domain of x.
template <class F>
void map(const Call& call, F f) {
  visitDomain(call.in().dtype, [&]<class D>(D) {
    std::vector<D> values = load<D>(call.in());
    WorkCounter work;
    for (D& value : values) {
      value = static_cast<D>(f(value));
      work.pass(8);
    }
    store(call.out(), values);
  });
}

template <class F>
void mapFloat(const Call& call, F f) {
  std::vector<double> values = load<double>(call.in());
  WorkCounter work;
  for (double& value : values) {
    value = f(value);
    work.pass(32);
  }
  store(call.out(), values);
}

template <double (*F)(double)>
void unary(const Call& call) {
  mapFloat(call, F);
}

// z = f(x, y), broadcast, both read in domain D.
template <class D, class F>
std::vector<D> zip(const Call& call, const Argument& x, const Argument& y, F f) {
  const std::vector<D> a = load<D>(x), b = load<D>(y);
  std::vector<D> z = repeated<D>(call.out().count());
  const Shape& shape = call.out().shape;
  forEachOffset<2>(
      shape, {broadcastStrides(x.shape, shape), broadcastStrides(y.shape, shape)}, [&](int64_t k, const auto& at) {
        z[static_cast<size_t>(k)] = static_cast<D>(f(a[static_cast<size_t>(at[0])], b[static_cast<size_t>(at[1])]));
      });
  return z;
}

template <auto F>
void binary(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) { store(call.out(), zip<D>(call, call.in(0), call.in(1), F)); });
}

// Integers divided by zero give zero; the most negative one by -1 wraps.
template <class D>
D divide(D a, D b) {
  if constexpr (std::is_integral_v<D>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<D>)
      if (b == -1) return subtract<D>(0, a);
  }
  return a / b;
}

// The remainder with the sign of the dividend, as in C; zero for integers divided by zero.
template <class D>
D truncatedRemainder(D a, D b) {
  if constexpr (std::is_integral_v<D>)
    return b == 0 || b == static_cast<D>(-1) ? (b == 0 || std::is_signed_v<D> ? D{0} : a % b) : a % b;
  else
    return std::fmod(a, b);
}

template <class D>
D flooredRemainder(D a, D b) {
  const D remainder = truncatedRemainder(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

void mod(const Call& call) {
  if (readers::readTruncates(call.node.attributes))
    binary<[](auto a, auto b) { return truncatedRemainder(a, b); }>(call);
  else
    binary<[](auto a, auto b) { return flooredRemainder(a, b); }>(call);
}

template <class D>
D integerPower(D base, D exponent) {
  D result = 1;
  for (; exponent > 0; exponent /= 2, base = multiply(base, base))
    if (exponent % 2) result = multiply(result, base);
  return result;
}

void pow(const Call& call) {
  const bool integers = !isFloat(call.in(0).dtype) && !isFloat(call.in(1).dtype);
  const auto power = [](double a, double b) { return std::pow(a, b); };
  if (!integers) return store(call.out(), zip<double>(call, call.in(0), call.in(1), power));
  const auto wholePower = [](int64_t a, int64_t b) {
    return b >= 0 ? integerPower(a, b) : a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  };
  store(call.out(), zip<int64_t>(call, call.in(0), call.in(1), wholePower));
}

// Shifts by the width or more, or by less than 0, shift everything out; right ones keep the sign.
template <class D>
D shifted(D a, D b, bool left) {
  const bool all = b < 0 || b > 63;
  if (left) return all ? D{0} : static_cast<D>(static_cast<uint64_t>(a) << b);
  return static_cast<D>(all ? (a < 0 ? static_cast<D>(-1) : D{0}) : a >> b);
}

void bitShift(const Call& call) {
  const bool left = readers::readShiftsLeft(call.node.attributes);
  visitDomain(call.in().dtype, [&]<class D>(D) {
    if constexpr (std::is_integral_v<D>)
      store(call.out(), zip<D>(call, call.in(0), call.in(1), [left](D a, D b) { return shifted(a, b, left); }));
  });
}

double alphaOf(const Call& call) { return static_cast<double>(readers::Parameters(call.node).alpha); }
double betaOf(const Call& call) { return static_cast<double>(readers::Parameters(call.node).beta); }

void leakyRelu(const Call& call) {
  const double alpha = alphaOf(call);
  mapFloat(call, [=](double x) { return x < 0 ? alpha * x : x; });
}
void elu(const Call& call) {
  const double alpha = alphaOf(call);
  mapFloat(call, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}
void selu(const Call& call) {
  const double alpha = alphaOf(call);
  const double gamma = betaOf(call);
  mapFloat(call, [=](double x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}
void celu(const Call& call) {
  const double alpha = alphaOf(call);
  mapFloat(call, [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}
void hardSigmoid(const Call& call) { mapFloat(call, Activation{"HardSigmoid", alphaOf(call), betaOf(call)}); }
void thresholdedRelu(const Call& call) {
  const double alpha = alphaOf(call);
  mapFloat(call, [=](double x) { return x > alpha ? x : 0; });
}

// Integers take the nearest representable number, and 0 for NaN.
template <class D>
D numberIn(double value) {
  if constexpr (std::is_floating_point_v<D>) return value;
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (value >= static_cast<double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

void shrink(const Call& call) {
  const double bias = betaOf(call), lambda = alphaOf(call);
  map(call, [=]<class D>(D number) {
    const auto x = static_cast<double>(number);
    return numberIn<D>(x < -lambda ? x + bias : x > lambda ? x - bias : 0);
  });
}

void swish(const Call& call) {
  const double alpha = alphaOf(call);
  mapFloat(call, [=](double x) { return x / (1 + std::exp(-alpha * x)); });
}
void gelu(const Call& call) {
  const bool approximate = readers::readIsApproximate(call.node.attributes);
  mapFloat(call, Activation{approximate ? "GeluTanh" : "Gelu"});
}

void isInf(const Call& call) {
  const readers::Infinities read(call.node.attributes);
  mapFloat(call, [=](double x) { return std::isinf(x) && (x < 0 ? read.negative : read.positive); });
}

template <class D>
void clipIn(const Call& call) {
  constexpr bool floating = std::is_floating_point_v<D>;
  D low = floating ? static_cast<D>(-INFINITY) : std::numeric_limits<D>::lowest();
  D high = floating ? static_cast<D>(INFINITY) : std::numeric_limits<D>::max();
  if (call.has(1) && call.in(1).count() > 0) low = load<D>(call.in(1))[0];
  if (call.has(2) && call.in(2).count() > 0) high = load<D>(call.in(2))[0];
  std::vector<D> values = load<D>(call.in());
  WorkCounter work;
  for (D& value : values) {
    work.pass();
    if (value < low) value = low;
    if (value > high) value = high;  // after the lower bound: high wins where they cross
  }
  store(call.out(), values);
}

void clip(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) { clipIn<D>(call); });
}

void cast(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) {
    store(call.out(), load<D>(call.in()), readers::readSmallFloatRules(call.node.attributes));
  });
}

void where(const Call& call) {
  const Shape& shape = call.out().shape;
  const std::vector<int64_t> condition = load<int64_t>(call.in(0));
  visitDomain(call.out().dtype, [&]<class D>(D) {
    const std::vector<D> a = load<D>(call.in(1)), b = load<D>(call.in(2));
    std::vector<D> z = repeated<D>(call.out().count());
    forEachOffset<3>(shape,
                     {broadcastStrides(call.in(0).shape, shape), broadcastStrides(call.in(1).shape, shape),
                      broadcastStrides(call.in(2).shape, shape)},
                     [&](int64_t k, const auto& at) {
                       z[static_cast<size_t>(k)] = condition[static_cast<size_t>(at[0])]
                                                       ? a[static_cast<size_t>(at[1])]
                                                       : b[static_cast<size_t>(at[2])];
                     });
    store(call.out(), z);
  });
}

// Folds all inputs with f; `finish` sees the result and the number of inputs.
template <class D, class F, class Finish>
void foldIn(const Call& call, F f, Finish finish) {
  const Shape& shape = call.out().shape;
  std::vector<D> z = repeated<D>(call.out().count());
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const std::vector<D> x = load<D>(call.in(i));
    forEachOffset<1>(shape, {broadcastStrides(call.in(i).shape, shape)}, [&](int64_t k, const auto& at) {
      D& value = z[static_cast<size_t>(k)];
      value = i == 0 ? x[static_cast<size_t>(at[0])] : static_cast<D>(f(value, x[static_cast<size_t>(at[0])]));
    });
  }
  WorkCounter work;
  for (D& value : z) {
    value = finish(value, static_cast<D>(call.inputs.size()));
    work.pass(4);
  }
  store(call.out(), z);
}

template <class D>
bool isNan(D value) {
  if constexpr (std::is_floating_point_v<D>) return std::isnan(value);
  return false;
}

template <auto F, bool Average = false>
void fold(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) {
    foldIn<D>(call, F, [](D value, D count) { return Average ? static_cast<D>(value / count) : value; });
  });
}

// Activations by name, for the operators of the same names, fused ones and recurrent layers.
struct NamedActivation {
  std::string_view name;
  double (*function)(double x, double alpha, double beta);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

constexpr NamedActivation kActivations[] = {
    {"Relu", [](double x, double, double) { return x < 0 ? 0 : x; }},
    {"Tanh", [](double x, double, double) { return std::tanh(x); }},
    {"Sigmoid", [](double x, double, double) { return sigmoid(x); }},
    {"Affine", [](double x, double a, double b) { return a * x + b; }},
    {"LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; }},
    {"ThresholdedRelu", [](double x, double a, double) { return x > a ? x : 0; }},
    {"ScaledTanh", [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"HardSigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
    {"Elu", [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }},
    {"Softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"Softplus", [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"Clip", [](double x, double a, double b) { return x < a   ? std::min(a, b)
                                                       : x > b ? b
                                                               : x; }},
    {"HardSwish", [](double x, double, double) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"Silu", [](double x, double, double) { return x * sigmoid(x); }},
    {"Gelu", [](double x, double, double) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }},
    {"GeluTanh",
     [](double x, double, double) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     }},
};

#define MAX_BINARY(name, expression)                                          \
  {                                                                           \
    "", name, kReference<binary<[](auto a, auto b) { return (expression); }>> \
  }
#define MAX_UNARY(name, expression)                                              \
  {                                                                              \
    "", name, kReference<unary<[](double x) -> double { return (expression); }>> \
  }
#define MAX_FOLD(name, expression)                                          \
  {                                                                         \
    "", name, kReference<fold<[](auto a, auto b) { return (expression); }>> \
  }

const OpRow kRows[] = {
    MAX_BINARY("Add", add(a, b)),
    MAX_BINARY("Sub", subtract(a, b)),
    MAX_BINARY("Mul", multiply(a, b)),
    MAX_BINARY("Div", divide(a, b)),
    MAX_BINARY("Equal", a == b),
    MAX_BINARY("Less", a < b),
    MAX_BINARY("LessOrEqual", a <= b),
    MAX_BINARY("Greater", a > b),
    MAX_BINARY("GreaterOrEqual", a >= b),
    MAX_BINARY("And", a != 0 && b != 0),
    MAX_BINARY("Or", a != 0 || b != 0),
    MAX_BINARY("Xor", (a != 0) != (b != 0)),
    MAX_BINARY("BitwiseAnd", static_cast<int64_t>(a) & static_cast<int64_t>(b)),
    MAX_BINARY("BitwiseOr", static_cast<int64_t>(a) | static_cast<int64_t>(b)),
    MAX_BINARY("BitwiseXor", static_cast<int64_t>(a) ^ static_cast<int64_t>(b)),
    MAX_BINARY("PRelu", a < 0 ? multiply(a, b) : a),
    MAX_FOLD("Max", isNan(a) || b <= a ? a : b),
    MAX_FOLD("Min", isNan(a) || b >= a ? a : b),
    MAX_FOLD("Sum", a + b),
    {"", "Mean", kReference<fold<[](auto a, auto b) { return a + b; }, true>>},
    MAX_UNARY("Floor", std::floor(x)),
    MAX_UNARY("Ceil", std::ceil(x)),
    MAX_UNARY("Round", std::nearbyint(x)),
    MAX_UNARY("Sqrt", std::sqrt(x)),
    MAX_UNARY("Exp", std::exp(x)),
    MAX_UNARY("Log", std::log(x)),
    MAX_UNARY("Erf", std::erf(x)),
    MAX_UNARY("Sigmoid", sigmoid(x)),
    MAX_UNARY("Tanh", std::tanh(x)),
    MAX_UNARY("Sin", std::sin(x)),
    MAX_UNARY("Cos", std::cos(x)),
    MAX_UNARY("Tan", std::tan(x)),
    MAX_UNARY("Asin", std::asin(x)),
    MAX_UNARY("Acos", std::acos(x)),
    MAX_UNARY("Atan", std::atan(x)),
    MAX_UNARY("Sinh", std::sinh(x)),
    MAX_UNARY("Cosh", std::cosh(x)),
    MAX_UNARY("Asinh", std::asinh(x)),
    MAX_UNARY("Acosh", std::acosh(x)),
    MAX_UNARY("Atanh", std::atanh(x)),
    MAX_UNARY("Reciprocal", 1 / x),
    MAX_UNARY("Softsign", x / (1 + std::abs(x))),
    MAX_UNARY("Softplus", std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)))),
    MAX_UNARY("HardSwish", x* std::clamp(x / 6 + 0.5, 0.0, 1.0)),
    MAX_UNARY("Mish", x* std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))))),
    MAX_UNARY("IsNaN", std::isnan(x)),
    {"", "IsInf", kReference<isInf>},
    {"", "Abs", kReference<[](const Call& call) { map(call, [](auto x) { return x < 0 ? subtract({}, x) : x; }); }>},
    {"", "Neg", kReference<[](const Call& call) { map(call, [](auto x) { return multiply(x, decltype(x)(-1)); }); }>},
    {"", "Relu", kReference<[](const Call& call) { map(call, [](auto x) { return x < 0 ? 0 : x; }); }>},
    {"", "Sign", kReference<[](const Call& call) {
       map(call, [](auto x) { return isNan(x) ? x : static_cast<decltype(x)>((x > 0) - (x < 0)); });
     }>},
    {"", "Not", kReference<[](const Call& call) { map(call, [](auto x) { return x == 0; }); }>},
    {"", "BitwiseNot",
     kReference<[](const Call& call) { map(call, [](auto x) { return ~static_cast<int64_t>(x); }); }>},
    {"", "Mod", kReference<mod>},
    {"", "Pow", kReference<pow>},
    {"", "BitShift", kReference<bitShift>},
    {"", "LeakyRelu", kReference<leakyRelu>},
    {"", "Elu", kReference<elu>},
    {"", "Selu", kReference<selu>},
    {"", "Celu", kReference<celu>},
    {"", "HardSigmoid", kReference<hardSigmoid>},
    {"", "ThresholdedRelu", kReference<thresholdedRelu>},
    {"", "Shrink", kReference<shrink>},
    {"", "Swish", kReference<swish>},
    {"", "Gelu", kReference<gelu>},
    {"", "Clip", kReference<clip>},
    {"", "Cast", kReference<cast>},
    {"", "CastLike", kReference<cast>},
    {"", "Where", kReference<where>},
};

}  // namespace

double Activation::operator()(double x) const {
  if (name.empty()) return x;
  for (const NamedActivation& row : kActivations)
    if (row.name == name) return row.function(x, alpha, beta);
  fail(MAX_STATUS_UNIMPLEMENTED, "Unknown activation '", name, "'");
}

Activation fusedActivation(const Node& node, const char* prefix) {
  const readers::FusedActivation read(node.attributes, prefix);
  return {read.name, read.alpha, read.beta};
}

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceElementwiseOps() { return reference::kRows; }

}  // namespace max
