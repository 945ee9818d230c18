// SPDX-License-Identifier: Apache-2.0
// max.Attention of float32: softmax(scale * Q K' + mask) V with a running maximum
// and sum, so that only scores of a few queries and one block of keys exist at a time.
// The factors of both products may be rounded to bfloat16.
#include "ops/cpu/attention/attention.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/attention.h"
#include "ops/cpu/attention/rotary.h"
#include "ops/cpu/even_grain.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/tiles.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

constexpr int64_t kKeyBlock = 384;
constexpr int64_t kFewQueries = 4;    // up to this many, keys and values are not packed
constexpr int64_t kHeadsPerLane = 4;  // so many keep lanes busy with one head at a time
constexpr int64_t kMostRows = std::max<int64_t>(kMaxTileRows, BlockTiles::kRows);

// A tensor of [batch, heads, positions, size] in some order of axes: sizes and strides in floats.
struct HeadTensor {
  int64_t batch, heads, positions, size;
  int64_t batchStride, headStride, positionStride, sizeStride;

  HeadTensor(const Shape& shape, const readers::HeadLayout& layout) {
    const Shape strides = contiguousStrides(shape);
    int64_t* sizes[] = {&batch, &heads, &positions, &size};
    int64_t* steps[] = {&batchStride, &headStride, &positionStride, &sizeStride};
    for (size_t i = 0; i < 4; ++i) {
      *sizes[i] = shape[layout.axes()[i]];
      *steps[i] = strides[layout.axes()[i]];
    }
  }
  int64_t offset(int64_t b, int64_t h) const { return b * batchStride + h * headStride; }
};

// Found once for all rows of a tile: a division of 64 bits takes up to 90 cycles on CPUs before Ice Lake.
struct HeadPlace {
  int64_t batch, head;
};

class AttentionOp : public OpKernel {
 public:
  AttentionOp(const OpRequest& request, const readers::Attention& attention, const GemmTable& gemm);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override;

 private:
  // The working memory of one lane.
  struct Lane {
    float* scores;   // [tileRows][scoreStride]
    float* sums;     // [tileRows][valueStride]: weighted sums of values
    float* queries;  // [tileRows][size], if the queries do not have this layout
    // For products of words:
    float* queryWords;   // [tileRows][words of size]
    float* weightWords;  // [tileRows][scoreStride / 2]
    float* panel;        // some rows of a panel, before their conversion
    HeldTiles* held;
  };
  // Of one head: packed, or in place.
  struct KeysAndValues {
    const float *keys, *values;
  };
  Lane laneAt(const OpContext& context, int lane, HeldTiles& held) const;
  bool usesWords() const { return gemm_->wordElements == 2; }
  int64_t wordsOf(int64_t count) const { return usesWords() ? gemm_->wordsOf(count) : count; }  // mostly undivided
  const float* asWords(const float* from, int64_t count, float* words) const;
  void pack(const PackSource& source, const Panels& panels, float* panel, float* packed) const;
  void packNarrowKeys(const uint16_t* keys, float* packed) const;
  void packNarrowValues(const uint16_t* values, float* packed) const;
  void packHead(const OpContext& context, const Lane& lane, int64_t kvHead, float* packed) const;
  void runHeads(const OpContext& context, int lanes) const;
  void runTiles(const OpContext& context, int lanes) const;
  void attendTile(const OpContext& context, const Lane& lane, const KeysAndValues& of, int64_t head,
                  int64_t tile) const;
  void attend(const OpContext& context, const Lane& lane, const KeysAndValues& of, int64_t head, int64_t first,
              int64_t count) const;
  void useTiles(GemmTile& tile, const Lane& lane, int64_t count) const;
  void scoreBlock(const float* keys, const Lane& lane, const float* const* queries, int64_t count, int64_t begin,
                  int64_t end) const;
  void scoreInPlace(const float* keys, const Lane& lane, const float* const* queries, int64_t count, int64_t first,
                    int64_t end) const;
  void sumBlock(const float* values, const Lane& lane, const float* const* weights, int64_t count, int64_t key,
                int64_t keys, bool isFirst) const;
  float updateRow(SoftmaxRow& row, float* weights) const;
  void scale(float* values, float factor, int64_t count) const { table_->scale(values, factor, count, values); }
  bool areHidden(const SoftmaxRow* rows, int64_t count, int64_t keys) const;
  KeysAndValues keysAndValues(const OpContext& context, int64_t kvHead) const;
  HeadPlace placeOf(int64_t head) const { return {head / q_.heads, head % q_.heads}; }
  const float* queryRows(const OpContext& context, const Lane& lane, HeadPlace head, int64_t first, int64_t count,
                         int64_t& stride) const;
  SoftmaxRow startRow(const OpContext& context, HeadPlace head, int64_t query) const;
  void store(const OpContext& context, float* values, float sum, HeadPlace head, int64_t query) const;
  float* packedAt(const OpContext& context, int64_t place) const;
  int64_t kvHeadOf(int64_t head) const;
  int64_t tileBegin(int64_t tile) const { return tile * tileRows_ + std::min(tile, tallTiles_); }

  const GemmTable* gemm_;
  const AttentionTable* table_;
  HeadTensor q_, k_, v_, out_;
  Panels keyPanels_, valuePanels_;
  Epilogue scaling_, plain_;
  bool hasMask_, hasSink_;
  bool narrowQueries_, narrowKeys_, narrowValues_, writesNarrow_;  // bfloat16
  bool inPlace_;                                                   // keys and values are read in place
  bool zeroMasked_;                                                // fully masked queries give 0, not NaN
  std::array<int64_t, 4> maskStrides_{};
  int64_t panelsPerBlock_, scoreStride_, valueStride_;
  int64_t tiles_, tileRows_, tallTiles_;  // of a head's queries; the first tallTiles_ have one row more than tileRows_
  int64_t keyFloats_, valueFloats_, laneBytes_;
  int lanes_;
  bool headByHead_;  // a lane packs a head's keys and values, and attends to them while they are in a cache
};

AttentionOp::AttentionOp(const OpRequest& request, const readers::Attention& attention, const GemmTable& gemm)
    : gemm_(&gemm),
      table_(&attentionTable()),
      q_(request.inputs[0].shape, attention.queries),
      k_(request.inputs[1].shape, attention.keys),
      v_(request.inputs[2].shape, attention.values),
      out_(request.outputs[0].shape, attention.output),
      keyPanels_(gemm_->lanes, gemm_->panelVectors, k_.positions),
      valuePanels_(gemm_->lanes, gemm_->panelVectors, v_.size),
      hasMask_(request.has(3)),
      hasSink_(request.has(4)),
      narrowQueries_(isNarrow(request.inputs[0])),
      narrowKeys_(isNarrow(request.inputs[1])),
      narrowValues_(isNarrow(request.inputs[2])),
      writesNarrow_(isNarrow(request.outputs[0])),
      inPlace_(!usesWords() && q_.positions <= kFewQueries && k_.sizeStride == 1 && v_.sizeStride == 1 &&
               v_.size % gemm_->lanes == 0),
      zeroMasked_(attention.zeroesMasked),
      lanes_(std::max(request.lanes, 1)),
      headByHead_(!inPlace_ && (lanes_ == 1 || k_.batch * k_.heads >= kHeadsPerLane * lanes_)) {
  scaling_.alpha = attention.scale;
  tiles_ = (q_.positions + gemm_->tileRows - 1) / gemm_->tileRows;
  tileRows_ = tiles_ ? q_.positions / tiles_ : 0;
  tallTiles_ = q_.positions - tiles_ * tileRows_;
  const int64_t panelWidth = gemm_->panelVectors * gemm_->lanes;
  panelsPerBlock_ = std::max<int64_t>(1, kKeyBlock / panelWidth);
  scoreStride_ = panelsPerBlock_ * panelWidth;
  valueStride_ = std::max<int64_t>(valuePanels_.paddedColumns(), gemm_->lanes);
  keyFloats_ = inPlace_ ? 0 : alignUp(packedCount(*gemm_, k_.size, k_.positions));
  valueFloats_ = inPlace_ ? 0 : alignUp(packedCount(*gemm_, v_.positions, v_.size));
  const int64_t words = usesWords() ? gemm_->wordsOf(q_.size) + scoreStride_ / 2 : 0;
  const int64_t panelFloats = usesWords() ? kKeyBlock * panelWidth : 0;
  laneBytes_ = alignUp(4 * (gemm_->tileRows * (scoreStride_ + valueStride_ + q_.size + words) + panelFloats));
  if (!hasMask_) return;
  const Shape& mask = request.inputs[3].shape;
  const Shape strides = contiguousStrides(mask);
  for (int i = 0; i < mask.rank(); ++i)
    if (mask[i] != 1) maskStrides_[static_cast<size_t>(4 - mask.rank() + i)] = strides[i];
}

size_t AttentionOp::scratchBytes() const {
  const int64_t places = headByHead_ ? lanes_ : checkedMultiply(k_.batch, k_.heads);
  const int64_t packed = checkedMultiply(places, checkedMultiply<int64_t>(4, checkedAdd(keyFloats_, valueFloats_)));
  return static_cast<size_t>(checkedAdd(packed, lanes_ * laneBytes_));
}

int64_t AttentionOp::kvHeadOf(int64_t head) const {
  const int64_t b = head / q_.heads, h = head % q_.heads;
  return (k_.batch == 1 ? 0 : b) * k_.heads + h * k_.heads / q_.heads;
}

// Keys, and values behind them.
float* AttentionOp::packedAt(const OpContext& context, int64_t place) const {
  return reinterpret_cast<float*>(context.scratch) + place * (keyFloats_ + valueFloats_);
}

AttentionOp::KeysAndValues AttentionOp::keysAndValues(const OpContext& context, int64_t kvHead) const {
  const float* packed = packedAt(context, kvHead);
  if (!inPlace_) return {packed, packed + keyFloats_};
  const int64_t b = kvHead / k_.heads, h = kvHead % k_.heads;
  return {context.in<float>(1) + k_.offset(b, h), context.in<float>(2) + v_.offset(b, h)};
}

AttentionOp::Lane AttentionOp::laneAt(const OpContext& context, int lane, HeldTiles& held) const {
  const int64_t places = headByHead_ ? lanes_ : k_.batch * k_.heads;
  auto* base = reinterpret_cast<std::byte*>(packedAt(context, places)) + lane * laneBytes_;
  auto* scores = reinterpret_cast<float*>(base);
  float* sums = scores + gemm_->tileRows * scoreStride_;
  float* queries = sums + gemm_->tileRows * valueStride_;
  float* queryWords = queries + gemm_->tileRows * q_.size;
  float* weightWords = queryWords + (usesWords() ? gemm_->tileRows * gemm_->wordsOf(q_.size) : 0);
  float* panel = weightWords + (usesWords() ? gemm_->tileRows * scoreStride_ / 2 : 0);
  return {scores, sums, queries, queryWords, weightWords, panel, &held};
}

void AttentionOp::run(const OpContext& context) const {
  const double work =
      static_cast<double>(q_.batch * q_.heads * q_.positions) * static_cast<double>(k_.positions * (k_.size + v_.size));
  const int lanes = work < 200e3 ? 1 : std::min(context.lanes, lanes_);
  return headByHead_ ? runHeads(context, lanes) : runTiles(context, lanes);
}

void AttentionOp::runHeads(const OpContext& context, int lanes) const {
  const int64_t shared = k_.heads ? q_.heads / k_.heads : 0;  // query heads of one of keys and values
  parallelFor(lanes, k_.batch * k_.heads, 1, [&](int64_t begin, int64_t end, int index) {
    HeldTiles held;
    const Lane lane = laneAt(context, index, held);
    float* packed = packedAt(context, index);
    for (int64_t kvHead = begin; kvHead < end; ++kvHead) {
      packHead(context, lane, kvHead, packed);
      for (int64_t head = kvHead * shared; head < (kvHead + 1) * shared; ++head)
        for (int64_t tile = 0; tile < tiles_; ++tile)
          attendTile(context, lane, {packed, packed + keyFloats_}, head, tile);
    }
  });
}

void AttentionOp::runTiles(const OpContext& context, int lanes) const {
  const int64_t kvHeads = k_.batch * k_.heads, tasks = q_.batch * q_.heads * tiles_;
  parallelFor(lanes, inPlace_ ? 0 : kvHeads, lanes == 1 ? kvHeads : 1, [&](int64_t begin, int64_t end, int index) {
    HeldTiles held;
    const Lane lane = laneAt(context, index, held);
    for (int64_t head = begin; head < end; ++head) packHead(context, lane, head, packedAt(context, head));
  });
  const int64_t grain = std::max<int64_t>(1, std::min(tiles_, tasks / (lanes * 8)));
  parallelFor(lanes, tasks, lanes == 1 ? tasks : evenGrain(tasks, grain, lanes),
              [&](int64_t begin, int64_t end, int index) {
                HeldTiles held;
                const Lane lane = laneAt(context, index, held);
                for (int64_t task = begin; task < end; ++task) {
                  const int64_t head = task / tiles_;
                  attendTile(context, lane, keysAndValues(context, kvHeadOf(head)), head, task % tiles_);
                }
              });
}

void AttentionOp::attendTile(const OpContext& context, const Lane& lane, const KeysAndValues& of, int64_t head,
                             int64_t tile) const {
  const int64_t first = tileBegin(tile);
  attend(context, lane, of, head, first, tileBegin(tile + 1) - first);
  passWork(64 + v_.size);
}

const float* AttentionOp::asWords(const float* from, int64_t count, float* words) const {
  auto* elements = reinterpret_cast<uint16_t*>(words);
  gemm_->narrow(from, count, elements);
  if (count % 2) elements[count] = 0;
  return words;
}

void AttentionOp::pack(const PackSource& source, const Panels& panels, float* panel, float* packed) const {
  if (!usesWords()) return gemm_->pack(source, 0, source.depth, packed);
  for (int64_t i = 0; i < panels.count; ++i)
    for (int64_t first = 0; first < source.depth; first += kKeyBlock) {
      const int64_t column = panels.begin(i), width = panels.width(i);
      PackSource part = panelOf(source, panels, i);
      part.data += first * source.rowStride;
      part.depth = std::min(kKeyBlock, source.depth - first);
      packPanelAsWords(*gemm_, part, width, panel,
                       packed + column * gemm_->wordsOf(source.depth) + gemm_->wordsOf(first) * width);
    }
}

void AttentionOp::packHead(const OpContext& context, const Lane& lane, int64_t kvHead, float* packed) const {
  const int64_t b = kvHead / k_.heads, h = kvHead % k_.heads;
  float *keys = packed, *values = packed + keyFloats_;
  if (narrowKeys_)
    packNarrowKeys(context.in<uint16_t>(1) + k_.offset(b, h), keys);
  else
    pack({context.in<float>(1) + k_.offset(b, h), k_.sizeStride, k_.positionStride, 1, k_.size, k_.positions},
         keyPanels_, lane.panel, keys);
  if (narrowValues_)
    packNarrowValues(context.in<uint16_t>(2) + v_.offset(b, h), values);
  else
    pack({context.in<float>(2) + v_.offset(b, h), v_.positionStride, v_.sizeStride, 1, v_.positions, v_.size},
         valuePanels_, lane.panel, values);
}

// A word is two elements of a key: keys are columns of words already.
void AttentionOp::packNarrowKeys(const uint16_t* keys, float* packed) const {
  const int64_t stride = k_.positionStride / 2, depth = k_.size / 2;
  for (int64_t panel = 0; panel < keyPanels_.count; ++panel) {
    const int64_t column = keyPanels_.begin(panel), columns = std::min(keyPanels_.width(panel), k_.positions - column);
    const PackSource words{reinterpret_cast<const float*>(keys) + column * stride, 1, stride, 1, depth, columns};
    gemm_->floats->pack(words, 0, depth, packed + column * depth);
  }
}

// A word is one element of two values.
void AttentionOp::packNarrowValues(const uint16_t* values, float* packed) const {
  WorkCounter work;
  for (int64_t panel = 0; panel < valuePanels_.count; ++panel) {
    const int64_t column = valuePanels_.begin(panel), width = valuePanels_.width(panel);
    const uint16_t* from = values + column;
    for (int64_t p = 0; p < v_.positions; p += 2, from += 2 * v_.positionStride, packed += width, work.pass(width))
      gemm_->pairNarrow(from, p + 1 < v_.positions ? from + v_.positionStride : nullptr, v_.size - column, width,
                        packed);
  }
}

// The queries' rows, in place if contiguous, else copied.
const float* AttentionOp::queryRows(const OpContext& context, const Lane& lane, HeadPlace head, int64_t first,
                                    int64_t count, int64_t& stride) const {
  const int64_t at = q_.offset(head.batch, head.head) + first * q_.positionStride;
  if (narrowQueries_) {
    stride = q_.positionStride / 2;
    return context.in<float>(0) + at / 2;
  }
  const float* from = context.in<float>(0) + at;
  stride = q_.sizeStride == 1 ? q_.positionStride : q_.size;
  if (q_.sizeStride == 1) return from;
  WorkCounter work;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t d = 0; d < q_.size; ++d, work.pass())
      lane.queries[i * q_.size + d] = from[i * q_.positionStride + d * q_.sizeStride];
  return lane.queries;
}

// Like a key before all others.
void addSink(SoftmaxRow& row, float score) {
  row.largest = score;
  row.sum = score == -std::numeric_limits<float>::infinity() ? 0 : 1;
}

SoftmaxRow AttentionOp::startRow(const OpContext& context, HeadPlace head, int64_t query) const {
  SoftmaxRow row{nullptr, 0, nullptr, 0, -std::numeric_limits<float>::infinity(), 0};
  if (hasSink_) addSink(row, context.in<float>(4)[head.head]);
  if (!hasMask_) return row;
  row.mask =
      context.in<float>(3) + head.batch * maskStrides_[0] + head.head * maskStrides_[1] + query * maskStrides_[2];
  row.maskStep = maskStrides_[3];
  return row;
}

void AttentionOp::attend(const OpContext& context, const Lane& lane, const KeysAndValues& of, int64_t head,
                         int64_t first, int64_t count) const {
  const float* queries[kMostRows];
  float* weights[kMostRows];
  SoftmaxRow rows[kMostRows];
  const HeadPlace place = placeOf(head);
  int64_t stride = 0;
  const float* from = queryRows(context, lane, place, first, count, stride);
  for (int64_t i = 0; i < count; ++i) {
    queries[i] = from + i * stride;
    if (usesWords() && !narrowQueries_)
      queries[i] = asWords(queries[i], q_.size, lane.queryWords + i * gemm_->wordsOf(q_.size));
    weights[i] = usesWords() ? lane.weightWords + i * scoreStride_ / 2 : lane.scores + i * scoreStride_;
    rows[i] = startRow(context, place, first + i);
    rows[i].scores = lane.scores + i * scoreStride_;
  }
  bool isFirst = true;
  for (int64_t panel = 0; panel < keyPanels_.count; panel += panelsPerBlock_) {
    const int64_t last = std::min(panel + panelsPerBlock_, keyPanels_.count), key = keyPanels_.begin(panel);
    const int64_t keys = std::min(keyPanels_.begin(last), k_.positions) - key;
    // Fully masked blocks are skipped, except that at least one is summed.
    if (!areHidden(rows, count, keys) || (isFirst && last == keyPanels_.count)) {
      scoreBlock(of.keys, lane, queries, count, panel, last);
      for (int64_t i = 0; i < count; ++i) {
        rows[i].count = keys;
        const float factor = updateRow(rows[i], weights[i]);
        if (!isFirst) scale(lane.sums + i * valueStride_, factor, valueStride_);
      }
      sumBlock(of.values, lane, weights, count, key, keys, isFirst);
      isFirst = false;
    }
    for (int64_t i = 0; i < count; ++i)
      if (rows[i].maskStep) rows[i].mask += keys;
    passWork(keys * (q_.size + v_.size));
  }
  for (int64_t i = 0; i < count; ++i) store(context, lane.sums + i * valueStride_, rows[i].sum, place, first + i);
}

// Makes weights of the row's scores, in their place or as words.
float AttentionOp::updateRow(SoftmaxRow& row, float* weights) const {
  return usesWords() ? table_->updateWords(row, reinterpret_cast<uint16_t*>(weights)) : table_->update(row);
}

// Whether the next keys are masked for all queries.
bool AttentionOp::areHidden(const SoftmaxRow* rows, int64_t count, int64_t keys) const {
  return hasMask_ && std::all_of(rows, rows + count, [&](const SoftmaxRow& row) {
           return table_->hidesAll(row.mask, row.maskStep ? keys : 1);
         });
}

void AttentionOp::useTiles(GemmTile& tile, const Lane& lane, int64_t count) const {
  tile.count = count;
  tile.vectors = gemm_->vectors;
  tile.held = lane.held;
}

// Scores of some queries and the keys of panels [begin, end).
void AttentionOp::scoreBlock(const float* keys, const Lane& lane, const float* const* queries, int64_t count,
                             int64_t begin, int64_t end) const {
  if (inPlace_) return scoreInPlace(keys, lane, queries, count, keyPanels_.begin(begin), keyPanels_.begin(end));
  const int64_t depth = wordsOf(k_.size);
  GemmTile tile{queries, 0,         1,       depth,   nullptr, 0,    nullptr, scoreStride_, 0, false,
                true,    &scaling_, nullptr, nullptr, 0,       keys, 0};
  useTiles(tile, lane, count);
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t column = keyPanels_.begin(panel), width = keyPanels_.width(panel);
    tile.b = keys + column * depth;
    tile.bStride = width;
    tile.c = lane.scores + column - keyPanels_.begin(begin);
    tile.columns = std::min(width, k_.positions - column);
    gemm_->tile(count, width)(tile);
  }
}

void AttentionOp::scoreInPlace(const float* keys, const Lane& lane, const float* const* queries, int64_t count,
                               int64_t first, int64_t end) const {
  const int64_t some = std::min(end, k_.positions) - first, stride = k_.positionStride;
  for (int64_t i = 0; i < count; ++i) {
    float* scores = lane.scores + i * scoreStride_;
    gemm_->dot(queries[i], keys + first * stride, stride, k_.size, some, scores);
    scale(scores, scaling_.alpha, some);
  }
}

// Adds the weighted values of keys [key, key + keys) to the sums.
void AttentionOp::sumBlock(const float* values, const Lane& lane, const float* const* weights, int64_t count,
                           int64_t key, int64_t keys, bool isFirst) const {
  const int64_t depth = wordsOf(keys), before = wordsOf(key), all = wordsOf(v_.positions);
  GemmTile tile{weights, 0,       1,       depth,   nullptr, 0,      nullptr, valueStride_, 0, !isFirst,
                false,   &plain_, nullptr, nullptr, 0,       values, 0};
  useTiles(tile, lane, count);
  for (int64_t panel = 0; panel < valuePanels_.count; ++panel) {
    const int64_t column = valuePanels_.begin(panel), width = valuePanels_.width(panel);
    tile.b = inPlace_ ? values + key * v_.positionStride + column : values + column * all + before * width;
    tile.bStride = inPlace_ ? v_.positionStride : width;
    tile.c = lane.sums + column;
    tile.columns = width;
    gemm_->tile(count, width)(tile);
  }
}

void AttentionOp::store(const OpContext& context, float* values, float sum, HeadPlace head, int64_t query) const {
  const int64_t at = out_.offset(head.batch, head.head) + query * out_.positionStride;
  const float factor = sum == 0 && zeroMasked_ ? 0 : 1 / sum;
  if (writesNarrow_) {
    if (keyPanels_.count == 0) std::fill_n(values, v_.size, 0.f);
    scale(values, factor, v_.size);
    return gemm_->narrow(values, v_.size, context.out<uint16_t>() + at);
  }
  float* out = context.out<float>() + at;
  if (keyPanels_.count == 0) {
    for (int64_t d = 0; d < v_.size; ++d) out[d * out_.sizeStride] = 0;
  } else if (out_.sizeStride == 1) {
    table_->scale(values, factor, v_.size, out);
  } else {
    for (int64_t d = 0; d < v_.size; ++d) out[d * out_.sizeStride] = values[d] * factor;
  }
}

bool acceptsOperands(const OpRequest& request, const NarrowOperands& narrow) {
  return areFloats(request, narrow) && request.inputs[0].shape.rank() == 4 && request.inputs[1].shape.rank() == 4 &&
         request.inputs[2].shape.rank() == 4;
}

bool acceptsAttention(const OpRequest& request) { return acceptsOperands(request, {}); }

std::unique_ptr<OpKernel> createAttention(const OpRequest& request) {
  return std::make_unique<AttentionOp>(request, readers::Attention(request.node.attributes), gemmTable());
}

// Rows of elements, an even number of them in queries and keys.
NarrowOperands narrowOperands(const readers::Attention& attention, int64_t size) {
  const auto bit = [](const readers::HeadLayout& layout, uint32_t operand) { return layout.size == 3 ? operand : 0; };
  const uint32_t factors =
      size % 2 == 0 ? bit(attention.queries, operandBit(0)) | bit(attention.keys, operandBit(1)) : 0;
  return {factors | bit(attention.values, operandBit(2)), bit(attention.output, operandBit(0))};
}

// A few queries would not pay for the conversion of all keys and values.
bool acceptsWords(const OpRequest& request) {
  if (!mayBeNarrow(request.node) || request.inputs[0].shape.rank() != 4) return false;
  const readers::Attention attention(request.node.attributes);
  const HeadTensor queries(request.inputs[0].shape, attention.queries);
  if (!acceptsOperands(request, narrowOperands(attention, queries.size))) return false;
  return queries.positions > kFewQueries || std::any_of(request.inputs.begin(), request.inputs.end(), isNarrow);
}

NarrowOperands narrowOperands(const Node& node) {
  if (!mayBeNarrow(node) || !node.input(0)->type.ranked || node.input(0)->type.rank() != 4) return {};
  const readers::Attention attention(node.attributes);
  const Dim size = node.input(0)->type.dims[static_cast<size_t>(attention.queries.size)];
  return narrowOperands(attention, size.isKnown() ? size.value() : 1);
}

std::unique_ptr<OpKernel> createWords(const OpRequest& request) {
  return std::make_unique<AttentionOp>(request, readers::Attention(request.node.attributes),
                                       gemmTableFor(request.node));
}

constexpr Implementation kAttention[] = {{"attention_bf16", acceptsWords, createWords},
                                         {"attention_f32", acceptsAttention, createAttention}};
constexpr Implementation kRotary[] = {{"rotary", nullptr, createRotary}};

const OpRow kRows[] = {{kMaxDomain, "Attention", kAttention, nullptr, nullptr, narrowOperands},
                       {kMaxDomain, "Rotary", kRotary}};

}  // namespace

std::span<const OpRow> attentionOps() { return kRows; }

}  // namespace max
