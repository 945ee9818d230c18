// SPDX-License-Identifier: Apache-2.0
// A concrete shape: at most kMaxRank dimensions, kept inline.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/checked.h"

namespace max {

inline constexpr int kMaxRank = 16;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) {
    for (int64_t dim : dims) push(dim);
  }
  static Shape filled(int rank, int64_t value) {
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push(value);
    return shape;
  }

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return dims_[static_cast<size_t>(i)]; }
  int64_t back() const { return (*this)[rank_ - 1]; }
  const int64_t* data() const { return dims_.data(); }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }

  void push(int64_t dim) {
    require(rank_ < kMaxRank, MAX_STATUS_UNIMPLEMENTED, "More than ", kMaxRank, " dimensions are not supported");
    dims_[static_cast<size_t>(rank_++)] = dim;
  }
  void insert(int at, int64_t dim) {
    push(0);
    for (int i = rank_ - 1; i > at; --i) (*this)[i] = (*this)[i - 1];
    (*this)[at] = dim;
  }
  void erase(int at) {
    for (int i = at; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
    --rank_;
  }

  // Product of all dimensions (1 for rank 0); OUT_OF_RANGE on overflow or a negative dimension.
  int64_t count() const {
    int64_t product = 1;
    bool zero = false;
    for (int64_t dim : *this) {
      require(dim >= 0, MAX_STATUS_OUT_OF_RANGE, "Dimension is negative: ", dim);
      if (dim == 0)
        zero = true;
      else
        product = checkedMultiply(product, dim);
    }
    return zero ? 0 : product;
  }
  // Unchecked product of dims [from, to), for shapes already checked.
  int64_t product(int from, int to) const {
    int64_t result = 1;
    for (int i = from; i < to; ++i) result *= (*this)[i];
    return result;
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  int rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
};

// Strides in elements of a dense row-major tensor.
inline Shape contiguousStrides(const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  return strides;
}

// "[2, 3]"
inline void appendTo(std::string& text, const Shape& shape) {
  text += '[';
  for (int i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  text += ']';
}

}  // namespace max
