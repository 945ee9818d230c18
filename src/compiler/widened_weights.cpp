// SPDX-License-Identifier: Apache-2.0
#include "compiler/widened_weights.h"

#include <algorithm>

namespace max {

namespace {

// Of which there may be too many to have them as floats at the same time.
constexpr int64_t kFewest = 1 << 16;

bool isFactor(const Use& use, const Graph* graph) {
  const Node& node = *use.node;
  const bool isProduct = node.is("MatMul") || node.is("Gemm") || (node.domain() == kMaxDomain && node.op() == "MatMul");
  return isProduct && use.index == 1 && node.graph == graph && !node.placed;
}

}  // namespace

bool widensWeights(const Node& node) {
  if (!node.is("Cast") || node.placed) return false;
  const Value *from = node.input(0), *to = node.output();
  if (!from->constant || !from->constant->hasContents() || from->constant->count() < kFewest) return false;
  const DType dtype = from->constant->dtype();
  if ((dtype != DType::Float16 && dtype != DType::BFloat16) || to->type.dtype != DType::Float32) return false;
  return !to->isOutput() && !to->uses.empty() &&
         std::all_of(to->uses.begin(), to->uses.end(), [&](const Use& use) { return isFactor(use, node.graph); });
}

const Value* narrowWeights(const Value* value) {
  if (!value || value->constant || !value->producer || !widensWeights(*value->producer)) return nullptr;
  return value->producer->input(0);
}

}  // namespace max
