// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/schema.h"
#include "graph/signature.h"

namespace max {

namespace {

constexpr size_t kMaxInputsInMessages = 8;

// Any integer dtype as dimensions; nullopt for others.
std::optional<std::vector<Dim>> contentsOf(const Tensor& tensor) {
  if (tensor.count() > static_cast<int64_t>(16 * kMaxElements)) return std::nullopt;
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

InferContext::InferContext(const Node& node, DimTable* dims, std::span<const InputType> inputs, size_t outputCount)
    : node_(node), dims_(dims), inputs_(inputs), outputs_(outputCount) {}

const InputType& InferContext::input(size_t i) const {
  static const InputType absent;
  return i < inputs_.size() ? inputs_[i] : absent;
}

std::optional<std::vector<Dim>> InferContext::elements(size_t i) const {
  const InputType& type = input(i);
  if (type.constant) return contentsOf(*type.constant);
  if (type.elements) return *type.elements;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> InferContext::integers(size_t i) const {
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

std::optional<std::vector<int>> InferContext::axes(size_t i, int rank) const {
  if (!has(i)) return std::vector<int>();
  const auto values = integers(i);
  if (!values) return std::nullopt;
  return axesOf(*values, rank);
}

std::vector<int> InferContext::axesOf(std::span<const int64_t> values, int rank) const {
  std::vector<int> result;
  for (int64_t value : values) {
    const int normal = axis(value, rank);
    if (std::find(result.begin(), result.end(), normal) != result.end()) fail("axis ", value, " is given twice");
    result.push_back(normal);
  }
  return result;
}

int InferContext::axis(int64_t value, int rank) const {
  if (value < -rank || value >= rank) fail("axis ", value, " is out of range for rank ", rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

Dim InferContext::broadcast(Dim a, Dim b) const {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.isKnown() && b.isKnown()) fail("dimensions ", a, " and ", b, " do not broadcast");
  if (a.isKnown() || b.isKnown()) return a.isKnown() ? a : b;
  // Two different symbols: equal at run time, or one of them is 1.
  return a.isAnonymous() || b.isAnonymous() ? unknownDim() : maximum(a, b);
}

SymbolicShape InferContext::broadcast(const SymbolicShape& a, const SymbolicShape& b) const {
  if (a.size() < b.size()) return broadcast(b, a);
  SymbolicShape result = a;
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    const Dim x = a[offset + i], y = b[i];
    if (x.isKnown() && y.isKnown() && x != y && !x.is(1) && !y.is(1))
      fail("shapes ", a, " and ", b, " do not broadcast: ", x, " and ", y, " disagree at axis ", offset + i);
    result[offset + i] = broadcast(x, y);
  }
  return result;
}

Dim InferContext::unknownDim() const { return dims_ ? dims_->unknown() : DimTable::anonymous(); }

void InferContext::setOutput(size_t i, TensorType type) {
  if (i >= outputs_.size()) return;
  if (type.rank() > kMaxRank) fail("output ", i, " would have ", type.rank(), " dimensions, more than ", kMaxRank);
  if (type.dtype == DType::Invalid) type.dtype = outputs_[i].type.dtype;
  outputs_[i].type = std::move(type);
}

void InferContext::setRank(size_t i, int rank) {
  if (i >= outputs_.size()) return;
  if (rank > kMaxRank) fail("output ", i, " would have ", rank, " dimensions, more than ", kMaxRank);
  SymbolicShape dims;
  for (int k = 0; k < rank; ++k) dims.push_back(unknownDim());
  setShape(i, std::move(dims));
}

void InferContext::setOutputLike(size_t i, size_t input) {
  if (has(input) && ranked(input)) setShape(i, dims(input));
}

void InferContext::setDType(size_t i, DType dtype) {
  if (i < outputs_.size()) outputs_[i].type.dtype = dtype;
}

void InferContext::setElements(size_t i, std::vector<Dim> elements) {
  if (i < outputs_.size() && elements.size() <= kMaxElements) outputs_[i].elements = std::move(elements);
}

void InferContext::failWith(const std::string& text) const {
  std::string message = concat(node_.description(), ": ", text);
  for (size_t i = 0; i < std::min(inputs_.size(), kMaxInputsInMessages); ++i) {
    message += i ? ", " : "; inputs: ";
    const Value* value = node_.input(i);
    if (value) message += concat("'", value->name, "' ");
    message += inputs_[i].present ? concat(inputs_[i].type) : std::string("none");
  }
  if (inputs_.size() > kMaxInputsInMessages) message += concat(", ... (", inputs_.size(), " in all)");
  throwError(MAX_STATUS_INVALID_ARGUMENT, std::move(message));
}

}  // namespace max
