// SPDX-License-Identifier: Apache-2.0
#include "base/work_vector.h"

#include "base/tensor.h"

namespace max {

namespace {

// The number of smaller blocks depends on a kernel's tables, not on the length of an axis.
constexpr size_t kSmallestCounted = 16384;

// Precedes a counted block.
struct alignas(64) Header {
  Storage* storage;  // that contains both
};

}  // namespace

void* allocateWork(size_t bytes) {
  if (bytes < kSmallestCounted) return ::operator new(bytes);
  Ref<Storage> storage = allocateLastingStorage(bytes + sizeof(Header));
  void* const start = storage->data();
  return new (start) Header{storage.detach()} + 1;
}

void freeWork(void* block, size_t bytes) noexcept {
  if (bytes < kSmallestCounted) return ::operator delete(block);
  (static_cast<Header*>(block) - 1)->storage->release();
}

}  // namespace max
