// SPDX-License-Identifier: Apache-2.0
// A copy whose source index along each axis comes from a table: Pad in all its modes,
// and Resize to the nearest pixel.
#pragma once

#include <cstddef>
#include <vector>

#include "base/shape.h"
#include "base/work_vector.h"

namespace max {

// For each axis and output index the source index, or kFill.
using IndexTables = std::vector<WorkVector<int64_t>>;

class IndexedCopy {
 public:
  static constexpr int64_t kFill = -1;

  IndexedCopy(int64_t elementBytes, const Shape& source, const IndexTables& tables);

  // `fill` is one element.
  void run(const std::byte* source, std::byte* target, const std::byte* fill, int lanes) const;

 private:
  struct Axis {
    WorkVector<int64_t> offsets;  // in bytes, or kFill
  };
  // Stretches of the innermost axis that are copied or filled at once.
  struct Segment {
    int64_t target, source, bytes;  // source kFill = filled
  };

  void addSegments(const WorkVector<int64_t>& table, int64_t step);
  template <class Size>
  void runRows(Size size, const std::byte* source, std::byte* target, const std::byte* fill, int64_t begin,
               int64_t end) const;
  template <class Size>
  void copySegments(Size size, const std::byte* source, std::byte* target, const std::byte* fill) const;
  void gatherRow(const std::byte* source, std::byte* target) const;
  int64_t blockOffset(int64_t block) const;

  int64_t elementBytes_;
  int64_t rowBytes_ = 0;
  int64_t rows_ = 1;
  std::vector<Axis> outer_;  // at least one
  WorkVector<Segment> segments_;
  bool isGather_ = false;           // many segments of one step each
  WorkVector<int64_t> rowOffsets_;  // then: per step, in bytes
  int64_t stepBytes_ = 0;
};

}  // namespace max
