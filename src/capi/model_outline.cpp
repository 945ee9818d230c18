// SPDX-License-Identifier: Apache-2.0
// What a model file shows without being loaded: inputs, outputs, weights, a drawing.
#include "capi/guard.h"
#include "capi/tensor_info.h"
#include "executor/model.h"

using max::capi::clearOutput;
using max::capi::getValue;
using max::capi::guard;
using max::capi::requireArgument;
using max::capi::writeInfo;

MaxStatus maxModelInfoGetInputCount(const MaxModelInfo* info, int32_t* outCount) {
  return getValue(info, "info", outCount, "outCount",
                  [](const MaxModelInfo& i) { return static_cast<int32_t>(i.inputs.size()); });
}

MaxStatus maxModelInfoGetInput(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(info, "info");
    writeInfo(info->inputs, index, "Input", nullptr, outInfo);
  });
}

MaxStatus maxModelInfoGetOutputCount(const MaxModelInfo* info, int32_t* outCount) {
  return getValue(info, "info", outCount, "outCount",
                  [](const MaxModelInfo& i) { return static_cast<int32_t>(i.outputs.size()); });
}

MaxStatus maxModelInfoGetOutput(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(info, "info");
    writeInfo(info->outputs, index, "Output", nullptr, outInfo);
  });
}

MaxStatus maxModelInfoGetWeightCount(const MaxModelInfo* info, int32_t* outCount) {
  return getValue(info, "info", outCount, "outCount",
                  [](const MaxModelInfo& i) { return static_cast<int32_t>(i.weights.size()); });
}

MaxStatus maxModelInfoGetWeight(const MaxModelInfo* info, int32_t index, MaxTensorInfo* outInfo) {
  return guard([&] {
    requireArgument(info, "info");
    writeInfo(info->weights, index, "Weight", nullptr, outInfo);
  });
}

MaxStatus maxModelInfoGetGraph(const MaxModelInfo* info, const char** outDot) {
  return guard([&] {
    clearOutput(outDot, "outDot");
    requireArgument(info, "info");
    max::require(!info->drawing.empty(), MAX_STATUS_FAILED_PRECONDITION,
                 "Only objects from maxModelInfoLoad have a graph drawing");
    *outDot = info->drawing.c_str();
  });
}

MaxStatus maxModelGetGraph(const MaxModel* model, const char** outDot) {
  return guard([&] {
    clearOutput(outDot, "outDot");
    requireArgument(model, "model");
    *outDot = model->drawing().c_str();
  });
}
