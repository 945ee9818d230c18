// SPDX-License-Identifier: Apache-2.0
// Attributes of operators with bodies.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

// Scan: the last inputs are read slice by slice, the first outputs are states.
struct Scan {
  size_t states, scanned, stacked;
  // One per scanned input or stacked output.
  std::vector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections;

  Scan(const Attributes& attributes, size_t inputs, size_t outputs);  // of the node
};

}  // namespace max::readers
