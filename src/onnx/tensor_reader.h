// SPDX-License-Identifier: Apache-2.0
// TensorProto -> Tensor, from the model file or from external data next to it.
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
  // `file` owns the bytes that protos point into.
  TensorReader(Ref<Storage> file, const ImportOptions& options) : file_(std::move(file)), options_(options) {}

  Ref<Tensor> read(const TensorProto& proto);
  // The replacement from the options, or a large tensor in place in its file, aligned or not: the compiler handles it
  // (Tensor::aligned). Otherwise like read().
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
