// SPDX-License-Identifier: Apache-2.0
// An entry of the cache of compiled kernels.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace max {

// Named byte strings, such as ("ptx", ...) and ("log", ...); immutable once in a cache.
struct CacheEntry final : RefCounted {
  std::vector<std::pair<std::string, std::string>> parts;

  void add(std::string name, std::string bytes) { parts.emplace_back(std::move(name), std::move(bytes)); }
  // NULL if there is none.
  const std::string* find(std::string_view name) const;
  size_t size() const;
};

}  // namespace max
