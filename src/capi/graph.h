// SPDX-License-Identifier: Apache-2.0
// The handles of graph.h. Code that runs a graph takes a copy: graph().clone().
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/handle.h"
#include "base/ref.h"
#include "device/device.h"
#include "device/host_tensor.h"
#include "graph/graph.h"
#include "graph/tensor_info.h"
#include "max/graph.h"

// A value with the boundary's additions. Owned by its MaxGraph.
struct MaxGraphValue {
  MaxGraphValue(MaxGraph& ownerGraph, max::Value& graphValue, max::Ref<MaxDevice> valueDevice);

  MaxGraph& graph;
  max::Value& value;
  max::Ref<MaxDevice> device;  // NULL = the session's first
  const max::TensorInfo info;
};

struct MaxGraph : max::HandleOf<MaxGraph> {
 public:
  explicit MaxGraph(const char* name);
  MaxGraph(max::Ref<MaxGraph> parent, const char* name);

  max::Graph& graph() const { return *graph_; }
  const max::Ref<max::Graph>& graphRef() const { return graph_; }
  bool isSubgraph() const { return bool(parent_); }

  MaxGraphValue* adopt(max::Value* value, max::Ref<MaxDevice> device);
  const std::deque<MaxGraphValue>& values() const { return values_; }
  MaxGraphValue* find(const max::Value* value) const;  // NULL if there is none
  // A subgraph that belongs to a node must not change after its check.
  void freeze() { frozen_ = true; }
  void requireMutable() const;

 private:
  max::Ref<MaxGraph> parent_;  // before graph_, so that it is destroyed after it
  max::Ref<max::Graph> graph_;
  std::deque<MaxGraphValue> values_;
  std::unordered_map<const max::Value*, MaxGraphValue*> byValue_;
  bool frozen_ = false;
};

struct MaxAttributes : max::HandleOf<MaxAttributes> {
 public:
  void set(const char* name, max::Attribute value);
  void setGraph(const char* name, max::Ref<MaxGraph> graph);
  const max::Attributes& attributes() const { return attributes_; }
  void freezeGraphs() const;

 private:
  std::unordered_map<std::string, max::Ref<MaxGraph>> graphs_;  // holds the parents of the subgraphs
  max::Attributes attributes_;
};
