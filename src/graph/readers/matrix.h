// SPDX-License-Identifier: Apache-2.0
// What matrix products read of their attributes, and the activations that fused products and convolutions apply.
#pragma once

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace max::readers {

// MatMul, which has no attributes, Gemm and max.MatMul.
struct Product {
  bool transposesA, transposesB;
  float alpha;  // of the product
  float beta;   // Gemm: of what is added

  explicit Product(const Attributes& attributes);
};

// By ONNX's names, and those that the compiler has for operators that are several of ONNX's.
struct FusedActivation {
  std::string name;           // "" = none
  float alpha = 0, beta = 0;  // of those that have parameters; of Clip the bounds

  explicit FusedActivation(const Attributes& attributes);
};
bool hasActivation(const Attributes& attributes);

// max.MatMulNBits: rows of packed weights of 2, 4 or 8 bits, of which `block` share a scale.
struct PackedProduct {
  int64_t depth, columns, bits, block;

  explicit PackedProduct(const Attributes& attributes);
  int64_t blocks() const { return depth / block + (depth % block != 0); }  // of a row
};

}  // namespace max::readers
