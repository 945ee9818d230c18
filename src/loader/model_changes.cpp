// SPDX-License-Identifier: Apache-2.0
// Loaded models with other weights, and as files.
#include <map>
#include <string>

#include "compiler/compile.h"
#include "loader/loading.h"
#include "loader/model_loader.h"
#include "ops/device_operators.h"

namespace max {

namespace {

ModelOrigin& originOf(const MaxModel& model, const char* what) {
  auto& origin = static_cast<ModelOrigin&>(*model.source());
  require(bool(origin.source), MAX_STATUS_FAILED_PRECONDITION, what, ": ", origin.missingSource);
  return origin;
}

// External data that changed would mix old and new weights.
void requireUnchanged(const SharedGraph::Parts& before, const ImportedModel& imported) {
  for (const auto& [path, storage] : imported.externalFiles)
    for (const auto& [oldPath, identity] : before.externalFiles)
      require(path != oldPath || *storage->file() == identity, MAX_STATUS_FAILED_PRECONDITION, "External data '", path,
              "' has changed since the model was loaded");
}

// How many nodes use each weight of the main graph.
std::map<std::string, size_t> useCounts(const Graph& graph) {
  std::map<std::string, size_t> counts;
  for (const Node* node : graph.nodes())
    for (const Value* input : node->inputs)
      if (input && input->isWeight) counts[input->name] = input->uses.size();
  return counts;
}

// A weight that passes have used up in part cannot be replaced in the file any more: it becomes a constant.
void keepReplaceable(Graph& graph, const std::map<std::string, size_t>& before) {
  for (Node* node : graph.nodes())
    for (Value* input : node->inputs) {
      if (!input || !input->isWeight) continue;
      const auto count = before.find(input->name);
      input->isWeight = count != before.end() && count->second == input->uses.size();
    }
}

// Those that the model runs on its accelerator, and what its file has for other chips.
KernelCodes kernelsFor(const MaxDevice& device, const Graph& graph, const KernelCodes& stored) {
  const DeviceOperators* accelerator = deviceOperators(device);
  KernelCodes kernels = accelerator ? accelerator->kernels(graph, device) : KernelCodes();
  const std::string chip = kernels.empty() ? "" : kernels.front().chip;
  for (const KernelCode& kernel : stored)
    if (kernel.chip != chip) kernels.push_back(kernel);
  return kernels;
}

}  // namespace

void replaceWeights(MaxModel& model, std::span<const char* const> names, std::span<MaxBuffer* const> buffers) {
  ModelOrigin& origin = originOf(model, "Weights cannot be replaced");
  const std::lock_guard lock(origin.mutex);
  WeightTable weights = tableOf(names, buffers);
  for (const auto& [name, entry] : origin.weights.entries)
    weights.entries.try_emplace(name, WeightTable::Entry{entry.tensor});
  const SourceBudget budget(*origin.source);
  ImportedModel imported = origin.source->import(weights);
  requireUsed(weights, *origin.source, *imported.graph);
  SharedGraph::Parts parts = origin.shared->parts();
  requireUnchanged(parts, imported);
  compileFor(model.session(), model.precision(), *origin.source, origin.shared.get(), imported);
  parts.hasOwnWeights = false;
  parts.graph = imported.graph;
  auto made = makeRef<SharedGraph>(std::move(parts));
  if (origin.shared->isEntered()) made->enter();
  model.replaceGraph(imported.graph);
  origin.weights = std::move(weights);
  origin.shared = std::move(made);
}

void saveModel(const MaxModel& model, const std::string& path) {
  ModelOrigin& origin = originOf(model, "The model cannot be saved without its weights");
  const std::lock_guard lock(origin.mutex);
  const SourceBudget budget(*origin.source);
  const ImportedModel imported = origin.source->import(origin.weights);
  requireUnchanged(origin.shared->parts(), imported);
  requireContents(*imported.graph);
  requireOneDevice(*imported.graph, model.session().mainDevice());
  if (!origin.source->isStored()) {
    const std::map<std::string, size_t> before = useCounts(*imported.graph);
    CompileOptions options;
    options.lanes = model.session().lanes();
    options.stopForStoring = true;
    compile(*imported.graph, options);
    keepReplaceable(*imported.graph, before);
  }
  saveCompiledModel(*imported.graph, imported.declaredOutputs, imported.info,
                    kernelsFor(model.session().mainDevice(), *origin.shared->parts().graph, imported.kernels), path);
}

}  // namespace max
