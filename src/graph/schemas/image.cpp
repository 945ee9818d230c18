// SPDX-License-Identifier: Apache-2.0
// Operators that read images at places between the pixels, and decoders of image files.
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

void requireOneOf(const InferContext& context, std::string_view name, std::string_view fallback,
                  std::initializer_list<std::string_view> choices) {
  const std::string value = context.attributes().getString(name, fallback);
  for (const std::string_view choice : choices)
    if (value == choice) return;
  context.fail("attribute '", name, "' is '", value, "'");
}

// Images [N, C, spatial..] and coordinates [N, out.., number of spatial axes].
void inferGridSample(InferContext& context) {
  requireOneOf(context, "mode", "linear", {"linear", "bilinear", "cubic", "bicubic", "nearest"});
  requireOneOf(context, "padding_mode", "zeros", {"zeros", "border", "reflection"});
  rules::requireRankAtLeast(context, 0, 3);
  rules::requireRankAtLeast(context, 1, 3);
  if (!context.ranked(0)) return;
  rules::requireRank(context, 1, context.rank(0));
  if (!context.ranked(1)) return context.setRank(0, context.rank(0));
  const SymbolicShape &x = context.dims(0), &grid = context.dims(1);
  rules::requireEqual(context, grid.back(), context.rank(0) - 2, "coordinates of the grid and spatial axes");
  for (size_t i = 2; i < x.size(); ++i)
    if (x[i].is(0)) context.fail("an input of shape ", x, " has no pixels to sample");
  SymbolicShape shape = {rules::merge(context, x[0], grid[0], "batches of the input and the grid"), x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  context.setShape(0, std::move(shape));
}

// An attribute between `least` and `most`.
int64_t boundedAttribute(const InferContext& context, std::string_view name, int64_t fallback, int64_t least,
                         int64_t most) {
  const int64_t value = context.attributes().getInt(name, fallback);
  if (value < least || value > most)
    context.fail("attribute '", name, "' is ", value, "; ", least, " to ", most, " are possible");
  return value;
}

void inferRoiAlign(InferContext& context) {
  requireOneOf(context, "mode", "avg", {"avg", "max"});
  requireOneOf(context, "coordinate_transformation_mode", "half_pixel", {"half_pixel", "output_half_pixel"});
  constexpr int64_t kMostSamples = 256, kLargestOutput = 1 << 16;
  boundedAttribute(context, "sampling_ratio", 0, 0, kMostSamples);
  const int64_t height = boundedAttribute(context, "output_height", 1, 1, kLargestOutput);
  const int64_t width = boundedAttribute(context, "output_width", 1, 1, kLargestOutput);
  rules::requireRank(context, 0, 4);
  rules::requireShape(context, 1, {context.unknownDim(), 4});
  rules::requireRank(context, 2, 1);
  Dim regions = context.ranked(1) ? context.dims(1)[0] : context.unknownDim();
  if (context.ranked(2)) regions = rules::merge(context, regions, context.dims(2)[0], "regions and batch_indices");
  const bool known = context.ranked(0);
  for (size_t i = 2; known && i < 4; ++i)
    if (context.dims(0)[i].is(0)) context.fail("an input of shape ", context.dims(0), " has no pixels to sample");
  context.setShape(0, {regions, known ? context.dims(0)[1] : context.unknownDim(), height, width});
}

void inferImageDecoder(InferContext& context) {
  requireOneOf(context, "pixel_format", "RGB", {"RGB", "BGR", "Grayscale"});
  rules::requireRank(context, 0, 1);
  context.setRank(0, 3);
}

const OpSchema kSchemas[] = {
    {"", "GridSample", 2, 2, 1, 1, "T,G->T; T=number|bool; G=float", inferGridSample, 0, 0,
     "align_corners=i mode=s padding_mode=s"},
    {"", "RoiAlign", 3, 3, 1, 1, "T,T,int64->T; T=float", inferRoiAlign, 0, 0,
     "coordinate_transformation_mode=s mode=s output_height=i output_width=i sampling_ratio=i spatial_scale=f"},
    {"", "ImageDecoder", 1, 1, 1, 1, "uint8->uint8", inferImageDecoder, kTraitDataDependent, 0, "pixel_format=s"},
};

}  // namespace

std::span<const OpSchema> imageSchemas() { return kSchemas; }

}  // namespace max
