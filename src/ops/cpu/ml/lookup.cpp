// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/ml/lookup.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace max::ml {

namespace {

uint64_t keyOf(double value) {
  if (value != value) value = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
}
uint64_t keyOf(int64_t value) { return static_cast<uint64_t>(value); }

template <class Entries>
void sortAndKeepLast(Entries& entries) {
  std::sort(entries.begin(), entries.end());
  size_t kept = 0;
  for (size_t i = 0; i < entries.size(); ++i)
    if (i + 1 == entries.size() || entries[i].first != entries[i + 1].first) entries[kept++] = entries[i];
  entries.resize(kept);
}

// Maximum distance of a key from its slot.
constexpr size_t kMostProbes = 16;

uint64_t hashOf(uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  return key ^ key >> 32;
}
uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hashOf(hash);
}

}  // namespace

bool isLookupType(DType dtype) {
  switch (dtype) {
    case DType::String:
    case DType::Float32:
    case DType::Float64:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
      return true;
    default:
      return false;
  }
}

uint64_t numberKey(DType dtype, const void* data, int64_t i) {
  switch (dtype) {
    case DType::Float32:
      return keyOf(static_cast<double>(static_cast<const float*>(data)[i]));
    case DType::Float64:
      return keyOf(static_cast<const double*>(data)[i]);
    case DType::Int16:
      return keyOf(int64_t{static_cast<const int16_t*>(data)[i]});
    case DType::Int32:
      return keyOf(int64_t{static_cast<const int32_t*>(data)[i]});
    default:
      return keyOf(static_cast<const int64_t*>(data)[i]);
  }
}

Lookup::Lookup(Ref<const Tensor> keys) : keys_(std::move(keys)) {
  for (int64_t i = 0; i < keys_->count(); ++i) {
    if (keys_->dtype() == DType::String)
      texts_.emplace_back(textAt(*keys_, i), i);
    else
      numbers_.emplace_back(numberKey(keys_->dtype(), keys_->data(), i), i);
  }
  sortAndKeepLast(texts_);
  sortAndKeepLast(numbers_);
  if (!(keys_->dtype() == DType::String ? fillSlots(texts_) : fillSlots(numbers_))) slots_.clear();
}

// False if too many keys have the same hash.
template <class Key>
bool Lookup::fillSlots(const Entries<Key>& entries) {
  size_t size = 16;
  while (size < 2 * entries.size()) size *= 2;
  slots_.assign(size, 0);
  for (size_t i = 0; i < entries.size(); ++i) {
    size_t probe = 0;
    const uint64_t hash = hashOf(entries[i].first);
    while (probe < kMostProbes && slots_[(hash + probe) & (size - 1)]) ++probe;
    if (probe == kMostProbes || i >= UINT32_MAX) return false;
    slots_[(hash + probe) & (size - 1)] = static_cast<uint32_t>(i) + 1;
  }
  return true;
}

template <class Key>
int64_t Lookup::findIn(const Entries<Key>& entries, Key key) const {
  if (slots_.empty()) {
    const auto entry =
        std::lower_bound(entries.begin(), entries.end(), key,
                         [](const auto& candidate, const Key& wanted) { return candidate.first < wanted; });
    return entry != entries.end() && entry->first == key ? entry->second : -1;
  }
  const uint64_t hash = hashOf(key);
  for (size_t probe = 0; probe < kMostProbes; ++probe) {
    const uint32_t slot = slots_[(hash + probe) & (slots_.size() - 1)];
    if (slot == 0) return -1;
    if (entries[slot - 1].first == key) return entries[slot - 1].second;
  }
  return -1;
}

int64_t Lookup::find(DType dtype, const void* data, int64_t i) const {
  if (dtype == DType::String) return findIn(texts_, textOf(static_cast<const StringCell* const*>(data)[i]));
  return findIn(numbers_, numberKey(dtype, data, i));
}

size_t Lookup::bytes() const { return texts_.size() * sizeof(texts_[0]) + numbers_.size() * sizeof(numbers_[0]); }

}  // namespace max::ml
