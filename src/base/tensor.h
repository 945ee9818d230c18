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

// Notes that users of some memory attach to it.
class MemoryNotes {
 public:
  virtual ~MemoryNotes() = default;
};

// Keeps memory alive: heap blocks, mapped files and borrowed buffers derive from it.
class Storage : public RefCounted {
 public:
  void* data() const { return data_; }
  size_t size() const { return size_; }

  // The file that backs this, from data() on, read-only; NULL if there is none.
  virtual const FileIdentity* file() const { return nullptr; }
  // Returns pages of a file to the system; the next access reads them again. No effect on other memory.
  virtual void dropPages(const void*, size_t) const noexcept {}

  // Goes away with the load that it was made for: what stays takes a copy.
  virtual bool isTransient() const { return false; }

  // Notes of device/memory_use.h, which guards them; whether there are any can be asked without a lock.
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

// Tensors of this size or more are treated with care: views instead of copies, pages returned, contents released.
inline constexpr size_t kLargeTensorBytes = size_t{64} << 10;

// 64-byte aligned heap block; throws std::bad_alloc. `zeroed` memory comes from calloc-like paths.
Ref<Storage> allocateStorage(size_t bytes, bool zeroed = false);
// The same for data that lives as long as a model: large blocks are separate mappings, so that they do not fragment the
// heap and return to the system with their owner.
Ref<Storage> allocateLastingStorage(size_t bytes);

// An immutable dense row-major tensor in host memory.
class Tensor : public RefCounted {
 public:
  // Takes `bytesFor(dtype, shape.count())` bytes at `data`, kept alive by `storage`.
  Tensor(DType dtype, const Shape& shape, const void* data, Ref<Storage> storage);
  static Ref<Tensor> allocate(DType dtype, const Shape& shape, bool zeroed = false);
  static Ref<Tensor> copyOf(DType dtype, const Shape& shape, const void* data);
  // One number, rounded as storeNumbers does. UNIMPLEMENTED for types that are not numbers, and packed ones.
  static Ref<Tensor> scalar(DType dtype, double value);
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
  // False for a tensor whose contents were released (withoutContents): it must not be read.
  bool hasContents() const { return data_ != nullptr || bytes_ == 0; }
  // The same type and shape without data, for weights that only remain in a node's prepared state.
  Ref<Tensor> withoutContents() const { return makeRef<Tensor>(dtype_, shape_, nullptr, nullptr); }
  // Elements are aligned to their size, as kernels expect. (Large weights in files may not be, until compiled.)
  bool isAligned() const;
  // Copies the elements in parts, so that not all pages of a mapped file are in memory beside the copy.
  void copyTo(void* target) const;
  // A copy that lives as long as a model.
  Ref<Tensor> copied() const;
  // This tensor, or such a copy, which is aligned.
  Ref<Tensor> aligned() const;
  // Returns the pages of a large tensor in a mapped file to the system; the next reader loads them again.
  void dropPages() const noexcept;
  // Only for the code that has just allocated the tensor and fills it.
  void* mutableData() { return const_cast<void*>(data_); }
  const Ref<Storage>& storage() const { return storage_; }
  // The same elements with another shape of equal count.
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
