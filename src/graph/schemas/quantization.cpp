// SPDX-License-Identifier: Apache-2.0
// Conversion between floating-point and quantised numbers.
#include "graph/readers/quantization.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// One scale for all, one per index of the axis, or one per block along it; zero points likewise.
void checkScales(const InferContext& context, const readers::Quantization& reader) {
  if (!context.ranked(1)) return;
  const bool single = context.rank(1) == 0 || (context.rank(1) == 1 && context.dims(1)[0].is(1));
  if (single) return rules::requireOneElement(context, 2);
  rules::requireShape(context, 2, context.dims(1));
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  const auto axis = static_cast<size_t>(reader.axis(context.rank(0)));
  const int64_t block = reader.block;
  if (block > 0) shape[axis] = ceilDivide(shape[axis], block);
  rules::requireShape(context, 1, block > 0 ? shape : SymbolicShape{shape[axis]});
}

bool isQuantized(DType dtype) { return dtype != DType::Float8E8M0FNU && bitsOf(dtype) <= (isInteger(dtype) ? 16 : 8); }

void inferQuantize(InferContext& context) {
  const readers::Quantization reader(context.attributes());
  rules::sameAsFirst(context);
  checkScales(context, reader);
  const DType given = reader.output;
  const DType zeroPoint = context.dtype(2);
  if (given != DType::Invalid && !isQuantized(given)) context.fail("attribute 'output_dtype' is ", given);
  if (given != DType::Invalid && zeroPoint != DType::Invalid && given != zeroPoint)
    context.fail("attribute 'output_dtype' is ", given, " but the zero point is ", zeroPoint);
  context.setDType(0, zeroPoint != DType::Invalid ? zeroPoint : given != DType::Invalid ? given : DType::UInt8);
}

void inferDequantize(InferContext& context) {
  const readers::Quantization reader(context.attributes());
  rules::sameAsFirst(context);
  checkScales(context, reader);
  const DType given = reader.output;
  const bool fits = given == DType::Invalid || (isFloat(given) && bitsOf(given) >= 16);
  if (!fits) context.fail("attribute 'output_dtype' is ", given, ", not a floating-point type of 16 bits or more");
  // Scales that are only exponents give float32 results.
  const DType scale = context.dtype(1) == DType::Float8E8M0FNU ? DType::Float32 : context.dtype(1);
  context.setDType(0, given != DType::Invalid ? given : scale);
}

void inferDynamicQuantize(InferContext& context) {
  rules::sameAsFirst(context);
  context.setShape(1, {});
  context.setShape(2, {});
}

// A table with a result for each byte.
void inferMapBytes(InferContext& context) {
  rules::sameAsFirst(context);
  rules::requireShape(context, 1, {Dim(256)});
  context.setDType(0, context.dtype(1));
}

// The rows of a block-quantised table. Bytes contain several numbers each, along the last axis.
void inferGatherBlocks(InferContext& context) {
  const readers::GatheredBlocks read(context);
  const bool bytes = read.isPacked, real = isFloat(context.dtype(0));
  const int64_t bits = read.bits, block = read.block;
  if (real && context.has(3)) context.fail("data of ", context.dtype(0), " has no zero points");
  if (!context.ranked(0)) return;
  rules::requireRankAtLeast(context, 0, 1);
  SymbolicShape shape = context.dims(0);
  if (bytes) shape.back() = shape.back() * Dim(8 / bits);
  const auto gathered = static_cast<size_t>(read.gatheredAxis()), axis = static_cast<size_t>(read.quantizedAxis());
  if (bytes && (gathered != 0 || (bits < 8 && axis == 0)))
    context.fail("bytes are gathered along axis 0 and quantised along another one, not ", gathered, " and ", axis);
  SymbolicShape scales = shape;
  scales[axis] = block ? ceilDivide(shape[axis], block) : Dim(1);
  if (!real) {
    rules::requireShape(context, 2, scales);
    if (bytes) scales.back() = ceilDivide(scales.back() * Dim(bits), 8);
    rules::requireShape(context, 3, scales);
  } else if (context.ranked(2)) {
    rules::requireRank(context, 2, context.rank(0));
    const bool whole =
        context.dims(2)[axis] == scales[axis] || !context.dims(2)[axis].isKnown() || !scales[axis].isKnown();
    if (!whole) context.fail("input 2 has the shape ", context.dims(2), ", needs ", scales);
    rules::requireBroadcastsTo(context, 2, scales);
  }
  if (!context.ranked(1)) return;
  const SymbolicShape& indices = context.dims(1);
  SymbolicShape result(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(gathered));
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), shape.begin() + static_cast<ptrdiff_t>(gathered) + 1, shape.end());
  context.setShape(0, std::move(result));
}

const OpSchema kSchemas[] = {
    {"", "QuantizeLinear", 2, 3, 1, 1, "float|int32,float|int32|float8_e8m0fnu,quantized|uint16->*", inferQuantize, 0,
     0, "axis=i block_size=i output_dtype=i precision=i saturate=i"},
    {"", "DequantizeLinear", 2, 3, 1, 1, "T,float|float8_e8m0fnu,T->*; T=quantized|uint16", inferDequantize, 0, 0,
     "axis=i block_size=i output_dtype=i"},
    {"com.microsoft", "GatherBlockQuantized", 3, 4, 1, 1,
     "D,I,S,D->S; D=int4|uint4|uint8|float8|float4_e2m1fn; I=index; S=float16|bfloat16|float32", inferGatherBlocks, 0,
     0, "bits=i block_size=i gather_axis=i quantize_axis=i"},
    {kMaxDomain, "MapBytes", 2, 2, 1, 1, "A,B->B; A=int8|uint8; B=int8|uint8", inferMapBytes, 0, 0, ""},
    {"", "DynamicQuantizeLinear", 1, 1, 3, 3, "float32->uint8,float32,uint8", inferDynamicQuantize, 0, 0, ""},
};

}  // namespace

std::span<const OpSchema> quantizationSchemas() { return kSchemas; }

}  // namespace max
