// SPDX-License-Identifier: Apache-2.0
#include "max/model.h"

#include "capi/extension.h"
#include "capi/graph.h"
#include "capi/guard.h"
#include "capi/index.h"
#include "capi/load_scope.h"
#include "capi/model_loader.h"
#include "capi/options.h"
#include "capi/ports.h"

using max::capi::clearOutput;
using max::capi::dimensionName;
using max::capi::elementAt;
using max::capi::elementTypeOf;
using max::capi::guard;
using max::capi::kindOf;
using max::capi::requireArgument;

namespace {

MaxModelLoadOptions checkedOptions(const MaxModelLoadOptions* options) {
  const MaxModelLoadOptions chosen = max::capi::readOptions(options, "MaxModelLoadOptions");
  max::capi::requireReserved(chosen.reserved, "MaxModelLoadOptions");
  max::require(chosen.precision >= MAX_PRECISION_HIGHEST && chosen.precision <= MAX_PRECISION_MEDIUM,
               MAX_STATUS_INVALID_ARGUMENT, "There is no precision with the number ", chosen.precision);
  max::require(chosen.deadline >= 0, MAX_STATUS_INVALID_ARGUMENT, "The deadline is ", chosen.deadline, " ns");
  max::capi::requireReserved(chosen.reserved2, "MaxModelLoadOptions");
  max::require(chosen.weightCount >= 0, MAX_STATUS_INVALID_ARGUMENT, "weightCount is ", chosen.weightCount);
  if (chosen.weightCount == 0) return chosen;
  requireArgument(chosen.weightNames, "options.weightNames");
  requireArgument(chosen.weights, "options.weights");
  for (int32_t i = 0; i < chosen.weightCount; ++i) {
    max::require(chosen.weightNames[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Name of weight ", i, " is NULL");
    max::require(chosen.weights[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Weight ", i, " ('", chosen.weightNames[i],
                 "') is NULL");
  }
  return chosen;
}

void loadExtensions(const MaxModelLoadOptions& options) {
  max::require(options.extensionCount >= 0, MAX_STATUS_INVALID_ARGUMENT, "extensionCount is ", options.extensionCount);
  if (options.extensionCount > 0) requireArgument(options.extensions, "options.extensions");
  for (int32_t i = 0; i < options.extensionCount; ++i) {
    max::require(options.extensions[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Extension ", i, " is NULL");
    max::capi::loadExtension(options.extensions[i]);
  }
}

max::capi::LoadRequest loadRequest(const MaxSession* session, const MaxModelLoadOptions* options) {
  requireArgument(session, "session");
  const max::capi::LoadRequest request{*const_cast<MaxSession*>(session), checkedOptions(options)};
  loadExtensions(request.options);
  return request;
}

const max::ModelTensor& inputAt(const MaxModel* model, int32_t index) {
  requireArgument(model, "model");
  return elementAt(model->inputs(), index, "Input");
}

const max::ModelTensor& outputAt(const MaxModel* model, int32_t index) {
  requireArgument(model, "model");
  return elementAt(model->outputs(), index, "Output");
}

template <class Handle>
std::span<Handle*> clearOutputs(Handle** outputs, int32_t count) {
  max::require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, "The count of outputs is ", count);
  if (count > 0) requireArgument(outputs, "outOutputs");
  for (int32_t i = 0; i < count; ++i) outputs[i] = nullptr;
  return {outputs, static_cast<size_t>(count)};
}

template <class Handle>
std::span<Handle* const> inputList(Handle* const* inputs, int32_t count) {
  max::require(count >= 0, MAX_STATUS_INVALID_ARGUMENT, "The count of inputs is ", count);
  if (count > 0) requireArgument(inputs, "inputs");
  return {inputs, static_cast<size_t>(count)};
}

max::CallOptions callOptions(const MaxModelExecuteOptions* options) {
  const MaxModelExecuteOptions chosen = max::capi::readOptions(options, "MaxModelExecuteOptions");
  return {chosen.stream, chosen.outputs, chosen.cancellation, chosen.deadline};
}

// Replays write the captured outputs.
max::CallOptions replayOptions(const MaxModelExecuteOptions* options) {
  const max::CallOptions chosen = callOptions(options);
  max::require(!chosen.given, MAX_STATUS_INVALID_ARGUMENT, "options.outputs must be NULL: the outputs are captured");
  return chosen;
}

int32_t findTensor(const std::vector<max::ModelTensor>& tensors, const char* name, const char* what) {
  std::string known;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return static_cast<int32_t>(i);
    known += max::concat(i ? ", '" : "'", tensors[i].name, "'");
  }
  max::fail(MAX_STATUS_NOT_FOUND, "The model has no ", what, " '", name, "'; there are: ", known);
}

}  // namespace

MaxStatus maxModelLoad(const MaxSession* session, const char* path, const MaxModelLoadOptions* options,
                       MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    requireArgument(path, "path");
    const max::capi::LoadRequest request = loadRequest(session, options);
    max::capi::LoadScope scope(*session, request.options);
    *outModel = scope.run(path, [&] { return max::capi::loadModel(request, path); }).detach();
  });
}

MaxStatus maxModelLoadFromMemory(const MaxSession* session, const void* data, size_t size,
                                 const MaxModelLoadOptions* options, MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    if (size > 0) requireArgument(data, "data");
    const max::capi::LoadRequest request = loadRequest(session, options);
    max::capi::LoadScope scope(*session, request.options);
    *outModel = scope.run("model in memory", [&] { return max::capi::loadModel(request, data, size); }).detach();
  });
}

MaxStatus maxModelCompile(const MaxSession* session, const MaxGraph* graph, const MaxModelLoadOptions* options,
                          MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    requireArgument(graph, "graph");
    max::require(!graph->isSubgraph(), MAX_STATUS_INVALID_ARGUMENT, "Graph '", graph->graph().name(),
                 "' is a subgraph; models are made of main graphs");
    const max::capi::LoadRequest request = loadRequest(session, options);
    max::capi::LoadScope scope(*session, request.options);
    const std::string& name = graph->graph().name();
    *outModel = scope.run(name.c_str(), [&] { return max::capi::compileModel(request, graph->graph()); }).detach();
  });
}

void maxModelRetain(const MaxModel* model) {
  if (model) model->retain();
}

void maxModelRelease(const MaxModel* model) {
  if (model) model->release();
}

MaxStatus maxModelGetSession(const MaxModel* model, MaxSession** outSession) {
  return guard([&] {
    clearOutput(outSession, "outSession");
    requireArgument(model, "model");
    *outSession = &model->session();
  });
}

MaxStatus maxModelGetPrecision(const MaxModel* model, MaxPrecision* outPrecision) {
  return guard([&] {
    requireArgument(model, "model");
    requireArgument(outPrecision, "outPrecision");
    *outPrecision = model->precision();
  });
}

MaxStatus maxModelGetInputCount(const MaxModel* model, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(model, "model");
    *outCount = static_cast<int32_t>(model->inputs().size());
  });
}

MaxStatus maxModelGetInputName(const MaxModel* model, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = inputAt(model, index).name.c_str();
  });
}

MaxStatus maxModelGetInputKind(const MaxModel* model, int32_t index, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(outKind, "outKind");
    *outKind = kindOf(inputAt(model, index));
  });
}

MaxStatus maxModelGetInputTypeName(const MaxModel* model, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = inputAt(model, index).typeName.c_str();
  });
}

MaxStatus maxModelGetInputDType(const MaxModel* model, int32_t index, MaxDType* outDType) {
  return guard([&] {
    requireArgument(outDType, "outDType");
    *outDType = elementTypeOf(inputAt(model, index));
  });
}

MaxStatus maxModelGetInputRank(const MaxModel* model, int32_t index, int32_t* outRank) {
  return guard([&] {
    requireArgument(outRank, "outRank");
    *outRank = inputAt(model, index).rank();
  });
}

MaxStatus maxModelGetInputShape(const MaxModel* model, int32_t index, const int64_t** outShape) {
  return guard([&] {
    clearOutput(outShape, "outShape");
    *outShape = inputAt(model, index).dims.data();
  });
}

MaxStatus maxModelGetInputDimensionName(const MaxModel* model, int32_t index, int32_t dimension, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = dimensionName(inputAt(model, index), dimension);
  });
}

MaxStatus maxModelGetInputDevice(const MaxModel* model, int32_t index, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    inputAt(model, index);
    *outDevice = &model->device();
  });
}

MaxStatus maxModelFindInput(const MaxModel* model, const char* name, int32_t* outIndex) {
  return guard([&] {
    requireArgument(outIndex, "outIndex");
    requireArgument(model, "model");
    requireArgument(name, "name");
    *outIndex = findTensor(model->inputs(), name, "input");
  });
}

MaxStatus maxModelGetOutputCount(const MaxModel* model, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(model, "model");
    *outCount = static_cast<int32_t>(model->outputs().size());
  });
}

MaxStatus maxModelGetOutputName(const MaxModel* model, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = outputAt(model, index).name.c_str();
  });
}

MaxStatus maxModelGetOutputKind(const MaxModel* model, int32_t index, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(outKind, "outKind");
    *outKind = kindOf(outputAt(model, index));
  });
}

MaxStatus maxModelGetOutputTypeName(const MaxModel* model, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = outputAt(model, index).typeName.c_str();
  });
}

MaxStatus maxModelGetOutputDType(const MaxModel* model, int32_t index, MaxDType* outDType) {
  return guard([&] {
    requireArgument(outDType, "outDType");
    *outDType = elementTypeOf(outputAt(model, index));
  });
}

MaxStatus maxModelGetOutputRank(const MaxModel* model, int32_t index, int32_t* outRank) {
  return guard([&] {
    requireArgument(outRank, "outRank");
    *outRank = outputAt(model, index).rank();
  });
}

MaxStatus maxModelGetOutputShape(const MaxModel* model, int32_t index, const int64_t** outShape) {
  return guard([&] {
    clearOutput(outShape, "outShape");
    *outShape = outputAt(model, index).dims.data();
  });
}

MaxStatus maxModelGetOutputDimensionName(const MaxModel* model, int32_t index, int32_t dimension,
                                         const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = dimensionName(outputAt(model, index), dimension);
  });
}

MaxStatus maxModelGetOutputDevice(const MaxModel* model, int32_t index, MaxDevice** outDevice) {
  return guard([&] {
    clearOutput(outDevice, "outDevice");
    outputAt(model, index);
    *outDevice = &model->device();
  });
}

MaxStatus maxModelFindOutput(const MaxModel* model, const char* name, int32_t* outIndex) {
  return guard([&] {
    requireArgument(outIndex, "outIndex");
    requireArgument(model, "model");
    requireArgument(name, "name");
    *outIndex = findTensor(model->outputs(), name, "output");
  });
}

MaxStatus maxModelExecute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount,
                          const MaxModelExecuteOptions* options, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->execute(inputList(inputs, inputCount), callOptions(options), results);
  });
}

MaxStatus maxModelExecuteValues(const MaxModel* model, MaxValue* const* inputs, int32_t inputCount,
                                const MaxModelExecuteOptions* options, MaxValue** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->executeValues(inputList(inputs, inputCount), callOptions(options), results);
  });
}

MaxStatus maxModelCapture(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                          const MaxModelExecuteOptions* options, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->capture(graphKey, inputList(inputs, inputCount), callOptions(options), results);
  });
}

MaxStatus maxModelReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                         const MaxModelExecuteOptions* options) {
  return guard([&] {
    requireArgument(model, "model");
    model->replay(graphKey, inputList(inputs, inputCount), replayOptions(options));
  });
}

MaxStatus maxModelVerifyReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                               const MaxModelExecuteOptions* options) {
  return guard([&] {
    requireArgument(model, "model");
    model->verifyReplay(graphKey, inputList(inputs, inputCount), replayOptions(options));
  });
}

MaxStatus maxModelReleaseCaptured(const MaxModel* model, uint64_t graphKey) {
  return guard([&] {
    requireArgument(model, "model");
    model->releaseCaptured(graphKey);
  });
}

MaxStatus maxModelGetMemory(const MaxModel* model, MaxModelMemory* outMemory) {
  return guard([&] {
    requireArgument(model, "model");
    requireArgument(outMemory, "outMemory");
    max::capi::writeReport(outMemory, model->memory(), "MaxModelMemory");
  });
}
