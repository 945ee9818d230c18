// SPDX-License-Identifier: Apache-2.0
// What products and convolutions do to a sum before they store it.
#pragma once

#include <string>

#include "graph/readers/matrix.h"

namespace max {

// The function `name`, as `float name(float x, float alpha, float beta)`, which needs kernelFunctions(). Empty for an
// unknown activation.
std::string activationSource(const readers::FusedActivation& activation, const char* name = "activated");

}  // namespace max
