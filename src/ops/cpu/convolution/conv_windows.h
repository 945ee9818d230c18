// SPDX-License-Identifier: Apache-2.0
// max.Conv of few channels as products of bfloat16, whose words are those of windows (window_words.h).
#pragma once

#include <memory>

#include "ops/cpu/convolution/window_words.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/narrow.h"

namespace max {

// Filters, packed in the order of the windows' words.
class WindowWeights final : public Prepared {
 public:
  WindowWeights(const Node& node, const Tensor& weights);
  size_t bytes() const override { return packed_->bytes(); }
  bool replaces(size_t input) const override { return input == 1; }
  const WindowOrder& order() const { return order_; }
  const float* data() const { return packed_->data(); }

 private:
  WindowOrder order_;
  Ref<PackedWeights> packed_;
};

// Whether a convolution has so few channels, and a form that is worth it.
bool hasWindows(const Node& node, const Tensor& weights);
NarrowOperands narrowWindows(const Shape& weights);
bool acceptsWindows(const OpRequest& request);
std::unique_ptr<OpKernel> createWindows(const OpRequest& request);

}  // namespace max
