// SPDX-License-Identifier: Apache-2.0
// What a fused chain of elementwise operators computes, in the graph's own terms. A target lowers it to what it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/tensor.h"
#include "graph/attributes.h"

namespace max {

struct OpSchema;

class Expression : public RefCounted {
 public:
  // A value of the expression.
  struct Operand {
    enum Kind : uint8_t { Omitted, Input, Constant, Step };
    Kind kind = Omitted;
    uint16_t index = 0;

    friend bool operator==(const Operand&, const Operand&) = default;
  };

  // One operator on values that come before it.
  struct Step {
    const OpSchema* schema;
    Attributes attributes;
    std::vector<Operand> operands;
  };

  std::vector<DType> inputs;                 // of the max.Elementwise node, in its order
  std::vector<Ref<const Tensor>> constants;  // of one element each
  std::vector<Step> steps;                   // the last one makes the result
};

}  // namespace max
