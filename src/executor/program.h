// SPDX-License-Identifier: Apache-2.0
// A frozen graph, indexed for planning: its values have dense numbers, it includes the branches of If, and the bodies
// of Loop, Scan and SequenceMap are separate programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/load_budget.h"
#include "executor/settings.h"
#include "graph/graph.h"

namespace max {

class PlannedProgram;

inline constexpr int kNoValue = -1;

struct Block;

struct NodeInfo {
  NodeInfo();
  NodeInfo(NodeInfo&&) noexcept;
  ~NodeInfo();

  const Node* node = nullptr;
  size_t place = 0;                               // in the order of all nodes, those of branches after their If
  std::vector<int> inputs;                        // numbers of values, kNoValue = omitted
  std::vector<int> outputs;                       // kNoValue = not requested
  std::unique_ptr<Block> thenBranch, elseBranch;  // of If
  std::unique_ptr<PlannedProgram> body;           // of Loop, Scan and SequenceMap
  std::vector<int> captured;                      // values that the body uses, in its order
};

// The nodes of a graph in order.
struct Block {
  std::vector<NodeInfo> nodes;
  std::vector<int> outputs;
  size_t end = 0;  // index after all of its nodes

  size_t placeOf(size_t next) const { return next < nodes.size() ? nodes[next].place : end; }
};

// Bytes of the plans of a program and its bodies.
class PlanBytes : public RefCounted {
 public:
  std::atomic<size_t> count{0};
};

class Program : public RefCounted {
 public:
  // Captured outer values follow the graph's own inputs. `depth`: nesting depth in Loop or Scan bodies. `planBytes`
  // also counts those of the enclosing programs.
  Program(Ref<const Graph> graph, RunSettings settings, int depth, Ref<PlanBytes> planBytes = makeRef<PlanBytes>());

  const Graph& graph() const { return *graph_; }
  const Block& main() const { return main_; }
  const std::vector<int>& inputs() const { return inputs_; }  // captured ones last
  const std::vector<const Value*>& values() const { return values_; }
  // Whether a node at or after `place` may read the value.
  bool isReadFrom(size_t place, size_t value) const { return lastReads_[value] > place; }
  // Positions among the outputs of main().
  auto outputsOf(int value) const { return outputs_.equal_range(value); }
  PlanBytes& planBytes() const { return *planBytes_; }
  int lanes() const { return settings_.lanes; }
  const RunSettings& settings() const { return settings_; }
  // The accelerators that it uses besides the session's first device.
  std::span<const Memory> otherMemories() const { return otherMemories_; }
  // It may create strings, sequences, optionals or maps while it runs.
  bool usesObjects() const { return usesObjects_; }

 private:
  int number(const Value* value);
  Block index(const Graph& graph, int depth, int branchDepth);
  NodeInfo index(const Node& node, int depth, int branchDepth);
  void indexBody(NodeInfo& info, int depth);
  void findObjects();
  void findMemories();
  void addMemory(const RefCounted* home);
  void noteReads(std::span<const int> values, size_t place);

  Ref<const Graph> graph_;
  RunSettings settings_;
  bool usesObjects_ = false;
  std::vector<Memory> otherMemories_;
  Block main_;
  std::vector<int> inputs_;
  std::vector<const Value*> values_;
  std::vector<size_t> lastReads_;  // by value: one past the index of the last node that reads it, 0 = none
  std::unordered_multimap<int, size_t> outputs_;
  Ref<PlanBytes> planBytes_;
  MemoryCharge charge_;
  size_t places_ = 0;
  std::unordered_map<const Value*, int> numbers_;  // used while indexing
};

}  // namespace max
