// SPDX-License-Identifier: Apache-2.0
// Runs planned programs on small tensors.
#pragma once

#include <initializer_list>
#include <vector>

#include "executor/run.h"

namespace max::test {

inline Ref<Tensor> floats(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of<float>(DType::Float32, shape, values);
}
inline Ref<Tensor> ints(const Shape& shape, std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(DType::Int64, shape, values);
}

class Outputs final : public OutputProvider {
 public:
  void* provide(size_t index, DType dtype, const Shape& shape) override {
    if (tensors_.size() <= index) tensors_.resize(index + 1);
    tensors_[index] = Tensor::allocate(dtype, shape);
    return tensors_[index]->mutableData();
  }
  const Tensor& operator[](size_t index) const { return *tensors_.at(index); }
  template <class T>
  std::vector<T> values(size_t index) const {
    const auto span = tensors_.at(index)->values<T>();
    return {span.begin(), span.end()};
  }

 private:
  std::vector<Ref<Tensor>> tensors_;
};

inline Outputs run(const PlannedProgram& program, const std::vector<Ref<Tensor>>& inputs) {
  std::vector<TensorArg> arguments;
  for (const Ref<Tensor>& input : inputs) arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
  Outputs outputs;
  program.run(arguments, outputs);
  return outputs;
}

}  // namespace max::test
