// SPDX-License-Identifier: Apache-2.0
// The attention operators of com.microsoft.
#include <cmath>
#include <limits>

#include "graph/composites/attention.h"
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

using attention::Heads;
using microsoft::givenScale;
using microsoft::kDomain;
using microsoft::refuse;
using microsoft::refuseInputs;
using microsoft::Triple;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [B, S, q | k | v] cut and split into heads.
Triple splitProjection(Expansion& e, Value* projected, const std::vector<int64_t>& sizes, int64_t heads) {
  const Values parts = e.split(projected, 2, sizes);
  return {attention::splitHeads(e, parts[0], heads), attention::splitHeads(e, parts[1], heads),
          attention::splitHeads(e, parts[2], heads)};
}

// The keys that each query may see.
struct Masking {
  Heads q;
  Extent keys = 0, past = 0;
  DType dtype;
};

// Lengths of the samples' keys, or ends followed by starts.
Value* keysWithin(Expansion& e, Value* bounds, const Masking& masking) {
  Value* keys = e.range(masking.keys);
  Value* wide = e.cast(bounds, DType::Int64);
  const Extent count = e.dim(bounds, 0), batch = sizeOf(e, masking.q, 'B');
  if (count.isKnown() && batch.isKnown() && count.number != batch.number && count.number != 2 * batch.number)
    e.unsupported("a mask of ", count.number, " numbers is not supported");
  Value* ends = e.unsqueeze(e.slice(wide, 0, 0, batch), {1, 2, 3});
  Value* within = e.op("Less", {keys, ends});
  if (count.isKnown() && batch.isKnown() && count.number == batch.number) return within;
  // Without starts, zeros.
  Value* zeros = e.expand(e.scalar(DType::Int64, 0), {batch});
  Value* starts = e.slice(e.concat({wide, zeros}, 0), 0, batch, e.times(batch, 2));
  return e.op("And", {within, e.op("GreaterOrEqual", {keys, e.unsqueeze(starts, {1, 2, 3})})});
}

// The mask's value is finite, so that softmax is defined for rows that see nothing.
Value* maskBias(Expansion& e, Value* mask, const Masking& masking) {
  if (!mask) return nullptr;
  const int rank = e.rank(mask);
  if (rank > 3) e.unsupported("a mask with ", rank, " dimensions is not supported");
  Value* allowed = rank == 1 ? keysWithin(e, mask, masking)
                             : e.unsqueeze(e.op("Greater", {mask, e.like(mask, 0)}),
                                           rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
  return attention::biasOf(e, allowed, nullptr, masking.dtype, e.number("mask_filter_value", -10000));
}

// Query i follows the past keys and i others.
Value* causalBias(Expansion& e, const Masking& masking, Value* bias) {
  if (!e.flag("unidirectional")) return bias;
  Value* positions = e.unsqueeze(e.range(sizeOf(e, masking.q, 'S')), {1});
  if (!masking.past.isKnown() || masking.past.number) positions = e.add(positions, e.list({masking.past}));
  Value* allowed = e.op("LessOrEqual", {e.range(masking.keys), positions});
  return attention::biasOf(e, allowed, bias, masking.dtype, -kInfinity);
}

Value* summed(Expansion& e, Value* a, Value* b) { return !a || !b ? a ? a : b : e.add(a, b); }

// softmax(Q K' + biases) V as [B, S, H * D].
Value* attended(Expansion& e, const Triple& heads, Value* bias) {
  attention::Request request;
  request.q = heads.q;
  request.k = heads.k;
  request.v = heads.v;
  request.bias = bias;
  setScale(e, request, givenScale(e));
  request.layout = "BSHD";
  return joinHeads(e, Heads{attend(e, request).output, "BSHD"});
}

Heads behind(Expansion& e, Value* past, const Heads& heads) {
  return past ? Heads{e.concat({past, headsFirst(e, heads)}, 2), "BHSD"} : heads;
}

// Attention of a projection, with past and present keys and values in one tensor [2, B, H, S, D].
void finishSelfAttention(Expansion& e, Triple heads, Value* mask, Value* past, Value* extraBias) {
  Masking masking{heads.q, 0, 0, e.dtypeOf(heads.q.value)};
  if (past) {
    heads.k = behind(e, e.gather(past, e.scalar(DType::Int64, 0), 0), heads.k);
    heads.v = behind(e, e.gather(past, e.scalar(DType::Int64, 1), 0), heads.v);
    masking.past = e.dim(past, 3);
  }
  masking.keys = sizeOf(e, heads.k, 'S');
  Value* bias = causalBias(e, masking, summed(e, maskBias(e, mask, masking), extraBias));
  e.setOutput(0, attended(e, heads, bias));
  if (e.outputCount() < 2) return;
  e.setOutput(1, e.concat({e.unsqueeze(headsFirst(e, heads.k), {0}), e.unsqueeze(headsFirst(e, heads.v), {0})}, 0));
}

std::vector<int64_t> projectionSizes(Expansion& e, Value* weights) {
  std::vector<int64_t> sizes = e.attributes().getInts("qkv_hidden_sizes");
  const Extent columns = e.dim(weights, 1);
  if (!columns.isKnown()) e.unsupported("the shape of the weights is not known");
  if (sizes.empty()) sizes.assign(3, columns.number / 3);
  if (sizes.size() != 3 || sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 ||
      checkedAdd(checkedAdd(sizes[0], sizes[1]), sizes[2]) != columns.number)
    e.invalid("weights of ", columns.number, " columns do not split into queries, keys and values");
  return sizes;
}

void expandAttention(Expansion& e) {
  refuse(e, {"do_rotary", "past_present_share_buffer"});
  refuseInputs(e, {{6, "past_sequence_length"}});
  Value* projected = e.matmul(e.input(0), e.input(1));
  if (e.has(2)) projected = e.add(projected, e.input(2));
  const Triple heads = splitProjection(e, projected, projectionSizes(e, e.input(1)), e.integer("num_heads", 0));
  finishSelfAttention(e, heads, e.input(3), e.input(4), e.input(5));
}

void expandQAttention(Expansion& e) {
  refuse(e, {"do_rotary", "past_present_share_buffer"});
  Value* scale = e.mul(e.input(3), e.input(4));
  Value* projected = microsoft::scaledProduct(e, {e.input(0), e.input(1), e.input(6), e.input(7)}, scale, e.dtype(2));
  projected = e.add(projected, e.input(2));
  const Triple heads = splitProjection(e, projected, projectionSizes(e, e.input(1)), e.integer("num_heads", 0));
  finishSelfAttention(e, heads, e.input(5), e.input(8), nullptr);
}

// One of the tensors packed along axis 3 of [B, S, H, n, D].
Heads unpacked(Expansion& e, Value* packed, int64_t i) {
  return {e.gather(packed, e.scalar(DType::Int64, static_cast<double>(i)), 3), "BSHD"};
}

// The biases of queries, keys and values in one list.
Value* biased(Expansion& e, Value* value, Value* bias, const Extent& begin, const Extent& end) {
  return bias ? e.add(value, e.slice(bias, 0, begin, end)) : value;
}

Triple separateInputs(Expansion& e, int64_t heads) {
  Value *q = e.input(0), *k = e.input(1), *v = e.input(2), *bias = e.input(3);
  const Extent hidden = e.dim(q, 2);
  const Heads query = attention::splitHeads(e, biased(e, q, bias, 0, hidden), heads);
  if (e.rank(k) == 5) return {query, unpacked(e, k, 0), unpacked(e, k, 1)};
  if (!v) e.invalid("'value' is missing");
  if (e.rank(k) == 4) return {query, {k, "BHSD"}, {v, "BHSD"}};
  const Extent middle = e.plus(hidden, e.dim(k, 2));
  k = biased(e, k, bias, hidden, middle);
  v = biased(e, v, bias, middle, e.plus(middle, e.dim(v, 2)));
  return {query, attention::splitHeads(e, k, heads), attention::splitHeads(e, v, heads)};
}

Triple multiHeadInputs(Expansion& e) {
  if (e.rank(e.input(0)) == 5) {
    refuseInputs(e, {{3, "bias"}});
    return {unpacked(e, e.input(0), 0), unpacked(e, e.input(0), 1), unpacked(e, e.input(0), 2)};
  }
  if (!e.has(1)) e.invalid("'key' is missing");
  return separateInputs(e, e.integer("num_heads", 0));
}

void expandMultiHeadAttention(Expansion& e) {
  refuseInputs(e, {{8, "past_sequence_length"}, {9, "cache_indirection"}});
  Triple heads = multiHeadInputs(e);
  Masking masking{heads.q, 0, 0, e.dtype(0)};
  if (e.has(6)) masking.past = e.dim(e.input(6), 2);
  heads.k = behind(e, e.input(6), heads.k);
  heads.v = behind(e, e.input(7), heads.v);
  masking.keys = sizeOf(e, heads.k, 'S');
  Value* bias = causalBias(e, masking, summed(e, maskBias(e, e.input(4), masking), e.input(5)));
  e.setOutput(0, attended(e, heads, bias));
  if (e.outputCount() > 1) e.setOutput(1, headsFirst(e, heads.k));
  if (e.outputCount() > 2) e.setOutput(2, headsFirst(e, heads.v));
}

void expandRotaryEmbedding(Expansion& e) {
  refuse(e, {"is_packed_batching"});
  if (e.number("scale", 1) != 1) e.unsupported("attribute 'scale' is not supported");
  Value* x = e.input(0);
  const int rank = e.rank(x);
  if (rank != 3 && rank != 4) e.invalid("input 0 has ", rank, " dimensions, not 3 or 4");
  attention::Rotation rotation;
  rotation.interleaved = e.flag("interleaved");
  rotation.size = e.integerWithin("rotary_embedding_dim", 0, 0, INT32_MAX);
  int64_t count = e.integer("num_heads", 0);
  if (rank == 3 && count == 0) {
    const Extent hidden = e.dim(x, 2), half = e.dim(e.input(2), 1);
    if (!hidden.isKnown() || !half.isKnown() || half.number < 1) e.unsupported("the number of heads is not known");
    count = hidden.number / (2 * half.number);
  }
  const Heads split = attention::splitHeads(e, x, count);
  Value* positions = e.input(1);
  if (e.rank(positions) == 1) positions = e.unsqueeze(e.add(positions, e.range(sizeOf(e, split, 'S'))), {0});
  rotation.cos = e.gather(e.input(2), positions, 0);
  rotation.sin = e.gather(e.input(3), positions, 0);
  const Heads result = rotate(e, split, rotation);
  e.setOutput(0, rank == 4 ? result.value : joinHeads(e, result));
}

constexpr std::string_view kAttentionAttributes =
    "do_rotary=i mask_filter_value=f num_heads=i past_present_share_buffer=i qkv_hidden_sizes=I rotary_embedding_dim=i "
    "scale=f unidirectional=i";

constexpr OpSchema row(std::string_view name, int minInputs, int maxInputs, int maxOutputs, std::string_view types,
                       std::string_view attributes) {
  return {kDomain, name, minInputs, maxInputs, 1, maxOutputs, types, nullptr, 0, 0, attributes};
}

const Composite kRows[] = {
    {row("Attention", 2, 7, 2, "T,T,T,int32,T,T,int32->T,T; T=float", kAttentionAttributes), expandAttention},
    {row("QAttention", 5, 9, 2, "A,B,T,T,T,int32,A,B,T->T,T; A=int8|uint8; B=int8|uint8; T=float",
         kAttentionAttributes),
     expandQAttention},
    {row("MultiHeadAttention", 1, 10, 4, "T,T,T,T,int32,T,T,T,int32,int32->T,T,T,T; T=float",
         "mask_filter_value=f num_heads=i scale=f unidirectional=i"),
     expandMultiHeadAttention},
    {row("RotaryEmbedding", 4, 4, 1, "T,int64,T,T->T; T=float",
         "interleaved=i is_packed_batching=i num_heads=i rotary_embedding_dim=i scale=f"),
     expandRotaryEmbedding},
};

}  // namespace

std::span<const Composite> microsoftAttentionComposites() { return kRows; }

}  // namespace max
