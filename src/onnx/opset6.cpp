// SPDX-License-Identifier: Apache-2.0
// Operators as they were before opset 7, for the few models that old.
#include "onnx/opset.h"

namespace max::onnx {

namespace {

const TensorType& typeOf(const PendingNode& node, size_t i) {
  if (i >= node.inputs.size() || !node.inputs[i] || !node.inputs[i]->type.ranked)
    node.fail(MAX_STATUS_UNIMPLEMENTED, concat("before opset 7 the rank of input ", i, " must be known"));
  return node.inputs[i]->type;
}

// Appends dimensions of 1 to the second input's.
void widenSecond(PendingNode& node, int64_t count) {
  if (count <= 0) return;
  const int rank = node.inputs[1]->type.rank();
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(rank + i);
  Value* list = node.graph.addConstant(Tensor::copyOf(DType::Int64, Shape{count}, axes.data()));
  node.inputs[1] = node.graph.addNode("", "Unsqueeze", {node.inputs[1], list}, {}, 1, node.name)->output();
}

}  // namespace

// The second input's dimensions match the first's from `axis` on; by default, the last ones.
void broadcastFromAxis(PendingNode& node) {
  const int64_t axis = node.attributes.getInt("axis", -1);
  const bool isMoved = node.attributes.getInt("broadcast", 0) != 0 && node.attributes.has("axis");
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  if (!isMoved) return;
  const int first = typeOf(node, 0).rank(), second = typeOf(node, 1).rank();
  const int64_t begin = axis < 0 ? axis + first : axis;
  if (begin < 0 || begin + second > first)
    node.fail(MAX_STATUS_INVALID_ARGUMENT,
              concat("attribute 'axis' is ", axis, " for inputs of ", first, " and ", second, " dimensions"));
  widenSecond(node, first - begin - second);
}

// A list of slopes has one per channel.
void slopePerChannel(PendingNode& node) {
  if (typeOf(node, 1).rank() == 1 && !typeOf(node, 1).dims[0].is(1)) widenSecond(node, typeOf(node, 0).rank() - 2);
}

}  // namespace max::onnx
