// SPDX-License-Identifier: Apache-2.0
// From a file or graph to a model: find, read, import, replace weights, compile.
#pragma once

#include <span>
#include <string>

#include "executor/model.h"
#include "graph/graph.h"

namespace max {

// Arguments of the loading functions, checked.
struct LoadRequest {
  MaxSession& session;
  MaxModelLoadOptions options;
};

Ref<MaxModel> loadModel(const LoadRequest& request, const std::string& path);
Ref<MaxModel> loadModel(const LoadRequest& request, const void* data, size_t size);
// The graph itself is left alone.
Ref<MaxModel> compileModel(const LoadRequest& request, const Graph& graph);
Ref<MaxModelInfo> inspectModel(const std::string& path);

// Later calls use these weights. All or nothing.
void replaceWeights(MaxModel& model, std::span<const char* const> names, std::span<MaxBuffer* const> buffers);
// Writes a compiled model with the model's current weights. The file appears whole or not at all.
void saveModel(const MaxModel& model, const std::string& path);

}  // namespace max
