// SPDX-License-Identifier: Apache-2.0
// What a model reports: memory use, a drawing; and trimming memory kept for reuse.
#include <set>

#include "base/fork_lock.h"
#include "executor/model.h"
#include "graph/dot.h"
#include "graph/subgraphs.h"

namespace {

// Weights and packed forms of a graph, counting each memory once. (Depths of subgraphs are bounded where graphs are
// made.)
class WeightSum {
 public:
  explicit WeightSum(MaxModelMemory& memory) : memory_(memory) {}

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
    if (value && value->onDevice && seen_.insert(value->onDevice.get()).second)
      memory_.ownedWeights += value->onDevice->size();
    const max::Tensor* tensor = value ? value->constant.get() : nullptr;
    if (!tensor || !tensor->data() || !seen_.insert(tensor->data()).second) return;
    const bool isMapped = tensor->storage() && tensor->storage()->file();
    (isMapped ? memory_.mappedWeights : memory_.ownedWeights) += tensor->bytes();
  }

  MaxModelMemory& memory_;
  std::set<const void*> seen_;
};

}  // namespace

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
