// SPDX-License-Identifier: Apache-2.0
// Functions that a model defines, and the bounds on what they may grow to.
#pragma once

#include <map>
#include <string_view>
#include <tuple>

#include "onnx/proto.h"

namespace max::onnx {

// The version that a list of operator sets asks for; 0 = not imported.
int64_t versionIn(const Opsets& opsets, std::string_view domain);
// The same of a model: ONNX's own operators are the newest ones unless it says otherwise.
int64_t versionIn(const ModelProto& model, std::string_view domain);

// UNIMPLEMENTED "OWNER has COUNT WHAT; at most MOST are supported".
void checkCount(size_t count, size_t most, std::string_view owner, std::string_view what);
void checkOpsetCount(const Opsets& opsets, std::string_view owner);

class Functions {
 public:
  explicit Functions(const ModelProto& model);
  // The function that a node calls; NULL if it is an operator. Functions come before operators of the same name.
  const FunctionProto* find(const NodeProto& node) const;
  bool empty() const { return byName_.empty(); }

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, FunctionProto> byName_;
};

// What expansions may add, in all: a short file must not become a large graph.
class ExpansionBudget {
 public:
  explicit ExpansionBudget(size_t fileBytes);
  void takeNodes(const FunctionProto& function, size_t count);
  // Of what is read once more each time that it is expanded. `owner` begins the message.
  void takeBytes(std::string_view owner, size_t count);

 private:
  size_t nodes_;
  size_t bytes_;
  size_t allNodes_;
};

}  // namespace max::onnx
