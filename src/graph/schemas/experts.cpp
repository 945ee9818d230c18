// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: a router sends each token to a few of many small networks.
#include "graph/readers/experts.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// Shared by both operators. `third`: the input with the linear part's weights.
struct Experts {
  Dim tokens, experts, hidden, inner, columns;  // columns: of the first layer

  Experts(const InferContext& context, size_t second, size_t third);
};

Dim dimOf(const InferContext& context, size_t input, size_t axis) {
  return context.ranked(input) && axis < context.dims(input).size() ? context.dims(input)[axis] : context.unknownDim();
}

Experts::Experts(const InferContext& context, size_t second, size_t third) {
  if (!context.has(second)) context.fail("input ", second, " is missing: the weights of the second layer");
  rules::requireRankAtLeast(context, 0, 2);
  rules::requireRank(context, 1, 2);
  rules::requireRank(context, 2, 3);
  rules::requireRank(context, second, 3);
  if (context.ranked(0) && context.rank(0) > 3)
    context.fail("input 0 has ", context.rank(0), " dimensions, not 2 or 3");
  tokens = dimOf(context, 1, 0);
  if (context.ranked(0)) {
    const SymbolicShape& x = context.dims(0);
    hidden = x.back();
    tokens = rules::merge(context, tokens, x.size() == 3 ? x[0] * x[1] : x[0], "tokens of input and router");
  } else {
    hidden = dimOf(context, second, 1);
  }
  experts = rules::merge(context, dimOf(context, 1, 1), dimOf(context, 2, 0), "experts of router and weights");
  columns = dimOf(context, 2, 1);
  const readers::Experts read(context.attributes());
  const bool fused = read.isFused;
  if (read.activation == readers::ExpertActivation::SwiGlu && fused == context.has(third))
    context.fail("swiglu with swiglu_fusion ", fused ? "takes no" : "0 needs", " weights of a third layer");
  if (fused && columns.isKnown() && columns.value() % 2)
    context.fail("gate and linear part have ", columns, " columns");
  inner = fused ? floorDivide(columns, 2) : columns;
  if (experts.isKnown() && read.chosen > experts.value())
    context.fail("chooses ", read.chosen, " of ", experts, " experts");
  if (read.isSparseMixer && read.chosen != 2)
    context.fail("attribute 'use_sparse_mixer' chooses 2 experts, not ", read.chosen);
}

void inferMoE(InferContext& context) {
  const Experts e(context, 4, 6);
  rules::requireShape(context, 1, {e.tokens, e.experts});
  rules::requireShape(context, 2, {e.experts, e.columns, e.hidden});
  rules::requireShape(context, 3, {e.experts, e.columns});
  rules::requireShape(context, 4, {e.experts, e.hidden, e.inner});
  rules::requireShape(context, 5, {e.experts, e.hidden});
  rules::requireShape(context, 6, {e.experts, e.inner, e.hidden});
  rules::requireShape(context, 7, {e.experts, e.inner});
  rules::requireShape(context, 8, {e.tokens, e.experts});
  context.setOutputLike(0, 0);
}

// The operands of one quantised layer [experts, columns, depth].
struct Layer {
  readers::ExpertLayer layer;
  size_t weights, scales, bias, zeros;
};

// Bytes of `count` numbers.
Dim bytesOf(const InferContext& context, Dim count, int64_t bits, bool whole) {
  if (!count.isKnown()) return context.unknownDim();
  const int64_t all = checkedMultiply(count.value(), bits);
  if (whole && all % 8) context.fail("rows of ", count, " weights of ", bits, " bits are not whole bytes");
  return all / 8 + (all % 8 != 0);
}

void checkLayer(const InferContext& context, const Layer& layer, Dim experts, Dim columns, Dim depth) {
  if (!context.has(layer.weights)) return;
  const readers::ExpertWeights read(context.attributes(), layer.layer);
  const int64_t bits = read.bits, block = read.block;
  if (!context.has(layer.scales)) context.fail("input ", layer.scales, " is missing: the scales of weights");
  rules::requireShape(context, layer.weights, {experts, columns, bytesOf(context, depth, bits, true)});
  rules::requireShape(context, layer.bias, {experts, columns});
  if (block == 0) {
    const bool three = context.ranked(layer.scales) && context.rank(layer.scales) == 3;
    rules::requireShape(context, layer.scales,
                        three ? SymbolicShape{experts, columns, 1} : SymbolicShape{experts, columns});
    return rules::requireShape(context, layer.zeros, {experts, bytesOf(context, columns, bits, false)});
  }
  if (depth.isKnown() && depth.value() % block) context.fail(depth, " weights do not split into blocks of ", block);
  const Dim blocks = floorDivide(depth, block);
  rules::requireShape(context, layer.scales, {experts, columns, blocks});
  rules::requireShape(context, layer.zeros, {experts, columns, bytesOf(context, blocks, bits, false)});
}

void inferQMoE(InferContext& context) {
  const Experts e(context, 5, 8);
  rules::requireShape(context, 1, {e.tokens, e.experts});
  checkLayer(context, {readers::ExpertLayer::First, 2, 3, 4, 11}, e.experts, e.columns, e.hidden);
  checkLayer(context, {readers::ExpertLayer::Second, 5, 6, 7, 12}, e.experts, e.hidden, e.inner);
  checkLayer(context, {readers::ExpertLayer::Third, 8, 9, 10, 13}, e.experts, e.inner, e.hidden);
  rules::requireShape(context, 14, {e.tokens, e.experts});
  context.setOutputLike(0, 0);
}

constexpr std::string_view kMoE =
    "activation_alpha=f activation_beta=f activation_type=s{relu,gelu,silu,swiglu,identity} k=i[1..2147483647] "
    "normalize_routing_weights=i swiglu_fusion=i[0..2] swiglu_limit=f use_sparse_mixer=i";
constexpr std::string_view kQMoE =
    "accuracy_level=i activation_alpha=f activation_beta=f activation_type=s{relu,gelu,silu,swiglu,identity} "
    "block_size=i expert_weight_bits=i[2..8] fc1_expert_weight_bits=i[2..8] fc2_expert_weight_bits=i[2..8] "
    "fc3_expert_weight_bits=i[2..8] k=i[1..2147483647] normalize_routing_weights=i quant_type=s swiglu_fusion=i[0..2] "
    "swiglu_limit=f use_sparse_mixer=i weights_prepacked=i";

const OpSchema kSchemas[] = {
    {kMaxDomain, "MoE", 3, 9, 1, 1, "T,T,T,T,T,T,T,T,T->T; T=float16|bfloat16|float32", inferMoE, 0, 0, kMoE},
    {kMaxDomain, "QMoE", 3, 15, 1, 1,
     "T,T,uint8,S,T,uint8,S,T,uint8,S,T,uint8,uint8,uint8,T->T; T=float16|bfloat16|float32; S=float16|bfloat16|float32",
     inferQMoE, 0, 0, kQMoE},
};

}  // namespace

std::span<const OpSchema> expertSchemas() { return kSchemas; }

}  // namespace max
