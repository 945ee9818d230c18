// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/generator.h"

#include <algorithm>
#include <bit>

namespace max::readers {

DimensionRange readDimensionRange(const NodeInputs& inputs) {
  const int64_t rank = inputs.rank(0);
  const auto bound = [&](std::string_view name, int64_t fallback) {
    const int64_t at = inputs.attributes().getInt(name, fallback);
    return static_cast<int>(std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank));
  };
  const int begin = bound("start", 0);
  return {begin, std::max(begin, bound("end", rank))};
}

int readFlattenAxis(const NodeInputs& inputs) {
  const int64_t rank = inputs.rank(0), axis = inputs.attributes().getInt("axis", 1);
  if (axis < -rank || axis > rank) inputs.fail("axis ", axis, " is out of range for rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ref<Tensor> readFillValue(const NodeInputs& inputs) {
  Ref<Tensor> value = inputs.attributes().getTensor("value");
  if (value && value->count() != 1) inputs.fail("attribute 'value' has ", value->count(), " elements, needs 1");
  return value;
}

int readOneHotAxis(const NodeInputs& inputs) { return inputs.axisAttribute("axis", -1, inputs.rank(0) + 1); }

bool keepsUpper(const NodeInputs& inputs) { return inputs.flag("upper", true); }

int64_t readDiagonal(const Attributes& attributes) { return attributes.getInt("k", 0); }

// Distinct seeds stay distinct; float seeds have the highest bit set, which sensible integers do not.
std::optional<uint64_t> readSeed(const Attributes& attributes) {
  const Attribute* seed = attributes.find("seed");
  if (!seed) return std::nullopt;
  if (const auto* whole = std::get_if<int64_t>(seed)) return static_cast<uint64_t>(*whole);
  return uint64_t{1} << 63 | std::bit_cast<uint32_t>(attributes.getFloat("seed", 0));
}

Distribution readNormal(const Attributes& attributes) {
  return {attributes.getFloat("mean", 0), attributes.getFloat("scale", 1)};
}

Distribution readUniform(const Attributes& attributes) {
  const double low = attributes.getFloat("low", 0);
  return {low, attributes.getFloat("high", 1) - low};
}

std::vector<int64_t> readRandomShape(const NodeInputs& inputs) { return inputs.attributes().getInts("shape"); }

int64_t readSamples(const NodeInputs& inputs) {
  const int64_t samples = inputs.attributes().getInt("sample_size", 1);
  if (samples < 0) inputs.fail("attribute 'sample_size' is ", samples);
  return samples;
}

}  // namespace max::readers
