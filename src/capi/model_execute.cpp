// SPDX-License-Identifier: Apache-2.0
// Calls of models: on buffers, on the host's arrays, on values; captured ones.
#include "capi/guard.h"
#include "capi/options.h"
#include "executor/model.h"

using max::capi::guard;
using max::capi::requireArgument;

namespace {

template <class Handle>
std::span<Handle*> clearOutputs(Handle** outputs, int32_t count) {
  max::capi::requireCount(count, "outputCount");
  if (count > 0) requireArgument(outputs, "outOutputs");
  for (int32_t i = 0; i < count; ++i) outputs[i] = nullptr;
  return {outputs, static_cast<size_t>(count)};
}

template <class T>
std::span<const T> list(const T* entries, int32_t count, const char* name) {
  max::capi::requireCount(count, "inputCount");
  if (count > 0) requireArgument(entries, name);
  return {entries, static_cast<size_t>(count)};
}

max::CallOptions callOptions(const MaxModelExecuteOptions* options) {
  const MaxModelExecuteOptions chosen = max::capi::readOptions(options, "MaxModelExecuteOptions");
  max::capi::requireKindIfGiven(chosen.stream, "options.stream");
  max::capi::requireKindIfGiven(chosen.cancellation, "options.cancellation");
  return {chosen.stream, chosen.outputs, chosen.cancellation, chosen.timeoutNs};
}

// Replays write the captured outputs.
max::CallOptions replayOptions(const MaxModelExecuteOptions* options) {
  const max::CallOptions chosen = callOptions(options);
  max::require(!chosen.given, MAX_STATUS_INVALID_ARGUMENT, "options.outputs must be NULL: the outputs are captured");
  return chosen;
}

}  // namespace

MaxStatus maxModelExecute(const MaxModel* model, MaxBuffer* const* inputs, int32_t inputCount,
                          const MaxModelExecuteOptions* options, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->execute(list(inputs, inputCount, "inputs"), callOptions(options), results);
  });
}

MaxStatus maxModelExecuteHost(const MaxModel* model, const void* const* data, const MaxDType* dtypes,
                              const int32_t* ranks, const int64_t* const* shapes, int32_t inputCount,
                              const MaxModelExecuteOptions* options, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    const size_t count = list(data, inputCount, "data").size();
    list(dtypes, inputCount, "dtypes");
    list(ranks, inputCount, "ranks");
    list(shapes, inputCount, "shapes");
    model->executeHost({data, dtypes, ranks, shapes, count}, callOptions(options), results);
  });
}

MaxStatus maxModelExecuteByName(const MaxModel* model, const char* const* inputNames, MaxBuffer* const* inputs,
                                int32_t inputCount, const MaxModelExecuteOptions* options,
                                const char* const* outputNames, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    const max::NamedInputs named{list(inputNames, inputCount, "inputNames"), list(inputs, inputCount, "inputs")};
    model->executeByName(named, callOptions(options), list(outputNames, outputCount, "outputNames"), results);
  });
}

MaxStatus maxModelExecuteValues(const MaxModel* model, MaxValue* const* inputs, int32_t inputCount,
                                const MaxModelExecuteOptions* options, MaxValue** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->executeValues(list(inputs, inputCount, "inputs"), callOptions(options), results);
  });
}

MaxStatus maxModelCapture(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                          const MaxModelExecuteOptions* options, MaxBuffer** outOutputs, int32_t outputCount) {
  return guard([&] {
    const auto results = clearOutputs(outOutputs, outputCount);
    requireArgument(model, "model");
    model->capture(graphKey, list(inputs, inputCount, "inputs"), callOptions(options), results);
  });
}

MaxStatus maxModelReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                         const MaxModelExecuteOptions* options) {
  return guard([&] {
    requireArgument(model, "model");
    model->replay(graphKey, list(inputs, inputCount, "inputs"), replayOptions(options));
  });
}

MaxStatus maxModelVerifyReplay(const MaxModel* model, uint64_t graphKey, MaxBuffer* const* inputs, int32_t inputCount,
                               const MaxModelExecuteOptions* options) {
  return guard([&] {
    requireArgument(model, "model");
    model->verifyReplay(graphKey, list(inputs, inputCount, "inputs"), replayOptions(options));
  });
}

MaxStatus maxModelForgetCaptured(const MaxModel* model, uint64_t graphKey) {
  return guard([&] {
    requireArgument(model, "model");
    model->forgetCaptured(graphKey);
  });
}
