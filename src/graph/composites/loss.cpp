// SPDX-License-Identifier: Apache-2.0
// Losses.
#include "graph/composites/tables.h"

namespace max {

namespace {

// The weight of each target: 0 for ignored ones. NULL = all 1.
Value* weightsOf(Expansion& e, Value* input, Value* safe, Value* ignored) {
  if (e.has(2)) {
    Value* weights = e.gather(e.input(2), safe, 0);
    return ignored ? e.where(ignored, e.like(weights, 0), weights) : weights;
  }
  return ignored ? e.where(ignored, e.like(input, 0), e.like(input, 1)) : nullptr;
}

Value* reduced(Expansion& e, Value* loss, Value* weights) {
  const std::string reduction = e.text("reduction", "mean");
  if (reduction == "none") return loss;
  const Attributes all = attributesOf({{"keepdims", int64_t{0}}});
  if (reduction == "sum") return e.op("ReduceSum", {loss}, all);
  if (!weights) return e.op("ReduceMean", {loss}, all);
  return e.div(e.op("ReduceSum", {loss}, all), e.op("ReduceSum", {weights}, all));
}

// -weight[target] * logProbability[target] along axis 1.
Value* lossOf(Expansion& e, Value* logProbabilities) {
  Value* target = e.input(1);
  if (e.rank(logProbabilities) < 2) e.invalid("input 0 has ", e.rank(logProbabilities), " dimensions, not 2 or more");
  Value* ignored = nullptr;
  Value* safe = target;  // ignored targets may be out of range
  if (e.attributes().has("ignore_index")) {
    ignored = e.op("Equal", {target, e.like(target, static_cast<double>(e.integer("ignore_index", 0)))});
    safe = e.where(ignored, e.like(target, 0), target);
  }
  Value* picked =
      e.op("GatherElements", {logProbabilities, e.unsqueeze(safe, {1})}, attributesOf({{"axis", int64_t{1}}}));
  Value* loss = e.op("Neg", {e.squeeze(picked, {1})});
  Value* weights = weightsOf(e, logProbabilities, safe, ignored);
  if (weights) loss = e.mul(loss, weights);
  return reduced(e, loss, weights);
}

void expandNegativeLogLikelihoodLoss(Expansion& e) { e.setOutput(0, lossOf(e, e.input(0))); }

void expandSoftmaxCrossEntropyLoss(Expansion& e) {
  Value* logProbabilities = e.op("LogSoftmax", {e.input(0)}, attributesOf({{"axis", int64_t{1}}}));
  e.setOutput(0, lossOf(e, logProbabilities));
  e.setOutput(1, logProbabilities);
}

constexpr std::string_view kAttributes = "ignore_index=i reduction=s{none,mean,sum}";

const Composite kRows[] = {
    {{"", "NegativeLogLikelihoodLoss", 2, 3, 1, 1, "T,I,T->T; T=float; I=index", nullptr, 0, 0, kAttributes},
     expandNegativeLogLikelihoodLoss},
    {{"", "SoftmaxCrossEntropyLoss", 2, 3, 1, 2, "T,I,T->T,T; T=float; I=index", nullptr, 0, 0, kAttributes},
     expandSoftmaxCrossEntropyLoss},
};

}  // namespace

std::span<const Composite> lossComposites() { return kRows; }

}  // namespace max
