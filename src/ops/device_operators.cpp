// SPDX-License-Identifier: Apache-2.0
#include "ops/device_operators.h"

#include <algorithm>
#include <cstring>

#include "base/active_call.h"
#include "device/event.h"
#include "device/stream.h"

namespace max {

namespace {

constexpr size_t kPartBytes = size_t{4} << 20;

// Two blocks of page-locked memory that take turns: one is filled while the device reads the other.
class Ferry {
 public:
  Ferry(MaxDevice& device, MaxStream& stream) : stream_(stream) {
    for (Side& side : sides_)
      side = {device.allocate(kPartBytes, {.pinned = true}, stream), device.createEvent(false), false};
  }

  void carry(const Ref<Storage>& target, size_t offset, const std::byte* source, size_t bytes) {
    Side& side = sides_[next_];
    next_ = 1 - next_;
    if (side.isUsed) side.event->synchronize();
    std::memcpy(side.block->data(), source, bytes);
    stream_.copy({static_cast<std::byte*>(target->data()) + offset, target}, {side.block->data(), side.block}, bytes,
                 MAX_COPY_KIND_HOST_TO_DEVICE);
    stream_.record(*side.event);
    side.isUsed = true;
  }

 private:
  struct Side {
    Ref<Storage> block;
    Ref<MaxEvent> event;
    bool isUsed = false;
  };

  MaxStream& stream_;
  Side sides_[2];
  size_t next_ = 0;
};

}  // namespace

Ref<Storage> uploaded(const Tensor& tensor, MaxDevice& device) {
  MaxStream& stream = device.defaultStream();
  Ref<Storage> copy = device.allocate(tensor.bytes(), {}, stream);
  if (tensor.bytes() <= kPartBytes) {
    stream.copy({copy->data(), copy}, {const_cast<void*>(tensor.data()), tensor.storage()}, tensor.bytes(),
                MAX_COPY_KIND_HOST_TO_DEVICE);
    return copy;
  }
  Ferry ferry(device, stream);
  for (size_t done = 0; done < tensor.bytes(); done += kPartBytes) {
    checkInterrupt();
    ferry.carry(copy, done, tensor.as<std::byte>() + done, std::min(kPartBytes, tensor.bytes() - done));
  }
  return copy;
}

}  // namespace max
