// SPDX-License-Identifier: Apache-2.0
#include "attack/wrap.h"

#include <algorithm>

#include "attack/generate.h"

namespace attack {

namespace {

std::string fresh(Chance& chance) { return "w" + std::to_string(chance.next() % 1000000000); }

AttributeData graphAttribute(std::string name, GraphData graph) {
  AttributeData attribute;
  attribute.name = std::move(name);
  attribute.type = 5;
  attribute.g = std::make_shared<GraphData>(std::move(graph));
  return attribute;
}

AttributeData intAttribute(std::string name, int64_t value) {
  AttributeData attribute;
  attribute.name = std::move(name);
  attribute.i = value;
  return attribute;
}

ValueData untyped(std::string name) {
  ValueData value;
  value.name = std::move(name);
  return value;
}

// Types of bodies' inputs are hints: there, missing or wrong.
ValueData bodyInput(ValueData value, Chance& chance) {
  if (chance.happens(60)) return untyped(value.name);
  if (chance.happens(10)) value.type = chance.type();
  if (chance.happens(20)) value.ranked = false, value.dims.clear();
  if (chance.happens(5)) value.other = holderType(chance.of({'s', 'o', 'm'}), chance.type());
  return value;
}

void addNode(GraphData& graph, std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
             std::vector<AttributeData> attributes = {}) {
  graph.nodes.push_back({std::move(inputs), std::move(outputs), op + std::to_string(graph.nodes.size()), std::move(op),
                         "", std::move(attributes)});
}

std::string identity(GraphData& graph, const std::string& name, Chance& chance) {
  std::string result = fresh(chance);
  addNode(graph, "Identity", {name}, {result});
  return result;
}

TensorData scalar(std::string name, int64_t type, int64_t value) {
  TensorData tensor{std::move(name), type, {}, {}, {}};
  const auto dtype = max::dtypeFromOnnx(type);
  tensor.raw.assign(reinterpret_cast<const char*>(&value), std::min<size_t>(dtype ? max::sizeOf(*dtype) : 8, 8));
  return tensor;
}

// A number of rounds, mostly few; its type is mostly right.
std::string roundsOf(ModelData& model, Chance& chance) {
  const int64_t rounds = chance.happens(85) ? chance.within(0, 4) : chance.integer();
  TensorData count = scalar(fresh(chance), chance.happens(90) ? 7 : chance.type(), rounds);
  if (chance.happens(15)) count.dims = {chance.within(0, 2)}, count.raw.resize(8 * static_cast<size_t>(count.dims[0]));
  std::string name = count.name;
  if (chance.happens(50))
    model.graph.initializers.push_back(std::move(count));
  else
    addInput(model, std::move(count), chance);
  return name;
}

std::string conditionOf(ModelData& model, Chance& chance) {
  TensorData condition = scalar(fresh(chance), chance.happens(93) ? 9 : chance.type(), chance.of({1, 1, 0, 2, 255}));
  std::string name = condition.name;
  if (chance.happens(50))
    model.graph.initializers.push_back(std::move(condition));
  else
    addInput(model, std::move(condition), chance);
  return name;
}

// The nodes of the main graph as a body; its outputs are outputs of the body.
GraphData takeNodes(ModelData& model, Chance& chance) {
  GraphData body;
  body.name = "body" + std::to_string(chance.below(1000));
  body.nodes = std::move(model.graph.nodes);
  model.graph.nodes.clear();
  if (chance.happens(20)) std::swap(body.initializers, model.graph.initializers);
  body.outputs = std::move(model.graph.outputs);
  model.graph.outputs.clear();
  return body;
}

// What the node around a body calls its outputs; they become those of the model.
std::vector<std::string> outputsOf(ModelData& model, size_t count, Chance& chance) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back(fresh(chance));
    model.graph.outputs.push_back(untyped(names.back()));
  }
  return names;
}

void wrapInIf(ModelData& model, Chance& chance) {
  const std::string condition = conditionOf(model, chance);
  GraphData thenBranch = takeNodes(model, chance);
  GraphData elseBranch = copyOf(thenBranch);
  if (chance.happens(50)) {
    elseBranch.nodes.clear();
    for (ValueData& output : elseBranch.outputs) {
      output.name = fresh(chance);
      const std::string source = model.graph.inputs.empty() ? condition : chance.of(model.graph.inputs).name;
      addNode(elseBranch, "Identity", {source}, {output.name});
    }
  }
  const size_t count = thenBranch.outputs.size();
  addNode(model.graph, "If", {condition}, outputsOf(model, count, chance),
          {graphAttribute("then_branch", std::move(thenBranch)), graphAttribute("else_branch", std::move(elseBranch))});
}

// Some inputs of the graph are carried; what comes back for them may be something else.
void wrapInLoop(ModelData& model, Chance& chance) {
  const std::string rounds = chance.happens(90) ? roundsOf(model, chance) : "";
  const std::string condition = chance.happens(40) ? conditionOf(model, chance) : "";
  GraphData body = takeNodes(model, chance);
  std::vector<std::string> inputs{rounds, condition};
  std::vector<ValueData> results;
  const std::string iteration = fresh(chance), goOn = fresh(chance);
  body.inputs = {untyped(iteration), untyped(goOn)};
  results.push_back(untyped(chance.happens(70) ? identity(body, goOn, chance) : fresh(chance)));
  if (results[0].name[0] == 'w' && chance.happens(10) && !body.outputs.empty()) results[0].name = body.outputs[0].name;
  for (ValueData& input : model.graph.inputs) {
    if (input.name == rounds || input.name == condition || chance.happens(40)) continue;
    const std::string outside = input.name, inside = fresh(chance);
    for (NodeData& node : body.nodes) std::replace(node.inputs.begin(), node.inputs.end(), outside, inside);
    ValueData declared = input;
    declared.name = inside;
    body.inputs.push_back(bodyInput(declared, chance));
    inputs.push_back(outside);
    const bool isOther = !body.outputs.empty() && chance.happens(30);
    results.push_back(untyped(isOther ? chance.of(body.outputs).name : identity(body, inside, chance)));
  }
  results.insert(results.end(), body.outputs.begin(), body.outputs.end());
  if (chance.happens(10)) results.push_back(untyped(identity(body, iteration, chance)));
  body.outputs = std::move(results);
  const size_t count = body.outputs.size() - 1;
  addNode(model.graph, "Loop", inputs, outputsOf(model, count, chance), {graphAttribute("body", std::move(body))});
}

// `tensor` as often as there are rounds, along a new first axis.
TensorData stacked(const TensorData& tensor, int64_t rounds) {
  TensorData result = tensor;
  result.dims.insert(result.dims.begin(), rounds);
  result.raw.clear();
  result.strings.clear();
  for (int64_t i = 0; i < rounds; ++i) {
    result.raw += tensor.raw;
    result.strings.insert(result.strings.end(), tensor.strings.begin(), tensor.strings.end());
  }
  return result;
}

void wrapInScan(ModelData& model, Chance& chance) {
  const int64_t rounds = chance.of({3, 2, 1, 0, 3});
  GraphData body = takeNodes(model, chance);
  std::vector<std::string> carried, scanned;
  std::vector<ValueData> carriedInside, scannedInside, results;
  for (ValueData& input : model.graph.inputs) {
    const bool isScanned = chance.happens(60);
    const std::string outside = input.name, inside = fresh(chance);
    for (NodeData& node : body.nodes) std::replace(node.inputs.begin(), node.inputs.end(), outside, inside);
    ValueData declared = input;
    declared.name = inside;
    (isScanned ? scannedInside : carriedInside).push_back(bodyInput(declared, chance));
    (isScanned ? scanned : carried).push_back(outside);
    if (!isScanned)
      results.push_back(untyped(chance.happens(25) && !body.outputs.empty() ? chance.of(body.outputs).name
                                                                            : identity(body, inside, chance)));
    if (!isScanned) continue;
    for (TensorData& feed : model.feeds)
      if (feed.name == outside) feed = stacked(feed, rounds);
    if (input.ranked) input.dims.insert(input.dims.begin(), DimensionData{chance.happens(50), rounds, ""});
  }
  body.inputs = std::move(carriedInside);
  body.inputs.insert(body.inputs.end(), scannedInside.begin(), scannedInside.end());
  results.insert(results.end(), body.outputs.begin(), body.outputs.end());
  body.outputs = std::move(results);
  const size_t count = body.outputs.size();
  std::vector<std::string> inputs = carried;
  inputs.insert(inputs.end(), scanned.begin(), scanned.end());
  const int64_t number = chance.happens(95) ? static_cast<int64_t>(scanned.size()) : chance.integer();
  std::vector<AttributeData> attributes{intAttribute("num_scan_inputs", number),
                                        graphAttribute("body", std::move(body))};
  for (const char* list : {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"})
    if (chance.happens(10)) attributes.push_back(randomAttribute(list, 7, chance));
  addNode(model.graph, "Scan", inputs, outputsOf(model, count, chance), std::move(attributes));
}

void wrapInSequenceMap(ModelData& model, Chance& chance) {
  GraphData body = takeNodes(model, chance);
  std::vector<std::string> inputs;
  for (const ValueData& input : model.graph.inputs) {
    const std::string inside = fresh(chance);
    for (NodeData& node : body.nodes) std::replace(node.inputs.begin(), node.inputs.end(), input.name, inside);
    ValueData declared = input;
    declared.name = inside;
    body.inputs.push_back(bodyInput(declared, chance));
    std::string outside = input.name;
    if (inputs.empty() || chance.happens(30)) {
      outside = fresh(chance);
      if (chance.happens(10))
        addNode(model.graph, "SequenceEmpty", {}, {outside});
      else
        addNode(model.graph, "SequenceConstruct", std::vector<std::string>(1 + chance.below(3), input.name), {outside});
    }
    inputs.push_back(outside);
  }
  const size_t count = body.outputs.size();
  addNode(model.graph, "SequenceMap", inputs, outputsOf(model, count, chance),
          {graphAttribute("body", std::move(body))});
}

// Attributes of a function's nodes may stand for what the caller gives.
void referAttributes(FunctionData& function, NodeData& call, Chance& chance) {
  for (NodeData& node : function.nodes)
    for (AttributeData& attribute : node.attributes) {
      if (!chance.happens(30)) continue;
      AttributeData given = attribute;
      given.name = "p" + std::to_string(function.attributes.size() + function.defaults.size());
      attribute.reference = given.name;
      attribute.g.reset();
      if (chance.happens(30)) {
        function.defaults.push_back(std::move(given));
        continue;
      }
      function.attributes.push_back(given.name);
      if (chance.happens(85)) call.attributes.push_back(std::move(given));
    }
}

void wrapInFunction(ModelData& model, Chance& chance) {
  FunctionData function;
  function.name = "F" + std::to_string(model.functions.size());
  function.domain = "local";
  if (chance.happens(70)) function.opsets = model.opsets;
  GraphData body = takeNodes(model, chance);
  function.nodes = std::move(body.nodes);
  if (!body.initializers.empty()) model.graph.initializers = std::move(body.initializers);
  for (const ValueData& input : model.graph.inputs) function.inputs.push_back(input.name);
  for (const TensorData& tensor : model.graph.initializers)
    if (std::find(function.inputs.begin(), function.inputs.end(), tensor.name) == function.inputs.end())
      function.inputs.push_back(tensor.name);
  for (const ValueData& output : body.outputs) function.outputs.push_back(output.name);
  NodeData call;
  call.op = function.name;
  call.domain = "local";
  call.name = "call" + function.name;
  call.inputs = function.inputs;
  if (chance.happens(10) && !call.inputs.empty()) call.inputs.pop_back();
  call.outputs = outputsOf(model, function.outputs.size(), chance);
  referAttributes(function, call, chance);
  model.graph.nodes.push_back(std::move(call));
  model.functions.push_back(std::move(function));
  if (model.opsets.empty() || model.opsets.back().first != "local") model.opsets.emplace_back("local", 1);
}

// Nodes of a body that takes `inputs`; the last value that they make.
std::string fillBody(GraphData& body, const std::vector<std::string>& inputs, Chance& chance) {
  std::string last;
  if (inputs.empty() || chance.happens(20)) {
    TensorData constant{fresh(chance), chance.type(), chance.shape(chance.below(3)), {}, {}};
    fill(constant, chance);
    last = constant.name;
    body.initializers.push_back(std::move(constant));
  } else {
    last = inputs[chance.below(inputs.size())];
  }
  for (size_t i = chance.below(3); i > 0; --i) {
    const std::string result = fresh(chance);
    if (chance.happens(40))
      addNode(body, chance.of({"Add", "Mul", "Concat", "MatMul", "Max", "Equal"}),
              {last, inputs.empty() ? last : inputs[chance.below(inputs.size())]}, {result}, {intAttribute("axis", 0)});
    else
      addNode(body, chance.of({"Relu", "Shape", "Cast", "NonZero", "ReduceSum", "Identity", "Softmax"}), {last},
              {result});
    if (body.nodes.back().op == "Cast") body.nodes.back().attributes.push_back(intAttribute("to", chance.type()));
    if (body.nodes.back().op != "Concat" && body.nodes.back().op != "Cast") body.nodes.back().attributes.clear();
    last = result;
  }
  return identity(body, last, chance);
}

}  // namespace

void addInput(ModelData& model, TensorData tensor, Chance& chance) {
  ValueData value = typeOf(tensor);
  if (chance.happens(10)) value.ranked = false, value.dims.clear();
  for (DimensionData& dim : value.dims)
    if (chance.happens(20)) dim.known = false, dim.symbol = chance.of({"", "N", "M"});
  if (chance.happens(2) && !value.dims.empty()) chance.of(value.dims).value = chance.integer();
  model.graph.inputs.push_back(std::move(value));
  model.feeds.push_back(std::move(tensor));
}

std::string computed(GraphData& graph, const std::string& name, Chance& chance) {
  const size_t way = chance.below(4);
  if (way == 0) return identity(graph, name, chance);
  std::string result = fresh(chance);
  if (way == 1) {  // its shape is known only afterwards
    const std::string all = fresh(chance), shape = fresh(chance), length = fresh(chance), keep = fresh(chance);
    addNode(graph, "Shape", {name}, {shape}, {intAttribute("end", 1)});
    addNode(graph, "ConstantOfShape", {shape}, {length});
    addNode(graph, "Equal", {length, length}, {keep});
    addNode(graph, "Compress", {name, keep}, {result}, {intAttribute("axis", 0)});
    return result;
  }
  if (way == 2) {
    const std::string list = fresh(chance);
    addNode(graph, "SequenceConstruct", {name}, {list});
    const std::string zero = fresh(chance);
    graph.initializers.push_back(scalar(zero, 7, 0));
    addNode(graph, "SequenceAt", {list, zero}, {result});
    return result;
  }
  const std::string shape = fresh(chance);
  addNode(graph, "Shape", {name}, {shape});
  addNode(graph, "Reshape", {name, shape}, {result});
  return result;
}

AttributeData bodyFor(std::string attribute, const NodeData& node, Chance& chance) {
  GraphData body;
  std::vector<std::string> inside;
  size_t results = 1 + chance.below(2);
  if (attribute == "body") {
    for (size_t i = 0; i < std::max<size_t>(node.inputs.size(), node.op == "Loop" ? 2 : 0); ++i) {
      inside.push_back(fresh(chance));
      ValueData declared = untyped(inside.back());
      declared.type = chance.happens(50) ? 1 : chance.type();
      body.inputs.push_back(bodyInput(declared, chance));
    }
    results = std::max<size_t>(node.inputs.size(), 1) + chance.below(2);
    if (node.op == "Loop") results = std::max<size_t>(node.inputs.size(), 2) - 1 + chance.below(2);
  }
  std::vector<std::string> outside = node.inputs;
  outside.erase(std::remove(outside.begin(), outside.end(), ""), outside.end());
  for (size_t i = 0; i < results; ++i) {
    const bool isCondition = node.op == "Loop" && i == 0 && inside.size() > 1;
    const std::vector<std::string> usable = isCondition      ? std::vector<std::string>{inside[1]}
                                            : inside.empty() ? outside
                                                             : inside;
    body.outputs.push_back(untyped(isCondition && chance.happens(90) ? identity(body, inside[1], chance)
                                                                     : fillBody(body, usable, chance)));
  }
  return graphAttribute(std::move(attribute), std::move(body));
}

void wrap(ModelData& model, Chance& chance) {
  switch (chance.below(6)) {
    case 0:
      return wrapInIf(model, chance);
    case 1:
    case 2:
      return wrapInLoop(model, chance);
    case 3:
      return wrapInScan(model, chance);
    case 4:
      return wrapInSequenceMap(model, chance);
    default:
      return wrapInFunction(model, chance);
  }
}

}  // namespace attack
