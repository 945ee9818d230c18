// SPDX-License-Identifier: Apache-2.0
// Runs programs on an accelerator.
#pragma once

#include <utility>
#include <vector>

#include "device/stream.h"
#include "executor_helpers.h"
#include "ops/device_operators.h"

namespace max::test {

// Outputs in the device's memory, which are brought to the host at the end.
class DeviceOutputs final : public OutputProvider {
 public:
  explicit DeviceOutputs(MaxStream& stream) : stream_(stream) {}

  void* provide(size_t index, DType dtype, const Shape& shape) override {
    if (outputs_.size() <= index) outputs_.resize(index + 1);
    if (outputs_[index].first && outputs_[index].first->shape() == shape) return outputs_[index].second->data();
    Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
    Ref<Storage> block = stream_.device().allocate(tensor->bytes(), {}, stream_);
    outputs_[index] = {tensor, block};
    return block->data();
  }
  std::vector<Ref<Tensor>> take() {
    std::vector<Ref<Tensor>> tensors;
    for (auto& [tensor, block] : outputs_) {
      stream_.copy({tensor->mutableData(), tensor->storage()}, {block->data(), block}, tensor->bytes(),
                   MAX_COPY_KIND_DEVICE_TO_HOST);
      tensors.push_back(tensor);
    }
    stream_.waitUntilIdle();
    return tensors;
  }

 private:
  MaxStream& stream_;
  std::vector<std::pair<Ref<Tensor>, Ref<Storage>>> outputs_;
};

// All calls on a stream use the same memory. With `other`, each is followed by one there, which does not wait for it;
// its results come last.
inline std::vector<Ref<Tensor>> runThere(const PlannedProgram& program, MaxDevice& device,
                                         const std::vector<Ref<Tensor>>& inputs, int calls = 1,
                                         MaxStream* other = nullptr) {
  std::vector<Ref<Storage>> blocks;
  std::vector<TensorArg> arguments;
  for (const Ref<Tensor>& input : inputs) {
    blocks.push_back(uploaded(*input, device));
    arguments.push_back({input->dtype(), input->shape().dims(), blocks.back()->data()});
  }
  DeviceOutputs outputs(device.defaultStream()), others(other ? *other : device.defaultStream());
  if (other) other->waitFor(device.defaultStream());
  for (int k = 0; k < calls; ++k) {
    program.runOn(device.defaultStream(), arguments, outputs);
    if (other) program.runOn(*other, arguments, others);
  }
  std::vector<Ref<Tensor>> results = outputs.take();
  if (other)
    for (Ref<Tensor>& result : others.take()) results.push_back(std::move(result));
  return results;
}

}  // namespace max::test
