// SPDX-License-Identifier: Apache-2.0
// Operators that sample images between pixels, and decoders of image files.
#include "graph/readers/image.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// Images [N, C, spatial..] and coordinates [N, out.., number of spatial axes].
void inferGridSample(InferContext& context) {
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

void inferRoiAlign(InferContext& context) {
  const readers::AlignedRegions read(context.attributes());
  rules::requireRank(context, 0, 4);
  rules::requireShape(context, 1, {context.unknownDim(), 4});
  rules::requireRank(context, 2, 1);
  Dim regions = context.ranked(1) ? context.dims(1)[0] : context.unknownDim();
  if (context.ranked(2)) regions = rules::merge(context, regions, context.dims(2)[0], "regions and batch_indices");
  const bool known = context.ranked(0);
  for (size_t i = 2; known && i < 4; ++i)
    if (context.dims(0)[i].is(0)) context.fail("an input of shape ", context.dims(0), " has no pixels to sample");
  context.setShape(0, {regions, known ? context.dims(0)[1] : context.unknownDim(), read.height, read.width});
}

void inferImageDecoder(InferContext& context) {
  rules::requireRank(context, 0, 1);
  context.setRank(0, 3);
}

const OpSchema kSchemas[] = {
    {"", "GridSample", 2, 2, 1, 1, "T,G->T; T=number|bool; G=float", inferGridSample, 0, 0,
     "align_corners=i mode=s{linear,nearest,cubic} padding_mode=s{zeros,border,reflection}"},
    {"", "RoiAlign", 3, 3, 1, 1, "T,T,int64->T; T=float", inferRoiAlign, 0, 0,
     "coordinate_transformation_mode=s{half_pixel,output_half_pixel} mode=s{avg,max} output_height=i[1..65536] "
     "output_width=i[1..65536] sampling_ratio=i[0..256] spatial_scale=f"},
    {"", "ImageDecoder", 1, 1, 1, 1, "uint8->uint8", inferImageDecoder, kTraitDataDependent, 0,
     "pixel_format=s{RGB,BGR,Grayscale}"},
};

}  // namespace

std::span<const OpSchema> imageSchemas() { return kSchemas; }

}  // namespace max
