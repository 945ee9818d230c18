// SPDX-License-Identifier: Apache-2.0
// Buffers: a shape over a block of device memory.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/dtype.h"
#include "base/handle.h"
#include "base/ref.h"
#include "base/shape.h"
#include "base/tensor.h"
#include "device/device.h"
#include "device/stream.h"
#include "max/buffer.h"

namespace max {

// A buffer's properties, except its stream and memory.
struct BufferLayout {
  DType dtype = DType::Invalid;
  Shape shape;
  Shape strides;  // in elements
  bool readOnly = false;
  bool pinned = false;

  static BufferLayout dense(DType dtype, const Shape& shape);
};

// "float32[2, 3]"
void appendTo(std::string& text, const BufferLayout& layout);

}  // namespace max

struct MaxBuffer : max::HandleOf<MaxBuffer> {
 public:
  using Layout = max::BufferLayout;

  // `data` is in `memory` and aligned to the element size.
  MaxBuffer(max::Ref<MaxStream> stream, const Layout& layout, max::Ref<max::Storage> memory, void* data);
  ~MaxBuffer() override;

  // Allocates in the order of `stream`.
  static max::Ref<MaxBuffer> allocate(MaxStream& stream, max::DType dtype, const max::Shape& shape,
                                      const max::AllocationOptions& options = {});
  // A host tensor as a read-only buffer, and a contiguous host buffer as a tensor; both share the memory.
  static max::Ref<MaxBuffer> fromTensor(MaxStream& stream, const max::Tensor& tensor);
  max::Ref<max::Tensor> toTensor() const;

  MaxStream& stream() const { return *stream_; }
  MaxDevice& device() const { return stream_->device(); }
  bool isHost() const { return device().isHost(); }
  // The host can read and write at data().
  bool isHostAccessible() const { return isHost() || layout_.pinned; }
  max::DType dtype() const { return layout_.dtype; }
  const max::Shape& shape() const { return layout_.shape; }
  const max::Shape& strides() const { return layout_.strides; }
  int rank() const { return layout_.shape.rank(); }
  int64_t count() const { return count_; }
  size_t bytes() const { return bytes_; }
  bool isReadOnly() const { return layout_.readOnly; }
  bool isPinned() const { return layout_.pinned; }
  bool isContiguous() const { return contiguous_; }
  void* data() const { return data_; }
  const max::Ref<max::Storage>& memory() const { return memory_; }
  const Layout& layout() const { return layout_; }

  // A view that shares the memory and starts `byteOffset` bytes after this one.
  max::Ref<MaxBuffer> view(const Layout& layout, ptrdiff_t byteOffset) const;
  max::Ref<MaxBuffer> reinterpret(max::DType dtype, const max::Shape& shape) const;
  // A dense copy in the order of `stream`, which may belong to another device.
  max::Ref<MaxBuffer> clone(MaxStream& stream) const;

  void* mapToHost(MaxHostAccess access);
  void unmapFromHost();

 protected:
  // For pools that reuse a handle with another dense shape, without an allocation.
  void recycle(max::DType dtype, const max::Shape& shape, max::Ref<max::Storage> memory, void* data);
  // Ends a mapping that is still active.
  void endUse() noexcept;
  // Releases memory while the handle is in a pool.
  void dropMemory() noexcept;

 private:
  enum class MapState : uint8_t { None, Changing, Mapped };

  void updateDerived();
  void* openMapping(MaxHostAccess access);
  void closeMapping() noexcept;
  void requireSoleHolder() const;

  max::Ref<MaxStream> stream_;
  Layout layout_;
  max::Ref<max::Storage> memory_;
  void* data_;
  int64_t count_ = 0;
  size_t bytes_ = 0;
  bool contiguous_ = false;
  std::atomic<MapState> mapState_{MapState::None};
  // Required to change the state.
  MaxHostAccess mapping_ = 0;
  max::Ref<max::Storage> staging_;  // host copy while the host cannot access the memory itself
};

namespace max {

// Throws if element offsets overflow, for untrusted shapes and strides.
void requireReach(const BufferLayout& layout);

// Whether the address is aligned for the type.
bool isAlignedFor(DType dtype, const void* data);

// numpy's basic indexing. Parallel arrays of `count` steps as in maxBufferSlice.
Ref<MaxBuffer> sliceBuffer(const MaxBuffer& buffer, const MaxSliceKind* kinds, const int64_t* starts,
                           const int64_t* stops, const int64_t* steps, int32_t count);

// Buffers of strings. Strings are borrowed from their buffer.
Ref<MaxBuffer> makeStrings(MaxStream& stream, const Shape& shape, std::span<const std::string_view> texts);
// Throws unless the buffer has these strings.
void requireStrings(const MaxBuffer& buffer, int64_t first, int64_t count);
std::string_view stringAt(const MaxBuffer& buffer, int64_t index);
Ref<MaxBuffer> cloneStrings(const MaxBuffer& buffer, MaxStream& stream);
// Throws "holds strings, which WHAT", in functions that work on bytes.
void refuseStrings(const MaxBuffer& buffer, const char* what);

// Copies bytes between contiguous buffers on any devices, in the order of `stream`.
void copyBytes(const MaxBuffer& target, size_t targetOffset, const MaxBuffer& source, size_t sourceOffset, size_t bytes,
               MaxStream& stream);

// Between memory of accelerators, on the target's stream, after the work now on the source's. The memory must stay
// until the copy is done.
void copyBetween(const MemoryRange& target, MaxStream& targetStream, const MemoryRange& source, MaxStream& sourceStream,
                 size_t bytes);

// Between a contiguous buffer and the caller's memory, in the order of a stream of the buffer's device; they wait for
// the copy.
void copyFromHost(MaxBuffer& target, ptrdiff_t offset, const void* source, size_t bytes, MaxStream& stream);
void copyToHost(const MaxBuffer& source, ptrdiff_t offset, void* target, size_t bytes, MaxStream& stream);

// Copies all elements of `source` into `target`, of equal dtype and shape, in the order of `stream`.
void copyElements(MaxBuffer& target, const MaxBuffer& source, MaxStream& stream);

}  // namespace max
