// SPDX-License-Identifier: Apache-2.0
// Checks shared by functions on buffers.
#pragma once

#include <span>

#include "capi/guard.h"
#include "device/buffer.h"
#include "device/device_registry.h"

namespace max::capi {

inline Shape readShape(int32_t rank, const int64_t* dims) {
  require(rank >= 0 && rank <= kMaxRank, MAX_STATUS_INVALID_ARGUMENT, "Rank is ", rank, "; it must be 0 to ", kMaxRank);
  if (rank > 0) requireArgument(dims, "shape");
  return Shape(std::span(dims, static_cast<size_t>(rank)));
}

// The given stream, which must belong to the device, or the device's default stream.
inline MaxStream& streamFor(MaxDevice& device, MaxStream* stream) {
  if (!stream) return device.defaultStream();
  requireKind(stream, "stream");
  require(&stream->device() == &device, MAX_STATUS_INVALID_ARGUMENT, "Stream belongs to ",
          stream->device().displayName(), ", not to ", device.displayName());
  return *stream;
}

// Target device: NULL = the device of the stream, else the host.
inline Ref<MaxDevice> deviceFor(MaxDevice* device, MaxStream* stream = nullptr) {
  if (device) {
    requireKind(device, "device");
    return Ref<MaxDevice>(device);
  }
  if (stream) requireKind(stream, "stream");
  return stream ? Ref<MaxDevice>(&stream->device()) : hostDevice();
}

inline void requireWritable(const MaxBuffer& buffer) {
  require(!buffer.isReadOnly(), MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(), " is read-only");
}

inline void requireContiguous(const MaxBuffer& buffer, const char* name) {
  require(buffer.isContiguous(), MAX_STATUS_FAILED_PRECONDITION, "Buffer '", name, "' of type ", buffer.layout(),
          " is not contiguous");
}

}  // namespace max::capi
