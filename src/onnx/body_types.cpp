// SPDX-License-Identifier: Apache-2.0
#include "onnx/body_types.h"

#include <algorithm>

namespace max::onnx {

namespace {

constexpr int kMostRounds = 4;  // then only dtypes are kept

void eraseAxis(TensorType& type, int64_t axis) {
  if (!type.ranked) return;
  if (axis < 0) axis += type.rank();
  if (axis >= 0 && axis < type.rank()) type.dims.erase(type.dims.begin() + axis);
}

TensorType typeOf(const Value* value) { return value ? value->type : TensorType(); }

// One slice of a scanned input. In opset 8 a batch axis precedes the scanned axis.
TensorType sliceOf(TensorType type, const Attributes& attributes, size_t scan, bool isBatched) {
  const std::vector<int64_t> axes = attributes.getInts("scan_input_axes");
  eraseAxis(type, isBatched ? 1 : scan < axes.size() ? axes[scan] : 0);
  if (isBatched) eraseAxis(type, 0);
  return type;
}

}  // namespace

bool hasBody(std::string_view domain, std::string_view op) {
  return domain.empty() && (op == "Loop" || op == "Scan" || op == "SequenceMap");
}

BodyTypes::BodyTypes(std::string_view op, int64_t version, std::span<Value* const> inputs, const Attributes& attributes,
                     DimTable& dims)
    : dims_(dims) {
  if (op == "Loop") {
    initial_ = {TensorType::of(DType::Int64, {}), TensorType::of(DType::Bool, {})};
    firstCarried_ = 2;
    firstOutput_ = 1;
    for (size_t i = 2; i < inputs.size(); ++i) initial_.push_back(typeOf(inputs[i]));
    carried_ = initial_.size() - 2;
  } else if (op == "Scan") {
    // States keep their shape, which is checked at run time.
    const bool isBatched = version < 9;
    const auto scans = static_cast<size_t>(std::max<int64_t>(attributes.getInt("num_scan_inputs", 0), 0));
    const size_t first = isBatched ? 1 : 0, states = inputs.size() - std::min(inputs.size(), scans);
    for (size_t i = first; i < inputs.size(); ++i) {
      TensorType type = typeOf(inputs[i]);
      if (i >= states)
        type = sliceOf(std::move(type), attributes, i - states, isBatched);
      else if (isBatched)
        eraseAxis(type, 0);
      initial_.push_back(std::move(type));
    }
  } else {
    for (const Value* input : inputs) {
      const TensorType type = typeOf(input);
      initial_.push_back(type.dtype == DType::Sequence ? type.held() : type);
    }
  }
}

std::vector<TensorType> BodyTypes::types(const GraphProto& body, const Forgotten& forgotten) const {
  std::vector<TensorType> types = initial_;
  // A Loop gives the iteration number and the condition the rank that its body declares.
  for (size_t i = 0; i < std::min(firstCarried_, body.inputs.size()); ++i)
    if (parseValueInfo(body.inputs[i]).dims.size() == 1) types[i].dims = {1};
  for (size_t i = 0; i < std::min(carried_, forgotten.entries.size()); ++i) {
    const Forgotten::Entry& entry = forgotten.entries[i];
    TensorType& type = types[firstCarried_ + i];
    if (entry.isOptional && type.dtype != DType::Optional) type = TensorType::holding(DType::Optional, type);
    if (entry.isMixed) type.inner = {};
    if (entry.isUnranked && !isObject(type.dtype)) type = TensorType::unranked(type.dtype);
    for (size_t d = 0; d < std::min(entry.dims.size(), type.dims.size()); ++d)
      if (entry.dims[d]) type.dims[d] = dims_.unknown();
  }
  return types;
}

bool BodyTypes::forgetChanges(const Graph& body, std::span<const TensorType> given, Forgotten& forgotten) const {
  forgotten.entries.resize(carried_);
  bool hasChanged = false;
  const auto forget = [&](auto&& flag) {
    hasChanged = hasChanged || !flag;
    flag = true;
  };
  for (size_t i = 0; i < carried_ && firstOutput_ + i < body.outputs().size(); ++i) {
    const TensorType& before = given[firstCarried_ + i];
    const TensorType& after = body.outputs()[firstOutput_ + i]->type;
    Forgotten::Entry& entry = forgotten.entries[i];
    if (after.dtype == DType::Optional && before.dtype != DType::Optional) {
      forget(entry.isOptional);
    } else if (isObject(before.dtype) && isObject(after.dtype)) {
      if (before.inner != after.inner && !entry.isMixed) forget(entry.isMixed);
    }
    if (isObject(before.dtype) || isObject(after.dtype) || !before.ranked) continue;
    if (!after.ranked || after.rank() != before.rank()) {
      forget(entry.isUnranked);
      continue;
    }
    entry.dims.resize(before.dims.size());
    for (size_t d = 0; d < before.dims.size(); ++d)
      if (!entry.dims[d] && before.dims[d] != after.dims[d]) forget(entry.dims[d]);
  }
  if (hasChanged && ++forgotten.rounds >= kMostRounds) forgetShapes(forgotten);
  return hasChanged;
}

bool BodyTypes::forgetShapes(Forgotten& forgotten) const {
  forgotten.entries.resize(carried_);
  bool hasChanged = false;
  for (size_t i = 0; i < carried_; ++i) {
    Forgotten::Entry& entry = forgotten.entries[i];
    const TensorType& type = initial_[firstCarried_ + i];
    hasChanged = hasChanged || (!entry.isUnranked && type.ranked && !isObject(type.dtype));
    entry.isUnranked = true;
  }
  return hasChanged;
}

}  // namespace max::onnx
