// SPDX-License-Identifier: Apache-2.0
// The operators of the CPU: the fast families and, behind them, the reference ones.
#include "ops/cpu/elementwise/lower.h"
#include "ops/cpu/kept_weights.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/tile_tables.h"
#include "ops/cpu/packed.h"
#include "ops/cpu/weights_cache.h"
#include "ops/families.h"
#include "ops/operator_library.h"

namespace max {

namespace {

std::vector<std::span<const OpRow>> families() {
#define MAX_CALL_FAMILY(function) function(),
  return {MAX_FOR_EACH_OP_FAMILY(MAX_CALL_FAMILY)};
#undef MAX_CALL_FAMILY
}

class CpuOperators final : public OperatorLibrary {
 public:
  CpuOperators() : OperatorLibrary("cpu", families()) {}

  bool canFuse(const Node& node) const override { return canFuseElementwise(node); }
  size_t maxFusedInputs() const override { return kMaxElementwiseInputs; }
  MaxPrecision precisionFor(MaxPrecision wanted) const override {
    const bool isFaster = wanted == MAX_PRECISION_HIGH ? tileTables() != nullptr : bfloat16GemmTable() != nullptr;
    return isFaster ? wanted : MAX_PRECISION_HIGHEST;
  }
  Ref<Prepared> recallWeights(const std::string& folder, const Node& node,
                              std::span<const Tensor* const> constants) const override {
    return recallPacked(WeightsCache(folder), node, constants);
  }
  void keepWeights(const std::string& folder, const Node& node, std::span<const Tensor* const> constants,
                   const Prepared& prepared) const override {
    keepPacked(WeightsCache(folder), node, constants, prepared);
  }
  bool packsUnaligned(const Node& node, std::span<const Tensor* const> constants) const override {
    return isPackedAnywhere(node, constants);
  }
  Ref<Prepared> lower(const Expression& expression) const override { return lowerElementwise(expression); }

 private:
  std::unique_ptr<OpKernel> createFallback(const OpRequest& request) const override {
    return createUnpackedOp(request);
  }
};

}  // namespace

// Threads may use it while the process exits.
const OperatorLibrary& cpuOperators() {
  static const OperatorLibrary& instance = *new CpuOperators;
  return instance;
}

}  // namespace max
