// SPDX-License-Identifier: Apache-2.0
#include "executor/plan.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/log.h"
#include "executor/run.h"
#include "graph/readers/generator.h"
#include "graph/schema.h"

namespace max {

namespace {

uint64_t nextId() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Plan::Plan() : id(nextId()) {}

Shape Plan::shapeOf(uint32_t entry) const {
  const OperandType& type = types[entry];
  return Shape(std::span<const int64_t>(typeDims).subspan(type.dims, type.rank));
}

const Step* Plan::firstUnrepeatable() const {
  const auto step = std::ranges::find_if(steps, [this](const Step& each) {
    const Location* source = each.inputs < each.outputs ? &table[each.inputs] : nullptr;
    if (source && source->kind == Location::Input && source->memory == kHostMemory) return true;
    const bool isRandom = each.node && each.node->schema->has(kTraitRandom);
    return each.memory != kMainMemory || (isRandom && !readers::readSeed(each.node->attributes));
  });
  return step == steps.end() ? nullptr : &*step;
}

size_t Plan::arenasBytes() const { return std::accumulate(deviceBytes.begin(), deviceBytes.end(), arenaBytes); }

size_t Plan::bytesOf(uint32_t entry) const {
  return types[entry].dtype == DType::Invalid ? 0 : bytesFor(types[entry].dtype, shapeOf(entry).count());
}

// Chains have thousands of plans: destroy them one by one, not recursively.
Plan::~Plan() {
  Ref<Plan> list;
  const auto doom = [&list](std::vector<Ref<Plan>>& plans) {
    for (Ref<Plan>& plan : plans) {
      if (!plan->isUnique()) continue;
      plan->doomed_ = std::move(list);
      list = std::move(plan);
    }
    plans.clear();
  };
  for (doom(continuations); list;) {
    const Ref<Plan> first = std::move(list);
    list = std::move(first->doomed_);
    doom(first->continuations);
  }
  if (counter_) counter_->count.fetch_sub(counted_, std::memory_order_relaxed);
}

void Plan::countBytes() {
  const size_t bytes = ownBytes();
  charge_.add(bytes);
  counter_ = Ref<PlanBytes>(&program->planBytes());
  counter_->count.fetch_add(bytes, std::memory_order_relaxed);
  counted_ = bytes;
}

size_t Plan::bytes() const {
  size_t bytes = 0;
  std::vector<const Plan*> plans{this};
  while (!plans.empty()) {
    const Plan& plan = *plans.back();
    plans.pop_back();
    bytes += plan.ownBytes();
    for (const Ref<Plan>& continuation : plan.continuations) plans.push_back(continuation.get());
  }
  return bytes;
}

size_t Plan::ownBytes() const {
  constexpr size_t kKernelBytes = 512;   // approximate, without its own tables
  constexpr size_t kOperandBytes = 256;  // of those tables: shapes, strides
  constexpr size_t kSmallBlocks = 2048;
  size_t bytes = sizeof(Plan) + sizeof(RunContext) + kSmallBlocks +
                 (inputKey.size() + typeDims.size()) * sizeof(int64_t) + continuationKey.size();
  bytes += steps.size() * (sizeof(Step) + sizeof(BoundStep) + kKernelBytes) + types.size() * sizeof(OperandType);
  bytes += table.size() * (sizeof(Location) + sizeof(void*) + kOperandBytes) +
           state.changes * (sizeof(ValueState) + 512) + boundary.states.size() * sizeof(ValueState);
  return bytes;
}

void logPlan(const Plan& plan, const RunSettings& settings) {
  const MaxLogLevel level = settings.live ? settings.live->logLevel.load(std::memory_order_relaxed) : kDefaultLogLevel;
  if (isLogged(MAX_LOG_LEVEL_TRACE, level))
    sendLog(MAX_LOG_LEVEL_TRACE, concat("Graph '", plan.program->graph().name(), "': a plan with ", plan.steps.size(),
                                        " steps and ", plan.arenaBytes, " bytes of intermediate values"));
  if (!isLogged(MAX_LOG_LEVEL_DEBUG, level)) return;
  for (const Step& step : plan.steps)
    if (step.node && step.kernel->implementation == "reference")
      sendLog(MAX_LOG_LEVEL_DEBUG, concat(step.node->description(), ": runs on the reference kernel, which is slow"));
}

}  // namespace max
