// SPDX-License-Identifier: Apache-2.0
// The report on an input, output or weight of a model, or a value of a graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "max/tensor_info.h"

namespace max {

MaxValueKind kindOf(DType dtype);

// How unknown dimensions are named.
enum class UnknownDims { Unnamed, Numbered };  // numbered: "?7", "2*?7", the same everywhere

// Created once; reports point into it, so it can be moved but not copied.
class TensorInfo {
 public:
  TensorInfo(std::string_view name, const TensorType& type, UnknownDims unknown = UnknownDims::Unnamed);
  TensorInfo(TensorInfo&&) noexcept = default;

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  bool isTensor() const { return !isObject(dtype_); }
  bool isRanked() const { return ranked_; }
  int rank() const { return ranked_ ? static_cast<int>(dims_.size()) : MAX_RANK_DYNAMIC; }
  const std::vector<int64_t>& dims() const { return dims_; }    // MAX_DIMENSION_DYNAMIC = any
  const char* dimName(size_t i) const { return dimNames_[i]; }  // NULL = none
  const std::string& typeName() const { return typeName_; }     // "float32[batch, 3]", "sequence of float32"
  TensorType valueType() const;                                 // without dimensions

  bool fits(DType dtype, std::span<const int64_t> dims) const;
  // "dtype is float64, expected float32", for a tensor that does not match.
  std::string mismatch(DType dtype, std::span<const int64_t> dims) const;

  // Borrowed from this object. `device` may be NULL.
  MaxTensorInfo report(MaxDevice* device) const;

 private:
  void addDims(const SymbolicShape& dims, UnknownDims unknown);

  std::string name_;
  DType dtype_;
  bool ranked_;
  InnerTypes inner_;  // of values that are not tensors
  std::string typeName_;
  std::vector<int64_t> dims_;
  std::vector<std::string> dimTexts_;
  std::vector<const char*> dimNames_;
};

}  // namespace max
