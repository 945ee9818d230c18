// SPDX-License-Identifier: Apache-2.0
#include "executor/program.h"

#include <utility>

#include "base/error.h"
#include "executor/run.h"

namespace max {

namespace {

// Files come from strangers: subgraphs in subgraphs end somewhere.
constexpr int kMaxDepth = 32;

Ref<Graph> subgraph(const Node& node, std::string_view attribute) {
  Ref<Graph> graph = node.attributes.getGraph(attribute);
  if (!graph) invalidArgument(node.description(), ": attribute '", attribute, "' is missing");
  return graph;
}

}  // namespace

NodeInfo::NodeInfo() = default;
NodeInfo::NodeInfo(NodeInfo&&) noexcept = default;
NodeInfo::~NodeInfo() = default;

Program::Program(Ref<const Graph> graph, RunSettings settings, int depth)
    : graph_(std::move(graph)), settings_(settings) {
  require(depth <= kMaxDepth, MAX_STATUS_UNIMPLEMENTED, "Subgraphs are nested deeper than ", kMaxDepth);
  for (const Value* value : graph_->inputs()) inputs_.push_back(number(value));
  for (const Value* value : graph_->capturedValues())
    if (!value->constant) inputs_.push_back(number(value));
  main_ = index(*graph_, depth, 0);
  numbers_.clear();
  findObjects();
}

void Program::findObjects() {
  for (const Value* value : values_)
    if (holdsPointers(value->type.dtype) || value->type.dtype == DType::Invalid) usesObjects_ = true;
}

int Program::number(const Value* value) {
  if (!value) return kNoValue;
  const auto [entry, isNew] = numbers_.try_emplace(value, static_cast<int>(values_.size()));
  if (isNew) values_.push_back(value);
  return entry->second;
}

Block Program::index(const Graph& graph, int depth, int branchDepth) {
  require(branchDepth <= kMaxDepth, MAX_STATUS_UNIMPLEMENTED, "Subgraphs are nested deeper than ", kMaxDepth);
  Block block;
  block.nodes.reserve(graph.nodes().size());
  for (const Node* node : graph.nodes()) block.nodes.push_back(index(*node, depth, branchDepth));
  for (const Value* output : graph.outputs()) block.outputs.push_back(number(output));
  return block;
}

NodeInfo Program::index(const Node& node, int depth, int branchDepth) {
  NodeInfo info;
  info.node = &node;
  for (const Value* input : node.inputs) info.inputs.push_back(number(input));
  for (const Value* output : node.outputs) info.outputs.push_back(number(output));
  if (node.is("If")) {
    info.thenBranch = std::make_unique<Block>(index(*subgraph(node, "then_branch"), depth, branchDepth + 1));
    info.elseBranch = std::make_unique<Block>(index(*subgraph(node, "else_branch"), depth, branchDepth + 1));
  } else if (node.is("Loop") || node.is("Scan") || node.is("SequenceMap")) {
    indexBody(info, depth);
  }
  return info;
}

void Program::indexBody(NodeInfo& info, int depth) {
  const Ref<Graph> body = subgraph(*info.node, "body");
  info.body = std::make_unique<PlannedProgram>(body, settings_, depth + 1);
  usesObjects_ = usesObjects_ || info.body->program().usesObjects();
  for (const Value* value : body->capturedValues())
    if (!value->constant) info.captured.push_back(number(value));
}

}  // namespace max
