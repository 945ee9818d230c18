// SPDX-License-Identifier: Apache-2.0
// What products, convolutions and recurrent layers do to a sum.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"
#include "graph/readers/matrix.h"

namespace max {

// The function `name`, as `float name(float x, float alpha, float beta)`, which needs kernelFunctions(). Empty for an
// unknown activation.
std::string activationSource(std::string_view activation, std::string_view name);
inline std::string activationSource(const readers::FusedActivation& activation, const char* name = "activated") {
  return activationSource(activation.name, name);
}

// The bias and the residual of a convolution whose kernel has a `sum` for result i, of a filter.
struct Addends {
  // By their numbers in the node, which may have neither.
  Addends(const Node& node, size_t bias, size_t residual);

  std::string parameters, given;  // of functions that take them, each behind a comma
  std::string before, after;      // statements before the activation; what is added to its result
};

}  // namespace max
