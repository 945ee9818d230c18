// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: removes those without effect, merges permutations.
#include <algorithm>
#include <cstdint>

#include "compiler/passes/rules.h"
#include "graph/readers/normalization.h"
#include "graph/readers/resize.h"

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

// A Transpose that only moves dimensions of size 1 is a Reshape.
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

constexpr int64_t kToTheEnd = INT32_MAX;  // exporters write such ends for "all"

// An end beyond any tensor with these dimensions (TensorFlow's exporter writes 1000000000 for "all").
bool isOutOfReach(int64_t end, const Value* value, size_t axis) {
  if (end >= kToTheEnd) return true;
  constexpr double kAddressSpace = 0x1p47;
  double bytes = static_cast<double>(end) * static_cast<double>(sizeOf(value->type.dtype));
  for (size_t i = 0; i < value->type.dims.size(); ++i)
    if (i != axis && value->type.dims[i].isKnown()) bytes *= static_cast<double>(value->type.dims[i].value());
  return bytes >= kAddressSpace;
}

bool takesAll(int64_t end, const Value* value, int64_t axis) {
  if (axis < 0 || axis >= rankOf(value)) return false;
  const Dim dim = value->type.dims[static_cast<size_t>(axis)];
  return dim.isKnown() ? end >= dim.value() : isOutOfReach(end, value, static_cast<size_t>(axis));
}

bool allEqual(const std::vector<int64_t>& values, int64_t number) {
  return std::all_of(values.begin(), values.end(), [number](int64_t value) { return value == number; });
}

// From the first element to the end of the axis in steps of 1.
bool isWholeSlice(const Node& node) {
  const auto starts = integersOf(node.input(1)), ends = integersOf(node.input(2));
  const auto axes = node.input(3) ? integersOf(node.input(3)) : std::optional(std::vector<int64_t>());
  if (!starts || !ends || !axes || !allEqual(*starts, 0) || ends->size() != starts->size()) return false;
  if (node.input(3) && axes->size() != starts->size()) return false;
  for (size_t i = 0; i < ends->size(); ++i) {
    const int64_t axis = node.input(3) ? (*axes)[i] : static_cast<int64_t>(i);
    if (!takesAll((*ends)[i], node.input(0), normaliseAxis(axis, rankOf(node.input(0))))) return false;
  }
  return true;
}

bool dropSlice(Rewriter& rewriter, Node& node) {
  if (!isRanked(node.input(0))) return false;
  const auto steps = node.input(4) ? integersOf(node.input(4)) : std::optional(std::vector<int64_t>());
  // Equal dimensions and steps of 1 select everything; a step of -1 would reverse.
  if (!steps || !allEqual(*steps, 1)) return false;
  return (sameDims(node.input(0), node.output()) || isWholeSlice(node)) && rewriter.replace(&node, node.input(0));
}

bool dropPad(Rewriter& rewriter, Node& node) {
  const auto pads = integersOf(node.input(1));
  if (!pads || !allEqual(*pads, 0)) return false;
  return rewriter.replace(&node, node.input(0));
}

// To the same size, by sizes or scales of 1.
bool dropResize(Rewriter& rewriter, Node& node) {
  if (!isRanked(node.input(0)) || !sameDims(node.input(0), node.output())) return false;
  const readers::Resize resize(node.attributes, rankOf(node.input(0)));
  if (resize.crops() || resize.policy != readers::AspectPolicy::Stretch) return false;
  if (const Value* scales = node.input(2); scales && !(scales->constant && scales->constant->count() == 0)) {
    if (!scales->constant || scales->constant->dtype() != DType::Float32) return false;
    const float* numbers = scales->constant->as<float>();
    if (!std::all_of(numbers, numbers + scales->constant->count(), [](float scale) { return scale == 1; }))
      return false;
  }
  return rewriter.replace(&node, node.input(0));
}

bool isEmptyAlong(const Value* value, const Node& concat) {
  if (!value || !isRanked(value) || rankOf(value) == 0) return false;
  return value->type.dims[static_cast<size_t>(readers::readAxis(concat.attributes, 0, rankOf(value)))].is(0);
}

// An operand that is empty along another axis still makes the result wider.
bool dropConcat(Rewriter& rewriter, Node& node) {
  if (node.inputs.size() == 1) return rewriter.replace(&node, node.input(0));
  std::vector<Value*> inputs;
  for (Value* input : node.inputs)
    if (!isEmptyAlong(input, node)) inputs.push_back(input);
  if (inputs.empty() || inputs.size() == node.inputs.size()) return false;
  return rewriter.replace(&node, rewriter.add("", "Concat", inputs, node.attributes, {&node})->output());
}

bool dropTile(Rewriter& rewriter, Node& node) {
  const auto repeats = integersOf(node.input(1));
  if (!repeats || !allEqual(*repeats, 1)) return false;
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
    {"", "Resize", dropResize},
    {"", "Concat", dropConcat},
    {"", "Tile", dropTile},
    {"", "Split", dropSplit},
};

}  // namespace

std::span<const Rule> movementRules() { return kRules; }

}  // namespace max
