// SPDX-License-Identifier: Apache-2.0
// A copy between two strided views of one shape: the basis of Transpose, Slice, Concat, Split, Expand, Tile,
// DepthToSpace and others.
#pragma once

#include <cstddef>

#include "base/shape.h"

namespace max {

class TensorCopy {
 public:
  // Strides in elements of `elementSize` bytes. Source strides may be zero or negative;
  // target strides must not make elements overlap.
  TensorCopy(size_t elementSize, const Shape& shape, const Shape& sourceStrides, const Shape& targetStrides);

  // The first elements of the views are at `source` and `target`.
  void run(const std::byte* source, std::byte* target, int lanes) const;
  int64_t bytes() const { return bytes_; }
  bool isBlock() const { return form_ == Form::Block; }  // one run of bytes in both views

 private:
  enum class Form { Empty, Block, Runs, Transposed, Elements };

  void addAxes(const Shape& shape, const Shape& sourceStrides, const Shape& targetStrides);
  void mergeAxes();
  void widenElements();
  void chooseForm();
  void runRange(const std::byte* source, std::byte* target, int64_t begin, int64_t end) const;
  void runSplit(const std::byte* source, std::byte* target, int lanes) const;
  void copyInner(const std::byte* source, std::byte* target) const;
  void copyInner(const std::byte* source, std::byte* target, int64_t count) const;
  int64_t innerBytes() const;
  bool streams() const;
  bool streamsRuns(const std::byte* target) const;

  Form form_ = Form::Empty;
  int64_t elementSize_;  // contiguous bytes in both views
  int64_t bytes_ = 0;
  // Axes from outer to inner, strides in bytes; the form's own inner axes are apart.
  int rank_ = 0;
  int64_t dims_[kMaxRank];
  int64_t source_[kMaxRank];
  int64_t target_[kMaxRank];
  int64_t outerCount_ = 1;
  // Elements: one axis. Transposed: rows lie together in the target, columns in the source.
  int64_t rows_ = 1, columns_ = 1;
  int64_t rowSource_ = 0, rowTarget_ = 0, columnSource_ = 0, columnTarget_ = 0;
};

// `count` runs of `bytes`, that far apart; none is copied by a call up to kMostInRuns, from half a piece on.
inline constexpr int64_t kMostInRuns = 128;
void copyRuns(const std::byte* source, std::byte* target, int64_t count, int64_t sourceStep, int64_t targetStep,
              int64_t bytes);

}  // namespace max
