// SPDX-License-Identifier: Apache-2.0
// Memory types of the device interface.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/tensor.h"
#include "max/buffer.h"
#include "max/device.h"

namespace max {

struct AllocationOptions {
  size_t alignment = 0;  // 0 = the device's default
  bool pinned = false;
  bool zeroed = false;
};

struct MemoryInfo {
  uint64_t free = 0;
  uint64_t total = 0;
};

// An address with its owner; without an owner the caller keeps it alive.
struct MemoryRange {
  void* data = nullptr;
  Ref<Storage> owner;
};

// The same elements at two addresses with different strides, which are in bytes.
struct StridedCopy {
  MemoryRange target;
  MemoryRange source;
  size_t elementSize = 0;
  Shape shape;
  Shape targetStrides;
  Shape sourceStrides;
};

// A pattern of 1, 2, 4, 8 or 16 bytes.
struct FillPattern {
  unsigned char bytes[16] = {};
  size_t size = 1;
};

}  // namespace max
