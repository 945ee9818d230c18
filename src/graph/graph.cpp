// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/active_call.h"
#include "base/load_budget.h"
#include "base/name_map.h"
#include "graph/schema.h"
#include "graph/subgraphs.h"
#include "graph/unknown_operator.h"

namespace max {

struct Graph::Names {
  NameMap<Value*> values;
  NameMap<size_t> counters;  // of generated names
  NameSet outputs;
  MemoryCharge charge;  // for everything in the graph
};

namespace {

// Approximate sizes, including index entries.
constexpr uint64_t kGraphBytes = 2048;
constexpr uint64_t kPointerBytes = sizeof(void*);
constexpr uint64_t kAttributeBytes = sizeof(std::pair<std::string, Attribute>);

uint64_t bytesOf(const Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return text->size();
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute)) return numbers->size() * sizeof(int64_t);
  if (const auto* numbers = std::get_if<std::vector<float>>(&attribute)) return numbers->size() * sizeof(float);
  uint64_t bytes = 0;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute))
    for (const std::string& text : *texts) bytes += sizeof(std::string) + text.size();
  return bytes;  // tensors and graphs count separately
}

uint64_t bytesOf(const Node& node, size_t outputCount) {
  uint64_t bytes = sizeof(Node) + node.name.size() + node.inputs.size() * (kPointerBytes + sizeof(Use)) +
                   outputCount * kPointerBytes;
  for (const auto& [name, attribute] : node.attributes.entries()) bytes += kAttributeBytes + bytesOf(attribute);
  return bytes;
}

uint64_t bytesOf(std::string_view name, const TensorType& type) {
  constexpr uint64_t kNameBytes = sizeof(std::string) + 6 * kPointerBytes;
  return sizeof(Value) + kNameBytes + 2 * name.size() + type.dims.size() * sizeof(Dim);
}

// Known contents may be dropped.
void takeElements(Value& value, std::optional<std::vector<Dim>> elements) {
  LoadBudget* budget = activeLoadBudget();
  if (elements && budget && !budget->tryTakeElements(elements->size() * sizeof(Dim))) elements.reset();
  value.elements = std::move(elements);
}

}  // namespace

TensorType TensorType::holding(DType kind, const TensorType& element) {
  TensorType type = of(kind, {});
  type.inner[0] = element.dtype;
  std::copy_n(element.inner.begin(), element.inner.size() - 1, type.inner.begin() + 1);
  return type;
}

TensorType TensorType::held() const {
  const size_t first = dtype == DType::Map ? 1 : 0;
  TensorType type = unranked(inner[first]);
  type.ranked = isObject(type.dtype);
  std::copy(inner.begin() + static_cast<std::ptrdiff_t>(first) + 1, inner.end(), type.inner.begin());
  return type;
}

namespace {

// "sequence of map from string to float32"
void appendObject(std::string& text, TensorType type) {
  for (; isObject(type.dtype); type = type.held()) {
    text += nameOf(type.dtype);
    if (type.inner[0] == DType::Invalid) return;
    if (type.dtype == DType::Map) text += concat(" from ", nameOf(type.inner[0]));
    text += type.dtype == DType::Map ? " to " : " of ";
  }
  text += nameOf(type.dtype);
}

}  // namespace

void appendTo(std::string& text, const TensorType& type) {
  if (isObject(type.dtype)) return appendObject(text, type);
  text += type.dtype == DType::Invalid ? "?" : nameOf(type.dtype);
  if (type.ranked)
    appendTo(text, type.dims);
  else
    text += "[...]";
}

std::string_view Node::op() const { return schema->name; }
std::string_view Node::domain() const { return schema->domain; }
bool Node::is(std::string_view op) const { return schema->domain.empty() && schema->name == op; }
bool Node::isOwn(std::string_view op) const { return schema->domain == kMaxDomain && schema->name == op; }

std::string Node::description() const {
  std::string_view label = name;
  for (const Value* output : outputs)
    if (label.empty() && output) label = output->name;
  return concat("node '", label, "' (", domain(), domain().empty() ? "" : ".", op(), ")");
}

Graph::Graph(std::string name)
    : name_(std::move(name)), dims_(std::make_shared<DimTable>()), names_(std::make_unique<Names>()) {}

Graph::Graph(Graph& parent, std::string name)
    : name_(std::move(name)),
      parent_(&parent),
      depth_(parent.depth_ + 1),
      dims_(parent.dims_),
      names_(std::make_unique<Names>()) {
  require(depth_ <= kMaxGraphDepth, MAX_STATUS_UNIMPLEMENTED, "Graph '", name_, "': more than ", kMaxGraphDepth,
          " levels of subgraphs");
  names_->charge.add(kGraphBytes + name_.size());
}

void UseList::add(Use use) {
  if (uses_.size() == uses_.capacity() && first_ > uses_.size() / 2) {
    uses_.erase(uses_.begin(), uses_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
  uses_.push_back(use);
}

void UseList::remove(const Node* node, size_t index) {
  const auto isIt = [&](const Use& use) { return use.node == node && use.index == static_cast<int>(index); };
  const auto front = uses_.begin() + static_cast<ptrdiff_t>(first_);
  for (auto low = front, high = uses_.end(); low < high; ++low) {
    if (isIt(*--high)) {
      uses_.erase(high);
      return;
    }
    if (isIt(*low)) {
      std::move_backward(front, low, low + 1);
      ++first_;
      return;
    }
  }
}

void UseList::clear() {
  uses_.clear();
  first_ = 0;
}

// Outer values must not keep uses by destroyed nodes; uses of this graph's own values end with them. Subgraphs are
// destroyed first, while those values exist.
Graph::~Graph() {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    const std::vector<Value*>& inputs = (*node)->inputs;
    for (size_t i = inputs.size(); i-- > 0;)
      if (inputs[i] && inputs[i]->graph != this) inputs[i]->uses.remove(node->get(), i);
    (*node)->attributes = Attributes();
  }
  nodes_.clear();
}

std::string Graph::uniqueName(std::string_view base) {
  std::string name(base);
  if (!name.empty() && !names_->values.contains(name)) return name;
  if (name.empty()) name = "value";
  size_t& counter = names_->counters[name];
  std::string candidate;
  do candidate = concat(name, "_", ++counter);
  while (names_->values.contains(candidate));
  return candidate;
}

Value* Graph::newValue(std::string_view name, TensorType type, Node* producer, int index) {
  require(name.empty() || !names_->values.contains(name), MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_,
          "': the name '", name, "' is used twice");
  names_->charge.add(bytesOf(name, type));
  Value& value = values_.emplace_back();
  value.graph = this;
  value.name = name.empty() ? uniqueName(producer ? producer->op() : "") : std::string(name);
  value.type = std::move(type);
  value.producer = producer;
  value.producerIndex = index;
  names_->values.emplace(value.name, &value);
  return &value;
}

Value* Graph::addInput(std::string_view name, TensorType type) {
  Value* value = newValue(name, std::move(type));
  value->isInput = true;
  inputs_.push_back(value);
  return value;
}

Value* Graph::addConstant(Ref<Tensor> tensor, std::string_view name) {
  require(bool(tensor), MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_, "': constant '", name, "' has no contents");
  Value* value = newValue(name.empty() ? uniqueName("constant") : std::string(name),
                          TensorType::of(tensor->dtype(), symbolic(tensor->shape())));
  value->constant = std::move(tensor);
  return value;
}

Value* Graph::addWeight(std::string_view name, DType dtype, const Shape& shape, Ref<Tensor> tensor) {
  require(!name.empty(), MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_, "': a weight needs a name");
  require(!tensor || (tensor->dtype() == dtype && tensor->shape() == shape), MAX_STATUS_INVALID_ARGUMENT, "Weight '",
          name, "': its contents are not ", TensorType::of(dtype, symbolic(shape)));
  Value* value = newValue(name, TensorType::of(dtype, symbolic(shape)));
  value->constant = std::move(tensor);
  value->isWeight = true;
  return value;
}

Value* Graph::addValue(std::string_view name, TensorType type) { return newValue(uniqueName(name), std::move(type)); }

bool Graph::contains(const Graph* graph) const {
  while (graph && graph != this) graph = graph->parent_;
  return graph == this;
}

void Graph::requireVisible(const Value* value, const char* what) const {
  require(value->graph && value->graph->contains(this), MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_, "': ", what,
          " '", value->name, "' belongs to another graph");
}

void Graph::checkSubgraphs(const Node& node) const {
  forEachSubgraph(node, [&](const Graph& subgraph) {
    require(subgraph.parent() == this, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": the graph '",
            subgraph.name(), "' in its attributes is not a subgraph of graph '", name_, "'");
  });
}

Node* Graph::addNode(const OpSchema& schema, std::vector<Value*> inputs, Attributes attributes,
                     std::span<const std::string> outputNames, std::string name) {
  auto node = std::make_unique<Node>();
  node->schema = &schema;
  node->name = std::move(name);
  node->inputs = std::move(inputs);
  node->attributes = std::move(attributes);
  for (const Value* input : node->inputs)
    if (input) requireVisible(input, "value");
  checkSubgraphs(*node);
  checkArity(*node, outputNames.size());
  checkAttributes(*node);
  std::vector<InferContext::Output> outputs = inferNode(*node, dims_.get(), inputTypes(*node), outputNames.size());
  names_->charge.add(bytesOf(*node, outputNames.size()));
  // The graph must own the node before values point to it.
  Node& added = *nodes_.emplace_back(std::move(node));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value* value = newValue(outputNames[i], std::move(outputs[i].type), &added, static_cast<int>(i));
    takeElements(*value, std::move(outputs[i].elements));
    added.outputs.push_back(value);
  }
  attach(added);
  return &added;
}

Node* Graph::addNode(std::string_view domain, std::string_view op, std::vector<Value*> inputs, Attributes attributes,
                     size_t outputCount, std::string name) {
  const OpSchema* schema = findSchema(domain, op);
  if (!schema) failUnknownOperator(name, domain, op);
  const std::vector<std::string> names(outputCount);
  return addNode(*schema, std::move(inputs), std::move(attributes), names, std::move(name));
}

void Graph::addOutput(Value* value, std::string_view name, Ref<const RefCounted> home) {
  requireVisible(value, "output");
  if (name.empty()) name = value->name;
  require(!names_->outputs.contains(name), MAX_STATUS_INVALID_ARGUMENT, "Graph '", name_, "': two outputs are called '",
          name, "'");
  // A subgraph's outputs are its own values, so that the uses of outer values are complete.
  if (value->graph != this) value = addNode("", "Identity", {value})->output();
  outputs_.push_back(value);
  ++value->outputs;
  outputNames_.emplace_back(name);
  outputHomes_.push_back(std::move(home));
  names_->outputs.emplace(name);
}

const Storage* Value::onDevice(const RefCounted* device) const {
  for (const DeviceCopy& copy : onDevices)
    if (copy.device == device) return copy.contents.get();
  return nullptr;
}

std::vector<const Value*> Graph::weights() const {
  std::vector<const Value*> found;
  for (const Value& value : values_)
    if (value.graph == this && value.isWeight) found.push_back(&value);
  return found;
}

Value* Graph::findValue(std::string_view name) const {
  const auto entry = names_->values.find(name);
  return entry == names_->values.end() ? nullptr : entry->second;
}

void Graph::attach(Node& node) {
  node.graph = this;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i]) node.inputs[i]->uses.add({&node, static_cast<int>(i)});
  order_.push_back(&node);
}

namespace {

bool isUnused(const Node& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [](const Value* output) { return !output || (output->uses.empty() && !output->isOutput()); });
}

}  // namespace

// Leaves an empty shell, so that a pass that still has a pointer to the node sees that it was erased.
void Graph::detach(Node& node) {
  if (!node.graph) return;
  for (size_t i = node.inputs.size(); i-- > 0;)
    if (node.inputs[i]) node.inputs[i]->uses.remove(&node, i);
  node.inputs.clear();
  node.attributes = Attributes();
  node.prepared.reset();
  node.graph = nullptr;
}

void Graph::replaceInput(Node& node, size_t index, Value* value) {
  if (value) node.graph->requireVisible(value, "value");
  if (index >= node.inputs.size()) node.inputs.resize(index + 1, nullptr);
  Value*& input = node.inputs[index];
  if (input == value) return;
  if (input) input->uses.remove(&node, index);
  input = value;
  if (value) value->uses.add({&node, static_cast<int>(index)});
}

void Graph::replaceAllUses(Value* from, Value* to) {
  if (from == to) return;
  for (const Use& use : from->uses) {
    use.node->inputs[static_cast<size_t>(use.index)] = to;
    to->uses.add(use);
  }
  from->uses.clear();
  if (from->graph != to->graph) return;
  if (!from->isOutput()) return;
  std::replace(from->graph->outputs_.begin(), from->graph->outputs_.end(), from, to);
  to->outputs += std::exchange(from->outputs, 0);
}

void Graph::erase(Node* node) {
  require(node->graph == this && isUnused(*node), MAX_STATUS_INTERNAL, node->description(), " is erased while in use");
  for (Value* output : node->outputs)
    if (output) names_->values.erase(output->name);
  detach(*node);
  std::erase(order_, node);
}

namespace {

// Optional outputs without uses. Lists of outputs (Split, If) stay complete.
void dropUnusedOutputs(Node& node) {
  if (node.schema->has(kTraitControlFlow) || node.schema->hasOutputList()) return;
  for (size_t i = static_cast<size_t>(node.schema->minOutputs); i < node.outputs.size(); ++i) {
    Value* output = node.outputs[i];
    if (output && output->uses.empty() && !output->isOutput()) node.outputs[i] = nullptr;
  }
}

}  // namespace

size_t Graph::eraseDead() {
  size_t erased = 0;
  for (Node* node : order_) forEachSubgraph(*node, [&](Graph& subgraph) { erased += subgraph.eraseDead(); });
  std::vector<Node*> work(order_.begin(), order_.end());
  while (!work.empty()) {
    Node* node = work.back();
    work.pop_back();
    if (node->graph != this || !isUnused(*node)) continue;
    const std::vector<Value*> inputs = node->inputs;
    for (Value* output : node->outputs)
      if (output) names_->values.erase(output->name);
    const std::vector<Value*> captured = capturedBy(*node);
    detach(*node);
    ++erased;
    for (const std::vector<Value*>* list : {&inputs, &captured})
      for (Value* value : *list)
        if (value && value->graph == this && value->producer) work.push_back(value->producer);
  }
  std::erase_if(order_, [](const Node* node) { return node->graph == nullptr; });
  for (Node* node : order_) dropUnusedOutputs(*node);
  for (Value& value : values_)
    if (value.constant && value.uses.empty() && !value.producer && value.graph && !value.isOutput()) {
      names_->values.erase(value.name);
      value.constant->dropPages();
      value.constant.reset();
      value.graph = nullptr;
    }
  return erased;
}

void Graph::collectCaptured(const Graph& inner, std::vector<Value*>& captured) const {
  const auto add = [&](Value* value) {
    if (value && !contains(value->graph)) captured.push_back(value);
  };
  for (const Node* node : inner.order_) {
    for (Value* input : node->inputs) add(input);
    forEachSubgraph(*node, [&](const Graph& subgraph) { collectCaptured(subgraph, captured); });
  }
  for (Value* output : inner.outputs_) add(output);
}

std::vector<Value*> Graph::capturedValues() const {
  std::vector<Value*> captured;
  if (!parent_) return captured;
  collectCaptured(*this, captured);
  std::vector<Value*> unique;
  std::unordered_map<const Value*, bool> seen;
  for (Value* value : captured)
    if (seen.emplace(value, true).second) unique.push_back(value);
  return unique;
}

std::vector<Node*> Graph::dependencies(const Node& node) const {
  std::vector<Node*> nodes;
  for (const Value* input : node.inputs)
    if (input && input->producer && input->graph == this) nodes.push_back(input->producer);
  for (const Value* value : capturedBy(node))
    if (value->producer && value->graph == this) nodes.push_back(value->producer);
  return nodes;
}

namespace {

struct Visit {
  Node* node;
  std::vector<Node*> dependencies;
  size_t next = 0;
};

// A map of nodes by address, without an allocation per node.
class NodeSet {
 public:
  explicit NodeSet(size_t count) : mask_(std::bit_ceil(2 * count + 1) - 1), places_(mask_ + 1) {}

  void insert(const Node* node) { places_[placeOf(node)] = node; }
  bool contains(const Node* node) const { return places_[placeOf(node)] != nullptr; }

 private:
  size_t placeOf(const Node* node) const {
    size_t place = (reinterpret_cast<uintptr_t>(node) * uint64_t{0x9e3779b97f4a7c15}) >> 32 & mask_;
    while (places_[place] && places_[place] != node) place = (place + 1) & mask_;
    return place;
  }

  size_t mask_;
  std::vector<const Node*> places_;
};

// A sorted graph stays unchanged: most passes change little of a graph.
bool isSorted(const Graph& graph) {
  NodeSet before(graph.nodes().size());
  const auto isThere = [&](const Value* value) {
    return !value || !value->producer || value->graph != &graph || before.contains(value->producer);
  };
  for (const Node* node : graph.nodes()) {
    if (!std::ranges::all_of(node->inputs, isThere) || !std::ranges::all_of(capturedBy(*node), isThere)) return false;
    before.insert(node);
  }
  return true;
}

// Depth first along the inputs, from the nodes in their current order; with an explicit stack, since graphs are
// untrusted.
template <class Dependencies>
std::vector<Node*> sorted(const Graph& graph, Dependencies dependencies) {
  enum State : char { Open = 1, Done };
  std::unordered_map<const Node*, char> states;
  std::vector<Node*> order;
  std::vector<Visit> stack;
  const auto open = [&](Node* node) {
    char& state = states[node];
    if (state == Done) return;
    if (state == Open) invalidArgument("Graph '", graph.name(), "': ", node->description(), " is part of a cycle");
    state = Open;
    stack.push_back({node, dependencies(*node)});
  };
  for (Node* root : graph.nodes()) {
    open(root);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next < visit.dependencies.size()) {
        open(visit.dependencies[visit.next++]);
        continue;
      }
      states[visit.node] = Done;
      order.push_back(visit.node);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace

void Graph::sort() {
  if (!isSorted(*this)) order_ = sorted(*this, [this](const Node& node) { return dependencies(node); });
  for (Node* node : order_) forEachSubgraph(*node, [](Graph& subgraph) { subgraph.sort(); });
}

void refine(TensorType& known, TensorType found) {
  if (found.dtype == known.dtype && found.inner[0] == DType::Invalid) found.inner = known.inner;
  if (found.dtype == DType::Invalid) found.dtype = known.dtype;
  if (!found.ranked && known.ranked) found = TensorType::of(found.dtype, known.dims);
  if (known.ranked && known.rank() == found.rank())
    for (size_t i = 0; i < known.dims.size(); ++i) {
      const bool lessPrecise = known.dims[i].isKnown() ? !found.dims[i].isKnown() : found.dims[i].isAnonymous();
      if (lessPrecise) found.dims[i] = known.dims[i];
    }
  known = std::move(found);
}

void Graph::inferTypes() {
  for (Node* node : order_) {
    checkInterrupt();
    forEachSubgraph(*node, [](Graph& subgraph) { subgraph.inferTypes(); });
    std::vector<InferContext::Output> outputs = inferNode(*node, dims_.get(), inputTypes(*node), node->outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* output = node->outputs[i];
      if (!output) continue;
      refine(output->type, std::move(outputs[i].type));
      if (outputs[i].elements) takeElements(*output, std::move(outputs[i].elements));
    }
  }
}

}  // namespace max
