// SPDX-License-Identifier: Apache-2.0
// A plan under construction: the walk over the nodes fills it, then layout assigns memory.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executor/plan.h"

namespace max {

struct DraftStep {
  std::unique_ptr<OpKernel> kernel;
  const Node* node = nullptr;
  std::vector<int> inputs;
  std::vector<int> outputs;
  size_t place = 0;             // NodeInfo::place
  Memory memory = kHostMemory;  // Step::memory
  Memory source = kHostMemory;  // Step::source
};

// A map by number. Only the numbers in use take memory; references stay valid until something is added.
template <class T>
class Numbered {
 public:
  Numbered() = default;
  Numbered(size_t size, bool isSparse) : size_(size), isSparse_(isSparse), all_(isSparse ? 0 : size) {}

  size_t size() const { return size_; }
  bool isSparse() const { return isSparse_; }
  T& operator[](size_t number) { return isSparse_ ? some_[number] : all_[number]; }
  const T& operator[](size_t number) const {
    if (!isSparse_) return all_[number];
    static const T none{};
    const auto entry = some_.find(number);
    return entry == some_.end() ? none : entry->second;
  }
  // The element, and whether it is new.
  std::pair<T&, bool> find(size_t number) {
    if (!isSparse_) return {all_[number], false};
    const auto [entry, isNew] = some_.try_emplace(number);
    return {entry->second, isNew};
  }
  void push_back(T element) {
    if (isSparse_)
      some_.emplace(size_, std::move(element));
    else
      all_.push_back(std::move(element));
    ++size_;
  }
  // The numbers in use, in no particular order.
  template <class Function>
  void forEach(Function function) {
    for (size_t i = 0; i < all_.size(); ++i) function(i, all_[i]);
    for (auto& [number, element] : some_) function(number, element);
  }

 private:
  size_t size_ = 0;
  bool isSparse_ = false;
  std::vector<T> all_;
  std::unordered_map<size_t, T> some_;
};

// What is known about values while a plan is made: the state at the end of the previous plan, and what was added since.
class ValueStates {
 public:
  explicit ValueStates(size_t size) : states_(size, false) {}
  ValueStates(size_t size, const StateMap<ValueState>& before) : before_(before), states_(size, true) {}

  size_t size() const { return states_.size(); }
  bool isContinued() const { return states_.isSparse(); }
  const StateMap<ValueState>& before() const { return before_; }
  ValueState& operator[](size_t number) {
    auto [state, isNew] = states_.find(number);
    if (isNew)
      if (const ValueState* known = before_.find(number)) state = *known;
    return state;
  }
  void push_back(ValueState state) { states_.push_back(std::move(state)); }
  // For a continuation: the values that it has read.
  template <class Function>
  void forEachKnown(Function function) {
    states_.forEach([&](size_t number, ValueState& state) {
      if (state.known) function(number, state);
    });
  }

 private:
  StateMap<ValueState> before_;
  Numbered<ValueState> states_;
};

struct Draft {
  // `before`: the plan that this one continues; NULL = none.
  Draft(const Program& source, uint32_t settings, const Plan* before = nullptr);

  // The state of a value that must be known by now (adds constants of the graph).
  ValueState& state(int value);
  // Where an input or output of the program lies.
  Memory inputMemory(size_t index, DType dtype) const {
    return memoryOf(program.values()[static_cast<size_t>(program.inputs()[index])]->home.get(), dtype);
  }
  Memory outputMemory(size_t index, DType dtype) const { return memoryOf(program.graph().outputHome(index), dtype); }
  // A constant in the memory of an accelerator; NULL = it is not there.
  const void* copyIn(Memory memory, const ValueState& state) const {
    if (memory == kHostMemory || !state.stored) return nullptr;
    const Storage* copy = state.stored->onDevice(program.settings().homeOf(memory));
    return copy ? copy->data() : nullptr;
  }
  const Node& nodeOf(const Frame& frame) const { return *frame.block->nodes[frame.next].node; }

  const Program& program;
  ValueStates values;  // copies of outputs follow the program's own
  std::vector<DraftStep> steps;
  std::vector<Frame> frames;
  std::vector<bool> claimedOutputs;
  std::vector<int> boundaryValues;                       // what holds the boundary's values on the host
  std::vector<std::pair<Ref<const Tensor>, int>> fills;  // constants, and what holds them on an accelerator
  size_t dynamicCount = 0;
  Ref<Plan> plan;

 private:
  Memory memoryOf(const RefCounted* home, DType dtype) const {
    const RunSettings& settings = program.settings();
    return settings.accelerator && !holdsPointers(dtype) ? settings.memoryOf(home) : kHostMemory;
  }
};

// Places values, adds copies to outputs, fills plan->steps, table, outputs, arenaBytes and state.
void layOut(Draft& draft);

}  // namespace max
