// SPDX-License-Identifier: Apache-2.0
// Indices that are repeated along all axes but one select whole slices: GatherElements becomes Gather, and
// ScatterElements ScatterND, as PyTorch's index_select and index_add would have it, and the repetition is not computed.
#include "compiler/passes.h"
#include "graph/readers/normalization.h"

namespace max {

namespace {

// The list of indices that `node` has, repeated along all axes but `axis`; NULL if it does not, or if the slices that
// it selects may not be whole.
Value* repeatedIndices(const Node& node, int axis) {
  const Value *data = node.input(0), *indices = node.input(1);
  Node* repeat = producer(indices, "Expand");
  if (!repeat) repeat = producer(indices, "Tile");
  if (!repeat || !isRanked(repeat->input(0)) || !isRanked(indices)) return nullptr;
  Value* list = repeat->input(0);
  const int rank = rankOf(indices), added = rank - rankOf(list);
  for (int i = 0; i < rank; ++i) {
    const Dim& dim = indices->type.dims[static_cast<size_t>(i)];
    if (i != axis && !(dim == data->type.dims[static_cast<size_t>(i)])) return nullptr;
    if (i < added && i == axis) return nullptr;
    if (i < added) continue;
    const Dim& own = list->type.dims[static_cast<size_t>(i - added)];
    if (i == axis ? !(own == dim) : !own.is(1)) return nullptr;
  }
  return list;
}

// The axis that indices replace; -1 if ranks are not known to agree.
int indexedAxis(const Node& node) {
  if (!isRanked(node.input(0)) || !isRanked(node.input(1)) || !sameRank(node.input(0), node.input(1))) return -1;
  return readers::readAxis(node.attributes, 0, rankOf(node.input(0)));
}

bool gatherSlices(Rewriter& rewriter, Node& node) {
  const int axis = indexedAxis(node);
  Value* repeated = axis < 0 ? nullptr : repeatedIndices(node, axis);
  if (!repeated) return false;
  Value* list = rewriter.reshape(repeated, {node.input(1)->type.dims[static_cast<size_t>(axis)]}, &node);
  if (!list) return false;
  Attributes attributes;
  attributes.set("axis", int64_t{axis});
  Value* gathered = rewriter.add("", "Gather", {node.input(0), list}, std::move(attributes), {&node})->output();
  return sameType(gathered, node.output()) && rewriter.replace(&node, gathered);
}

bool scatterSlices(Rewriter& rewriter, Node& node) {
  Value* repeated = indexedAxis(node) == 0 ? repeatedIndices(node, 0) : nullptr;
  if (!repeated || repeated->type.dtype != DType::Int64 || !sameDims(node.input(1), node.input(2))) return false;
  Value* tuples = rewriter.reshape(repeated, {node.input(1)->type.dims[0], Dim(1)}, &node);
  if (!tuples) return false;
  Attributes attributes = node.attributes;
  attributes.erase("axis");
  Value* scattered =
      rewriter.add("", "ScatterND", {node.input(0), tuples, node.input(2)}, std::move(attributes), {&node})->output();
  return sameType(scattered, node.output()) && rewriter.replace(&node, scattered);
}

constexpr Rule kRules[] = {
    {"", "GatherElements", gatherSlices},
    {"", "ScatterElements", scatterSlices},
};

}  // namespace

void selectSlices(Rewriter& rewriter) { applyRules(rewriter, kRules); }

}  // namespace max
