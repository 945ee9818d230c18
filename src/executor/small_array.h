// SPDX-License-Identifier: Apache-2.0
// An array that allocates only beyond a few items.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace max {

inline constexpr size_t kFewTensors = 8;  // most models have no more inputs or outputs

template <class T, size_t N = kFewTensors>
class SmallArray {
 public:
  explicit SmallArray(size_t size) : size_(size) {
    if (size > N) large_.resize(size);
  }
  std::span<T> span() { return {size_ > N ? large_.data() : small_.data(), size_}; }
  T& operator[](size_t i) { return span()[i]; }

 private:
  size_t size_;
  std::array<T, N> small_{};
  std::vector<T> large_;
};

}  // namespace max
