// SPDX-License-Identifier: Apache-2.0
// Copies and fills, in stream order.
#include <bit>
#include <cstring>

#include "base/checked.h"
#include "capi/buffer_arguments.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "device/memory_use.h"

using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

MaxStream* copyStream(const MaxBufferCopyOptions* options) {
  return max::capi::readOptions(options, "MaxBufferCopyOptions").stream;
}

// The stream of a copy to `device` (NULL = the stream's, else the buffer's).
MaxStream& targetStream(const MaxBuffer& buffer, MaxDevice* device, MaxStream* stream) {
  MaxDevice& target = device ? *device : stream ? stream->device() : buffer.device();
  if (!stream && &target == &buffer.device()) return buffer.stream();
  return max::capi::streamFor(target, stream);
}

void requireRange(const void* data, const char* name, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  max::require(bytes - 1 <= UINTPTR_MAX - address, MAX_STATUS_INVALID_ARGUMENT, "Range of '", name, "', ", bytes,
               " bytes at ", address, ", ends past the last address");
}

void requireNoOverlap(const void* dst, const void* src, size_t bytes) {
  const auto a = reinterpret_cast<uintptr_t>(dst);
  const auto b = reinterpret_cast<uintptr_t>(src);
  max::require((a < b ? b - a : a - b) >= bytes, MAX_STATUS_INVALID_ARGUMENT, "Ranges of a copy of ", bytes,
               " bytes overlap");
}

bool isHostPointer(MaxCopyKind kind, bool target) {
  return kind == MAX_COPY_KIND_HOST_TO_HOST ||
         kind == (target ? MAX_COPY_KIND_DEVICE_TO_HOST : MAX_COPY_KIND_HOST_TO_DEVICE);
}

void copyRange(MaxBuffer& dst, size_t dstOffset, const MaxBuffer& src, size_t srcOffset, size_t bytes,
               MaxStream& stream) {
  max::capi::requireWritable(dst);
  max::capi::requireContiguous(dst, "dst");
  max::capi::requireContiguous(src, "src");
  max::checkRange("Range of 'dst'", dstOffset, bytes, dst.bytes());
  max::checkRange("Range of 'src'", srcOffset, bytes, src.bytes());
  stream.check();
  if (bytes == 0) return;
  if (&dst.device() == &src.device())
    requireNoOverlap(static_cast<char*>(dst.data()) + dstOffset, static_cast<char*>(src.data()) + srcOffset, bytes);
  max::copyBytes(dst, dstOffset, src, srcOffset, bytes, stream);
}

// Host memory on the other side of a copy.
void checkHostCopy(const MaxBuffer& buffer, const char* name, size_t offset, const void* host, const char* hostName,
                   size_t bytes) {
  max::capi::requireContiguous(buffer, name);
  max::refuseStrings(buffer, "have no size in bytes");
  max::checkRange(max::concat("Range of '", name, "'").c_str(), offset, bytes, buffer.bytes());
  if (bytes == 0) return;
  requireArgument(host, hostName);
  requireRange(host, hostName, bytes);
  if (buffer.isHostAccessible()) requireNoOverlap(static_cast<char*>(buffer.data()) + offset, host, bytes);
}

// The stream of the caller's choice, or the buffer's own.
MaxStream& orderOf(const MaxBuffer& buffer, MaxStream* stream) {
  return stream ? max::capi::streamFor(buffer.device(), stream) : buffer.stream();
}

// Drivers copy rectangles, but not one element again and again.
void fillThroughCopy(MaxBuffer& buffer, const max::FillPattern& pattern, MaxStream& stream) {
  stream.requireUncaptured("Filling a strided buffer, which takes memory for a moment,");
  const Ref<MaxBuffer> dense = MaxBuffer::allocate(stream, buffer.dtype(), buffer.shape());
  stream.fill({dense->data(), dense->memory()}, pattern, static_cast<size_t>(dense->count()));
  max::copyElements(buffer, *dense, stream);
}

// Element by element: the pattern is read again and again with strides of zero.
void fillStrided(MaxBuffer& buffer, const max::FillPattern& pattern, MaxStream& stream) {
  max::require(pattern.size == max::sizeOf(buffer.dtype()), MAX_STATUS_INVALID_ARGUMENT, "Buffer of type ",
               buffer.layout(), " is not contiguous; its pattern must have the element size, not ", pattern.size);
  if (!stream.device().isHost()) return fillThroughCopy(buffer, pattern, stream);
  const max::Shape one = max::Shape::filled(1, 1);
  const Ref<MaxBuffer> value = MaxBuffer::allocate(stream, buffer.dtype(), one);
  stream.fill({value->data(), value->memory()}, pattern, 1);
  max::BufferLayout repeated = buffer.layout();
  repeated.strides = max::Shape::filled(buffer.rank(), 0);
  max::copyElements(buffer, *value->view(repeated, 0), stream);
}

void fillBuffer(MaxBuffer& buffer, const void* value, size_t size, MaxStream& stream) {
  max::capi::requireWritable(buffer);
  max::require(size <= sizeof(max::FillPattern::bytes) && std::has_single_bit(size), MAX_STATUS_INVALID_ARGUMENT,
               "Size of a pattern is ", size, "; it must be 1, 2, 4, 8 or 16");
  max::require(buffer.bytes() % size == 0, MAX_STATUS_INVALID_ARGUMENT, "A pattern of ", size,
               " bytes does not divide the ", buffer.bytes(), " bytes of the buffer of type ", buffer.layout());
  max::FillPattern pattern;
  pattern.size = size;
  std::memcpy(pattern.bytes, value, size);
  if (!buffer.isContiguous()) return fillStrided(buffer, pattern, stream);
  max::AccessScope access(stream);
  access.writes(buffer);
  stream.fill({buffer.data(), buffer.memory()}, pattern, buffer.bytes() / size);
}

}  // namespace

MaxStatus maxBufferContiguous(const MaxBuffer* buffer, const MaxBufferCopyOptions* options, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(buffer, "buffer");
    *outBuffer = buffer->clone(targetStream(*buffer, &buffer->device(), copyStream(options))).detach();
  });
}

MaxStatus maxBufferClone(const MaxBuffer* buffer, MaxDevice* device, const MaxBufferCopyOptions* options,
                         MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(buffer, "buffer");
    *outBuffer = buffer->clone(targetStream(*buffer, device, copyStream(options))).detach();
  });
}

MaxStatus maxBufferTo(MaxBuffer* buffer, MaxDevice* device, const MaxBufferCopyOptions* options,
                      MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(buffer, "buffer");
    MaxStream* stream = copyStream(options);
    const Ref<MaxDevice> place = max::capi::deviceFor(device, stream);
    MaxStream& target = targetStream(*buffer, place.get(), stream);
    const bool isThere = &target.device() == &buffer->device();
    *outBuffer = (isThere ? Ref<MaxBuffer>(buffer) : buffer->clone(target)).detach();
  });
}

MaxStatus maxBufferCopy(MaxBuffer* dst, size_t dstOffset, const MaxBuffer* src, size_t srcOffset, size_t byteCount,
                        MaxStream* stream) {
  return guard([&] {
    requireArgument(dst, "dst");
    requireArgument(src, "src");
    copyRange(*dst, dstOffset, *src, srcOffset, byteCount, stream ? *stream : dst->stream());
  });
}

MaxStatus maxBufferCopyFromHost(MaxBuffer* dst, size_t dstOffset, const void* src, size_t byteCount,
                                MaxStream* stream) {
  return guard([&] {
    requireArgument(dst, "dst");
    max::capi::requireWritable(*dst);
    checkHostCopy(*dst, "dst", dstOffset, src, "src", byteCount);
    max::copyFromHost(*dst, static_cast<ptrdiff_t>(dstOffset), src, byteCount, orderOf(*dst, stream));
  });
}

MaxStatus maxBufferCopyToHost(const MaxBuffer* src, size_t srcOffset, void* dst, size_t byteCount, MaxStream* stream) {
  return guard([&] {
    requireArgument(src, "src");
    checkHostCopy(*src, "src", srcOffset, dst, "dst", byteCount);
    max::copyToHost(*src, static_cast<ptrdiff_t>(srcOffset), dst, byteCount, orderOf(*src, stream));
  });
}

MaxStatus maxMemoryCopy(void* dst, const void* src, size_t byteCount, MaxCopyKind kind, MaxStream* stream) {
  return guard([&] {
    requireArgument(stream, "stream");
    max::capi::requireWithin(kind, MAX_COPY_KIND_HOST_TO_HOST, MAX_COPY_KIND_DEVICE_TO_DEVICE, "Copy kind");
    stream->check();
    if (byteCount == 0) return;
    requireArgument(dst, "dst");
    requireArgument(src, "src");
    requireRange(dst, "dst", byteCount);
    requireRange(src, "src", byteCount);
    if (stream->device().isHost() || isHostPointer(kind, true) == isHostPointer(kind, false))
      requireNoOverlap(dst, src, byteCount);
    stream->copy({dst, nullptr}, {const_cast<void*>(src), nullptr}, byteCount, kind);
  });
}

MaxStatus maxBufferFill(MaxBuffer* buffer, const void* value, size_t valueSize, MaxStream* stream) {
  return guard([&] {
    requireArgument(buffer, "buffer");
    requireArgument(value, "value");
    fillBuffer(*buffer, value, valueSize, orderOf(*buffer, stream));
  });
}
