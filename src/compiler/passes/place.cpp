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
  return isLive(node) && !hasTrait(node, kTraitView) && !node.isOwn("Transfer") && !belongsOnHost(node) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), isKnown) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), isKnown);
}

// What runs where. A node runs on the device of the first input that is placed on one.
class Placement {
 public:
  using Homes = std::map<const RefCounted*, std::vector<Node*>>;  // NULL = the session's first device

  explicit Placement(const MaxDevice& first) : first_(first) {}

  // Branches run like the nodes around them.
  void collect(const Graph& graph) {
    for (const Value* input : graph.inputs()) homes_[input] = placeOf(*input);
    for (Node* node : graph.nodes()) {
      const RefCounted* home = homeOf(*node);
      if (node->is("If"))
        forEachSubgraph(*node, [&](const Graph& branch) {
          collect(branch);
          for (const Value* output : branch.outputs())
            if (!home) home = homeOf(output);
        });
      else if (isCandidate(*node))
        candidates[home].push_back(node);
      else if (isLive(*node) && !hasTrait(*node, kTraitView) && !node->isOwn("Transfer") && !belongsOnHost(*node))
        ++onHost[std::string(node->op())];
      for (const Value* output : node->outputs)
        if (output) homes_[output] = home;
    }
  }

  Homes candidates;
  std::map<std::string, int64_t> onHost;

 private:
  const RefCounted* placeOf(const Value& value) const {
    return value.home.get() == &first_ ? nullptr : value.home.get();
  }
  const RefCounted* homeOf(const Value* value) const {
    if (!value || value->isWeight) return value ? placeOf(*value) : nullptr;
    const auto entry = homes_.find(value);
    return entry == homes_.end() ? nullptr : entry->second;
  }
  const RefCounted* homeOf(const Node& node) const {
    if (node.isOwn("Transfer")) return node.output() ? placeOf(*node.output()) : nullptr;
    for (const Value* input : node.inputs)
      if (const RefCounted* home = homeOf(input)) return home;
    return nullptr;
  }

  const MaxDevice& first_;
  std::map<const Value*, const RefCounted*> homes_;
};

void upload(const std::vector<Node*>& nodes, const DeviceOperators& operators, MaxDevice& device) {
  for (const Node* node : nodes)
    for (size_t i = 0; node->placed && i < node->inputs.size(); ++i) {
      Value* input = node->inputs[i];
      if (!input || !input->constant || !input->constant->hasContents() || input->onDevice(node->home)) continue;
      if (!operators.reads(*node, i)) continue;
      const Ref<Tensor> packed = operators.packed(*node, i);
      input->onDevices.push_back({node->home, uploaded(packed ? *packed : *input->constant, device)});
    }
}

// NULL as a home is the first device.
MaxDevice& deviceAt(const CompileOptions& options, const RefCounted* home) {
  for (const Ref<MaxDevice>& device : options.devices)
    if (device.get() == home) return *device;
  return *options.accelerator;
}

void placeOn(MaxDevice& device, const RefCounted* home, const std::vector<Node*>& nodes,
             const CompileOptions& options) {
  const DeviceOperators* operators = deviceOperators(device);
  if (!operators) return;
  const MaxPrecision precision = operators->precisionFor(device, options.precision);
  operators->place(nodes, device, {options.lanes, precision, options.kernels});
  for (Node* node : nodes) node->home = home;
  if (!device.isVirtual()) upload(nodes, *operators, device);
}

void report(Placement& placement, const CompileOptions& options) {
  int64_t placed = 0, rest = 0;
  std::string devices, names;
  for (const auto& [home, nodes] : placement.candidates) {
    for (const Node* node : nodes) node->placed ? ++placed : ++placement.onHost[std::string(node->op())];
    const MaxDevice& device = deviceAt(options, home);
    if (!device.isHost()) devices += concat(devices.empty() ? "" : ", ", device.displayName());
  }
  for (const auto& [name, count] : placement.onHost) {
    names += concat(names.empty() ? ": " : ", ", name, count > 1 ? concat(" (", count, ")") : std::string());
    rest += count;
  }
  logMessage(MAX_LOG_LEVEL_INFO, placed, " of ", placed + rest, " operators run on ",
             devices.empty() ? options.accelerator->displayName() : devices, "; on the host ", rest, names);
}

}  // namespace

void placeNodes(Rewriter& rewriter) {
  MaxDevice* device = rewriter.options().accelerator;
  if (!device || rewriter.graph().parent()) return;
  // Kernels are made for the outputs that their nodes have.
  if (rewriter.graph().eraseDead() > 0) rewriter.graph().sort();
  Placement placement(*device);
  placement.collect(rewriter.graph());
  for (const auto& [home, nodes] : placement.candidates)
    placeOn(deviceAt(rewriter.options(), home), home, nodes, rewriter.options());
  report(placement, rewriter.options());
}

}  // namespace max
