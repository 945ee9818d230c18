// SPDX-License-Identifier: Apache-2.0
// SequenceMap: the body is a separate program, run once per element of a sequence.
#include <utility>

#include "base/active_call.h"
#include "base/checked.h"
#include "base/object.h"
#include "executor/run.h"

namespace max {

namespace {

using Elements = std::vector<Ref<Tensor>>;

class FreshOutputs final : public OutputProvider {
 public:
  FreshOutputs(const NodeInfo& info, size_t count) : info_(info), made_(count) {}
  void* provide(size_t index, DType dtype, const Shape& shape) override {
    // Sequences of sequences could be nested without limit.
    if (isObject(dtype)) invalidArgument(info_.node->description(), ": output ", index, " would hold a ", dtype);
    made_[index] = Tensor::allocate(dtype, shape);
    return made_[index]->mutableData();
  }
  Ref<Tensor> take(size_t index) { return selfContained(*std::exchange(made_[index], nullptr)); }

 private:
  const NodeInfo& info_;
  Elements made_;
};

TensorArg argOf(const Tensor& tensor) { return {tensor.dtype(), tensor.shape().dims(), tensor.data()}; }

const Elements& elementsOf(const TensorArg& sequence) {
  return partsOf(*static_cast<const Object* const*>(sequence.data));
}

size_t lengthOf(const NodeInfo& info, std::span<const TensorArg> inputs) {
  const size_t length = elementsOf(inputs[0]).size();
  for (size_t i = 1; i < info.inputs.size(); ++i)
    if (inputs[i].dtype == DType::Sequence && elementsOf(inputs[i]).size() != length)
      invalidArgument(info.node->description(), ": input ", i, " has ", elementsOf(inputs[i]).size(),
                      " elements, input 0 has ", length);
  return length;
}

// The elements of a sequence have one dtype.
void append(const NodeInfo& info, size_t output, Elements& elements, Ref<Tensor> element) {
  if (!elements.empty() && element->dtype() != elements[0]->dtype())
    invalidArgument(info.node->description(), ": output ", output, " of the body changes from ", elements[0]->dtype(),
                    " to ", element->dtype(), " between elements");
  elements.push_back(std::move(element));
}

}  // namespace

// Planning has checked that input 0 is a sequence.
std::vector<Ref<Tensor>> runSequenceMap(const NodeInfo& info, std::span<const TensorArg> inputs) {
  const size_t length = lengthOf(info, inputs);
  const size_t outputCount = info.body->program().graph().outputs().size();
  const MemoryLease room(activeMemory(), checkedMultiply(length, outputCount * kPartBytes));
  std::vector<Elements> results(outputCount);
  std::vector<TensorArg> arguments(inputs.begin(), inputs.end());
  FreshOutputs outputs(info, outputCount);
  for (size_t k = 0; k < length; ++k) {
    checkInterrupt();
    for (size_t i = 0; i < info.inputs.size(); ++i)
      if (inputs[i].dtype == DType::Sequence) arguments[i] = argOf(*elementsOf(inputs[i])[k]);
    const PoolScope scope;
    info.body->run(arguments, outputs);
    for (size_t i = 0; i < outputCount; ++i) append(info, i, results[i], outputs.take(i));
  }
  std::vector<Ref<Tensor>> sequences;
  for (Elements& elements : results) sequences.push_back(objectTensor(DType::Sequence, std::move(elements)));
  return sequences;
}

}  // namespace max
