// SPDX-License-Identifier: Apache-2.0
#include "onnx/graph_builder.h"

#include <algorithm>
#include <exception>
#include <iterator>

#include "base/active_call.h"
#include "base/load_budget.h"
#include "base/object.h"
#include "graph/composite.h"
#include "onnx/attribute_versions.h"
#include "onnx/inspector.h"
#include "onnx/node_order.h"
#include "onnx/sparse.h"

namespace max::onnx {

namespace {

// Nesting of functions and subgraphs: the depth of the recursion that builds them. Its frames fit in a small stack; a
// subgraph counts as two functions.
constexpr int kMaxNesting = 64;
constexpr int kFunctionFrames = 1, kSubgraphFrames = 2;
// Labels of nodes in functions include the calls; long ones are truncated.
constexpr size_t kMaxLabel = 1 << 10;
constexpr size_t kMaxSymbol = 1 << 10;

class Nesting {
 public:
  Nesting(int& depth, int frames, std::string_view owner) : depth_(depth), frames_(frames) {
    require(depth_ + frames <= kMaxNesting, MAX_STATUS_INVALID_ARGUMENT, owner,
            ": functions and subgraphs are nested more than ", kMaxNesting, " deep (a subgraph counts twice)");
    depth_ += frames;
  }
  ~Nesting() { depth_ -= frames_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
  int frames_;
};

class BodyScope {
 public:
  explicit BodyScope(int& bodies) : bodies_(bodies) { ++bodies_; }
  ~BodyScope() { --bodies_; }
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

 private:
  int& bodies_;
};

}  // namespace

GraphBuilder::GraphBuilder(Shared& shared, Graph& graph, const GraphBuilder* outer)
    : shared_(shared),
      graph_(graph),
      outer_(outer),
      call_(outer ? outer->call_ : nullptr),
      depth_(outer ? outer->depth_ + 1 : 0) {
  checkDepth(depth_);
}

GraphBuilder::GraphBuilder(const GraphBuilder& caller, const Call& call)
    : shared_(caller.shared_), graph_(caller.graph_), call_(&call), isBody_(true), depth_(caller.depth_) {}

void GraphBuilder::build(const GraphProto& proto, std::span<const TensorType> inputs) {
  addInitializers(proto);
  for (size_t i = 0; i < proto.inputs.size(); ++i)
    addInput(parseValueInfo(proto.inputs[i]), i < inputs.size() ? &inputs[i] : nullptr);
  const auto isKnown = [this](std::string_view name) { return find(name) != nullptr; };
  for (Bytes node : inOrder(proto.nodes, isKnown, concat("Graph '", graph_.name(), "'"))) addNode(parseNode(node));
  for (Bytes output : proto.outputs) addOutput(parseValueInfo(output));
  graph_.sort();
}

// The graph rejects duplicate names; in a function it uses other names.
void GraphBuilder::define(std::string_view name, Value* value) {
  if (!names_.emplace(name, value).second)
    invalidArgument(isBody_ ? concat("Function '", call_->function.name) : concat("Graph '", graph_.name()),
                    "': the name '", name, "' is used twice");
}

Value* GraphBuilder::find(std::string_view name) const {
  for (const GraphBuilder* scope = this; scope; scope = scope->outer_) {
    const auto entry = scope->names_.find(name);
    if (entry != scope->names_.end()) return entry->second;
  }
  return nullptr;
}

// A function's own operator sets take precedence.
int64_t GraphBuilder::versionOf(std::string_view domain) const {
  const int64_t version = call_ ? versionIn(call_->function.opsets, domain) : 0;
  return version ? version : versionIn(shared_.model, domain);
}

std::string GraphBuilder::labelOf(const NodeProto& node) const {
  if (!call_) return std::string(node.name);
  return concat(call_->name, "/", node.name.empty() ? node.op : node.name);
}

void GraphBuilder::addInitializers(const GraphProto& proto) {
  const auto add = [&](std::string_view name, const Ref<Tensor>& contents) {
    define(name, graph_.addWeight(name, contents->dtype(), contents->shape(), contents));
  };
  for (Bytes bytes : proto.initializers) {
    checkInterrupt();
    const TensorProto tensor = parseTensor(bytes);
    add(tensor.name, madeOnce(bytes.data(), "weight", [&] { return shared_.tensors.readWeight(tensor); }));
  }
  for (Bytes bytes : proto.sparseInitializers) {
    checkInterrupt();
    const SparseTensorProto tensor = parseSparseTensor(bytes);
    add(parseTensor(tensor.values).name,
        madeOnce(bytes.data(), "weight", [&] { return readSparse(shared_.tensors, tensor); }));
  }
}

// An offset of the file is one tensor, however often its function or body is built.
template <class Make>
Ref<Tensor> GraphBuilder::madeOnce(const char* place, std::string_view kind, Make make) {
  if (!call_ && shared_.bodies == 0) return make();
  const auto entry = shared_.constants.find({place, kind});
  if (entry != shared_.constants.end()) return entry->second;
  Ref<Tensor> made = make();
  shared_.constants.emplace(std::pair(place, kind), made);
  return made;
}

Ref<Tensor> GraphBuilder::tensorOf(Bytes bytes) {
  return madeOnce(bytes.data(), "", [&] { return shared_.tensors.read(parseTensor(bytes)); });
}

namespace {

// Exporters use each of these names for several unrelated unknown dimensions.
bool meansUnknown(std::string_view symbol) {
  constexpr std::string_view kNames[] = {"None", "none", "null", "nan", "unk", "unknown", "Unknown", "-1"};
  const auto isSign = [](char c) { return std::string_view(" ?*-_.").find(c) != std::string_view::npos; };
  return std::all_of(symbol.begin(), symbol.end(), isSign) ||
         std::find(std::begin(kNames), std::end(kNames), symbol) != std::end(kNames);
}

}  // namespace

TensorType declaredType(const ValueInfoProto& info, DimTable& symbols) {
  if (!info.types.empty() && isObject(info.types[0])) {
    TensorType type = TensorType::of(info.types[0], {});
    std::copy(info.types.begin() + 1, info.types.end(), type.inner.begin());
    return type;
  }
  const std::optional<DType> dtype = dtypeFromOnnx(info.elementType);
  TensorType type = TensorType::unranked(dtype.value_or(DType::Invalid));
  type.ranked = info.ranked;
  require(info.dims.size() <= static_cast<size_t>(kMaxRank), MAX_STATUS_UNIMPLEMENTED, "'", info.name, "' has ",
          info.dims.size(), " dimensions; at most ", kMaxRank, " are supported");
  for (const DimensionProto& dim : info.dims) {
    require(dim.symbol.size() <= kMaxSymbol, MAX_STATUS_UNIMPLEMENTED, "'", info.name,
            "': the name of a dimension has ", dim.symbol.size(), " bytes; at most ", kMaxSymbol, " are supported");
    if (dim.known)
      type.dims.emplace_back(dim.value);
    else
      type.dims.push_back(meansUnknown(dim.symbol) ? symbols.unknown() : symbols.symbol(dim.symbol));
  }
  return type;
}

// An initialiser with the same name is its value.
void GraphBuilder::addInput(const ValueInfoProto& info, const TensorType* known) {
  const auto entry = names_.find(info.name);
  if (entry != names_.end() && entry->second->isInput)
    invalidArgument("Graph '", graph_.name(), "': the input '", info.name, "' is listed twice");
  if (entry == names_.end()) define(info.name, graph_.addInput(info.name, inputType(info, known)));
}

// Callers provide what the main graph declares for its inputs. What a subgraph declares is a hint: if an input is not
// `known`, only the declared dtype is used, and checked when the subgraph runs.
TensorType GraphBuilder::inputType(const ValueInfoProto& info, const TensorType* known) {
  const bool isKnown = info.kind == "tensor" || !info.types.empty();
  if (!isKnown && !(depth_ > 0 && info.kind.empty()))
    fail(MAX_STATUS_UNIMPLEMENTED, "Input '", info.name, "' is a ",
         info.kind.empty() ? "value without type" : info.kind, ", which is not supported");
  TensorType type = typeOf(info);
  require(type.dtype != DType::Invalid || depth_ > 0, MAX_STATUS_UNIMPLEMENTED, "Input '", info.name,
          "' has the unknown data type number ", info.elementType);
  const bool isDeclared = !known || known->dtype == DType::Invalid;
  if (depth_ == 0 || (isDeclared && isObject(type.dtype))) return type;
  TensorType result = known ? *known : TensorType();
  if (isDeclared) result.dtype = type.dtype;
  return result;
}

void GraphBuilder::addOutput(const ValueInfoProto& info) {
  Value* value = find(info.name);
  if (!value) invalidArgument("Output '", info.name, "' of graph '", graph_.name(), "' is not produced by any node");
  // A body may output one value twice, to carry it and to stack it.
  const bool isAgain = !outputNames_.insert(info.name).second && graph_.parent();
  if (isAgain) value = graph_.addNode("", "Identity", {value})->output();
  graph_.addOutput(value, isAgain ? "" : info.name);
  declaredOutputs_.push_back(typeOf(info));
}

Value* GraphBuilder::inputOf(const NodeProto& node, std::string_view name) const {
  if (name.empty()) return nullptr;
  const bool omitted = isBody_ && names_.count(name) && !names_.at(name);
  if (omitted) return nullptr;
  Value* value = find(name);
  if (!value)
    invalidArgument("node '", labelOf(node), "' (", node.op, "): its input '", name, "' is not produced by any node");
  return value;
}

// Budget and memory errors do not name their node.
void GraphBuilder::addNode(const NodeProto& proto) {
  try {
    checkInterrupt();
    addUnnamed(proto);
  } catch (const Error& error) {
    if (error.status() != MAX_STATUS_RESOURCE_EXHAUSTED || error.message().starts_with("node '")) throw;
    fail(error.status(), "node '", labelOf(proto), "' (", proto.op, "): ", error.message());
  }
}

void GraphBuilder::addUnnamed(const NodeProto& proto) {
  if (call_) shared_.budget.takeNodes(call_->function, 1);
  if (const FunctionProto* function = shared_.functions.find(proto)) return callFunction(proto, *function);
  if (plainDomain(proto.domain).empty() && proto.op == "Constant") return addConstant(proto);
  const size_t before = graph_.nodes().size();
  addOperator(proto);
  const size_t added = graph_.nodes().size() - before;
  require((shared_.nodes += added) <= kMaxNodes, MAX_STATUS_UNIMPLEMENTED, "node '", labelOf(proto), "' (", proto.op,
          "): expanded operators produce more than ", kMaxNodes, " nodes");
  if (call_ && added > 1) shared_.budget.takeNodes(call_->function, added - 1);
}

// The graph's name for a value. The graph chooses a new one in a function, or if it generated the same name itself; a
// name that the model uses twice stays, and is rejected.
std::string GraphBuilder::graphName(std::string_view name) const {
  return isBody_ || (graph_.findValue(name) && !names_.count(name)) ? std::string() : std::string(name);
}

void GraphBuilder::addOperator(const NodeProto& proto) {
  // Our own operators are not an interchange format, however a file contains them.
  require(plainDomain(proto.domain) != kMaxDomain || shared_.options.compiledData, MAX_STATUS_UNIMPLEMENTED, "node '",
          labelOf(proto), "': operator ", displayName(proto.domain, proto.op), " is not supported");
  PendingNode node{graph_,
                   std::string(plainDomain(proto.domain)),
                   std::string(proto.op),
                   labelOf(proto),
                   versionOf(plainDomain(proto.domain)),
                   {},
                   {},
                   {proto.outputs.begin(), proto.outputs.end()}};
  for (std::string_view name : proto.inputs) node.inputs.push_back(inputOf(proto, name));
  node.attributes = attributesOf(proto, node.inputs);
  std::vector<std::string> sources;
  if (shared_.options.compiledData) {
    sources = node.attributes.getStrings(kSourcesAttribute);
    node.attributes.erase(kSourcesAttribute);
  } else {
    normalise(node);
  }
  require(findSchema(node.domain, node.op) || findComposite(node.domain, node.op), MAX_STATUS_UNIMPLEMENTED, "node '",
          node.name, "': operator ", displayName(node.domain, node.op), " is not supported");
  for (std::string& name : node.outputs) name = graphName(name);
  const Values made = max::addOperator(graph_, node.domain, node.op, std::move(node.inputs), std::move(node.attributes),
                                       node.outputs, node.name);
  for (size_t i = 0; i < proto.outputs.size() && i < made.size(); ++i)
    if (!proto.outputs[i].empty() && made[i]) define(proto.outputs[i], made[i]);
  for (const Value* value : made)
    if (value && value->producer && !sources.empty()) value->producer->sources = sources;
}

// The function's nodes join the graph of the caller; its names are its own.
void GraphBuilder::callFunction(const NodeProto& node, const FunctionProto& function) {
  const Nesting nesting(shared_.nesting, kFunctionFrames, concat("Function '", function.name, "'"));
  shared_.budget.takeBytes(concat("Function '", function.name, "'"), function.bytes);
  std::string label = labelOf(node);
  if (label.empty()) label = node.outputs.empty() ? node.op : node.outputs[0];
  if (label.size() > kMaxLabel) label.replace(0, label.size() - kMaxLabel, "...");
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    invalidArgument("node '", label, "' (", node.op, "): function '", function.name, "' has ", function.inputs.size(),
                    " inputs and ", function.outputs.size(), " outputs, but the node has ", node.inputs.size(), " and ",
                    node.outputs.size());
  const Call call{function, std::move(label), argumentsOf(node, function)};
  GraphBuilder body(*this, call);
  for (size_t i = 0; i < function.inputs.size(); ++i)
    body.define(function.inputs[i], i < node.inputs.size() ? inputOf(node, node.inputs[i]) : nullptr);
  body.expandBody();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    Value* value = body.find(function.outputs[i]);
    if (!value)
      invalidArgument("node '", call.name, "' (", node.op, "): output '", function.outputs[i], "' of function '",
                      function.name, "' is not produced by any node");
    define(node.outputs[i], value);
  }
}

// The values of a function's parameters in a call: attributes of the node, else defaults.
NameViewMap<GraphBuilder::Resolved> GraphBuilder::argumentsOf(const NodeProto& node,
                                                              const FunctionProto& function) const {
  NameViewMap<Resolved> arguments;
  for (const AttributeProto& attribute : node.attributes) arguments.try_emplace(attribute.name, resolve(attribute));
  for (const AttributeProto& attribute : function.defaults)
    arguments.try_emplace(attribute.name, Resolved{&attribute, nullptr});
  return arguments;
}

void GraphBuilder::expandBody() {
  const FunctionProto& function = call_->function;
  const auto isKnown = [this](std::string_view name) { return names_.count(name) > 0; };
  for (Bytes node : inOrder(function.nodes, isKnown, concat("Function '", function.name, "'")))
    addNode(parseNode(node));
}

// The value of a reference to a function's parameter; NULL if the caller omits it.
GraphBuilder::Resolved GraphBuilder::resolve(const AttributeProto& attribute) const {
  if (attribute.referenceName.empty()) return {&attribute, this};
  if (!call_) invalidArgument("Attribute '", attribute.name, "' refers to a parameter outside any function");
  const auto found = call_->attributes.find(attribute.referenceName);
  if (found == call_->attributes.end()) return {nullptr, this};
  return {found->second.attribute, found->second.scope ? found->second.scope : this};
}

Attributes GraphBuilder::attributesOf(const NodeProto& node, std::span<Value* const> inputs) {
  Attributes attributes;
  const std::string_view domain = plainDomain(node.domain);
  Resolved loopBody{nullptr, this};  // the types depend on the other attributes
  for (const AttributeProto& attribute : node.attributes) {
    const Resolved resolved = resolve(attribute);
    if (!resolved.attribute) continue;
    if (attribute.name.starts_with("__")) continue;  // a note from the exporter
    if (attribute.name == "body" && resolved.attribute->type == 5 && hasBody(domain, node.op))
      loopBody = resolved;
    else
      attributes.set(attribute.name, valueOf(node, *resolved.attribute, *resolved.scope));
  }
  if (!shared_.options.compiledData) checkAttributes(node, attributes);  // those are in the newest form
  if (loopBody.attribute) {
    const BodyTypes types(node.op, versionOf(domain), inputs, attributes, graph_.dimTable());
    attributes.set("body", body(loopBody.attribute->g, *loopBody.scope, types));
  }
  return attributes;
}

// Operators in files have only the attributes of their version.
void GraphBuilder::checkAttributes(const NodeProto& node, const Attributes& attributes) const {
  if (attributes.entries().empty()) return;
  const std::string_view domain = plainDomain(node.domain);
  const AttributeRules* newest = attributesOfNewest(domain, node.op);
  if (!newest) return;
  const int64_t known = versionOf(domain), version = known ? known : INT64_MAX;  // 0 = the model does not say
  for (const auto& [name, attribute] : attributes.entries()) {
    const std::string wrong = wrongAttribute(domain, node.op, version, *newest, name, attribute);
    if (wrong.empty()) continue;
    const std::string label = labelOf(node);
    invalidArgument("node '", label.empty() && !node.outputs.empty() ? node.outputs[0] : label, "' (",
                    displayName(domain, node.op), "): ", wrong);
  }
}

Attribute GraphBuilder::valueOf(const NodeProto& node, const AttributeProto& attribute, const GraphBuilder& scope) {
  switch (attribute.type) {
    case 1:
      return attribute.f;
    case 2:
      return attribute.i;
    case 3:
      return std::string(attribute.s);
    case 4:
      return tensorOf(attribute.t);
    case 5:
      return subgraph(attribute.g, scope);
    case 6:
      return attribute.floats;
    case 7:
      return attribute.ints;
    case 8:
      return std::vector<std::string>(attribute.strings.begin(), attribute.strings.end());
    case 10: {
      std::vector<Ref<Graph>> graphs;
      for (Bytes graph : attribute.graphs) graphs.push_back(subgraph(graph, scope));
      return graphs;
    }
    case 13: {
      std::vector<int64_t> numbers;
      for (DType type : parseTypes(attribute.typeProto)) numbers.push_back(static_cast<int64_t>(type));
      return numbers;
    }
    default:
      fail(MAX_STATUS_UNIMPLEMENTED, "node '", labelOf(node), "' (", node.op, "): attribute '", attribute.name,
           "' has the unsupported type number ", attribute.type);
  }
}

Ref<Graph> GraphBuilder::subgraph(Bytes bytes, const GraphBuilder& scope) {
  return subgraph(parseGraph(bytes), scope, {});
}

Ref<Graph> GraphBuilder::subgraph(const GraphProto& proto, const GraphBuilder& scope,
                                  std::span<const TensorType> inputs) {
  const Nesting nesting(shared_.nesting, kSubgraphFrames, concat("Graph '", proto.name, "'"));
  shared_.budget.takeBytes(concat("Graph '", proto.name, "'"), proto.bytes);
  Ref<Graph> graph = makeRef<Graph>(graph_, std::string(proto.name));
  GraphBuilder(shared_, *graph, &scope).build(proto, inputs);
  return graph;
}

// What was dropped stays dropped when the body is rebuilt because an outer body is: rounds add up instead of
// multiplying.
Ref<Graph> GraphBuilder::body(Bytes bytes, const GraphBuilder& scope, const BodyTypes& types) {
  const GraphProto proto = parseGraph(bytes);
  Forgotten& forgotten = shared_.forgotten[bytes.data()];
  Ref<Graph> first;
  std::exception_ptr problem;
  for (;;) {
    const std::vector<TensorType> inputs = types.types(proto, forgotten);
    const size_t nodes = shared_.nodes;
    const ExpansionBudget budget = shared_.budget;
    Ref<Graph> graph;
    try {
      const BodyScope inside(shared_.bodies);
      graph = subgraph(proto, scope, inputs);
    } catch (const Error& error) {
      if (isStop(error.status()) || error.status() == MAX_STATUS_RESOURCE_EXHAUSTED) throw;
      if (first) {
        forgotten = {.isAssumed = true};
        return first;
      }
      // What is invalid with these shapes may never run in an iteration.
      if (!problem) problem = std::current_exception();
      if (types.forgetShapes(forgotten)) continue;
      std::rethrow_exception(problem);
    }
    if (forgotten.isAssumed || !types.forgetChanges(*graph, inputs, forgotten)) return graph;
    if (!first) first = std::move(graph);
    shared_.nodes = nodes;
    shared_.budget = budget;
  }
}

void GraphBuilder::addConstant(const NodeProto& node) {
  const Resolved value = node.attributes.size() == 1 ? resolve(node.attributes[0]) : Resolved{nullptr, this};
  if (node.outputs.size() != 1 || !value.attribute)
    invalidArgument("node '", labelOf(node), "' (Constant): needs one output and one attribute");
  AttributeProto attribute = *value.attribute;
  attribute.name = node.attributes[0].name;
  Ref<Tensor> contents = constantOf(node, attribute, value.attribute->name.data());
  define(node.outputs[0], graph_.addConstant(std::move(contents), graphName(node.outputs[0])));
}

namespace {

// The attributes of Constant: one of them holds its contents.
struct ConstantForm {
  std::string_view name;
  int64_t type;
  int64_t since;
};

constexpr ConstantForm kConstantForms[] = {
    {"value", 4, 1},       {"sparse_value", 11, 11}, {"value_int", 2, 12},    {"value_float", 1, 12},
    {"value_ints", 7, 12}, {"value_floats", 6, 12},  {"value_string", 3, 12}, {"value_strings", 8, 12},
};

}  // namespace

// `place`: the attribute's offset in the file.
Ref<Tensor> GraphBuilder::constantOf(const NodeProto& node, const AttributeProto& attribute, const char* place) {
  const auto form = std::find_if(std::begin(kConstantForms), std::end(kConstantForms),
                                 [&](const ConstantForm& candidate) { return candidate.name == attribute.name; });
  if (form == std::end(kConstantForms) || versionOf("") < form->since)
    invalidArgument("node '", labelOf(node), "' (Constant): unknown attribute '", attribute.name, "' in version ",
                    versionOf(""));
  if (attribute.type != form->type)
    invalidArgument("node '", labelOf(node), "' (Constant): attribute '", attribute.name, "' has the type number ",
                    attribute.type, ", not ", form->type);
  if (attribute.name == "value") return tensorOf(attribute.t);
  if (attribute.name == "sparse_value")
    return madeOnce(attribute.sparse.data(), "",
                    [&] { return readSparse(shared_.tensors, parseSparseTensor(attribute.sparse)); });
  return madeOnce(place, attribute.name, [&] { return listOf(attribute); });
}

// A constant given as a number, a string or a list of either.
Ref<Tensor> GraphBuilder::listOf(const AttributeProto& attribute) {
  const Shape list{static_cast<int64_t>(std::max(attribute.ints.size(), attribute.floats.size()))};
  if (attribute.name == "value_int") return Tensor::copyOf(DType::Int64, Shape{}, &attribute.i);
  if (attribute.name == "value_float") return Tensor::copyOf(DType::Float32, Shape{}, &attribute.f);
  if (attribute.name == "value_ints") return Tensor::copyOf(DType::Int64, list, attribute.ints.data());
  if (attribute.name == "value_floats") return Tensor::copyOf(DType::Float32, list, attribute.floats.data());
  if (attribute.name == "value_string") return stringTensor(Shape{}, {&attribute.s, 1});
  return stringTensor(Shape{static_cast<int64_t>(attribute.strings.size())}, attribute.strings);
}

}  // namespace max::onnx
