// SPDX-License-Identifier: Apache-2.0
// Buffers of one output of a model, used again after their release: handle and block.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/ref.h"
#include "device/buffer.h"
#include "executor/stash.h"

namespace max {

class OutputPool;

class PooledBuffer final : public MaxBuffer {
 public:
  PooledBuffer(MaxStream& stream, const Layout& layout, Ref<Storage> block);
  ~PooledBuffer() override;

 private:
  friend class OutputPool;
  void dispose() noexcept override;

  Ref<OutputPool> pool_;  // while handed out
  bool idle_ = false;
};

class OutputPool : public RefCounted {
 public:
  // A buffer of this type on the stream, which is always the same.
  Ref<MaxBuffer> take(MaxStream& stream, DType dtype, const Shape& shape);
  // Frees the buffers that wait here.
  void trim() noexcept;
  // Of the buffers that wait here.
  size_t idleBytes() noexcept;
  // Buffers that come back from now on are freed.
  void close() noexcept;

 private:
  friend class PooledBuffer;
  void giveBack(std::unique_ptr<PooledBuffer> buffer) noexcept;

  static constexpr size_t kKept = 16;
  Stash<PooledBuffer, kKept> stash_;
  std::atomic<bool> closed_{false};
};

}  // namespace max
