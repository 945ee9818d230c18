// SPDX-License-Identifier: Apache-2.0
// Graph -> ModelProto, for compiled models. Larger tensors are listed, to be written elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/import.h"

namespace max::onnx {

inline constexpr uint64_t kTensorAlignment = 64;

struct StoredTensor {
  Ref<const Tensor> tensor;
  uint64_t offset;
};

// In order of offset, each a multiple of kTensorAlignment.
struct StoredTensors {
  uint64_t add(const Tensor& tensor);  // -> offset; each tensor only once

  std::vector<StoredTensor> list;
  std::unordered_map<const Tensor*, uint64_t> offsets;
  uint64_t size = 0;
};

std::string writeModel(const Graph& graph, const std::vector<TensorType>& declaredOutputs, const ModelInfo& info,
                       const KernelCodes& kernels, StoredTensors& tensors);

}  // namespace max::onnx
