// SPDX-License-Identifier: Apache-2.0
#include "ops/value_function.h"

#include <algorithm>
#include <cstring>

#include "base/interrupt_point.h"

namespace max {

namespace {

class FunctionOp final : public OpKernel {
 public:
  FunctionOp(const OpRequest& request, DynamicFunction function)
      : node_(request.node),
        inputs_(request.inputs.begin(), request.inputs.end()),
        outputs_(request.outputs.begin(), request.outputs.end()),
        function_(function) {
    for (Operand& input : inputs_) input.constant = nullptr;
  }

  void run(const OpContext& context) const override {
    Results views;
    std::vector<const Tensor*> arguments;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      views.push_back(inputs_[i].present()
                          ? makeRef<Tensor>(inputs_[i].dtype, inputs_[i].shape, context.inputs[i], nullptr)
                          : nullptr);
      arguments.push_back(views.back().get());
    }
    const Results results = function_(node_, arguments);
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].present()) store(*results.at(i), outputs_[i], context.outputs[i]);
  }

 private:
  void store(const Tensor& result, const Operand& output, void* to) const {
    if (result.dtype() != output.dtype || result.shape() != output.shape)
      invalidArgument(node_.description(), ": made ", result.dtype(), result.shape(), " instead of ", output.dtype,
                      output.shape);
    copyBytes(to, result.data(), result.bytes());
    if (holdsPointers(output.dtype)) ObjectPool::current().keep(result.storage());
  }

  const Node& node_;
  std::vector<Operand> inputs_, outputs_;
  DynamicFunction function_;
};

}  // namespace

std::unique_ptr<OpKernel> createFunctionOp(const OpRequest& request, DynamicFunction function) {
  return std::make_unique<FunctionOp>(request, function);
}

int64_t integerInput(const Node& node, const Tensor& tensor) {
  if (tensor.count() != 1)
    invalidArgument(node.description(), ": an input of shape ", tensor.shape(), " must have one element");
  return tensor.dtype() == DType::Int32 ? *tensor.as<int32_t>() : *tensor.as<int64_t>();
}

void TextLists::add(std::span<const std::string_view> list) {
  parts_.insert(parts_.end(), list.begin(), list.end());
  ends_.push_back(parts_.size());
  longest_ = std::max(longest_, list.size());
}

Ref<Tensor> TextLists::tensor(const Node& node, const Shape& texts, std::string_view padding) const {
  const Shape shape = paddedShape(node, texts);
  WorkVector<std::string_view> all;
  all.reserve(static_cast<size_t>(shape.count()));
  size_t begin = 0;
  for (const size_t end : ends_) {
    all.insert(all.end(), parts_.begin() + static_cast<ptrdiff_t>(begin), parts_.begin() + static_cast<ptrdiff_t>(end));
    all.insert(all.end(), longest_ - (end - begin), padding);
    passWork(static_cast<int64_t>(longest_));
    begin = end;
  }
  return stringTensor(shape, all);
}

Shape TextLists::paddedShape(const Node& node, const Shape& texts) const {
  constexpr size_t kMostParts = size_t{1} << 27;  // 1 GB of pointers
  const size_t count = checkedMultiply(static_cast<size_t>(texts.count()), longest_);
  require(count <= kMostParts, MAX_STATUS_RESOURCE_EXHAUSTED, node.description(), ": ", texts.count(),
          " lists as long as the longest, of ", longest_, " parts, are more than ", kMostParts, " elements");
  Shape shape = texts;
  shape.push(static_cast<int64_t>(longest_));
  return shape;
}

}  // namespace max
