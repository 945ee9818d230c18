// SPDX-License-Identifier: Apache-2.0
// Chooses what runs on the session's accelerator, and takes its constants there. What is left runs on the host, as do
// all bodies of loops: the planner copies between the two.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "compiler/passes.h"
#include "graph/subgraphs.h"
#include "ops/device_operators.h"

namespace max {

namespace {

constexpr int64_t kFewElements = 16;  // integers that are likely to become sizes

// Other nodes' shapes depend on its contents, so that a plan needs them on the host.
bool isShape(const Value& value) {
  return value.elements || std::any_of(value.uses.begin(), value.uses.end(), [](const Use& use) {
           return use.index < 32 && (use.node->schema->shapeInputs >> use.index & 1);
         });
}

bool isFewIntegers(const Value& value) {
  if (!isInteger(value.type.dtype) || !value.type.ranked) return false;
  int64_t count = 1;
  for (const Dim& dim : value.type.dims) {
    if (!dim.isKnown() || dim.value() > kFewElements) return false;
    count *= dim.value();
  }
  return count <= kFewElements;
}

// Shape arithmetic, and what decides about the next nodes, stays on the host.
bool belongsOnHost(const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const Value* output) { return !output || isShape(*output) || isFewIntegers(*output); });
}

bool isKnown(const Value* value) { return !value || value->type.dtype != DType::Invalid; }

bool isCandidate(const Node& node) {
  return isLive(node) && !hasTrait(node, kTraitView) && !belongsOnHost(node) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), isKnown) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), isKnown);
}

// Branches run like the nodes around them.
void collect(const Graph& graph, std::vector<Node*>& candidates, std::map<std::string, int64_t>& onHost) {
  for (Node* node : graph.nodes()) {
    if (node->is("If"))
      forEachSubgraph(*node, [&](const Graph& branch) { collect(branch, candidates, onHost); });
    else if (isCandidate(*node))
      candidates.push_back(node);
    else if (isLive(*node) && !hasTrait(*node, kTraitView) && !belongsOnHost(*node))
      ++onHost[std::string(node->op())];
  }
}

void upload(const std::vector<Node*>& nodes, const DeviceOperators& operators, MaxDevice& device) {
  for (const Node* node : nodes)
    for (size_t i = 0; node->placed && i < node->inputs.size(); ++i) {
      Value* input = node->inputs[i];
      if (!input || !input->constant || !input->constant->hasContents() || input->onDevice) continue;
      if (!operators.reads(*node, i)) continue;
      const Ref<Tensor> packed = operators.packed(*node, i);
      input->onDevice = uploaded(packed ? *packed : *input->constant, device);
    }
}

void report(const std::vector<Node*>& candidates, std::map<std::string, int64_t>& onHost, const MaxDevice& device) {
  int64_t placed = 0, rest = 0;
  for (const Node* node : candidates) node->placed ? ++placed : ++onHost[std::string(node->op())];
  std::string names;
  for (const auto& [name, count] : onHost) {
    names += concat(names.empty() ? ": " : ", ", name, count > 1 ? concat(" (", count, ")") : std::string());
    rest += count;
  }
  logMessage(MAX_LOG_LEVEL_INFO, placed, " of ", placed + rest, " operators run on ", device.displayName(),
             "; on the host ", rest, names);
}

}  // namespace

void placeNodes(Rewriter& rewriter) {
  MaxDevice* device = rewriter.options().accelerator;
  const DeviceOperators* operators = device ? deviceOperators(*device) : nullptr;
  if (!operators || rewriter.graph().parent()) return;
  // Kernels are made for the outputs that their nodes have.
  if (rewriter.graph().eraseDead() > 0) rewriter.graph().sort();
  std::vector<Node*> candidates;
  std::map<std::string, int64_t> onHost;
  collect(rewriter.graph(), candidates, onHost);
  const CompileOptions& options = rewriter.options();
  operators->place(candidates, *device, {options.lanes, options.precision, options.kernels});
  if (!device->isVirtual()) upload(candidates, *operators, *device);
  report(candidates, onHost, *device);
}

}  // namespace max
