// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: which experts a token goes to, and what is common to the kernels of max.MoE and max.QMoE.
#pragma once

#include <cstdint>

#include "graph/readers/experts.h"

namespace max {

// The experts of one token and the weights of their results; `logits` and `mixing` [experts], `mixing` may be NULL.
// The softmax of logits mixes if there is nothing else. Among equals the last one is chosen, as ONNX Runtime does.
// `order` is memory for a number of each expert.
void routeToken(const readers::Experts& options, int64_t experts, const float* logits, const float* mixing,
                int32_t* order, int32_t* chosen, float* weights);

}  // namespace max
