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
  require(isValid(dtype), MAX_STATUS_INVALID_ARGUMENT, "There is no dtype with number ", static_cast<int32_t>(dtype));
  require(dtype != DType::String, MAX_STATUS_UNIMPLEMENTED, "Use maxBufferCreateStrings for buffers of strings");
}

bool isDense(const Shape& shape, const Shape& strides) {
  int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
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
    max::refuseStrings(*this, "cannot be viewed as another type");
  }
  max::require(isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", layout_,
               " is not contiguous, as a view with another type or shape requires");
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
