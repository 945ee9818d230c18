// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/elementwise_source.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/shape.h"

namespace max {

namespace {

// What the instructions do, by their names. Integers wrap as unsigned ones do.
constexpr const char* kFunctions = R"(#include "max_half.h"
#include <cmath>

#define MAX_DEVICE static inline __device__

template <class T>
struct Of {
  static const bool isFloat = T(0.5) != T(0);
  static const bool isSigned = T(-1) < T(0);
};
template <>
struct Of<bool> {
  static const bool isFloat = false, isSigned = false;
};
// The limits of integers.
template <class T>
MAX_DEVICE T largest() {
  return Of<T>::isSigned ? (T)(~0ULL >> (65 - 8 * sizeof(T))) : (T)~0ULL;
}
template <class T>
MAX_DEVICE T least() {
  return Of<T>::isSigned ? (T)(1ULL << (8 * sizeof(T) - 1)) : (T)0;
}

// Values as 8 bytes.
template <class T>
struct Bits {
  static inline __device__ T of(unsigned long long bits) {
    union {
      unsigned long long all;
      T value;
    } both;
    both.all = bits;
    return both.value;
  }
};
template <>
struct Bits<bool> {
  static inline __device__ bool of(unsigned long long bits) { return (bits & 255) != 0; }
};
template <>
struct Bits<__half> {
  static inline __device__ __half of(unsigned long long bits) { return __ushort_as_half((unsigned short)bits); }
};
template <>
struct Bits<__nv_bfloat16> {
  static inline __device__ __nv_bfloat16 of(unsigned long long bits) {
    return __ushort_as_bfloat16((unsigned short)bits);
  }
};

// Conversions: floating-point numbers beyond an integer's range become its nearest limit, NaN 0.
template <class To, class From, bool saturates>
struct Conversion {
  static inline __device__ To of(From x) { return (To)x; }
};
template <class To, class From>
struct Conversion<To, From, true> {
  static inline __device__ To of(From x) {
    const From end = (From)(largest<To>() / 2 + 1) * 2;
    if (!(x > (From)least<To>())) return x != x ? (To)0 : least<To>();
    return x < end ? (To)x : largest<To>();
  }
};
template <class From>
struct Conversion<bool, From, true> {
  static inline __device__ bool of(From x) { return x != 0; }
};
template <class From>
struct Conversion<bool, From, false> {
  static inline __device__ bool of(From x) { return x != 0; }
};
template <class To, class From>
MAX_DEVICE To opCast(From x) {
  return Conversion<To, From, Of<From>::isFloat && !Of<To>::isFloat>::of(x);
}
#define MAX_HALF_CASTS(Half)                                                  \
  template <>                                                                 \
  struct Of<Half> {                                                           \
    static const bool isFloat = true, isSigned = true;                        \
  };                                                                          \
  template <class From>                                                       \
  struct Conversion<Half, From, false> {                                      \
    static inline __device__ Half of(From x) { return Half((float)x); }       \
  };                                                                          \
  template <class To>                                                         \
  struct Conversion<To, Half, true> {                                         \
    static inline __device__ To of(Half x) { return opCast<To>((float)x); }   \
  };                                                                          \
  template <class To>                                                         \
  struct Conversion<To, Half, false> {                                        \
    static inline __device__ To of(Half x) { return (To)(float)x; }           \
  };                                                                          \
  template <>                                                                 \
  struct Conversion<bool, Half, true> {                                       \
    static inline __device__ bool of(Half x) { return (float)x != 0; }        \
  };                                                                          \
  template <>                                                                 \
  struct Conversion<Half, Half, false> {                                      \
    static inline __device__ Half of(Half x) { return x; }                    \
  };
MAX_HALF_CASTS(__half)
MAX_HALF_CASTS(__nv_bfloat16)
template <>
struct Conversion<__half, __nv_bfloat16, false> {
  static inline __device__ __half of(__nv_bfloat16 x) { return __half((float)x); }
};
template <>
struct Conversion<__nv_bfloat16, __half, false> {
  static inline __device__ __nv_bfloat16 of(__half x) { return __nv_bfloat16((float)x); }
};

#define MAX_ARITHMETIC(name, sign)                                                                     \
  template <class T>                                                                                   \
  MAX_DEVICE T name(T x, T y) {                                                                        \
    return (T)(x sign y);                                                                              \
  }                                                                                                    \
  MAX_DEVICE short name(short x, short y) { return (short)((unsigned)x sign(unsigned) y); }            \
  MAX_DEVICE unsigned short name(unsigned short x, unsigned short y) {                                 \
    return (unsigned short)((unsigned)x sign(unsigned) y);                                             \
  }                                                                                                    \
  MAX_DEVICE int name(int x, int y) { return (int)((unsigned)x sign(unsigned) y); }                    \
  MAX_DEVICE long long name(long long x, long long y) {                                                \
    return (long long)((unsigned long long)x sign(unsigned long long) y);                              \
  }
MAX_ARITHMETIC(opAdd, +)
MAX_ARITHMETIC(opSub, -)
MAX_ARITHMETIC(opMul, *)

template <class T>
MAX_DEVICE T opCopy(T x) { return x; }
template <class T>
MAX_DEVICE T opNeg(T x) { return opSub((T)0, x); }
MAX_DEVICE float opNeg(float x) { return -x; }
MAX_DEVICE double opNeg(double x) { return -x; }
template <class T>
MAX_DEVICE T opAbs(T x) { return x < (T)0 ? opNeg(x) : x; }
MAX_DEVICE float opAbs(float x) { return fabsf(x); }
MAX_DEVICE double opAbs(double x) { return fabs(x); }
template <class T>
MAX_DEVICE T opSign(T x) { return x != x ? x : (T)((x > (T)0) - (x < (T)0)); }
template <class T>
MAX_DEVICE T opSquare(T x) { return opMul(x, x); }

template <class T>
MAX_DEVICE T opDiv(T x, T y) {
  if (y == (T)0) return (T)0;
  if (Of<T>::isSigned && y == (T)-1) return opNeg(x);
  return (T)(x / y);
}
MAX_DEVICE float opDiv(float x, float y) { return x / y; }
MAX_DEVICE double opDiv(double x, double y) { return x / y; }

template <class T>
MAX_DEVICE T opFmod(T x, T y) {
  if (y == (T)0 || (Of<T>::isSigned && y == (T)-1)) return (T)0;
  return (T)(x % y);
}
MAX_DEVICE float opFmod(float x, float y) { return fmodf(x, y); }
MAX_DEVICE double opFmod(double x, double y) { return fmod(x, y); }
// The result has the sign of the divisor.
template <class T>
MAX_DEVICE T opMod(T x, T y) {
  const T rest = opFmod(x, y);
  return rest != (T)0 && (rest < (T)0) != (y < (T)0) ? (T)(rest + y) : rest;
}

template <class T>
MAX_DEVICE T opPow(T x, T y) {
  if (Of<T>::isSigned && y < (T)0) return x == (T)1 ? (T)1 : x == (T)-1 ? (T)(y % 2 ? -1 : 1) : (T)0;
  T result = (T)1;
  for (; y > (T)0; y = (T)(y / 2), x = opMul(x, x))
    if (y % 2) result = opMul(result, x);
  return result;
}
MAX_DEVICE float opPow(float x, float y) { return powf(x, y); }
MAX_DEVICE double opPow(double x, double y) { return pow(x, y); }

template <class T>
MAX_DEVICE T opMin(T x, T y) { return x != x ? x : y < x || y != y ? y : x; }
template <class T>
MAX_DEVICE T opMax(T x, T y) { return x != x ? x : y > x || y != y ? y : x; }
template <class T>
MAX_DEVICE T opClip(T x, T low, T high) { return opMin(opMax(x, low), high); }
template <class T>
MAX_DEVICE T opRelu(T x) { return opMax(x, (T)0); }
template <class T>
MAX_DEVICE T opPRelu(T x, T y) { return x < (T)0 ? opMul(x, y) : x; }
template <class T>
MAX_DEVICE T opMulAdd(T x, T y, T z) { return x * y + z; }
template <class T>
MAX_DEVICE T opWhere(bool which, T x, T y) { return which ? x : y; }

#define MAX_COMPARISON(name, sign) \
  template <class T>               \
  MAX_DEVICE bool name(T x, T y) { \
    return x sign y;               \
  }
MAX_COMPARISON(opEqual, ==)
MAX_COMPARISON(opLess, <)
MAX_COMPARISON(opLessOrEqual, <=)
MAX_COMPARISON(opGreater, >)
MAX_COMPARISON(opGreaterOrEqual, >=)
MAX_COMPARISON(opAnd, &&)
MAX_COMPARISON(opOr, ||)
MAX_COMPARISON(opXor, !=)
MAX_DEVICE bool opNot(bool x) { return !x; }

template <class T>
MAX_DEVICE T opBitwiseNot(T x) { return (T)~x; }
template <class T>
MAX_DEVICE T opBitwiseAnd(T x, T y) { return (T)(x & y); }
template <class T>
MAX_DEVICE T opBitwiseOr(T x, T y) { return (T)(x | y); }
template <class T>
MAX_DEVICE T opBitwiseXor(T x, T y) { return (T)(x ^ y); }
template <class T>
MAX_DEVICE T opShiftLeft(T x, T y) {
  return y < (T)0 || y >= (T)(8 * sizeof(T)) ? (T)0 : (T)((unsigned long long)x << y);
}
template <class T>
MAX_DEVICE T opShiftRight(T x, T y) {
  return y < (T)0 || y >= (T)(8 * sizeof(T)) ? (x < (T)0 ? (T)-1 : (T)0) : (T)(x >> y);
}

// Functions of floating-point numbers.
#define MAX_LIBRARY(name, function)                               \
  MAX_DEVICE float name(float x) { return function##f(x); }       \
  MAX_DEVICE double name(double x) { return function(x); }
MAX_LIBRARY(opSqrt, sqrt)
MAX_LIBRARY(opExp, exp)
MAX_LIBRARY(opExpm1, expm1)
MAX_LIBRARY(opLog, log)
MAX_LIBRARY(opLog1p, log1p)
MAX_LIBRARY(opTanh, tanh)
MAX_LIBRARY(opErf, erf)
MAX_LIBRARY(opFloor, floor)
MAX_LIBRARY(opCeil, ceil)
MAX_LIBRARY(opRound, rint)
MAX_LIBRARY(opSin, sin)
MAX_LIBRARY(opCos, cos)
MAX_LIBRARY(opTan, tan)
MAX_LIBRARY(opAsin, asin)
MAX_LIBRARY(opAcos, acos)
MAX_LIBRARY(opAtan, atan)
MAX_LIBRARY(opSinh, sinh)
MAX_LIBRARY(opCosh, cosh)
MAX_LIBRARY(opAsinh, asinh)
MAX_LIBRARY(opAcosh, acosh)
MAX_LIBRARY(opAtanh, atanh)

#define MAX_FLOAT(name, ...) \
  template <class T>         \
  MAX_DEVICE T name(T x) {   \
    return __VA_ARGS__;      \
  }
MAX_FLOAT(opRsqrt, (T)1 / opSqrt(x))
MAX_FLOAT(opReciprocal, (T)1 / x)
MAX_FLOAT(opSigmoid, (T)1 / ((T)1 + opExp(-x)))
MAX_FLOAT(opSoftplus, opMax(x, (T)0) + opLog1p(opExp(-opAbs(x))))
MAX_FLOAT(opSoftsign, x / ((T)1 + opAbs(x)))
MAX_FLOAT(opMish, x * opTanh(opSoftplus(x)))
MAX_FLOAT(opHardSwish, x * opClip(x / (T)6 + (T)0.5, (T)0, (T)1))
MAX_FLOAT(opGelu, (T)0.5 * x * ((T)1 + opErf(x * (T)0.70710678118654752440)))
MAX_FLOAT(opGeluTanh, (T)0.5 * x * ((T)1 + opTanh((T)0.79788456080286535588 * (x + (T)0.044715 * x * x * x))))
template <class T>
MAX_DEVICE bool opIsNaN(T x) { return x != x; }

// With the parameters of an instruction.
#define MAX_PARAMETERS(name, ...)                        \
  template <class T>                                     \
  MAX_DEVICE T name(T x, float alpha, float beta) {      \
    const T a = (T)alpha, b = (T)beta;                   \
    (void)a, (void)b;                                    \
    return __VA_ARGS__;                                  \
  }
MAX_PARAMETERS(opLeakyRelu, x < (T)0 ? a * x : x)
MAX_PARAMETERS(opElu, x > (T)0 ? x : a * opExpm1(x))
MAX_PARAMETERS(opSelu, b * (x > (T)0 ? x : a * opExpm1(x)))
MAX_PARAMETERS(opCelu, x > (T)0 ? x : a * opExpm1(x / a))
MAX_PARAMETERS(opThresholdedRelu, x > a ? x : (T)0)
MAX_PARAMETERS(opHardSigmoid, opClip(x * a + b, (T)0, (T)1))
MAX_PARAMETERS(opSwish, x * opSigmoid(a * x))
MAX_PARAMETERS(opShrink, x < -a ? x + b : x > a ? x - b : x != x ? x : (T)0)
MAX_PARAMETERS(opScale, x * a + b)
template <class T>
MAX_DEVICE bool opIsInf(T x, float negative, float positive) {
  const T infinity = (T)INFINITY;
  return (x == infinity && positive > 0.0f) || (x == -infinity && negative > 0.0f);
}

)";

// Element types in memory and in registers.
struct TypeRow {
  DType dtype;
  const char* memory;
  const char* value;
};
constexpr TypeRow kTypes[] = {
    {DType::Bool, "unsigned char", "bool"},
    {DType::Int8, "signed char", "signed char"},
    {DType::Int16, "short", "short"},
    {DType::Int32, "int", "int"},
    {DType::Int64, "long long", "long long"},
    {DType::UInt8, "unsigned char", "unsigned char"},
    {DType::UInt16, "unsigned short", "unsigned short"},
    {DType::UInt32, "unsigned", "unsigned"},
    {DType::UInt64, "unsigned long long", "unsigned long long"},
    {DType::Float16, "__half", "__half"},
    {DType::BFloat16, "__nv_bfloat16", "__nv_bfloat16"},
    {DType::Float32, "float", "float"},
    {DType::Float64, "double", "double"},
};

const TypeRow* typeOf(DType dtype) {
  for (const TypeRow& row : kTypes)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

bool hasParameters(ElementOp op) {
  switch (op) {
    case ElementOp::LeakyRelu:
    case ElementOp::Elu:
    case ElementOp::Selu:
    case ElementOp::Celu:
    case ElementOp::ThresholdedRelu:
    case ElementOp::HardSigmoid:
    case ElementOp::Swish:
    case ElementOp::Shrink:
    case ElementOp::Scale:
    case ElementOp::IsInf:
      return true;
    default:
      return false;
  }
}

class SourceWriter {
 public:
  explicit SourceWriter(const ElementwiseProgram& program)
      : program_(program), places_(static_cast<size_t>(program.placeCount())) {}

  std::optional<std::string> run() {
    if (program_.outputs.size() != 1 || program_.inputs.size() > kMaxGpuInputs) return std::nullopt;
    const TypeRow* output = typeOf(program_.outputs[0]);
    if (!output || !loadInputs()) return std::nullopt;
    for (const ElementwiseInstruction& instruction : program_.instructions)
      if (!append(instruction)) return std::nullopt;
    return concat(kFunctions, layout(), "extern \"C\" __global__ void gpu_elementwise(const Layout layout", parameters_,
                  ", ", output->memory, "* out", values_, ") {\n", kLoop, offsets_, "\n", body_,
                  "    out[i] = ", places_[static_cast<size_t>(program_.firstOutput())], ";\n  }\n}\n");
  }

 private:
  static constexpr const char* kLoop =
      "  const long long step = (long long)gridDim.x * blockDim.x;\n"
      "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < layout.count; i += step) {\n"
      "    long long rest = i;\n";

  // As ElementwiseLayout below.
  std::string layout() const {
    return concat("struct Layout {\n  long long count, rank, dims[", kMaxRank, "], strides[", kMaxGpuInputs, "][",
                  kMaxRank, "];\n};\n");
  }

  bool loadInputs() {
    std::string declared, inner, outer;
    for (size_t k = 0; k < program_.inputs.size(); ++k) {
      const TypeRow* type = typeOf(program_.inputs[k]);
      if (!type) return false;
      parameters_ += concat(", const ", type->memory, "* in", k);
      declared += concat("    long long o", k, " = 0;\n");
      inner += concat("      o", k, " += place * layout.strides[", k, "][d];\n");
      outer += concat("    o", k, " += rest * layout.strides[", k, "][0];\n");
      body_ += concat("    const ", type->value, " v", k, " = in", k, "[o", k, "]",
                      program_.inputs[k] == DType::Bool ? " != 0" : "", ";\n");
      places_[k] = concat("v", k);
    }
    offsets_ = concat(declared,
                      "    for (long long d = layout.rank - 1; d > 0; --d) {\n"
                      "      const long long whole = rest / layout.dims[d], place = rest - whole * layout.dims[d];\n"
                      "      rest = whole;\n",
                      inner, "    }\n", outer);
    for (size_t k = 0; k < program_.constants.size(); ++k) addValue();
    return true;
  }

  std::string addValue() {
    std::string name = concat("c", valueCount_++);
    values_ += concat(", unsigned long long ", name);
    return name;
  }

  std::string operand(int16_t source, const TypeRow& type) const {
    const int constant = source - program_.firstConstant();
    if (constant >= 0 && constant < static_cast<int>(program_.constants.size()))
      return concat("Bits<", type.value, ">::of(c", constant, ")");
    return places_[static_cast<size_t>(source)];
  }

  bool append(const ElementwiseInstruction& instruction) {
    const TypeRow *from = typeOf(instruction.from), *to = typeOf(instruction.to), *boolean = typeOf(DType::Bool);
    if (!from || !to) return false;
    const bool isCast = instruction.op == ElementOp::Cast;
    std::string arguments;
    for (size_t i = 0; i < instruction.src.size(); ++i) {
      if (instruction.src[i] < 0) continue;
      const bool isCondition = instruction.op == ElementOp::Where && i == 0;
      arguments += concat(arguments.empty() ? "" : ", ", operand(instruction.src[i], isCondition ? *boolean : *from));
    }
    if (hasParameters(instruction.op))
      for (int i = 0; i < 2; ++i) arguments += concat(", Bits<float>::of(", addValue(), ")");
    const std::string name = concat("r", count_++);
    body_ += concat("    const ", to->value, " ", name, " = op", infoOf(instruction.op).name,
                    isCast ? concat("<", to->value, ", ", from->value, ">") : std::string(), "(", arguments, ");\n");
    places_[static_cast<size_t>(instruction.dst)] = name;
    return true;
  }

  const ElementwiseProgram& program_;
  std::vector<std::string> places_;  // what is in each of the program's places now
  std::string parameters_, values_, offsets_, body_;
  size_t valueCount_ = 0, count_ = 0;
};

uint64_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

const char* kernelFunctions() { return kFunctions; }

std::optional<std::string> elementwiseSource(const ElementwiseProgram& program) { return SourceWriter(program).run(); }

std::vector<uint64_t> elementwiseValues(const ElementwiseProgram& program) {
  std::vector<uint64_t> values;
  for (const auto& constant : program.constants) std::memcpy(&values.emplace_back(), constant.data(), sizeof(uint64_t));
  for (const ElementwiseInstruction& instruction : program.instructions)
    if (hasParameters(instruction.op))
      for (const float parameter : {instruction.alpha, instruction.beta}) values.push_back(bitsOf(parameter));
  return values;
}

}  // namespace max
