// SPDX-License-Identifier: Apache-2.0
// The geometry of a transposed convolution as three spatial axes: missing ones come first, as axes of size 1.
#pragma once

#include <memory>

#include "ops/cpu/convolution/conv.h"

namespace max {

struct TransposedShape {
  int64_t images, channels, filters, groups;
  Spatial in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0};

  // `isLast`: pixels have the channels last, as those of the compiler's ConvTranspose.
  TransposedShape(const OpRequest& request, bool isLast);

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t groupFilters() const { return filters / groups; }
  int64_t inPixels() const { return in[0] * in[1] * in[2]; }
  int64_t outPixels() const { return out[0] * out[1] * out[2]; }
  // The input position whose tap meets an output position; -1 = none.
  int64_t source(size_t axis, int64_t position, int64_t tap) const {
    const int64_t at = position + before[axis] - tap * dilation[axis];
    const bool meets = at >= 0 && at % stride[axis] == 0 && at / stride[axis] < in[axis];
    return meets ? at / stride[axis] : -1;
  }
};

// Every output pixel is one tap of one input pixel: the kernel is as large as the stride, and nothing is cropped or
// added. With channels last, products are then rows of the output (conv_transpose_rows.cpp).
bool hasDisjointTaps(const Attributes& attributes, const Shape& weights);
std::unique_ptr<OpKernel> createDisjointTaps(const OpRequest& request, const GemmTable& table);
Ref<Prepared> prepareDisjointTaps(const Node& node, const Tensor& weights);

// Places of the output that are a stride apart from each other are a convolution of the input without strides, by the
// taps that are a stride apart, the last one first.
struct TransposedPhase {
  Spatial first, firstTap;
  ConvShape convolution;

  // `number`: of the first place, in the order of the output.
  TransposedPhase(const TransposedShape& shape, int64_t number);
};

// Channels last, a filter for each channel, groups of which a vector holds some, or filters that fill vectors: each
// phase is such a convolution (conv_transpose_phases.cpp). Taps that do not overlap take rows, which come first.
bool takesPhases(const Node& node, const Shape& weights);
// Of ONNX's ConvTranspose, whose filters come with the call; not those of products.
bool takesPhasesOfCall(const OpRequest& request);
std::unique_ptr<OpKernel> createPhases(const OpRequest& request);
Ref<Prepared> preparePhases(const Node& node, const Tensor& weights);

// How the weights of a transposed convolution are packed; nothing if they are not.
std::optional<PackedForm> transposedForm(const Node& node, std::span<const Tensor* const> constants);

// Weights [channels, filters of a group, taps..] as [channels, taps, filters of a group].
Ref<Tensor> withFiltersLast(const Tensor& weights);

}  // namespace max
