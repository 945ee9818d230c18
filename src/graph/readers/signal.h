// SPDX-License-Identifier: Apache-2.0
// Attributes and inputs of Fourier transforms and mel filters, for shape rules, fast and reference kernels. The rank of
// input 0 of DFT and STFT must be known.
#pragma once

#include <optional>

#include "graph/node_inputs.h"

namespace max::readers {

// The single number in an input; nullopt if omitted or unknown.
std::optional<Dim> readOneNumber(const NodeInputs& inputs, size_t input);

// DFT.
struct Transform {
  bool isInverse, isOneSided;
  std::optional<int> axis;    // if known; never the last axis, of real and imaginary parts
  std::optional<Dim> length;  // values on both sides, if known; at least 1

  bool goesToReal() const { return isInverse && isOneSided; }
};
Transform readTransform(const NodeInputs& inputs);

// STFT.
struct Frames {
  bool isOneSided;
  std::optional<Dim> step, length;  // if known; at least 1
};
Frames readFrames(const NodeInputs& inputs);

// MelWeightMatrix: the type of the weights, a number type of whole bytes.
DType readMelType(const NodeInputs& inputs);

}  // namespace max::readers
