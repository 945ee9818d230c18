// SPDX-License-Identifier: Apache-2.0
// Scan in opset 8 works on a batch: states and scanned inputs have a leading batch axis. This becomes a Scan over the
// batch around the actual Scan.
#include "graph/subgraphs.h"
#include "onnx/opset.h"

namespace max::onnx {

namespace {

TensorType elementOf(const Value* value) {
  TensorType type = value->type;
  if (type.ranked && type.rank() > 0) type.dims.erase(type.dims.begin());
  return type;
}

// The body of the outer Scan: the inner one, on one sample.
Ref<Graph> sampleGraph(PendingNode& node, const Graph& body, int64_t scanned) {
  Ref<Graph> sample = makeRef<Graph>(node.graph, "sample");
  std::vector<Value*> inputs;
  for (const Value* input : node.inputs) inputs.push_back(sample->addInput("", elementOf(input)));
  Ref<Graph> step = makeRef<Graph>(*sample, "step");
  std::vector<Value*> arguments;
  for (const Value* input : body.inputs()) arguments.push_back(step->addInput("", input->type));
  const std::vector<Value*> results = step->inlineSubgraph(body, arguments);
  for (size_t i = 0; i < results.size(); ++i) step->addOutput(results[i], concat("step", i));
  step->sort();
  Attributes attributes;
  attributes.set("body", step);
  attributes.set("num_scan_inputs", scanned);
  const std::vector<int64_t> directions = node.attributes.getInts("directions");
  if (!directions.empty()) attributes.set("scan_input_directions", directions);
  const Node* inner =
      sample->addNode("", "Scan", std::move(inputs), std::move(attributes), node.outputs.size(), node.name);
  for (size_t i = 0; i < inner->outputs.size(); ++i) sample->addOutput(inner->outputs[i], concat("sample", i));
  return sample;
}

}  // namespace

void scanOfOpset8(PendingNode& node) {
  if (node.inputs.size() < 2) node.fail(MAX_STATUS_INVALID_ARGUMENT, "has too few inputs");
  if (node.inputs[0]) node.fail(MAX_STATUS_UNIMPLEMENTED, "input 'sequence_lens' is not supported");
  node.inputs.erase(node.inputs.begin());
  const Ref<Graph> body = node.attributes.getGraph("body");
  const int64_t scanned = node.attributes.getInt("num_scan_inputs", 0);
  if (!body || scanned < 1 || scanned > static_cast<int64_t>(node.inputs.size()))
    node.fail(MAX_STATUS_INVALID_ARGUMENT, concat("attribute 'num_scan_inputs' is ", scanned));
  if (body->inputs().size() != node.inputs.size() || body->outputs().size() < node.outputs.size())
    node.fail(MAX_STATUS_INVALID_ARGUMENT, "its body has a different number of inputs or outputs");
  for (const Value* input : node.inputs)
    if (!input) node.fail(MAX_STATUS_INVALID_ARGUMENT, "an input is missing");
  Attributes attributes;
  attributes.set("body", sampleGraph(node, *body, scanned));
  attributes.set("num_scan_inputs", static_cast<int64_t>(node.inputs.size()));
  node.attributes = std::move(attributes);
}

}  // namespace max::onnx
