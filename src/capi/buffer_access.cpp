// SPDX-License-Identifier: Apache-2.0
// What a buffer is, and its memory: properties, views, one element, the host's access.
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "device/buffer.h"

using max::DType;
using max::capi::clearOutput;
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

MaxBufferFlags flagsOf(const MaxBuffer& buffer) {
  return (buffer.isContiguous() ? MAX_BUFFER_FLAG_CONTIGUOUS : 0) | (buffer.isHost() ? MAX_BUFFER_FLAG_HOST : 0) |
         (buffer.isPinned() ? MAX_BUFFER_FLAG_PINNED : 0) | (buffer.isReadOnly() ? MAX_BUFFER_FLAG_READ_ONLY : 0);
}

// Strings have no bytes that a program could reach.
MaxBufferInfo infoOf(const MaxBuffer& buffer) {
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  info.validMask = MAX_BUFFER_INFO_DTYPE | MAX_BUFFER_INFO_SHAPE | MAX_BUFFER_INFO_STRIDES |
                   MAX_BUFFER_INFO_ELEMENT_COUNT | MAX_BUFFER_INFO_DEVICE | MAX_BUFFER_INFO_STREAM |
                   MAX_BUFFER_INFO_FLAGS;
  info.dtype = static_cast<MaxDType>(buffer.dtype());
  info.rank = buffer.rank();
  info.shape = buffer.shape().data();
  info.strides = buffer.strides().data();
  info.elementCount = buffer.count();
  info.device = &buffer.device();
  info.stream = &buffer.stream();
  info.flags = flagsOf(buffer);
  if (buffer.dtype() == DType::String) return info;
  info.validMask |= MAX_BUFFER_INFO_BYTES | MAX_BUFFER_INFO_ADDRESS;
  info.byteCount = buffer.bytes();
  info.elementSize = max::sizeOf(buffer.dtype());
  info.address = reinterpret_cast<uintptr_t>(buffer.data());
  return info;
}

void* hostData(const MaxBuffer& buffer) {
  max::refuseStrings(buffer, "are not bytes");
  max::require(buffer.isHostAccessible(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(), " is on ",
               buffer.device().displayName(), "; use maxBufferMapToHost for host access");
  return buffer.data();
}

// One element: bytes from the start of the buffer's data and, for types below 8 bits, the bits within the byte.
struct Element {
  ptrdiff_t offset;
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
  return {bit / 8, static_cast<int>(bit % 8)};
}

unsigned maskOf(DType dtype) { return (1u << max::bitsOf(dtype)) - 1; }

// A packed element lies in one byte, or across two.
struct PackedBytes {
  unsigned char bytes[2] = {};
  size_t count;

  PackedBytes(const MaxBuffer& buffer, const Element& element)
      : count((static_cast<size_t>(element.shift) + max::bitsOf(buffer.dtype()) + 7) / 8) {
    max::copyToHost(buffer, element.offset, bytes, count, buffer.stream());
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
  max::copyToHost(buffer, element.offset, out, size, buffer.stream());
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
  max::copyFromHost(buffer, element.offset, value, size, buffer.stream());
}

// The buffer's, with the last dimension scaled by the ratio of the element sizes.
max::Shape scaledShape(const MaxBuffer& buffer, DType dtype) {
  max::Shape shape = buffer.shape();
  const size_t from = max::bitsOf(buffer.dtype());
  const size_t to = max::bitsOf(dtype);
  if (from == to || to == 0) return shape;
  max::require(shape.rank() > 0, MAX_STATUS_INVALID_ARGUMENT, "The shape of a scalar of ", buffer.dtype(),
               " cannot be deduced for ", dtype);
  const size_t bits = max::checkedMultiply(static_cast<size_t>(shape.back()), from);
  max::require(bits % to == 0, MAX_STATUS_INVALID_ARGUMENT, "Last dimension of the buffer of type ", buffer.layout(),
               " does not contain whole elements of ", dtype);
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

MaxStatus maxBufferGetInfo(const MaxBuffer* buffer, MaxBufferInfo* outInfo) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(outInfo, "outInfo");
    max::capi::writeReport(outInfo, infoOf(*buffer), "MaxBufferInfo");
  });
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

MaxStatus maxBufferSlice(const MaxBuffer* buffer, const MaxSliceKind* kinds, const int64_t* starts,
                         const int64_t* stops, const int64_t* steps, int32_t count, MaxBuffer** outView) {
  return guard([&] {
    clearOutput(outView, "outView");
    requireArgument(buffer, "buffer");
    max::capi::requireCount(count, "count");
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
    const bool isDeduced = rank == -1;
    const max::Shape wanted =
        isDeduced ? scaledShape(*buffer, type) : completedShape(*buffer, type, max::capi::readShape(rank, shape));
    *outView = buffer->reinterpret(type, wanted).detach();
  });
}

MaxStatus maxBufferMapToHost(MaxBuffer* buffer, MaxHostAccess access, void** outData) {
  return guard([&] {
    clearOutput(outData, "outData");
    requireArgument(buffer, "buffer");
    constexpr MaxHostAccess kAll = MAX_HOST_ACCESS_READ | MAX_HOST_ACCESS_WRITE | MAX_HOST_ACCESS_EXCLUSIVE;
    max::require((access & ~kAll) == 0 && (access & ~MAX_HOST_ACCESS_EXCLUSIVE) != 0, MAX_STATUS_INVALID_ARGUMENT,
                 "Host access is ", access, "; it must be READ (1), WRITE (2) or both, optionally with EXCLUSIVE (4)");
    *outData = buffer->mapToHost(access);
  });
}

MaxStatus maxBufferUnmapFromHost(MaxBuffer* buffer) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    buffer->unmapFromHost();
  });
}

MaxStatus maxBufferRead(const MaxBuffer* buffer, const int64_t* indices, int32_t count, size_t byteCount,
                        void* outElement) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(outElement, "outElement");
    readElement(*buffer, locate(*buffer, indices, count, byteCount), outElement, byteCount);
  });
}

MaxStatus maxBufferWrite(MaxBuffer* buffer, const int64_t* indices, int32_t count, const void* element,
                         size_t byteCount) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(element, "element");
    max::capi::requireWritable(*buffer);
    writeElement(*buffer, locate(*buffer, indices, count, byteCount), element, byteCount);
  });
}
