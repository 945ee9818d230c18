// SPDX-License-Identifier: Apache-2.0
// MoE and QMoE of com.microsoft.
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

void expandMoE(Expansion& e) { e.setOutput(0, e.own("MoE", e.node().inputs, e.attributes())); }

// Further inputs are for floating-point weights.
constexpr size_t kIntegerInputs = 15;

void expandQMoE(Expansion& e) {
  const std::string type = e.text("quant_type", "int");
  if (type != "int") e.unsupported("attribute 'quant_type' '", type, "' is not supported");
  if (e.integer("weights_prepacked", -1) == 1) e.unsupported("attribute 'weights_prepacked' 1 is not supported");
  Values inputs = e.node().inputs;
  inputs.resize(std::min<size_t>(inputs.size(), kIntegerInputs));
  e.setOutput(0, e.own("QMoE", std::move(inputs), e.attributes()));
}

constexpr std::string_view kMoE =
    "activation_alpha=f activation_beta=f activation_type=s k=i normalize_routing_weights=i swiglu_fusion=i "
    "swiglu_limit=f use_sparse_mixer=i";
constexpr std::string_view kQMoE =
    "accuracy_level=i activation_alpha=f activation_beta=f activation_type=s block_size=i expert_weight_bits=i "
    "fc1_expert_weight_bits=i fc2_expert_weight_bits=i fc3_expert_weight_bits=i k=i normalize_routing_weights=i "
    "quant_type=s swiglu_fusion=i swiglu_limit=f use_sparse_mixer=i weights_prepacked=i";

const Composite kRows[] = {
    {{microsoft::kDomain, "MoE", 3, 8, 1, 1, "T,T,T,T,T,T,T,T->T; T=float16|bfloat16|float32", nullptr, 0, 0, kMoE},
     expandMoE},
    {{microsoft::kDomain, "QMoE", 3, 21, 1, 1,
      "T,T,W,S,T,W,S,T,W,S,T,W,W,W,T,float32,float32,float32,float32,S,S->T; T=float16|bfloat16|float32; "
      "W=uint8|float8_e4m3fn; S=float16|bfloat16|float32|float8_e8m0fnu|float8_e4m3fn",
      nullptr, 0, 0, kQMoE},
     expandQMoE},
};

}  // namespace

std::span<const Composite> expertComposites() { return kRows; }

}  // namespace max
