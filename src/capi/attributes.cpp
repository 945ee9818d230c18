// SPDX-License-Identifier: Apache-2.0
#include "capi/graph.h"
#include "capi/guard.h"

using max::Ref;
using max::capi::clearOutput;
using max::capi::guard;
using max::capi::requireArgument;

namespace {

template <class T>
std::span<const T> listOf(const T* values, int32_t count) {
  max::capi::requireCount(count, "count");
  if (count > 0) requireArgument(values, "values");
  return {values, static_cast<size_t>(count)};
}

MaxStatus setAttribute(MaxAttributes* attributes, const char* name, auto&& makeValue) {
  return guard([&] {
    requireArgument(attributes, "attributes");
    attributes->set(name, makeValue());
  });
}

}  // namespace

MaxStatus maxAttributesCreate(MaxAttributes** outAttributes) {
  return guard([&] {
    clearOutput(outAttributes, "outAttributes");
    *outAttributes = max::makeRef<MaxAttributes>().detach();
  });
}

void maxAttributesRetain(const MaxAttributes* attributes) {
  if (attributes) attributes->retain();
}

void maxAttributesRelease(const MaxAttributes* attributes) {
  if (attributes) attributes->release();
}

MaxStatus maxAttributesSetInt(MaxAttributes* attributes, const char* name, int64_t value) {
  return setAttribute(attributes, name, [&] { return max::Attribute(value); });
}

MaxStatus maxAttributesSetInts(MaxAttributes* attributes, const char* name, const int64_t* values, int32_t count) {
  return setAttribute(attributes, name, [&] {
    const auto list = listOf(values, count);
    return max::Attribute(std::vector<int64_t>(list.begin(), list.end()));
  });
}

MaxStatus maxAttributesSetDType(MaxAttributes* attributes, const char* name, MaxDType value) {
  return setAttribute(attributes, name, [&] {
    const auto dtype = static_cast<max::DType>(value);
    const int64_t number = max::isValid(dtype) ? max::onnxFromDType(dtype) : 0;
    if (number == 0) max::invalidArgument("Data type ", value, " does not exist in ONNX");
    return max::Attribute(number);
  });
}

MaxStatus maxAttributesSetFloat(MaxAttributes* attributes, const char* name, float value) {
  return setAttribute(attributes, name, [&] { return max::Attribute(value); });
}

MaxStatus maxAttributesSetFloats(MaxAttributes* attributes, const char* name, const float* values, int32_t count) {
  return setAttribute(attributes, name, [&] {
    const auto list = listOf(values, count);
    return max::Attribute(std::vector<float>(list.begin(), list.end()));
  });
}

MaxStatus maxAttributesSetString(MaxAttributes* attributes, const char* name, const char* value) {
  return setAttribute(attributes, name, [&] {
    requireArgument(value, "value");
    return max::Attribute(std::string(value));
  });
}

MaxStatus maxAttributesSetStrings(MaxAttributes* attributes, const char* name, const char* const* values,
                                  int32_t count) {
  return setAttribute(attributes, name, [&] {
    std::vector<std::string> list;
    for (const char* value : listOf(values, count)) {
      requireArgument(value, "values");
      list.emplace_back(value);
    }
    return max::Attribute(std::move(list));
  });
}

MaxStatus maxAttributesSetTensor(MaxAttributes* attributes, const char* name, const MaxBuffer* value) {
  return setAttribute(attributes, name, [&] {
    requireArgument(value, "value");
    return max::Attribute(max::copiedTensor(*value));
  });
}

MaxStatus maxAttributesSetGraph(MaxAttributes* attributes, const char* name, MaxGraph* value) {
  return guard([&] {
    requireArgument(attributes, "attributes");
    requireArgument(value, "value");
    attributes->setGraph(name, Ref<MaxGraph>(value));
  });
}
