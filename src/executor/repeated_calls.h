// SPDX-License-Identifier: Apache-2.0
// Calls that use the same memory as earlier ones, so that a driver can repeat their work.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "device/work_graph.h"
#include "executor/tensor_arg.h"

namespace max {

class RepeatedCalls {
 public:
  // The work of a call with this memory, recorded when it comes for the third time; NULL = run its steps.
  WorkGraph* find(std::span<const TensorArg> inputs, std::span<void* const> outputs,
                  FunctionRef<Ref<WorkGraph>()> record);

 private:
  static constexpr size_t kKept = 4;
  static constexpr int kFirstRecorded = 3;

  struct Call {
    std::vector<const void*> memory;  // of inputs, then of outputs
    int times = 0;
    Ref<WorkGraph> graph;

    bool uses(std::span<const TensorArg> inputs, std::span<void* const> outputs) const;
    void reset(std::span<const TensorArg> inputs, std::span<void* const> outputs);
  };

  std::array<Call, kKept> calls_;  // most recent first
  bool canRecord_ = true;          // until the driver says otherwise
};

}  // namespace max
