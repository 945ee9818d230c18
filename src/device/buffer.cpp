// SPDX-License-Identifier: Apache-2.0
#include "device/buffer.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"

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

void appendTo(std::string& text, const BufferLayout& layout) {
  text += "[(";
  for (int i = 0; i < layout.shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(layout.shape[i]);
  text += "), ";
  text += briefNameOf(layout.dtype);
  text += ']';
}

void copyBytes(const MaxBuffer& target, size_t targetOffset, const MaxBuffer& source, size_t sourceOffset, size_t bytes,
               MaxStream& stream) {
  refuseStrings(target, "have no size in bytes");
  refuseStrings(source, "have no size in bytes");
  const MemoryRange to{static_cast<char*>(target.data()) + targetOffset, target.memory()};
  const MemoryRange from{static_cast<char*>(source.data()) + sourceOffset, source.memory()};
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

void copyElements(MaxBuffer& target, const MaxBuffer& source, MaxStream& stream) {
  if (target.isContiguous() && source.isContiguous()) return copyBytes(target, 0, source, 0, source.bytes(), stream);
  require(!isPacked(source.dtype()), MAX_STATUS_UNIMPLEMENTED, "Elements of ", source.dtype(),
          " cannot be copied one by one");
  if (&target.device() == &source.device())
    return stream.copyStrided({{target.data(), target.memory()},
                               {source.data(), source.memory()},
                               sizeOf(source.dtype()),
                               source.shape(),
                               byteStrides(target),
                               byteStrides(source)});
  require(target.isContiguous(), MAX_STATUS_UNIMPLEMENTED, "Copies between devices need a contiguous target");
  const Ref<MaxBuffer> dense = source.clone(source.stream());
  stream.waitFor(source.stream());
  copyElements(target, *dense, stream);
}

}  // namespace max

MaxBuffer::MaxBuffer(max::Ref<MaxStream> stream, const Layout& layout, max::Ref<max::Storage> memory, void* data)
    : stream_(std::move(stream)), layout_(layout), memory_(std::move(memory)), data_(data) {
  updateDerived();
}

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

void* MaxBuffer::mapToHost(MaxHostAccess access) {
  const bool writes = (access & MAX_HOST_ACCESS_WRITE) != 0;
  max::refuseStrings(*this, "cannot be mapped");
  max::require(!mapped_, MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_, " is mapped already");
  max::require(isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_,
               " is not contiguous and cannot be mapped");
  max::require(!writes || !isReadOnly(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_, " is read-only");
  if (isHostAccessible()) {
    stream_->waitUntilIdle();
    mapped_ = true;
    return data_;
  }
  max::AllocationOptions options;
  options.pinned = true;
  max::Ref<max::Storage> block = device().allocate(bytes_, options, *stream_);
  if ((access & MAX_HOST_ACCESS_READ) != 0)
    stream_->copy({block->data(), block}, {data_, memory_}, bytes_, MAX_COPY_KIND_DEVICE_TO_HOST);
  stream_->waitUntilIdle();
  mapped_ = true;
  staging_ = block;
  writesBack_ = writes;
  return block->data();
}

void MaxBuffer::unmapFromHost() {
  max::require(mapped_, MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_, " is not mapped");
  mapped_ = false;
  const max::Ref<max::Storage> block = std::exchange(staging_, nullptr);
  if (block && writesBack_)
    stream_->copy({data_, memory_}, {block->data(), block}, bytes_, MAX_COPY_KIND_HOST_TO_DEVICE);
}

void MaxBuffer::recycle(max::DType dtype, const max::Shape& shape, max::Ref<max::Storage> memory, void* data) {
  memory_ = std::move(memory);
  data_ = data;
  mapped_ = false;
  if (layout_.dtype == dtype && layout_.shape == shape && contiguous_ && !layout_.readOnly) return;
  layout_ = Layout::dense(dtype, shape);
  updateDerived();
}

void MaxBuffer::dropMemory() noexcept {
  memory_.reset();
  data_ = nullptr;
}
