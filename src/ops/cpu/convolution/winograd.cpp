// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32 by Winograd's method. A task transforms a block of tiles, which stays in the second cache, and
// multiplies it with one panel of filters after the other; each panel's product is transformed back while it is there.
// With three spatial dimensions, a tile reads some frames, whose channels follow each other in the products.
#include "ops/cpu/convolution/winograd.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <array>

#include "base/align.h"
#include "base/half.h"
#include "base/interrupt_point.h"
#include "graph/readers/matrix.h"
#include "graph/readers/windows.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

constexpr int64_t kFewestChannels = 16;
// Of a side of an output whose size is not known at load: where networks have many channels, images are small.
// Where direct products are of words, Winograd's way loses more on images that are smaller than that than it gains on
// larger ones.
constexpr int64_t kUnknownFrames = 8, kUnknownPixels = 32, kManyChannels = 128, kUnknownTimesMany[] = {2048, 1280};
// Its weights are several times larger; beyond this, that is worth more than the time that it saves.
constexpr size_t kMostWeightBytes[] = {size_t{32} << 20, size_t{16} << 20};  // floats, instead of words
// Where larger tiles' filters take this much, they must save more of the smaller ones' time: a few small images are not
// worth that memory.
constexpr size_t kMuchWeightBytes = size_t{24} << 20;
constexpr double kMuchWorthIt = 0.8;
constexpr int64_t kBlockBytes = 640 << 10;  // of transformed input, in the second cache
// Each block reads all filters: where these are in no cache of a core, that takes longer than to read some more of the
// input from the last cache for each panel.
constexpr int64_t kLargeBlockBytes = 1536 << 10, kFarFilterBytes = 4 << 20;
constexpr int64_t kMostBlockTiles = 64;
// Relative to a multiplication of vectors: reading a filter's value, and transforming a vector of values there or back.
constexpr double kWeightCost = 0.5, kTransformCost = 6;
constexpr double kWorthIt = 0.85;      // of the direct way's cost
constexpr double kWorkPerLane = 32e3;  // multiplications of vectors; less than that is not worth a thread
constexpr int64_t kStepsPerRow = 4;    // of a tile of a product, base/interrupt_point.h

// What a convolution's cost depends on.
struct Work {
  double images;  // or frames
  int64_t rows, columns, filters;
  double channels;  // of all frames that a tile reads

  double products() const { return channels * static_cast<double>(filters); }
  double tiles(int64_t side) const {
    return images * static_cast<double>(ceilDiv(rows, side)) * static_cast<double>(ceilDiv(columns, side));
  }
};

// In multiplications of vectors of 16.
double directCost(const Work& work) { return 9 * work.products() * (work.tiles(1) / 16 + kWeightCost); }

double winogradCost(const Work& work, int64_t side) {
  const double values = static_cast<double>((side + 2) * (side + 2));
  const double channels = work.channels + static_cast<double>(work.filters);
  return values *
         (work.products() * (work.tiles(side) / 16 + kWeightCost) + work.tiles(side) * channels / 16 * kTransformCost);
}

// The side of the tiles; 0 = direct, whose multiplications of words do several at once.
int64_t chooseSide(const Work& work, const Tensor& weights, const GemmTable& direct) {
  int64_t best = 0;
  double least = kWorthIt * directCost(work) / direct.rate;
  for (const int64_t side : {2, 4}) {
    const double cost = winogradCost(work, side);
    const double bytes = static_cast<double>((side + 2) * (side + 2)) / 9 * static_cast<double>(weights.bytes());
    const double worthIt = best != 0 && bytes > static_cast<double>(kMuchWeightBytes) ? kMuchWorthIt : 1;
    if (cost >= worthIt * least || bytes > static_cast<double>(kMostWeightBytes[direct.wordElements - 1])) continue;
    least = cost;
    best = side;
  }
  return best;
}

class WinogradWeights : public Prepared {
 public:
  // `packed`: of each panel, a matrix [frames * channels][filters] for each value, one after the other.
  WinogradWeights(Ref<PackedWeights> packed, int64_t side) : side_(side), packed_(std::move(packed)) {}

  size_t bytes() const override { return packed_->bytes(); }
  bool replaces(size_t input) const override { return packed_->replaces(input); }
  bool fits(const GemmTable& table) const { return packed_->fits(table); }
  int64_t side() const { return side_; }
  const float* data() const { return packed_->data(); }
  const PackedWeights& packed() const { return *packed_; }

 private:
  int64_t side_;
  Ref<PackedWeights> packed_;
};

// Of each filter.
int64_t framesOf(const Shape& weights) { return weights.product(2, weights.rank() - 2); }

// Of the products: the channels of all frames.
int64_t depthOf(const Shape& weights) { return checkedMultiply(framesOf(weights), weights[1]); }

// One channel of one frame of the filters of a panel.
void packRow(const Panels& panels, int64_t panel, int64_t row, const Tensor& weights, int side, PackedWeights& packed) {
  const int64_t filters = weights.shape()[0], channels = weights.shape()[1], taps = 9 * framesOf(weights.shape());
  const int64_t width = panels.width(panel), first = panels.begin(panel), depth = depthOf(weights.shape());
  const float* from = weights.as<float>() + (first * channels + row % channels) * taps + row / channels * 9;
  float* to = packed.matrix(0) + first * (side + 2) * (side + 2) * depth + row * width;
  winogradTable(side).filters({from, channels * taps, std::min(width, filters - first), width, to, depth * width});
}

class WinogradOp : public OpKernel {
 public:
  WinogradOp(const OpRequest& request, const ConvShape& shape, Ref<WinogradWeights> weights);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * static_cast<size_t>(laneBytes_); }
  bool takesPitch(OperandPlace place) const override {
    return place.side == OperandPlace::Output || place.number == 0 || place.number == 3;
  }
  void setPitch(OperandPlace place, size_t bytes) override {
    const auto pitch = static_cast<int64_t>(bytes);
    if (place.side == OperandPlace::Output)
      outStep_ = pitch / (writesNarrow_ ? 2 : 4);
    else if (place.number == 3)
      residualStep_ = pitch / (addsNarrow_ ? 2 : 4);
    else
      inPitch_ = pitch;
  }

 private:
  struct Tile {
    int64_t frame, row, column;  // of its first output pixel; frames of all images are counted
  };
  struct Range {
    int64_t begin, end;
  };
  // How the product of a panel and each value is cut.
  struct Cuts {
    int64_t calls, rows, rest;   // of tiles' products: each has `rows`, and as many as `rest` of them one more
    int64_t part, aheadColumns;  // of the depth; of the next value's panel, for each call
  };
  // A lane's scratch memory.
  struct Lane {
    const float** rows;  // of the transformed input, of each tile of the block
    float* values;       // [value][tile][depth]
    float* products;     // [value][tile][columns of a panel]
    float* pixels;       // of a tile's panel before a function, if results are bfloat16
  };
  void chooseBlocks(int lanes);
  Lane laneAt(std::byte* scratch, int lane) const;
  Tile tileAt(int64_t index) const;
  void advance(Tile& tile) const;
  void runTask(const OpContext& context, int64_t task, const Lane& lane) const;
  // The input's frame that an output's frame reads for frame `tap` of the filters, counted over all images; -1 = none.
  int64_t frameOf(int64_t frame, int64_t tap) const;
  Range tapsOf(int64_t firstTile, int64_t tiles) const;
  void readTile(const void* x, const Tile& tile, int64_t frame, float* to) const;
  void multiply(int64_t panel, int64_t tiles, Range depth, const Lane& lane, WorkCounter& work) const;
  Cuts cutsOf(int64_t panel, int64_t tiles, Range depth) const;
  void multiplyValue(int64_t value, int64_t panel, const Cuts& cuts, Range depth, const Lane& lane) const;
  void writeTile(const OpContext& context, const Tile& tile, int64_t panel, const float* products, float* pixels) const;
  static void addRow(const RowAddends& row, int64_t columns, float* values);
  // Values are apart by an odd number of cache lines: else they would all fall into one set of the first cache.
  int64_t valueStep(int64_t width) const { return alignUp<int64_t>(blockTiles_ * width, 32) + 16; }
  int64_t columnsOf(int64_t panel) const {
    return std::min(panels_.width(panel), shape_.filters - panels_.begin(panel));
  }
  int64_t productStep() const { return valueStep(gemm_->panelVectors * gemm_->lanes); }

  ConvShape shape_;
  Ref<WinogradWeights> weights_;
  int64_t side_, values_;
  int64_t depth_;  // of the products: the channels of all frames that a tile reads
  const GemmTable* gemm_;
  const GemmTable* words_;  // converts results to bfloat16
  const WinogradTable* transforms_;
  Epilogue epilogue_;
  Panels panels_;
  std::vector<float> zeros_;
  bool hasBias_, hasResidual_;
  bool readsNarrow_, addsNarrow_, writesNarrow_;  // bfloat16
  int64_t inPitch_, outStep_, residualStep_;      // from one pixel to the next; bytes, elements
  int64_t tilesDown_, tilesAcross_, tiles_;
  int64_t blockTiles_, blocks_, blockPanels_, panelBlocks_;
  int lanes_ = 1;
  int64_t laneBytes_;
};

WinogradOp::WinogradOp(const OpRequest& request, const ConvShape& shape, Ref<WinogradWeights> weights)
    : shape_(shape),
      weights_(std::move(weights)),
      side_(weights_->side()),
      values_((side_ + 2) * (side_ + 2)),
      depth_(checkedMultiply(shape.kernel[0], shape.channels)),
      gemm_(&gemmTable()),
      words_(&gemmTableFor(request.node)),
      transforms_(&winogradTable(static_cast<int>(side_))),
      epilogue_{1, fusedActivation(request.node), readers::addsResidualLast(request.node.attributes)},
      panels_(gemm_->lanes, gemm_->panelVectors, shape.filters),
      zeros_(static_cast<size_t>(shape.channels)),
      hasBias_(request.has(2)),
      hasResidual_(request.has(3)),
      readsNarrow_(isNarrow(request.inputs[0])),
      addsNarrow_(hasResidual_ && isNarrow(request.inputs[3])),
      writesNarrow_(isNarrow(request.outputs[0])),
      inPitch_(shape.channels * static_cast<int64_t>(readsNarrow_ ? sizeof(uint16_t) : sizeof(float))),
      outStep_(shape.filters),
      residualStep_(shape.filters),
      tilesDown_(ceilDiv(shape.out[1], side_)),
      tilesAcross_(ceilDiv(shape.out[2], side_)),
      tiles_(checkedMultiply(checkedMultiply(shape.images, shape.out[0]), checkedMultiply(tilesDown_, tilesAcross_))) {
  chooseBlocks(std::max(request.lanes, 1));
  const int64_t pixelFloats = writesNarrow_ ? side_ * side_ * gemm_->panelVectors * gemm_->lanes : 0;
  const int64_t floats =
      checkedAdd(checkedMultiply(values_, checkedAdd(valueStep(depth_), productStep())), pixelFloats);
  laneBytes_ = checkedAdd(alignUp<int64_t>(blockTiles_ * static_cast<int64_t>(sizeof(float*))),
                          checkedMultiply<int64_t>(4, floats));
}

// Few tiles are not divided among lanes, because each block of them reads all filters.
void WinogradOp::chooseBlocks(int lanes) {
  const double work = static_cast<double>(tiles_ * values_) * static_cast<double>(depth_) *
                      static_cast<double>(panels_.paddedColumns()) / gemm_->lanes;
  lanes_ = static_cast<int>(std::clamp(work / kWorkPerLane, 1., static_cast<double>(lanes)));
  const int64_t tileRows = gemm_->tileRows;
  const int64_t depthBytes = checkedMultiply(4 * values_, depth_);
  const bool isFar = checkedMultiply(depthBytes, panels_.paddedColumns()) >= kFarFilterBytes;
  const int64_t fit = (isFar ? kLargeBlockBytes : kBlockBytes) / depthBytes / tileRows * tileRows;
  blockTiles_ = std::min(std::clamp(fit, 2 * tileRows, kMostBlockTiles), std::max<int64_t>(tiles_, 1));
  blocks_ = ceilDiv(tiles_, blockTiles_);
  panelBlocks_ = 1;
  if (blocks_ < lanes_) {
    panelBlocks_ = std::min(ceilDiv(lanes_, std::max<int64_t>(blocks_, 1)), panels_.count);
  } else {
    blocks_ = ceilDiv(blocks_, lanes_) * lanes_;
    blockTiles_ = ceilDiv(tiles_, blocks_);
    blocks_ = ceilDiv(tiles_, blockTiles_);
  }
  blockPanels_ = ceilDiv(panels_.count, panelBlocks_);
  panelBlocks_ = ceilDiv(panels_.count, blockPanels_);
}

WinogradOp::Lane WinogradOp::laneAt(std::byte* scratch, int lane) const {
  std::byte* own = scratch + lane * laneBytes_;
  auto* values = reinterpret_cast<float*>(own + alignUp<int64_t>(blockTiles_ * static_cast<int64_t>(sizeof(float*))));
  float* products = values + values_ * valueStep(depth_);
  return {reinterpret_cast<const float**>(own), values, products, products + values_ * productStep()};
}

WinogradOp::Tile WinogradOp::tileAt(int64_t index) const {
  return {index / tilesAcross_ / tilesDown_, index / tilesAcross_ % tilesDown_ * side_, index % tilesAcross_ * side_};
}

// To the next one, without divisions.
void WinogradOp::advance(Tile& tile) const {
  tile.column += side_;
  if (tile.column < shape_.out[2]) return;
  tile.column = 0;
  tile.row += side_;
  if (tile.row < shape_.out[1]) return;
  tile.row = 0;
  ++tile.frame;
}

void WinogradOp::run(const OpContext& context) const {
  const int used = std::min(context.lanes, lanes_);
  parallelFor(used, blocks_ * panelBlocks_, 1, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t task = begin; task < end; ++task) runTask(context, task, laneAt(context.scratch, lane));
  });
}

void WinogradOp::runTask(const OpContext& context, int64_t task, const Lane& lane) const {
  const int64_t first = task % blocks_ * blockTiles_, tiles = std::min(blockTiles_, tiles_ - first);
  const int64_t panel0 = task / blocks_ * blockPanels_, panel1 = std::min(panel0 + blockPanels_, panels_.count);
  const Range taps = tapsOf(first, tiles), depth{taps.begin * shape_.channels, taps.end * shape_.channels};
  const Tile firstTile = tileAt(first);
  Tile tile = firstTile;
  WorkCounter work;
  for (int64_t i = 0; i < tiles; ++i, advance(tile)) {
    float* to = lane.values + i * depth_;
    lane.rows[i] = to;
    for (int64_t tap = taps.begin; tap < taps.end; ++tap, work.pass(values_ * shape_.channels / 4))
      readTile(context.in<void>(0), tile, frameOf(tile.frame, tap), to + tap * shape_.channels);
  }
  for (int64_t panel = panel0; panel < panel1; ++panel) {
    multiply(panel, tiles, depth, lane, work);
    tile = firstTile;
    for (int64_t i = 0; i < tiles; ++i, advance(tile), work.pass(values_ * panels_.width(panel) / 4))
      writeTile(context, tile, panel, lane.products + i * panels_.width(panel), lane.pixels);
  }
}

int64_t WinogradOp::frameOf(int64_t frame, int64_t tap) const {
  // Images, without divisions.
  if (shape_.kernel[0] == 1 && shape_.in[0] == 1 && shape_.out[0] == 1 && shape_.before[0] == 0) return frame;
  const int64_t image = frame / shape_.out[0], at = frame % shape_.out[0];
  const int64_t from = at * shape_.stride[0] - shape_.before[0] + tap * shape_.dilation[0];
  return from >= 0 && from < shape_.in[0] ? image * shape_.in[0] + from : -1;
}

// The frames of the filters that see more than the border for some of the tiles; at least one.
WinogradOp::Range WinogradOp::tapsOf(int64_t firstTile, int64_t tiles) const {
  if (shape_.kernel[0] == 1) return {0, 1};
  const int64_t first = tileAt(firstTile).frame, last = tileAt(firstTile + tiles - 1).frame;
  const auto isUsed = [&](int64_t tap) {
    for (int64_t frame = first; frame <= last; ++frame)
      if (frameOf(frame, tap) >= 0) return true;
    return false;
  };
  Range taps{0, shape_.kernel[0]};
  while (taps.begin + 1 < taps.end && !isUsed(taps.begin)) ++taps.begin;
  while (taps.begin + 1 < taps.end && !isUsed(taps.end - 1)) --taps.end;
  return taps;
}

// `frame`: -1 = all zeros.
void WinogradOp::readTile(const void* x, const Tile& tile, int64_t frame, float* to) const {
  std::array<const void*, kWinogradMostValues> pixels;
  const int64_t n = side_ + 2, top = tile.row - shape_.before[1], left = tile.column - shape_.before[2];
  const int64_t height = shape_.in[1], width = shape_.in[2];
  for (int64_t i = 0; i < n; ++i) {
    const bool isRowInside = frame >= 0 && top + i >= 0 && top + i < height;
    const int64_t row = (frame * height + top + i) * width + left;
    for (int64_t j = 0; j < n; ++j) {
      const bool isInside = isRowInside && left + j >= 0 && left + j < width;
      pixels[static_cast<size_t>(i * n + j)] =
          isInside ? static_cast<const std::byte*>(x) + (row + j) * inPitch_ : static_cast<const void*>(zeros_.data());
    }
  }
  const auto transform = readsNarrow_ ? transforms_->narrowInput : transforms_->input;
  transform({pixels.data(), shape_.channels, to, valueStep(depth_)});
}

void WinogradOp::multiply(int64_t panel, int64_t tiles, Range depth, const Lane& lane, WorkCounter& work) const {
  const int64_t steps = kStepsPerRow * (depth.end - depth.begin) * tiles / gemm_->tileRows;
  const Cuts cuts = cutsOf(panel, tiles, depth);
  for (int64_t value = 0; value < values_; ++value, work.pass(steps)) multiplyValue(value, panel, cuts, depth, lane);
}

WinogradOp::Cuts WinogradOp::cutsOf(int64_t panel, int64_t tiles, Range depth) const {
  const int64_t count = depth.end - depth.begin, calls = ceilDiv(tiles, gemm_->tileRows);
  const int64_t parts = ceilDiv(count, gemm_->kBlock);
  return {calls, tiles / calls, tiles % calls, ceilDiv(count, parts), ceilDiv(panels_.width(panel), calls)};
}

void WinogradOp::multiplyValue(int64_t value, int64_t panel, const Cuts& cuts, Range depth, const Lane& lane) const {
  const int64_t width = panels_.width(panel);
  const float* matrix = weights_->data() + (panels_.begin(panel) * values_ + value * width) * depth_;
  const bool isLast = value + 1 == values_ && panel + 1 == panels_.count;
  GemmTile tile{};
  tile.taps = 1;
  tile.bStride = tile.ldc = width;
  tile.columns = columnsOf(panel);
  tile.epilogue = &epilogue_;
  tile.aheadStep = cuts.aheadColumns;
  for (int64_t first = depth.begin; first < depth.end; first += cuts.part) {
    tile.rowOffset = value * valueStep(depth_) + first;
    tile.depth = std::min(cuts.part, depth.end - first);
    tile.accumulate = first > depth.begin;
    tile.b = matrix + first * width;
    // The next value's, or the first of the next panel.
    const float* next = isLast ? weights_->data() : matrix + depth_ * width;
    int64_t begin = 0;
    for (int64_t call = 0; call < cuts.calls; ++call) {
      const int64_t rows = cuts.rows + (call < cuts.rest ? 1 : 0);
      tile.rows = lane.rows + begin;
      tile.c = lane.products + value * productStep() + begin * width;
      tile.ahead = next + first * width + call * tile.aheadStep * tile.depth;
      gemm_->tile(rows, tile.columns)(tile);
      begin += rows;
    }
  }
}

void WinogradOp::writeTile(const OpContext& context, const Tile& tile, int64_t panel, const float* products,
                           float* pixels) const {
  const Activation& activation = epilogue_.activation;
  const int64_t channel = panels_.begin(panel), columns = columnsOf(panel);
  const int64_t pixel = (tile.frame * shape_.out[1] + tile.row) * shape_.out[2] + tile.column;
  const int64_t at = pixel * outStep_ + channel, residual = pixel * residualStep_ + channel;
  WinogradOutput output{};
  output.values = products;
  output.stride = productStep();
  output.channels = columns;
  output.bias = hasBias_ ? context.in<float>(2) + channel : nullptr;
  output.residual = hasResidual_ && !addsNarrow_ ? context.in<float>(3) + residual : nullptr;
  output.narrowResidual = addsNarrow_ ? context.in<uint16_t>(3) + residual : nullptr;
  output.out = writesNarrow_ ? nullptr : context.out<float>() + at;
  output.narrow = writesNarrow_ ? context.out<uint16_t>() + at : nullptr;
  output.rowStep = shape_.out[2] * outStep_;
  output.pixelStep = outStep_;
  output.residualRowStep = shape_.out[2] * residualStep_;
  output.residualPixelStep = residualStep_;
  output.rows = std::min(side_, shape_.out[1] - tile.row);
  output.columns = std::min(side_, shape_.out[2] - tile.column);
  output.epilogue = &epilogue_;
  if (!activation.function) return transforms_->output(output);
  // Functions are applied to floats, and what follows them to their results.
  WinogradOutput sums = output;
  if (writesNarrow_) {
    sums.narrow = nullptr;
    sums.out = pixels;
    sums.pixelStep = columns;
    sums.rowStep = side_ * columns;
  }
  RowAddends last{};
  if (epilogue_.addsResidualLast) {
    last = {output.residual, output.narrowResidual};
    sums.residual = nullptr;
    sums.narrowResidual = nullptr;
  }
  transforms_->output(sums);
  for (int64_t i = 0; i < output.rows; ++i)
    for (int64_t j = 0; j < output.columns; ++j) {
      float* values = sums.out + i * sums.rowStep + j * sums.pixelStep;
      const int64_t pixelOfTile = i * shape_.out[2] + j, added = pixelOfTile * residualStep_;
      const RowAddends row{last.floats ? last.floats + added : nullptr, last.narrow ? last.narrow + added : nullptr};
      if (writesNarrow_) {
        words_->narrowFunction(activation, {values, 0, 1, columns, output.narrow + pixelOfTile * outStep_, 0, row, 0});
        continue;
      }
      applyActivation(activation, values, columns);
      addRow(row, columns, values);
    }
}

void WinogradOp::addRow(const RowAddends& row, int64_t columns, float* values) {
  for (int64_t k = 0; k < columns && row.floats; ++k) values[k] += row.floats[k];
  for (int64_t k = 0; k < columns && row.narrow; ++k) values[k] += floatFromBFloat16(row.narrow[k]);
}

// Frames of the filters that see more than the border, on average.
double meanTaps(const readers::Window& window, int64_t in, int64_t out) {
  double inside = 0;
  for (int64_t tap = 0; tap < window.size; ++tap) {
    const int64_t skipped = window.padBegin - tap * window.dilation;  // of the input, before its first frame
    const int64_t first = std::max<int64_t>(ceilDiv(skipped, window.stride), 0);
    const int64_t end = std::min(ceilDiv(std::max<int64_t>(in + skipped, 0), window.stride), out);
    inside += static_cast<double>(std::max<int64_t>(end - first, 0));
  }
  return inside / static_cast<double>(std::max<int64_t>(out, 1));
}

// The convolution's output as far as it is known at load.
Work workOf(const Node& node, const Tensor& weights) {
  const int64_t channels = weights.shape()[1], filters = weights.shape()[0];
  const int64_t most = std::max(channels, filters);
  const int64_t timesMany = kUnknownTimesMany[gemmTableFor(node).wordElements - 1];
  const int64_t side = most < kManyChannels ? kUnknownPixels : std::max<int64_t>(timesMany / most, 7);
  const int rank = weights.shape().rank();
  Work work{1, side, side, filters, static_cast<double>(framesOf(weights.shape()) * channels)};
  const Value *input = node.input(0), *output = node.output();
  if (!node.isOwn("Conv") || !output || !output->type.ranked || output->type.rank() != rank) return work;
  const auto sizeOf = [](const Value& value, int axis, int64_t unknown) {
    const Dim& dim = value.type.dims[static_cast<size_t>(axis)];
    return dim.isKnown() ? dim.value() : unknown;
  };
  work.images = static_cast<double>(sizeOf(*output, 0, 1));
  work.rows = sizeOf(*output, rank - 3, side);
  work.columns = sizeOf(*output, rank - 2, side);
  if (rank == 4) return work;
  const int64_t frames = sizeOf(*output, 1, kUnknownFrames);
  work.images *= static_cast<double>(frames);
  if (!input || !input->type.ranked || input->type.rank() != rank) return work;
  const readers::Windows windows = readers::readWindows(node.attributes, weights.shape().dims().subspan(2));
  const double taps = meanTaps(windows.axes[0], sizeOf(*input, 1, frames), frames);
  work.channels = taps * static_cast<double>(channels);
  return work;
}

bool isPossible(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int rank = shape.rank();
  if (rank < 4 || shape[rank - 2] != 3 || shape[rank - 1] != 3) return false;
  if (std::min(shape[0], shape[1]) < kFewestChannels || readers::readGroups(node.attributes) != 1) return false;
  const readers::Windows windows = readers::readWindows(node.attributes, shape.dims().subspan(2));
  return std::all_of(windows.axes.end() - 2, windows.axes.end(),
                     [](const readers::Window& window) { return window.stride == 1 && window.dilation == 1; });
}

}  // namespace

int winogradSide(const Node& node, const Tensor& weights) {
  if (!isPossible(node, weights)) return 0;
  return static_cast<int>(chooseSide(workOf(node, weights), weights, gemmTableFor(node)));
}

PackedForm winogradForm(const Tensor& weights, int side) {
  const Shape& shape = weights.shape();
  const int64_t rows = checkedMultiply<int64_t>((side + 2) * (side + 2), depthOf(shape));
  return {"filters", gemmTable(), 1, rows, shape[0], side, {shape[1]}};
}

Ref<Prepared> winogradWeights(const Tensor& weights, int side) {
  const PackedForm form = winogradForm(weights, side);
  auto packed = makeRef<PackedWeights>(form.table, form.matrices, form.rows, form.columns);
  const Panels panels(form.table.lanes, form.table.panelVectors, form.columns);
  const int64_t depth = depthOf(weights.shape());
  parallelFor(defaultLanes(), panels.count * depth, 16, [&](int64_t begin, int64_t end, int) {
    WorkCounter work;
    for (int64_t row = begin; row < end; ++row, work.pass(64 * panels.width(0)))
      packRow(panels, row / depth, row % depth, weights, side, *packed);
    hwy::FlushStream();
  });
  return winogradWeights(std::move(packed), side);
}

Ref<Prepared> winogradWeights(Ref<PackedWeights> packed, int side) {
  return makeRef<WinogradWeights>(std::move(packed), side);
}

const PackedWeights* packedWinograd(const Prepared& prepared) {
  const auto* winograd = dynamic_cast<const WinogradWeights*>(&prepared);
  return winograd ? &winograd->packed() : nullptr;
}

bool hasWinogradWeights(const Node& node) { return dynamic_cast<const WinogradWeights*>(node.prepared.get()); }

std::unique_ptr<OpKernel> createWinograd(const OpRequest& request, const ConvShape& shape) {
  auto* prepared = dynamic_cast<WinogradWeights*>(request.node.prepared.get());
  if (!prepared || !prepared->fits(gemmTable())) return nullptr;
  return std::make_unique<WinogradOp>(request, shape, Ref<WinogradWeights>(prepared));
}

}  // namespace max
