// SPDX-License-Identifier: Apache-2.0
// Attributes of quantisation and of operators that read quantised tables.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "graph/node_inputs.h"

namespace max::readers {

// QuantizeLinear, DequantizeLinear.
struct Quantization {
  int64_t block;    // elements along the axis that share a scale; 0 = all
  DType precision;  // of the division; Invalid = the scale's
  DType output;     // Invalid = from the other operands
  bool saturates;   // of small floating-point types

  explicit Quantization(const Attributes& attributes);
  // The axis of the scales, if there are several; INVALID_ARGUMENT if out of range for this rank.
  int axis(int rank) const;

 private:
  int64_t axis_;
};

// The numbers that an 8-bit result may take: attributes `low` and `high` of the compiler's operators, within its type.
struct QuantizedRange {
  int32_t low, high;

  QuantizedRange(const Attributes& attributes, DType dtype);
};

// GatherBlockQuantized of com.microsoft: rows of a block-quantised table.
struct GatheredBlocks {
  bool isPacked;  // bytes contain several numbers each, along the last axis
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
