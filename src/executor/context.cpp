// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/forbid.h"
#include "executor/run.h"
#include "executor/settings.h"

namespace max {

size_t threadNumber() noexcept {
  static std::atomic<size_t> next{0};
  static thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

namespace {

// All of an arena except values and scratch memory with their guards.
void forbidTheRest(const Plan& plan, const Storage& arena) {
  const size_t guard = PlanSettings::of(plan.settings).guards ? kGuardBytes : 0;
  const std::byte* base = static_cast<const std::byte*>(arena.data());
  forbid(base, arena.size());
  for (uint32_t i = 0; i < plan.table.size(); ++i)
    if (plan.table[i].kind == Location::Arena && plan.table[i].depth == plan.depth)
      permit(base + plan.table[i].index, plan.bytesOf(i) + guard);
  for (const Step& step : plan.steps)
    if (const size_t bytes = step.kernel->scratchBytes()) permit(base + step.scratch, bytes + guard);
}

}  // namespace

RunContext::RunContext(Ref<Plan> source, RunContext* before, const RunSettings& settings, std::atomic<size_t>* counter,
                       Ref<Storage> block)
    : plan(std::move(source)),
      device(settings.device),
      place(settings.place()),
      parent(before),
      first(before ? before->first : this),
      counter_(counter) {
  if (block && block->size() < plan->arenaBytes) block.reset();  // before the new one exists
  if (plan->arenaBytes > 0) arena = block ? std::move(block) : device->allocate(plan->arenaBytes, {}, *place.stream);
  if (kForbidsMemory && arena) forbidTheRest(*plan, *arena);
  if (const auto depth = static_cast<size_t>(plan->depth); first->arenas.size() <= depth)
    first->arenas.resize(depth + 1);
  enter();
  table.resize(plan->table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    const Location& location = plan->table[i];
    table[i] = resolve(location);
    if (location.kind == Location::Input || location.kind == Location::Output || location.kind == Location::Dynamic)
      patches.push_back(
          {static_cast<uint32_t>(i), location.kind, static_cast<uint32_t>(location.index), location.offset});
  }
  std::byte* base = arena ? static_cast<std::byte*>(arena->data()) : nullptr;
  steps.reserve(plan->steps.size());
  for (const Step& step : plan->steps) {
    std::byte* scratch = base ? base + step.scratch : nullptr;
    steps.push_back({step.kernel.get(), {&table[step.inputs], &table[step.outputs], scratch, settings.lanes, &place}});
  }
  if (counter_) counter_->fetch_add(plan->arenaBytes, std::memory_order_relaxed);
}

// Chains have thousands of contexts: destroy them one by one, not recursively.
RunContext::~RunContext() {
  for (RunContext* at = this; at != this || !continuations.empty();) {
    if (!at->continuations.empty()) {
      at = at->continuations.back().get();
      continue;
    }
    at = at->parent;
    at->continuations.pop_back();
  }
  if (counter_) counter_->fetch_sub(plan->arenaBytes, std::memory_order_relaxed);
}

void* RunContext::resolve(const Location& location) const {
  if (location.kind == Location::Constant) return const_cast<void*>(location.constant);
  if (location.kind != Location::Arena) return nullptr;
  return first->arenas[static_cast<size_t>(location.depth)] + location.index;
}

}  // namespace max
