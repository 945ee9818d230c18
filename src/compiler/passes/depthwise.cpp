// SPDX-License-Identifier: Apache-2.0
// Joins a pointwise convolution and the depthwise one that alone reads it, so that what lies between, the largest
// tensors of mobile networks, need not leave the cache. On the host: an accelerator's products want all their rows.
#include "compiler/passes.h"
#include "graph/readers/matrix.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

// max.Conv of float32 with constant weights and no residual.
bool isPlain(const Node& conv) {
  const auto isKnown = [](const Value* input) { return !input || input->constant; };
  return isKnown(conv.input(1)) && isKnown(conv.input(2)) && !conv.input(3) &&
         conv.output()->type.dtype == DType::Float32 && conv.input(1)->constant->count() > 0;
}

bool isDepthwise(const Node& conv) {
  const Shape& weights = conv.input(1)->constant->shape();
  return weights[0] > 1 && weights[1] == 1 && readers::readGroups(conv.attributes) == weights[0];
}

bool isPointwise(const Node& conv) { return readers::isPointwise(conv.attributes, conv.input(1)->constant->shape()); }

bool joinExpansion(Rewriter& rewriter, Node& node) {
  Node* expand = ownProducer(node.input(0), "Conv");
  if (!expand || !hasSingleUse(node.input(0)) || rankOf(node.input(0)) > 4) return false;
  if (!isPlain(node) || !isPlain(*expand) || !isDepthwise(node) || !isPointwise(*expand)) return false;
  const readers::FusedActivation activation(expand->attributes);
  Attributes attributes = node.attributes;
  if (!activation.name.empty()) attributes.set("expand_activation", activation.name);
  attributes.set("expand_activation_alpha", activation.alpha);
  attributes.set("expand_activation_beta", activation.beta);
  Node* joined = rewriter.add(kMaxDomain, "ExpandConv",
                              {expand->input(0), expand->input(1), node.input(1), expand->input(2), node.input(2)},
                              std::move(attributes), {expand, &node});
  return rewriter.replace(&node, joined->output());
}

constexpr Rule kRules[] = {{kMaxDomain, "Conv", joinExpansion}};

}  // namespace

void joinDepthwise(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kRules);
}

}  // namespace max
