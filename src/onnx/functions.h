// SPDX-License-Identifier: Apache-2.0
// Functions that a model defines, and limits on their expansion.
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "onnx/proto.h"

namespace max::onnx {

// The version in a list of operator sets; 0 = not imported.
int64_t versionIn(const Opsets& opsets, std::string_view domain);
// The same for a model: for ONNX's own operators, the default is the newest version.
int64_t versionIn(const ModelProto& model, std::string_view domain);

// UNIMPLEMENTED "OWNER has COUNT WHAT; at most MOST are supported".
void checkCount(size_t count, size_t most, std::string_view owner, std::string_view what);
void checkOpsetCount(const Opsets& opsets, std::string_view owner);

class Functions {
 public:
  explicit Functions(const ModelProto& model);
  // The function that a node calls; NULL if it is an operator. Functions take precedence over operators of the same
  // name.
  const FunctionProto* find(const NodeProto& node) const;
  bool empty() const { return byName_.empty(); }

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, FunctionProto> byName_;
};

// What all expansions together may add: a short file must not become a large graph.
class ExpansionBudget {
 public:
  explicit ExpansionBudget(size_t fileBytes);
  void takeNodes(const FunctionProto& function, size_t count);
  // Bytes that are read again in each expansion. `owner` starts the message.
  void takeBytes(std::string_view owner, size_t count);

 private:
  size_t nodes_;
  size_t bytes_;
  size_t allNodes_;
};

}  // namespace max::onnx
