// SPDX-License-Identifier: Apache-2.0
#include "graph/node_inputs.h"

#include <algorithm>

#include "graph/schema.h"

namespace max {

namespace {

constexpr size_t kMaxInputsInMessages = 8;

// Any integer dtype as dimensions; nullopt for others.
std::optional<std::vector<Dim>> contentsOf(const Tensor& tensor) {
  if (tensor.count() > static_cast<int64_t>(16 * kMaxElements) || !tensor.hasContents()) return std::nullopt;
  std::vector<Dim> result;
  result.reserve(static_cast<size_t>(tensor.count()));
  const auto append = [&](auto values) {
    for (auto value : values) result.emplace_back(static_cast<int64_t>(value));
  };
  switch (tensor.dtype()) {
    case DType::Int64:
      append(tensor.values<int64_t>());
      break;
    case DType::Int32:
      append(tensor.values<int32_t>());
      break;
    case DType::Bool:
      append(tensor.values<uint8_t>());
      break;
    default:
      return std::nullopt;
  }
  return result;
}

}  // namespace

const InputType& NodeInputs::input(size_t i) const {
  static const InputType absent;
  return i < inputs_.size() ? inputs_[i] : absent;
}

void NodeInputs::miss(size_t i) const {
  if (has(i) && i < 32) missing_ |= 1u << i;
}

const Tensor* NodeInputs::contents(size_t i) const {
  const Tensor* tensor = input(i).constant;
  if (!tensor) miss(i);
  return tensor && tensor->hasContents() ? tensor : nullptr;
}

std::optional<std::vector<Dim>> NodeInputs::elements(size_t i) const {
  const InputType& type = input(i);
  if (type.constant) return contentsOf(*type.constant);
  if (type.elements) return *type.elements;
  if (ranked(i) && rank(i) == 1 && dims(i)[0].is(0)) return std::vector<Dim>();
  miss(i);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> NodeInputs::integers(size_t i) const {
  const auto dims = elements(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> result;
  result.reserve(dims->size());
  for (const Dim& dim : *dims) {
    if (!dim.isKnown()) return std::nullopt;
    result.push_back(dim.value());
  }
  return result;
}

std::optional<std::vector<int>> NodeInputs::axes(size_t i, int rank) const {
  if (!has(i)) return std::vector<int>();
  const auto values = integers(i);
  if (!values) return std::nullopt;
  return axesOf(*values, rank);
}

std::vector<int> NodeInputs::axesOf(std::span<const int64_t> values, int rank) const {
  std::vector<int> result;
  for (int64_t value : values) {
    const int normal = axis(value, rank);
    if (std::find(result.begin(), result.end(), normal) != result.end()) fail("axis ", value, " occurs twice");
    result.push_back(normal);
  }
  return result;
}

int NodeInputs::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank) fail("axis ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

void NodeInputs::failWith(const std::string& text) const {
  std::string message = concat(node_.description(), ": ", text);
  for (size_t i = 0; i < std::min(inputs_.size(), kMaxInputsInMessages); ++i) {
    message += i ? ", " : "; inputs: ";
    const Value* value = node_.input(i);
    if (value) message += concat("'", value->name, "' ");
    message += inputs_[i].present ? concat(inputs_[i].type) : std::string("none");
  }
  if (inputs_.size() > kMaxInputsInMessages) message += concat(", ... (", inputs_.size(), " in total)");
  invalidArgument(message);
}

}  // namespace max
