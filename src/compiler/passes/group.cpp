// SPDX-License-Identifier: Apache-2.0
// Products of one left factor and weights of one shape become one product of an accelerator, whose matrices are the
// weights: the results are its parts.
#include <algorithm>
#include <cstring>

#include "compiler/passes.h"
#include "graph/readers/matrix.h"

namespace max {

namespace {

bool isOwnConstant(const Value* value, int rank) {
  return value->constant && value->constant->hasContents() && value->constant->shape().rank() == rank &&
         value->uses.size() == 1 && !value->isOutput();
}

bool isGroupable(const Node& node) {
  if (!node.isOwn("MatMul") || node.input(3) || node.output()->isOutput() || node.output()->uses.empty()) return false;
  const Value* bias = node.input(2);
  return isRanked(node.input(0)) && rankOf(node.input(0)) >= 2 && isOwnConstant(node.input(1), 2) &&
         (!bias || isOwnConstant(bias, 1)) && !readers::Product(node.attributes).transposesA;
}

bool sameForm(const Node& a, const Node& b) {
  const auto sameConstant = [&](size_t i) {
    const Value *x = a.input(i), *y = b.input(i);
    return x && y ? x->constant->shape() == y->constant->shape() && x->constant->dtype() == y->constant->dtype()
                  : x == y;
  };
  return a.attributes.entries() == b.attributes.entries() && sameConstant(1) && sameConstant(2);
}

// An input of all members, one behind the other, with `ones` axes of size 1 between their number and their own axes.
Value* stacked(Rewriter& rewriter, const std::vector<Node*>& members, size_t input, int ones) {
  const Tensor& first = *members.front()->input(input)->constant;
  Shape shape = first.shape();
  for (int i = 0; i < ones; ++i) shape.insert(0, 1);
  shape.insert(0, static_cast<int64_t>(members.size()));
  Ref<Tensor> all = Tensor::allocate(first.dtype(), shape);
  auto* to = static_cast<std::byte*>(all->mutableData());
  for (const Node* member : members) {
    std::memcpy(to, member->input(input)->constant->data(), first.bytes());
    to += first.bytes();
  }
  return rewriter.constant(std::move(all));
}

void group(Rewriter& rewriter, const std::vector<Node*>& members) {
  Node& first = *members.front();
  std::vector<Value*> inputs{first.input(0), stacked(rewriter, members, 1, rankOf(first.input(0)) - 2)};
  if (first.input(2)) inputs.push_back(stacked(rewriter, members, 2, 0));
  const std::vector<const Node*> origins(members.begin(), members.end());
  Value* product = rewriter.add(kMaxDomain, "MatMul", std::move(inputs), first.attributes, origins)->output();
  Attributes axis;
  axis.set("axis", int64_t{0});
  Value* sizes = rewriter.constant(std::vector<int64_t>(members.size(), 1));
  const Node* split = rewriter.add("", "Split", {product, sizes}, std::move(axis), origins, members.size());
  Value* firstAxis = rewriter.constant(std::vector<int64_t>{0});
  for (size_t i = 0; i < members.size(); ++i) {
    const Node* part = rewriter.add("", "Squeeze", {split->output(i), firstAxis}, {}, {members[i]});
    rewriter.replace(members[i], part->output());
  }
}

// Of this factor, those that are like the first one, again and again.
void groupProductsOf(Rewriter& rewriter, std::vector<Node*> products) {
  while (products.size() > 1) {
    const auto others = std::stable_partition(products.begin(), products.end(),
                                              [&](const Node* node) { return sameForm(*node, *products.front()); });
    const std::vector<Node*> members(products.begin(), others);
    products.erase(products.begin(), others);
    if (members.size() > 1) group(rewriter, members);
  }
}

}  // namespace

void groupProducts(Rewriter& rewriter) {
  if (!rewriter.options().accelerator || rewriter.graph().parent()) return;
  const std::vector<Node*> nodes = rewriter.graph().nodes();
  for (Node* node : nodes) {
    if (node->inputs.empty() || !isGroupable(*node)) continue;
    std::vector<Node*> products;
    for (const Use& use : node->input(0)->uses)
      if (use.index == 0 && use.node->graph == node->graph && isGroupable(*use.node)) products.push_back(use.node);
    groupProductsOf(rewriter, std::move(products));
  }
}

}  // namespace max
