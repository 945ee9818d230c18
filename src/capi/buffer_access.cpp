// SPDX-License-Identifier: Apache-2.0
// What a buffer is, and its memory: properties, views, one element, the host's access.
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "device/buffer.h"

using max::DType;
using max::capi::clearOutput;
using max::capi::getValue;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

template <class Value, class Getter>
MaxStatus getPointer(const MaxBuffer* buffer, Value** out, const char* name, Getter getter) {
  return guard([&] {
    clearOutput(out, name);
    requireArgument(buffer, "buffer");
    *out = getter(*buffer);
  });
}

void* hostData(const MaxBuffer& buffer) {
  max::refuseStrings(buffer, "are no bytes");
  max::require(buffer.isHostAccessible(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(), " is on ",
               buffer.device().displayName(), "; the host reaches it through maxBufferMapToHost");
  return buffer.data();
}

// One element: its byte and, for types below 8 bits, the bits within it.
struct Element {
  char* byte;
  int shift;
};

Element locate(const MaxBuffer& buffer, const int64_t* indices, int32_t count, size_t size) {
  max::require(count == buffer.rank(), MAX_STATUS_INVALID_ARGUMENT, "Number of indices (", count,
               ") does not match the rank of the buffer of type ", buffer.layout());
  if (count > 0) requireArgument(indices, "indices");
  max::refuseStrings(buffer, "have no size in bytes");
  max::require(size == max::sizeOf(buffer.dtype()), MAX_STATUS_INVALID_ARGUMENT, "Size of an element of ",
               buffer.dtype(), " is ", max::sizeOf(buffer.dtype()), ", not ", size);
  int64_t position = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t dim = buffer.shape()[i];
    max::require(indices[i] >= -dim && indices[i] < dim, MAX_STATUS_OUT_OF_RANGE, "Index ", indices[i],
                 " is out of range for dimension ", i, " of size ", dim);
    position += (indices[i] < 0 ? indices[i] + dim : indices[i]) * buffer.strides()[i];
  }
  const int64_t bit = position * static_cast<int64_t>(max::bitsOf(buffer.dtype()));
  return {static_cast<char*>(buffer.data()) + bit / 8, static_cast<int>(bit % 8)};
}

MaxCopyKind readKind(const MaxBuffer& buffer) {
  return buffer.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_DEVICE_TO_HOST;
}

MaxCopyKind writeKind(const MaxBuffer& buffer) {
  return buffer.isHost() ? MAX_COPY_KIND_HOST_TO_HOST : MAX_COPY_KIND_HOST_TO_DEVICE;
}

unsigned maskOf(DType dtype) { return (1u << max::bitsOf(dtype)) - 1; }

// A packed element lies in one byte, or across two.
struct PackedBytes {
  unsigned char bytes[2] = {};
  size_t count;

  PackedBytes(const MaxBuffer& buffer, const Element& element)
      : count((static_cast<size_t>(element.shift) + max::bitsOf(buffer.dtype()) + 7) / 8) {
    buffer.stream().copy({bytes, nullptr}, {element.byte, buffer.memory()}, count, readKind(buffer));
    buffer.stream().waitUntilIdle();
  }
  unsigned value() const { return bytes[0] | static_cast<unsigned>(bytes[1]) << 8; }
  void set(unsigned value) {
    bytes[0] = static_cast<unsigned char>(value);
    bytes[1] = static_cast<unsigned char>(value >> 8);
  }
};

void readElement(const MaxBuffer& buffer, const Element& element, void* out, size_t size) {
  if (max::isPacked(buffer.dtype())) {
    const unsigned value = PackedBytes(buffer, element).value() >> element.shift;
    *static_cast<unsigned char*>(out) = static_cast<unsigned char>(value & maskOf(buffer.dtype()));
    return;
  }
  buffer.stream().copy({out, nullptr}, {element.byte, buffer.memory()}, size, readKind(buffer));
  buffer.stream().waitUntilIdle();
}

void writeElement(MaxBuffer& buffer, const Element& element, const void* value, size_t size) {
  std::optional<PackedBytes> packed;
  if (max::isPacked(buffer.dtype())) {
    packed.emplace(buffer, element);
    const unsigned mask = maskOf(buffer.dtype()) << element.shift;
    const unsigned bits = static_cast<unsigned>(*static_cast<const unsigned char*>(value)) << element.shift;
    packed->set((packed->value() & ~mask) | (bits & mask));
    value = packed->bytes;
    size = packed->count;
  }
  buffer.stream().copy({element.byte, buffer.memory()}, {const_cast<void*>(value), nullptr}, size, writeKind(buffer));
  buffer.stream().waitUntilIdle();
}

// Without a shape: the buffer's, with the last dimension scaled by the ratio of the element sizes.
max::Shape scaledShape(const MaxBuffer& buffer, DType dtype) {
  max::Shape shape = buffer.shape();
  const size_t from = max::bitsOf(buffer.dtype());
  const size_t to = max::bitsOf(dtype);
  if (from == to || to == 0) return shape;
  max::require(shape.rank() > 0, MAX_STATUS_INVALID_ARGUMENT, "The shape of a scalar of ", buffer.dtype(),
               " cannot be deduced for ", dtype);
  const size_t bits = max::checkedMultiply(static_cast<size_t>(shape.back()), from);
  max::require(bits % to == 0, MAX_STATUS_INVALID_ARGUMENT, "Last dimension of the buffer of type ", buffer.layout(),
               " does not hold whole elements of ", dtype);
  shape[shape.rank() - 1] = static_cast<int64_t>(bits / to);
  return shape;
}

// Replaces one dimension of -1 by what the others leave.
max::Shape completedShape(const MaxBuffer& buffer, DType dtype, max::Shape shape) {
  int open = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != -1) continue;
    max::require(open < 0, MAX_STATUS_INVALID_ARGUMENT, "Shape ", shape, " has more than one dimension of -1");
    open = i;
  }
  if (open < 0) return shape;
  shape[open] = 1;
  const size_t unit = max::bytesFor(dtype, shape.count());
  max::require(unit > 0 && buffer.bytes() % unit == 0, MAX_STATUS_INVALID_ARGUMENT, "Dimension ", open,
               " of the view cannot be deduced: the buffer has ", buffer.bytes(), " bytes, the others take ", unit);
  shape[open] = static_cast<int64_t>(buffer.bytes() / unit);
  return shape;
}

}  // namespace

MaxStatus maxBufferGetDevice(const MaxBuffer* buffer, MaxDevice** outDevice) {
  return getPointer(buffer, outDevice, "outDevice", [](const MaxBuffer& b) { return &b.device(); });
}

MaxStatus maxBufferGetStream(const MaxBuffer* buffer, MaxStream** outStream) {
  return getPointer(buffer, outStream, "outStream", [](const MaxBuffer& b) { return &b.stream(); });
}

MaxStatus maxBufferGetDType(const MaxBuffer* buffer, MaxDType* outDType) {
  return getValue(buffer, "buffer", outDType, "outDType",
                  [](const MaxBuffer& b) { return static_cast<MaxDType>(b.dtype()); });
}

MaxStatus maxBufferGetRank(const MaxBuffer* buffer, int32_t* outRank) {
  return getValue(buffer, "buffer", outRank, "outRank", [](const MaxBuffer& b) { return b.rank(); });
}

MaxStatus maxBufferGetShape(const MaxBuffer* buffer, const int64_t** outShape) {
  return getPointer(buffer, outShape, "outShape", [](const MaxBuffer& b) { return b.shape().data(); });
}

MaxStatus maxBufferGetStrides(const MaxBuffer* buffer, const int64_t** outStrides) {
  return getPointer(buffer, outStrides, "outStrides", [](const MaxBuffer& b) { return b.strides().data(); });
}

MaxStatus maxBufferGetElementCount(const MaxBuffer* buffer, int64_t* outCount) {
  return getValue(buffer, "buffer", outCount, "outCount", [](const MaxBuffer& b) { return b.count(); });
}

MaxStatus maxBufferGetByteCount(const MaxBuffer* buffer, size_t* outByteCount) {
  return getValue(buffer, "buffer", outByteCount, "outByteCount", [](const MaxBuffer& b) { return b.bytes(); });
}

MaxStatus maxBufferGetElementSize(const MaxBuffer* buffer, size_t* outSize) {
  return getValue(buffer, "buffer", outSize, "outSize",
                  [](const MaxBuffer& b) { return b.dtype() == DType::String ? size_t{0} : max::sizeOf(b.dtype()); });
}

MaxStatus maxBufferIsContiguous(const MaxBuffer* buffer, int32_t* outIsContiguous) {
  return getValue(buffer, "buffer", outIsContiguous, "outIsContiguous",
                  [](const MaxBuffer& b) { return b.isContiguous(); });
}

MaxStatus maxBufferIsHost(const MaxBuffer* buffer, int32_t* outIsHost) {
  return getValue(buffer, "buffer", outIsHost, "outIsHost", [](const MaxBuffer& b) { return b.isHost(); });
}

MaxStatus maxBufferIsPinned(const MaxBuffer* buffer, int32_t* outIsPinned) {
  return getValue(buffer, "buffer", outIsPinned, "outIsPinned", [](const MaxBuffer& b) { return b.isPinned(); });
}

MaxStatus maxBufferIsReadOnly(const MaxBuffer* buffer, int32_t* outIsReadOnly) {
  return getValue(buffer, "buffer", outIsReadOnly, "outIsReadOnly", [](const MaxBuffer& b) { return b.isReadOnly(); });
}

MaxStatus maxBufferGetData(const MaxBuffer* buffer, const void** outData) {
  return getPointer(buffer, outData, "outData", hostData);
}

MaxStatus maxBufferGetMutableData(MaxBuffer* buffer, void** outData) {
  return getPointer(buffer, outData, "outData", [](const MaxBuffer& b) {
    max::capi::requireWritable(b);
    return hostData(b);
  });
}

MaxStatus maxBufferGetAddress(const MaxBuffer* buffer, uint64_t* outAddress) {
  return getValue(buffer, "buffer", outAddress, "outAddress",
                  [](const MaxBuffer& b) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(b.data())); });
}

MaxStatus maxBufferSlice(const MaxBuffer* buffer, const MaxSliceKind* kinds, const int64_t* starts,
                         const int64_t* stops, const int64_t* steps, int32_t count, MaxBuffer** outView) {
  return guard([&] {
    clearOutput(outView, "outView");
    requireArgument(buffer, "buffer");
    max::require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, "Number of steps of a slice is negative: ", count);
    if (count > 0) requireArgument(kinds, "kinds");
    if (count > 0) requireArgument(starts, "starts");
    *outView = max::sliceBuffer(*buffer, kinds, starts, stops, steps, count).detach();
  });
}

MaxStatus maxBufferView(const MaxBuffer* buffer, MaxDType dtype, int32_t rank, const int64_t* shape,
                        MaxBuffer** outView) {
  return guard([&] {
    clearOutput(outView, "outView");
    requireArgument(buffer, "buffer");
    const auto type = static_cast<DType>(dtype);
    const max::Shape wanted =
        shape ? completedShape(*buffer, type, max::capi::readShape(rank, shape)) : scaledShape(*buffer, type);
    *outView = buffer->reinterpret(type, wanted).detach();
  });
}

MaxStatus maxBufferMapToHost(MaxBuffer* buffer, MaxHostAccess access, void** outData) {
  return guard([&] {
    clearOutput(outData, "outData");
    requireArgument(buffer, "buffer");
    max::require(access >= 1 && access <= (MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE), MAX_STATUS_INVALID_ARGUMENT,
                 "There is no host access ", access);
    *outData = buffer->mapToHost(access);
  });
}

MaxStatus maxBufferUnmapFromHost(MaxBuffer* buffer) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    buffer->unmapFromHost();
  });
}

MaxStatus maxBufferRead(const MaxBuffer* buffer, const int64_t* indices, int32_t count, void* outElement, size_t size) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(outElement, "outElement");
    readElement(*buffer, locate(*buffer, indices, count, size), outElement, size);
  });
}

MaxStatus maxBufferWrite(MaxBuffer* buffer, const int64_t* indices, int32_t count, const void* element, size_t size) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(element, "element");
    max::capi::requireWritable(*buffer);
    writeElement(*buffer, locate(*buffer, indices, count, size), element, size);
  });
}
