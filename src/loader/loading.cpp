// SPDX-License-Identifier: Apache-2.0
#include "loader/loading.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/function_ref.h"
#include "base/nearest_name.h"
#include "compiler/compile.h"
#include "device/host_tensor.h"
#include "graph/subgraphs.h"

namespace max {

WeightTable tableOf(std::span<const char* const> names, std::span<MaxBuffer* const> buffers) {
  WeightTable table;
  for (size_t i = 0; i < names.size(); ++i) table.entries[names[i]].tensor = hostTensor(*buffers[i]);
  return table;
}

namespace {

std::string nearestWeight(const Graph& graph, std::string_view name) {
  std::set<std::string_view> weights;
  for (const Node* node : graph.nodes())
    for (const Value* input : node->inputs)
      if (input && input->isWeight) weights.insert(input->name);
  NearestName nearest(name);
  for (const std::string_view weight : weights) nearest.offer(weight);
  return nearest.hintOrList();
}

}  // namespace

void requireUsed(const WeightTable& table, const GraphSource& source, const Graph& graph) {
  for (const auto& [name, entry] : table.entries)
    if (!entry.used)
      fail(MAX_STATUS_NOT_FOUND, "The model has no weight '", name, "'",
           source.isStored() ? " unchanged by compilation" : "", nearestWeight(graph, name));
}

void requireContents(const Graph& graph) {
  std::string missing;
  for (const Node* node : graph.nodes()) {
    for (const Value* input : node->inputs)
      if (input && input->isWeight && !input->constant)
        missing += concat(missing.empty() ? "'" : ", '", input->name, "'");
    forEachSubgraph(*node, [](const Graph& subgraph) { requireContents(subgraph); });
  }
  require(missing.empty(), MAX_STATUS_FAILED_PRECONDITION, "Weights without contents: ", missing);
}

namespace {

// Calls function(value, device) for what is placed on a device.
void forEachHome(const Graph& graph, FunctionRef<void(const Value&, const RefCounted&)> function) {
  for (const Value* input : graph.inputs())
    if (input->home) function(*input, *input->home);
  for (const Node* node : graph.nodes()) {
    for (const Value* value : node->inputs)
      if (value && value->isWeight && value->home) function(*value, *value->home);
    if (node->isOwn("Transfer") && node->output() && node->output()->home)
      function(*node->output(), *node->output()->home);
    forEachSubgraph(*node, [&](const Graph& subgraph) { forEachHome(subgraph, function); });
  }
  for (size_t i = 0; !graph.parent() && i < graph.outputs().size(); ++i)
    if (graph.outputHome(i)) function(*graph.outputs()[i], *graph.outputHome(i));
}

std::string namesOf(const MaxSession& session) {
  std::string names;
  for (const Ref<MaxDevice>& device : session.devices())
    names += concat(names.empty() ? "" : ", ", device->displayName());
  return names;
}

}  // namespace

void requireDevices(const Graph& graph, const MaxSession& session) {
  forEachHome(graph, [&](const Value& value, const RefCounted& home) {
    const auto& device = static_cast<const MaxDevice&>(home);
    const auto& devices = session.devices();
    if (device.isHost()) return;
    require(std::ranges::any_of(devices, [&](const Ref<MaxDevice>& each) { return each.get() == &device; }),
            MAX_STATUS_INVALID_ARGUMENT, "Graph '", graph.name(), "': '", value.name, "' is on ", device.displayName(),
            ", which the session lacks; it has ", namesOf(session));
    require(!session.mainDevice().isHost(), MAX_STATUS_INVALID_ARGUMENT, "Graph '", graph.name(), "': '", value.name,
            "' is on ", device.displayName(), ", so the first device of the session must be an accelerator; it is ",
            session.mainDevice().displayName());
  });
}

void requireOneDevice(const Graph& graph, const MaxDevice& first) {
  forEachHome(graph, [&](const Value& value, const RefCounted& home) {
    require(&home == &first, MAX_STATUS_UNIMPLEMENTED, "Graph '", graph.name(), "' cannot be saved, since '",
            value.name, "' is on ", static_cast<const MaxDevice&>(home).displayName(),
            ", not on the first device of the session: files do not say where values are");
  });
}

void compileFor(const MaxSession& session, MaxPrecision precision, const GraphSource& source,
                const SharedGraph* related, const ImportedModel& imported) {
  CompileOptions options;
  if (!session.mainDevice().isHost()) options.accelerator = &session.mainDevice();
  options.devices = session.devices();
  options.kernels = &imported.kernels;
  options.lanes = session.lanes();
  options.precision = precision;
  options.resumeStored = source.isStored();
  options.weightsFolder = session.weightsFolder();
  options.donor = related ? related->parts().graph.get() : nullptr;
  compile(*imported.graph, options);
}

}  // namespace max
