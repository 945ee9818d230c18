// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/normalization.h"

#include <algorithm>

#include "base/error.h"

namespace max::readers {

namespace {

int axisIn(int64_t value, int rank) {
  if (value < -rank || value >= rank) invalidArgument("axis ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

}  // namespace

int readAxis(const Attributes& attributes, int64_t fallback, int rank) {
  return rank == 0 ? 0 : axisIn(attributes.getInt("axis", fallback), rank);
}

LayerNorm::LayerNorm(const Attributes& attributes, int rank)
    : axis(readAxis(attributes, -1, rank)), epsilon(readEpsilon(attributes)) {}

float readEpsilon(const Attributes& attributes) { return attributes.getFloat("epsilon", 1e-5f); }

BatchNorm::BatchNorm(const Attributes& attributes)
    : epsilon(readEpsilon(attributes)),
      momentum(attributes.getFloat("momentum", 0.9f)),
      isTraining(attributes.getInt("training_mode", 0) != 0) {}

GroupNorm::GroupNorm(const Attributes& attributes)
    : groups(attributes.getInt("num_groups", 0)), epsilon(readEpsilon(attributes)) {
  if (groups < 1) invalidArgument("attribute 'num_groups' is ", groups);
}

LpNorm::LpNorm(const Attributes& attributes, int rank)
    : axis(readAxis(attributes, -1, rank)), p(readPower(attributes)) {}

int64_t readPower(const Attributes& attributes) { return attributes.getInt("p", 2); }

LocalResponse::LocalResponse(const Attributes& attributes)
    : size(attributes.getInt("size", 1)),
      alpha(attributes.getFloat("alpha", 0.0001f)),
      beta(attributes.getFloat("beta", 0.75f)),
      bias(attributes.getFloat("bias", 1)) {
  if (size < 1) invalidArgument("attribute 'size' is ", size);
}

std::vector<int> axesIn(std::span<const int64_t> values, int rank) {
  std::vector<int> axes;
  for (const int64_t value : values) {
    axes.push_back(axisIn(value, rank));
    if (std::find(axes.begin(), axes.end() - 1, axes.back()) != axes.end() - 1)
      invalidArgument("axis ", value, " occurs twice");
  }
  return axes;
}

std::vector<int> readNormalisedAxes(const Attributes& attributes, int rank) {
  std::vector<int64_t> values = attributes.getInts("axes");
  if (values.empty()) values = {0, 2, 3};
  return axesIn(values, rank);
}

}  // namespace max::readers
