// SPDX-License-Identifier: Apache-2.0
// What attention and models that carry a state from token to token read of their attributes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace max::readers {

// Which axes of a tensor are the batch, the heads, the positions and the numbers of a head.
struct HeadLayout {
  int batch, heads, positions, size;

  std::array<int, 4> axes() const { return {batch, heads, positions, size}; }
};

// max.Attention. The expansions of ONNX's Attention and of those of com.microsoft make it.
struct Attention {
  HeadLayout queries, keys, values, output;
  float scale;
  bool zeroesMasked;  // what is masked throughout gives 0

  explicit Attention(const Attributes& attributes);
};

struct LinearAttention {
  int64_t queryHeads, heads;  // of keys and values, which several of queries share evenly
  std::string rule;           // "linear", "gated", "delta", "gated_delta"
  bool isGated, corrects;     // by the rule: decay and beta are there

  explicit LinearAttention(const Attributes& attributes);
  // Of the products of queries and keys of this many numbers.
  double scale(int64_t depth) const;

 private:
  float scale_;  // 0 = by the depth
};

// CausalConvWithState: the only activation is SiLU, which has two names.
bool readActivatesSilu(const Attributes& attributes);

}  // namespace max::readers
