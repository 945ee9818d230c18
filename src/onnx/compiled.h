// SPDX-License-Identifier: Apache-2.0
// Compiled models: an optimised graph with its weights in one file, see docs/compiled_models.md.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "onnx/import.h"

namespace max {

bool isCompiledModel(const Storage& file);
bool isCompiledModel(const File& file);

// Offsets and sizes of the parts of the file.
struct CompiledModel {
  Ref<Storage> graph;  // a ModelProto, for importOnnx with ImportOptions::compiledData
  size_t dataOffset = 0;
};

// DATA_LOSS for a damaged file, UNIMPLEMENTED for one from a newer library; messages start with `name`.
CompiledModel openCompiledModel(const Ref<Storage>& file, const std::string& name);

// Writes a graph that is compiled as far as a file can store it (CompileOptions::stopForStoring). Weights of the main
// graph keep their names and can be replaced, everything else is constant. `kernels`: code for accelerators.
void saveCompiledModel(const Graph& graph, const std::vector<TensorType>& declaredOutputs, const ModelInfo& info,
                       const KernelCodes& kernels, const std::string& path);

}  // namespace max
