// SPDX-License-Identifier: Apache-2.0
// SparseTensorProto -> dense Tensor.
#pragma once

#include "onnx/tensor_reader.h"

namespace max::onnx {

// The name of a sparse initialiser is that of its values.
Ref<Tensor> readSparse(TensorReader& reader, const SparseTensorProto& proto);

}  // namespace max::onnx
