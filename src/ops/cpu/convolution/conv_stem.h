// SPDX-License-Identifier: Apache-2.0
// The first convolution of networks for images, which reads a few channels: a product would have too little to do for
// what it costs to find its rows. Likewise those of one vector of filters. Where filters fill half of a vector at most,
// too, vectors are those of pixels, in planes of the input; with products of bfloat16, of words of two channels.
#pragma once

#include "ops/cpu/convolution/conv_shape.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

// How a row of output pixels is computed.
struct StemRow {
  const float* const* x;        // per kernel row: the input row with its borders, or its planes
  const float* const* weights;  // per kernel row: its part of a block of filters
  int64_t rows;                 // kernel rows inside the image
  int64_t rowTaps;              // kernel width * channels or words, consecutive in a row of the input
  int64_t step;                 // floats of the input from one output pixel to the next
  int64_t pixels;
  int64_t filters;                   // of the block
  int64_t pixelSize;                 // filters of a pixel of the output
  const float* bias;                 // of the block; NULL = none
  float* out;                        // the block's place in the first pixel
  uint16_t* narrow;                  // the output as bfloat16 instead; NULL = floats
  float low, high;                   // limits of the results; infinities = none
  const int64_t* offsets = nullptr;  // with planes: of each tap's from `x`
};

struct StemTable {
  int64_t blockFilters;  // at most, of a block
  int64_t lanes;         // the filters of a block are padded to a multiple of it
  void (*run)(const StemRow& row);
  int64_t overread = 0;      // pixels of a plane; 0 = rows have no planes
  int64_t mostOfPlanes = 0;  // filters that are better off with planes; 0 = none
  int64_t elements = 1;      // 2 = words of bfloat16, of an even number of channels
  bool hasPlanes() const { return overread > 0; }
};
const StemTable& stemTable();  // of cpuTarget()
// Where the output's width is known, it counts, so that nodes that share weights must have equal outputs.
const StemTable& stemTableFor(const Node& node, const Shape& weights);

// Filters in blocks: [block][kernel row][kernel column][channel or word][filters of the block, padded].
class StemWeights : public Prepared {
 public:
  StemWeights(const StemTable& table, const Tensor& weights);
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  bool fits(const StemTable& table) const {
    return lanes_ == table.lanes && blockFilters_ == table.blockFilters && elements_ == table.elements;
  }
  bool hasWords() const { return elements_ > 1; }
  // The part of the kernel row of the block that begins with this filter.
  const float* row(int64_t filter, int64_t kernelRow) const;

 private:
  int64_t lanes_, blockFilters_, elements_, filters_;
  int64_t lastFilters_;           // of the last block, padded, if it is smaller
  int64_t kernelRows_, rowTaps_;  // taps of channels or words
  Ref<Tensor> values_;
};

// Whether a convolution has so few channels or filters, and a form that is worth it.
bool isStem(const Node& node, const Tensor& weights);
Ref<Prepared> prepareStem(const Node& node, const Tensor& weights);
NarrowOperands narrowStem(const Node& node);
bool acceptsStem(const OpRequest& request);
bool acceptsStemWords(const OpRequest& request);
std::unique_ptr<OpKernel> createStem(const OpRequest& request);

}  // namespace max
