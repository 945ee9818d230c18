// SPDX-License-Identifier: Apache-2.0
// What operators on single elements read of their attributes.
#pragma once

#include <string_view>

#include "base/small_float.h"
#include "graph/graph.h"

namespace max::readers {

// The numbers of Celu, Elu, HardSigmoid, LeakyRelu, Selu, Shrink, Swish and ThresholdedRelu; of others 0. Selu's second
// one is gamma, Shrink's are lambda and bias.
struct Parameters {
  float alpha, beta;

  explicit Parameters(const Node& node);
};

// Mod: the result has the sign of the dividend, as C's fmod.
bool readTruncates(const Attributes& attributes);
// BitShift.
bool readShiftsLeft(const Attributes& attributes);
// Gelu: by the hyperbolic tangent.
bool readIsApproximate(const Attributes& attributes);
// IsInf: which infinities count.
struct Infinities {
  bool negative, positive;

  explicit Infinities(const Attributes& attributes);
};
// Cast, CastLike.
SmallFloatRules readSmallFloatRules(const Attributes& attributes);

}  // namespace max::readers
