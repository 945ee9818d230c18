// SPDX-License-Identifier: Apache-2.0
// What a model file shows without being loaded: inputs, outputs, a drawing.
#include "capi/guard.h"
#include "capi/ports.h"
#include "executor/model.h"

using max::capi::clearOutput;
using max::capi::dimensionName;
using max::capi::elementAt;
using max::capi::getValue;
using max::capi::guard;
using max::capi::kindOf;
using max::capi::requireArgument;

namespace {

const max::ModelTensor& inputAt(const MaxModelInfo* info, int32_t index) {
  requireArgument(info, "info");
  return elementAt(info->inputs, index, "Input");
}

const max::ModelTensor& outputAt(const MaxModelInfo* info, int32_t index) {
  requireArgument(info, "info");
  return elementAt(info->outputs, index, "Output");
}

}  // namespace

MaxStatus maxModelInfoGetInputCount(const MaxModelInfo* info, int32_t* outCount) {
  return getValue(info, "info", outCount, "outCount",
                  [](const MaxModelInfo& i) { return static_cast<int32_t>(i.inputs.size()); });
}

MaxStatus maxModelInfoGetInputName(const MaxModelInfo* info, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = inputAt(info, index).name.c_str();
  });
}

MaxStatus maxModelInfoGetInputKind(const MaxModelInfo* info, int32_t index, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(outKind, "outKind");
    *outKind = kindOf(inputAt(info, index));
  });
}

MaxStatus maxModelInfoGetInputDType(const MaxModelInfo* info, int32_t index, MaxDType* outDType) {
  return guard([&] {
    requireArgument(outDType, "outDType");
    *outDType = max::capi::elementTypeOf(inputAt(info, index));
  });
}

MaxStatus maxModelInfoGetInputRank(const MaxModelInfo* info, int32_t index, int32_t* outRank) {
  return guard([&] {
    requireArgument(outRank, "outRank");
    *outRank = inputAt(info, index).rank();
  });
}

MaxStatus maxModelInfoGetInputShape(const MaxModelInfo* info, int32_t index, const int64_t** outShape) {
  return guard([&] {
    clearOutput(outShape, "outShape");
    *outShape = inputAt(info, index).dims.data();
  });
}

MaxStatus maxModelInfoGetInputDimensionName(const MaxModelInfo* info, int32_t index, int32_t dimension,
                                            const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = dimensionName(inputAt(info, index), dimension);
  });
}

MaxStatus maxModelInfoGetOutputCount(const MaxModelInfo* info, int32_t* outCount) {
  return getValue(info, "info", outCount, "outCount",
                  [](const MaxModelInfo& i) { return static_cast<int32_t>(i.outputs.size()); });
}

MaxStatus maxModelInfoGetOutputName(const MaxModelInfo* info, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = outputAt(info, index).name.c_str();
  });
}

MaxStatus maxModelInfoGetOutputKind(const MaxModelInfo* info, int32_t index, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(outKind, "outKind");
    *outKind = kindOf(outputAt(info, index));
  });
}

MaxStatus maxModelInfoGetOutputDType(const MaxModelInfo* info, int32_t index, MaxDType* outDType) {
  return guard([&] {
    requireArgument(outDType, "outDType");
    *outDType = max::capi::elementTypeOf(outputAt(info, index));
  });
}

MaxStatus maxModelInfoGetOutputRank(const MaxModelInfo* info, int32_t index, int32_t* outRank) {
  return guard([&] {
    requireArgument(outRank, "outRank");
    *outRank = outputAt(info, index).rank();
  });
}

MaxStatus maxModelInfoGetOutputShape(const MaxModelInfo* info, int32_t index, const int64_t** outShape) {
  return guard([&] {
    clearOutput(outShape, "outShape");
    *outShape = outputAt(info, index).dims.data();
  });
}

MaxStatus maxModelInfoGetOutputDimensionName(const MaxModelInfo* info, int32_t index, int32_t dimension,
                                             const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    *outName = dimensionName(outputAt(info, index), dimension);
  });
}

MaxStatus maxModelInfoGetGraph(const MaxModelInfo* info, const char** outDot) {
  return guard([&] {
    clearOutput(outDot, "outDot");
    requireArgument(info, "info");
    max::require(!info->drawing.empty(), MAX_STATUS_FAILED_PRECONDITION,
                 "The graph is drawn for objects of maxModelInfoLoad only");
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
