// SPDX-License-Identifier: Apache-2.0
// Host tensors: constants of a graph, weights, results of folding.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"

namespace max {

struct FileIdentity;

// What users of some memory note down with it.
class MemoryNotes {
 public:
  virtual ~MemoryNotes() = default;
};

// Keeps memory alive: heap blocks, mapped files and borrowed buffers derive from it.
class Storage : public RefCounted {
 public:
  void* data() const { return data_; }
  size_t size() const { return size_; }

  // The file whose bytes this is, from data() on, unchangeable for readers; NULL if it is none.
  virtual const FileIdentity* file() const { return nullptr; }
  // Gives pages of a file back to the system; the next access reads them again. Nothing for other memory.
  virtual void dropPages(const void*, size_t) const noexcept {}

  // Notes of device/memory_use.h, which guards them; whether there is something to look at can be asked without a lock.
  bool isNoted() const noexcept { return isNoted_.load(std::memory_order_acquire); }
  void setNoted(bool noted) noexcept { isNoted_.store(noted, std::memory_order_release); }
  std::unique_ptr<MemoryNotes>& notes() { return notes_; }

 protected:
  Storage() = default;
  Storage(void* data, size_t size) : data_(data), size_(size) {}
  void* data_ = nullptr;
  size_t size_ = 0;

 private:
  std::unique_ptr<MemoryNotes> notes_;
  std::atomic<bool> isNoted_{false};
};

// Tensors from this size on are worth care: views instead of copies, pages given back, contents given up.
inline constexpr size_t kLargeTensorBytes = size_t{64} << 10;

// 64-byte aligned heap block; throws std::bad_alloc. `zeroed` memory comes from calloc-like paths.
Ref<Storage> allocateStorage(size_t bytes, bool zeroed = false);
// The same for what lives as long as a model: large blocks are mappings of their own, so that they leave no holes in
// the heap and go back to the system with their owner.
Ref<Storage> allocateLastingStorage(size_t bytes);

// An immutable dense row-major tensor in host memory.
class Tensor : public RefCounted {
 public:
  // Takes `bytesFor(dtype, shape.count())` bytes at `data`, kept alive by `storage`.
  Tensor(DType dtype, const Shape& shape, const void* data, Ref<Storage> storage);
  static Ref<Tensor> allocate(DType dtype, const Shape& shape, bool zeroed = false);
  static Ref<Tensor> copyOf(DType dtype, const Shape& shape, const void* data);
  template <class T>
  static Ref<Tensor> of(DType dtype, const Shape& shape, std::initializer_list<T> values) {
    return copyOf(dtype, shape, values.begin());
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return count_; }
  size_t bytes() const { return bytes_; }
  const void* data() const { return data_; }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }
  template <class T>
  std::span<const T> values() const {
    return {as<T>(), static_cast<size_t>(count_)};
  }
  // False for a tensor whose contents were given up (withoutContents): nobody may read it.
  bool hasContents() const { return data_ != nullptr || bytes_ == 0; }
  // The same type and shape without data, for weights that live on in a node's prepared state.
  Ref<Tensor> withoutContents() const { return makeRef<Tensor>(dtype_, shape_, nullptr, nullptr); }
  // Elements lie at multiples of their size, as kernels expect. (Large weights in files may not, until compiled.)
  bool isAligned() const;
  // Copies the elements, in parts, so that of a mapped file not all pages are in memory beside the copy.
  void copyTo(void* target) const;
  // This tensor, or an aligned copy of it.
  Ref<Tensor> aligned() const;
  // Gives the pages of a large tensor in a mapped file back to the system; the next reader gets them again.
  void dropPages() const noexcept;
  // For whoever has just allocated it and fills it in.
  void* mutableData() { return const_cast<void*>(data_); }
  const Ref<Storage>& storage() const { return storage_; }
  // The same elements under another shape of equal count.
  Ref<Tensor> reshaped(const Shape& shape) const;

 private:
  DType dtype_;
  Shape shape_;
  int64_t count_;
  size_t bytes_;
  const void* data_;
  Ref<Storage> storage_;
};

// Elements of an int32 or int64 tensor as int64.
std::vector<int64_t> integerValues(const Tensor& tensor);

}  // namespace max
