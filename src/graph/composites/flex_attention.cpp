// SPDX-License-Identifier: Apache-2.0
// Attention with subgraphs that modify scores and weights.
#include <cmath>

#include "graph/composites/attention.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

// Inlines the attribute's graph, which has one input and one output.
Value* modified(Expansion& e, std::string_view name, Value* value) {
  const Ref<Graph> body = e.attributes().getGraph(name);
  if (!body) return value;
  if (body->inputs().size() != 1 || body->outputs().size() != 1)
    e.invalid("the graph '", name, "' has ", body->inputs().size(), " inputs and ", body->outputs().size(),
              " outputs, needs one of each");
  return e.cast(e.inlined(*body, {value})[0], e.dtypeOf(value));
}

DType softmaxType(Expansion& e) {
  const DType fallback = e.dtype(0) == DType::Float64 ? DType::Float64 : DType::Float32;
  if (!e.attributes().has("softmax_precision")) return fallback;
  const std::optional<DType> given = dtypeFromOnnx(e.integer("softmax_precision", 0));
  if (!given || !isFloat(*given) || bitsOf(*given) < 16)
    e.invalid("attribute 'softmax_precision' is not a floating-point type");
  return *given;
}

void expandFlexAttention(Expansion& e) {
  attention::Request request;
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}})
    if (e.rank(e.input(i)) != 4) e.invalid("input ", i, " has ", e.rank(e.input(i)), " dimensions, not 4");
  request.q = {e.input(0), "BHSD"};
  request.k = {e.input(1), "BHSD"};
  request.v = {e.input(2), "BHSD"};
  setScale(e, request, e.attributes().has("scale") ? std::optional<double>(e.number("scale", 1)) : std::nullopt);
  if (!e.attributes().has("score_mod") && !e.attributes().has("prob_mod"))
    return e.setOutput(0, attend(e, request).output);
  const DType dtype = softmaxType(e);
  const Extent group = attention::groupSize(e, request);
  Value* scores = attention::scoresOf(e, request, group);
  Value* weights = e.softmax(modified(e, "score_mod", e.cast(scores, dtype)));
  Value* values = e.cast(attention::repeatHeads(e, e.input(2), group), dtype);
  e.setOutput(0, e.cast(e.matmul(modified(e, "prob_mod", weights), values), e.dtype(2)));
}

void inferFlexAttention(InferContext& context) {
  if (!context.ranked(0) || context.rank(0) != 4 || !context.ranked(2) || context.rank(2) != 4) return;
  SymbolicShape dims = context.dims(0);
  dims[3] = context.dims(2)[3];
  context.setShape(0, std::move(dims));
}

const Composite kRows[] = {
    {{"ai.onnx.preview", "FlexAttention", 3, 3, 1, 1, "T,T,T->T; T=float", inferFlexAttention, 0, 0,
      "prob_mod=g scale=f score_mod=g softmax_precision=i"},
     expandFlexAttention},
};

}  // namespace

std::span<const Composite> flexAttentionComposites() { return kRows; }

}  // namespace max
