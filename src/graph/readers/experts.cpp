// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/experts.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace max::readers {

namespace {

ExpertActivation readActivation(const Attributes& attributes) {
  const std::string name = attributes.getString("activation_type", "relu");
  if (name == "gelu") return ExpertActivation::Gelu;
  if (name == "silu") return ExpertActivation::Silu;
  if (name == "identity") return ExpertActivation::Identity;
  return name == "swiglu" ? ExpertActivation::SwiGlu : ExpertActivation::Relu;
}

// In the order of the enumeration.
constexpr std::string_view kBits[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits"};

}  // namespace

Experts::Experts(const Attributes& attributes)
    : activation(readActivation(attributes)),
      chosen(attributes.getInt("k", 1)),
      normalizes(attributes.getInt("normalize_routing_weights", 0) != 0),
      isSparseMixer(attributes.getInt("use_sparse_mixer", 0) != 0),
      isFused(activation == ExpertActivation::SwiGlu && attributes.getInt("swiglu_fusion", 0) != 0),
      isInterleaved(attributes.getInt("swiglu_fusion", 0) == 1),
      alpha(attributes.getFloat("activation_alpha", 1)),
      beta(attributes.getFloat("activation_beta", 0)),
      limit(attributes.getFloat("swiglu_limit", std::numeric_limits<float>::infinity())) {}

ExpertWeights::ExpertWeights(const Attributes& attributes, ExpertLayer layer)
    : bits(attributes.getInt(kBits[static_cast<size_t>(layer)], attributes.getInt("expert_weight_bits", 4))),
      block(std::max<int64_t>(attributes.getInt("block_size", 0), 0)) {
  if (bits != 2 && bits != 4 && bits != 8) invalidArgument("weights of ", bits, " bits");
  if (block > 0 && (block < 16 || block > (1 << 20) || (block & (block - 1))))
    invalidArgument("blocks of ", block, " weights");
}

}  // namespace max::readers
