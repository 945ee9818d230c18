// SPDX-License-Identifier: Apache-2.0
// Hash tables keyed by data from files: names, contents, numbers. Hashes are seeded with random numbers per process, so
// that a file cannot contain names that all collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace max {

// SipHash-1-3 with the key of the process.
uint64_t keyedHash(std::string_view bytes);
uint64_t keyedHash(uint64_t number);

// (Not noexcept, so that tables keep the hash of each entry.)
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view name) const { return keyedHash(name); }
};
struct NumberHash {
  size_t operator()(uint64_t number) const { return keyedHash(number); }
  size_t operator()(int64_t number) const { return keyedHash(static_cast<uint64_t>(number)); }
};

template <class T>
using NameMap = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;
using NameSet = std::unordered_set<std::string, NameHash, std::equal_to<>>;

// For names stored elsewhere.
template <class T>
using NameViewMap = std::unordered_map<std::string_view, T, NameHash>;
using NameViewSet = std::unordered_set<std::string_view, NameHash>;

template <class T>
using NumberMap = std::unordered_map<uint64_t, T, NumberHash>;

}  // namespace max
