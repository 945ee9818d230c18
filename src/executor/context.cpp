// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/active_call.h"
#include "base/forbid.h"
#include "device/stream.h"
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
    if (plan.table[i].kind == Location::Arena && plan.table[i].memory == kHostMemory &&
        plan.table[i].depth == plan.depth)
      permit(base + plan.table[i].index, plan.bytesOf(i) + guard);
  for (const Step& step : plan.steps)
    if (const size_t bytes = step.memory != kHostMemory ? 0 : step.kernel->scratchBytes())
      permit(base + step.scratch, bytes + guard);
}

// Where one launch replaces several.
bool canRepeat(const Plan& plan) {
  constexpr size_t kFewest = 3;
  size_t launches = 0;
  for (const Step& step : plan.steps) launches += step.kernel->launchCount();
  return plan.depth == 0 && plan.boundary.kind == Boundary::End && launches >= kFewest && !plan.firstUnrepeatable();
}

}  // namespace

RunContext::RunContext(Ref<Plan> source, RunContext* before, const RunSettings& settings, Counter* counter,
                       Ref<Storage> block)
    : plan(std::move(source)),
      device(settings.device),
      place(before ? before->first->place : settings.place()),
      hostPlace(settings.hostPlace()),
      parent(before),
      first(before ? before->first : this),
      counter_(counter) {
  if (first == this && settings.devices.size() > 1 && !plan->program->otherMemories().empty())
    for (size_t i = 1; i < settings.devices.size(); ++i)
      otherPlaces.push_back({settings.devices[i].get(), &settings.devices[i]->defaultStream()});
  allocate(std::move(block));
  if (kForbidsMemory && arena) forbidTheRest(*plan, *arena);
  const size_t depths = static_cast<size_t>(plan->depth) + 1;
  if (first->arenas.size() < depths * memories()) first->arenas.resize(depths * memories());
  enter();
  table.resize(plan->table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    const Location& location = plan->table[i];
    table[i] = resolve(location);
    if (location.kind == Location::Input || location.kind == Location::Output || location.kind == Location::Dynamic)
      patches.push_back(
          {static_cast<uint32_t>(i), location.kind, static_cast<uint32_t>(location.index), location.offset});
  }
  bindSteps(settings);
  if (!device->isHost()) {
    fill();
    noteOtherUses();
    if (canRepeat(*plan)) repeated = std::make_unique<RepeatedCalls>();
  }
  for (size_t i = 0; counter_ && i < memories(); ++i)
    (*counter_)[i].fetch_add(plan->bytesIn(static_cast<Memory>(i)), std::memory_order_relaxed);
}

// An accelerator reaches page-locked memory of the host by itself.
void RunContext::allocate(Ref<Storage> block) {
  if (block && block->size() < plan->arenaBytes) block.reset();  // before the new one exists
  if (plan->arenaBytes > 0)
    arena = block ? std::move(block) : device->allocate(plan->arenaBytes, {.pinned = !device->isHost()}, *place.stream);
  deviceArenas.resize(plan->deviceBytes.size());
  for (size_t i = 0; i < deviceArenas.size(); ++i)
    if (const size_t bytes = plan->deviceBytes[i]; bytes > 0) {
      const OpPlace& where = placeOf(static_cast<Memory>(i + 1));
      deviceArenas[i] = where.device->allocate(bytes, {}, *where.stream);
    }
}

void RunContext::enter() {
  std::byte** at = first->arenas.data() + static_cast<size_t>(plan->depth) * memories();
  for (size_t i = 0; i < memories(); ++i) at[i] = baseOf(static_cast<Memory>(i));
}

void RunContext::bindSteps(const RunSettings& settings) {
  steps.reserve(plan->steps.size());
  for (const Step& step : plan->steps) {
    std::byte* const own = baseOf(step.memory);
    steps.push_back({step.kernel.get(),
                     {&table[step.inputs], &table[step.outputs], own ? own + step.scratch : nullptr, settings.lanes,
                      &placeOf(step.memory), &placeOf(step.source)}});
  }
}

void RunContext::fill() {
  for (const Fill& each : plan->fills)
    placeOf(each.memory)
        .stream->copy({baseOf(each.memory) + each.offset, deviceArenas[each.memory - 1u]},
                      {const_cast<void*>(each.contents->data()), each.contents->storage()}, each.contents->bytes(),
                      MAX_COPY_KIND_HOST_TO_DEVICE);
  if (first != this) return;
  work_ = Ref<StreamWork>(place.stream->work());
  position_ = work_->position();
}

void RunContext::begin(MaxStream& stream) {
  if (!plan->program->otherMemories().empty()) stream.requireUncaptured("A call of a model on several devices");
  if (mustWait_) work_->wait(position_);
  if (work_.get() != stream.work()) {
    stream.follow(*work_, position_);
    noteUses(stream);
  }
  place.stream = &stream;
  work_ = Ref<StreamWork>(stream.work());
  mustWait_ = true;
  for (const Memory memory : plan->program->otherMemories()) {
    MaxStream& other = *placeOf(memory).stream;
    other.check();
    other.follow(*work_, work_->position());
  }
}

// The call's stream stands for the work of all devices.
void RunContext::joinOthers() noexcept {
  for (const Memory memory : plan->program->otherMemories()) {
    MaxStream& other = *placeOf(memory).stream;
    try {
      place.stream->follow(*other.work(), other.work()->position());
    } catch (const std::exception&) {
      finishQuietly(other);
    }
  }
}

void RunContext::end(bool isComplete) noexcept {
  joinOthers();
  position_ = work_->position();
  if (isComplete) mustWait_ = plan->hasUploads || !continuations.empty();
}

void finishQuietly(MaxStream& stream) noexcept {
  const ActiveCallScope uninterrupted(nullptr);
  try {
    stream.waitUntilIdle();
  } catch (const std::exception&) {  // the stream's own failure
  }
}

// What the stream's work uses stays until it is done.
void RunContext::noteUses(MaxStream& stream) {
  stream.noteUse(arena);
  for (const Ref<Storage>& each : deviceArenas) stream.noteUse(each);
  if (first == this)
    for (const Value* value : plan->program->values())
      for (const DeviceCopy& copy : value->onDevices) stream.noteUse(copy.contents);
  for (const auto& continuation : continuations) continuation->noteUses(stream);
}

// Accelerators copy from each other's memory.
void RunContext::noteOtherUses() {
  for (const Memory memory : plan->program->otherMemories()) {
    placeOf(memory).stream->noteUse(arena);
    for (const Ref<Storage>& each : deviceArenas) {
      placeOf(memory).stream->noteUse(each);
      placeOf(kMainMemory).stream->noteUse(each);
    }
  }
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
  for (size_t i = 0; counter_ && i < memories(); ++i)
    (*counter_)[i].fetch_sub(plan->bytesIn(static_cast<Memory>(i)), std::memory_order_relaxed);
}

void* RunContext::resolve(const Location& location) const {
  if (location.kind == Location::Constant) return const_cast<void*>(location.constant);
  if (location.kind != Location::Arena) return nullptr;
  return first->arenas[static_cast<size_t>(location.depth) * memories() + location.memory] + location.index;
}

}  // namespace max
