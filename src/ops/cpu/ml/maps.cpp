// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml that convert tensors to maps, or maps to tensors.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/work_vector.h"
#include "ops/cpu/ml/lookup.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"
#include "ops/value_function.h"

namespace max {

namespace {

Ref<Tensor> keysOf(const Node& node, const char* integers, const char* strings) {
  if (const auto texts = ml::stringsOf(node, strings); !texts.empty()) return ml::stringList(texts);
  const auto numbers = ml::integersOf(node, integers);
  return Tensor::copyOf(DType::Int64, Shape{static_cast<int64_t>(numbers.size())}, numbers.data());
}

// A map for each row, from labels to the row's numbers, which are parts of one copy.
Results zipMap(const Node& node, Arguments inputs) {
  const Tensor& scores = *inputs[0];
  const Ref<Tensor> keys = keysOf(node, "classlabels_int64s", "classlabels_strings");
  const int64_t columns = keys->count();
  require(scores.shape().back() == columns, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": its input of shape ",
          scores.shape(), " needs ", columns, " columns, one per class label");
  const Ref<Tensor> copy = Tensor::copyOf(DType::Float32, scores.shape(), scores.data());
  const Shape shape{columns};
  const int64_t rows = scores.count() / columns;
  std::vector<Ref<Tensor>> maps;
  maps.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    auto values = makeRef<Tensor>(DType::Float32, shape, copy->as<float>() + row * columns, copy->storage());
    maps.push_back(objectTensor(DType::Map, {keys, std::move(values)}));
  }
  return {objectTensor(DType::Sequence, std::move(maps))};
}

struct MapView {
  const Tensor* keys = nullptr;  // NULL if the map is empty
  const Tensor* values = nullptr;
  int64_t count() const { return keys ? keys->count() : 0; }
};

MapView mapOf(const Tensor& object) {
  const std::vector<Ref<Tensor>>& parts = partsOf(object);
  return parts.size() == 2 ? MapView{parts[0].get(), parts[1].get()} : MapView{};
}

// The map's values at the positions of their keys in the vocabulary, zeros or empty strings elsewhere.
Results dictVectorizer(const Node& node, Arguments inputs) {
  const MapView map = mapOf(*inputs[0]);
  const Ref<Tensor> keys = keysOf(node, "int64_vocabulary", "string_vocabulary");
  const DType dtype = map.values ? map.values->dtype() : node.inputs[0]->type.inner[1];
  const Shape shape{1, keys->count()};
  require(!map.keys || map.keys->dtype() == keys->dtype(), MAX_STATUS_INVALID_ARGUMENT, node.description(),
          ": the map's keys are not ", keys->dtype());
  require(!isPacked(dtype), MAX_STATUS_UNIMPLEMENTED, node.description(), ": maps to ", dtype, " are not supported");
  const Ref<Tensor> result = Tensor::allocate(dtype, shape, true);
  const ml::Lookup lookup(keys);
  const size_t bytes = sizeOf(dtype);
  for (int64_t i = 0; i < map.count(); ++i) {
    const int64_t at = lookup.find(*map.keys, i);
    if (at >= 0)
      std::memcpy(static_cast<std::byte*>(result->mutableData()) + static_cast<size_t>(at) * bytes,
                  map.values->as<std::byte>() + static_cast<size_t>(i) * bytes, bytes);
  }
  return {holdsPointers(dtype) ? selfContained(*result) : result};
}

// Parses a whole string as a number; zero if it is not one.
template <class T>
T parsed(std::string_view text) {
  T value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() ? value : T{0};
}

template <class T>
T numberAt(const Tensor& values, int64_t i) {
  if (values.dtype() == DType::String) return parsed<T>(textAt(values, i));
  const float value = values.as<float>()[i];
  if constexpr (std::is_integral_v<T>) return std::abs(value) < 9.2e18f ? static_cast<T>(value) : T{0};
  return static_cast<T>(value);
}

std::string textOfNumber(float value) {
  char buffer[48];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

// The position of each map entry: in the order of keys, or at its key.
WorkVector<int64_t> placesOf(const Node& node, const MapView& map, bool isDense, int64_t size) {
  WorkVector<int64_t> places(static_cast<size_t>(map.count()));
  const int64_t* keys = map.keys ? map.keys->as<int64_t>() : nullptr;
  if (isDense) {
    WorkVector<int64_t> order(places.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [keys](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    for (size_t i = 0; i < order.size(); ++i) places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return places;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = keys[i];
    if (keys[i] < 0 || keys[i] >= size) [[unlikely]]
      fail(MAX_STATUS_OUT_OF_RANGE, node.description(), ": key ", keys[i], " is not in [0, ", size, ")");
  }
  return places;
}

Ref<Tensor> textsAt(const MapView& map, const WorkVector<int64_t>& places, const Shape& shape) {
  WorkVector<std::string> texts(static_cast<size_t>(shape[1]));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    texts[static_cast<size_t>(places[i])] = map.values->dtype() == DType::String
                                                ? std::string(textAt(*map.values, at))
                                                : textOfNumber(map.values->as<float>()[at]);
  }
  const WorkVector<std::string_view> views(texts.begin(), texts.end());
  return stringTensor(shape, views);
}

template <class T>
Ref<Tensor> numbersAt(const MapView& map, const WorkVector<int64_t>& places, DType dtype, const Shape& shape) {
  Ref<Tensor> result = Tensor::allocate(dtype, shape, true);
  for (size_t i = 0; i < places.size(); ++i)
    static_cast<T*>(result->mutableData())[places[i]] = numberAt<T>(*map.values, static_cast<int64_t>(i));
  return result;
}

// Of a sparse result, whose size is an attribute.
constexpr int64_t kMostStrings = int64_t{1} << 20;

Results castMap(const Node& node, Arguments inputs) {
  const MapView map = mapOf(*inputs[0]);
  const DType value = map.values ? map.values->dtype() : DType::Float32;
  require((!map.keys || map.keys->dtype() == DType::Int64) && (value == DType::Float32 || value == DType::String),
          MAX_STATUS_INVALID_ARGUMENT, node.description(), ": needs a map from int64 to float32 or string");
  const ml::MapCast cast(node);
  const Shape shape{1, cast.isDense ? map.count() : cast.columns};
  require(cast.dtype != DType::String || shape[1] <= kMostStrings, MAX_STATUS_UNIMPLEMENTED, node.description(),
          ": attribute 'max_map' is ", shape[1], "; at most ", kMostStrings, " strings are supported");
  const WorkVector<int64_t> places = placesOf(node, map, cast.isDense, shape[1]);
  if (cast.dtype == DType::String) return {textsAt(map, places, shape)};
  if (cast.dtype == DType::Int64) return {numbersAt<int64_t>(map, places, DType::Int64, shape)};
  return {numbersAt<float>(map, places, DType::Float32, shape)};
}

const OpRow kRows[] = {
    {"ai.onnx.ml", "CastMap", kFunction<castMap>, nullptr, castMap},
    {"ai.onnx.ml", "DictVectorizer", kFunction<dictVectorizer>},
    {"ai.onnx.ml", "ZipMap", kFunction<zipMap>},
};

}  // namespace

std::span<const OpRow> mlMapOps() { return kRows; }

}  // namespace max
