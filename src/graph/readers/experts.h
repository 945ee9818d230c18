// SPDX-License-Identifier: Apache-2.0
// What max.MoE and max.QMoE read of their attributes.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace max::readers {

enum class ExpertActivation : uint8_t { Relu, Gelu, Silu, Identity, SwiGlu };

struct Experts {
  ExpertActivation activation;
  int64_t chosen;      // experts for each token
  bool normalizes;     // their weights add up to 1
  bool isSparseMixer;  // weights as SparseMixer has them
  bool isFused;        // the first matrix holds gate and linear part
  bool isInterleaved;  // in turn, not one behind the other
  float alpha, beta, limit;

  explicit Experts(const Attributes& attributes);
};

enum class ExpertLayer : uint8_t { First, Second, Third };  // into the experts, out of them, the linear part

// max.QMoE: how a layer is quantised.
struct ExpertWeights {
  int64_t bits;   // 2, 4 or 8
  int64_t block;  // weights that share a scale; 0 = those of a row

  ExpertWeights(const Attributes& attributes, ExpertLayer layer);
};

}  // namespace max::readers
