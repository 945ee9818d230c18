// SPDX-License-Identifier: Apache-2.0
#include "attack/mutate.h"

#include <algorithm>

#include "attack/generate.h"
#include "attack/wrap.h"
#include "base/dtype.h"

namespace attack {

namespace {

// Lists of nodes: those of graphs and of functions.
std::vector<std::vector<NodeData>*> nodeListsOf(ModelData& model) {
  std::vector<std::vector<NodeData>*> lists;
  for (GraphData* graph : graphsOf(model))
    if (!graph->nodes.empty()) lists.push_back(&graph->nodes);
  for (FunctionData& function : model.functions)
    if (!function.nodes.empty()) lists.push_back(&function.nodes);
  return lists;
}

NodeData* anyNode(ModelData& model, Chance& chance) {
  const auto lists = nodeListsOf(model);
  return lists.empty() ? nullptr : &chance.of(*lists[chance.below(lists.size())]);
}

int64_t changed(int64_t value, Chance& chance) {
  switch (chance.below(5)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(value) + chance.of({uint64_t{1}, ~uint64_t{0}}));
    case 1:
      return static_cast<int64_t>(-static_cast<uint64_t>(value));
    case 2:
      return static_cast<int64_t>(static_cast<uint64_t>(value) * 2);
    default:
      return chance.integer();
  }
}

void changeList(std::vector<int64_t>& list, Chance& chance) {
  const size_t way = chance.below(5);
  if (way == 0) list.push_back(chance.integer());
  if (way == 1 && !list.empty()) list.erase(list.begin() + static_cast<ptrdiff_t>(chance.below(list.size())));
  if (way == 2 && !list.empty()) list.push_back(list[0]);
  if (way == 3) list = chance.integers();
  if (way == 4 && !list.empty()) chance.of(list) = changed(chance.of(list), chance);
}

// Dimensions, type or elements of a tensor.
void changeTensor(TensorData& tensor, Chance& chance) {
  const size_t way = chance.below(8);
  const bool isList = tensor.type == 7 && tensor.dims.size() == 1 && tensor.raw.size() <= 800;
  if (isList && way < 5) {
    std::vector<int64_t> values(tensor.raw.size() / 8);
    std::copy_n(reinterpret_cast<const char*>(tensor.raw.data()), values.size() * 8,
                reinterpret_cast<char*>(values.data()));
    changeList(values, chance);
    tensor = listTensor(tensor.name, values);
    return;
  }
  if (way == 0) tensor.type = chance.type();
  if (way == 1 && !tensor.dims.empty()) chance.of(tensor.dims) = chance.happens(30) ? 0 : chance.dimension();
  if (way == 2)
    tensor.dims.insert(tensor.dims.begin() + static_cast<ptrdiff_t>(chance.below(tensor.dims.size() + 1)),
                       chance.dimension());
  if (way == 3 && !tensor.dims.empty())
    tensor.dims.erase(tensor.dims.begin() + static_cast<ptrdiff_t>(chance.below(tensor.dims.size())));
  if (way == 4) tensor.dims = chance.shape(chance.below(7));
  if (way < 6)
    fill(tensor, chance);
  else if (!tensor.raw.empty())  // others stay as they are
    for (size_t i = 1 + chance.below(4); i > 0; --i) chance.of(tensor.raw) = static_cast<char>(chance.next());
}

void changeAttribute(AttributeData& attribute, Chance& chance) {
  if (chance.happens(4)) {
    attribute = randomAttribute(attribute.name, chance.within(1, 8), chance);
    return;
  }
  switch (attribute.type) {
    case 1:
      attribute.f = chance.number();
      break;
    case 2:
      attribute.i = changed(attribute.i, chance);
      break;
    case 3:
      attribute.s = chance.text();
      break;
    case 4:
      changeTensor(attribute.t, chance);
      break;
    case 7:
      changeList(attribute.ints, chance);
      break;
    case 6:
    case 8:
      if (attribute.type == 6 && !attribute.floats.empty() && chance.happens(50)) {
        attribute.floats.pop_back();
      } else if (attribute.type == 8 && !attribute.strings.empty() && chance.happens(50)) {
        attribute.strings.pop_back();
      } else {
        attribute = randomAttribute(attribute.name, attribute.type, chance);
      }
      break;
    default:
      break;
  }
}

void changeNodeAttribute(ModelData& model, Chance& chance) {
  for (int tries = 0; tries < 4; ++tries)
    if (NodeData* node = anyNode(model, chance); node && !node->attributes.empty())
      return changeAttribute(chance.of(node->attributes), chance);
}

void addAttribute(ModelData& model, Chance& chance) {
  NodeData* node = anyNode(model, chance);
  if (!node) return;
  const max::OpSchema* schema = operatorNamed(node->domain, node->op);
  AttributeData added = anyAttribute(chance);
  // One that it has, or had.
  if (schema && chance.happens(70) && schema->attributes != "*" && !schema->attributes.empty()) {
    for (int tries = 0; tries < 300 && schema->attributes.find(added.name + "=") == std::string_view::npos; ++tries)
      added = anyAttribute(chance);
  } else if (chance.happens(50)) {
    added =
        randomAttribute(chance.of({"axes", "starts", "ends", "pads", "split", "perm", "repeats", "scales"}), 7, chance);
  }
  node->attributes.push_back(std::move(added));
}

void dropAttribute(ModelData& model, Chance& chance) {
  NodeData* node = anyNode(model, chance);
  if (node && !node->attributes.empty())
    node->attributes.erase(node->attributes.begin() + static_cast<ptrdiff_t>(chance.below(node->attributes.size())));
}

void changeAnyTensor(ModelData& model, Chance& chance) {
  std::vector<GraphData*> graphs = graphsOf(model);
  GraphData& graph = *graphs[chance.below(graphs.size())];
  if (!graph.initializers.empty() && chance.happens(50)) return changeTensor(chance.of(graph.initializers), chance);
  if (model.feeds.empty()) return;
  TensorData& feed = chance.of(model.feeds);
  changeTensor(feed, chance);
  // Mostly what is declared changes too.
  if (!chance.happens(80)) return;
  for (ValueData& input : model.graph.inputs)
    if (input.name == feed.name && input.other.empty()) {
      const bool wasRanked = input.ranked;
      input = typeOf(feed);
      if (!wasRanked) input.ranked = false, input.dims.clear();
    }
}

void initializerToInput(ModelData& model, Chance& chance) {
  auto& all = model.graph.initializers;
  if (all.empty()) return;
  const auto at = all.begin() + static_cast<ptrdiff_t>(chance.below(all.size()));
  TensorData tensor = std::move(*at);
  all.erase(at);
  const auto isSame = [&](const ValueData& input) { return input.name == tensor.name; };
  auto& inputs = model.graph.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), isSame), inputs.end());
  addInput(model, std::move(tensor), chance);
}

void inputToInitializer(ModelData& model, Chance& chance) {
  if (model.feeds.empty()) return;
  const auto at = model.feeds.begin() + static_cast<ptrdiff_t>(chance.below(model.feeds.size()));
  TensorData tensor = std::move(*at);
  model.feeds.erase(at);
  const auto isSame = [&](const ValueData& input) { return input.name == tensor.name; };
  auto& inputs = model.graph.inputs;
  if (chance.happens(85)) inputs.erase(std::remove_if(inputs.begin(), inputs.end(), isSame), inputs.end());
  model.graph.initializers.push_back(std::move(tensor));
}

// What is a constant or an input becomes something that is known only while the model runs.
void compute(ModelData& model, Chance& chance) {
  std::vector<GraphData*> graphs = graphsOf(model);
  GraphData& graph = *graphs[chance.below(graphs.size())];
  if (graph.nodes.empty()) return;
  const size_t index = chance.below(graph.nodes.size());
  if (graph.nodes[index].inputs.empty()) return;
  const size_t input = chance.below(graph.nodes[index].inputs.size());
  const std::string name = graph.nodes[index].inputs[input];
  if (!name.empty()) graph.nodes[index].inputs[input] = computed(graph, name, chance);
}

void changeOpset(ModelData& model, Chance& chance) {
  if (model.opsets.empty()) return;
  auto& opset = chance.of(model.opsets);
  opset.second = chance.happens(90)
                     ? std::max<int64_t>(1, std::clamp<int64_t>(opset.second, 1, 1000) + chance.within(-8, 8))
                     : chance.integer();
}

void changeInputs(ModelData& model, Chance& chance) {
  NodeData* node = anyNode(model, chance);
  if (!node) return;
  const size_t way = chance.below(4);
  if (way == 0 && !node->inputs.empty()) node->inputs.pop_back();
  if (way == 1 && !node->inputs.empty()) chance.of(node->inputs).clear();
  if (way == 2 && !node->inputs.empty()) node->inputs.push_back(chance.of(node->inputs));
  if (way != 3 || node->inputs.empty()) return;
  NodeData* other = anyNode(model, chance);
  const std::vector<std::string>& names =
      chance.happens(50) && !other->outputs.empty() ? other->outputs : other->inputs;
  if (!names.empty()) chance.of(node->inputs) = names[chance.below(names.size())];
}

void changeOutputs(ModelData& model, Chance& chance) {
  NodeData* node = anyNode(model, chance);
  if (!node) return;
  if (chance.happens(30) && !node->outputs.empty()) {
    node->outputs.pop_back();
    return;
  }
  const std::string name = "extra" + std::to_string(chance.below(100000));
  if (chance.happens(30) && !node->outputs.empty()) {
    for (std::string& output : node->outputs)
      if (output.empty()) output = name;
  } else {
    node->outputs.push_back(name);
  }
  ValueData output;
  output.name = name;
  if (chance.happens(60)) model.graph.outputs.push_back(std::move(output));
}

void changeType(ModelData& model, Chance& chance) {
  std::vector<GraphData*> graphs = graphsOf(model);
  GraphData& graph = *graphs[chance.below(graphs.size())];
  std::vector<ValueData>& values = chance.happens(70) ? graph.inputs : graph.outputs;
  if (values.empty()) return;
  ValueData& value = chance.of(values);
  switch (chance.below(6)) {
    case 0:
      value.ranked = false;
      value.dims.clear();
      break;
    case 1:
      for (DimensionData& dim : value.dims) dim.known = false, dim.symbol = chance.of({"", "N", "M", "N"});
      break;
    case 2:
      if (!value.dims.empty()) chance.of(value.dims) = {true, chance.integer(), ""};
      break;
    case 3:
      value.type = chance.type();
      value.other.clear();
      break;
    case 4:
      value.type = 0;
      value.other.clear();
      break;
    default:
      value.other = holderType(chance.of({'s', 'o', 'm'}), chance.type());
  }
}

void changeOperator(ModelData& model, Chance& chance) {
  NodeData* node = anyNode(model, chance);
  if (!node || node->domain == "local") return;
  const max::OpSchema& schema = *chance.of(operators());
  node->op = schema.name;
  node->domain = schema.domain;
}

void dropNode(ModelData& model, Chance& chance) {
  const auto lists = nodeListsOf(model);
  if (lists.empty()) return;
  std::vector<NodeData>& nodes = *lists[chance.below(lists.size())];
  nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(chance.below(nodes.size())));
}

void rename(GraphData& graph, const std::string& suffix) {
  const auto change = [&](std::string& name) {
    if (!name.empty()) name += suffix;
  };
  for (GraphData* each : graphsOf(graph)) {
    for (NodeData& node : each->nodes) {
      std::for_each(node.inputs.begin(), node.inputs.end(), change);
      std::for_each(node.outputs.begin(), node.outputs.end(), change);
    }
    for (TensorData& tensor : each->initializers) change(tensor.name);
    for (ValueData& value : each->inputs) change(value.name);
    for (ValueData& value : each->outputs) change(value.name);
  }
}

// The other model's nodes behind these; one of its inputs may be an output of them.
void join(ModelData& model, const ModelData& other, Chance& chance) {
  if (!other.functions.empty() || model.graph.nodes.size() > 40 || other.graph.nodes.size() > 40) return;
  ModelData second = copyOf(other);
  const std::string suffix = "_" + std::to_string(chance.below(100000));
  rename(second.graph, suffix);
  for (TensorData& feed : second.feeds) feed.name += suffix;
  std::vector<ValueData>& inputs = second.graph.inputs;
  if (!inputs.empty() && !model.graph.outputs.empty()) {
    const size_t taken = chance.below(inputs.size());
    const std::string from = inputs[taken].name, to = chance.of(model.graph.outputs).name;
    inputs.erase(inputs.begin() + static_cast<ptrdiff_t>(taken));
    for (NodeData& node : second.graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  }
  const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(model.graph.nodes, second.graph.nodes);
  append(model.graph.initializers, second.graph.initializers);
  append(model.graph.inputs, inputs);
  append(model.graph.outputs, second.graph.outputs);
  append(model.feeds, second.feeds);
  for (const auto& opset : second.opsets) {
    const auto isSame = [&](const auto& known) { return known.first == opset.first; };
    if (std::none_of(model.opsets.begin(), model.opsets.end(), isSame)) model.opsets.push_back(opset);
  }
}

using Change = void (*)(ModelData&, Chance&);

// How often each is chosen, of the sum of all.
constexpr struct {
  int weight;
  Change change;
} kChanges[] = {
    {24, changeNodeAttribute},
    {8, addAttribute},
    {6, dropAttribute},
    {20, changeAnyTensor},
    {8, initializerToInput},
    {8, inputToInitializer},
    {10, compute},
    {6, changeOpset},
    {8, changeInputs},
    {5, changeOutputs},
    {8, changeType},
    {2, changeOperator},
    {2, dropNode},
    {12, wrap},
};

void changeOnce(ModelData& model, Chance& chance) {
  int sum = 0;
  for (const auto& each : kChanges) sum += each.weight;
  auto left = static_cast<int>(chance.below(static_cast<size_t>(sum)));
  for (const auto& each : kChanges)
    if ((left -= each.weight) < 0) return each.change(model, chance);
}

// Calls attempt(list, index) for all entries of a list, from the end; an attempt that fails changes nothing.
template <class List>
bool dropFrom(ModelData& model, const std::function<bool(const ModelData&)>& fails, List& list) {
  bool dropped = false;
  for (size_t i = list.size(); i-- > 0;) {
    auto entry = std::move(list[i]);
    list.erase(list.begin() + static_cast<ptrdiff_t>(i));
    if (fails(model))
      dropped = true;
    else
      list.insert(list.begin() + static_cast<ptrdiff_t>(i), std::move(entry));
  }
  return dropped;
}

}  // namespace

void mutate(ModelData& model, const ModelData& other, Chance& chance) {
  if (chance.happens(12)) join(model, other, chance);
  for (size_t i = 1 + chance.below(chance.happens(70) ? 3 : 8); i > 0; --i) changeOnce(model, chance);
}

void shrink(ModelData& model, const std::function<bool(const ModelData&)>& fails) {
  bool dropped = true;
  const auto drop = [&](auto& list) { dropped = dropFrom(model, fails, list) || dropped; };
  while (dropped) {
    dropped = false;
    drop(model.functions);
    drop(model.feeds);
    drop(model.opsets);
    // What is dropped may take graphs and lists of nodes with it.
    for (size_t g = 0; g < graphsOf(model).size(); ++g) {
      GraphData& graph = *graphsOf(model)[g];
      drop(graph.outputs);
      drop(graph.nodes);
      drop(graph.initializers);
      drop(graph.inputs);
    }
    for (size_t l = 0; l < nodeListsOf(model).size(); ++l)
      for (size_t n = 0; l < nodeListsOf(model).size() && n < nodeListsOf(model)[l]->size(); ++n) {
        NodeData& node = (*nodeListsOf(model)[l])[n];
        drop(node.attributes);
        drop(node.outputs);
        drop(node.inputs);
      }
  }
}

}  // namespace attack
