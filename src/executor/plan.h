// SPDX-License-Identifier: Apache-2.0
// What runs for one set of input shapes: steps, the locations of their operands, and continuations.
//
// A plan extends as far as shapes are known. It ends where the next node needs the contents of a value (a target shape
// computed at run time, the condition of an If) or has outputs of unknown shape (NonZero, Loop); the rest is a
// continuation, a separate plan found by those contents or shapes. Most models are one plan without continuations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/forbid.h"
#include "base/load_budget.h"
#include "base/ref.h"
#include "base/shape.h"
#include "base/tensor.h"
#include "executor/program.h"
#include "executor/state_map.h"
#include "ops/agreement.h"

namespace max {

// Location of an operand while a plan runs.
struct Location {
  enum Kind : uint8_t { None, Constant, Input, Output, Arena, Dynamic };
  Kind kind = None;
  int depth = 0;                   // Arena: of the plan whose block it is, 0 = the first
  size_t index = 0;                // Arena: offset; Input, Output, Dynamic: number
  const void* constant = nullptr;  // Constant
  size_t offset = 0;               // Input, Output: bytes from their beginning
  Memory memory = kHostMemory;     // Arena: in that of this memory

  friend bool operator==(const Location&, const Location&) = default;
};

struct Step {
  std::unique_ptr<OpKernel> kernel;
  const Node* node;             // NULL for copies that the executor added
  uint32_t inputs;              // first entry in the table
  uint32_t outputs;             // first entry in the table
  uint32_t end;                 // one past its last entry
  size_t scratch = 0;           // offset in the arena
  size_t place = 0;             // NodeInfo::place
  Memory memory = kHostMemory;  // of the device that runs it; copies run on the accelerator that they reach or leave
  Memory source = kHostMemory;  // of a copy between accelerators: where it reads
};

// After each value that a node makes, if the settings ask for guards. About the size of one extra row.
inline constexpr size_t kGuardBytes = 4096;

// Under the address sanitizer each value has its own space, followed by this many unused bytes.
inline constexpr size_t kForbiddenBytes = kForbidsMemory ? 256 : 0;

// The type of an operand; its dimensions are Plan::typeDims from `dims` on.
struct OperandType {
  DType dtype = DType::Invalid;
  uint8_t rank = 0;
  uint32_t dims = 0;
};

// A constant that lies in an accelerator's arena.
struct Fill {
  Ref<const Tensor> contents;
  Memory memory;
  size_t offset;
};

struct PlannedOutput {
  size_t index;
  DType dtype;
  Shape shape;
};

// What is known about a value at some point of planning.
struct ValueState {
  bool known = false;
  DType dtype = DType::Invalid;
  Shape shape;
  Ref<const Tensor> constant;  // contents, if known
  int root = kNoValue;         // the value whose memory it shares, or itself
  Location location;           // of a root, once placed
  Memory memory = kHostMemory;
  const Value* stored = nullptr;  // a constant: its contents may lie in memory of accelerators, too
};

// State of planning: the next nodes, and what is known about the values that they need.
struct Frame {
  const Block* block;
  size_t next = 0;
  const NodeInfo* owner = nullptr;  // the If whose branch it is
};

struct PlanState {
  std::vector<Frame> frames;
  StateMap<ValueState> values;
  size_t changes = 0;                // of values, against the plan before
  std::vector<bool> claimedOutputs;  // already written by their kernels
  size_t dynamicCount = 0;
};

struct Boundary {
  enum Kind : uint8_t { End, Contents, Node };
  Kind kind = End;
  const NodeInfo* node = nullptr;     // the one that needs contents, or the one to run
  std::vector<int> values;            // Contents: those needed; Node: its inputs and captured values
  std::vector<ValueState> states;     // of `values`
  uint32_t table = 0;                 // first entry of `values` in the table
  Inferred expected;                  // Node: types made by its operator
  DynamicFunction dynamic = nullptr;  // Node: what runs it; NULL = its body does
};

class Plan : public RefCounted {
 public:
  Ref<const Program> program;     // owner of its nodes, kept alive
  int depth = 0;                  // number of plans before this one
  std::vector<int64_t> inputKey;  // first plans: dtypes and dimensions of the inputs
  std::string continuationKey;    // others
  std::vector<Step> steps;
  std::vector<Location> table;     // operands of the steps, in order
  std::vector<OperandType> types;  // of the table's entries
  std::vector<int64_t> typeDims;
  size_t arenaBytes = 0;            // on the host
  std::vector<size_t> deviceBytes;  // on the accelerators, by memory less one; empty without accelerators
  bool hasUploads = false;          // the accelerator reads the host's arena
  std::vector<Fill> fills;
  std::vector<PlannedOutput> outputs;        // written by this plan
  std::vector<Ref<const Tensor>> constants;  // kept alive
  Boundary boundary;
  PlanState state;        // for continuations
  uint32_t settings = 0;  // PlanSettings::word() that it was made for
  const uint64_t id;      // unique in the process

  Plan();
  ~Plan() override;

  size_t bytes() const;     // approximate size, with continuations, without constants
  size_t ownBytes() const;  // without continuations
  void countBytes();        // counted from now on in the session's memory limit and the program's PlanBytes
  Shape shapeOf(uint32_t entry) const;
  size_t bytesOf(uint32_t entry) const;
  size_t bytesIn(Memory memory) const { return memory == kHostMemory ? arenaBytes : deviceBytes[memory - 1u]; }
  size_t arenasBytes() const;  // on all devices
  // The first that a driver cannot repeat for the host: it runs there or on another accelerator, or takes new numbers
  // from the host; NULL = none.
  const Step* firstUnrepeatable() const;

  // Most recent first; guarded by the program's lock.
  std::vector<Ref<Plan>> continuations;

 private:
  Ref<PlanBytes> counter_;
  size_t counted_ = 0;
  MemoryCharge charge_;
  Ref<Plan> doomed_;  // of a list of plans that are destroyed one by one
};

// Logs the plan: a line for the plan, and one for each step on a reference kernel.
void logPlan(const Plan& plan, const RunSettings& settings);

}  // namespace max
