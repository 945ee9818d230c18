// SPDX-License-Identifier: Apache-2.0
#include "base/tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"

namespace max {

namespace {

constexpr size_t kAlignment = 64;

class HeapStorage final : public Storage {
 public:
  HeapStorage(size_t bytes, bool zeroed) {
    const size_t rounded = checkedAdd(bytes, kAlignment) / kAlignment * kAlignment;
    data_ = std::aligned_alloc(kAlignment, rounded);
    if (!data_) throw std::bad_alloc();
    size_ = bytes;
    if (zeroed) std::memset(data_, 0, rounded);
  }
  ~HeapStorage() override { std::free(data_); }
};

}  // namespace

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
  if (tensor->bytes() > 0) std::memcpy(tensor->mutableData(), data, tensor->bytes());
  return tensor;
}

Ref<Tensor> Tensor::reshaped(const Shape& shape) const {
  require(shape.count() == count_, MAX_STATUS_INVALID_ARGUMENT, "Shape ", shape, " does not hold the ", count_,
          " elements of ", shape_);
  return makeRef<Tensor>(dtype_, shape, data_, storage_);
}

std::vector<int64_t> integerValues(const Tensor& tensor) {
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
