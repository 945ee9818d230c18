// SPDX-License-Identifier: Apache-2.0
#include "onnx/inspector.h"

#include <algorithm>

#include "base/active_call.h"
#include "base/checked.h"
#include "graph/composite.h"
#include "graph/unknown_operator.h"
#include "onnx/opset.h"

namespace max::onnx {

namespace {

constexpr size_t kMaxOperands = 1 << 16;  // inputs or outputs of a node
constexpr size_t kMaxOutputs = 1 << 12;   // of a graph
constexpr size_t kMaxAttributes = 1 << 10;

void checkCounts(const NodeProto& node) {
  const size_t operands = std::max(node.inputs.size(), node.outputs.size());
  if (operands <= kMaxOperands && node.attributes.size() <= kMaxAttributes) return;
  const std::string label = concat("node '", node.name, "' (", node.op, ")");
  checkCount(operands, kMaxOperands, label, "operands");
  checkCount(node.attributes.size(), kMaxAttributes, label, "attributes");
}

}  // namespace

void checkDepth(int depth) {
  require(depth < kMaxGraphDepth, MAX_STATUS_INVALID_ARGUMENT, "Subgraphs are nested more than ", kMaxGraphDepth,
          " deep");
}

Inspector::Inspector(const ModelProto& model, const Functions& functions, const ImportOptions& options)
    : model_(model), functions_(functions), options_(options) {
  info_.irVersion = model.irVersion;
  info_.producer = model.producer;
  for (const auto& [domain, version] : model.opsets)
    info_.opsets.emplace_back(domain.empty() ? "ai.onnx" : std::string(domain), version);
}

ModelInfo Inspector::run() {
  visitGraph(model_.graph, 0);
  while (!pending_.empty()) {
    const FunctionProto* function = pending_.back();
    pending_.pop_back();
    visitFunction(*function);
  }
  return std::move(info_);
}

void Inspector::visitGraph(Bytes bytes, int depth) {
  checkDepth(depth);
  const GraphProto graph = parseGraph(bytes);
  nodes_ += graph.nodes.size();
  checkCount(nodes_, kMaxNodes, "The model", "nodes");
  checkCount(graph.outputs.size(), kMaxOutputs, concat("Graph '", graph.name, "'"), "outputs");
  for (Bytes initializer : graph.initializers) addWeight(parseTensor(initializer));
  for (Bytes initializer : graph.sparseInitializers)
    countParameters(parseTensor(parseSparseTensor(initializer).values));
  for (Bytes node : graph.nodes) visitNode(parseNode(node), depth);
}

void Inspector::visitFunction(const FunctionProto& function) {
  inside_ = &function;
  nodes_ += function.nodes.size();
  checkCount(nodes_, kMaxNodes, "The model", "nodes");
  for (Bytes node : function.nodes) visitNode(parseNode(node), 0);
  for (const AttributeProto& attribute : function.defaults) visitGraphs(attribute, 0);
}

void Inspector::countParameters(const TensorProto& tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims) count = checkedMultiply(count, dim);
  info_.parameters = checkedAdd(info_.parameters, count);
}

void Inspector::addWeight(const TensorProto& tensor) {
  countParameters(tensor);
  const DType dtype = dtypeFromOnnx(tensor.dataType).value_or(DType::Invalid);
  info_.weights.emplace_back(tensor.name, TensorType::of(dtype, {tensor.dims.begin(), tensor.dims.end()}));
}

void Inspector::visitNode(const NodeProto& node, int depth) {
  checkInterrupt();
  checkCounts(node);
  const std::string_view domain = plainDomain(node.domain);
  ++info_.operators[displayName(domain, node.op)];
  if (const FunctionProto* function = functions_.find(node)) {
    if (seen_.insert(function).second) pending_.push_back(function);
  } else if (!isSupported(domain, node.op) || !isReadable(domain, node.op, versionOf(domain))) {
    addUnsupported(node, domain);
  }
  for (const AttributeProto& attribute : node.attributes) visitGraphs(attribute, depth);
}

void Inspector::visitGraphs(const AttributeProto& attribute, int depth) {
  if (!attribute.g.empty()) visitGraph(attribute.g, depth + 1);
  for (Bytes graph : attribute.graphs) visitGraph(graph, depth + 1);
}

bool Inspector::isSupported(std::string_view domain, std::string_view op) const {
  if (domain.empty() && op == "Constant") return true;
  if (domain == kMaxDomain && !options_.compiledData) return false;  // our own operators are not an interchange format
  const std::string_view name = newestName(domain, op);
  if (findComposite(domain, name)) return true;
  return findSchema(domain, name) && (!options_.isSupported || options_.isSupported(domain, name));
}

int64_t Inspector::versionOf(std::string_view domain) const {
  const int64_t version = inside_ ? versionIn(inside_->opsets, domain) : 0;
  return version ? version : versionIn(model_, domain);
}

void Inspector::addUnsupported(const NodeProto& node, std::string_view domain) {
  std::string name = inside_ ? concat(inside_->name, "/", node.name) : std::string(node.name);
  info_.unsupported.push_back(
      {std::move(name), domain.empty() ? "ai.onnx" : std::string(domain), std::string(node.op), versionOf(domain)});
}

std::string listUnsupported(const std::vector<UnsupportedNode>& nodes) {
  constexpr size_t kListed = 20;
  std::string text =
      concat(nodes.size(), nodes.size() == 1 ? " node has" : " nodes have", " an unsupported operator: ");
  std::string extension;
  for (size_t i = 0; i < nodes.size() && i < kListed; ++i) {
    const UnsupportedNode& node = nodes[i];
    const std::string_view domain = node.domain == "ai.onnx" ? "" : std::string_view(node.domain);
    text += concat(i ? "; " : "", "'", node.name, "' (", node.op, ", domain ", node.domain, ", version ", node.version,
                   hintAtOperator(domain, node.op), ")");
    if (extension.empty()) extension = hintAtExtensions(domain);
  }
  if (nodes.size() > kListed) text += concat("; and ", nodes.size() - kListed, " more");
  return text + extension;
}

}  // namespace max::onnx
