// SPDX-License-Identifier: Apache-2.0
// Attributes of a node: few per node, so a sorted vector.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/ref.h"
#include "base/tensor.h"

namespace max {

class Graph;

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Ref<Tensor>, Ref<Graph>, std::vector<Ref<Graph>>>;

class Attributes {
 public:
  void set(std::string_view name, Attribute value);
  void erase(std::string_view name);
  const Attribute* find(std::string_view name) const;  // NULL if absent
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // Typed access. An attribute of another type is INVALID_ARGUMENT naming both types.
  int64_t getInt(std::string_view name, int64_t fallback) const;
  float getFloat(std::string_view name, float fallback) const;
  std::string getString(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> getInts(std::string_view name) const;  // empty if absent
  std::vector<float> getFloats(std::string_view name) const;
  std::vector<std::string> getStrings(std::string_view name) const;
  Ref<Tensor> getTensor(std::string_view name) const;  // NULL if absent
  Ref<Graph> getGraph(std::string_view name) const;    // NULL if absent

  const std::vector<std::pair<std::string, Attribute>>& entries() const { return entries_; }

 private:
  template <class T>
  const T* get(std::string_view name) const;
  std::vector<std::pair<std::string, Attribute>> entries_;
};

}  // namespace max
