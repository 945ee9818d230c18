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

// Matrices in memory line after line; the factors perhaps transposed.
struct DeviceProductShape {
  DType factors = DType::Invalid;
  DType results = DType::Invalid;  // the type of the factors, or float32
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  bool transposesA = false, transposesB = false;
  int64_t aStride = 0, bStride = 0;  // elements from line to line
  int64_t aBatch = 0, bBatch = 0;    // elements from matrix to matrix
};

class DeviceProduct : public RefCounted {
 public:
  virtual const char* name() const = 0;  // of what computes it
  virtual size_t workspaceBytes() const = 0;
  // Queues it. Memory that it uses is the caller's to keep.
  virtual void launch(MaxStream& stream, const void* a, const void* b, void* results, void* workspace) const = 0;
};

}  // namespace max
