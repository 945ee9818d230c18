// SPDX-License-Identifier: Apache-2.0
// Packed weights of products and convolutions in a cache on disk.
#pragma once

#include <span>

#include "graph/graph.h"

namespace max {

class WeightsCache;

// What OperatorLibrary says of recallWeights() and keepWeights().
Ref<Prepared> recallPacked(const WeightsCache& cache, const Node& node, std::span<const Tensor* const> constants);
void keepPacked(const WeightsCache& cache, const Node& node, std::span<const Tensor* const> constants,
                const Prepared& prepared);
// What it says of packsUnaligned().
bool isPackedAnywhere(const Node& node, std::span<const Tensor* const> constants);

}  // namespace max
