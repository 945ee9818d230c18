// SPDX-License-Identifier: Apache-2.0
// Finds strings or numbers in a list, for encoders of labels and categories.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/object.h"
#include "ops/op_kernel.h"

namespace max::ml {

// A hash table, or a sorted table if there are too many collisions, so that no file can make it slow.
class Lookup {
 public:
  Lookup() = default;
  // For a list of strings or numbers, which it keeps; the last of equal keys wins.
  explicit Lookup(Ref<const Tensor> keys);

  // The position of element i of a tensor of the keys' type; -1 if it is not a key. NaN is equal to NaN.
  int64_t find(const Tensor& tensor, int64_t i) const { return find(tensor.dtype(), tensor.data(), i); }
  int64_t find(DType dtype, const void* data, int64_t i) const;
  size_t bytes() const;

 private:
  template <class Key>
  using Entries = std::vector<std::pair<Key, int64_t>>;

  template <class Key>
  bool fillSlots(const Entries<Key>& entries);
  template <class Key>
  int64_t findIn(const Entries<Key>& entries, Key key) const;

  Ref<const Tensor> keys_;
  Entries<std::string_view> texts_;
  Entries<uint64_t> numbers_;
  std::vector<uint32_t> slots_;  // by hash: number of an entry, and one; empty = the entries are searched
};

// Integers as themselves, floats as the bits of a double, zeros and NaNs being one each.
uint64_t numberKey(DType dtype, const void* data, int64_t i);
bool isLookupType(DType dtype);

}  // namespace max::ml
