// SPDX-License-Identifier: Apache-2.0
#include "graph/composites/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/composites/tables.h"

namespace max {

namespace attention {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Heads splitHeads(Expansion& e, Value* value, int64_t heads) {
  const int rank = e.rank(value);
  if (rank == 4) return {value, "BHSD"};
  if (rank != 3) e.invalid("'", value->name, "' has ", rank, " dimensions, not 3 or 4");
  if (heads <= 0) e.invalid("inputs with three dimensions need the number of heads; it is ", heads);
  const Extent hidden = e.dim(value, 2);
  if (hidden.isKnown() && hidden.number % heads)
    e.invalid("'", value->name, "' of size ", hidden.number, " does not split into ", heads, " heads");
  return {e.reshape(value, {e.dim(value, 0), e.dim(value, 1), heads, e.dividedBy(hidden, heads)}), "BSHD"};
}

Value* headsFirst(Expansion& e, const Heads& heads) {
  return heads.layout == "BHSD" ? heads.value : e.transpose(heads.value, {0, 2, 1, 3});
}

Value* joinHeads(Expansion& e, const Heads& heads) {
  Value* value = heads.layout == "BSHD" ? heads.value : e.transpose(heads.value, {0, 2, 1, 3});
  return e.reshape(value, {e.dim(value, 0), e.dim(value, 1), e.times(e.dim(value, 2), e.dim(value, 3))});
}

Extent sizeOf(Expansion& e, const Heads& heads, char letter) { return e.dim(heads.value, heads.axis(letter)); }

Value* repeatHeads(Expansion& e, Value* value, Extent times) {
  if (times.isKnown() && times.number == 1) return value;
  const Extent b = e.dim(value, 0), h = e.dim(value, 1), s = e.dim(value, 2), d = e.dim(value, 3);
  Value* repeated = e.expand(e.unsqueeze(value, {2}), {1, 1, times, 1, 1});
  return e.reshape(repeated, {b, e.times(h, times), s, d});
}

Value* biasOf(Expansion& e, Value* allowed, Value* bias, DType dtype, double masked) {
  if (!allowed) return bias;
  return e.where(allowed, bias ? bias : e.scalar(dtype, 0), e.scalar(dtype, masked));
}

Extent groupSize(Expansion& e, const Request& request) {
  if (request.group) return request.group;
  const Extent q = sizeOf(e, request.q, 'H'), k = sizeOf(e, request.k, 'H');
  const auto heads = [](const Heads& of) { return of.value->type.dims[static_cast<size_t>(of.axis('H'))]; };
  if (heads(request.q) == heads(request.k)) return 1;
  if (!q.isKnown() || !k.isKnown()) return e.div(e.list({q}), e.list({k}));
  if (k.number <= 0 || q.number % k.number) e.invalid(q.number, " query heads do not split into ", k.number, " groups");
  return q.number / k.number;
}

// As in the standard, both operands are scaled by the square root, so that 16-bit types do not overflow.
Value* scoresOf(Expansion& e, const Request& request, const Extent& group) {
  Value* root = e.scalar(e.dtypeOf(request.q.value), std::sqrt(request.scale));
  Value* q = e.mul(headsFirst(e, request.q), root);
  Value* k = e.mul(repeatHeads(e, headsFirst(e, request.k), group), root);
  return e.matmul(q, e.transpose(k, {0, 1, 3, 2}));
}

namespace {

Value* atRank4(Expansion& e, Value* bias) {
  std::vector<int64_t> axes;
  for (int64_t i = e.rank(bias); i < 4; ++i) axes.push_back(i - e.rank(bias));
  return e.unsqueeze(bias, axes);
}

Value* fused(Expansion& e, const Request& request) {
  Values inputs{request.q.value, request.k.value, request.v.value};
  if (request.bias || request.sink) inputs.push_back(request.bias ? atRank4(e, request.bias) : nullptr);
  if (request.sink) inputs.push_back(request.sink);
  return e.own("Attention", std::move(inputs),
               attributesOf({{"layout_q", request.q.layout},
                             {"layout_k", request.k.layout},
                             {"layout_v", request.v.layout},
                             {"layout_out", request.layout},
                             {"scale", static_cast<float>(request.scale)},
                             {"zero_masked", int64_t{1}}}));
}

Value* zeroMasked(Expansion& e, Value* weights, Value* bias) {
  Value* largest = e.reduce("ReduceMax", bias, {-1}, true);
  return e.where(e.op("Equal", {largest, e.like(largest, -kInfinity)}), e.like(weights, 0), weights);
}

Value* withSink(Expansion& e, Value* scores, Value* sink) {
  Value* column = e.reshape(e.cast(sink, e.dtypeOf(scores)), {1, -1, 1, 1});
  return e.concat({scores, e.expand(column, {e.dim(scores, 0), e.dim(scores, 1), e.dim(scores, 2), 1})}, 3);
}

Value* softmaxOf(Expansion& e, Value* scores, Value* sink) {
  if (!sink) return e.softmax(scores);
  return e.slice(e.softmax(withSink(e, scores, sink)), 3, 0, e.dim(scores, 3));
}

// The standard's order of operations, since each result can be an output.
Result stepwise(Expansion& e, const Request& request) {
  const Extent group = groupSize(e, request);
  const DType dtype = e.dtypeOf(request.q.value);
  Result result;
  Value* scores = scoresOf(e, request, group);
  result.scores[0] = scores;
  if (request.softcap > 0) {
    Value* cap = e.scalar(dtype, request.softcap);
    scores = e.mul(e.op("Tanh", {e.div(scores, cap)}), cap);
  }
  result.scores[1] = scores;
  if (request.bias) scores = e.add(scores, request.bias);
  result.scores[2] = scores;
  const bool widened = request.softmaxType != DType::Invalid && bitsOf(request.softmaxType) > bitsOf(dtype);
  Value* weights = e.cast(softmaxOf(e, widened ? e.cast(scores, request.softmaxType) : scores, request.sink), dtype);
  if (request.bias) weights = zeroMasked(e, weights, request.bias);
  result.scores[3] = weights;
  Value* output = e.matmul(weights, repeatHeads(e, headsFirst(e, request.v), group));
  result.output = request.layout == "BSHD" ? e.transpose(output, {0, 2, 1, 3}) : output;
  return result;
}

}  // namespace

void setScale(Expansion& e, Request& request, std::optional<double> given) {
  const Extent size = sizeOf(e, request.q, 'D');
  if (given || size.isKnown()) {
    request.scale = given.value_or(1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.number, 1))));
    return;
  }
  Value* root = e.op("Sqrt", {e.cast(size.value, DType::Float32)});
  request.q.value = e.div(request.q.value, e.cast(root, e.dtypeOf(request.q.value)));
}

Result attend(Expansion& e, const Request& request) {
  groupSize(e, request);
  const bool plain = !request.wantsScores && request.softcap <= 0 && request.scale > 0;
  const bool wide = request.softmaxType == DType::Float64 && e.dtypeOf(request.q.value) != DType::Float64;
  if (plain && !wide) return {fused(e, request), {}};
  return stepwise(e, request);
}

namespace {

// The two members of each pair.
std::pair<Value*, Value*> pairsOf(Expansion& e, Value* x, bool interleaved, Extent size) {
  if (interleaved) return {e.slice(x, 3, 0, size, 2), e.slice(x, 3, 1, size, 2)};
  if (size.isKnown()) {
    const Values halves = e.split(x, 3, {size.number / 2, size.number / 2});
    return {halves[0], halves[1]};
  }
  const Extent half = e.dividedBy(size, 2);
  return {e.slice(x, 3, 0, half), e.slice(x, 3, half, size)};
}

}  // namespace

Heads rotate(Expansion& e, const Heads& heads, const Rotation& rotation) {
  Value* x = heads.value;
  const Extent depth = e.dim(x, 3), size = rotation.size ? Extent(rotation.size) : depth;
  if (size.isKnown() && (size.number % 2 || (depth.isKnown() && size.number > depth.number)))
    e.invalid(size.number, " elements per head cannot be rotated");
  const bool partial = rotation.size && !(depth.isKnown() && depth.number == rotation.size);
  Value* turned = partial ? e.slice(x, 3, 0, size) : x;
  const auto [a, b] = pairsOf(e, turned, rotation.interleaved, size);
  Value* cos = e.unsqueeze(rotation.cos, {heads.axis('H')});
  Value* sin = e.unsqueeze(rotation.sin, {heads.axis('H')});
  Value* real = e.sub(e.mul(cos, a), e.mul(sin, b));
  Value* imaginary = e.add(e.mul(sin, a), e.mul(cos, b));
  Value* result;
  if (rotation.interleaved)
    result = e.reshape(e.concat({e.unsqueeze(real, {4}), e.unsqueeze(imaginary, {4})}, 4),
                       {e.dim(x, 0), e.dim(x, 1), e.dim(x, 2), size});
  else
    result = e.concat({real, imaginary}, 3);
  return {partial ? e.concat({result, e.slice(x, 3, size, depth)}, 3) : result, heads.layout};
}

}  // namespace attention

namespace {

using attention::Heads;
using attention::Visibility;

enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

// The inputs of one node, with past keys and values before the new ones.
struct Cached {
  Heads q, k, v;
  Extent queries = 0, keys = 0, past = 0;
};

Heads withPast(Expansion& e, size_t past, const Heads& heads) {
  if (!e.has(past)) return heads;
  // The value cache may have another type than the rest.
  return {e.concat({e.cast(e.input(past), e.dtype(kQuery)), attention::headsFirst(e, heads)}, 2), "BHSD"};
}

Cached cachedOf(Expansion& e) {
  if (e.has(kPastKey) != e.has(kPastValue)) e.invalid("past_key and past_value must be used together");
  if (e.has(kPastKey) && e.has(kLengths)) e.invalid("nonpad_kv_seqlen cannot be combined with past_key");
  const int64_t kvHeads = e.integer("kv_num_heads", 0);
  Cached cached;
  cached.q = attention::splitHeads(e, e.input(kQuery), e.integer("q_num_heads", 0));
  cached.k = withPast(e, kPastKey, attention::splitHeads(e, e.input(kKey), kvHeads));
  cached.v = withPast(e, kPastValue, attention::splitHeads(e, e.cast(e.input(kValue), e.dtype(kQuery)), kvHeads));
  cached.queries = sizeOf(e, cached.q, 'S');
  cached.keys = sizeOf(e, cached.k, 'S');
  if (e.has(kPastKey)) cached.past = e.dim(e.input(kPastKey), 2);
  return cached;
}

// A mask for fewer keys is extended: the remaining keys are masked.
Value* paddedMask(Expansion& e, Extent keys) {
  Value* mask = e.input(kMask);
  const int rank = e.rank(mask);
  if (rank == 0 || rank > 4) e.invalid("attn_mask has ", rank, " dimensions");
  const bool isBool = e.dtypeOf(mask) == DType::Bool;
  if (!isBool) mask = e.cast(mask, e.dtype(kQuery));
  const Extent columns = e.dim(mask, rank - 1);
  if (columns.isKnown() && keys.isKnown() && columns.number >= keys.number) return mask;
  std::vector<Extent> pads(static_cast<size_t>(2 * rank), 0);
  pads.back() = e.minus(keys, columns);
  return e.op("Pad", {mask, e.list(pads), isBool ? e.scalar(DType::Bool, 0) : e.like(mask, -attention::kInfinity)});
}

// The position of each query among the keys: [Sq, 1], or [B, 1, Sq, 1] if samples differ.
Value* positionsOf(Expansion& e, const Cached& cached) {
  Value* positions = e.unsqueeze(e.range(cached.queries), {1});
  if (e.has(kLengths)) {
    Value* offsets = e.sub(e.input(kLengths), e.list({cached.queries}));
    return e.add(positions, e.unsqueeze(offsets, {1, 2, 3}));
  }
  return e.has(kPastKey) ? e.add(positions, e.list({cached.past})) : positions;
}

void restrictByPosition(Expansion& e, const Cached& cached, Visibility& visible) {
  const int64_t left = e.integer("left_window_size", -1), right = e.integer("right_window_size", -1);
  if (left < -1 || right < -1) e.invalid("windows have the sizes ", left, " and ", right);
  const bool causal = e.flag("is_causal");
  if (!causal && left < 0 && right < 0 && !e.has(kLengths)) return;
  Value* keys = e.range(cached.keys);
  if (e.has(kLengths)) visible.restrict(e, e.op("Less", {keys, e.unsqueeze(e.input(kLengths), {1, 2, 3})}));
  if (!causal && left < 0 && right < 0) return;
  Value* positions = positionsOf(e, cached);
  if (causal) visible.restrict(e, e.op("LessOrEqual", {keys, positions}));
  if (left >= 0) visible.restrict(e, e.op("LessOrEqual", {e.sub(positions, e.ints({left})), keys}));
  if (right >= 0) visible.restrict(e, e.op("LessOrEqual", {keys, e.add(positions, e.ints({right}))}));
}

Value* biasOf(Expansion& e, const Cached& cached) {
  Visibility visible;
  Value* bias = nullptr;
  if (e.has(kMask)) {
    Value* mask = paddedMask(e, cached.keys);
    if (e.dtypeOf(mask) == DType::Bool)
      visible.restrict(e, mask);
    else
      bias = mask;
  }
  restrictByPosition(e, cached, visible);
  return attention::biasOf(e, visible.allowed, bias, e.dtype(kQuery), -attention::kInfinity);
}

void expandAttention(Expansion& e) {
  const Cached cached = cachedOf(e);
  const bool threeAxes = e.rank(e.input(kQuery)) == 3;
  attention::Request request;
  request.q = cached.q;
  request.k = cached.k;
  request.v = cached.v;
  request.bias = biasOf(e, cached);
  request.softcap = e.number("softcap", 0);
  request.softmaxType = dtypeFromOnnx(e.integer("softmax_precision", 0)).value_or(DType::Invalid);
  request.layout = threeAxes ? "BSHD" : "BHSD";
  request.wantsScores = e.outputCount() > 3;
  setScale(e, request, e.attributes().has("scale") ? std::optional<double>(e.number("scale", 1)) : std::nullopt);
  const int64_t mode = e.integerWithin("qk_matmul_output_mode", 0, 0, 3);
  const attention::Result result = attend(e, request);
  e.setOutput(0, threeAxes ? attention::joinHeads(e, {result.output, "BSHD"}) : result.output);
  if (e.outputCount() > 1) e.setOutput(1, headsFirst(e, cached.k));
  if (e.outputCount() > 2) e.setOutput(2, e.cast(headsFirst(e, cached.v), e.dtype(kValue)));
  e.setOutput(3, result.scores[mode]);
}

void expandRotaryEmbedding(Expansion& e) {
  Value* x = e.input(0);
  const int rank = e.rank(x);
  if (rank != 3 && rank != 4) e.invalid("input 0 has ", rank, " dimensions, not 3 or 4");
  attention::Rotation rotation;
  rotation.interleaved = e.flag("interleaved");
  rotation.size = e.integerWithin("rotary_embedding_dim", 0, 0, INT32_MAX);
  rotation.cos = e.has(3) ? e.gather(e.input(1), e.input(3), 0) : e.input(1);
  rotation.sin = e.has(3) ? e.gather(e.input(2), e.input(3), 0) : e.input(2);
  const Heads result = rotate(e, attention::splitHeads(e, x, e.integer("num_heads", 0)), rotation);
  e.setOutput(0, rank == 4 ? result.value : attention::joinHeads(e, result));
}

void inferRotaryEmbedding(InferContext& context) { context.setOutputLike(0, 0); }

const Composite kRows[] = {
    {{"", "Attention", 3, 7, 1, 4, "T,T,V,M,T,V,int64->T,T,V,T; T=float; V=float; M=number|bool", nullptr, 0, 0,
      "is_causal=i kv_num_heads=i left_window_size=i q_num_heads=i qk_matmul_output_mode=i right_window_size=i scale=f "
      "softcap=f softmax_precision=i"},
     expandAttention},
    {{"", "RotaryEmbedding", 3, 4, 1, 1, "T,T,T,int64->T; T=float", inferRotaryEmbedding, 0, 0,
      "interleaved=i num_heads=i rotary_embedding_dim=i"},
     expandRotaryEmbedding},
};

}  // namespace

std::span<const Composite> attentionComposites() { return kRows; }

}  // namespace max
