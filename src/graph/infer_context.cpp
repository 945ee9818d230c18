// SPDX-License-Identifier: Apache-2.0
#include "graph/schema.h"

namespace max {

InferContext::InferContext(const Node& node, DimTable* dims, std::span<const InputType> inputs, size_t outputCount)
    : NodeInputs(node, inputs), dims_(dims), outputs_(outputCount) {}

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

Dim InferContext::symbol(std::string_view name) const { return dims_ ? dims_->symbol(name) : DimTable::anonymous(); }

void InferContext::setOutput(size_t i, TensorType type) {
  if (i >= outputs_.size()) return;
  if (type.rank() > kMaxRank) fail("output ", i, " would have ", type.rank(), " dimensions, more than ", kMaxRank);
  if (type.dtype == DType::Invalid) type.dtype = outputs_[i].type.dtype;
  outputs_[i].type = std::move(type);
}

void InferContext::setUnknown(size_t i) { setOutput(i, TensorType::unranked(DType::Invalid)); }

void InferContext::setRank(size_t i, int rank) {
  if (rank == 0) return setUnknown(i);
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

}  // namespace max
