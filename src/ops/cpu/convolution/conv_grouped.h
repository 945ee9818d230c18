// SPDX-License-Identifier: Apache-2.0
// Convolutions whose groups have so few channels and filters that a vector holds several groups, as those of ResNeXt:
// as a product, each group would fill a part of a vector only.
#pragma once

#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

// How a row of output pixels is computed, for one vector of filters.
struct GroupedRow {
  const float* const* x;        // per kernel row: the input row with its borders, at the channels of these filters
  const float* const* weights;  // per kernel row: [kernel column][channel of the group][lanes]
  int64_t rows;                 // kernel rows inside the image
  int64_t rowTaps;              // kernel width
  int64_t channels;             // from one pixel of the input to the next, and of the output
  int64_t stride;
  int64_t pixels;
  const float* bias;  // NULL = none
  float* out;
  float low, high;  // limits of the results; infinities = none
};

struct GroupedTable {
  int64_t lanes;
  void (*run)(const GroupedRow& row, int64_t groupChannels);
};
const GroupedTable& groupedTable();  // of cpuTarget()

// [vector of filters][kernel row][kernel column][channel of the group][lanes].
class GroupedWeights : public Prepared {
 public:
  GroupedWeights(const GroupedTable& table, const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  bool fits(const GroupedTable& table) const { return lanes_ == table.lanes; }
  const float* row(int64_t filter, int64_t kernelRow) const {
    return values_->as<float>() + filter * filterFloats_ + kernelRow * rowFloats_;
  }

 private:
  int64_t lanes_, filterFloats_, rowFloats_;  // of a filter, of a kernel row of a vector
  Ref<Tensor> values_;
};

// Whether a convolution has such groups, and a form that is worth it.
bool hasFewInGroups(const Node& node, const Tensor& weights);
bool acceptsGrouped(const OpRequest& request);
std::unique_ptr<OpKernel> createGrouped(const OpRequest& request);

}  // namespace max
