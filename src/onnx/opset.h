// SPDX-License-Identifier: Apache-2.0
// Differences between opset versions: one row for each operator and change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute_rules.h"
#include "graph/graph.h"

namespace max::onnx {

// A node on its way into the graph. Rules rewrite it in place, and may put nodes before it.
struct PendingNode {
  Graph& graph;
  std::string domain;
  std::string op;
  std::string name;
  int64_t version;  // of its operator set
  std::vector<Value*> inputs;
  Attributes attributes;
  std::vector<std::string> outputs;

  [[noreturn]] void fail(MaxStatus status, const std::string& text) const;
};

// Brings a node to the meaning of the newest opset.
void normalise(PendingNode& node);
// A rule of its own size.
void scanOfOpset8(PendingNode& node);
// Rules of opset6.cpp.
void broadcastFromAxis(PendingNode& node);
void slopePerChannel(PendingNode& node);
// Whether an operator of an old opset means what it means in kOldestOpset, from which on all are read.
bool isReadable(std::string_view domain, std::string_view op, int64_t version);
// The attributes of the operator that it becomes; NULL if there is none.
const AttributeRules* attributesOfNewest(std::string_view domain, std::string_view op);
// The name under which an operator of this version is looked up ("Upsample" -> "Resize").
std::string_view newestName(std::string_view domain, std::string_view op);

}  // namespace max::onnx
