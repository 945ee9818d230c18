// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/forbid.h"
#include "executor/arena.h"
#include "executor/draft.h"
#include "executor/run.h"
#include "executor/transfers.h"

namespace max {

namespace {

size_t bytesOf(const ValueState& state) { return bytesFor(state.dtype, state.shape.count()); }

class Layout {
 public:
  explicit Layout(Draft& draft)
      : draft_(draft),
        plan_(*draft.plan),
        values_(draft.values),
        hasGuards_(PlanSettings::of(draft.plan->settings).guards),
        guard_((hasGuards_ ? kGuardBytes : 0) + kForbiddenBytes) {}

  void run() {
    claimOutputs();
    if (plan_.boundary.kind == Boundary::End) copyOutputs();
    lifetimes_ = Numbered<Lifetime>(values_.size(), values_.isContinued());
    findLifetimes();
    if (!hasGuards_) shareMemory();
    Arenas arenas(draft_.program.settings().accelerator ? draft_.program.settings().devices.size() : 0);
    placeFills(arenas);
    for (size_t s = 0; s < draft_.steps.size(); ++s) place(arenas, static_cast<int>(s));
    plan_.arenaBytes = arenas.host.size();
    for (const ArenaPlanner& arena : arenas.devices) plan_.deviceBytes.push_back(arena.size());
    fillTable();
    keepState();
  }

 private:
  static constexpr int kForever = INT32_MAX;
  struct Arenas {
    explicit Arenas(size_t count) : devices(count) {}
    ArenaPlanner host;
    std::vector<ArenaPlanner> devices;
    ArenaPlanner& of(Memory memory) { return memory == kHostMemory ? host : devices[memory - 1u]; }
  };
  struct Lifetime {
    int madeBy = -1;  // step of this plan
    int lastUse = -1;
    int merged = kNoValue;   // the root whose memory this one reuses
    size_t offset = 0;       // in that memory
    bool isOfRows = false;   // it is some of each row of that root
    bool hasBlocks = false;  // others lie in its memory as blocks
  };
  struct Use {
    size_t step;
    OperandPlace place;
    int value;
  };

  const Lifetime& lifetime(int root) const { return std::as_const(lifetimes_)[root]; }
  int rootOf(int value) const {
    int root = values_[value].root;
    while (lifetime(root).merged != kNoValue) root = lifetime(root).merged;
    return root;
  }
  size_t offsetOf(int value) const {
    size_t offset = 0;
    for (int at = values_[value].root; lifetime(at).merged != kNoValue; at = lifetime(at).merged)
      offset += lifetime(at).offset;
    return offset;
  }
  bool hasMemory(int value) const { return value != kNoValue && values_[value].known && !values_[value].constant; }

  // Where the next plan continues.
  size_t place() const {
    const Frame& frame = draft_.frames.back();
    return frame.block->placeOf(frame.next);
  }

  // Outputs of the program that this plan may produce.
  std::vector<size_t> candidates() {
    std::vector<size_t> found;
    if (!values_.isContinued()) {
      for (size_t k = 0; k < draft_.program.main().outputs.size(); ++k) found.push_back(k);
      return found;
    }
    values_.forEachKnown([&](size_t value, const ValueState&) {
      const auto [begin, end] = draft_.program.outputsOf(static_cast<int>(value));
      for (auto entry = begin; entry != end; ++entry) found.push_back(entry->second);
    });
    std::sort(found.begin(), found.end());
    return found;
  }

  // Kernels of this plan write outputs directly; with guards, outputs are copied, since their memory has none.
  void claimOutputs() {
    if (hasGuards_) return;
    std::vector<bool> made(values_.size());
    for (const DraftStep& step : draft_.steps)
      for (int output : step.outputs)
        if (output != kNoValue) made[output] = true;
    const std::vector<int>& outputs = draft_.program.main().outputs;
    for (const size_t k : candidates()) {
      if (draft_.claimedOutputs[k] || !hasMemory(outputs[k])) continue;
      ValueState& root = values_[values_[outputs[k]].root];
      if (!made[values_[outputs[k]].root] || root.location.kind != Location::None) continue;
      if (root.memory != draft_.outputMemory(k, root.dtype)) continue;
      root.location = {Location::Output, 0, k, nullptr};
      claim(k, values_[outputs[k]]);
    }
  }

  void claim(size_t k, const ValueState& state) {
    draft_.claimedOutputs[k] = true;
    plan_.outputs.push_back({k, state.dtype, state.shape});
  }

  void copyOutputs() {
    const std::vector<int>& outputs = draft_.program.main().outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (draft_.claimedOutputs[k]) continue;
      ValueState copy;
      const ValueState& source = draft_.state(outputs[k]);
      copy.known = true;
      copy.dtype = source.dtype;
      copy.shape = source.shape;
      copy.root = static_cast<int>(values_.size());
      copy.location = {Location::Output, 0, k, nullptr};
      copy.memory = draft_.outputMemory(k, copy.dtype);
      claim(k, source);
      if (const size_t bytes = bytesOf(copy)) {
        const bool isThere = source.constant && draft_.copyIn(copy.memory, source);
        const Memory from = isThere ? copy.memory : source.memory;
        const Memory runner = copy.memory == kHostMemory ? from : copy.memory;
        draft_.steps.push_back(
            {makeCopy(bytes, from, copy.memory), nullptr, {outputs[k]}, {copy.root}, 0, runner, from});
        if (copy.memory == kHostMemory && from != kHostMemory)
          draft_.steps.push_back({makeWait(), nullptr, {}, {}, 0, from});
      }
      values_.push_back(std::move(copy));
    }
  }

  // An accelerator reads memory of others later than the step that copies it, which is first done with the run.
  void keepUploads() {
    for (const DraftStep& step : draft_.steps)
      for (int input : step.inputs)
        if (hasMemory(input) && values_[input].memory != step.memory) {
          lifetimes_[values_[input].root].lastUse = kForever;
          plan_.hasUploads |= values_[input].memory == kHostMemory;
        }
  }

  void findLifetimes() {
    for (size_t s = 0; s < draft_.steps.size(); ++s) {
      for (int output : draft_.steps[s].outputs)
        if (output != kNoValue) lifetimes_[output].madeBy = lifetimes_[output].lastUse = static_cast<int>(s);
      for (int input : draft_.steps[s].inputs)
        if (hasMemory(input)) lifetimes_[values_[input].root].lastUse = static_cast<int>(s);
    }
    keepUploads();
    if (plan_.boundary.kind == Boundary::End) return;
    values_.forEachKnown([&](size_t value, const ValueState& state) {
      if (isReadLater(value)) lifetimes_[state.root].lastUse = kForever;
    });
    for (int value : draft_.boundaryValues)
      if (hasMemory(value)) lifetimes_[values_[value].root].lastUse = kForever;
  }

  // Copies that the planner made are for this plan.
  bool isReadLater(size_t value) const {
    return value < draft_.program.values().size() && draft_.program.isReadFrom(place(), value);
  }

  // The root whose memory the step's output can reuse, kNoValue if none.
  int reusableInput(int s) const {
    const DraftStep& step = draft_.steps[s];
    const int index = step.kernel->inPlaceInput();
    if (index < 0 || static_cast<size_t>(index) >= step.inputs.size()) return kNoValue;
    const int input = step.inputs[index], output = step.outputs.empty() ? kNoValue : step.outputs[0];
    if (!hasMemory(input) || output == kNoValue) return kNoValue;
    const int root = rootOf(input);
    const Lifetime& lifetime = lifetimes_[root];
    const size_t bytes = bytesOf(values_[output]);
    if (lifetime.madeBy < 0 || lifetime.lastUse != s || bytesOf(values_[root]) != bytes ||
        bytesOf(values_[input]) != bytes)
      return kNoValue;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (static_cast<int>(i) != index && hasMemory(step.inputs[i]) && rootOf(step.inputs[i]) == root) return kNoValue;
    return root;
  }

  // Parts of values that are copied share the memory of the whole. The order matters: each decision relies
  // on lifetimes that later ones leave alone.
  void shareMemory() {
    findUses();
    for (size_t s = 0; s < draft_.steps.size(); ++s) shareInputs(draft_.steps[s]);
    for (int s = static_cast<int>(draft_.steps.size()) - 1; s >= 0; --s) {
      passClaimBack(s);
      for (const CopiedPart& part : draft_.steps[s].kernel->parts()) shareOutput(s, part);
    }
    setPitches();
  }

  // By roots; nothing if no step copies parts of rows.
  void findUses() {
    const auto copiesRows = [](const DraftStep& step) {
      const std::span<const CopiedPart> parts = step.kernel->parts();
      return std::any_of(parts.begin(), parts.end(), [](const CopiedPart& part) { return part.isOfRows; });
    };
    if (std::none_of(draft_.steps.begin(), draft_.steps.end(), copiesRows)) return;
    uses_ = Numbered<std::vector<Use>>(values_.size(), values_.isContinued());
    for (size_t s = 0; s < draft_.steps.size(); ++s)
      forEachOperand(draft_.steps[s], [&](OperandPlace place, int value) {
        uses_[values_[value].root].push_back({s, place, value});
      });
  }

  template <class Function>
  void forEachOperand(const DraftStep& step, Function function) const {
    const auto each = [&](const std::vector<int>& values, OperandPlace::Side side) {
      for (size_t i = 0; i < values.size(); ++i)
        if (hasMemory(values[i])) function(OperandPlace{side, i}, values[i]);
    };
    each(step.inputs, OperandPlace::Input);
    each(step.outputs, OperandPlace::Output);
  }

  static size_t rowBytes(const ValueState& state) { return bytesFor(state.dtype, state.shape.back()); }

  bool hasRowsOfRoot(int value) const {
    const Shape &shape = values_[value].shape, &ofRoot = values_[values_[value].root].shape;
    return shape.rank() > 0 && ofRoot.rank() > 0 && shape.back() == ofRoot.back();
  }

  // Whether bytes that follow each other in a value that is dense do so in its memory, at a place for others.
  bool isBlockOf(int value, size_t offset) const { return isAligned(offset) && pitchOf(value) == 0; }

  // Whether all that read or write a value take rows that lie apart.
  bool canLieApart(int root) const {
    if (lifetime(root).hasBlocks || lifetime(root).lastUse == kForever) return false;
    const std::vector<Use>& uses = std::as_const(uses_)[root];
    return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
      return hasRowsOfRoot(use.value) && draft_.steps[use.step].kernel->takesPitch(use.place);
    });
  }

  // Bytes from one row of a value to the next; 0 = it is dense.
  size_t pitchOf(int value) const {
    size_t pitch = 0;
    for (int at = values_[value].root; lifetime(at).merged != kNoValue; at = lifetime(at).merged)
      if (lifetime(at).isOfRows) pitch = rowBytes(values_[lifetime(at).merged]);
    return pitch;
  }

  void setPitches() {
    if (uses_.size() == 0) return;
    for (DraftStep& step : draft_.steps)
      forEachOperand(step, [&](OperandPlace place, int value) {
        if (const size_t pitch = pitchOf(value)) step.kernel->setPitch(place, pitch);
      });
  }

  static bool isAligned(size_t offset) { return offset % kArenaAlignment == 0; }
  // Made here, and nothing is decided about its memory yet.
  bool isFree(int root) const {
    return lifetime(root).madeBy >= 0 && lifetime(root).merged == kNoValue &&
           values_[root].location.kind == Location::None;
  }

  void putInto(int whole, int root, size_t offset, bool isOfRows = false) {
    lifetimes_[root].merged = whole;
    lifetimes_[root].offset = offset;
    lifetimes_[root].isOfRows = isOfRows;
    lifetimes_[whole].hasBlocks |= !isOfRows;
    const int outer = rootOf(whole);
    lifetimes_[outer].lastUse = std::max(lifetimes_[outer].lastUse, lifetimes_[root].lastUse);
  }

  // Outputs that are parts of an input become views of it. Few bytes do not keep a large value alive.
  void shareInputs(const DraftStep& step) {
    size_t bytes = 0;
    for (const CopiedPart& part : step.kernel->parts()) bytes += part.bytes;
    for (const CopiedPart& part : step.kernel->parts()) {
      const int input = step.inputs[part.input], output = step.outputs[part.output];
      if (output == kNoValue || !hasMemory(input) || !isFree(output) || part.outputOffset != 0 ||
          part.bytes != bytesOf(values_[output]))
        continue;
      if (part.isOfRows ? !hasRowsOfRoot(input) || !canLieApart(output) : !isBlockOf(input, part.inputOffset)) continue;
      const int root = rootOf(input);
      const bool isInput = values_[root].location.kind == Location::Input;
      if (!isInput && (lifetime(root).madeBy < 0 || bytes < bytesOf(values_[root]) / 2)) continue;
      putInto(values_[input].root, output, part.inputOffset, part.isOfRows);
    }
  }

  // An input that becomes part of the output is made there, unless it is read for longer than the output: steps that
  // write in place of the output rely on its end.
  void shareOutput(int s, const CopiedPart& part) {
    const int input = draft_.steps[s].inputs[part.input], output = draft_.steps[s].outputs[part.output];
    if (output == kNoValue || !hasMemory(input) || part.inputOffset != 0) return;
    if (!part.isOfRows && !isBlockOf(output, part.outputOffset)) return;
    const int root = values_[input].root, whole = rootOf(output);
    if (!isFree(root) || root == whole || part.bytes != bytesOf(values_[root]) || lifetime(whole).madeBy < 0) return;
    if (part.isOfRows && !canLieApart(root)) return;
    if (lifetime(root).lastUse == s || lifetime(root).lastUse < lifetime(whole).lastUse)
      putInto(output, root, part.outputOffset, part.isOfRows);
  }

  // A kernel that writes an output in place of its input: the input is also placed in the output's memory.
  void passClaimBack(int s) {
    const int root = reusableInput(s);
    if (root == kNoValue || !isFree(root)) return;
    const int output = draft_.steps[s].outputs[0];
    const Location& location = values_[output].location;
    if (location.kind == Location::Output)
      values_[root].location = location;
    else if (lifetime(output).merged != kNoValue && pitchOf(output) == 0)
      putInto(output, root, 0);
  }

  // They stay for as long as the arena.
  void placeFills(Arenas& arenas) {
    for (const auto& [contents, value] : draft_.fills) {
      const Memory memory = values_[value].memory;
      const size_t offset = arenas.of(memory).allocate(contents->bytes());
      values_[value].location = {Location::Arena, plan_.depth, offset};
      plan_.fills.push_back({contents, memory, offset});
    }
  }

  void place(Arenas& arenas, int s) {
    DraftStep& step = draft_.steps[s];
    const int reused = reusableInput(s);
    if (reused != kNoValue && values_[reused].location.kind == Location::Arena && isFree(step.outputs[0])) {
      lifetimes_[reused].lastUse = lifetimes_[step.outputs[0]].lastUse;
      lifetimes_[step.outputs[0]].merged = reused;
    }
    for (int output : step.outputs) {
      const int root = output == kNoValue ? kNoValue : rootOf(output);
      if (root != kNoValue && values_[root].location.kind == Location::None)
        values_[root].location = {Location::Arena, plan_.depth,
                                  arenas.of(values_[root].memory).allocate(bytesOf(values_[root]) + guard_)};
    }
    ArenaPlanner& arena = arenas.of(step.memory);
    const size_t scratch = step.kernel->scratchBytes();
    scratchOffsets_.push_back(scratch ? arena.allocate(scratch + guard_) : 0);
    if (scratch && !kForbidsMemory) arena.release(scratchOffsets_.back(), scratch + guard_);
    for (int value : step.inputs) releaseAfter(arenas, s, value);
    for (int value : step.outputs) releaseAfter(arenas, s, value);
  }

  void releaseAfter(Arenas& arenas, int s, int value) {
    if (!hasMemory(value) || kForbidsMemory) return;
    const int root = rootOf(value);
    const Location& location = values_[root].location;
    if (lifetimes_[root].madeBy < 0 || lifetimes_[root].lastUse != s || location.kind != Location::Arena) return;
    lifetimes_[root].lastUse = -1;  // once
    arenas.of(values_[root].memory).release(location.index, bytesOf(values_[root]) + guard_);
  }

  // `memory`: constants have several places.
  Location locate(int value, Memory memory = kHostMemory) const {
    if (value == kNoValue || !values_[value].known) return {};
    const ValueState& state = values_[value];
    if (const void* copy = state.constant ? draft_.copyIn(memory, state) : nullptr)
      return {Location::Constant, 0, 0, copy, 0, memory};
    if (const Tensor* constant = state.constant.get()) return {Location::Constant, 0, 0, constant->data()};
    Location location = values_[rootOf(value)].location;
    (location.kind == Location::Arena ? location.index : location.offset) += offsetOf(value);
    location.memory = state.memory;
    return location;
  }

  void addType(int value) {
    OperandType type;
    if (value != kNoValue && values_[value].known) {
      const Shape& shape = values_[value].shape;
      type = {values_[value].dtype, static_cast<uint8_t>(shape.rank()), static_cast<uint32_t>(plan_.typeDims.size())};
      plan_.typeDims.insert(plan_.typeDims.end(), shape.dims().begin(), shape.dims().end());
    }
    plan_.types.push_back(type);
  }

  uint32_t addToTable(const std::vector<int>& values, Memory memory = kHostMemory) {
    const uint32_t first = static_cast<uint32_t>(plan_.table.size());
    for (int value : values) {
      plan_.table.push_back(locate(value, memory));
      addType(value);
      if (value != kNoValue && values_[value].constant) plan_.constants.push_back(values_[value].constant);
    }
    return first;
  }

  void fillTable() {
    for (size_t s = 0; s < draft_.steps.size(); ++s) {
      DraftStep& step = draft_.steps[s];
      const uint32_t inputs = addToTable(step.inputs, step.memory), outputs = addToTable(step.outputs);
      const uint32_t end = static_cast<uint32_t>(plan_.table.size());
      plan_.steps.push_back({std::move(step.kernel), step.node, inputs, outputs, end, scratchOffsets_[s], step.place,
                             step.memory, step.source});
    }
    plan_.boundary.table = addToTable(draft_.boundaryValues);
    for (int value : plan_.boundary.values)
      plan_.boundary.states.push_back(value == kNoValue ? ValueState{} : values_[value]);
  }

  void keepState() {
    if (plan_.boundary.kind == Boundary::End) return;
    plan_.state.values = values_.before();
    values_.forEachKnown([&](size_t value, const ValueState& state) { keepState(value, state); });
    plan_.state.frames = draft_.frames;
    plan_.state.claimedOutputs = draft_.claimedOutputs;
    plan_.state.dynamicCount = draft_.dynamicCount;
  }

  void keepState(size_t value, ValueState state) {
    StateMap<ValueState>& kept = plan_.state.values;
    if (!isReadLater(value)) return kept.erase(value);
    // The layout of this plan is final from here on, so each name can have its own entry.
    state.location = state.constant ? Location{} : locate(static_cast<int>(value));
    state.root = static_cast<int>(value);
    const ValueState* before = kept.find(value);
    if (before && before->location == state.location && before->constant.get() == state.constant.get()) return;
    kept.set(value, std::move(state));
    ++plan_.state.changes;
  }

  Draft& draft_;
  Plan& plan_;
  ValueStates& values_;
  const bool hasGuards_;
  const size_t guard_;  // bytes behind each value
  Numbered<Lifetime> lifetimes_;
  Numbered<std::vector<Use>> uses_;
  std::vector<size_t> scratchOffsets_;
};

}  // namespace

void layOut(Draft& draft) { Layout(draft).run(); }

}  // namespace max
