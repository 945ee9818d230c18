// SPDX-License-Identifier: Apache-2.0
// Differences between opset versions: one row for each operator and change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute_rules.h"
#include "graph/graph.h"

namespace max::onnx {

// A node being imported. Rules rewrite it in place, and may insert nodes before it.
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

// Converts a node to the newest opset.
void normalise(PendingNode& node);
// A rule in its own file.
void scanOfOpset8(PendingNode& node);
// Rules of opset6.cpp.
void broadcastFromAxis(PendingNode& node);
void slopePerChannel(PendingNode& node);
// Whether an operator of an old opset is the same in kOldestOpset, the first that is read in full.
bool isReadable(std::string_view domain, std::string_view op, int64_t version);
// The attributes of the operator that it becomes; NULL if there is none.
const AttributeRules* attributesOfNewest(std::string_view domain, std::string_view op);
// The name to look an operator of this version up by ("Upsample" -> "Resize").
std::string_view newestName(std::string_view domain, std::string_view op);

}  // namespace max::onnx
