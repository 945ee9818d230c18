// SPDX-License-Identifier: Apache-2.0
// On an accelerator, NonZero and Compress become operators whose shapes are known, and a Slice to the number that they
// found: the host reads that number, and the elements stay on the device.
#include "compiler/passes.h"
#include "graph/readers/indexing.h"

namespace max {

namespace {

bool isCountable(const Value* value) {
  const DType dtype = value->type.dtype;
  const bool isNumber = dtype == DType::Bool || (isFloat(dtype) || isInteger(dtype));
  return isRanked(value) && isNumber && bitsOf(dtype) >= 8;
}

Attributes withAxis(int64_t axis) {
  Attributes attributes;
  attributes.set("axis", axis);
  return attributes;
}

// The places of what is not zero, as NonZero has them.
Value* placesIn(Rewriter& rewriter, Value* value, const Node& node) {
  const Node* counted = rewriter.add(kMaxDomain, "CountedNonZero", {value}, {}, {&node}, 2);
  const auto number = [&](int64_t n) { return rewriter.constant(std::vector<int64_t>{n}); };
  return rewriter.add("", "Slice", {counted->output(0), number(0), counted->output(1), number(1)}, {}, {&node})
      ->output();
}

bool countNonZero(Rewriter& rewriter, Node& node) {
  if (!isCountable(node.input(0))) return false;
  return rewriter.replace(&node, placesIn(rewriter, node.input(0), node));
}

// A Gather of the places where the condition holds.
bool countCompress(Rewriter& rewriter, Node& node) {
  Value *data = node.input(0), *condition = node.input(1);
  if (!isRanked(data) || rankOf(data) == 0 || !isCountable(condition) || rankOf(condition) != 1) return false;
  if (holdsPointers(data->type.dtype) || bitsOf(data->type.dtype) < 8) return false;
  const std::vector<InputType> types = inputTypes(node);
  const std::optional<int> axis = readers::readSelectionAxis(NodeInputs(node, types));
  Value* all = rewriter.constant(std::vector<int64_t>{-1});
  Value* places = rewriter.add("", "Reshape", {placesIn(rewriter, condition, node), all}, {}, {&node})->output();
  if (!axis) data = rewriter.add("", "Reshape", {data, all}, {}, {&node})->output();
  return rewriter.replace(&node,
                          rewriter.add("", "Gather", {data, places}, withAxis(axis.value_or(0)), {&node})->output());
}

constexpr Rule kRules[] = {{"", "NonZero", countNonZero}, {"", "Compress", countCompress}};

}  // namespace

void countSelections(Rewriter& rewriter) {
  if (rewriter.options().accelerator && !rewriter.graph().parent()) applyRules(rewriter, kRules, 1);
}

}  // namespace max
