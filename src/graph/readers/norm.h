// SPDX-License-Identifier: Apache-2.0
// What normalisations and softmax read of their attributes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

// The attribute 'axis' in [0, rank). The axis of a scalar is 0, whatever the attribute says.
int readAxis(const Attributes& attributes, int64_t fallback, int rank);

// LayerNormalization, RMSNormalization: all axes from `axis` on.
struct LayerNorm {
  int axis;
  float epsilon;

  LayerNorm(const Attributes& attributes, int rank);
};

// InstanceNormalization, max.AddLayerNormalization: what is added to a variance.
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

// LRN: each element by those of `size` channels around it.
struct LocalResponse {
  int64_t size;
  float alpha, beta, bias;

  explicit LocalResponse(const Attributes& attributes);
};

// A list of axes, in [0, rank); INVALID_ARGUMENT if one is out of range or given twice.
std::vector<int> axesIn(std::span<const int64_t> values, int rank);
// MeanVarianceNormalization: axes in [0, rank), none of them twice.
std::vector<int> readNormalisedAxes(const Attributes& attributes, int rank);

}  // namespace max::readers
