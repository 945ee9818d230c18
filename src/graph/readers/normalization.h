// SPDX-License-Identifier: Apache-2.0
// Attributes of normalisations and softmax.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

// The attribute 'axis' in [0, rank). For a scalar it is always 0.
int readAxis(const Attributes& attributes, int64_t fallback, int rank);

// LayerNormalization, RMSNormalization: all axes from `axis` on.
struct LayerNorm {
  int axis;
  float epsilon;

  LayerNorm(const Attributes& attributes, int rank);
};

// InstanceNormalization, max.AddLayerNormalization: added to the variance.
float readEpsilon(const Attributes& attributes);

struct BatchNorm {
  float epsilon, momentum;
  bool isTraining;

  explicit BatchNorm(const Attributes& attributes);
};

struct GroupNorm {
  int64_t groups;
  float epsilon;

  explicit GroupNorm(const Attributes& attributes);
};

// LpPool, GlobalLpPool.
int64_t readPower(const Attributes& attributes);

struct LpNorm {
  int axis;
  int64_t p;

  LpNorm(const Attributes& attributes, int rank);
};

// LRN: normalises each element over `size` channels around it.
struct LocalResponse {
  int64_t size;
  float alpha, beta, bias;

  explicit LocalResponse(const Attributes& attributes);
};

// A list of axes, in [0, rank); INVALID_ARGUMENT if one is out of range or occurs twice.
std::vector<int> axesIn(std::span<const int64_t> values, int rank);
// MeanVarianceNormalization: distinct axes in [0, rank).
std::vector<int> readNormalisedAxes(const Attributes& attributes, int rank);

}  // namespace max::readers
