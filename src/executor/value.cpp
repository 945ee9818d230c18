// SPDX-License-Identifier: Apache-2.0
#include "executor/value.h"

#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "device/memory_use.h"

using max::DType;
using max::Ref;
using max::Tensor;

namespace {

constexpr const char* kKindNames[] = {"tensor", "sequence", "optional", "map"};

// The elements of a sequence have one kind, and tensors one dtype.
void requireElement(const MaxValue& element, const MaxValue& first, size_t i) {
  if (element.kind() != MAX_VALUE_KIND_TENSOR && element.kind() != MAX_VALUE_KIND_MAP)
    max::invalidArgument("Element ", i, " of a sequence is ", element.kindPhrase(), "; it must be a tensor or a map");
  const bool agrees = element.kind() == first.kind() &&
                      (element.kind() != MAX_VALUE_KIND_TENSOR || element.buffer()->dtype() == first.buffer()->dtype());
  if (!agrees) max::invalidArgument("Element ", i, " of a sequence has another type than element 0");
}

void requireList(const MaxBuffer& buffer, const char* name) {
  if (buffer.rank() != 1)
    max::invalidArgument("The ", name, " of a map have the type ", buffer.layout(), "; they are a list");
}

void requireEntries(const MaxBuffer& keys, const MaxBuffer& values) {
  requireList(keys, "keys");
  requireList(values, "values");
  if (keys.count() != values.count())
    max::invalidArgument("A map has ", keys.count(), " keys and ", values.count(), " values");
}

template <class Key>
void requireDifferent(const std::vector<Key>& keys) {
  const std::unordered_set<Key> different(keys.begin(), keys.end());
  if (different.size() != keys.size()) max::invalidArgument("A key of a map occurs twice");
}

void requireKeys(const Tensor& keys) {
  if (keys.dtype() == DType::String)
    requireDifferent(max::textsOf(keys));
  else if (keys.dtype() == DType::Int64)
    requireDifferent(std::vector<int64_t>(keys.values<int64_t>().begin(), keys.values<int64_t>().end()));
  else
    max::invalidArgument("The keys of a map are ", keys.dtype(), "; they must be string or int64");
}

}  // namespace

MaxValue::MaxValue(Ref<MaxBuffer> tensor) : buffer_(std::move(tensor)) {}

Ref<MaxValue> MaxValue::sequence(std::vector<Ref<MaxValue>> elements) {
  std::vector<Ref<Tensor>> tensors;
  for (size_t i = 0; i < elements.size(); ++i) {
    requireElement(*elements[i], *elements[0], i);
    tensors.push_back(elements[i]->tensor());
  }
  auto value = Ref<MaxValue>::adopt(
      new MaxValue(MAX_VALUE_KIND_SEQUENCE, max::objectTensor(DType::Sequence, std::move(tensors))));
  value->elements_ = std::move(elements);
  return value;
}

Ref<MaxValue> MaxValue::optional(Ref<MaxValue> held) {
  if (held && held->kind() != MAX_VALUE_KIND_TENSOR && held->kind() != MAX_VALUE_KIND_SEQUENCE)
    max::invalidArgument("An optional can hold a tensor or a sequence, not ", held->kindPhrase());
  std::vector<Ref<Tensor>> tensors;
  if (held) tensors.push_back(held->tensor());
  auto value = Ref<MaxValue>::adopt(
      new MaxValue(MAX_VALUE_KIND_OPTIONAL, max::objectTensor(DType::Optional, std::move(tensors))));
  if (held) value->elements_.push_back(std::move(held));
  return value;
}

Ref<MaxValue> MaxValue::map(Ref<MaxBuffer> keys, Ref<MaxBuffer> values) {
  requireEntries(*keys, *values);
  std::vector<Ref<Tensor>> tensors = {keys->toTensor(), values->toTensor()};
  max::awaitContents(*keys);
  requireKeys(*tensors[0]);
  auto value =
      Ref<MaxValue>::adopt(new MaxValue(MAX_VALUE_KIND_MAP, max::objectTensor(DType::Map, std::move(tensors))));
  value->keys_ = std::move(keys);
  value->values_ = std::move(values);
  return value;
}

// Recursion is as deep as values nest: at most an optional of a sequence of maps.
Ref<MaxValue> MaxValue::of(MaxStream& stream, const Tensor& tensor) { return of(stream, tensor, nullptr); }

Ref<MaxValue> MaxValue::of(MaxStream& stream, const Tensor& tensor, const MaxValue* before) {
  if (!max::isObject(tensor.dtype())) return max::makeRef<MaxValue>(MaxBuffer::fromTensor(stream, tensor));
  const std::vector<Ref<Tensor>>& parts = max::partsOf(tensor);
  if (tensor.dtype() == DType::Map && parts.size() == 2) return mapOf(stream, tensor, before);
  std::vector<Ref<MaxValue>> elements;
  elements.reserve(parts.size());
  for (const Ref<Tensor>& part : parts)
    elements.push_back(of(stream, *part, elements.empty() ? nullptr : elements.back().get()));
  if (tensor.dtype() == DType::Sequence) return sequence(std::move(elements));
  return optional(elements.empty() ? nullptr : std::move(elements[0]));
}

// The maps that a model makes of rows have the same keys.
Ref<MaxValue> MaxValue::mapOf(MaxStream& stream, const Tensor& tensor, const MaxValue* before) {
  const std::vector<Ref<Tensor>>& parts = max::partsOf(tensor);
  const MaxBuffer* keys = before ? before->keys_.get() : nullptr;
  const bool isAlike = keys && keys->data() == parts[0]->data() && keys->count() == parts[0]->count();
  if (!isAlike) return map(MaxBuffer::fromTensor(stream, *parts[0]), MaxBuffer::fromTensor(stream, *parts[1]));
  auto value = Ref<MaxValue>::adopt(new MaxValue(MAX_VALUE_KIND_MAP, Ref<Tensor>(const_cast<Tensor*>(&tensor))));
  value->keys_ = before->keys_;
  value->values_ = MaxBuffer::fromTensor(stream, *parts[1]);
  requireEntries(*value->keys_, *value->values_);
  return value;
}

void MaxValue::addReads(max::AccessScope& access) const {
  for (const MaxBuffer* buffer : {buffer_.get(), keys_.get(), values_.get()})
    if (buffer) access.reads(*buffer);
  for (const Ref<MaxValue>& element : elements_) element->addReads(access);
}

size_t MaxValue::count() const {
  if (kind_ == MAX_VALUE_KIND_TENSOR) return 1;
  return kind_ == MAX_VALUE_KIND_MAP ? static_cast<size_t>(keys_->count()) : elements_.size();
}

const char* MaxValue::kindName() const { return kKindNames[kind_]; }

std::string MaxValue::kindPhrase() const {
  return max::concat(kind_ == MAX_VALUE_KIND_OPTIONAL ? "an " : "a ", kindName());
}

std::string MaxValue::typeText() const {
  if (kind_ == MAX_VALUE_KIND_TENSOR) return max::concat(buffer_->layout());
  if (kind_ == MAX_VALUE_KIND_MAP) return max::concat("map from ", keys_->dtype(), " to ", values_->dtype());
  if (elements_.empty()) return max::concat("empty ", kindName());
  const MaxValue& first = *elements_[0];
  const bool isTensor = first.kind() == MAX_VALUE_KIND_TENSOR;
  return max::concat(kindName(), " of ", isTensor ? max::concat(first.buffer()->dtype()) : first.typeText());
}

max::TensorArg MaxValue::argument() const {
  if (object_) return {object_->dtype(), object_->shape().dims(), object_->data()};
  return {buffer_->dtype(), buffer_->shape().dims(), buffer_->data()};
}

namespace max {

bool fits(TensorType type, const MaxValue& value) {
  if (type.dtype == DType::Optional && value.kind() != MAX_VALUE_KIND_OPTIONAL) type = type.held();
  if (type.dtype == DType::Invalid) return true;
  if (value.kind() == MAX_VALUE_KIND_TENSOR) return type.dtype == value.buffer()->dtype();
  const DType kinds[] = {DType::Invalid, DType::Sequence, DType::Optional, DType::Map};
  if (type.dtype != kinds[value.kind()]) return false;
  if (value.kind() == MAX_VALUE_KIND_MAP)
    return type.inner[0] == value.keys()->dtype() && type.inner[1] == value.values()->dtype();
  const TensorType held = type.held();
  for (const Ref<MaxValue>& element : value.elements())
    if (!fits(held, *element)) return false;
  return true;
}

}  // namespace max
