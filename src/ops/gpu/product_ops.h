// SPDX-License-Identifier: Apache-2.0
// The launches of what is computed as a product.
#pragma once

#include <algorithm>
#include <memory>

#include "ops/gpu/product_source.h"
#include "ops/gpu/several.h"

namespace max {

// Which of an operator's kernels a product launches.
struct ProductKernels {
  size_t product;
  size_t sum;              // adds the parts of a product that is cut along its depth
  size_t sumBytes;         // of one part of one result
  size_t firstAddend = 2;  // the first input of the second one
};

// The product of `count` results, as planned, and what adds its parts, if there are several. The kernels take the
// layout first; then the inputs, or the parts and what is added to sums, and the output.
template <class Layout>
std::unique_ptr<OpKernel> productOps(const Placed& placed, const OpRequest& request, Layout layout,
                                     const ProductPlan& plan, int64_t count, const ProductKernels& kernels) {
  constexpr int64_t kMostBlocks = 65536;
  const auto addInputs = [&](LaunchOp& op, size_t first) {
    for (size_t i = first; i < request.inputs.size(); ++i)
      if (request.has(i)) op.addInput(i);
  };
  layout.splits = plan.splits;
  layout.perSplit = plan.perSplit;
  const bool isSplit = plan.splits > 1;
  auto ops =
      std::make_unique<SeveralOps>(placed, isSplit ? static_cast<size_t>(plan.splits * count) * kernels.sumBytes : 0);
  LaunchOp& product = ops->add(kernels.product);
  product.addFirst(layout);
  addInputs(product, 0);
  product.addOutput(LaunchOp::kScratch);
  product.addOutput(0);
  product.setGrid(std::clamp<int64_t>(plan.tiles, 1, kMostBlocks), 1, 1, plan.threads());
  if (!isSplit) return ops;
  LaunchOp& sum = ops->add(kernels.sum);
  sum.addFirst(layout);
  sum.addInput(LaunchOp::kScratch);
  addInputs(sum, kernels.firstAddend);
  sum.addOutput(0);
  sum.coverElements(count);
  return ops;
}

}  // namespace max
