// SPDX-License-Identifier: Apache-2.0
// The instructions of elementwise programs, and the lookup of their code.
//
// An instruction works on one tile: a few hundred to some thousand elements in
// cache. Every source is dense or a single repeated value.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace max {

// Arithmetic, one type in and out. Integers: results wrap; x / 0 and x mod 0 are 0;
// the smallest integer divided by -1 is itself. Shifts by the width or more, or by less than 0, shift everything out.
// MulAdd: a * b + c. Scale: a * alpha + beta. Clip: a in [b, c], b wins if b > c.
// clang-format off
#define MAX_FOR_EACH_ELEMENT_OP(X) \
  X(Copy) X(Neg) X(Abs) X(Sign) X(Square) X(Sqrt) X(Rsqrt) X(Reciprocal) X(Exp) X(Log) X(Relu) X(LeakyRelu) \
  X(Elu) X(Selu) X(Celu) X(ThresholdedRelu) X(HardSigmoid) X(HardSwish) X(Sigmoid) X(Swish) X(Mish) X(Tanh) \
  X(Erf) X(Gelu) X(GeluTanh) X(Softplus) X(Softsign) X(Shrink) X(Floor) X(Ceil) X(Round) X(Sin) X(Cos) \
  X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Asinh) X(Acosh) X(Atanh) X(Scale) X(Not) X(BitwiseNot) \
  X(IsNan) X(IsInf) X(Add) X(Sub) X(Mul) X(Div) X(Pow) X(Min) X(Max) X(Mod) X(Fmod) X(PRelu) X(Equal) \
  X(Less) X(LessOrEqual) X(Greater) X(GreaterOrEqual) X(And) X(Or) X(Xor) X(BitwiseAnd) X(BitwiseOr) \
  X(BitwiseXor) X(ShiftLeft) X(ShiftRight) X(Where) X(Clip) X(MulAdd) X(Cast)
// clang-format on

enum class ElementOp : uint8_t {
#define MAX_ELEMENT_OP_NAME(name) name,
  MAX_FOR_EACH_ELEMENT_OP(MAX_ELEMENT_OP_NAME)
#undef MAX_ELEMENT_OP_NAME
};

// The arguments of an instruction for one tile.
struct TileOperands {
  void* dst;           // may be one of the sources, if dense and of the same element size
  const void* src[3];  // of a repeated value: 64 bytes full of it
  int64_t step[3];     // 1 = dense, 0 = repeated
  int64_t count;
  float alpha, beta;
};
using TileFunction = void (*)(const TileOperands& tile);

inline constexpr int64_t kSplatBytes = 64;

// The code of an instruction on sources of `from` (Where: of the values) with a result of `to`; NULL if
// there is none. Uses the CPU target of now. float16 and bfloat16 have Cast, Copy and Where only.
TileFunction findTileFunction(ElementOp op, DType from, DType to);

// The files behind it.
TileFunction findFloatTileFunction(ElementOp op);               // float32, vectorised by target
TileFunction findPlainTileFunction(ElementOp op, DType dtype);  // all other arithmetic
TileFunction findCastTileFunction(DType from, DType to);
bool isCastable(DType dtype);  // bool, 8 to 64 bit integers, float16, bfloat16, float32, float64

// Fills the 64 bytes at `block` with copies of the element at `value`.
void splatElement(void* block, const void* value, size_t elementSize);

}  // namespace max
