// SPDX-License-Identifier: Apache-2.0
// Operators on strings, sequences, optionals and maps are functions from tensors to self-contained tensors, since they
// are not performance-critical. This creates kernels from those whose output shapes are known in advance.
#pragma once

#include <memory>

#include "base/object.h"
#include "base/work_vector.h"
#include "ops/op_kernel.h"

namespace max {

using Results = std::vector<Ref<Tensor>>;
using Arguments = std::span<const Tensor* const>;

std::unique_ptr<OpKernel> createFunctionOp(const OpRequest& request, DynamicFunction function);

template <DynamicFunction F>
std::unique_ptr<OpKernel> createFunction(const OpRequest& request) {
  return createFunctionOp(request, F);
}
template <DynamicFunction F, bool (*Accepts)(const OpRequest&) = nullptr>
inline constexpr Implementation kFunction[] = {{"function", Accepts, &createFunction<F>}};

// Checks input and output 0, for operators that accept strings as well as numbers.
inline bool takesStrings(const OpRequest& request) {
  return request.has(0) && request.inputs[0].dtype == DType::String;
}

inline const Tensor* optionalInput(Arguments inputs, size_t i) { return i < inputs.size() ? inputs[i] : nullptr; }

// Parts of split strings, a list per string.
class TextLists {
 public:
  void add(std::span<const std::string_view> list);
  // Along a last axis that is as long as the longest list; shorter ones end with `padding`. RESOURCE_EXHAUSTED if there
  // are too many elements.
  Ref<Tensor> tensor(const Node& node, const Shape& texts, std::string_view padding) const;

 private:
  Shape paddedShape(const Node& node, const Shape& texts) const;

  WorkVector<std::string_view> parts_;
  WorkVector<size_t> ends_;
  size_t longest_ = 0;
};

// The only element of an int32 or int64 tensor.
int64_t integerInput(const Node& node, const Tensor& tensor);

}  // namespace max
