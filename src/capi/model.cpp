// SPDX-License-Identifier: Apache-2.0
#include "max/model.h"

#include "capi/extension.h"
#include "capi/graph.h"
#include "capi/guard.h"
#include "capi/options.h"
#include "capi/tensor_info.h"
#include "loader/load_scope.h"
#include "loader/model_loader.h"

using max::capi::clearOutput;
using max::capi::elementAt;
using max::capi::guard;
using max::capi::requireArgument;
using max::capi::writeInfo;

namespace {

MaxModelLoadOptions checkedOptions(const MaxModelLoadOptions* options) {
  const MaxModelLoadOptions chosen = max::capi::readOptions(options, "MaxModelLoadOptions");
  max::capi::requireReserved(chosen.reserved, "MaxModelLoadOptions");
  max::capi::requireWithin(chosen.precision, MAX_PRECISION_HIGHEST, MAX_PRECISION_MEDIUM, "precision");
  max::capi::requireCount(chosen.timeoutNs, "timeoutNs");
  max::capi::requireCount(chosen.weightCount, "weightCount");
  max::capi::requireKindIfGiven(chosen.cancellation, "options.cancellation");
  if (chosen.weightCount == 0) return chosen;
  requireArgument(chosen.weightNames, "options.weightNames");
  requireArgument(chosen.weights, "options.weights");
  for (int32_t i = 0; i < chosen.weightCount; ++i) {
    max::require(chosen.weightNames[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Name of weight ", i, " is NULL");
    if (!max::isHandle(chosen.weights[i]))
      max::invalidArgument("Weight ", i, " ('", chosen.weightNames[i], "') ", max::wrongHandleText(chosen.weights[i]));
  }
  return chosen;
}

void loadExtensions(const MaxModelLoadOptions& options) {
  max::capi::requireCount(options.extensionCount, "extensionCount");
  if (options.extensionCount > 0) requireArgument(options.extensions, "options.extensions");
  for (int32_t i = 0; i < options.extensionCount; ++i) {
    max::require(options.extensions[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Extension ", i, " is NULL");
    max::capi::loadExtension(options.extensions[i]);
  }
}

max::LoadRequest loadRequest(const MaxSession* session, const MaxModelLoadOptions* options) {
  requireArgument(session, "session");
  const max::LoadRequest request{*const_cast<MaxSession*>(session), checkedOptions(options)};
  loadExtensions(request.options);
  return request;
}

}  // namespace

MaxStatus maxModelLoad(const MaxSession* session, const char* path, const MaxModelLoadOptions* options,
                       MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    requireArgument(path, "path");
    const max::LoadRequest request = loadRequest(session, options);
    max::LoadScope scope(*session, request.options);
    *outModel = scope.run(path, [&] { return max::loadModel(request, path); }).detach();
  });
}

MaxStatus maxModelLoadFromMemory(const MaxSession* session, const void* data, size_t byteCount,
                                 const MaxModelLoadOptions* options, MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    if (byteCount > 0) requireArgument(data, "data");
    const max::LoadRequest request = loadRequest(session, options);
    max::LoadScope scope(*session, request.options);
    *outModel = scope.run("model in memory", [&] { return max::loadModel(request, data, byteCount); }).detach();
  });
}

MaxStatus maxModelCompile(const MaxSession* session, const MaxGraph* graph, const MaxModelLoadOptions* options,
                          MaxModel** outModel) {
  return guard([&] {
    clearOutput(outModel, "outModel");
    requireArgument(graph, "graph");
    max::require(!graph->isSubgraph(), MAX_STATUS_INVALID_ARGUMENT, "Graph '", graph->graph().name(),
                 "' is a subgraph; models are compiled from main graphs");
    const max::LoadRequest request = loadRequest(session, options);
    max::LoadScope scope(*session, request.options);
    const std::string& name = graph->graph().name();
    *outModel = scope.run(name.c_str(), [&] { return max::compileModel(request, graph->graph()); }).detach();
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

MaxStatus maxModelGetInput(const MaxModel* model, int32_t index, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(model, "model");
    elementAt(model->inputs(), index, "Input");
    MaxDevice& device = model->inputDevice(static_cast<size_t>(index));
    writeInfo(model->inputs(), index, "Input", &device, outInfo);
  });
}

MaxStatus maxModelFindInput(const MaxModel* model, const char* name, int32_t* outIndex) {
  return guard([&] {
    requireArgument(outIndex, "outIndex");
    requireArgument(model, "model");
    requireArgument(name, "name");
    *outIndex = static_cast<int32_t>(max::findByName(model->inputs(), name, "input"));
  });
}

MaxStatus maxModelGetOutputCount(const MaxModel* model, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(model, "model");
    *outCount = static_cast<int32_t>(model->outputs().size());
  });
}

MaxStatus maxModelGetOutput(const MaxModel* model, int32_t index, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(model, "model");
    elementAt(model->outputs(), index, "Output");
    MaxDevice& device = model->outputDevice(static_cast<size_t>(index));
    writeInfo(model->outputs(), index, "Output", &device, outInfo);
  });
}

MaxStatus maxModelFindOutput(const MaxModel* model, const char* name, int32_t* outIndex) {
  return guard([&] {
    requireArgument(outIndex, "outIndex");
    requireArgument(model, "model");
    requireArgument(name, "name");
    *outIndex = static_cast<int32_t>(max::findByName(model->outputs(), name, "output"));
  });
}

MaxStatus maxModelGetDeviceMemory(const MaxModel* model, const MaxDevice* device, MaxModelDeviceMemory* outMemory) {
  return guard([&] {
    requireArgument(model, "model");
    requireArgument(outMemory, "outMemory");
    const MaxDevice& where = device ? *device : model->device();
    max::capi::writeReport(outMemory, model->deviceMemory(where), "MaxModelDeviceMemory");
  });
}

MaxStatus maxModelGetMemory(const MaxModel* model, MaxModelMemory* outMemory) {
  return guard([&] {
    requireArgument(model, "model");
    requireArgument(outMemory, "outMemory");
    max::capi::writeReport(outMemory, model->memory(), "MaxModelMemory");
  });
}
