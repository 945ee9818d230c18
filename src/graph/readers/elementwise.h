// SPDX-License-Identifier: Apache-2.0
// Attributes of elementwise operators.
#pragma once

#include <string_view>

#include "base/small_float.h"
#include "graph/graph.h"

namespace max::readers {

// The parameters of Celu, Elu, HardSigmoid, LeakyRelu, Selu, Shrink, Swish and ThresholdedRelu; 0 for others. Selu's
// second one is gamma; Shrink's are lambda and bias.
struct Parameters {
  float alpha, beta;

  Parameters(std::string_view op, const Attributes& attributes);
  explicit Parameters(const Node& node) : Parameters(node.op(), node.attributes) {}
};

// Mod: the result has the sign of the dividend, like C's fmod.
bool readTruncates(const Attributes& attributes);
// BitShift.
bool readShiftsLeft(const Attributes& attributes);
// Gelu: the tanh approximation.
bool readIsApproximate(const Attributes& attributes);
// IsInf: which infinities count.
struct Infinities {
  bool negative, positive;

  explicit Infinities(const Attributes& attributes);
};
// Cast, CastLike.
SmallFloatRules readSmallFloatRules(const Attributes& attributes);

}  // namespace max::readers
