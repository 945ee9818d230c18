// SPDX-License-Identifier: Apache-2.0
#include "executor/output_pool.h"

#include <utility>

#include "base/checked.h"
#include "base/forbid.h"
#include "device/memory_use.h"

namespace max {

namespace {

// A kept block may be this much larger than the request.
constexpr size_t kMaxWaste = 4096;

bool fits(size_t size, size_t wanted) { return size >= wanted && size / 2 <= wanted + kMaxWaste; }

}  // namespace

PooledBuffer::PooledBuffer(MaxStream& stream, const Layout& layout, Ref<Storage> block)
    : MaxBuffer(Ref<MaxStream>(&stream), layout, block, block->data()) {}

PooledBuffer::~PooledBuffer() {
  if (idle_) addLiveObjects(1);  // was uncounted when it became idle
  if (memory()) permit(memory()->data(), memory()->size());
}

void PooledBuffer::dispose() noexcept {
  const Ref<OutputPool> pool = std::move(pool_);
  pool->giveBack(std::unique_ptr<PooledBuffer>(this));
}

Ref<MaxBuffer> OutputPool::take(MaxStream& stream, DType dtype, const Shape& shape) {
  const size_t bytes = bytesFor(dtype, shape.count());
  std::unique_ptr<PooledBuffer> buffer = stash_.take();
  if (buffer && fits(buffer->memory()->size(), bytes)) {
    buffer->recycle(dtype, shape, buffer->memory(), buffer->data());
    buffer->idle_ = false;
    buffer->revive();
    addLiveObjects(1);
  } else {
    buffer.reset();  // before the new one exists
    buffer = std::make_unique<PooledBuffer>(stream, MaxBuffer::Layout::dense(dtype, shape),
                                            stream.device().allocate(bytes, {}, stream));
  }
  permitFirst(buffer->data(), bytes, buffer->memory()->size());
  buffer->pool_ = Ref<OutputPool>(this);
  return Ref<MaxBuffer>::adopt(buffer.release());
}

void OutputPool::giveBack(std::unique_ptr<PooledBuffer> buffer) noexcept {
  // A view of the buffer may keep its memory, which then cannot be reused.
  if (closed_.load(std::memory_order_relaxed) || !buffer->memory()->isUnique()) return;
  buffer->endUse();
  forgetUse(*buffer->memory());
  buffer->idle_ = true;
  addLiveObjects(-1);
  stash_.put(std::move(buffer));
}

void OutputPool::close() noexcept {
  closed_.store(true, std::memory_order_relaxed);
  trim();
}

void OutputPool::trim() noexcept {
  while (stash_.take()) {
  }
}

size_t OutputPool::idleBytes() noexcept {
  size_t bytes = 0;
  std::unique_ptr<PooledBuffer> taken[kKept];
  for (std::unique_ptr<PooledBuffer>& buffer : taken)
    if ((buffer = stash_.take())) bytes += buffer->memory()->size();
  for (std::unique_ptr<PooledBuffer>& buffer : taken)
    if (buffer) stash_.put(std::move(buffer));
  return bytes;
}

}  // namespace max
