// SPDX-License-Identifier: Apache-2.0
// Attributes of attention and of sequence models with a state.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace max::readers {

// The batch, head, position and depth axes of a tensor.
struct HeadLayout {
  int batch, heads, positions, size;

  std::array<int, 4> axes() const { return {batch, heads, positions, size}; }
};

// max.Attention. The expansions of ONNX's Attention and of those of com.microsoft make it.
struct Attention {
  HeadLayout queries, keys, values, output;
  float scale;
  bool zeroesMasked;  // fully masked rows give 0

  explicit Attention(const Attributes& attributes);
};

struct LinearAttention {
  int64_t queryHeads, heads;  // of keys and values, shared evenly by the query heads
  std::string rule;           // "linear", "gated", "delta", "gated_delta"
  bool isGated, corrects;     // the rule uses decay and beta

  explicit LinearAttention(const Attributes& attributes);
  // The scale of products of queries and keys of this depth.
  double scale(int64_t depth) const;

 private:
  float scale_;  // 0 = from the depth
};

// max.Rotary.
struct Rotary {
  bool isInterleaved;  // neighbours are pairs, rather than elements of both halves
  int64_t rotated;     // elements of a row, the first ones; 0 = all

  explicit Rotary(const Attributes& attributes);
  int64_t sizeOf(int64_t row) const { return rotated > 0 ? rotated : row; }
};

// CausalConvWithState: the only activation is SiLU, which has two names.
bool readActivatesSilu(const Attributes& attributes);

}  // namespace max::readers
