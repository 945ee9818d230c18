// SPDX-License-Identifier: Apache-2.0
// Reading graphs: what rules ask before they rewrite.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/number_access.h"
#include "compiler/rewrite.h"
#include "graph/readers/movement.h"
#include "graph/readers/reduction.h"
#include "graph/schema.h"

namespace max {

bool isLive(const Node& node) {
  return node.graph && std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value* value) {
           return value && (!value->uses.empty() || value->isOutput());
         });
}

namespace {

constexpr size_t kMostReaders = 256;  // values with more are not looked through, which bounds the search

bool isReadBySubgraph(const Value& value) {
  return std::any_of(value.uses.begin(), value.uses.end(),
                     [&](const Use& use) { return use.node->graph != value.graph; });
}

}  // namespace

Node* localProducer(const Value* value) {
  if (!value || !value->producer || value->uses.size() > kMostReaders || isReadBySubgraph(*value)) return nullptr;
  return value->producer;
}

Node* producer(const Value* value, std::string_view op) {
  Node* node = localProducer(value);
  return node && node->is(op) ? node : nullptr;
}

Node* ownProducer(const Value* value, std::string_view op) {
  Node* node = localProducer(value);
  return node && node->isOwn(op) ? node : nullptr;
}

bool hasSingleUse(const Value* value) {
  return value && value->uses.size() == 1 && !isReadBySubgraph(*value) && !value->isOutput();
}

Node* singleUser(const Value* value) {
  if (!hasSingleUse(value)) return nullptr;
  Node* user = value->uses[0].node;
  return user->graph == value->graph ? user : nullptr;
}

bool isRanked(const Value* value) { return value && value->type.ranked; }

int rankOf(const Value* value) { return value->type.rank(); }

bool sameDims(const Value* a, const Value* b) { return isRanked(a) && isRanked(b) && a->type.dims == b->type.dims; }

bool sameRank(const Value* a, const Value* b) { return isRanked(a) && isRanked(b) && rankOf(a) == rankOf(b); }

bool sameType(const Value* a, const Value* b) { return sameDims(a, b) && a->type.dtype == b->type.dtype; }

double elementOf(const Tensor& tensor, int64_t i) {
  return isNumeric(tensor.dtype()) ? numberAt(tensor.dtype(), tensor.data(), i) : NAN;
}

Value* Rewriter::scalar(DType dtype, double value) { return constant(Tensor::scalar(dtype, value)); }

std::optional<double> scalarOf(const Value* value) {
  if (!value || !value->constant || value->constant->count() != 1) return std::nullopt;
  const double number = elementOf(*value->constant, 0);
  // An unknown dtype reads as NaN; a real NaN matches no pattern either.
  if (std::isnan(number)) return std::nullopt;
  return number;
}

bool isScalar(const Value* value, double number) {
  const auto scalar = scalarOf(value);
  // Constants of patterns, such as 0.044715, come in different roundings.
  return scalar && std::fabs(*scalar - number) <= 1e-6 + 1e-3 * std::fabs(number) &&
         ((number != 0 && number != 1) || *scalar == number);
}

std::optional<std::vector<int64_t>> integersOf(const Value* value) {
  if (!value || !value->constant) return std::nullopt;
  const DType dtype = value->constant->dtype();
  if (dtype != DType::Int64 && dtype != DType::Int32) return std::nullopt;
  return integerValues(*value->constant);
}

bool sameTensor(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

int64_t normaliseAxis(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

bool hasTrait(const Node& node, OpTraits trait) { return node.schema && node.schema->has(trait); }

Value* otherOperand(const Node& node, const Value* value) {
  return node.input(0) == value ? node.input(1) : node.input(0);
}

ScalarOperand scalarOperand(const Node* node) {
  if (!node || node->inputs.size() != 2) return {};
  for (size_t side : {size_t{1}, size_t{0}})
    if (const auto scalar = scalarOf(node->inputs[side]))
      if (rankOf(node->inputs[side]) <= rankOf(node->output())) return {node->inputs[1 - side], *scalar, side == 0};
  return {};
}

namespace {

// If ranks are unknown, the attribute has not been checked yet.
bool isPermutation(const std::vector<int64_t>& perm) {
  if (perm.size() > static_cast<size_t>(kMaxRank)) return false;
  uint32_t seen = 0;
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size())) return false;
    seen |= 1u << axis;
  }
  return seen == (1u << perm.size()) - 1;
}

}  // namespace

std::vector<int64_t> permOf(const Node& transpose) {
  std::vector<int64_t> perm = readers::readOrder(transpose.attributes);
  if (perm.empty() && isRanked(transpose.input(0)))
    for (int64_t axis = rankOf(transpose.input(0)) - 1; axis >= 0; --axis) perm.push_back(axis);
  return isPermutation(perm) ? perm : std::vector<int64_t>();
}

std::vector<int64_t> inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> result(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) result[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return result;
}

std::vector<int64_t> channelsToLast(int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin() + 1, perm.end(), 2);
  perm.back() = 1;
  return perm;
}

bool isReduce(const Node& node) { return node.domain().empty() && node.op().starts_with("Reduce"); }

std::optional<std::vector<int64_t>> reducedAxes(const Node& reduce) {
  if (!isRanked(reduce.input(0))) return std::nullopt;
  const std::vector<InputType> types = inputTypes(reduce);
  const auto reduction = readers::readReduction(NodeInputs(reduce, types));
  if (!reduction) return std::nullopt;
  std::vector<int64_t> axes;
  for (int axis = 0; axis < rankOf(reduce.input(0)); ++axis)
    if (reduction->reduced[static_cast<size_t>(axis)]) axes.push_back(axis);
  return axes;
}

std::optional<std::vector<int64_t>> reshapeTarget(const SymbolicShape& from, const SymbolicShape& to) {
  std::vector<int64_t> target;
  bool inferred = false;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].isKnown()) {
      if (to[i].value() <= 0) return std::nullopt;  // 0 would mean "as in the input"
      target.push_back(to[i].value());
    } else if (i < from.size() && to[i] == from[i]) {
      target.push_back(0);
    } else {
      if (inferred) return std::nullopt;
      inferred = true;
      target.push_back(-1);
    }
  }
  return target;
}

std::vector<int64_t> unitViewAxes(const SymbolicShape& base, const SymbolicShape& view) {
  std::vector<int64_t> axes;
  size_t at = 0;
  for (const Dim& dim : view) {
    if (dim.is(1)) {
      axes.push_back(-1);
      continue;
    }
    while (at < base.size() && base[at].is(1)) ++at;
    if (at == base.size() || !(base[at] == dim)) return {};
    axes.push_back(static_cast<int64_t>(at++));
  }
  while (at < base.size() && base[at].is(1)) ++at;
  return at == base.size() ? axes : std::vector<int64_t>();
}

}  // namespace max
