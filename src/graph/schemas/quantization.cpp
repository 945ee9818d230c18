// SPDX-License-Identifier: Apache-2.0
// Between real and quantized numbers.
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void inferQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  const DType zeroPoint = context.dtype(2);
  if (given != DType::Invalid && zeroPoint != DType::Invalid && given != zeroPoint)
    context.fail("attribute 'output_dtype' is ", given, " but the zero point is ", zeroPoint);
  context.setDType(0, zeroPoint != DType::Invalid ? zeroPoint : given != DType::Invalid ? given : DType::UInt8);
}

void inferDequantize(InferContext& context) {
  rules::sameAsFirst(context);
  const DType given = rules::dtypeAttribute(context, "output_dtype", DType::Invalid);
  context.setDType(0, given != DType::Invalid ? given : context.dtype(1));
}

void inferDynamicQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  context.setShape(1, {});
  context.setShape(2, {});
}

const OpSchema kSchemas[] = {
    {"", "QuantizeLinear", 2, 3, 1, 1, "float|int32,float,quantized->*", inferQuantize, 0, 0},
    {"", "DequantizeLinear", 2, 3, 1, 1, "T,float,T->*; T=quantized|uint16", inferDequantize, 0, 0},
    {"", "DynamicQuantizeLinear", 1, 1, 3, 3, "float32->uint8,float32,uint8", inferDynamicQuantize, 0, 0},
};

}  // namespace

std::span<const OpSchema> quantizationSchemas() { return kSchemas; }

}  // namespace max
