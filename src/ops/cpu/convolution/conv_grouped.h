// SPDX-License-Identifier: Apache-2.0
// Convolutions whose groups have so few channels and filters that a vector holds several groups, as those of ResNeXt:
// as a product, each group would fill a part of a vector only. Those with one vector of filters in each group come
// here, too: tiles of a product would be small for what it costs to find rows. Products of bfloat16 read words of two
// channels.
#pragma once

#include "ops/cpu/convolution/conv_rows.h"
#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

// How a row of output pixels is computed, for one vector of filters.
struct GroupedRow {
  const float* const* x;        // per kernel row: the input row with its borders, at the channels of these filters
  const float* const* weights;  // per kernel row: [kernel column][channel or word of the group][lanes]
  int64_t rows;                 // kernel rows inside the image
  int64_t rowTaps;              // kernel width
  int64_t step;                 // floats or words from one pixel of the input to the next
  int64_t tapStep;              // from what one tap reads to the next
  int64_t stride;
  int64_t pixels;
  int64_t filters;    // of a pixel of the output
  int64_t count;      // of these
  const float* bias;  // NULL = none
  float* out;
  uint16_t* narrow;  // the output as bfloat16 instead; NULL = floats
  float low, high;   // limits of the results; infinities = none
};

struct GroupedTable {
  int64_t lanes;  // filters that are computed together
  bool hasWords;
  bool isOneGroup;  // which all of them belong to; there may be fewer
  void (*run)(const GroupedRow& row, int64_t groupChannels);
};
const GroupedTable& groupedTable();  // of cpuTarget()
// For a node that is a convolution with such weights, channels last, or several; NULL = none, or not worth it.
const GroupedTable* groupedTableFor(const Node& node, const Shape& weights);

// Filters in blocks that are computed together: [block][kernel row][kernel column][channel or word of the group]
// [lanes]. Words are in the order of the kernel's sums. The last block overlaps the one before it.
class GroupedLayout {
 public:
  GroupedLayout(const GroupedTable& table, const Shape& weights);
  bool hasWords() const { return table_->hasWords; }
  bool fits(const GroupedTable& table) const { return table_->lanes == table.lanes && hasWords() == table.hasWords; }
  int64_t floats() const { return blocks() * blockFloats_; }  // or words
  void pack(const float* weights, float* values) const;
  int64_t blocks() const;
  int64_t firstOf(int64_t block) const;
  const float* row(const float* values, int64_t block, int64_t kernelRow) const {
    return values + block * blockFloats_ + kernelRow * rowFloats_;
  }

 private:
  void packFilter(const float* weights, int64_t block, int64_t place, float* values) const;

  const GroupedTable* table_;
  int64_t filters_, channels_, taps_;
  int64_t blockFloats_, rowFloats_;  // of a block, of a kernel row of it; or words
};

class GroupedWeights : public Prepared {
 public:
  GroupedWeights(const GroupedTable& table, const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  const GroupedLayout& layout() const { return layout_; }
  const float* values() const { return reinterpret_cast<const float*>(values_->data()); }

 private:
  GroupedLayout layout_;
  Ref<Tensor> values_;
};

// A segment of a row of output pixels, which lie `pixelStep` elements apart.
struct GroupedSegment {
  const BorderedRows::Segment& rows;
  int64_t pixelStep;
  const float* bias;  // NULL = none
  float* out;
  uint16_t* narrow;  // the output as bfloat16 instead; NULL = floats
  float low, high;   // limits of the results; infinities = none
};
void runGroupedSegment(const GroupedTable& table, const GroupedLayout& layout, const float* filters,
                       const ConvShape& shape, const GroupedSegment& segment);

NarrowOperands narrowGroups(const Node& node);
// With filters that the load prepared, or that come with the call.
bool acceptsGrouped(const OpRequest& request);
bool acceptsGroupedWords(const OpRequest& request);
std::unique_ptr<OpKernel> createGrouped(const OpRequest& request);

}  // namespace max
