// SPDX-License-Identifier: Apache-2.0
// Buffers that the host has mapped.
#include <utility>

#include "device/buffer.h"
#include "device/memory_use.h"

// The mapping is recorded before the wait, so that no write slips in between.
void* MaxBuffer::mapToHost(MaxHostAccess access) {
  const bool isExclusive = (access & MAX_HOST_ACCESS_EXCLUSIVE) != 0;
  const bool writes = (access & MAX_HOST_ACCESS_WRITE) != 0;
  max::refuseStrings(*this, "cannot be mapped");
  max::require(isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_,
               " is not contiguous and cannot be mapped");
  max::require(!writes || !isReadOnly(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_, " is read-only");
  stream_->requireWaitable();
  MapState none = MapState::None;
  max::require(mapState_.compare_exchange_strong(none, MapState::Changing), MAX_STATUS_FAILED_PRECONDITION,
               "Buffer of type ", layout_, " is already mapped");
  bool isBegun = false;
  try {
    max::beginMapping(*this, writes || isExclusive);
    isBegun = true;
    void* data = openMapping(access);
    mapping_ = access;
    mapState_ = MapState::Mapped;
    return data;
  } catch (...) {
    staging_.reset();
    if (isBegun) max::endMapping(*memory_, writes || isExclusive);
    mapState_ = MapState::None;
    throw;
  }
}

void* MaxBuffer::openMapping(MaxHostAccess access) {
  const bool writes = (access & (MAX_HOST_ACCESS_WRITE | MAX_HOST_ACCESS_EXCLUSIVE)) != 0;
  max::awaitUses(*this, writes ? max::AccessKind::Write : max::AccessKind::Read);
  stream_->waitUntilIdle();
  if ((access & MAX_HOST_ACCESS_EXCLUSIVE) != 0) requireSoleHolder();
  if (isHostAccessible()) return data_;
  max::AllocationOptions options;
  options.pinned = true;
  staging_ = device().allocate(bytes_, options, *stream_);
  if ((access & MAX_HOST_ACCESS_READ) != 0) {
    stream_->copy({staging_->data(), staging_}, {data_, memory_}, bytes_, MAX_COPY_KIND_DEVICE_TO_HOST);
    stream_->waitUntilIdle();
  }
  return staging_->data();
}

void MaxBuffer::requireSoleHolder() const {
  max::require(isUnique(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_, " is held ", referenceCount(),
               " times and cannot be mapped for exclusive access");
  max::require(memory_->isUnique(), MAX_STATUS_FAILED_PRECONDITION, "Memory of the buffer of type ", layout_,
               " is also held by views, exports or queued work and cannot be mapped for exclusive access");
}

void MaxBuffer::unmapFromHost() {
  if ((mapping_ & MAX_HOST_ACCESS_WRITE) != 0) stream_->requireUncaptured("A mapped buffer's way back");
  MapState mapped = MapState::Mapped;
  max::require(mapState_.compare_exchange_strong(mapped, MapState::Changing), MAX_STATUS_FAILED_PRECONDITION,
               "Buffer of type ", layout_, " is not mapped");
  const max::Ref<max::Storage> block = std::exchange(staging_, nullptr);
  const bool writesBack = block && (mapping_ & MAX_HOST_ACCESS_WRITE) != 0;
  try {
    if (writesBack) stream_->copy({data_, memory_}, {block->data(), block}, bytes_, MAX_COPY_KIND_HOST_TO_DEVICE);
  } catch (...) {
    closeMapping();
    throw;
  }
  closeMapping();
}

void MaxBuffer::closeMapping() noexcept {
  max::endMapping(*memory_, (mapping_ & (MAX_HOST_ACCESS_WRITE | MAX_HOST_ACCESS_EXCLUSIVE)) != 0);
  mapState_ = MapState::None;
}

void MaxBuffer::endUse() noexcept {
  if (mapState_ != MapState::None) closeMapping();
  staging_.reset();
}
