// SPDX-License-Identifier: Apache-2.0
#include "loader/loading.h"

#include <set>
#include <string_view>

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

void compileFor(const MaxSession& session, MaxPrecision precision, const GraphSource& source,
                const SharedGraph* related, const ImportedModel& imported) {
  CompileOptions options;
  if (!session.mainDevice().isHost()) options.accelerator = &session.mainDevice();
  options.kernels = &imported.kernels;
  options.lanes = session.lanes();
  options.precision = precision;
  options.resumeStored = source.isStored();
  options.weightsFolder = session.weightsFolder();
  options.donor = related ? related->parts().graph.get() : nullptr;
  compile(*imported.graph, options);
}

}  // namespace max
