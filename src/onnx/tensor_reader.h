// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor, from the model file or from external data beside it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/mapped_file.h"
#include "onnx/import.h"
#include "onnx/proto.h"

namespace max::onnx {

class TensorReader {
 public:
  // `file` holds the bytes that protos point into.
  TensorReader(Ref<Storage> file, const ImportOptions& options) : file_(std::move(file)), options_(options) {}

  Ref<Tensor> read(const TensorProto& proto);
  // What the options give in its place, or a large tensor where it lies in its file, aligned or not: the compiler knows
  // (Tensor::aligned). The rest as read().
  Ref<Tensor> readWeight(const TensorProto& proto);

  const std::map<std::string, Ref<MappedFile>, std::less<>>& externalFiles() const { return externalFiles_; }
  const ImportOptions& options() const { return options_; }

 private:
  struct Bytes {
    const char* data;
    Ref<Storage> owner;
  };
  Bytes external(const TensorProto& proto, size_t size);
  Bytes ownData(const TensorProto& proto, size_t offset, size_t length) const;
  Ref<Tensor> given(const TensorProto& proto, const WeightTable::Entry& entry) const;
  Ref<Tensor> viewOrCopy(DType dtype, const Shape& shape, const Bytes& bytes, bool isWeight) const;
  Ref<Tensor> read(const TensorProto& proto, bool isWeight);
  Ref<Tensor> readAsStored(const TensorProto& proto, bool isWeight);

  Ref<Storage> file_;
  const ImportOptions& options_;
  std::map<std::string, Ref<MappedFile>, std::less<>> externalFiles_;
};

}  // namespace max::onnx
