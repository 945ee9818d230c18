// SPDX-License-Identifier: Apache-2.0
// Activations, products with activations, normalisations.
#include "graph/composites/microsoft.h"

#include "graph/composites/tables.h"

namespace max {

namespace microsoft {

Attributes attributesWithout(const Expansion& e, std::initializer_list<std::string_view> names) {
  Attributes attributes = e.attributes();
  for (std::string_view name : names) attributes.erase(name);
  return attributes;
}

void forward(Expansion& e, std::string_view op, Attributes attributes) {
  const Values outputs = e.nodes("", op, e.node().inputs, std::move(attributes), e.outputCount());
  for (size_t i = 0; i < outputs.size(); ++i) e.setOutput(i, outputs[i]);
}

std::vector<int64_t> channelsFirst(int rank) {
  std::vector<int64_t> perm{0, rank - 1};
  for (int i = 1; i + 1 < rank; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> channelsLast(int rank) {
  std::vector<int64_t> perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

void refuse(Expansion& e, std::initializer_list<const char*> flags) {
  for (const char* flag : flags)
    if (e.flag(flag)) e.unsupported("attribute '", flag, "' is not supported");
}

void refuseInputs(Expansion& e, std::initializer_list<std::pair<size_t, const char*>> inputs) {
  for (const auto& [i, name] : inputs)
    if (e.has(i)) e.unsupported("input '", name, "' is not supported");
}

Value* maskIndex(Expansion& e, Value* mask) {
  if (!mask) return e.expand(e.scalar(DType::Int32, 0), {e.dim(e.input(0), 0)});
  Value* counted = e.cast(e.op("Equal", {mask, e.like(mask, 1)}), DType::Int32);
  return e.reduce("ReduceSum", counted, {1});
}

std::optional<double> givenScale(Expansion& e) {
  const float scale = e.number("scale", 0);
  return scale == 0 ? std::nullopt : std::optional<double>(scale);
}

}  // namespace microsoft

namespace {

using microsoft::attributesWithout;
using microsoft::kDomain;

Value* gelu(Expansion& e, Value* value, const char* approximate) {
  return e.op("Gelu", {value}, attributesOf({{"approximate", std::string(approximate)}}));
}

void expandGelu(Expansion& e) { e.setOutput(0, gelu(e, e.input(0), "none")); }
void expandBiasGelu(Expansion& e) { e.setOutput(0, gelu(e, e.add(e.input(0), e.input(1)), "none")); }

void expandFastGelu(Expansion& e) {
  e.setOutput(0, gelu(e, e.has(1) ? e.add(e.input(0), e.input(1)) : e.input(0), "tanh"));
}

void expandQuickGelu(Expansion& e) {
  e.setOutput(0, e.op("Swish", {e.input(0)}, attributesOf({{"alpha", e.number("alpha", 1.702f)}})));
}

// The activation of a fused operator, with its parameters in the order of their names below.
struct Activation {
  std::string_view name;
  const char* parameters[2];  // attributes of the operator; NULL = none
};

constexpr Activation kActivations[] = {
    {"Relu", {}},
    {"Sigmoid", {}},
    {"Tanh", {}},
    {"Softplus", {}},
    {"HardSwish", {}},
    {"Softsign", {}},
    {"LeakyRelu", {"alpha"}},
    {"Elu", {"alpha"}},
    {"ThresholdedRelu", {"alpha"}},
    {"Selu", {"alpha", "gamma"}},
    {"HardSigmoid", {"alpha", "beta"}},
};

Value* clipped(Expansion& e, Value* value, const std::vector<float>& parameters) {
  Values inputs{value};
  for (float bound : parameters) inputs.push_back(e.like(value, bound));
  return e.op("Clip", std::move(inputs));
}

Value* activated(Expansion& e, Value* value, const std::vector<float>& parameters) {
  const std::string name = e.text("activation", "");
  if (name.empty()) return value;
  if (parameters.size() > 2) e.invalid("activation '", name, "' has ", parameters.size(), " parameters");
  if (name == "Clip") return clipped(e, value, parameters);
  for (const Activation& activation : kActivations) {
    if (activation.name != name) continue;
    Attributes attributes;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (activation.parameters[i]) attributes.set(activation.parameters[i], parameters[i]);
    return e.op(name, {value}, std::move(attributes));
  }
  e.unsupported("activation '", name, "' is not supported");
}

void expandFusedConv(Expansion& e) {
  Values inputs = e.node().inputs;
  inputs.resize(std::min<size_t>(inputs.size(), 3));
  Value* value = e.op("Conv", std::move(inputs), attributesWithout(e, {"activation", "activation_params"}));
  if (e.has(3)) value = e.add(value, e.input(3));
  e.setOutput(0, activated(e, value, e.attributes().getFloats("activation_params")));
}

// Images have channels last; filters have Conv's layout.
void expandNhwcConv(Expansion& e) {
  const int rank = e.rank(e.input(0));
  if (rank < 3) e.invalid("input 0 has ", rank, " dimensions, not 3 or more");
  Values inputs = e.node().inputs;
  inputs.resize(std::min<size_t>(inputs.size(), 3));
  inputs[0] = e.transpose(inputs[0], microsoft::channelsFirst(rank));
  Value* value = e.op("Conv", std::move(inputs), attributesWithout(e, {"activation", "activation_params"}));
  value = e.transpose(value, microsoft::channelsLast(rank));
  if (e.has(3)) value = e.add(value, e.input(3));
  e.setOutput(0, activated(e, value, e.attributes().getFloats("activation_params")));
}

std::vector<float> activationParameters(const Expansion& e) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (e.attributes().has(name)) parameters.push_back(e.number(name, 0));
  return parameters;
}

void expandFusedGemm(Expansion& e) {
  Value* value = e.op("Gemm", e.node().inputs,
                      attributesWithout(e, {"activation", "activation_alpha", "activation_beta", "activation_gamma"}));
  e.setOutput(0, activated(e, value, activationParameters(e)));
}

// A factor of FusedMatMul as a matrix: the rows may come before the batch, and then the last two axes may be swapped.
Value* factor(Expansion& e, size_t i, bool swap, bool batchBehind) {
  const int rank = e.rank(e.input(i));
  if (rank < 2) return e.input(i);
  std::vector<int64_t> perm;
  for (int axis = 0; axis < rank; ++axis) perm.push_back(axis);
  if (batchBehind) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  if (swap) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return e.transpose(e.input(i), perm);
}

Value* fusedProduct(Expansion& e) {
  Value* product = e.matmul(factor(e, 0, e.flag("transA"), e.flag("transBatchA")),
                            factor(e, 1, e.flag("transB"), e.flag("transBatchB")));
  const float alpha = e.number("alpha", 1);
  return alpha == 1 ? product : e.mul(product, e.like(product, alpha));
}

void expandFusedMatMul(Expansion& e) { e.setOutput(0, fusedProduct(e)); }

void expandFusedMatMulActivation(Expansion& e) {
  if (e.integer("activation_axis", -1) != -1) e.unsupported("attribute 'activation_axis' is not supported");
  e.setOutput(0, activated(e, fusedProduct(e), activationParameters(e)));
}

void expandGemmFastGelu(Expansion& e) {
  Value* product = e.matmul(e.input(0), e.input(1));
  e.setOutput(0, gelu(e, e.has(2) ? e.add(product, e.input(2)) : product, "tanh"));
}

// 1 / sqrt(mean(x^2) + epsilon) along the axes from `axis` on.
Value* inverseRoot(Expansion& e, Value* value, int64_t axis, float epsilon) {
  Value* wide = e.cast(value, DType::Float32);
  std::vector<int64_t> axes;
  for (int64_t i = e.axis(axis, e.rank(value)); i < e.rank(value); ++i) axes.push_back(i);
  Value* mean = e.reduce("ReduceMean", e.mul(wide, wide), axes, true);
  return e.op("Reciprocal", {e.op("Sqrt", {e.add(mean, e.like(mean, epsilon))})});
}

void expandSimplifiedLayerNormalization(Expansion& e) {
  e.setOutput(0, e.op("RMSNormalization", {e.input(0), e.input(1)}, e.attributes()));
  if (e.outputCount() > 1)
    e.setOutput(1, inverseRoot(e, e.input(0), e.integer("axis", -1), e.number("epsilon", 1e-5f)));
}

Attributes lastAxis(Expansion& e) {
  return attributesOf({{"axis", int64_t{-1}}, {"epsilon", e.number("epsilon", 1e-12f)}});
}

void expandSkipLayerNormalization(Expansion& e) {
  Value* sum = e.add(e.input(0), e.input(1));
  if (e.has(4)) sum = e.add(sum, e.input(4));
  Values inputs{sum, e.input(2)};
  if (e.has(3)) inputs.push_back(e.input(3));
  const Values outputs = e.nodes("", "LayerNormalization", std::move(inputs), lastAxis(e), 3);
  for (size_t i = 0; i < 3; ++i) e.setOutput(i, outputs[i]);
  e.setOutput(3, sum);
}

void expandSkipSimplifiedLayerNormalization(Expansion& e) {
  Value* sum = e.add(e.input(0), e.input(1));
  if (e.has(3)) sum = e.add(sum, e.input(3));
  e.setOutput(0, e.op("RMSNormalization", {sum, e.input(2)}, lastAxis(e)));
  if (e.outputCount() > 2) e.setOutput(2, inverseRoot(e, sum, -1, e.number("epsilon", 1e-12f)));
  e.setOutput(3, sum);
}

void expandEmbedLayerNormalization(Expansion& e) {
  Value* sum = e.gather(e.input(2), e.input(0), 0);
  Value* positions = e.has(8) ? e.gather(e.input(3), e.input(8), 0) : e.slice(e.input(3), 0, 0, e.dim(e.input(0), 1));
  sum = e.add(sum, positions);
  if (e.has(1) && e.has(4)) sum = e.add(sum, e.gather(e.input(4), e.input(1), 0));
  e.setOutput(0, e.op("LayerNormalization", {sum, e.input(5), e.input(6)}, lastAxis(e)));
  if (e.outputCount() > 1) e.setOutput(1, microsoft::maskIndex(e, e.input(7)));
  e.setOutput(2, sum);
}

void expandTrilu(Expansion& e) { microsoft::forward(e, "Trilu", e.attributes()); }

constexpr std::string_view kMatMulAttributes = "alpha=f transA=i transB=i transBatchA=i transBatchB=i";
constexpr std::string_view kConvAttributes =
    "activation=s activation_params=F auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i "
    "kernel_shape=I pads=I strides=I";

constexpr OpSchema row(std::string_view name, int minInputs, int maxInputs, int maxOutputs, std::string_view types,
                       std::string_view attributes, std::string_view domain = kDomain) {
  return {domain, name, minInputs, maxInputs, 1, maxOutputs, types, nullptr, 0, 0, attributes};
}

const Composite kRows[] = {
    {row("Gelu", 1, 1, 1, "T->T; T=float", ""), expandGelu},
    {row("BiasGelu", 2, 2, 1, "T,T->T; T=float", ""), expandBiasGelu},
    {row("FastGelu", 1, 2, 1, "T,T->T; T=float", ""), expandFastGelu},
    {row("QuickGelu", 1, 1, 1, "T->T; T=float", "alpha=f"), expandQuickGelu},
    {row("FusedConv", 2, 4, 1, "T,T,T,T->T; T=float", kConvAttributes), expandFusedConv},
    {row("FusedGemm", 2, 3, 1, "T,T,T->T; T=number",
         "activation=s activation_alpha=f activation_beta=f activation_gamma=f alpha=f beta=f transA=i transB=i"),
     expandFusedGemm},
    {row("FusedMatMul", 2, 2, 1, "T,T->T; T=float", kMatMulAttributes), expandFusedMatMul},
    {row("NhwcConv", 2, 3, 1, "T,T,T->T; T=float",
         "auto_pad=s{NOTSET,VALID,SAME_UPPER,SAME_LOWER,} dilations=I group=i kernel_shape=I pads=I strides=I"),
     expandNhwcConv},
    {row("NhwcFusedConv", 2, 4, 1, "T,T,T,T->T; T=float", kConvAttributes), expandNhwcConv},
    {row("FusedMatMulActivation", 2, 2, 1, "T,T->T; T=float",
         "activation=s activation_alpha=f activation_axis=i activation_beta=f activation_gamma=f alpha=f transA=i "
         "transB=i transBatchA=i transBatchB=i"),
     expandFusedMatMulActivation},
    {row("GemmFastGelu", 2, 3, 1, "T,T,T->T; T=float", ""), expandGemmFastGelu},
    {row("TransposeMatMul", 2, 2, 1, "T,T->T; T=float", kMatMulAttributes), expandFusedMatMul},
    {row("SimplifiedLayerNormalization", 2, 2, 2, "T,V->V,float32; T=float; V=float", "axis=i epsilon=f stash_type=i",
         ""),
     expandSimplifiedLayerNormalization},
    {row("SkipLayerNormalization", 3, 5, 4, "T,T,T,T,T->T,float32,float32,T; T=float", "epsilon=f"),
     expandSkipLayerNormalization},
    {row("SkipSimplifiedLayerNormalization", 3, 4, 4, "T,T,T,T->T,float32,float32,T; T=float", "epsilon=f"),
     expandSkipSimplifiedLayerNormalization},
    {row("EmbedLayerNormalization", 1, 9, 3, "I,I,T,T,T,T,T,I,I->T,int32,T; I=index; T=float",
         "epsilon=f mask_index_type=i"),
     expandEmbedLayerNormalization},
    {row("Trilu", 1, 2, 1, "T,int64->T; T=any", "upper=i"), expandTrilu},
};

}  // namespace

std::span<const Composite> microsoftComposites() { return kRows; }

}  // namespace max
