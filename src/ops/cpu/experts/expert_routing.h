// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: routing of tokens to experts, and code shared by the kernels of max.MoE and max.QMoE.
#pragma once

#include <cstdint>

#include "graph/readers/experts.h"

namespace max {

// The experts of one token and the weights of their results; `logits` and `mixing` [experts], `mixing` may be NULL.
// By default the softmax of the logits mixes. Among equal ones the last is chosen, like in ONNX Runtime. `order` is
// scratch memory with one entry per expert.
void routeToken(const readers::Experts& options, int64_t experts, const float* logits, const float* mixing,
                int32_t* order, int32_t* chosen, float* weights);

}  // namespace max
