// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/active_call.h"
#include "base/anonymous_pages.h"
#include "base/error.h"
#include "base/forbid.h"
#include "base/huge_pages.h"
#include "base/interrupt_point.h"
#include "base/load_budget.h"
#include "base/number_access.h"
#include "base/pages.h"

namespace max {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kFromSystem = size_t{1} << 17;  // a heap mostly asks the system for blocks of these bytes

class HeapStorage final : public Storage {
 public:
  HeapStorage(size_t bytes, bool zeroed) : lease_(activeMemory(), bytes) {
    const size_t rounded = checkedAdd(bytes, kAlignment) / kAlignment * kAlignment;
    data_ = std::aligned_alloc(kAlignment, rounded);
    if (!data_) throw std::bad_alloc();
    adviseHugePages(data_, bytes);
    if (activeLoadBudget() && bytes >= kFromSystem && bytes < 2 * kHugePage) populateForWriting(data_, bytes);
    size_ = bytes;
    if (zeroed) std::memset(data_, 0, rounded);
    permitFirst(data_, bytes, rounded);
  }
  ~HeapStorage() override { std::free(data_); }

 private:
  MemoryLease lease_;
};

class AnonymousMapping final : public Storage {
 public:
  explicit AnonymousMapping(size_t bytes) : lease_(activeMemory(), bytes), pages_(bytes) {
    data_ = pages_.data();
    size_ = bytes;
  }

 private:
  MemoryLease lease_;
  AnonymousPages pages_;
};

}  // namespace

Ref<Storage> allocateLastingStorage(size_t bytes) {
  constexpr size_t kSmallest = size_t{1} << 20;
  if (bytes < kSmallest) return allocateStorage(bytes);
  return makeRef<AnonymousMapping>(bytes);
}

Ref<Storage> allocateStorage(size_t bytes, bool zeroed) { return makeRef<HeapStorage>(bytes, zeroed); }

Tensor::Tensor(DType dtype, const Shape& shape, const void* data, Ref<Storage> storage)
    : dtype_(dtype),
      shape_(shape),
      count_(shape.count()),
      bytes_(bytesFor(dtype, count_)),
      data_(data),
      storage_(std::move(storage)) {}

Ref<Tensor> Tensor::allocate(DType dtype, const Shape& shape, bool zeroed) {
  Ref<Storage> storage = allocateStorage(bytesFor(dtype, shape.count()), zeroed);
  const void* data = storage->data();
  return makeRef<Tensor>(dtype, shape, data, std::move(storage));
}

Ref<Tensor> Tensor::copyOf(DType dtype, const Shape& shape, const void* data) {
  Ref<Tensor> tensor = allocate(dtype, shape);
  copyBytes(tensor->mutableData(), data, tensor->bytes());
  return tensor;
}

Ref<Tensor> Tensor::scalar(DType dtype, double value) {
  require(isNumeric(dtype) && !isPacked(dtype), MAX_STATUS_UNIMPLEMENTED, "No constant of type ", dtype);
  Ref<Tensor> tensor = allocate(dtype, Shape{});
  storeNumbers(dtype, tensor->mutableData(), 0, 1, &value);
  return tensor;
}

Ref<Tensor> Tensor::reshaped(const Shape& shape) const {
  require(shape.count() == count_, MAX_STATUS_INVALID_ARGUMENT, "Shape ", shape, " does not hold the ", count_,
          " elements of ", shape_);
  return makeRef<Tensor>(dtype_, shape, data_, storage_);
}

bool Tensor::isAligned() const {
  const size_t alignment = std::min<size_t>(std::max<size_t>(sizeOf(dtype_), 1), 8);
  return reinterpret_cast<uintptr_t>(data_) % alignment == 0;
}

void Tensor::copyTo(void* target) const {
  constexpr size_t kPart = size_t{4} << 20;
  for (size_t at = 0; at < bytes_; at += kPart) {
    const size_t count = std::min(kPart, bytes_ - at);
    const std::byte* source = as<std::byte>() + at;
    std::memcpy(static_cast<std::byte*>(target) + at, source, count);
    if (storage_ && bytes_ >= kLargeTensorBytes) storage_->dropPages(source, count);
  }
}

Ref<Tensor> Tensor::aligned() const {
  if (isAligned()) return Ref<Tensor>(const_cast<Tensor*>(this));  // const or not: tensors do not change
  return copied();
}

Ref<Tensor> Tensor::copied() const {
  Ref<Storage> copy = allocateLastingStorage(bytes_);
  copyTo(copy->data());
  const void* data = copy->data();
  return makeRef<Tensor>(dtype_, shape_, data, std::move(copy));
}

void Tensor::dropPages() const noexcept {
  if (storage_ && bytes_ >= kLargeTensorBytes) storage_->dropPages(data_, bytes_);
}

std::vector<int64_t> integerValues(const Tensor& given) {
  const Ref<Tensor> held = given.aligned();
  const Tensor& tensor = *held;
  if (tensor.dtype() == DType::Int64) {
    const auto values = tensor.values<int64_t>();
    return {values.begin(), values.end()};
  }
  require(tensor.dtype() == DType::Int32, MAX_STATUS_INVALID_ARGUMENT, "Expected an int32 or int64 tensor, not ",
          tensor.dtype());
  const auto values = tensor.values<int32_t>();
  return {values.begin(), values.end()};
}

}  // namespace max
