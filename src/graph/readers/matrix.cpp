// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/matrix.h"

#include "base/error.h"
#include "graph/activations.h"

namespace max::readers {

Product::Product(const Attributes& attributes)
    : transposesA(attributes.getInt("transA", 0) != 0),
      transposesB(attributes.getInt("transB", 0) != 0),
      alpha(attributes.getFloat("alpha", 1)),
      beta(attributes.getFloat("beta", 1)) {}

FusedActivation::FusedActivation(const Attributes& attributes, const std::string& prefix)
    : name(attributes.getString(prefix + "activation", "")) {
  const ActivationInfo* info = findActivation(name, ActivationInfo::Epilogues);
  if (!info) return;
  alpha = info->parameters > 0 ? attributes.getFloat(prefix + "activation_alpha", info->alpha) : info->alpha;
  beta = info->parameters > 1 ? attributes.getFloat(prefix + "activation_beta", info->beta) : info->beta;
}

bool hasActivation(const Attributes& attributes) { return !attributes.getString("activation", "").empty(); }

bool addsResidualLast(const Attributes& attributes) { return attributes.getInt("residual_last", 0) != 0; }

PackedProduct::PackedProduct(const Attributes& attributes)
    : depth(attributes.getInt("K", 0)),
      columns(attributes.getInt("N", 0)),
      bits(attributes.getInt("bits", 0)),
      block(attributes.getInt("block_size", 0)),
      mayRoundRows(attributes.getInt("accuracy_level", 0) == 4) {
  if (bits != 2 && bits != 4 && bits != 8) invalidArgument("weights of ", bits, " bits");
  if (block < 16 || block > (1 << 20) || (block & (block - 1))) invalidArgument("blocks of ", block, " weights");
  if (depth < 1 || columns < 1) invalidArgument("weights of ", columns, " rows and ", depth, " columns");
}

}  // namespace max::readers
