// SPDX-License-Identifier: Apache-2.0
// Attributes and inputs of reductions, for shape rules, fast and reference kernels.
#pragma once

#include <array>
#include <optional>

#include "base/shape.h"
#include "graph/node_inputs.h"

namespace max::readers {

// Reduce*: the axes are input 1; an absent or empty list means all of them, or none with noop_with_empty_axes.
struct Reduction {
  std::array<bool, kMaxRank> reduced{};
  bool keepsAxes = true;
};
// The rank of input 0 must be known. nullopt if the axes are unknown.
std::optional<Reduction> readReduction(const NodeInputs& inputs);
bool keepsAxes(const Attributes& attributes);

// ArgMax, ArgMin. The rank of input 0 must be known.
struct ArgSearch {
  int axis;
  bool keepsAxis, takesLast;
};
ArgSearch readArgSearch(const NodeInputs& inputs);

struct TopK {
  int axis;
  bool takesLargest, isSorted;
  std::optional<Dim> count;  // if it is known
};
TopK readTopK(const NodeInputs& inputs);

// CumSum, CumProd.
struct Cumulation {
  std::optional<int> axis;  // if it is known
  bool isExclusive, isReverse;
};
Cumulation readCumulation(const NodeInputs& inputs);

}  // namespace max::readers
