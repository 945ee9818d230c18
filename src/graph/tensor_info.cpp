// SPDX-License-Identifier: Apache-2.0
#include "graph/tensor_info.h"

#include "base/error.h"

namespace max {

MaxValueKind kindOf(DType dtype) {
  if (!isObject(dtype)) return MAX_VALUE_KIND_TENSOR;
  return static_cast<MaxValueKind>(dtype) - static_cast<MaxValueKind>(DType::Sequence) + MAX_VALUE_KIND_SEQUENCE;
}

TensorInfo::TensorInfo(std::string_view name, const TensorType& type, UnknownDims unknown)
    : name_(name),
      dtype_(type.dtype),
      ranked_(type.ranked && !isObject(type.dtype)),
      inner_(type.inner),
      typeName_(concat(type)) {
  if (ranked_) addDims(type.dims, unknown);
}

// Without numbers, different expressions with unknowns would look the same.
void TensorInfo::addDims(const SymbolicShape& dims, UnknownDims unknown) {
  const bool numbered = unknown == UnknownDims::Numbered;
  dimTexts_.reserve(dims.size());
  for (const Dim& dim : dims) {
    std::string& text = dimTexts_.emplace_back();
    if (!dim.isKnown()) numbered ? appendNumbered(text, dim) : appendTo(text, dim);
    dims_.push_back(dim.isKnown() ? dim.value() : MAX_DIMENSION_DYNAMIC);
    dimNames_.push_back(text.empty() || (!numbered && text.find('?') != text.npos) ? nullptr : text.c_str());
  }
}

TensorType TensorInfo::valueType() const {
  TensorType type = TensorType::unranked(dtype_);
  type.inner = inner_;
  return type;
}

bool TensorInfo::fits(DType dtype, std::span<const int64_t> dims) const {
  if (dtype != dtype_) return false;
  if (!ranked_) return true;
  if (dims.size() != dims_.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims_[i] != MAX_DIMENSION_DYNAMIC && dims_[i] != dims[i]) return false;
  return true;
}

std::string TensorInfo::mismatch(DType dtype, std::span<const int64_t> dims) const {
  if (dtype != dtype_) return concat("dtype is ", dtype, ", expected ", dtype_);
  if (dims.size() != dims_.size()) return concat("rank is ", dims.size(), ", expected ", dims_.size());
  size_t i = 0;
  while (i + 1 < dims.size() && (dims_[i] == MAX_DIMENSION_DYNAMIC || dims_[i] == dims[i])) ++i;
  return concat("dimension ", i, " is ", dims[i], ", expected ", dims_[i]);
}

MaxTensorInfo TensorInfo::report(MaxDevice* device) const {
  MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
  info.validMask = MAX_TENSOR_INFO_NAME | MAX_TENSOR_INFO_TYPE_NAME;
  info.name = name_.c_str();
  info.typeName = typeName_.c_str();
  TensorType element = valueType();
  while (isObject(element.dtype)) element = element.held();
  info.dtype = static_cast<MaxDType>(element.dtype);
  info.kind = kindOf(dtype_);
  if (dtype_ != DType::Invalid) info.validMask |= MAX_TENSOR_INFO_KIND;
  if (element.dtype != DType::Invalid) info.validMask |= MAX_TENSOR_INFO_DTYPE;
  info.rank = rank();
  if (ranked_) info.validMask |= MAX_TENSOR_INFO_RANK | MAX_TENSOR_INFO_SHAPE | MAX_TENSOR_INFO_DIMENSION_NAMES;
  info.shape = dims_.empty() ? nullptr : dims_.data();
  info.dimensionNames = dimNames_.empty() ? nullptr : dimNames_.data();
  info.device = device;
  if (device) info.validMask |= MAX_TENSOR_INFO_DEVICE;
  return info;
}

}  // namespace max
