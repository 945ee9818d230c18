// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/image.h"

#include "base/error.h"

namespace max::readers {

Grid::Grid(const Attributes& attributes) : alignsCorners(attributes.getInt("align_corners", 0) != 0) {
  const std::string name = attributes.getString("mode", "linear");
  mode = name == "nearest" ? GridMode::Nearest : name.ends_with("cubic") ? GridMode::Cubic : GridMode::Linear;
  const std::string outside = attributes.getString("padding_mode", "zeros");
  padding = outside == "border"       ? GridPadding::Border
            : outside == "reflection" ? GridPadding::Reflection
                                      : GridPadding::Zeros;
}

AlignedRegions::AlignedRegions(const Attributes& attributes)
    : height(attributes.getInt("output_height", 1)),
      width(attributes.getInt("output_width", 1)),
      scale(attributes.getFloat("spatial_scale", 1)),
      isHalfPixel(attributes.getString("coordinate_transformation_mode", "half_pixel") == "half_pixel"),
      takesMax(attributes.getString("mode", "avg") == "max"),
      samples(attributes.getInt("sampling_ratio", 0)) {}

PooledRegions::PooledRegions(const Attributes& attributes) : size(), scale(attributes.getFloat("spatial_scale", 1)) {
  constexpr int64_t kLargest = 1 << 16;
  const std::vector<int64_t> given = attributes.getInts("pooled_shape");
  if (given.size() != size.size()) invalidArgument("attribute 'pooled_shape' has ", given.size(), " numbers, needs 2");
  for (size_t i = 0; i < size.size(); ++i) {
    if (given[i] < 1 || given[i] > kLargest) invalidArgument("attribute 'pooled_shape' contains ", given[i]);
    size[i] = given[i];
  }
}

}  // namespace max::readers
