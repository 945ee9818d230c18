// SPDX-License-Identifier: Apache-2.0
// Buffers of strings are read-only; their elements point into memory that they hold.
#include "base/object.h"
#include "device/buffer.h"

namespace max {

namespace {

// The address of element `index` in row-major order.
const StringCell* cellAt(const MaxBuffer& buffer, int64_t index) {
  int64_t offset = 0;
  for (int i = buffer.rank() - 1; i >= 0; --i) {
    offset += index % buffer.shape()[i] * buffer.strides()[i];
    index /= buffer.shape()[i];
  }
  return static_cast<const StringCell* const*>(buffer.data())[offset];
}

}  // namespace

Ref<MaxBuffer> makeStrings(MaxStream& stream, const Shape& shape, std::span<const std::string_view> texts) {
  require(stream.device().isHost(), MAX_STATUS_UNIMPLEMENTED, "Strings can only be in host memory, not on ",
          stream.device().displayName());
  return MaxBuffer::fromTensor(stream, *stringTensor(shape, texts));
}

void requireStrings(const MaxBuffer& buffer, int64_t first, int64_t count) {
  require(buffer.dtype() == DType::String, MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(),
          " does not hold strings");
  require(first >= 0 && count >= 0 && first <= buffer.count() && count <= buffer.count() - first,
          MAX_STATUS_OUT_OF_RANGE, "The ", count, " strings from ", first, " on are out of range; there are ",
          buffer.count());
}

std::string_view stringAt(const MaxBuffer& buffer, int64_t index) { return textOf(cellAt(buffer, index)); }

Ref<MaxBuffer> cloneStrings(const MaxBuffer& buffer, MaxStream& stream) {
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < buffer.count(); ++i) texts.push_back(stringAt(buffer, i));
  return makeStrings(stream, buffer.shape(), texts);
}

void refuseStrings(const MaxBuffer& buffer, const char* what) {
  require(buffer.dtype() != DType::String, MAX_STATUS_INVALID_ARGUMENT, "Buffer of type ", buffer.layout(),
          " holds strings, which ", what, "; maxBufferGetStrings reads them");
}

}  // namespace max
