// SPDX-License-Identifier: Apache-2.0
// What Fourier transforms and what speech models put behind them say: read once here for shape rules, fast and
// reference kernels. The rank of input 0 of DFT and STFT must be known.
#pragma once

#include <optional>

#include "graph/node_inputs.h"

namespace max::readers {

// The one number in an input; nullopt if it is omitted or its contents are not known.
std::optional<Dim> readOneNumber(const NodeInputs& inputs, size_t input);

// DFT.
struct Transform {
  bool isInverse, isOneSided;
  std::optional<int> axis;    // if it is known; the last one, of the parts of complex numbers, is none
  std::optional<Dim> length;  // values on both sides, if they are known; at least 1

  bool goesToReal() const { return isInverse && isOneSided; }
};
Transform readTransform(const NodeInputs& inputs);

// STFT.
struct Frames {
  bool isOneSided;
  std::optional<Dim> step, length;  // where they are known; at least 1
};
Frames readFrames(const NodeInputs& inputs);

// MelWeightMatrix: the type of the weights, which is one of numbers that fill bytes.
DType readMelType(const NodeInputs& inputs);

}  // namespace max::readers
