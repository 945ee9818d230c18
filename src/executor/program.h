// SPDX-License-Identifier: Apache-2.0
// A frozen graph, indexed for planning: its values have dense numbers, the branches of If
// belong to it, the bodies of Loop, Scan and SequenceMap are programs of their own.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

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
  std::vector<int> inputs;                        // numbers of values, kNoValue = omitted
  std::vector<int> outputs;                       // kNoValue = nobody asked for it
  std::unique_ptr<Block> thenBranch, elseBranch;  // of If
  std::unique_ptr<PlannedProgram> body;           // of Loop, Scan and SequenceMap
  std::vector<int> captured;                      // values that the body uses, in its order
};

// The nodes of a graph in order.
struct Block {
  std::vector<NodeInfo> nodes;
  std::vector<int> outputs;
};

class Program : public RefCounted {
 public:
  // Captured outer values follow the graph's own inputs. `depth`: how many Loop or Scan bodies it lies in.
  Program(Ref<const Graph> graph, RunSettings settings, int depth);

  const Graph& graph() const { return *graph_; }
  const Block& main() const { return main_; }
  const std::vector<int>& inputs() const { return inputs_; }  // captured ones last
  const std::vector<const Value*>& values() const { return values_; }
  int lanes() const { return settings_.lanes; }
  const RunSettings& settings() const { return settings_; }
  // Strings, sequences, optionals or maps may be made while it runs.
  bool usesObjects() const { return usesObjects_; }

 private:
  int number(const Value* value);
  Block index(const Graph& graph, int depth, int branchDepth);
  NodeInfo index(const Node& node, int depth, int branchDepth);
  void indexBody(NodeInfo& info, int depth);
  void findObjects();

  Ref<const Graph> graph_;
  RunSettings settings_;
  bool usesObjects_ = false;
  Block main_;
  std::vector<int> inputs_;
  std::vector<const Value*> values_;
  std::unordered_map<const Value*, int> numbers_;  // used while indexing
};

}  // namespace max
