// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>

#include "model.h"

namespace max::cli {
namespace {

constexpr int64_t kShownElements = 1000;  // of one tensor
constexpr int32_t kShownParts = 1000;
constexpr size_t kShownText = 400;

Json elementJson(const Array& array, int64_t index) {
  if (array.dtype == MAX_DTYPE_STRING) return array.strings[static_cast<size_t>(index)];
  const std::string text = elementText(array, index);
  const Json number = Json::parse(text, nullptr, false);
  return number.is_discarded() ? Json(text) : number;  // nan and inf are no JSON
}

Json tensorJson(MaxBuffer* buffer) {
  const Array array = toArray(buffer);
  Json elements = Json::array();
  for (int64_t i = 0; i < std::min(elementCount(array.shape), kShownElements); ++i)
    elements.push_back(elementJson(array, i));
  return {{"dtype", maxDTypeGetName(array.dtype)}, {"shape", array.shape}, {"values", elements}};
}

Json elementsJson(MaxBuffer* buffer) { return tensorJson(buffer)["values"]; }

Json mapJson(const MaxValue* value) {
  MaxBuffer *keys = nullptr, *values = nullptr;
  check(maxValueGetMapKeys(value, &keys));
  check(maxValueGetMapValues(value, &values));
  return {{"keys", elementsJson(keys)}, {"values", elementsJson(values)}};
}

Json listJson(const MaxValue* value) {
  int32_t count = 0;
  check(maxValueGetCount(value, &count));
  std::vector<MaxValue*> elements(static_cast<size_t>(std::min(count, kShownParts)));
  check(maxValueGetElements(value, 0, static_cast<int32_t>(elements.size()), elements.data()));
  Json list = Json::array();
  for (const MaxValue* element : elements) list.push_back(valueJson(element));
  return list;
}

}  // namespace

const char* kindName(MaxValueKind kind) {
  constexpr const char* kNames[] = {"tensor", "sequence", "optional", "map"};
  return kind >= 0 && kind < 4 ? kNames[kind] : "unknown";
}

// Values nest a few levels deep at most: the types of a model say how deep.
Json valueJson(const MaxValue* value) {
  MaxValueKind kind = MAX_VALUE_KIND_TENSOR;
  check(maxValueGetKind(value, &kind));
  if (kind == MAX_VALUE_KIND_MAP) return mapJson(value);
  if (kind == MAX_VALUE_KIND_TENSOR) {
    MaxBuffer* buffer = nullptr;
    check(maxValueGetBuffer(value, &buffer));
    return tensorJson(buffer);
  }
  Json list = listJson(value);
  if (kind == MAX_VALUE_KIND_SEQUENCE) return list;
  return list.empty() ? Json() : list[0];
}

std::string valueText(const MaxValue* value) {
  std::string text = valueJson(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownText) text = text.substr(0, kShownText) + "...";
  return text;
}

}  // namespace max::cli
