// SPDX-License-Identifier: Apache-2.0
// Elements and slices selected by indices, shared by gathers and scatters.
#pragma once

#include <cstring>
#include <type_traits>

#include "base/interrupt_point.h"
#include "ops/cpu/movement/movement.h"

namespace max {

// Calls function(std::integral_constant) for common sizes, so that a copy is one instruction, else function(int64_t).
template <class F>
void visitElementBytes(int64_t bytes, F function) {
  switch (bytes) {
    case 1:
      return function(std::integral_constant<int64_t, 1>{});
    case 2:
      return function(std::integral_constant<int64_t, 2>{});
    case 4:
      return function(std::integral_constant<int64_t, 4>{});
    case 8:
      return function(std::integral_constant<int64_t, 8>{});
    case 16:
      return function(std::integral_constant<int64_t, 16>{});
    default:
      return function(bytes);
  }
}

template <class Size>
void copyElement(Size bytes, std::byte* target, const std::byte* source) {
  std::memcpy(target, source, static_cast<size_t>(bytes));
}
inline void copyElement(int64_t bytes, std::byte* target, const std::byte* source) {
  if (bytes > kStepsPerLook) return copyBytes(target, source, static_cast<size_t>(bytes));
  std::memcpy(target, source, static_cast<size_t>(bytes));
}

// GatherElements and ScatterElements: data, and indices of the same rank that replace one coordinate.
class ElementWalk {
 public:
  // `indexInput` is the input of indices; input 0 is the data.
  ElementWalk(const OpRequest& request, size_t indexInput);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  // Calls body(k, offset) for the indices k of a row (along the last axis); offset is of data, in elements.
  // `kUnrolled`: the body is short enough for a loop of its own for indices along the last axis.
  template <bool kUnrolled = false, class Body>
  void forRow(const Node& node, int64_t row, const void* indices, Body body) const {
    int64_t base = 0;
    for (int64_t axis = indexShape_.rank() - 2, rest = row; axis >= 0; --axis) {
      const int i = static_cast<int>(axis);
      if (i != axis_) base += rest % indexShape_[i] * strides_[i];
      rest /= indexShape_[i];
    }
    if (is64_)
      forIndices<kUnrolled>(node, base, row * columns_, static_cast<const int64_t*>(indices) + row * columns_, body);
    else
      forIndices<kUnrolled>(node, base, row * columns_, static_cast<const int32_t*>(indices) + row * columns_, body);
  }

 private:
  // What does not change is local: the body's stores may be to anything that has an address.
  template <bool kUnrolled, class Index, class Body>
  void forIndices(const Node& node, int64_t base, int64_t first, const Index* indices, Body body) const {
    const int axis = axis_;
    const int64_t size = size_, stride = strides_[axis], step = axis == indexShape_.rank() - 1 ? 0 : 1;
    // Along the last axis the index itself counts elements.
    if (kUnrolled && step == 0 && size > 0)
      return inParts(columns_, 2, [&node, axis, size, base, first, indices, body](int64_t begin, int64_t end) {
#pragma GCC unroll 4
        for (int64_t i = begin; i < end; ++i) {
          const auto index = static_cast<int64_t>(indices[i]);
          const int64_t counted = index + (index >> 63 & size);
          if (static_cast<uint64_t>(counted) >= static_cast<uint64_t>(size)) [[unlikely]]
            checkedIndex(node, index, size, axis);
          body(first + i, base + counted);
        }
      });
    inParts(columns_, 2, [&node, axis, size, stride, step, base, first, indices, body](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        body(first + i, base + i * step + checkedIndex(node, indices[i], size, axis) * stride);
    });
  }

  Shape indexShape_, strides_;
  int axis_;
  int64_t size_, rows_, columns_;
  bool is64_;
};

// GatherND and ScatterND: indices [batch.., count.., k] select slices of data.
class SliceWalk {
 public:
  SliceWalk(const OpRequest& request, int batchDims);

  int64_t count() const { return count_; }  // of index tuples
  int64_t sliceElements() const { return sliceElements_; }
  // Of data, in elements.
  int64_t offset(const Node& node, int64_t tuple, const void* indices) const {
    int64_t result = batchDims_ == 0 ? 0 : tuple / perBatch_ * batchStride_;
    for (int i = 0; i < tupleSize_; ++i)
      result +=
          checkedIndex(node, indexAt(indices, is64_, tuple * tupleSize_ + i), data_[batchDims_ + i], batchDims_ + i) *
          strides_[batchDims_ + i];
    return result;
  }

 private:
  Shape data_, strides_;
  int batchDims_, tupleSize_;
  int64_t count_, perBatch_, batchStride_, sliceElements_;
  bool is64_;
};

}  // namespace max
