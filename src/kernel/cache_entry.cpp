// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache_entry.h"

namespace max {

const std::string* CacheEntry::find(std::string_view name) const {
  for (const auto& [partName, bytes] : parts)
    if (partName == name) return &bytes;
  return nullptr;
}

size_t CacheEntry::size() const {
  size_t bytes = sizeof(CacheEntry);
  for (const auto& [name, part] : parts) bytes += name.size() + part.size() + sizeof parts[0];
  return bytes;
}

}  // namespace max
