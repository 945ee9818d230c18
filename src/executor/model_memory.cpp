// SPDX-License-Identifier: Apache-2.0
// What a model reports: memory use, a drawing; and trimming memory kept for reuse.
#include <set>

#include "base/fork_lock.h"
#include "executor/model.h"
#include "graph/dot.h"
#include "graph/subgraphs.h"
#include "ops/device_operators.h"

namespace {

// Weights and packed forms of a graph, counting each memory once. (Depths of subgraphs are bounded where graphs are
// made.)
class WeightSum {
 public:
  // `onAll` = false: only the host's.
  explicit WeightSum(MaxModelMemory& memory, bool onAll = true) : memory_(memory), onAll_(onAll) {}

  void add(const max::Graph& graph) {
    for (const max::Value* output : graph.outputs()) add(output);
    for (const max::Node* node : graph.nodes()) {
      for (const max::Value* input : node->inputs) add(input);
      if (const max::Prepared* prepared = node->prepared.get(); prepared && seen_.insert(prepared).second)
        memory_.packedWeights += prepared->bytes();
      max::forEachSubgraph(*node, [&](const max::Graph& subgraph) { add(subgraph); });
    }
  }

 private:
  void add(const max::Value* value) {
    for (size_t i = 0; onAll_ && value && i < value->onDevices.size(); ++i)
      if (const max::Storage& copy = *value->onDevices[i].contents; seen_.insert(&copy).second)
        memory_.ownedWeights += copy.size();
    const max::Tensor* tensor = value ? value->constant.get() : nullptr;
    if (!tensor || !tensor->data() || !seen_.insert(tensor->data()).second) return;
    const bool isMapped = tensor->storage() && tensor->storage()->file();
    (isMapped ? memory_.mappedWeights : memory_.ownedWeights) += tensor->bytes();
  }

  MaxModelMemory& memory_;
  const bool onAll_;
  std::set<const void*> seen_;
};

// Of constants in an accelerator's memory.
size_t bytesOn(const max::Graph& graph, const max::RefCounted* home, std::set<const max::Storage*>& seen) {
  size_t bytes = 0;
  for (const max::Node* node : graph.nodes()) {
    for (const max::Value* input : node->inputs)
      if (const max::Storage* copy = input ? input->onDevice(home) : nullptr; copy && seen.insert(copy).second)
        bytes += copy->size();
    max::forEachSubgraph(*node, [&](const max::Graph& subgraph) { bytes += bytesOn(subgraph, home, seen); });
  }
  return bytes;
}

}  // namespace

MaxModelDeviceMemory MaxModel::deviceMemory(const MaxDevice& device) const {
  const max::Ref<const max::Program> program = program_.current();
  const max::RunSettings& settings = program->settings();
  const max::Memory memory = device.isHost() || onHost_ ? max::kHostMemory : settings.memoryOf(&device);
  max::require(memory == max::kHostMemory ? device.isHost() : &settings.deviceOf(memory) == &device,
               MAX_STATUS_INVALID_ARGUMENT, "The session of the model does not use ", device.displayName());
  MaxModelDeviceMemory report = MAX_MODEL_DEVICE_MEMORY_INIT;
  report.validMask = MAX_MODEL_DEVICE_MEMORY_WEIGHTS | MAX_MODEL_DEVICE_MEMORY_ARENAS | MAX_MODEL_DEVICE_MEMORY_CODE |
                     MAX_MODEL_DEVICE_MEMORY_TOTAL;
  report.arenas = program_.arenaBytes(memory);
  if (memory == max::kHostMemory) {
    MaxModelMemory all = MAX_MODEL_MEMORY_INIT;
    WeightSum sum(all, false);
    sum.add(program->graph());
    if (parts_.original) sum.add(*parts_.original);
    report.weights = all.mappedWeights + all.ownedWeights + all.packedWeights;
  } else {
    std::set<const max::Storage*> seen;
    report.weights = bytesOn(program->graph(), settings.homeOf(memory), seen);
    report.code = max::deviceOperators(device)->codeBytes(program->graph(), settings.homeOf(memory));
  }
  report.total = report.weights + report.arenas + report.code;
  return report;
}

MaxModelMemory MaxModel::memory() const {
  MaxModelMemory memory = MAX_MODEL_MEMORY_INIT;
  memory.validMask = MAX_MODEL_MEMORY_MAPPED_WEIGHTS | MAX_MODEL_MEMORY_OWNED_WEIGHTS |
                     MAX_MODEL_MEMORY_PACKED_WEIGHTS | MAX_MODEL_MEMORY_PLANS | MAX_MODEL_MEMORY_ARENAS |
                     MAX_MODEL_MEMORY_OUTPUTS | MAX_MODEL_MEMORY_TOTAL;
  WeightSum sum(memory);
  sum.add(program_.current()->graph());
  if (parts_.original) sum.add(*parts_.original);
  memory.plans = program_.planBytes();
  memory.arenas = program_.arenaBytes();
  for (const max::Ref<max::OutputPool>& pool : pools_) memory.outputs += pool->idleBytes();
  memory.total =
      memory.mappedWeights + memory.ownedWeights + memory.packedWeights + memory.plans + memory.arenas + memory.outputs;
  return memory;
}

const std::string& MaxModel::drawing() const {
  const max::Ref<const max::Program> program = program_.current();
  const std::lock_guard lock(max::forkSafeMutex(this));
  if (drawing_.empty()) drawing_ = max::draw(program->graph());
  return drawing_;
}

void MaxModel::trim(max::Kept which) const noexcept {
  program_.trim(which);
  for (const max::Ref<max::OutputPool>& pool : pools_) pool->trim();
}
