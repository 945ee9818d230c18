// SPDX-License-Identifier: Apache-2.0
// Attributes of max.MoE and max.QMoE.
#pragma once

#include <cstdint>

#include "graph/attributes.h"

namespace max::readers {

enum class ExpertActivation : uint8_t { Relu, Gelu, Silu, Identity, SwiGlu };

struct Experts {
  ExpertActivation activation;
  int64_t chosen;      // experts per token
  bool normalizes;     // their weights sum to 1
  bool isSparseMixer;  // SparseMixer weights
  bool isFused;        // the first matrix contains gate and linear part
  bool isInterleaved;  // interleaved, not one after the other
  float alpha, beta, limit;

  explicit Experts(const Attributes& attributes);
};

enum class ExpertLayer : uint8_t { First, Second, Third };  // into the experts, out of them, the linear part

// max.QMoE: how a layer is quantised.
struct ExpertWeights {
  int64_t bits;   // 2, 4 or 8
  int64_t block;  // weights that share a scale; 0 = a row

  ExpertWeights(const Attributes& attributes, ExpertLayer layer);
};

}  // namespace max::readers
