// SPDX-License-Identifier: Apache-2.0
#include "executor/plan.h"

#include <atomic>

#include "base/log.h"
#include "executor/run.h"

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

size_t Plan::bytesOf(uint32_t entry) const {
  return types[entry].dtype == DType::Invalid ? 0 : bytesFor(types[entry].dtype, shapeOf(entry).count());
}

size_t Plan::bytes() const {
  size_t bytes = sizeof(Plan) + (inputKey.size() + typeDims.size()) * sizeof(int64_t) + continuationKey.size();
  bytes += steps.size() * (sizeof(Step) + sizeof(BoundStep)) + types.size() * sizeof(OperandType);
  bytes += table.size() * (sizeof(Location) + sizeof(void*)) + state.values.size() * sizeof(ValueState);
  for (const Ref<Plan>& continuation : continuations) bytes += continuation->bytes();
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
