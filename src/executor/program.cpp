// SPDX-License-Identifier: Apache-2.0
#include "executor/program.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "executor/run.h"

namespace max {

namespace {

// Files are untrusted: limit the depth of nested subgraphs.
constexpr int kMaxDepth = 32;
constexpr size_t kOperandBytes = 48;  // a number and its key

Ref<Graph> subgraph(const Node& node, std::string_view attribute) {
  Ref<Graph> graph = node.attributes.getGraph(attribute);
  if (!graph) invalidArgument(node.description(), ": attribute '", attribute, "' is missing");
  return graph;
}

}  // namespace

NodeInfo::NodeInfo() = default;
NodeInfo::NodeInfo(NodeInfo&&) noexcept = default;
NodeInfo::~NodeInfo() = default;

Program::Program(Ref<const Graph> graph, RunSettings settings, int depth, Ref<PlanBytes> planBytes)
    : graph_(std::move(graph)), settings_(settings), planBytes_(std::move(planBytes)) {
  require(depth <= kMaxDepth, MAX_STATUS_UNIMPLEMENTED, "Subgraphs are nested deeper than ", kMaxDepth);
  for (const Value* value : graph_->inputs()) inputs_.push_back(number(value));
  for (const Value* value : graph_->capturedValues())
    if (!value->constant) inputs_.push_back(number(value));
  main_ = index(*graph_, depth, 0);
  for (size_t i = 0; i < main_.outputs.size(); ++i) outputs_.emplace(main_.outputs[i], i);
  numbers_.clear();
  findObjects();
  if (settings_.accelerator && settings_.devices.size() > 1) findMemories();
}

void Program::findObjects() {
  for (const Value* value : values_)
    if (holdsPointers(value->type.dtype) || value->type.dtype == DType::Invalid) usesObjects_ = true;
}

void Program::addMemory(const RefCounted* home) {
  const Memory memory = settings_.memoryOf(home);
  if (memory > kMainMemory && std::ranges::find(otherMemories_, memory) == otherMemories_.end())
    otherMemories_.push_back(memory);
}

// Nodes run where a value of theirs is placed.
void Program::findMemories() {
  for (const Value* value : values_) addMemory(value->home.get());
  for (size_t i = 0; i < graph_->outputs().size(); ++i) addMemory(graph_->outputHome(i));
}

int Program::number(const Value* value) {
  if (!value) return kNoValue;
  const auto [entry, isNew] = numbers_.try_emplace(value, static_cast<int>(values_.size()));
  if (isNew) {
    values_.push_back(value);
    lastReads_.push_back(0);
  }
  return entry->second;
}

void Program::noteReads(std::span<const int> values, size_t place) {
  for (int value : values)
    if (value != kNoValue) lastReads_[static_cast<size_t>(value)] = place + 1;  // offsets increase
}

Block Program::index(const Graph& graph, int depth, int branchDepth) {
  require(branchDepth <= kMaxDepth, MAX_STATUS_UNIMPLEMENTED, "Subgraphs are nested deeper than ", kMaxDepth);
  Block block;
  block.nodes.reserve(graph.nodes().size());
  for (const Node* node : graph.nodes()) block.nodes.push_back(index(*node, depth, branchDepth));
  for (const Value* output : graph.outputs()) block.outputs.push_back(number(output));
  block.end = places_++;
  noteReads(block.outputs, block.end);
  return block;
}

NodeInfo Program::index(const Node& node, int depth, int branchDepth) {
  NodeInfo info;
  info.node = &node;
  info.place = places_++;
  for (const Value* input : node.inputs) info.inputs.push_back(number(input));
  for (const Value* output : node.outputs) info.outputs.push_back(number(output));
  noteReads(info.inputs, info.place);
  charge_.add(sizeof(NodeInfo) + (info.inputs.size() + 2 * info.outputs.size()) * kOperandBytes);
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
  info.body = std::make_unique<PlannedProgram>(body, settings_.onHost(), depth + 1, planBytes_);
  usesObjects_ = usesObjects_ || info.body->program().usesObjects();
  for (const Value* value : body->capturedValues())
    if (!value->constant) info.captured.push_back(number(value));
  noteReads(info.captured, info.place);
}

}  // namespace max
