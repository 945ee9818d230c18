// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: those without effect vanish, permutations join.
#include <algorithm>
#include <numeric>

#include "compiler/passes/rules.h"

namespace max {

namespace {

bool isIdentityPerm(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

bool dropTranspose(Rewriter& rewriter, Node& node) {
  const std::vector<int64_t> perm = permOf(node);
  return !perm.empty() && isIdentityPerm(perm) && rewriter.replace(&node, node.input(0));
}

bool joinTransposes(Rewriter& rewriter, Node& node) {
  Node* first = producer(node.input(0), "Transpose");
  if (!first) return false;
  const std::vector<int64_t> inner = permOf(*first);
  const std::vector<int64_t> outer = permOf(node);
  if (inner.empty() || inner.size() != outer.size()) return false;
  std::vector<int64_t> joined;
  for (int64_t axis : outer) joined.push_back(inner[static_cast<size_t>(axis)]);
  if (isIdentityPerm(joined)) return rewriter.replace(&node, first->input(0));
  return rewriter.replace(&node, rewriter.transpose(first->input(0), joined, &node));
}

// A Transpose that moves dimensions of size 1 only is a Reshape.
bool transposeAsReshape(Rewriter& rewriter, Node& node) {
  if (!isRanked(node.input(0))) return false;
  const SymbolicShape& dims = node.input(0)->type.dims;
  int64_t last = -1;
  for (int64_t axis : permOf(node)) {
    if (dims[static_cast<size_t>(axis)].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  Value* view = rewriter.reshape(node.input(0), node.output()->type.dims, &node);
  return view && rewriter.replace(&node, view);
}

bool dropSlice(Rewriter& rewriter, Node& node) {
  if (!sameDims(node.input(0), node.output())) return false;
  // Equal dimensions and steps of 1 mean everything; a step of -1 would reverse.
  if (node.input(4)) {
    const auto steps = integersOf(node.input(4));
    if (!steps || std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step != 1; })) return false;
  }
  return rewriter.replace(&node, node.input(0));
}

bool dropPad(Rewriter& rewriter, Node& node) {
  const auto pads = integersOf(node.input(1));
  if (!pads || std::any_of(pads->begin(), pads->end(), [](int64_t pad) { return pad != 0; })) return false;
  return rewriter.replace(&node, node.input(0));
}

bool isEmpty(const Value* value) {
  return value && isRanked(value) &&
         std::any_of(value->type.dims.begin(), value->type.dims.end(), [](const Dim& dim) { return dim.is(0); });
}

bool dropConcat(Rewriter& rewriter, Node& node) {
  if (node.inputs.size() == 1) return rewriter.replace(&node, node.input(0));
  std::vector<Value*> inputs;
  for (Value* input : node.inputs)
    if (!isEmpty(input)) inputs.push_back(input);
  if (inputs.empty() || inputs.size() == node.inputs.size()) return false;
  return rewriter.replace(&node, rewriter.add("", "Concat", inputs, node.attributes, {&node})->output());
}

bool dropTile(Rewriter& rewriter, Node& node) {
  const auto repeats = integersOf(node.input(1));
  if (!repeats || std::any_of(repeats->begin(), repeats->end(), [](int64_t count) { return count != 1; })) return false;
  return rewriter.replace(&node, node.input(0));
}

bool dropSplit(Rewriter& rewriter, Node& node) {
  return node.outputs.size() == 1 && sameDims(node.input(0), node.output()) && rewriter.replace(&node, node.input(0));
}

constexpr Rule kRules[] = {
    {"", "Transpose", dropTranspose},
    {"", "Transpose", joinTransposes},
    {"", "Transpose", transposeAsReshape},
    {"", "Slice", dropSlice},
    {"", "Pad", dropPad},
    {"", "Concat", dropConcat},
    {"", "Tile", dropTile},
    {"", "Split", dropSplit},
};

}  // namespace

std::span<const Rule> movementRules() { return kRules; }

}  // namespace max
