// SPDX-License-Identifier: Apache-2.0
// Pools and their inverses. Layout: ONNX's [batch, channels, spatial...]; that of the compiler's own is
// [batch, spatial..., channels].
#include "graph/readers/image.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void inferPool(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 3);
  if (!context.ranked(0)) return;
  const SymbolicShape& x = context.dims(0);
  const readers::Pool pool(context.attributes(), x.size() - 2);
  SymbolicShape shape = {x[0], x[1]};
  for (size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(rules::windowed(context, x[i + 2], pool.windows, i, pool.roundsUp));
  context.setShape(1, shape);
  context.setShape(0, std::move(shape));
}

void inferChannelsLastPool(InferContext& context) {
  if (!context.ranked(0)) return;
  rules::requireRankAtLeast(context, 0, 3);
  const SymbolicShape& x = context.dims(0);
  const readers::Pool pool(context.attributes(), x.size() - 2);
  SymbolicShape shape = {x[0]};
  for (size_t i = 0; i + 2 < x.size(); ++i)
    shape.push_back(rules::windowed(context, x[i + 1], pool.windows, i, pool.roundsUp));
  shape.push_back(x.back());
  context.setShape(0, std::move(shape));
}

void inferMaxRoiPool(InferContext& context) {
  const auto size = readers::PooledRegions(context.attributes()).size;
  rules::requireRank(context, 0, 4);
  rules::requireRank(context, 1, 2);
  if (!context.ranked(0) || !context.ranked(1)) return context.setRank(0, 4);
  rules::requireEqual(context, context.dims(1)[1], 5, "the numbers of a region");
  context.setShape(0, {context.dims(1)[0], context.dims(0)[1], size[0], size[1]});
}

void inferGlobalPool(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  if (!context.ranked(0)) return;
  SymbolicShape shape = context.dims(0);
  for (size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  context.setShape(0, std::move(shape));
}

// The inverse of a MaxPool: output_shape, if given, may be larger than the attributes imply.
void inferMaxUnpool(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 3);
  rules::requireRank(context, 2, 1);
  if (!context.ranked(0)) return;
  const SymbolicShape& x = context.dims(0);
  rules::requireShape(context, 1, x);
  const readers::Pool pool(context.attributes(), x.size() - 2);
  SymbolicShape shape = {x[0], x[1]};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const readers::Window& window = pool.windows.axes[i];
    shape.push_back(Dim(window.stride) * (x[i + 2] - Dim(1)) + Dim(window.size - window.padBegin) - Dim(window.padEnd));
  }
  if (!context.has(2)) return context.setShape(0, std::move(shape));
  const auto given = context.elements(2);
  if (!given) return context.setRank(0, context.rank(0));
  if (given->size() != shape.size()) context.fail("output_shape has ", given->size(), " numbers for ", x);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i].isKnown() && (*given)[i].isKnown() && (*given)[i].value() < shape[i].value())
      context.fail("output_shape ", *given, " is smaller than the unpooled size, ", shape);
  context.setShape(0, *given);
}

constexpr std::string_view kChannelsLast = "T->T; T=float|int8|uint8";

const OpSchema kSchemas[] = {
    {"", "MaxPool", 1, 1, 1, 2, "T->T,int64; T=float|int8|uint8", inferPool, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} ceil_mode=i dilations=I kernel_shape=I pads=I "
     "storage_order=i[0..1] strides=I"},
    {"", "AveragePool", 1, 1, 1, 1, "T->T; T=float", inferPool, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} ceil_mode=i count_include_pad=i dilations=I kernel_shape=I "
     "pads=I "
     "strides=I"},
    {"", "LpPool", 1, 1, 1, 1, "T->T; T=float", inferPool, 0, 0,
     "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} ceil_mode=i dilations=I kernel_shape=I p=i[1..] pads=I "
     "strides=I"},
    {"", "MaxRoiPool", 2, 2, 1, 1, "T,T->T; T=float", inferMaxRoiPool, 0, 0, "pooled_shape=I spatial_scale=f"},
    {"", "GlobalMaxPool", 1, 1, 1, 1, "T->T; T=float", inferGlobalPool, 0, 0, ""},
    {"", "GlobalAveragePool", 1, 1, 1, 1, "T->T; T=float", inferGlobalPool, 0, 0, ""},
    {"", "GlobalLpPool", 1, 1, 1, 1, "T->T; T=float", inferGlobalPool, 0, 0, "p=i[1..]"},
    {"", "MaxUnpool", 2, 3, 1, 1, "T,int64,int64->T; T=float", inferMaxUnpool, 0, 1u << 2,
     "kernel_shape=I pads=I strides=I"},
    {kMaxDomain, "MaxPool", 1, 1, 1, 1, kChannelsLast, inferChannelsLastPool, 0, 0,
     "ceil_mode=i dilations=I kernel_shape=I pads=I strides=I"},
    {kMaxDomain, "AveragePool", 1, 1, 1, 1, kChannelsLast, inferChannelsLastPool, 0, 0,
     "ceil_mode=i count_include_pad=i dilations=I kernel_shape=I pads=I strides=I"},
};

}  // namespace

std::span<const OpSchema> poolingSchemas() { return kSchemas; }

}  // namespace max
