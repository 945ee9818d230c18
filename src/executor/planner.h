// SPDX-License-Identifier: Apache-2.0
// Makes plans.
#pragma once

#include <span>

#include "executor/plan.h"
#include "executor/tensor_arg.h"

namespace max {

// The plan for these input types. Errors name the node.
// `settings`: PlanSettings::word().
Ref<Plan> makePlan(const Program& program, std::span<const TensorArg> inputs, uint32_t settings = 0);

// The continuation of `before` once its boundary values have these contents (Contents), or its node made these outputs
// (Node; NULL = not requested).
Ref<Plan> continuePlan(const Program& program, const Plan& before, std::span<const Ref<Tensor>> results);

}  // namespace max
