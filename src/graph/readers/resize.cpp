// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/resize.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "graph/readers/normalization.h"

namespace max::readers {

namespace {

// In the order of the enumerations.
constexpr std::string_view kInterpolations[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kPlaces[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
                                        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
constexpr std::string_view kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
constexpr std::string_view kPolicies[] = {"stretch", "not_larger", "not_smaller"};

// The first choice is the default.
template <class Choice>
Choice readChoice(const Attributes& attributes, std::string_view name, std::span<const std::string_view> choices) {
  const std::string value = attributes.getString(name, choices[0]);
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found == choices.end()) invalidArgument("attribute '", name, "' is '", value, "'");
  return static_cast<Choice>(found - choices.begin());
}

std::vector<int> readAxes(const Attributes& attributes, int rank) {
  const std::vector<int64_t> values = attributes.getInts("axes");
  if (!values.empty()) return axesIn(values, rank);
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

Resize::Resize(const Attributes& attributes, int rank)
    : axes(readAxes(attributes, rank)),
      interpolation(readChoice<Interpolation>(attributes, "mode", kInterpolations)),
      place(readChoice<PixelPlace>(attributes, "coordinate_transformation_mode", kPlaces)),
      nearest(readChoice<NearestPixel>(attributes, "nearest_mode", kNearest)),
      policy(readChoice<AspectPolicy>(attributes, "keep_aspect_ratio_policy", kPolicies)),
      smooths(attributes.getInt("antialias", 0) != 0),
      excludesOutside(attributes.getInt("exclude_outside", 0) != 0),
      cubicFactor(attributes.getFloat("cubic_coeff_a", -0.75f)),
      outside(attributes.getFloat("extrapolation_value", 0)) {}

}  // namespace max::readers
