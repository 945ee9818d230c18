// SPDX-License-Identifier: Apache-2.0
// What products, convolutions and recurrent layers do to a sum.
#pragma once

#include <string>
#include <string_view>

#include "graph/readers/matrix.h"

namespace max {

// The function `name`, as `float name(float x, float alpha, float beta)`, which needs kernelFunctions(). Empty for an
// unknown activation.
std::string activationSource(std::string_view activation, std::string_view name);
inline std::string activationSource(const readers::FusedActivation& activation, const char* name = "activated") {
  return activationSource(activation.name, name);
}

}  // namespace max
