// SPDX-License-Identifier: Apache-2.0
// Between real and quantized numbers.
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// One scale for all, one per index of the axis, or one per block along it; zero points likewise.
void checkScales(const InferContext& context) {
  if (!context.ranked(1)) return;
  const bool single = context.rank(1) == 0 || (context.rank(1) == 1 && context.dims(1)[0].is(1));
  if (single) return rules::requireOneElement(context, 2);
  rules::requireShape(context, 2, context.dims(1));
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  const auto axis = static_cast<size_t>(context.axis(context.attributes().getInt("axis", 1), context.rank(0)));
  const int64_t block = context.attributes().getInt("block_size", 0);
  if (block < 0) context.fail("attribute 'block_size' is ", block);
  if (block > 0) shape[axis] = ceilDivide(shape[axis], block);
  rules::requireShape(context, 1, block > 0 ? shape : SymbolicShape{shape[axis]});
}

bool isQuantized(DType dtype) { return dtype != DType::Float8E8M0FNU && bitsOf(dtype) <= (isInteger(dtype) ? 16 : 8); }

void inferQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  checkScales(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  const DType zeroPoint = context.dtype(2);
  if (given != DType::Invalid && !isQuantized(given)) context.fail("attribute 'output_dtype' is ", given);
  rules::dtypeAttribute(context, "precision", DType::Invalid);
  if (given != DType::Invalid && zeroPoint != DType::Invalid && given != zeroPoint)
    context.fail("attribute 'output_dtype' is ", given, " but the zero point is ", zeroPoint);
  context.setDType(0, zeroPoint != DType::Invalid ? zeroPoint : given != DType::Invalid ? given : DType::UInt8);
}

void inferDequantize(InferContext& context) {
  rules::sameAsFirst(context);
  checkScales(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  const bool fits = given == DType::Invalid || (isFloat(given) && bitsOf(given) >= 16);
  if (!fits) context.fail("attribute 'output_dtype' is ", given, ", no floating-point type of 16 bits or more");
  // Scales that are bare exponents have float32 as their result.
  const DType scale = context.dtype(1) == DType::Float8E8M0FNU ? DType::Float32 : context.dtype(1);
  context.setDType(0, given != DType::Invalid ? given : scale);
}

void inferDynamicQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  context.setShape(1, {});
  context.setShape(2, {});
}

const OpSchema kSchemas[] = {
    {"", "QuantizeLinear", 2, 3, 1, 1, "float|int32,float|int32|float8_e8m0fnu,quantized|uint16->*", inferQuantize, 0,
     0, "axis=i block_size=i output_dtype=i precision=i saturate=i"},
    {"", "DequantizeLinear", 2, 3, 1, 1, "T,float|float8_e8m0fnu,T->*; T=quantized|uint16", inferDequantize, 0, 0,
     "axis=i block_size=i output_dtype=i"},
    {"", "DynamicQuantizeLinear", 1, 1, 3, 3, "float32->uint8,float32,uint8", inferDynamicQuantize, 0, 0, ""},
};

}  // namespace

std::span<const OpSchema> quantizationSchemas() { return kSchemas; }

}  // namespace max
