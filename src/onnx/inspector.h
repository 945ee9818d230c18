// SPDX-License-Identifier: Apache-2.0
// Finds what a model needs before anything is built.
#pragma once

#include <set>
#include <vector>

#include "onnx/functions.h"
#include "onnx/import.h"

namespace max::onnx {

// Maximum number of nodes of a model, also after expanding composite operators and functions. Today's largest models
// have a tenth of this; passes take time in proportion, and more with many outputs.
inline constexpr size_t kMaxNodes = 1 << 17;

// Nesting depth of subgraphs; deeper files are not models but attacks on the stack.
void checkDepth(int depth);

class Inspector {
 public:
  Inspector(const ModelProto& model, const Functions& functions, const ImportOptions& options);
  ModelInfo run();

 private:
  void visitGraph(Bytes bytes, int depth);
  void visitFunction(const FunctionProto& function);
  void countParameters(const TensorProto& tensor);
  void addWeight(const TensorProto& tensor);
  void visitNode(const NodeProto& node, int depth);
  void visitGraphs(const AttributeProto& attribute, int depth);
  bool isSupported(std::string_view domain, std::string_view op) const;
  int64_t versionOf(std::string_view domain) const;
  void addUnsupported(const NodeProto& node, std::string_view domain);

  const ModelProto& model_;
  const Functions& functions_;
  const ImportOptions& options_;
  const FunctionProto* inside_ = nullptr;  // the function whose nodes are being visited
  std::vector<const FunctionProto*> pending_;
  std::set<const FunctionProto*> seen_;
  ModelInfo info_;
  size_t nodes_ = 0;  // visited
};

std::string listUnsupported(const std::vector<UnsupportedNode>& nodes);

}  // namespace max::onnx
