// SPDX-License-Identifier: Apache-2.0
// Layers of com.microsoft for diffusion, speech and language models.
#include <cmath>

#include "graph/composites/attention.h"
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

using microsoft::kDomain;

Value* swish(Expansion& e, Value* value) { return e.op("Swish", {value}, attributesOf({{"alpha", 1.f}})); }

void expandBiasAdd(Expansion& e) { e.setOutput(0, e.add(e.add(e.input(0), e.input(1)), e.input(2))); }

void expandBiasSplitGelu(Expansion& e) {
  Value* sum = e.add(e.input(0), e.input(1));
  const int last = e.rank(sum) - 1;
  const Extent size = e.dim(sum, last), half = e.dividedBy(size, 2);
  Value* right = e.op("Gelu", {e.slice(sum, last, half, size)});
  e.setOutput(0, e.mul(e.slice(sum, last, 0, half), right));
}

// A group's statistics are float32 for all types of input and parameters.
Value* groupNormalized(Expansion& e, Value* x) {
  const int rank = e.rank(x);
  if (rank < 3) e.invalid("input 0 has ", rank, " dimensions, not 3 or more");
  const bool last = e.flag("channels_last", true);
  const int64_t activation = e.integerWithin("activation", 0, 0, 1);
  Value* first = e.cast(last ? e.transpose(x, microsoft::channelsFirst(rank)) : x, DType::Float32);
  Value* y = e.op("GroupNormalization", {first, e.cast(e.input(1), DType::Float32), e.cast(e.input(2), DType::Float32)},
                  attributesOf({{"num_groups", e.integer("groups", 0)}, {"epsilon", e.number("epsilon", 1e-5f)}}));
  if (activation) y = swish(e, y);
  y = e.cast(y, e.dtypeOf(x));
  return last ? e.transpose(y, microsoft::channelsLast(rank)) : y;
}

void expandGroupNorm(Expansion& e) { e.setOutput(0, groupNormalized(e, e.input(0))); }

void expandSkipGroupNorm(Expansion& e) {
  const bool last = e.flag("channels_last", true);
  Value *sum = e.input(0), *skip = e.input(3);
  const int rank = e.rank(sum);
  std::vector<int64_t> behind;  // spatial axes, after the channels or before them
  for (int i = 0; i + 2 < rank; ++i) behind.push_back(i + (last ? 1 : 2));
  if (e.rank(skip) == 2) skip = e.unsqueeze(skip, behind);
  sum = e.add(sum, skip);
  if (e.has(4)) sum = e.add(sum, last ? e.input(4) : e.reshape(e.input(4), std::vector<Extent>{-1, 1, 1}));
  e.setOutput(0, groupNormalized(e, sum));
  e.setOutput(1, sum);
}

// T5's distance buckets: exact for near ones, logarithmic for far ones.
Value* bucketsOf(Expansion& e, Value* distance, int64_t buckets) {
  const int64_t most = e.integerWithin("max_distance", 0, 1, INT32_MAX);
  Value* zero = e.scalar(DType::Int64, 0);
  Value* base = zero;
  if (e.flag("is_bidirectional")) {
    buckets /= 2;
    base = e.where(e.op("Greater", {distance, zero}), e.scalar(DType::Int64, static_cast<double>(buckets)), zero);
    distance = e.op("Abs", {distance});
  } else {
    distance = e.op("Neg", {e.op("Min", {distance, zero})});
  }
  const int64_t exact = buckets / 2;
  if (exact < 1 || most <= exact) e.invalid("max_distance ", most, " and ", buckets, " buckets do not fit");
  const double scale =
      static_cast<double>(buckets - exact) / std::log(static_cast<double>(most) / static_cast<double>(exact));
  Value* far = e.cast(e.op("Max", {distance, e.scalar(DType::Int64, 1)}), DType::Float32);
  far = e.op("Log", {e.div(far, e.like(far, static_cast<double>(exact)))});
  Value* steps = e.cast(e.mul(far, e.like(far, scale)), DType::Int64);
  Value* bucket = e.add(steps, e.scalar(DType::Int64, static_cast<double>(exact)));
  bucket = e.op("Min", {bucket, e.scalar(DType::Int64, static_cast<double>(buckets - 1))});
  Value* isNear = e.op("Less", {distance, e.scalar(DType::Int64, static_cast<double>(exact))});
  return e.add(base, e.where(isNear, distance, bucket));
}

// The table is stored by columns, although its shape suggests rows.
void expandRelativePositionBias(Expansion& e) {
  Value* table = e.input(0);
  const Extent buckets = e.dim(table, 0), heads = e.dim(table, 1);
  if (!buckets.isKnown()) e.unsupported("the number of buckets is not known");
  const auto range = [&](size_t input) {
    Value* length = e.reshape(e.cast(e.input(input), DType::Int64), {1});
    return e.range(Extent(length));
  };
  Value* distance = e.sub(range(2), e.unsqueeze(range(1), {1}));  // [queries, keys]
  Value* bias = e.gather(e.reshape(table, {heads, buckets}), bucketsOf(e, distance, buckets.number), 1);
  e.setOutput(0, e.unsqueeze(bias, {0}));
}

void expandGemmaRotaryEmbedding(Expansion& e) {
  const auto angle = [&](const char* op) { return e.unsqueeze(e.cast(e.op(op, {e.input(0)}), e.dtype(1)), {1}); };
  Value *sin = angle("Sin"), *cos = angle("Cos");
  for (size_t i = 0; i < 2; ++i) e.setOutput(i, e.add(e.mul(e.input(1 + 2 * i), cos), e.mul(e.input(2 + 2 * i), sin)));
}

// Which of the three position streams rotates each pair of a head.
std::vector<uint8_t> streamsOf(Expansion& e) {
  const std::vector<int64_t> sections = e.attributes().getInts("mrope_section");
  if (sections.size() != 3) e.invalid("attribute 'mrope_section' has ", sections.size(), " numbers, not 3");
  int64_t size = 0;
  for (int64_t section : sections) {
    if (section < 0 || section > (1 << 20)) e.invalid("attribute 'mrope_section' contains ", section);
    size += section;
  }
  std::vector<uint8_t> streams(static_cast<size_t>(size));
  const bool interleaved = e.integerWithin("mrope_layout", 0, 0, 1) == 1;
  for (int64_t i = 0; i < size; ++i) {
    const bool second =
        interleaved ? i % 3 == 1 && i < 3 * sections[1] : i >= sections[0] && i < sections[0] + sections[1];
    const bool third = interleaved ? i % 3 == 2 && i < 3 * sections[2] : i >= sections[0] + sections[1];
    streams[static_cast<size_t>(i)] = third ? 2 : second ? 1 : 0;
  }
  return streams;
}

// [B, S, pairs] of a table, each pair at the positions of its stream.
Value* angles(Expansion& e, Value* table, const std::vector<uint8_t>& streams) {
  Value* all = e.gather(table, e.input(1), 0);  // [3, B, S, pairs]
  const auto stream = [&](double i) { return e.gather(all, e.scalar(DType::Int64, i), 0); };
  Value* result = stream(0);
  for (const uint8_t i : {1, 2}) {
    std::vector<uint8_t> chosen;
    for (const uint8_t own : streams) chosen.push_back(own == i);
    const Shape shape{static_cast<int64_t>(chosen.size())};
    result = e.where(e.constant(Tensor::copyOf(DType::Bool, shape, chosen.data())), stream(i), result);
  }
  return result;
}

void expandMRotaryEmbedding(Expansion& e) {
  microsoft::refuse(e, {"is_packed_batching"});
  if (e.number("scale", 1) != 1) e.unsupported("attribute 'scale' is not supported");
  Value* x = e.input(0);
  const int rank = e.rank(x);
  if (rank != 3 && rank != 4) e.invalid("input 0 has ", rank, " dimensions, not 3 or 4");
  const std::vector<uint8_t> streams = streamsOf(e);
  const int64_t pairs = static_cast<int64_t>(streams.size());
  if (pairs == 0) e.invalid("attribute 'mrope_section' has no pairs");
  int64_t heads = e.integer("num_heads", 0);
  if (rank == 3 && heads == 0) {
    const Extent hidden = e.dim(x, 2);
    if (!hidden.isKnown()) e.unsupported("the number of heads is not known");
    heads = hidden.number / (2 * pairs);
  }
  const attention::Heads split = attention::splitHeads(e, x, heads);
  attention::Rotation rotation{angles(e, e.input(2), streams), angles(e, e.input(3), streams), e.flag("interleaved"),
                               2 * pairs};
  const attention::Heads result = rotate(e, split, rotation);
  e.setOutput(0, rank == 4 ? result.value : joinHeads(e, result));
}

// One-dimensional convolutions like ONNX's; channels may be last.
void expandCausalConv(Expansion& e) {
  if (e.integer("ndim", 1) != 1) e.unsupported("attribute 'ndim' ", e.integer("ndim", 1), " is not supported");
  if (e.integer("dilation", 1) != 1)
    e.unsupported("attribute 'dilation' ", e.integer("dilation", 1), " is not supported");
  microsoft::refuse(e, {"state_window"});
  Values inputs = e.node().inputs;
  const bool last = e.flag("channels_last");
  for (size_t i : {size_t{0}, size_t{3}})
    if (last && e.has(i)) inputs[i] = e.transpose(inputs[i], {0, 2, 1});
  const Values outputs = e.nodes("", "CausalConvWithState", std::move(inputs),
                                 attributesOf({{"activation", e.text("activation", "none")}}), 2);
  for (size_t i = 0; i < 2; ++i) e.setOutput(i, last ? e.transpose(outputs[i], {0, 2, 1}) : outputs[i]);
}

// With more key heads than query heads, several key heads share a query head.
void expandLinearAttention(Expansion& e) {
  microsoft::refuse(e, {"state_window"});
  Values inputs = e.node().inputs;
  Attributes attributes = microsoft::attributesWithout(e, {"state_window"});
  const int64_t queries = e.integer("q_num_heads", 0), keys = e.integer("kv_num_heads", 0);
  if (queries < 1 || keys < 1) e.invalid(queries, " query heads and ", keys, " key heads");
  if (keys > queries) {
    if (keys % queries) e.invalid(keys, " key heads do not evenly share ", queries, " query heads");
    const attention::Heads heads = attention::splitHeads(e, inputs[0], queries);
    Value* repeated = attention::repeatHeads(e, attention::headsFirst(e, heads), keys / queries);
    inputs[0] = attention::joinHeads(e, {repeated, "BHSD"});
    attributes.set("q_num_heads", keys);
  }
  const Values outputs = e.nodes("", "LinearAttention", std::move(inputs), std::move(attributes), 2);
  for (size_t i = 0; i < 2; ++i) e.setOutput(i, outputs[i]);
}

void expandLinearAttentionGate(Expansion& e) {
  const DType dtype = e.dtype(0);
  Value* sum = e.add(e.cast(e.input(0), DType::Float32), e.input(1));
  e.setOutput(0, e.cast(e.mul(e.op("Softplus", {sum}), e.input(2)), dtype));
  if (e.outputCount() < 2) return;
  if (!e.has(3)) e.invalid("output 1 needs input 3");
  e.setOutput(1, e.op("Sigmoid", {e.input(3)}));
}

// RMS norm of float32 over groups of the last axis, with [rows.., groups, size] as its shape.
Value* groupedNorm(Expansion& e, Value* x, const std::vector<Extent>& shape, Value* scale) {
  Value* wide = e.reshape(e.cast(x, DType::Float32), shape);
  return e.op("RMSNormalization", {wide, e.cast(scale, DType::Float32)},
              attributesOf({{"axis", int64_t{-1}}, {"epsilon", e.number("epsilon", 1e-5f)}}));
}

std::vector<Extent> shapeOf(Expansion& e, Value* value) {
  std::vector<Extent> shape;
  for (int i = 0; i < e.rank(value); ++i) shape.push_back(e.dim(value, i));
  return shape;
}

void expandGatedRMSNorm(Expansion& e) {
  const std::string kind = e.text("activation", "silu");
  const std::vector<Extent> whole = shapeOf(e, e.input(0));
  if (whole.empty()) e.invalid("input 0 has no dimensions");
  std::vector<Extent> grouped(whole.begin(), whole.end() - 1);
  grouped.insert(grouped.end(), {-1, e.dim(e.input(1), 0)});
  Value* normed = e.reshape(groupedNorm(e, e.input(0), grouped, e.input(1)), whole);
  Value* gate = e.cast(e.input(2), DType::Float32);
  gate = kind == "sigmoid" ? e.op("Sigmoid", {gate}) : swish(e, gate);
  e.setOutput(0, e.cast(e.mul(normed, gate), e.dtype(0)));
}

void expandBranchwiseRMSNorm(Expansion& e) {
  const std::vector<Extent> whole = shapeOf(e, e.input(0));
  const int64_t branches = e.integerWithin("num_branches", 0, 0, INT32_MAX);
  std::vector<Extent> shape = whole;
  if (whole.size() < (branches ? 1 : 2)) e.invalid("input 0 has ", whole.size(), " dimensions");
  if (branches) {
    shape.pop_back();
    shape.insert(shape.end(), {branches, e.dividedBy(whole.back(), branches)});
  }
  const Extent size = shape.back();
  Value* ones = e.expand(e.scalar(DType::Float32, 1), {size});
  Value* normed = groupedNorm(e, e.input(0), shape, ones);
  if (e.has(1)) {
    Value* scale = e.cast(e.input(1), DType::Float32);
    normed = e.mul(normed, e.reshape(scale, {-1, size}));  // per branch, or one for all
  }
  e.setOutput(0, e.cast(e.reshape(normed, whole), e.dtype(0)));
}

void expandGatedAdd(Expansion& e) { e.setOutput(0, e.add(e.input(0), e.mul(e.input(1), e.input(2)))); }

void expandScaledSiLU(Expansion& e) {
  Value* scale = e.has(1) ? e.cast(e.reshape(e.input(1), std::vector<Extent>{}), e.dtype(0))
                          : e.like(e.input(0), e.number("alpha", 1));
  Value* scaled = e.mul(e.input(0), scale);
  e.setOutput(0, e.mul(scaled, e.op("Sigmoid", {scaled})));
}

constexpr std::string_view kGroupNorm = "activation=i channels_last=i epsilon=f groups=i";

constexpr OpSchema row(std::string_view name, int minInputs, int maxInputs, int maxOutputs, std::string_view types,
                       std::string_view attributes) {
  return {kDomain, name, minInputs, maxInputs, 1, maxOutputs, types, nullptr, 0, 0, attributes};
}

const Composite kRows[] = {
    {row("BiasAdd", 3, 3, 1, "T,T,T->T; T=float", ""), expandBiasAdd},
    {row("BiasSplitGelu", 2, 2, 1, "T,T->T; T=float", ""), expandBiasSplitGelu},
    {row("GroupNorm", 3, 3, 1, "T,M,M->T; T=float; M=float", kGroupNorm), expandGroupNorm},
    {row("SkipGroupNorm", 4, 5, 2, "T,M,M,T,T->T,T; T=float; M=float", kGroupNorm), expandSkipGroupNorm},
    {row("RelativePositionBias", 3, 3, 1, "T,int64,int64->T; T=float", "is_bidirectional=i max_distance=i"),
     expandRelativePositionBias},
    {row("GemmaRotaryEmbedding", 5, 5, 2, "U,T,T,T,T->T,T; T=float; U=float", ""), expandGemmaRotaryEmbedding},
    {row("MRotaryEmbedding", 4, 4, 1, "T,int64,T,T->T; T=float",
         "interleaved=i is_packed_batching=i mrope_layout=i mrope_section=I num_heads=i rotary_embedding_dim=i "
         "scale=f"),
     expandMRotaryEmbedding},
    {row("CausalConvWithState", 2, 4, 2, "T,T,T,T->T,T; T=float16|bfloat16|float32",
         "activation=s{none,silu,swish} channels_last=i dilation=i ndim=i state_window=i"),
     expandCausalConv},
    {row("LinearAttention", 3, 6, 2, "T,T,T,S,T,T->T,*; T=float16|bfloat16|float32; S=float16|bfloat16|float32",
         "chunk_size=i kv_num_heads=i q_num_heads=i scale=f state_window=i "
         "update_rule=s{linear,gated,delta,gated_delta}"),
     expandLinearAttention},
    {row("LinearAttentionGate", 3, 4, 2, "T,float32,float32,T->T,T; T=float16|bfloat16|float32", ""),
     expandLinearAttentionGate},
    {row("GatedRMSNorm", 3, 3, 1, "T,T,T->T; T=float16|bfloat16|float32", "activation=s{silu,swish,sigmoid} epsilon=f"),
     expandGatedRMSNorm},
    {row("BranchwiseRMSNorm", 1, 2, 1, "T,M->T; T=float16|bfloat16|float32; M=float", "epsilon=f num_branches=i"),
     expandBranchwiseRMSNorm},
    {row("GatedAdd", 3, 3, 1, "T,T,T->T; T=float", ""), expandGatedAdd},
    {row("ScaledSiLU", 1, 2, 1, "T,M->T; T=float; M=float", "alpha=f"), expandScaledSiLU},
};

}  // namespace

std::span<const Composite> microsoftLayerComposites() { return kRows; }

}  // namespace max
