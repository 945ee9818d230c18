// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: which experts a token goes to, and what is common to the kernels of max.MoE and max.QMoE.
#pragma once

#include <cstdint>
#include <string>

#include "ops/kernel.h"

namespace max {

enum class ExpertActivation : uint8_t { Relu, Gelu, Silu, Identity, SwiGlu };

// The node's attributes. The shape rule has checked them.
struct ExpertOptions {
  ExpertActivation activation;
  int64_t chosen;      // experts for each token
  bool normalize;      // their weights add up to 1
  bool sparseMixer;    // weights as SparseMixer has them
  bool isFused;        // the first matrix holds gate and linear part
  bool isInterleaved;  // in turn, not one behind the other
  float alpha, beta, limit;

  explicit ExpertOptions(const Node& node);
};

// The experts of one token and the weights of their results; `logits` and `mixing` [experts], `mixing` may be NULL.
// The softmax of logits mixes if there is nothing else. Among equals the last one is chosen, as ONNX Runtime does.
// `order` is memory for a number of each expert.
void routeToken(const ExpertOptions& options, int64_t experts, const float* logits, const float* mixing, int32_t* order,
                int32_t* chosen, float* weights);

}  // namespace max
