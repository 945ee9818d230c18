// SPDX-License-Identifier: Apache-2.0
// Buffers of one output of a model, reused with handle and block after their release.
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
  // A buffer of this type on the stream, which must always be the same.
  Ref<MaxBuffer> take(MaxStream& stream, DType dtype, const Shape& shape);
  // Frees the pooled buffers.
  void trim() noexcept;
  // Bytes of the pooled buffers.
  size_t idleBytes() noexcept;
  // Buffers released from now on are freed.
  void close() noexcept;

 private:
  friend class PooledBuffer;
  void giveBack(std::unique_ptr<PooledBuffer> buffer) noexcept;

  static constexpr size_t kKept = 16;
  Stash<PooledBuffer, kKept> stash_;
  std::atomic<bool> closed_{false};
};

}  // namespace max
