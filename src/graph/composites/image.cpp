// SPDX-License-Identifier: Apache-2.0
// Grids, crops and gated activations.
#include "graph/composites/tables.h"
#include "graph/schemas/rules.h"

namespace max {

namespace {

// Positions of the centres (with aligned corners, of the corners) of `size` cells between -1 and 1.
Value* gridLine(Expansion& e, Value* size, DType dtype, bool alignCorners) {
  const auto real = [&](double value) { return e.scalar(dtype, value); };
  Value* index = e.cast(e.op("Range", {e.scalar(DType::Int64, 0), size, e.scalar(DType::Int64, 1)}), dtype);
  Value* count = e.cast(size, dtype);
  if (alignCorners) return e.sub(e.div(e.mul(index, real(2)), e.op("Max", {e.sub(count, real(1)), real(1)})), real(1));
  return e.sub(e.div(e.add(e.mul(index, real(2)), real(1)), count), real(1));
}

void expandAffineGrid(Expansion& e) {
  Value* theta = e.input(0);
  Value* size = e.input(1);
  const Extent rows = e.rank(theta) == 3 ? e.dim(theta, 1) : Extent(0), length = e.dim(size, 0);
  const int64_t axes = rows.isKnown() ? rows.number : length.isKnown() ? length.number - 2 : 0;
  if (!rows.isKnown() && !length.isKnown()) e.unsupported("the number of axes is not known");
  if (axes != 2 && axes != 3) e.invalid("theta must have the shape [N, 2, 3] or [N, 3, 4]");
  const DType result = e.dtype(0), dtype = result == DType::Float64 ? result : DType::Float32;
  std::vector<Extent> shape;
  for (int64_t i = 0; i < axes; ++i) shape.push_back(e.slice(size, 0, i + 2, i + 3));
  Values coordinates;  // x first, so from the last axis to the first
  for (int64_t i = axes - 1; i >= 0; --i) {
    Value* line = gridLine(e, e.squeeze(shape[static_cast<size_t>(i)].value, {0}), dtype, e.flag("align_corners"));
    std::vector<int64_t> others;
    for (int64_t k = 0; k < axes; ++k)
      if (k != i) others.push_back(k);
    coordinates.push_back(e.reshape(e.expand(e.unsqueeze(line, others), shape), {-1, 1}));
  }
  coordinates.push_back(e.expand(e.scalar(dtype, 1), {e.op("Shape", {coordinates[0]})}));
  Value* points = e.concat(std::move(coordinates), 1);
  Value* grid = e.matmul(points, e.transpose(e.cast(theta, dtype), {0, 2, 1}));
  shape.insert(shape.begin(), e.dim(theta, 0));
  shape.push_back(axes);
  e.setOutput(0, e.cast(e.reshape(grid, shape), result));
}

void expandCenterCropPad(Expansion& e) {
  Value* x = e.input(0);
  std::vector<int64_t> axes = e.attributes().getInts("axes");
  if (!e.attributes().has("axes"))
    for (int i = 0; i < e.rank(x); ++i) axes.push_back(i);
  Values sizes;
  for (int64_t& axis : axes) {
    axis = e.axis(axis, e.rank(x));
    sizes.push_back(e.list({e.dim(x, static_cast<int>(axis))}));
  }
  Value* target = e.cast(e.input(1), DType::Int64);
  Value* two = e.ints({2});
  Value* size = e.concat(std::move(sizes), 0);
  Value* kept = e.op("Min", {size, target});
  Value* begin = e.div(e.sub(size, kept), two);
  Value* cropped = e.op("Slice", {x, begin, e.add(begin, kept), e.ints(axes)});
  Value* missing = e.sub(target, kept);
  Value* before = e.div(missing, two);
  Value* pads = e.concat({before, e.sub(missing, before)}, 0);
  e.setOutput(0, e.op("Pad", {cropped, pads, nullptr, e.ints(axes)}));
}

void inferCenterCropPad(InferContext& context) {
  if (!context.ranked(0)) return;
  SymbolicShape dims = context.dims(0);
  const int rank = context.rank(0);
  std::vector<int64_t> axes = context.attributes().getInts("axes");
  if (!context.attributes().has("axes"))
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  const std::optional<std::vector<Dim>> target = context.elements(1);
  if (target && target->size() != axes.size())
    context.fail("the shape has ", target->size(), " sizes for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i)
    dims[context.axis(axes[i], rank)] = target ? (*target)[i] : context.unknownDim();
  context.setShape(0, std::move(dims));
}

void checkSameShape(InferContext& context) {
  if (context.ranked(0)) rules::requireShape(context, 1, context.dims(0));
}

void expandSwiGLU(Expansion& e) {
  Value* gate = e.op("Swish", {e.input(0)}, attributesOf({{"alpha", e.number("alpha", 1)}}));
  e.setOutput(0, e.mul(gate, e.input(1)));
}

const Composite kRows[] = {
    {{"", "AffineGrid", 2, 2, 1, 1, "T,int64->T; T=float", nullptr, 0, 0, "align_corners=i"}, expandAffineGrid},
    {{"", "CenterCropPad", 2, 2, 1, 1, "T,I->T; T=any; I=index", inferCenterCropPad, 0, 0, "axes=I"},
     expandCenterCropPad},
    {{"", "SwiGLU", 2, 2, 1, 1, "T,T->T; T=float", checkSameShape, 0, 0, "alpha=f"}, expandSwiGLU},
};

}  // namespace

std::span<const Composite> imageComposites() { return kRows; }

}  // namespace max
