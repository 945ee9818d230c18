// SPDX-License-Identifier: Apache-2.0
// The instructions of elementwise programs, and the lookup of their code.
//
// An instruction works on one tile: a few hundred to some thousand elements in
// cache. Every source is dense or a single repeated value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace max {

// Arithmetic, one type in and out. Integers: results wrap; x / 0 and x mod 0 are 0;
// the smallest integer divided by -1 is itself. Shifts by the width or more, or by less than 0, shift everything out.
// MulAdd: a * b + c. Scale: a * alpha + beta. Clip: a in [b, c], b wins if b > c.
// Quantize and Dequantize: float32 to an integer of 8 or 16 bits and back, with the scale alpha and the zero point
// beta. Quantize of 8-bit integers: two of them dequantised, added and quantised; the third source is a
// QuantizedSumNumbers (ops/cpu/quantization/quantize.h).
//
// What the operators of ONNX with these names do, and what an instruction costs (about how many additions).
//   Same   the instruction on the operator's inputs, with a result of their dtype
//   Bool   as Same, with a result of bool
//   List   the instruction from left to right over any number of inputs
//   Own    no operator has this name, or it has a row of its own in table.cpp; OwnBool: the result is bool
// clang-format off
#define MAX_FOR_EACH_ELEMENT_OP(X) \
  X(Copy, Own, 1) \
  X(Neg, Same, 1) \
  X(Abs, Same, 1) \
  X(Sign, Same, 1) \
  X(Square, Own, 1) \
  X(Sqrt, Same, 1) \
  X(Rsqrt, Own, 1) \
  X(Reciprocal, Same, 1) \
  X(Exp, Same, 8) \
  X(Log, Same, 8) \
  X(Relu, Same, 1) \
  X(LeakyRelu, Same, 1) \
  X(Elu, Same, 8) \
  X(Selu, Same, 8) \
  X(Celu, Same, 8) \
  X(ThresholdedRelu, Same, 1) \
  X(HardSigmoid, Same, 1) \
  X(HardSwish, Same, 1) \
  X(Sigmoid, Same, 8) \
  X(Swish, Same, 8) \
  X(Mish, Same, 8) \
  X(Tanh, Same, 8) \
  X(Erf, Same, 8) \
  X(Gelu, Own, 8) \
  X(GeluTanh, Own, 8) \
  X(Softplus, Same, 8) \
  X(Softsign, Same, 1) \
  X(Shrink, Same, 1) \
  X(Floor, Same, 1) \
  X(Ceil, Same, 1) \
  X(Round, Same, 1) \
  X(Sin, Same, 8) \
  X(Cos, Same, 8) \
  X(Tan, Same, 8) \
  X(Asin, Same, 8) \
  X(Acos, Same, 8) \
  X(Atan, Same, 8) \
  X(Sinh, Same, 8) \
  X(Cosh, Same, 8) \
  X(Asinh, Same, 8) \
  X(Acosh, Same, 8) \
  X(Atanh, Same, 8) \
  X(Scale, Own, 1) \
  X(Not, Bool, 1) \
  X(BitwiseNot, Same, 1) \
  X(IsNaN, Bool, 1) \
  X(IsInf, OwnBool, 1) \
  X(Add, Same, 1) \
  X(Sub, Same, 1) \
  X(Mul, Same, 1) \
  X(Div, Same, 1) \
  X(Pow, Own, 40) \
  X(Min, List, 1) \
  X(Max, List, 1) \
  X(Mod, Own, 8) \
  X(Fmod, Own, 8) \
  X(PRelu, Same, 1) \
  X(Equal, Bool, 1) \
  X(Less, Bool, 1) \
  X(LessOrEqual, Bool, 1) \
  X(Greater, Bool, 1) \
  X(GreaterOrEqual, Bool, 1) \
  X(And, Bool, 1) \
  X(Or, Bool, 1) \
  X(Xor, Bool, 1) \
  X(BitwiseAnd, Same, 1) \
  X(BitwiseOr, Same, 1) \
  X(BitwiseXor, Same, 1) \
  X(ShiftLeft, Own, 1) \
  X(ShiftRight, Own, 1) \
  X(Where, Own, 1) \
  X(Clip, Own, 1) \
  X(MulAdd, Own, 1) \
  X(Quantize, Own, 2) \
  X(Dequantize, Own, 1) \
  X(Cast, Own, 1)
// clang-format on

enum class ElementForm : uint8_t { Own, OwnBool, Same, Bool, List };

enum class ElementOp : uint8_t {
#define MAX_ELEMENT_OP_NAME(name, form, cost) name,
  MAX_FOR_EACH_ELEMENT_OP(MAX_ELEMENT_OP_NAME)
#undef MAX_ELEMENT_OP_NAME
};

struct ElementOpInfo {
  std::string_view name;
  ElementForm form;
  int cost;

  constexpr bool givesBool() const { return form == ElementForm::Bool || form == ElementForm::OwnBool; }
};

inline constexpr ElementOpInfo kElementOps[] = {
#define MAX_ELEMENT_OP_INFO(name, form, cost) {#name, ElementForm::form, cost},
    MAX_FOR_EACH_ELEMENT_OP(MAX_ELEMENT_OP_INFO)
#undef MAX_ELEMENT_OP_INFO
};
constexpr const ElementOpInfo& infoOf(ElementOp op) { return kElementOps[static_cast<size_t>(op)]; }

// The instruction of an activation (graph/activations.h); nullopt if it takes several, or is none.
std::optional<ElementOp> activationOp(std::string_view name);

// The arguments of an instruction for one tile.
struct TileOperands {
  void* dst;           // may be one of the sources, if dense and of the same element size
  const void* src[3];  // of a repeated value: 64 bytes full of it
  int64_t step[3];     // 1 = dense, 0 = repeated
  int64_t count;
  float alpha, beta;
  // May store past the caches and leave the order of such stores to the caller. Only where dst begins a cache line.
  bool isStreamed = false;
};
using TileFunction = void (*)(const TileOperands& tile);

inline constexpr int64_t kSplatBytes = 64;

// The code of an instruction on sources of `from` (Where: of the values) with a result of `to`; NULL if
// there is none. Uses the CPU target of now. float16 and bfloat16 have Cast, Copy and Where only.
TileFunction findTileFunction(ElementOp op, DType from, DType to);

// The files behind it.
TileFunction findFloatTileFunction(ElementOp op);  // float32, vectorised by target
// int32 and int64, vectorised by target; NULL where plain loops are as fast.
TileFunction findIntegerTileFunction(ElementOp op, DType dtype);
TileFunction findPlainTileFunction(ElementOp op, DType dtype);  // all other arithmetic
TileFunction findCastTileFunction(DType from, DType to);
TileFunction findQuantizeTileFunction(ElementOp op, DType from, DType to);  // Quantize, Dequantize
bool isCastable(DType dtype);  // bool, 8 to 64 bit integers, float16, bfloat16, float32, float64

// Fills the 64 bytes at `block` with copies of the element at `value`.
void splatElement(void* block, const void* value, size_t elementSize);
// Repeats each of `rows` elements, `step` bytes apart, `count` times, in stores as wide as the loads of the CPU target:
// a load waits for several narrower stores. What is written past a row, less than 64 bytes, belongs to the next one.
using SplatFunction = void (*)(const void* from, int64_t step, int64_t rows, int64_t count, void* to);
SplatFunction findSplatFunction(size_t elementSize);  // of 1, 2, 4 or 8 bytes; of the CPU target of now

}  // namespace max
