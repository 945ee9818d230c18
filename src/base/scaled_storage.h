// SPDX-License-Identifier: Apache-2.0
// Weights times factors, which remember both.
#pragma once

#include <utility>
#include <vector>

#include "base/tensor.h"

namespace max {

class ScaledStorage final : public Storage {
 public:
  // Memory for a tensor of float32 that is filled with `source` times one factor for each of its first dimension.
  ScaledStorage(Ref<const Tensor> source, std::vector<float> factors)
      : memory_(allocateLastingStorage(source->bytes())), source_(std::move(source)), factors_(std::move(factors)) {
    data_ = memory_->data();
    size_ = memory_->size();
  }

  const Tensor& source() const { return *source_; }
  const std::vector<float>& factors() const { return factors_; }

 private:
  Ref<Storage> memory_;
  Ref<const Tensor> source_;
  std::vector<float> factors_;
};

}  // namespace max
