// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft, with key and value caches: full or sliding-window, floating-point or quantised.
#include <algorithm>
#include <limits>

#include "graph/composites/attention.h"
#include "graph/composites/microsoft.h"
#include "graph/composites/tables.h"

namespace max {

namespace {

using attention::Heads;
using attention::Visibility;
using microsoft::Triple;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum Input : size_t {
  kPastKey = 3,
  kPastValue,
  kLengths,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};

// Queries, keys and values of GroupQueryAttention, in one tensor or in three.
Triple inputsOf(Expansion& e, int64_t heads, int64_t groups) {
  if (heads < 1 || groups < 1 || heads % groups) e.invalid(heads, " heads do not split into ", groups, " groups");
  if (e.has(1) && e.has(2))
    return {attention::splitHeads(e, e.input(0), heads), attention::splitHeads(e, e.input(1), groups),
            attention::splitHeads(e, e.input(2), groups)};
  const Extent hidden = e.dim(e.input(0), 2);
  if (!hidden.isKnown()) e.unsupported("the size of packed queries, keys and values is not known");
  if (hidden.number % (heads + 2 * groups))
    e.invalid("packed queries, keys and values of size ", hidden.number, " do not split into heads");
  const int64_t size = hidden.number / (heads + 2 * groups);
  const Values parts = e.split(e.input(0), 2, {heads * size, groups * size, groups * size});
  return {attention::splitHeads(e, parts[0], heads), attention::splitHeads(e, parts[1], groups),
          attention::splitHeads(e, parts[2], groups)};
}

// How a cache stores its numbers.
class CacheFormat {
 public:
  CacheFormat(Expansion& e, const char* typeName, size_t past, size_t scale) : e_(e), real_(e.dtype(0)) {
    const std::string type = e.text(typeName, "NONE");
    if (type == "NONE") return;
    if (type != "PER_TENSOR" && type != "PER_CHANNEL") e.invalid("attribute '", typeName, "' is '", type, "'");
    if (!e.has(scale)) e.invalid("attribute '", typeName, "' is '", type, "', but input ", scale, " is missing");
    chooseType(past);
    scale_ = type == "PER_TENSOR" ? e.reshape(e.input(scale), {1, 1, 1, 1})
                                  : e.reshape(e.input(scale), {1, e.integer("kv_num_heads", 0), 1, -1});
  }

  // [B, H, S, D] as stored in the cache.
  Value* encoded(Value* rows) const {
    if (!scale_) return rows;
    Value* scaled = e_.div(e_.cast(rows, DType::Float32), scale_);
    if (stored_ == DType::Float8E4M3FN) return e_.cast(scaled, stored_);
    const double limit = stored_ == DType::Int8 ? 128 : 8;
    Value* whole = e_.op("Clip", {e_.op("Round", {scaled}), e_.like(scaled, -limit), e_.like(scaled, limit - 1)});
    return stored_ == DType::Int8 ? e_.cast(whole, stored_)
                                  : paired(e_.cast(e_.add(whole, e_.like(whole, 8)), stored_));
  }

  Value* decoded(Value* cache) const {
    if (!scale_) return cache;
    Value* whole = stored_ == DType::UInt8
                       ? e_.sub(e_.cast(separate(cache), DType::Float32), e_.scalar(DType::Float32, 8))
                       : e_.cast(cache, DType::Float32);
    return e_.cast(e_.mul(whole, scale_), real_);
  }

 private:
  void chooseType(size_t past) {
    const int64_t bits = e_.integer("kv_cache_bit_width", 8);
    if (bits != 4 && bits != 8) e_.invalid("attribute 'kv_cache_bit_width' is ", bits, ", not 4 or 8");
    stored_ = bits == 4 ? DType::UInt8 : DType::Int8;
    if (!e_.has(past)) return;
    const DType given = e_.dtype(past);
    const bool fits = given == stored_ || (bits == 8 && given == DType::Float8E4M3FN);
    if (!fits) e_.invalid("a cache of ", given, " does not hold numbers of ", bits, " bits");
    stored_ = given;
  }

  // Two numbers per byte, the first in the low bits.
  Value* paired(Value* numbers) const {
    const Extent size = e_.dim(numbers, 3);
    if (size.isKnown() && size.number % 2) e_.invalid("heads of size ", size.number, " do not fit whole bytes");
    Value* high = e_.mul(e_.slice(numbers, 3, 1, size, 2), e_.scalar(DType::UInt8, 16));
    return e_.add(e_.slice(numbers, 3, 0, size, 2), high);
  }

  Value* separate(Value* bytes) const {
    Value* low = e_.op("BitwiseAnd", {bytes, e_.scalar(DType::UInt8, 15)});
    Value* high = e_.op("BitShift", {bytes, e_.scalar(DType::UInt8, 4)}, attributesOf({{"direction", "RIGHT"}}));
    Value* both = e_.concat({e_.unsqueeze(low, {4}), e_.unsqueeze(high, {4})}, 4);
    return e_.reshape(both, {e_.dim(bytes, 0), e_.dim(bytes, 1), e_.dim(bytes, 2), e_.times(e_.dim(bytes, 3), 2)});
  }

  Expansion& e_;
  DType real_, stored_ = DType::Invalid;
  Value* scale_ = nullptr;  // NULL = not quantised
};

// Total and past number of tokens of each sample: [B], int64.
struct Lengths {
  Value* total;
  Value* past;
  Extent queries;
};

Lengths lengthsOf(Expansion& e, const Extent& queries) {
  Value* total = e.reshape(e.add(e.cast(e.input(kLengths), DType::Int64), e.ints({1})), {-1});
  // Prompts of different lengths are padded on the right: nothing precedes them.
  return {total, e.op("Max", {e.sub(total, e.list({queries})), e.ints({0})}), queries};
}

// A column per sample.
Value* column(Expansion& e, Value* numbers) { return e.unsqueeze(numbers, {1}); }

// The rows that attention reads, and the cache for the next step. `keys`: the position of each row among all tokens,
// broadcast to [B, rows].
struct Cached {
  Value* key;
  Value* value;
  Value* presentKey;
  Value* presentValue;
  Value* keys;
};

// The cache with the new rows written after each sample's past; it grows if it is too short.
Value* wholeCache(Expansion& e, Value* cache, Value* rows, const Lengths& lengths) {
  if (!cache) return rows;
  Value* total = e.cast(e.reshape(e.input(kTotal), {1}), DType::Int64);
  Value* missing = e.op("Max", {e.sub(total, e.list({e.dim(cache, 2)})), e.ints({0})});
  Value* pads = e.list({0, 0, 0, 0, 0, 0, Extent(missing), 0});
  return e.op("TensorScatter", {e.op("Pad", {cache, pads}), rows, lengths.past}, attributesOf({{"axis", int64_t{-2}}}));
}

// A cache of `capacity` rows for a window of at most as many. It holds the newest rows, oldest first; when it is full,
// several are dropped at once. The number of rows depends only on the number of tokens.
class WindowedCache {
 public:
  WindowedCache(Expansion& e, const Lengths& lengths)
      : e_(e), lengths_(lengths), window_(e.integer("local_window_size", -1)), capacity_(0) {
    if (!e.has(kPastKey)) e.invalid("attribute 'sliding_window_cache' needs past_key and past_value");
    if (window_ < 1) e.invalid("attribute 'sliding_window_cache' needs a local_window_size above 0, not ", window_);
    capacity_ = e.dim(e.input(kPastKey), 2);
    if (capacity_.isKnown() && capacity_.number < window_)
      e.invalid("a cache of ", capacity_.number, " rows does not hold a window of ", window_);
    held_ = heldOf(lengths.past);
  }

  // Past rows followed by the new ones.
  Value* staged(Value* cache, Value* rows) const { return e_.concat({cache, rows}, 2); }

  Value* positions() const {
    Value* rows = e_.unsqueeze(e_.range(capacity_), {0});
    Value* first = e_.sub(lengths_.past, held_);
    Value* beyond = e_.scalar(DType::Int64, 1e18);  // empty rows are masked
    Value* past = e_.where(e_.op("Less", {rows, column(e_, held_)}), e_.add(rows, column(e_, first)), beyond);
    return e_.concat({past, e_.add(column(e_, lengths_.past), e_.unsqueeze(e_.range(lengths_.queries), {0}))}, 1);
  }

  // The remaining rows. The rows after them do not matter.
  Value* next(Value* staged) const {
    const Extent heads = e_.dim(staged, 1);
    const Extent last = e_.minus(e_.plus(capacity_, lengths_.queries), 1);
    Value* first = e_.sub(lengths_.total, heldOf(lengths_.total));
    Value* wanted = e_.add(column(e_, first), e_.unsqueeze(e_.range(capacity_), {0}));  // positions
    Value* inPast = e_.sub(wanted, column(e_, e_.sub(lengths_.past, held_)));
    Value* inNew = e_.add(e_.sub(wanted, column(e_, lengths_.past)), e_.list({capacity_}));
    Value* places = e_.where(e_.op("Less", {wanted, column(e_, lengths_.past)}), inPast, inNew);
    places = e_.op("Min", {e_.op("Max", {places, e_.ints({0})}), e_.list({last})});
    Value* each = e_.expand(e_.unsqueeze(places, {1, 3}), {e_.dim(staged, 0), heads, capacity_, 1});
    return e_.op("GatherND", {staged, each}, attributesOf({{"batch_dims", int64_t{2}}}));
  }

 private:
  // capacity - window. If the capacity is only known at run time, the index of the row a window before the last; it
  // does not exist if the window does not fit.
  Extent spare() const {
    if (capacity_.isKnown()) return e_.minus(capacity_, window_);
    return e_.gather(e_.range(capacity_), e_.ints({-window_}), 0);
  }

  // total - room * ceil((total - capacity) / room), if total exceeds the capacity.
  Value* heldOf(Value* total) const {
    const Extent room = e_.plus(spare(), 1);
    Value* over = e_.op("Max", {e_.sub(total, e_.list({capacity_})), e_.ints({0})});
    Value* times = e_.div(e_.add(over, e_.list({e_.minus(room, 1)})), e_.list({room}));
    return e_.sub(total, e_.mul(times, e_.list({room})));
  }

  Expansion& e_;
  const Lengths& lengths_;
  int64_t window_;
  Extent capacity_;
  Value* held_ = nullptr;  // rows per sample in the given cache
};

Cached cachedOf(Expansion& e, const Triple& heads, const Lengths& lengths) {
  const CacheFormat keys(e, "k_quant_type", kPastKey, kKeyScale), values(e, "v_quant_type", kPastValue, kValueScale);
  Value* key = keys.encoded(attention::headsFirst(e, heads.k));
  Value* value = values.encoded(attention::headsFirst(e, heads.v));
  if (e.flag("sliding_window_cache")) {
    const WindowedCache cache(e, lengths);
    key = cache.staged(e.input(kPastKey), key);
    value = cache.staged(e.input(kPastValue), value);
    return {keys.decoded(key), values.decoded(value), cache.next(key), cache.next(value), cache.positions()};
  }
  key = wholeCache(e, e.input(kPastKey), key, lengths);
  value = wholeCache(e, e.input(kPastValue), value, lengths);
  return {keys.decoded(key), values.decoded(value), key, value, e.unsqueeze(e.range(e.dim(key, 2)), {0})};
}

Heads rotated(Expansion& e, const Heads& heads, Value* positions) {
  attention::Rotation rotation;
  rotation.interleaved = e.flag("rotary_interleaved");
  if (!e.has(kCos) || !e.has(kSin)) e.invalid("attribute 'do_rotary' needs cos_cache and sin_cache");
  const Extent half = e.dim(e.input(kCos), 1);
  if (!half.isKnown()) e.unsupported("the shape of cos_cache is not known");
  rotation.size = 2 * half.number;
  rotation.cos = e.gather(e.input(kCos), positions, 0);
  rotation.sin = e.gather(e.input(kSin), positions, 0);
  return rotate(e, heads, rotation);
}

Heads normalised(Expansion& e, const Heads& heads, Value* weight) {
  const Attributes attributes = attributesOf({{"axis", int64_t{-1}}, {"epsilon", e.number("qk_norm_epsilon", 1e-6f)}});
  return {e.op("RMSNormalization", {heads.value, weight}, attributes), heads.layout};
}

// The keys that each query may see: [B, 1, S, rows]. NULL = all.
Value* visibleOf(Expansion& e, Value* keys, Value* positions, const Lengths& lengths) {
  Visibility visible;
  Value* columns = e.unsqueeze(keys, {1, 2});
  Value* places = e.unsqueeze(positions, {1, 3});
  const bool causal = e.flag("causal", true);
  visible.restrict(e, causal ? e.op("LessOrEqual", {columns, places})
                             : e.op("Less", {columns, e.unsqueeze(lengths.total, {1, 2, 3})}));
  const int64_t window = e.integer("local_window_size", -1);
  if (window >= 0) visible.restrict(e, e.op("Greater", {columns, e.sub(places, e.ints({window}))}));
  return visible.allowed;
}

// The columns of a bias over all tokens that belong to the rows; any column for masked rows.
Value* biasOfRows(Expansion& e, Value* keys, const Extent& rows) {
  Value* bias = e.input(kBias);
  if (!bias) return nullptr;
  if (e.rank(bias) != 4) e.invalid("attention_bias has ", e.rank(bias), " dimensions, not 4");
  const Extent columns = e.dim(bias, 3);
  if (!e.flag("sliding_window_cache")) {
    if (columns.isKnown() && rows.isKnown() && columns.number == rows.number) return bias;
    Value* missing = e.op("Max", {e.sub(e.list({rows}), e.list({columns})), e.ints({0})});
    return e.op("Pad", {bias, e.list({0, 0, 0, 0, 0, 0, 0, Extent(missing)})});
  }
  Value* last = e.sub(e.list({columns}), e.ints({1}));
  Value* places = e.op("Max", {e.op("Min", {keys, last}), e.ints({0})});
  const Extent batch = e.dim(e.input(0), 0), heads = e.dim(bias, 1), queries = e.dim(bias, 2);
  return e.op("GatherElements",
              {e.expand(bias, {batch, 1, 1, 1}), e.expand(e.unsqueeze(places, {1, 2}), {batch, heads, queries, rows})},
              attributesOf({{"axis", int64_t{3}}}));
}

// One more score per head, only in the sums.
Value* sinkOf(Expansion& e) {
  if (e.has(kSink)) return e.input(kSink);
  if (e.integer("smooth_softmax", -1) <= 0) return nullptr;
  return e.expand(e.scalar(e.dtype(0), 0), {e.integer("num_heads", 0)});
}

// The scores of output 3: for all tokens, 0 where masked.
void setScores(Expansion& e, const attention::Result& result, Value* visible) {
  const int64_t which = e.integer("qk_output", 0);
  if (which == 0 || e.outputCount() < 4) return;
  Value* scores = result.scores[which == 1 ? 2 : 3];
  scores = e.where(visible, scores, e.like(scores, 0));
  e.setOutput(3, e.slice(scores, 3, 0, Extent(e.cast(e.reshape(e.input(kTotal), {1}), DType::Int64))));
}

void check(Expansion& e) {
  const bool windowed = e.flag("sliding_window_cache");
  const int64_t shown = e.integerWithin("qk_output", 0, 0, 2);
  if (windowed && shown) e.unsupported("attribute 'qk_output' with a sliding_window_cache is not supported");
  if (e.has(kPastKey) != e.has(kPastValue)) e.invalid("past_key and past_value must be used together");
  if (e.has(kQueryNorm) != e.has(kKeyNorm)) e.invalid("q_norm_weight and k_norm_weight must be used together");
  if (!e.flag("causal", true) && e.integer("local_window_size", -1) != -1)
    e.invalid("attribute 'local_window_size' needs causal attention");
}

void expandGroupQueryAttention(Expansion& e) {
  check(e);
  const int64_t count = e.integer("num_heads", 0), groups = e.integer("kv_num_heads", 0);
  Triple heads = inputsOf(e, count, groups);
  const Lengths lengths = lengthsOf(e, sizeOf(e, heads.q, 'S'));
  Value* positions = e.add(column(e, lengths.past), e.range(lengths.queries));  // [B, S]
  if (e.has(kQueryNorm)) {
    heads.q = normalised(e, heads.q, e.input(kQueryNorm));
    heads.k = normalised(e, heads.k, e.input(kKeyNorm));
  }
  if (e.flag("do_rotary")) {
    Value* angles = e.has(kPositions) ? e.input(kPositions) : positions;
    heads.q = rotated(e, heads.q, angles);
    heads.k = rotated(e, heads.k, angles);
  }
  const Cached cached = cachedOf(e, heads, lengths);
  Value* visible = visibleOf(e, cached.keys, positions, lengths);
  attention::Request request;
  request.q = heads.q;
  request.k = {cached.key, "BHSD"};
  request.v = {cached.value, "BHSD"};
  request.group = count / groups;
  Value* bias = biasOfRows(e, cached.keys, e.dim(cached.key, 2));
  request.bias = attention::biasOf(e, visible, bias, e.dtype(0), -kInfinity);
  request.sink = sinkOf(e);
  setScale(e, request, microsoft::givenScale(e));
  request.softcap = e.number("softcap", 0);
  request.layout = "BSHD";
  request.wantsScores = e.integer("qk_output", 0) != 0 && e.outputCount() > 3;
  const attention::Result result = attend(e, request);
  e.setOutput(0, joinHeads(e, Heads{result.output, "BSHD"}));
  e.setOutput(1, cached.presentKey);
  e.setOutput(2, cached.presentValue);
  setScores(e, result, visible);
}

const Composite kRows[] = {
    {{microsoft::kDomain, "GroupQueryAttention", 1, 16, 1, 4,
      "T,T,T,C,C,int32,int32,T,T,int64,T,T,float32,float32,T,T->T,C,C,T; T=float; C=float|int8|uint8|float8_e4m3fn",
      nullptr, 0, 0,
      "causal=i do_rotary=i k_quant_type=s kv_cache_bit_width=i kv_num_heads=i local_window_size=i num_heads=i "
      "qk_norm_epsilon=f qk_output=i rotary_interleaved=i scale=f sliding_window_cache=i smooth_softmax=i softcap=f "
      "v_quant_type=s"},
     expandGroupQueryAttention},
};

}  // namespace

std::span<const Composite> groupQueryComposites() { return kRows; }

}  // namespace max
