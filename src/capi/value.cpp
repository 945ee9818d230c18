// SPDX-License-Identifier: Apache-2.0
#include "executor/value.h"

#include "capi/guard.h"

using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

const MaxValue& valueOf(const MaxValue* value) {
  requireArgument(value, "value");
  return *value;
}

void requireKind(const MaxValue& value, bool fits, const char* expected) {
  max::require(fits, MAX_STATUS_FAILED_PRECONDITION, "The value is ", value.kindPhrase(), ", not ", expected);
}

std::vector<Ref<MaxValue>> elementsOf(MaxValue* const* elements, int32_t count) {
  max::capi::requireCount(count, "count");
  if (count > 0) requireArgument(elements, "elements");
  std::vector<Ref<MaxValue>> values;
  for (int32_t i = 0; i < count; ++i) {
    if (!max::isHandle(elements[i])) max::invalidArgument("Element ", i, " ", max::wrongHandleText(elements[i]));
    values.emplace_back(elements[i]);
  }
  return values;
}

void requireMap(const MaxValue* value) {
  const bool isMap = valueOf(value).kind() == MAX_VALUE_KIND_MAP;
  requireKind(*value, isMap, "a map");
}

}  // namespace

MaxStatus maxValueCreateTensor(MaxBuffer* buffer, MaxValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(buffer, "buffer");
    *outValue = max::makeRef<MaxValue>(Ref<MaxBuffer>(buffer)).detach();
  });
}

MaxStatus maxValueCreateSequence(MaxValue* const* elements, int32_t count, MaxValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    *outValue = MaxValue::sequence(elementsOf(elements, count)).detach();
  });
}

MaxStatus maxValueCreateOptional(MaxValue* element, MaxValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    *outValue = MaxValue::optional(Ref<MaxValue>(element)).detach();
  });
}

MaxStatus maxValueCreateMap(MaxBuffer* keys, MaxBuffer* values, MaxValue** outValue) {
  return guard([&] {
    clearOutput(outValue, "outValue");
    requireArgument(keys, "keys");
    requireArgument(values, "values");
    *outValue = MaxValue::map(Ref<MaxBuffer>(keys), Ref<MaxBuffer>(values)).detach();
  });
}

void maxValueRetain(const MaxValue* value) {
  if (value) value->retain();
}

void maxValueRelease(const MaxValue* value) {
  if (value) value->release();
}

MaxStatus maxValueGetKind(const MaxValue* value, MaxValueKind* outKind) {
  return guard([&] {
    requireArgument(outKind, "outKind");
    *outKind = valueOf(value).kind();
  });
}

MaxStatus maxValueGetBuffer(const MaxValue* value, MaxBuffer** outBuffer) {
  return guard([&] {
    clearOutput(outBuffer, "outBuffer");
    const MaxValue& checked = valueOf(value);
    requireKind(checked, checked.kind() == MAX_VALUE_KIND_TENSOR, "a tensor");
    *outBuffer = value->buffer().get();
  });
}

MaxStatus maxValueGetCount(const MaxValue* value, int32_t* outCount) {
  return guard([&] {
    requireArgument(outCount, "outCount");
    const MaxValue& checked = valueOf(value);
    requireKind(checked, checked.kind() != MAX_VALUE_KIND_TENSOR, "one that has elements");
    *outCount = static_cast<int32_t>(value->count());
  });
}

MaxStatus maxValueGetElements(const MaxValue* value, int32_t first, int32_t count, MaxValue** outElements) {
  return guard([&] {
    max::capi::requireCount(count, "count");
    if (count > 0) requireArgument(outElements, "outElements");
    for (int32_t i = 0; i < count; ++i) outElements[i] = nullptr;
    const bool hasElements =
        valueOf(value).kind() == MAX_VALUE_KIND_SEQUENCE || value->kind() == MAX_VALUE_KIND_OPTIONAL;
    requireKind(*value, hasElements, "a sequence or optional");
    const auto there = static_cast<int64_t>(value->elements().size());
    max::require(first >= 0 && first <= there && count <= there - first, MAX_STATUS_OUT_OF_RANGE, "Elements [", first,
                 ", ", first, " + ", count, ") are out of range; the ", value->kindName(), " has ", there);
    for (int32_t i = 0; i < count; ++i) outElements[i] = value->elements()[static_cast<size_t>(first + i)].get();
  });
}

MaxStatus maxValueGetMapKeys(const MaxValue* value, MaxBuffer** outKeys) {
  return guard([&] {
    clearOutput(outKeys, "outKeys");
    requireMap(value);
    *outKeys = value->keys().get();
  });
}

MaxStatus maxValueGetMapValues(const MaxValue* value, MaxBuffer** outValues) {
  return guard([&] {
    clearOutput(outValues, "outValues");
    requireMap(value);
    *outValues = value->values().get();
  });
}
