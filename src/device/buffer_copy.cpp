// SPDX-License-Identifier: Apache-2.0
// Copies between buffers, and between buffers and the caller's memory.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/active_call.h"
#include "device/buffer.h"
#include "device/device.h"
#include "device/memory_use.h"

namespace max {

namespace {

MaxCopyKind kindOf(const MaxDevice& target, const MaxDevice& source) {
  if (source.isHost()) return target.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_HOST_TO_DEVICE;
  return target.isHost() ? MAX_COPY_KIND_DEVICE_TO_HOST : MAX_COPY_KIND_DEVICE_TO_DEVICE;
}

bool isOfSameApi(const MaxDevice& a, const MaxDevice& b) { return std::string_view(a.api()) == b.api(); }

// A copy must run on a stream of one of the two devices, and host streams cannot access an accelerator's memory.
MaxStream& carrierOf(const MaxBuffer& target, const MaxBuffer& source, MaxStream& stream) {
  const MaxDevice& device = stream.device();
  const bool isOfOne = &device == &target.device() || &device == &source.device();
  if (isOfOne && (!device.isHost() || (target.isHost() && source.isHost()))) return stream;
  if (!source.isHost()) return source.stream();
  return target.isHost() ? stream : target.stream();
}

// Memory on the way between accelerators of different APIs goes through page-locked memory of both, in parts.
constexpr size_t kPartBytes = size_t{4} << 20;
constexpr AllocationOptions kPinned{.pinned = true};

// Reads the source part by part for host functions of the target's stream, one part ahead of them. It has a stream of
// its own, and waits for nothing but its copies: waits of the source's stream would be host functions too, and drivers
// may call those of all streams in turn, so that one waits for the other for ever.
class PartReader final : public RefCounted {
 public:
  PartReader(MemoryRange source, MaxStream& stream, size_t bytes)
      : source_(std::move(source)), bytes_(bytes), device_(&stream.device()) {
    for (Ref<Storage>& part : parts_) part = stream.device().allocate(kPartBytes, kPinned, stream);
  }

  // The parts are asked for in order. With the last one the device is let go: nothing of the program's waits for it
  // afterwards.
  void read(size_t part, void* target) {
    if (part == 0) begin(part);
    stream_->waitUntilIdle();
    begin(part + 1);
    std::memcpy(target, parts_[part % 2]->data(), bytesOf(part));
    if (bytesOf(part + 1) > 0) return;
    stream_.reset();
    device_.reset();
  }
  size_t bytesOf(size_t part) const { return std::min(kPartBytes, bytes_ - std::min(bytes_, part * kPartBytes)); }

 private:
  void begin(size_t part) {
    const size_t bytes = bytesOf(part);
    if (bytes == 0) return;
    if (!stream_) stream_ = device_->createStream(0);
    char* from = static_cast<char*>(source_.data) + part * kPartBytes;
    stream_->copy({parts_[part % 2]->data(), parts_[part % 2]}, {from, source_.owner}, bytes,
                  MAX_COPY_KIND_DEVICE_TO_HOST);
  }

  const MemoryRange source_;
  const size_t bytes_;
  Ref<Storage> parts_[2];
  Ref<MaxDevice> device_;
  Ref<MaxStream> stream_;
};

// What fits in one part takes the streams that are there.
void copyPart(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source, MaxStream& sourceStream,
              size_t bytes) {
  const Ref<Storage> taken = sourceStream.device().allocate(bytes, kPinned, sourceStream);
  const Ref<Storage> given = targetStream.device().allocate(bytes, kPinned, targetStream);
  sourceStream.copy({taken->data(), taken}, source, bytes, MAX_COPY_KIND_DEVICE_TO_HOST);
  targetStream.waitFor(sourceStream);
  targetStream.submit([taken, given, bytes] { std::memcpy(given->data(), taken->data(), bytes); });
  targetStream.copy(target, {given->data(), given}, bytes, MAX_COPY_KIND_HOST_TO_DEVICE);
}

void copyParts(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source, MaxStream& sourceStream,
               size_t bytes) {
  const Ref<PartReader> reader = makeRef<PartReader>(source, sourceStream, bytes);
  const Ref<Storage> given = targetStream.device().allocate(kPartBytes, kPinned, targetStream);
  targetStream.waitFor(sourceStream);
  for (size_t part = 0; reader->bytesOf(part) > 0; ++part) {
    targetStream.submit([reader, given, part] { reader->read(part, given->data()); });
    char* to = static_cast<char*>(target.data) + part * kPartBytes;
    targetStream.copy({to, target.owner}, {given->data(), given}, reader->bytesOf(part), MAX_COPY_KIND_HOST_TO_DEVICE);
  }
}

void copyByParts(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source, MaxStream& sourceStream,
                 size_t bytes) {
  for (MaxStream* each : {&sourceStream, &targetStream})
    each->requireUncaptured("A copy between devices of different APIs");
  (bytes <= kPartBytes ? copyPart : copyParts)(target, targetStream, source, sourceStream, bytes);
}

void copyThroughHost(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source,
                     MaxStream& sourceStream, size_t bytes, MaxStream& stream) {
  if (bytes == 0) return;
  stream.requireUncaptured("A copy between devices of different APIs");
  sourceStream.waitFor(stream);
  targetStream.waitFor(stream);
  copyByParts(target, targetStream, source, sourceStream, bytes);
  stream.waitFor(targetStream);
}

Shape byteStrides(const MaxBuffer& buffer) {
  Shape strides = buffer.strides();
  for (int i = 0; i < strides.rank(); ++i) strides[i] *= static_cast<int64_t>(sizeOf(buffer.dtype()));
  return strides;
}

// No work may be queued with the caller's memory if waiting for it fails or ends early.
template <class Queue>
void finishHere(MaxStream& stream, Queue&& queue) {
  stream.requireWaitable();
  const ActiveCallScope uninterrupted(nullptr);
  queue();
  stream.waitUntilIdle();
}

}  // namespace

void copyBytes(const MaxBuffer& target, size_t targetOffset, const MaxBuffer& source, size_t sourceOffset, size_t bytes,
               MaxStream& stream) {
  refuseStrings(target, "have no size in bytes");
  refuseStrings(source, "have no size in bytes");
  const MemoryRange to{static_cast<char*>(target.data()) + targetOffset, target.memory()};
  const MemoryRange from{static_cast<char*>(source.data()) + sourceOffset, source.memory()};
  AccessScope access(stream);
  access.reads(source);
  access.writes(target);
  const bool areAccelerators = !target.isHost() && !source.isHost();
  if (areAccelerators && !isOfSameApi(target.device(), source.device()))
    return copyThroughHost(to, target.stream(), from, source.stream(), bytes, stream);
  MaxStream& carrier = carrierOf(target, source, stream);
  carrier.waitFor(stream);
  if (areAccelerators && &target.device() != &source.device())
    carrier.copyPeer(to, target.device(), from, source.device(), bytes);
  else
    carrier.copy(to, from, bytes, kindOf(target.device(), source.device()));
  stream.waitFor(carrier);
}

void copyBetween(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source, MaxStream& sourceStream,
                 size_t bytes) {
  MaxDevice &to = targetStream.device(), &from = sourceStream.device();
  if (isOfSameApi(to, from)) {
    targetStream.waitFor(sourceStream);
    targetStream.copyPeer(target, to, source, from, bytes);
  } else {
    copyByParts(target, targetStream, source, sourceStream, bytes);
    if (bytes <= kPartBytes) return;  // read on its own stream
  }
  sourceStream.waitFor(targetStream);  // the memory may be written again, by a later call
}

void copyFromHost(MaxBuffer& target, ptrdiff_t offset, const void* source, size_t bytes, MaxStream& stream) {
  stream.check();
  if (bytes == 0) return;
  const MaxCopyKind kind = target.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_HOST_TO_DEVICE;
  const MemoryRange to{static_cast<char*>(target.data()) + offset, target.memory()};
  finishHere(stream, [&] {
    AccessScope access(stream);
    access.writes(target);
    stream.copy(to, {const_cast<void*>(source), nullptr}, bytes, kind);
  });
}

void copyToHost(const MaxBuffer& source, ptrdiff_t offset, void* target, size_t bytes, MaxStream& stream) {
  stream.check();
  if (bytes == 0) return;
  const MaxCopyKind kind = source.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_DEVICE_TO_HOST;
  const MemoryRange from{static_cast<char*>(source.data()) + offset, source.memory()};
  finishHere(stream, [&] {
    AccessScope access(stream);
    access.reads(source);
    stream.copy({target, nullptr}, from, bytes, kind);
  });
}

void copyElements(MaxBuffer& target, const MaxBuffer& source, MaxStream& stream) {
  if (target.isContiguous() && source.isContiguous()) return copyBytes(target, 0, source, 0, source.bytes(), stream);
  require(!isPacked(source.dtype()), MAX_STATUS_UNIMPLEMENTED, "Elements of ", source.dtype(),
          " cannot be copied one by one");
  if (&target.device() == &source.device()) {
    AccessScope access(stream);
    access.reads(source);
    access.writes(target);
    return stream.copyStrided({{target.data(), target.memory()},
                               {source.data(), source.memory()},
                               sizeOf(source.dtype()),
                               source.shape(),
                               byteStrides(target),
                               byteStrides(source)});
  }
  require(target.isContiguous(), MAX_STATUS_UNIMPLEMENTED, "Copies between devices need a contiguous target");
  for (MaxStream* each : {&stream, &source.stream()})
    each->requireUncaptured("A strided copy between devices, which takes memory for a moment,");
  const Ref<MaxBuffer> dense = source.clone(source.stream());
  copyElements(target, *dense, stream);
}

}  // namespace max
