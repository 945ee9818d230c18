// SPDX-License-Identifier: Apache-2.0
// A plan in the making: the walk over the nodes fills it, layout gives everything its place.
#pragma once

#include <memory>
#include <vector>

#include "executor/plan.h"

namespace max {

struct DraftStep {
  std::unique_ptr<Kernel> kernel;
  const Node* node = nullptr;
  std::vector<int> inputs;
  std::vector<int> outputs;
};

struct Draft {
  Draft(const Program& source, uint32_t settings);

  // The state of a value that must be known by now (constants of the graph are taken up here).
  ValueState& state(int value);
  const Node& nodeOf(const Frame& frame) const { return *frame.block->nodes[frame.next].node; }

  const Program& program;
  std::vector<ValueState> values;  // by number; copies of outputs follow the program's own
  std::vector<DraftStep> steps;
  std::vector<Frame> frames;
  std::vector<bool> claimedOutputs;
  size_t dynamicCount = 0;
  Ref<Plan> plan;
};

// Places values, adds copies to outputs, fills plan->steps, table, outputs, arenaBytes and state.
void layOut(Draft& draft);

}  // namespace max
