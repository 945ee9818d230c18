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

void inferQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  checkScales(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  const DType zeroPoint = context.dtype(2);
  if (given != DType::Invalid && zeroPoint != DType::Invalid && given != zeroPoint)
    context.fail("attribute 'output_dtype' is ", given, " but the zero point is ", zeroPoint);
  context.setDType(0, zeroPoint != DType::Invalid ? zeroPoint : given != DType::Invalid ? given : DType::UInt8);
}

void inferDequantize(InferContext& context) {
  rules::sameAsFirst(context);
  checkScales(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  context.setDType(0, given != DType::Invalid ? given : context.dtype(1));
}

void inferDynamicQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  context.setShape(1, {});
  context.setShape(2, {});
}

const OpSchema kSchemas[] = {
    {"", "QuantizeLinear", 2, 3, 1, 1, "float|int32,float,quantized->*", inferQuantize, 0, 0,
     "axis=i block_size=i output_dtype=i precision=i saturate=i"},
    {"", "DequantizeLinear", 2, 3, 1, 1, "T,float,T->*; T=quantized|uint16", inferDequantize, 0, 0,
     "axis=i block_size=i output_dtype=i"},
    {"", "DynamicQuantizeLinear", 1, 1, 3, 3, "float32->uint8,float32,uint8", inferDynamicQuantize, 0, 0, ""},
};

}  // namespace

std::span<const OpSchema> quantizationSchemas() { return kSchemas; }

}  // namespace max
