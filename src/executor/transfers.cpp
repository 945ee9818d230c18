// SPDX-License-Identifier: Apache-2.0
#include "executor/transfers.h"

#include <cstring>

#include "device/buffer.h"
#include "device/stream.h"

namespace max {

namespace {

constexpr int64_t kCopyGrain = 256 << 10;

class HostCopy final : public OpKernel {
 public:
  explicit HostCopy(size_t bytes) : bytes_(bytes) {}
  void run(const OpContext& context) const override {
    if (bytes_ <= static_cast<size_t>(kCopyGrain)) {
      std::memcpy(context.outputs[0], context.inputs[0], bytes_);
      return;
    }
    context.parallelFor(static_cast<int64_t>(bytes_), kCopyGrain, [&](int64_t begin, int64_t end, int) {
      std::memcpy(context.out<std::byte>() + begin, context.in<std::byte>(0) + begin, static_cast<size_t>(end - begin));
    });
  }

 private:
  size_t bytes_;
};

// The memory belongs to the call, which keeps it.
class StreamCopy final : public OpKernel {
 public:
  StreamCopy(size_t bytes, MaxCopyKind kind, std::string_view name) : bytes_(bytes), kind_(kind) {
    implementation = name;
  }
  void run(const OpContext& context) const override {
    context.place->stream->copy({context.outputs[0], nullptr}, {const_cast<void*>(context.inputs[0]), nullptr}, bytes_,
                                kind_);
  }

 private:
  size_t bytes_;
  MaxCopyKind kind_;
};

// Between accelerators, on the target's stream.
class DeviceCopyOp final : public OpKernel {
 public:
  explicit DeviceCopyOp(size_t bytes) : bytes_(bytes) { implementation = "copy_between_devices"; }
  void run(const OpContext& context) const override {
    copyBetween({context.outputs[0], nullptr}, *context.place->stream, {const_cast<void*>(context.inputs[0]), nullptr},
                *context.source->stream, bytes_);
  }

 private:
  size_t bytes_;
};

class Wait final : public OpKernel {
 public:
  Wait() { implementation = "wait_for_device"; }
  void run(const OpContext& context) const override { context.place->stream->waitUntilIdle(); }
};

}  // namespace

std::unique_ptr<OpKernel> makeCopy(size_t bytes, Memory source, Memory target) {
  if (source == kHostMemory && target == kHostMemory) return std::make_unique<HostCopy>(bytes);
  if (source == kHostMemory) return std::make_unique<StreamCopy>(bytes, MAX_COPY_KIND_HOST_TO_DEVICE, "copy_to_device");
  if (target == kHostMemory) return std::make_unique<StreamCopy>(bytes, MAX_COPY_KIND_DEVICE_TO_HOST, "copy_to_host");
  if (source != target) return std::make_unique<DeviceCopyOp>(bytes);
  return std::make_unique<StreamCopy>(bytes, MAX_COPY_KIND_DEVICE_TO_DEVICE, "copy_on_device");
}

std::unique_ptr<OpKernel> makeWait() { return std::make_unique<Wait>(); }

}  // namespace max
