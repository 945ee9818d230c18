// SPDX-License-Identifier: Apache-2.0
// Copies between buffers, and between buffers and the caller's memory.
#include <string_view>

#include "base/active_call.h"
#include "device/buffer.h"
#include "device/device_registry.h"
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

// Between accelerators of different APIs: through the host.
void copyThroughHost(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source,
                     MaxStream& sourceStream, size_t bytes, MaxStream& stream) {
  const Ref<MaxDevice> host = hostDevice();
  const Ref<Storage> staging = host->allocate(bytes, {}, host->defaultStream());
  sourceStream.waitFor(stream);
  sourceStream.copy({staging->data(), staging}, source, bytes, MAX_COPY_KIND_DEVICE_TO_HOST);
  targetStream.waitFor(stream);
  targetStream.waitFor(sourceStream);
  targetStream.copy(target, {staging->data(), staging}, bytes, MAX_COPY_KIND_HOST_TO_DEVICE);
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
  const Ref<MaxBuffer> dense = source.clone(source.stream());
  copyElements(target, *dense, stream);
}

}  // namespace max
