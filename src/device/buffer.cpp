// SPDX-License-Identifier: Apache-2.0
#include "device/buffer.h"

#include <algorithm>
#include <utility>

#include "base/active_call.h"
#include "base/checked.h"
#include "device/memory_use.h"

namespace max {

namespace {

// Complex numbers are two floats, so they need a float's alignment.
size_t alignmentOf(DType dtype) {
  const bool isComplex = dtype == DType::Complex64 || dtype == DType::Complex128;
  return std::max<size_t>(isComplex ? sizeOf(dtype) / 2 : sizeOf(dtype), 1);
}

void requireElements(DType dtype) {
  require(isValid(dtype), MAX_STATUS_INVALID_ARGUMENT, "There is no dtype with the number ",
          static_cast<int32_t>(dtype));
  require(dtype != DType::String, MAX_STATUS_UNIMPLEMENTED, "Buffers of strings are made by maxBufferCreateStrings");
}

bool isDense(const Shape& shape, const Shape& strides) {
  int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

MaxCopyKind kindOf(const MaxDevice& target, const MaxDevice& source) {
  if (source.isHost()) return target.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_HOST_TO_DEVICE;
  return target.isHost() ? MAX_COPY_KIND_DEVICE_TO_HOST : MAX_COPY_KIND_DEVICE_TO_DEVICE;
}

bool isOfSameApi(const MaxDevice& a, const MaxDevice& b) { return std::string_view(a.api()) == b.api(); }

// Only a stream of one of the two devices can carry a copy, and one of the host cannot reach an accelerator's memory.
MaxStream& carrierOf(const MaxBuffer& target, const MaxBuffer& source, MaxStream& stream) {
  const MaxDevice& device = stream.device();
  const bool isOfOne = &device == &target.device() || &device == &source.device();
  if (isOfOne && (!device.isHost() || (target.isHost() && source.isHost()))) return stream;
  if (!source.isHost()) return source.stream();
  return target.isHost() ? stream : target.stream();
}

// Between accelerators of different APIs: by way of the host.
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

}  // namespace

bool isAlignedFor(DType dtype, const void* data) { return reinterpret_cast<uintptr_t>(data) % alignmentOf(dtype) == 0; }

void requireReach(const BufferLayout& layout) {
  if (layout.shape.count() == 0) return;
  int64_t reach = 0;
  for (int i = 0; i < layout.shape.rank(); ++i) {
    const int64_t stride = checkedMultiply(layout.strides[i], layout.strides[i] < 0 ? -1 : 1);
    reach = checkedAdd(reach, checkedMultiply(stride, layout.shape[i] - 1));
  }
  static_cast<void>(
      checkedMultiply(checkedAdd(reach, 1), static_cast<int64_t>(std::max<size_t>(bitsOf(layout.dtype), 8))));
}

BufferLayout BufferLayout::dense(DType dtype, const Shape& shape) {
  BufferLayout layout;
  layout.dtype = dtype;
  layout.shape = shape;
  static_cast<void>(shape.count());  // throws if a dimension is negative or the product overflows
  layout.strides = contiguousStrides(shape);
  return layout;
}

void appendTo(std::string& text, const BufferLayout& layout) { text += concat(layout.dtype, layout.shape); }

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

namespace {

// Nothing may be queued with the caller's memory if the wait for it is refused or ends early.
template <class Queue>
void finishHere(MaxStream& stream, Queue&& queue) {
  stream.requireWaitable();
  const ActiveCallScope uninterrupted(nullptr);
  queue();
  stream.waitUntilIdle();
}

}  // namespace

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

MaxBuffer::MaxBuffer(max::Ref<MaxStream> stream, const Layout& layout, max::Ref<max::Storage> memory, void* data)
    : stream_(std::move(stream)), layout_(layout), memory_(std::move(memory)), data_(data) {
  updateDerived();
}

MaxBuffer::~MaxBuffer() { endUse(); }

void MaxBuffer::updateDerived() {
  count_ = layout_.shape.count();
  bytes_ = max::bytesFor(layout_.dtype, count_);
  contiguous_ = count_ == 0 || max::isDense(layout_.shape, layout_.strides);
}

max::Ref<MaxBuffer> MaxBuffer::allocate(MaxStream& stream, max::DType dtype, const max::Shape& shape,
                                        const max::AllocationOptions& options) {
  max::requireElements(dtype);
  const size_t bytes = max::bytesFor(dtype, shape.count());
  Layout layout = Layout::dense(dtype, shape);
  layout.pinned = options.pinned;
  max::Ref<max::Storage> memory = stream.device().allocate(bytes, options, stream);
  void* data = memory->data();
  return max::makeRef<MaxBuffer>(max::Ref<MaxStream>(&stream), layout, std::move(memory), data);
}

max::Ref<MaxBuffer> MaxBuffer::fromTensor(MaxStream& stream, const max::Tensor& tensor) {
  Layout layout = Layout::dense(tensor.dtype(), tensor.shape());
  layout.readOnly = true;
  return max::makeRef<MaxBuffer>(max::Ref<MaxStream>(&stream), layout, tensor.storage(),
                                 const_cast<void*>(tensor.data()));
}

max::Ref<max::Tensor> MaxBuffer::toTensor() const {
  max::require(isHostAccessible() && isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_,
               isHostAccessible() ? " is not contiguous" : " is not in host memory");
  return max::makeRef<max::Tensor>(layout_.dtype, layout_.shape, data_, memory_);
}

max::Ref<MaxBuffer> MaxBuffer::view(const Layout& layout, ptrdiff_t byteOffset) const {
  void* data = data_ ? static_cast<char*>(data_) + byteOffset : nullptr;
  return max::makeRef<MaxBuffer>(stream_, layout, memory_, data);
}

max::Ref<MaxBuffer> MaxBuffer::reinterpret(max::DType dtype, const max::Shape& shape) const {
  if (dtype != max::DType::String || layout_.dtype != dtype) {
    max::requireElements(dtype);
    max::refuseStrings(*this, "cannot be seen as another type");
  }
  max::require(isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_,
               " is not contiguous; a view with another type or shape needs it to be");
  Layout layout = Layout::dense(dtype, shape);
  layout.readOnly = layout_.readOnly;
  layout.pinned = layout_.pinned;
  const size_t needed = max::bytesFor(dtype, shape.count());
  max::require(needed == bytes_, MAX_STATUS_INVALID_ARGUMENT, "View of type ", layout, " has ", needed,
               " bytes, the buffer of type ", layout_, " has ", bytes_);
  max::require(max::isAlignedFor(dtype, data_), MAX_STATUS_INVALID_ARGUMENT, "Buffer of type ", layout_,
               " is not aligned for elements of ", dtype);
  return view(layout, 0);
}

max::Ref<MaxBuffer> MaxBuffer::clone(MaxStream& stream) const {
  if (layout_.dtype == max::DType::String) return max::cloneStrings(*this, stream);
  max::Ref<MaxBuffer> copy = allocate(stream, layout_.dtype, layout_.shape);
  max::copyElements(*copy, *this, stream);
  return copy;
}

// A mapping is noted with the memory before the wait, so that no write slips in between.
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
               "Buffer of type ", layout_, " is mapped already");
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
               " is held by views, exports or queued work too, and cannot be mapped for exclusive access");
}

void MaxBuffer::unmapFromHost() {
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

void MaxBuffer::recycle(max::DType dtype, const max::Shape& shape, max::Ref<max::Storage> memory, void* data) {
  memory_ = std::move(memory);
  data_ = data;
  if (layout_.dtype == dtype && layout_.shape == shape && contiguous_ && !layout_.readOnly) return;
  layout_ = Layout::dense(dtype, shape);
  updateDerived();
}

void MaxBuffer::dropMemory() noexcept {
  memory_.reset();
  data_ = nullptr;
}
