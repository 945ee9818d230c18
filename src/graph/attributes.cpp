// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.h"

#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"

namespace max {

namespace {

// In the order of the variant's alternatives.
constexpr const char* kTypeNames[] = {"int",     "float",  "string", "ints",  "floats",
                                      "strings", "tensor", "graph",  "graphs"};
static_assert(std::size(kTypeNames) == std::variant_size_v<Attribute>);

auto lowerBound(auto& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const auto& entry, std::string_view key) { return entry.first < key; });
}

}  // namespace

void Attributes::set(std::string_view name, Attribute value) {
  const auto entry = lowerBound(entries_, name);
  if (entry != entries_.end() && entry->first == name)
    entry->second = std::move(value);
  else
    entries_.emplace(entry, std::string(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  const auto entry = lowerBound(entries_, name);
  if (entry != entries_.end() && entry->first == name) entries_.erase(entry);
}

const Attribute* Attributes::find(std::string_view name) const {
  const auto entry = lowerBound(entries_, name);
  return entry != entries_.end() && entry->first == name ? &entry->second : nullptr;
}

template <class T>
const T* Attributes::get(std::string_view name) const {
  const Attribute* attribute = find(name);
  if (!attribute) return nullptr;
  const T* value = std::get_if<T>(attribute);
  if (!value)
    invalidArgument("Attribute '", name, "' has type ", kTypeNames[attribute->index()], ", not ",
                    kTypeNames[Attribute(T()).index()]);
  return value;
}

int64_t Attributes::getInt(std::string_view name, int64_t fallback) const {
  const int64_t* value = get<int64_t>(name);
  return value ? *value : fallback;
}

float Attributes::getFloat(std::string_view name, float fallback) const {
  const float* value = get<float>(name);
  return value ? *value : fallback;
}

std::string Attributes::getString(std::string_view name, std::string_view fallback) const {
  const std::string* value = get<std::string>(name);
  return value ? *value : std::string(fallback);
}

std::vector<int64_t> Attributes::getInts(std::string_view name) const {
  const auto* value = get<std::vector<int64_t>>(name);
  return value ? *value : std::vector<int64_t>();
}

std::vector<float> Attributes::getFloats(std::string_view name) const {
  const auto* value = get<std::vector<float>>(name);
  return value ? *value : std::vector<float>();
}

std::vector<std::string> Attributes::getStrings(std::string_view name) const {
  const auto* value = get<std::vector<std::string>>(name);
  return value ? *value : std::vector<std::string>();
}

Ref<Tensor> Attributes::getTensor(std::string_view name) const {
  const Ref<Tensor>* value = get<Ref<Tensor>>(name);
  return value ? *value : Ref<Tensor>();
}

Ref<Graph> Attributes::getGraph(std::string_view name) const {
  const Ref<Graph>* value = get<Ref<Graph>>(name);
  return value ? *value : Ref<Graph>();
}

}  // namespace max
