// SPDX-License-Identifier: Apache-2.0
#include "capi/graph.h"

#include "base/nearest_name.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "device/memory_use.h"
#include "device/stream.h"
#include "device/weights.h"
#include "graph/composite.h"

using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

constexpr int32_t kMaxValueCount = 1 << 16;     // inputs or outputs of one node
constexpr std::string_view kRebind = "Rebind";  // the one operator of our own that programs may use

void requireDType(max::DType dtype) {
  if (!max::isValid(dtype)) max::invalidArgument("Data type ", static_cast<int32_t>(dtype), " does not exist");
}

void requireRank(int32_t rank, const int64_t* shape) {
  if (rank < 0 || rank > max::kMaxRank) max::invalidArgument("Rank ", rank, " is not between 0 and ", max::kMaxRank);
  if (rank > 0) requireArgument(shape, "shape");
}

void requireCount(int32_t count, const void* list, const char* name) {
  if (count < 0 || count > kMaxValueCount)
    max::invalidArgument("The count of '", name, "' is ", count, ", not between 0 and ", kMaxValueCount);
  if (count > 0) requireArgument(list, name);
}

void requireName(const char* name) {
  requireArgument(name, "name");
  if (!*name) max::invalidArgument("Argument 'name' is empty");
}

max::Dim dimOf(max::Graph& graph, const char* input, int32_t i, int64_t size, const char* name) {
  if (size < MAX_DIMENSION_DYNAMIC) max::invalidArgument("Input '", input, "': dimension ", i, " is ", size);
  if (!name) return size == MAX_DIMENSION_DYNAMIC ? graph.dimTable().unknown() : max::Dim(size);
  if (size != MAX_DIMENSION_DYNAMIC)
    max::invalidArgument("Input '", input, "': dimension ", i, " is ", size, " and has the name '", name,
                         "'; only dynamic dimensions have names");
  if (!*name) max::invalidArgument("Input '", input, "': the name of dimension ", i, " is empty");
  return graph.dimTable().symbol(name);
}

// The device that the inputs agree on; NULL if none of them names one.
Ref<MaxDevice> commonDevice(MaxGraphValue* const* inputs, int32_t count, const char* op) {
  const MaxGraphValue* first = nullptr;
  for (int32_t i = 0; i < count; ++i) {
    const MaxGraphValue* input = inputs[i];
    if (!input || !input->device) continue;
    if (!first) first = input;
    if (first->device.get() != input->device.get())
      max::invalidArgument("Operator '", op, "': '", first->value.name, "' is on ", first->device->displayName(), ", '",
                           input->value.name, "' is on ", input->device->displayName());
  }
  return first ? first->device : Ref<MaxDevice>();
}

template <class List>
int32_t countOf(const List& list) {
  return static_cast<int32_t>(list.size());
}

void requireIndex(int32_t index, int32_t count, const char* what) {
  max::require(index >= 0 && index < count, MAX_STATUS_OUT_OF_RANGE, what, " ", index, " does not exist; there are ",
               count);
}

}  // namespace

namespace max::capi {}  // namespace max::capi

MaxGraphValue::MaxGraphValue(MaxGraph& ownerGraph, max::Value& graphValue, Ref<MaxDevice> valueDevice)
    : graph(ownerGraph),
      value(graphValue),
      device(std::move(valueDevice)),
      info(graphValue.name, graphValue.type, max::UnknownDims::Numbered) {}

MaxGraph::MaxGraph(const char* name) : graph_(max::makeRef<max::Graph>(name ? name : "graph")) {}

MaxGraph::MaxGraph(Ref<MaxGraph> parent, const char* name)
    : parent_(std::move(parent)), graph_(max::makeRef<max::Graph>(parent_->graph(), name ? name : "subgraph")) {}

MaxGraphValue* MaxGraph::adopt(max::Value* value, Ref<MaxDevice> device) {
  MaxGraphValue& handle = values_.emplace_back(*this, *value, std::move(device));
  byValue_.emplace(value, &handle);
  return &handle;
}

MaxGraphValue* MaxGraph::find(const max::Value* value) const {
  const auto entry = byValue_.find(value);
  return entry == byValue_.end() ? nullptr : entry->second;
}

void MaxGraph::requireMutable() const {
  max::require(!frozen_, MAX_STATUS_FAILED_PRECONDITION, "Graph '", graph_->name(),
               "' is part of a node and cannot change");
}

void MaxAttributes::set(const char* name, max::Attribute value) {
  requireName(name);
  attributes_.set(name, std::move(value));
  graphs_.erase(name);
}

void MaxAttributes::setGraph(const char* name, Ref<MaxGraph> graph) {
  if (!graph->isSubgraph()) max::invalidArgument("Graph '", graph->graph().name(), "' is not a subgraph");
  set(name, graph->graphRef());
  graphs_[name] = std::move(graph);
}

void MaxAttributes::freezeGraphs() const {
  for (const auto& [name, graph] : graphs_) graph->freeze();
}

namespace {

MaxGraphValue* addWeight(MaxGraph& graph, const char* name, const MaxBuffer& buffer) {
  requireName(name);
  graph.requireMutable();
  const Ref<max::Tensor> contents = max::hostTensor(buffer);
  return graph.adopt(graph.graph().addWeight(name, contents->dtype(), contents->shape(), contents), {});
}

}  // namespace

MaxStatus maxGraphCreate(const char* name, MaxGraph** outGraph) {
  return guard([&] {
    clearOutput(outGraph, "outGraph");
    *outGraph = max::makeRef<MaxGraph>(name).detach();
  });
}

MaxStatus maxGraphCreateSubgraph(MaxGraph* parent, const char* name, MaxGraph** outGraph) {
  return guard([&] {
    clearOutput(outGraph, "outGraph");
    requireArgument(parent, "parent");
    *outGraph = max::makeRef<MaxGraph>(Ref<MaxGraph>(parent), name).detach();
  });
}

void maxGraphRetain(const MaxGraph* graph) {
  if (graph) graph->retain();
}

void maxGraphRelease(const MaxGraph* graph) {
  if (graph) graph->release();
}

MaxStatus maxGraphGetName(const MaxGraph* graph, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(graph, "graph");
    *outName = graph->graph().name().c_str();
  });
}

MaxStatus maxGraphAddInput(MaxGraph* graph, const char* name, MaxDType dtype, int32_t rank, const int64_t* shape,
                           const MaxGraphInputOptions* options, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireName(name);
    graph->requireMutable();
    max::TensorType type = max::TensorType::unranked(static_cast<max::DType>(dtype));
    requireDType(type.dtype);
    if (rank != MAX_RANK_DYNAMIC || !graph->isSubgraph()) {
      requireRank(rank, shape);
      type.ranked = true;
    }
    const auto chosen = max::capi::readOptions(options, "MaxGraphInputOptions");
    const char* const* names = chosen.dimensionNames;
    for (int32_t i = 0; i < rank; ++i)
      type.dims.push_back(dimOf(graph->graph(), name, i, shape[i], names ? names[i] : nullptr));
    max::Value* value = graph->graph().addInput(name, std::move(type));
    value->home = Ref<MaxDevice>(chosen.device);
    *outValue = graph->adopt(value, Ref<MaxDevice>(chosen.device));
  });
}

MaxStatus maxGraphAddInputLike(MaxGraph* graph, const char* name, const MaxGraphValue* value,
                               MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireName(name);
    requireArgument(value, "value");
    graph->requireMutable();
    graph->graph().requireVisible(&value->value, "value");
    max::Value* input = graph->graph().addInput(name, value->value.type);
    input->home = value->device;
    *outValue = graph->adopt(input, value->device);
  });
}

MaxStatus maxGraphAddValueInput(MaxGraph* graph, const char* name, MaxValueKind kind, MaxDType dtype,
                                MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireName(name);
    graph->requireMutable();
    max::require(kind == MAX_VALUE_KIND_SEQUENCE || kind == MAX_VALUE_KIND_OPTIONAL, MAX_STATUS_INVALID_ARGUMENT,
                 "Input '", name, "' cannot have the kind ", kind);
    const max::TensorType element = max::TensorType::unranked(static_cast<max::DType>(dtype));
    requireDType(element.dtype);
    const max::DType holder = kind == MAX_VALUE_KIND_SEQUENCE ? max::DType::Sequence : max::DType::Optional;
    max::Value* input = graph->graph().addInput(name, max::TensorType::holding(holder, element));
    *outValue = graph->adopt(input, nullptr);
  });
}

MaxStatus maxGraphAddConstant(MaxGraph* graph, const char* name, const MaxBuffer* contents, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(contents, "contents");
    graph->requireMutable();
    max::Value* value = graph->graph().addConstant(max::copiedTensor(*contents), name ? name : "");
    *outValue = graph->adopt(value, {});
  });
}

MaxStatus maxGraphAddWeight(MaxGraph* graph, const char* name, MaxDType dtype, int32_t rank, const int64_t* shape,
                            MaxDevice* device, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireName(name);
    graph->requireMutable();
    requireDType(static_cast<max::DType>(dtype));
    requireRank(rank, shape);
    const max::Shape dims(std::span<const int64_t>(shape, static_cast<size_t>(rank)));
    max::bytesFor(static_cast<max::DType>(dtype), dims.count());
    max::Value* value = graph->graph().addWeight(name, static_cast<max::DType>(dtype), dims);
    value->home = Ref<MaxDevice>(device);
    *outValue = graph->adopt(value, Ref<MaxDevice>(device));
  });
}

MaxStatus maxGraphAddWeightFromBuffer(MaxGraph* graph, const char* name, const MaxBuffer* contents,
                                      MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(contents, "contents");
    *outValue = addWeight(*graph, name, *contents);
  });
}

MaxStatus maxGraphAddWeightFromWeights(MaxGraph* graph, const char* name, const MaxWeights* weights,
                                       MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(weights, "weights");
    requireName(name);
    *outValue = addWeight(*graph, name, *weights->at(name).buffer);
  });
}

MaxStatus maxGraphAddNode(MaxGraph* graph, const char* domain, const char* op, const char* name,
                          MaxGraphValue* const* inputs, int32_t inputCount, const MaxAttributes* attributes,
                          MaxGraphValue** outValues, int32_t outputCount) {
  return guard([&] {
    requireCount(outputCount, outValues, "outValues");
    for (int32_t i = 0; i < outputCount; ++i) outValues[i] = nullptr;
    requireArgument(graph, "graph");
    requireArgument(op, "op");
    requireCount(inputCount, inputs, "inputs");
    max::require(!domain || domain != max::kMaxDomain || op == kRebind, MAX_STATUS_UNIMPLEMENTED, "Operator '",
                 max::kMaxDomain, ".", op, "' is reserved for the compiler");
    graph->requireMutable();
    Ref<MaxDevice> device = commonDevice(inputs, inputCount, op);
    std::vector<max::Value*> values;
    for (int32_t i = 0; i < inputCount; ++i) values.push_back(inputs[i] ? &inputs[i]->value : nullptr);
    const max::Attributes copies = attributes ? attributes->attributes() : max::Attributes();
    const std::vector<std::string> names(static_cast<size_t>(outputCount));
    const max::Values made =
        max::addOperator(graph->graph(), domain ? domain : "", op, std::move(values), copies, names, name ? name : "");
    if (attributes) attributes->freezeGraphs();
    for (max::Value* output : made)
      if (output && !graph->find(output)) graph->adopt(output, device);
    for (size_t i = 0; i < made.size(); ++i) outValues[i] = made[i] ? graph->find(made[i]) : nullptr;
  });
}

MaxStatus maxGraphAddTransfer(MaxGraph* graph, MaxGraphValue* value, MaxDevice* device, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(value, "value");
    requireArgument(device, "device");
    graph->requireMutable();
    max::require(!max::holdsPointers(value->value.type.dtype), MAX_STATUS_UNIMPLEMENTED, "'", value->value.name,
                 "' is a ", value->value.type.dtype, ", which stays on the host");
    max::Attributes attributes;
    attributes.set("device", device->displayName());
    max::Node* node = graph->graph().addNode(max::kMaxDomain, "Transfer", {&value->value}, std::move(attributes));
    node->output()->home = Ref<MaxDevice>(device);
    *outValue = graph->adopt(node->output(), Ref<MaxDevice>(device));
  });
}

MaxStatus maxGraphAddOutput(MaxGraph* graph, MaxGraphValue* value, const char* name) {
  return guard([&] {
    requireArgument(graph, "graph");
    requireArgument(value, "value");
    graph->requireMutable();
    graph->graph().addOutput(&value->value, name ? name : "", value->device);
    max::Value* output = graph->graph().outputs().back();
    if (!graph->find(output)) graph->adopt(output, value->device);
  });
}

MaxStatus maxGraphGetInputCount(const MaxGraph* graph, int32_t* outCount) {
  return guard([&] {
    requireArgument(graph, "graph");
    requireArgument(outCount, "outCount");
    *outCount = countOf(graph->graph().inputs());
  });
}

MaxStatus maxGraphGetInput(const MaxGraph* graph, int32_t index, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireIndex(index, countOf(graph->graph().inputs()), "Input");
    *outValue = graph->find(graph->graph().inputs()[static_cast<size_t>(index)]);
  });
}

MaxStatus maxGraphGetOutputCount(const MaxGraph* graph, int32_t* outCount) {
  return guard([&] {
    requireArgument(graph, "graph");
    requireArgument(outCount, "outCount");
    *outCount = countOf(graph->graph().outputs());
  });
}

MaxStatus maxGraphGetOutput(const MaxGraph* graph, int32_t index, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireIndex(index, countOf(graph->graph().outputs()), "Output");
    *outValue = graph->find(graph->graph().outputs()[static_cast<size_t>(index)]);
  });
}

MaxStatus maxGraphGetOutputName(const MaxGraph* graph, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(graph, "graph");
    requireIndex(index, countOf(graph->graph().outputs()), "Output");
    *outName = graph->graph().outputNames()[static_cast<size_t>(index)].c_str();
  });
}

MaxStatus maxGraphGetNodeCount(const MaxGraph* graph, int32_t* outCount) {
  return guard([&] {
    requireArgument(graph, "graph");
    requireArgument(outCount, "outCount");
    *outCount = countOf(graph->graph().nodes());
  });
}

namespace {

std::string nearestValue(const MaxGraph& graph, const char* name) {
  max::NearestName nearest(name);
  for (const MaxGraphValue& value : graph.values()) nearest.offer(value.value.name);
  return nearest.hint();
}

}  // namespace

MaxStatus maxGraphFindValue(const MaxGraph* graph, const char* name, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(name, "name");
    const max::Value* value = graph->graph().findValue(name);
    if (!value || !graph->find(value))
      max::fail(MAX_STATUS_NOT_FOUND, "Graph '", graph->graph().name(), "' has no value '", name, "'",
                nearestValue(*graph, name));
    *outValue = graph->find(value);
  });
}

MaxStatus maxGraphValueGetGraph(const MaxGraphValue* value, MaxGraph** outGraph) {
  return guard([&] {
    clearOutput(outGraph, "outGraph");
    requireArgument(value, "value");
    *outGraph = &value->graph;
  });
}

MaxStatus maxGraphValueGetInfo(const MaxGraphValue* value, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(value, "value");
    requireArgument(outInfo, "outInfo");
    max::capi::writeReport(outInfo, value->info.report(value->device.get()), "MaxTensorInfo");
  });
}
