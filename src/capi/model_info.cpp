// SPDX-License-Identifier: Apache-2.0
#include "capi/guard.h"
#include "capi/index.h"
#include "loader/model_loader.h"
#include "max/model.h"

using max::capi::clearOutput;
using max::capi::elementAt;
using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxModelInfoLoad(const char* path, MaxModelInfo** outInfo) {
  return guard([&] {
    clearOutput(outInfo, "outInfo");
    requireArgument(path, "path");
    *outInfo = max::inspectModel(path).detach();
  });
}

MaxStatus maxModelGetInfo(const MaxModel* model, MaxModelInfo** outInfo) {
  return guard([&] {
    clearOutput(outInfo, "outInfo");
    requireArgument(model, "model");
    *outInfo = &model->info();
  });
}

void maxModelInfoRetain(const MaxModelInfo* info) {
  if (info) info->retain();
}

void maxModelInfoRelease(const MaxModelInfo* info) {
  if (info) info->release();
}

MaxStatus maxModelInfoGetIrVersion(const MaxModelInfo* info, int64_t* outVersion) {
  return guard([&] {
    requireArgument(outVersion, "outVersion");
    requireArgument(info, "info");
    *outVersion = info->irVersion;
  });
}

MaxStatus maxModelInfoGetProducer(const MaxModelInfo* info, const char** outProducer) {
  return guard([&] {
    clearOutput(outProducer, "outProducer");
    requireArgument(info, "info");
    *outProducer = info->producer.c_str();
  });
}

MaxStatus maxModelInfoGetParameterCount(const MaxModelInfo* info, int64_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(info, "info");
    *outCount = info->parameters;
  });
}

MaxStatus maxModelInfoGetOpsetCount(const MaxModelInfo* info, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(info, "info");
    *outCount = static_cast<int32_t>(info->opsets.size());
  });
}

MaxStatus maxModelInfoGetOpsetDomain(const MaxModelInfo* info, int32_t index, const char** outDomain) {
  return guard([&] {
    clearOutput(outDomain, "outDomain");
    requireArgument(info, "info");
    *outDomain = elementAt(info->opsets, index, "Operator set").first.c_str();
  });
}

MaxStatus maxModelInfoGetOpsetVersion(const MaxModelInfo* info, int32_t index, int64_t* outVersion) {
  return guard([&] {
    requireArgument(outVersion, "outVersion");
    requireArgument(info, "info");
    *outVersion = elementAt(info->opsets, index, "Operator set").second;
  });
}

MaxStatus maxModelInfoGetOperatorCount(const MaxModelInfo* info, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(info, "info");
    *outCount = static_cast<int32_t>(info->operators.size());
  });
}

MaxStatus maxModelInfoGetOperatorName(const MaxModelInfo* info, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(info, "info");
    *outName = elementAt(info->operators, index, "Operator").first.c_str();
  });
}

MaxStatus maxModelInfoGetOperatorNodeCount(const MaxModelInfo* info, int32_t index, int64_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(info, "info");
    *outCount = elementAt(info->operators, index, "Operator").second;
  });
}

MaxStatus maxModelInfoGetUnsupportedCount(const MaxModelInfo* info, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    requireArgument(info, "info");
    *outCount = static_cast<int32_t>(info->unsupported.size());
  });
}

MaxStatus maxModelInfoGetUnsupportedNode(const MaxModelInfo* info, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(info, "info");
    *outName = elementAt(info->unsupported, index, "Unsupported node").node.c_str();
  });
}

MaxStatus maxModelInfoGetUnsupportedOperator(const MaxModelInfo* info, int32_t index, const char** outName) {
  return guard([&] {
    clearOutput(outName, "outName");
    requireArgument(info, "info");
    *outName = elementAt(info->unsupported, index, "Unsupported node").op.c_str();
  });
}

MaxStatus maxModelInfoGetUnsupportedVersion(const MaxModelInfo* info, int32_t index, int64_t* outVersion) {
  return guard([&] {
    requireArgument(outVersion, "outVersion");
    requireArgument(info, "info");
    *outVersion = elementAt(info->unsupported, index, "Unsupported node").version;
  });
}
