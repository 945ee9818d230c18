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

// In blocks of filters that are computed together: [block][kernel row][kernel column][channel or word of the group]
// [lanes]. Words are in the order of the kernel's sums. The last block overlaps the one before it.
class GroupedWeights : public Prepared {
 public:
  GroupedWeights(const GroupedTable& table, const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  bool fits(const GroupedTable& table) const { return lanes_ == table.lanes && hasWords_ == table.hasWords; }
  bool hasWords() const { return hasWords_; }
  int64_t blocks() const;
  int64_t firstOf(int64_t block) const;
  const float* row(int64_t block, int64_t kernelRow) const {
    return reinterpret_cast<const float*>(values_->data()) + block * blockFloats_ + kernelRow * rowFloats_;
  }

 private:
  int64_t lanes_, filters_;
  bool hasWords_;
  int64_t blockFloats_, rowFloats_;  // of a block, of a kernel row of it; or words
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
void runGroupedSegment(const GroupedTable& table, const GroupedWeights& weights, const ConvShape& shape,
                       const GroupedSegment& segment);

NarrowOperands narrowGroups(const Node& node);
bool acceptsGrouped(const OpRequest& request);
bool acceptsGroupedWords(const OpRequest& request);
std::unique_ptr<OpKernel> createGrouped(const OpRequest& request);

}  // namespace max
