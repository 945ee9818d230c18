// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <algorithm>

#include "model.h"

namespace max::cli {
namespace {

constexpr int64_t kShownElements = 1000;  // of one tensor
constexpr int32_t kShownParts = 1000;
constexpr size_t kShownBytes = size_t{1} << 20;  // of a whole value, whose parts may all be the same large tensor
constexpr size_t kShownText = 400;

// Values nest only as deep as the model's types.
class ValueWriter {
 public:
  Json json(const MaxValue* value) {
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

 private:
  // False once enough is shown.
  bool take(size_t bytes) {
    left_ -= std::min(bytes, left_);
    return left_ > 0;
  }

  Json elementJson(const Array& array, int64_t index) {
    const bool isString = array.dtype == MAX_DTYPE_STRING;
    const std::string text = isString ? array.strings[static_cast<size_t>(index)] : elementText(array, index);
    if (!take(text.size() + sizeof(Json))) return "...";
    if (isString) return text;
    const Json number = Json::parse(text, nullptr, false);
    return number.is_discarded() ? Json(text) : number;  // nan and inf are not valid JSON
  }

  Json tensorJson(MaxBuffer* buffer) {
    if (!take(sizeof(Json))) return "...";
    const Array array = toArray(buffer);
    Json elements = Json::array();
    const int64_t count = std::min(elementCount(array.shape), kShownElements);
    for (int64_t i = 0; i < count && left_ > 0; ++i) elements.push_back(elementJson(array, i));
    return {{"dtype", maxDTypeGetName(array.dtype)}, {"shape", array.shape}, {"values", elements}};
  }

  Json elementsJson(MaxBuffer* buffer) {
    Json tensor = tensorJson(buffer);
    return tensor.is_object() ? tensor["values"] : tensor;
  }

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
    for (size_t i = 0; i < elements.size() && left_ > 0; ++i) list.push_back(json(elements[i]));
    return list;
  }

  size_t left_ = kShownBytes;
};

}  // namespace

const char* kindName(MaxValueKind kind) {
  constexpr const char* kNames[] = {"tensor", "sequence", "optional", "map"};
  return kind >= 0 && kind < 4 ? kNames[kind] : "unknown";
}

Json valueJson(const MaxValue* value) { return ValueWriter().json(value); }

std::string valueText(const MaxValue* value) {
  std::string text = valueJson(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kShownText) text = text.substr(0, kShownText) + "...";
  return text;
}

}  // namespace max::cli
