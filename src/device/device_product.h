// SPDX-License-Identifier: Apache-2.0
// Matrix products by the library of a device's vendor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"
#include "base/ref.h"
#include "max/model.h"

struct MaxStream;

namespace max {

// Matrices in memory line after line; the factors perhaps transposed. Results are alpha * a * b, perhaps with a bias
// for each column, and numbers that lie as the results do, and then perhaps Relu.
struct DeviceProductShape {
  DType factors = DType::Invalid;
  DType results = DType::Invalid;  // the type of the factors, or float32
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  bool transposesA = false, transposesB = false;
  int64_t aStride = 0, bStride = 0;  // elements from line to line
  int64_t aBatch = 0, bBatch = 0;    // elements from matrix to matrix
  float alpha = 1;
  bool hasBias = false, hasAddend = false, hasRelu = false;
  int64_t biasBatch = 0;  // elements from a matrix's bias to the next one's
};

struct DeviceProductOperands {
  const void *a = nullptr, *b = nullptr, *bias = nullptr, *addend = nullptr;  // NULL = the product has none
  void *results = nullptr, *workspace = nullptr;
};

class DeviceProduct : public RefCounted {
 public:
  virtual const char* name() const = 0;  // of what computes it
  virtual size_t workspaceBytes() const = 0;
  // Queues it. Memory that it uses is the caller's to keep.
  virtual void launch(MaxStream& stream, const DeviceProductOperands& operands) const = 0;
};

}  // namespace max
