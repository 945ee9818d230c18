// SPDX-License-Identifier: Apache-2.0
#include "max/weights.h"

#include "capi/guard.h"
#include "capi/index.h"
#include "device/weights.h"

using max::capi::clearOutput;
using max::capi::elementAt;
using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxWeightsLoad(const char* path, MaxWeights** outWeights) {
  return guard([&] {
    clearOutput(outWeights, "outWeights");
    requireArgument(path, "path");
    *outWeights = MaxWeights::load(path).detach();
  });
}

void maxWeightsRetain(const MaxWeights* weights) {
  if (weights) weights->retain();
}

void maxWeightsRelease(const MaxWeights* weights) {
  if (weights) weights->release();
}

MaxStatus maxWeightsGetCount(const MaxWeights* weights, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(weights, "weights");
    *outCount = static_cast<int32_t>(weights->entries().size());
  });
}

MaxStatus maxWeightsGetName(const MaxWeights* weights, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(weights, "weights");
    *outName = elementAt(weights->entries(), index, "Tensor").name.c_str();
  });
}

MaxStatus maxWeightsGetBuffer(const MaxWeights* weights, int32_t index, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    requireArgument(weights, "weights");
    *outBuffer = elementAt(weights->entries(), index, "Tensor").buffer.get();
  });
}

MaxStatus maxWeightsFind(const MaxWeights* weights, const char* name, int32_t* outIndex) {
  return guard([&] {
    requireArgument(outIndex, "outIndex");
    requireArgument(weights, "weights");
    requireArgument(name, "name");
    *outIndex = static_cast<int32_t>(&weights->at(name) - weights->entries().data());
  });
}
