// SPDX-License-Identifier: Apache-2.0
// What quantisation and what reads quantised tables read of their attributes.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "graph/node_inputs.h"

namespace max::readers {

// QuantizeLinear, DequantizeLinear.
struct Quantization {
  int64_t block;    // elements along the axis that share a scale; 0 = all
  DType precision;  // of the division; Invalid = that of the scale
  DType output;     // Invalid = as the other operands say
  bool saturates;   // of small floating-point types

  explicit Quantization(const Attributes& attributes);
  // That of the scales, if there are several; INVALID_ARGUMENT if a tensor of this rank has none such.
  int axis(int rank) const;

 private:
  int64_t axis_;
};

// GatherBlockQuantized of com.microsoft: rows of a table that is quantised block by block.
struct GatheredBlocks {
  bool isPacked;  // bytes hold several numbers each, along the last axis
  int64_t bits;   // of a number
  int64_t block;  // numbers along the axis that share a scale; 0 = all

  explicit GatheredBlocks(const NodeInputs& inputs);
  // The rank of input 0 must be known.
  int gatheredAxis() const;
  int quantizedAxis() const;

 private:
  const NodeInputs& inputs_;
};

}  // namespace max::readers
