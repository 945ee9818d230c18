// SPDX-License-Identifier: Apache-2.0
// Attributes of matrix products, and the activations of fused products and convolutions.
#pragma once

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace max::readers {

// For MatMul, which has no attributes, Gemm and max.MatMul.
struct Product {
  bool transposesA, transposesB;
  float alpha;  // of the product
  float beta;   // Gemm: of the addend

  explicit Product(const Attributes& attributes);
};

// ONNX's names, and the compiler's for combinations of several ONNX operators.
struct FusedActivation {
  std::string name;           // "" = none
  float alpha = 0, beta = 0;  // if it has parameters; for Clip the bounds

  // Of attributes whose names start with a prefix: "", or "expand_" in max.ExpandConv.
  explicit FusedActivation(const Attributes& attributes, const std::string& prefix = "");
};
bool hasActivation(const Attributes& attributes);
// max.Conv: the residual is added to the activation's result, not to its argument.
bool addsResidualLast(const Attributes& attributes);

// max.MatMulNBits: rows of packed 2-, 4- or 8-bit weights; `block` of them share a scale.
struct PackedProduct {
  static constexpr int64_t kMostRounded = 256;  // numbers of a block of rounded rows, whose sums have 16 bits

  int64_t depth, columns, bits, block;
  bool mayRoundRows;  // to bytes: accuracy_level 4

  explicit PackedProduct(const Attributes& attributes);
  int64_t blocks() const { return depth / block + (depth % block != 0); }  // of a row
};

}  // namespace max::readers
