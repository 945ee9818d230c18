// SPDX-License-Identifier: Apache-2.0
#include "capi/graph.h"

#include "capi/guard.h"
#include "capi/ports.h"
#include "device/buffer.h"
#include "device/stream.h"
#include "graph/composite.h"

using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

constexpr int32_t kMaxValueCount = 1 << 16;  // inputs or outputs of one node

std::vector<int64_t> shapeOf(const max::TensorType& type) {
  std::vector<int64_t> shape;
  for (const max::Dim& dim : type.dims) shape.push_back(dim.isKnown() ? dim.value() : MAX_DIMENSION_DYNAMIC);
  return shape;
}

std::vector<std::string> dimensionNamesOf(const max::TensorType& type) {
  std::vector<std::string> names;
  for (const max::Dim& dim : type.dims) {
    std::string& name = names.emplace_back();
    if (dim.isKnown()) continue;
    max::appendTo(name, dim);
    if (name.find('?') != name.npos) name.clear();
  }
  return names;
}

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

namespace max::capi {

Ref<Tensor> copiedTensor(const MaxBuffer& buffer) {
  buffer.stream().waitUntilIdle();
  const Ref<MaxDevice> host = hostDevice();
  return buffer.clone(host->defaultStream())->toTensor();
}

Ref<Tensor> hostTensor(const MaxBuffer& buffer) {
  if (!buffer.isHostAccessible() || !buffer.isContiguous()) return copiedTensor(buffer);
  buffer.stream().waitUntilIdle();
  return buffer.toTensor();
}

}  // namespace max::capi

MaxGraphValue::MaxGraphValue(MaxGraph& ownerGraph, max::Value& graphValue, Ref<MaxDevice> valueDevice)
    : graph(ownerGraph),
      value(graphValue),
      device(std::move(valueDevice)),
      shape(shapeOf(graphValue.type)),
      dimensionNames(dimensionNamesOf(graphValue.type)) {}

MaxGraph::MaxGraph(const char* name) : graph_(max::makeRef<max::Graph>(name ? name : "graph")) {
  graph_->requireKnownAttributes();
}

MaxGraph::MaxGraph(Ref<MaxGraph> parent, const char* name)
    : parent_(std::move(parent)), graph_(max::makeRef<max::Graph>(parent_->graph(), name ? name : "subgraph")) {
  graph_->requireKnownAttributes();
}

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
  if (!graph->isSubgraph()) max::invalidArgument("Graph '", graph->graph().name(), "' is no subgraph");
  set(name, graph->graphRef());
  graphs_[name] = std::move(graph);
}

void MaxAttributes::freezeGraphs() const {
  for (const auto& [name, graph] : graphs_) graph->freeze();
}

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
                           const char* const* dimensionNames, MaxDevice* device, MaxGraphValue** outValue) {
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
    for (int32_t i = 0; i < rank; ++i)
      type.dims.push_back(dimOf(graph->graph(), name, i, shape[i], dimensionNames ? dimensionNames[i] : nullptr));
    *outValue = graph->adopt(graph->graph().addInput(name, std::move(type)), Ref<MaxDevice>(device));
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
    max::Value* value = graph->graph().addConstant(max::capi::copiedTensor(*contents), name ? name : "");
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
    *outValue = graph->adopt(value, Ref<MaxDevice>(device));
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
    max::require(!domain || domain != max::kMaxDomain, MAX_STATUS_UNIMPLEMENTED, "Operator '", max::kMaxDomain, ".", op,
                 "' is for the compiler's own use");
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

MaxStatus maxGraphAddOutput(MaxGraph* graph, MaxGraphValue* value, const char* name) {
  return guard([&] {
    requireArgument(graph, "graph");
    requireArgument(value, "value");
    graph->requireMutable();
    graph->graph().addOutput(&value->value, name ? name : "");
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

MaxStatus maxGraphFindValue(const MaxGraph* graph, const char* name, MaxGraphValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(graph, "graph");
    requireArgument(name, "name");
    const max::Value* value = graph->graph().findValue(name);
    max::require(value && graph->find(value), MAX_STATUS_NOT_FOUND, "Graph '", graph->graph().name(),
                 "' has no value '", name, "'");
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

MaxStatus maxGraphValueGetName(const MaxGraphValue* value, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(value, "value");
    *outName = value->value.name.c_str();
  });
}

MaxStatus maxGraphValueGetKind(const MaxGraphValue* value, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(value, "value");
    requireArgument(outKind, "outKind");
    *outKind = max::capi::kindOf(value->value.type.dtype);
  });
}

MaxStatus maxGraphValueGetDType(const MaxGraphValue* value, MaxDType* outDType) {
  return guard([&] {
    requireArgument(value, "value");
    requireArgument(outDType, "outDType");
    *outDType = max::capi::elementTypeOf(value->value.type);
  });
}

MaxStatus maxGraphValueGetRank(const MaxGraphValue* value, int32_t* outRank) {
  return guard([&] {
    requireArgument(value, "value");
    requireArgument(outRank, "outRank");
    *outRank = value->value.type.ranked ? value->value.type.rank() : MAX_RANK_DYNAMIC;
  });
}

MaxStatus maxGraphValueGetShape(const MaxGraphValue* value, const int64_t** outShape) {
  return guard([&] {
    clearOutput(outShape, "outShape");
    static constexpr int64_t kScalar = 0;  // no dimensions, but an address
    requireArgument(value, "value");
    *outShape = value->shape.empty() ? &kScalar : value->shape.data();
  });
}

MaxStatus maxGraphValueGetDimensionName(const MaxGraphValue* value, int32_t dimension, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(value, "value");
    requireIndex(dimension, countOf(value->dimensionNames), "Dimension");
    const std::string& name = value->dimensionNames[static_cast<size_t>(dimension)];
    if (!name.empty()) *outName = name.c_str();
  });
}

MaxStatus maxGraphValueGetDevice(const MaxGraphValue* value, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    requireArgument(value, "value");
    *outDevice = value->device.get();
  });
}
