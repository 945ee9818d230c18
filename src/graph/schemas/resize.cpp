// SPDX-License-Identifier: Apache-2.0
// Resize.
#include "graph/readers/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

Dim rounded(const InferContext& context, double size) {
  if (!(size < 9e15)) context.fail("a dimension of ", size, " is too large");
  return static_cast<int64_t>(std::floor(size));
}

// An axis after scaling: floor(size * scale), symbolic if the scale or its inverse is an integer. Other products are
// those of float32, as exporters and other runtimes expect: 2.3 is a little less in float32, but 40 times that is 92.
Dim scaled(const InferContext& context, Dim size, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) context.fail("scale ", scale, " is not a positive number");
  const double inverse = 1 / scale;
  constexpr double kLargest = 1e6;
  const bool isWhole = scale == std::floor(scale), isPart = inverse == std::floor(inverse);
  if (size.isKnown()) {
    const auto count = static_cast<double>(size.value());
    return rounded(context, isWhole || isPart ? count * scale : static_cast<float>(count) * static_cast<float>(scale));
  }
  if (isWhole && scale < kLargest) return size * Dim(static_cast<int64_t>(scale));
  if (isPart && inverse < kLargest) return floorDivide(size, static_cast<int64_t>(inverse));
  return context.unknownDim();
}

std::optional<std::vector<double>> floatsOf(const InferContext& context, size_t input) {
  const Tensor* tensor = context.contents(input);
  if (!tensor || tensor->dtype() != DType::Float32) return std::nullopt;
  const auto values = tensor->values<float>();
  return std::vector<double>(values.begin(), values.end());
}

bool isGiven(const InferContext& context, size_t input) {
  return context.has(input) && !(context.ranked(input) && context.rank(input) == 1 && context.dims(input)[0].is(0));
}

// Reduces the sizes to one scale for all axes, if the attribute requires it.
void keepAspect(const InferContext& context, const readers::Resize& resize, std::vector<Dim>& sizes) {
  if (resize.policy == readers::AspectPolicy::Stretch) return;
  const bool isLeast = resize.policy == readers::AspectPolicy::NotLarger;
  double scale = isLeast ? std::numeric_limits<double>::max() : 0;
  for (size_t i = 0; i < resize.axes.size(); ++i) {
    const Dim size = context.dims(0)[static_cast<size_t>(resize.axes[i])];
    if (!size.isKnown() || !sizes[i].isKnown() || size.is(0)) {
      for (Dim& entry : sizes) entry = context.unknownDim();
      return;
    }
    const double ratio = static_cast<double>(sizes[i].value()) / static_cast<double>(size.value());
    scale = isLeast ? std::min(scale, ratio) : std::max(scale, ratio);
  }
  for (size_t i = 0; i < resize.axes.size(); ++i) {
    const Dim size = context.dims(0)[static_cast<size_t>(resize.axes[i])];
    sizes[i] = rounded(context, scale * static_cast<double>(size.value()) + 0.5);
  }
}

std::optional<std::vector<Dim>> resizedSizes(const InferContext& context, const readers::Resize& resize) {
  const std::vector<int>& axes = resize.axes;
  if (isGiven(context, 3)) {
    std::optional<std::vector<Dim>> sizes = context.elements(3);
    if (sizes && sizes->size() != axes.size())
      context.fail("sizes are ", sizes->size(), " numbers for ", axes.size(), " axes");
    if (sizes) keepAspect(context, resize, *sizes);
    return sizes;
  }
  if (!isGiven(context, 2)) context.fail("needs scales or sizes");
  const auto scales = floatsOf(context, 2);
  if (!scales) return std::nullopt;
  if (scales->size() != axes.size()) context.fail("scales are ", scales->size(), " numbers for ", axes.size(), " axes");
  const auto roi = resize.crops() ? floatsOf(context, 1) : std::nullopt;
  if (roi && roi->size() != 2 * axes.size())
    context.fail("roi has ", roi->size(), " numbers for ", axes.size(), " axes");
  if (resize.crops() && !roi) return std::nullopt;
  std::vector<Dim> sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    const double part = resize.crops() ? (*roi)[axes.size() + i] - (*roi)[i] : 1;
    sizes.push_back(scaled(context, context.dims(0)[static_cast<size_t>(axes[i])], part * (*scales)[i]));
  }
  return sizes;
}

void inferResize(InferContext& context) {
  if (!context.ranked(0)) return;
  const readers::Resize resize(context.attributes(), context.rank(0));
  const auto sizes = resizedSizes(context, resize);
  SymbolicShape shape = context.dims(0);
  for (size_t i = 0; i < resize.axes.size(); ++i)
    shape[static_cast<size_t>(resize.axes[i])] = sizes ? (*sizes)[i] : context.unknownDim();
  context.setShape(0, std::move(shape));
}

const OpSchema kSchemas[] = {
    {"", "Resize", 1, 4, 1, 1, "T,float,float32,int64->T; T=number|bool", inferResize, 0, 0b1110,
     "antialias=i axes=I "
     "coordinate_transformation_mode=s{half_pixel,half_pixel_symmetric,pytorch_half_pixel,align_corners,asymmetric,"
     "tf_half_pixel_for_nn,tf_crop_and_resize} cubic_coeff_a=f exclude_outside=i extrapolation_value=f "
     "keep_aspect_ratio_policy=s{stretch,not_larger,not_smaller} mode=s{nearest,linear,cubic} "
     "nearest_mode=s{round_prefer_floor,round_prefer_ceil,floor,ceil}"},
};

}  // namespace

std::span<const OpSchema> resizeSchemas() { return kSchemas; }

}  // namespace max
