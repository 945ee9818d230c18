// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor, from the model file or from external data beside it.
#pragma once

#include <map>
#include <string>

#include "base/tensor.h"
#include "onnx/proto.h"

namespace max::onnx {

class TensorReader {
 public:
  // `file` holds the bytes that protos point into; `folder` is where external data may be (empty = nowhere).
  TensorReader(Ref<Storage> file, std::string folder);

  Ref<Tensor> read(const TensorProto& proto);

 private:
  Ref<Tensor> readExternal(const TensorProto& proto, DType dtype, const Shape& shape);
  Ref<Tensor> viewOrCopy(DType dtype, const Shape& shape, const char* data, const Ref<Storage>& owner);

  Ref<Storage> file_;
  std::string folder_;
  std::map<std::string, Ref<Storage>, std::less<>> externalFiles_;
};

}  // namespace max::onnx
