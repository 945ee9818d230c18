// SPDX-License-Identifier: Apache-2.0
// Weights of loaded models: replacing, saving.
#include "capi/guard.h"
#include "loader/load_scope.h"
#include "loader/model_loader.h"
#include "max/model.h"

using max::capi::guard;
using max::capi::requireArgument;

MaxStatus maxModelReplaceWeights(MaxModel* model, const char* const* names, MaxBuffer* const* weights, int32_t count) {
  return guard([&] {
    requireArgument(model, "model");
    max::capi::requireCount(count, "count");
    if (count == 0) return;
    requireArgument(names, "names");
    requireArgument(weights, "weights");
    for (int32_t i = 0; i < count; ++i) {
      max::require(names[i] != nullptr, MAX_STATUS_INVALID_ARGUMENT, "Name of weight ", i, " is NULL");
      if (!max::isHandle(weights[i]))
        max::invalidArgument("Weight ", i, " ('", names[i], "') ", max::wrongHandleText(weights[i]));
    }
    const auto size = static_cast<size_t>(count);
    const max::LoadScope scope(model->session(), MAX_MODEL_LOAD_OPTIONS_INIT);
    max::replaceWeights(*model, {names, size}, {weights, size});
  });
}

MaxStatus maxModelSave(const MaxModel* model, const char* path) {
  return guard([&] {
    requireArgument(model, "model");
    requireArgument(path, "path");
    const max::LoadScope scope(model->session(), MAX_MODEL_LOAD_OPTIONS_INIT);
    max::saveModel(*model, path);
  });
}
