// SPDX-License-Identifier: Apache-2.0
// max.ConvInteger and max.QLinearConv of 8-bit integers, channels last. A convolution is a matrix product whose rows of
// A are the pixels that each kernel tap sees, read where they are.
#include "ops/cpu/convolution/conv_quantized.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/packed_memory.h"
#include "base/work_vector.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/convolution/conv_borders.h"
#include "ops/cpu/convolution/quantized_operands.h"
#include "ops/cpu/convolution/window_words.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/matrix/tiles.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/families.h"

namespace max {

namespace {

using Inputs = QuantizedInputs;

constexpr int64_t kMostTaps = 1 << 12, kMostDepth = 1 << 20;
constexpr double kLeastHidden = 1. / 64;  // of products that tiles leave out, for which that is worth it

// How a row of A is made of pieces of memory, and a filter of the parts that meet them.
struct Pieces {
  bool copies = false;  // the input is converted, and gets borders, before it is read
  bool joins = false;   // the taps of a kernel row are one piece
  int64_t count = 1, elements = 0, words = 0;

  Pieces(const IntegerGemmTable& table, const Attributes& attributes, const Shape& weights, bool isSigned,
         bool isGrouped = false) {
    constexpr int64_t kChannelsWorthATap = 16;
    const auto windows = readers::readWindows(attributes, weights.dims().subspan(2)).axes;
    const bool isPadded = std::any_of(windows.begin(), windows.end(),
                                      [](const readers::Window& window) { return window.padBegin || window.padEnd; });
    const int64_t channels = weights[1];
    copies =
        !table.usesBytes || isSigned || channels % 4 != 0 || (isPadded && channels < kChannelsWorthATap && !isGrouped);
    joins = copies && readers::readGroups(attributes) == 1 && !windows.empty() && windows.back().dilation == 1;
    const int64_t joined = joins ? windows.back().size : 1;
    count = weights.product(2, weights.rank()) / joined;
    elements = channels * joined;
    words = table.wordsOf(elements);
  }

  int64_t depth(const IntegerGemmTable& table) const { return count * words * (table.usesBytes ? 4 : 2); }
};

// Whether filters of few channels are multiplied by the words of their windows.
bool takesWindows(const IntegerGemmTable& table, const Attributes& attributes, const Tensor& weights,
                  const Tensor* zeros, bool hasResidual) {
  constexpr int64_t kMostChannels = 4;
  if (!table.takesOffsets || hasResidual || weights.shape()[1] > kMostChannels) return false;
  if (!hasWindowWords(attributes, weights.shape(), 4)) return false;
  return zerosOf(zeros).areAll(weights.dtype() == DType::Int8 ? 0 : 128);  // else sums of the window count, too
}

// The filters of one product: those of a group, or of all narrow groups that a vector of channels holds.
struct FilterBlocks {
  int64_t filters, count, columns;
  bool isGrouped;

  FilterBlocks(const Shape& weights, int64_t groups, bool hasNarrowGroups)
      : filters(weights[0]),
        count(hasNarrowGroups ? (filters + kGroupedChannels - 1) / kGroupedChannels : groups),
        columns(hasNarrowGroups ? kGroupedChannels : filters / groups),
        isGrouped(hasNarrowGroups) {}
  int64_t size(int64_t block) const { return std::min(columns, filters - block * columns); }
  // Some columns of the last block have none.
  int64_t filter(int64_t block, int64_t column) const {
    return block * columns + (isGrouped ? groupedChannel(column) : column);
  }
};

size_t blockBytes(const IntegerGemmTable& table, const Pieces& pieces, int64_t columns) {
  return alignUp(PackedColumns::bytes(table, pieces.depth(table), columns));
}

// Packing must not inflate narrow filters, which a small file can contain.
bool isMostlyPadding(const IntegerGemmTable& table, const Pieces& pieces, const Shape& weights, int64_t groups) {
  constexpr size_t kFree = 1 << 20, kMostTimes = 8;
  return checkedMultiply(blockBytes(table, pieces, weights[0] / groups), static_cast<size_t>(groups)) >
         kFree + kMostTimes * static_cast<size_t>(weights.count());
}

// Columns that are brought into order before they are packed: those of one panel at a time for each lane, so that they
// stay in the caches.
class PanelRows {
 public:
  PanelRows(const IntegerGemmTable& table, int64_t depth, int64_t columns)
      : table_(table),
        depth_(depth),
        columns_(columns),
        lanes_(static_cast<int>(std::clamp<int64_t>(table.panelsOf(columns), 1, defaultLanes()))),
        laneBytes_(checkedMultiply(std::min<int64_t>(table.panelColumns, columns), depth)),
        memory_(allocateStorage(static_cast<size_t>(checkedMultiply<int64_t>(laneBytes_, lanes_)))) {}

  // fill(m, row) writes column m.
  template <class Fill>
  void pack(const ZeroPoints& zeros, bool isSigned, PackedColumns& packed, const Fill& fill) const {
    const int64_t width = table_.panelColumns;
    parallelFor(lanes_, table_.panelsOf(columns_), 1, [&](int64_t begin, int64_t end, int lane) {
      auto* rows = static_cast<uint8_t*>(memory_->data()) + lane * laneBytes_;
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t first = panel * width, count = std::min(width, columns_ - first);
        for (int64_t m = 0; m < count; ++m) fill(first + m, rows + m * depth_);
        PackedColumns part = packed.from(table_, depth_, panel);
        packColumns(table_, {rows, isSigned, 1, depth_}, zeros.from(first, count), depth_, count, 1, part);
      }
    });
    packed.noteFactors(table_, isSigned, zeros);
  }

 private:
  const IntegerGemmTable& table_;
  int64_t depth_, columns_;
  int lanes_;
  int64_t laneBytes_;
  Ref<Storage> memory_;
};

// Filters ready for the product.
class PackedFilters final : public Prepared {
 public:
  PackedFilters(const IntegerGemmTable& table, const Pieces& pieces, const Tensor& weights, const Tensor* zeros,
                const FilterBlocks& blocks, size_t input, std::optional<WindowOrder> order)
      : usesBytes_(table.usesBytes),
        isGrouped_(blocks.isGrouped),
        panelColumns_(table.panelColumns),
        input_(input),
        order_(order) {
    const int64_t columns = blocks.columns, depth = order_ ? 4 * order_->words() : pieces.depth(table);
    const size_t each = alignUp(PackedColumns::bytes(table, depth, columns));
    storage_ = allocatePackedStorage(checkedMultiply(each, static_cast<size_t>(blocks.count)));
    const bool isPlain = !order_ && !blocks.isGrouped && pieces.count == 1 && pieces.elements == weights.shape()[1] &&
                         depth == pieces.elements;
    const ZeroPoints points = zerosOf(zeros);
    const PanelRows rows(table, isPlain ? 0 : depth, columns);
    for (int64_t block = 0; block < blocks.count; ++block) {
      const IntegerSource plain{static_cast<const uint8_t*>(weights.data()) + block * columns * depth,
                                weights.dtype() == DType::Int8, 1, depth};
      ZeroPoints own = points;
      if (blocks.isGrouped)
        own.count = 1;
      else
        own = points.from(block * columns, columns);
      PackedColumns& packed = blocks_.emplace_back(table, depth, columns,
                                                   static_cast<std::byte*>(storage_->data()) + each * blocks_.size());
      if (isPlain) {
        packColumns(table, plain, own, depth, columns, defaultLanes(), packed);
        continue;
      }
      rows.pack(own, plain.isSigned, packed, [&](int64_t m, uint8_t* row) {
        if (order_)
          fillWindow(*order_, weights, m, points, row);
        else
          fillRow(pieces, weights, blocks.filter(block, m), points, depth / pieces.count, row);
      });
    }
  }
  size_t bytes() const override { return storage_->size(); }
  bool replaces(size_t input) const override { return input == input_; }
  bool fits(const IntegerGemmTable& table, bool hasResidual) const {
    if (isGrouped_) return groupedBytesTable() && !hasResidual;
    if (order_ && (hasResidual || !table.takesOffsets)) return false;
    return table.usesBytes == usesBytes_ && table.panelColumns == panelColumns_;
  }
  bool isGrouped() const { return isGrouped_; }
  const std::optional<WindowOrder>& order() const { return order_; }
  const PackedColumns& block(int64_t index) const { return blocks_[static_cast<size_t>(index)]; }

 private:
  static void fillWindow(const WindowOrder& order, const Tensor& weights, int64_t filter, const ZeroPoints& zeros,
                         uint8_t* row) {
    const int64_t count = weights.shape().product(1, weights.shape().rank()), channels = weights.shape()[1];
    const auto* from = static_cast<const uint8_t*>(weights.data()) + filter * count;
    for (int64_t word = 0; word < order.words(); ++word)
      for (int64_t place = 0; place < 4; ++place) {
        const int64_t element = order.element(word, place);
        *row++ = element < 0 ? static_cast<uint8_t>(zeros[filter])
                             : from[element % channels * (count / channels) + element / channels];
      }
  }

  // The filter in the order of the pieces, each filled up with what means zero. One that is missing is all zeros.
  static void fillRow(const Pieces& pieces, const Tensor& weights, int64_t filter, const ZeroPoints& zeros,
                      int64_t width, uint8_t* row) {
    const int64_t channels = weights.shape()[1], taps = weights.shape().product(2, weights.shape().rank());
    const int64_t joined = pieces.elements / std::max<int64_t>(channels, 1);
    if (filter >= weights.shape()[0]) {
      std::fill_n(row, pieces.count * width, static_cast<uint8_t>(zeros[0]));
      return;
    }
    const auto* from = static_cast<const uint8_t*>(weights.data()) + filter * channels * taps;
    WorkCounter work;
    const auto transpose = [&](int64_t tap, int64_t count, int64_t step) {
      transposeTiles(1, reinterpret_cast<const std::byte*>(from + tap), taps, reinterpret_cast<std::byte*>(row), step,
                     channels, count);
    };
    if (joined == 1 && taps > 1) transpose(0, taps, width);
    for (int64_t piece = 0; piece < pieces.count; ++piece, row += width, work.pass(width)) {
      if (taps == 1)
        std::copy_n(from, channels, row);
      else if (joined > 1)
        transpose(piece * joined, joined, channels);
      std::fill(row + pieces.elements, row + width, static_cast<uint8_t>(zeros[filter]));
    }
  }

  bool usesBytes_, isGrouped_;
  int panelColumns_;
  size_t input_;
  std::optional<WindowOrder> order_;  // of words; else pieces
  Ref<Storage> storage_;
  std::vector<PackedColumns> blocks_;
};

bool isDepthwiseBytes(const Shape& weights, int64_t groups) {
  return isDepthwise(weights, groups) && weights.product(2, weights.rank()) <= kMostTaps;
}

// Whether groups have whole words of channels, as many filters, no zero points, and a kernel.
template <const Inputs& kInputs>
bool hasNarrowGroups(int64_t groups, const Tensor& weights, const Tensor* zeros, bool hasResidual) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[1];
  if (!kInputs.requantizes() || hasResidual || !groupedBytesTable() || weights.dtype() != DType::Int8) return false;
  if (channels % 4 != 0 || channels >= kGroupedChannels || kGroupedChannels % channels != 0) return false;
  return groups > 1 && shape[0] == groups * channels && zerosOf(zeros).areAll(0);
}

template <const Inputs& kInputs>
Ref<Prepared> prepareFilters(const Node& node, bool isSigned, const Tensor& weights, const Tensor* zeros,
                             bool hasResidual) {
  const Attributes& attributes = node.attributes;
  const int64_t groups = readers::readGroups(attributes);
  if (isDepthwiseBytes(weights.shape(), groups)) return prepareQuantizedDepthwise(node, weights, zeros, kInputs);
  if (!isSigned && !hasResidual && hasFewFilterBytes(attributes, weights, zeros))
    return prepareQuantizedFew(weights, kInputs.w);
  const bool isGrouped = hasNarrowGroups<kInputs>(groups, weights, zeros, hasResidual);
  const IntegerGemmTable& table = isGrouped ? *groupedBytesTable() : integerGemmTable();
  const Pieces pieces(table, attributes, weights.shape(), isSigned, isGrouped);
  if (!isGrouped && isMostlyPadding(table, pieces, weights.shape(), groups)) return nullptr;
  std::optional<WindowOrder> order;
  if (takesWindows(table, attributes, weights, zeros, hasResidual))
    order = WindowOrder::of(attributes, weights.shape(), 4);
  return makeRef<PackedFilters>(table, pieces, weights, zeros, FilterBlocks(weights.shape(), groups, isGrouped),
                                kInputs.w, order);
}

// Operands that all kernels here need; the weights' zero points must be known where the weights are.
template <const Inputs& kInputs>
bool fitsWeights(const Shape& weights) {
  const int rank = weights.rank();
  return rank >= 2 && rank <= 5 && weights.count() > 0 && weights.product(1, rank) <= kMostDepth &&
         weights.product(2, rank) <= kMostTaps;
}

template <const Inputs& kInputs>
Ref<Prepared> prepare(const Node& node, std::span<const Tensor* const> constants) {
  const auto constant = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
  const Tensor *w = constant(kInputs.w), *zeros = constant(kInputs.wZero);
  if (!w || !isByte(w->dtype()) || !fitsWeights<kInputs>(w->shape())) return nullptr;
  const int64_t filters = w->shape()[0];
  if (node.input(kInputs.wZero) && (!zeros || (zeros->count() != 1 && zeros->count() != filters))) return nullptr;
  return prepareFilters<kInputs>(node, node.input(0)->type.dtype == DType::Int8, *w, zeros,
                                 kInputs.residual && node.input(kInputs.residual));
}

// Whether a node that is not depthwise is no product.
template <const Inputs& kInputs>
bool isFew(const OpRequest& request) {
  if (const Prepared* prepared = request.node.prepared.get()) return fitsQuantizedFew(*prepared);
  const Tensor* zeros = request.has(kInputs.wZero) ? request.inputs[kInputs.wZero].constant : nullptr;
  const bool hasResidual = kInputs.residual && request.has(kInputs.residual);
  return request.inputs[0].dtype == DType::UInt8 && !hasResidual &&
         hasFewFilterBytes(request.node.attributes, *request.inputs[kInputs.w].constant, zeros);
}

template <const Inputs& kInputs>
bool accepts(const OpRequest& request) {
  const Operand &x = request.inputs[0], &w = request.inputs[kInputs.w];
  if (!isByte(x.dtype) || !isByte(w.dtype) || !fitsWeights<kInputs>(w.shape)) return false;
  const bool knowsZeros = !request.has(kInputs.wZero) || request.inputs[kInputs.wZero].constant;
  if (!request.node.prepared && !(w.constant && knowsZeros)) return false;
  const int64_t filters = w.shape[0], groups = readers::readGroups(request.node.attributes);
  const IntegerGemmTable& table = integerGemmTable();
  const Pieces pieces(table, request.node.attributes, w.shape, x.dtype == DType::Int8);
  const auto* packed = dynamic_cast<const PackedFilters*>(request.node.prepared.get());
  const bool isPacked = packed && packed->isGrouped() && groupedBytesTable();
  if (!isPacked && !isDepthwiseBytes(w.shape, groups) && !isFew<kInputs>(request) &&
      isMostlyPadding(table, pieces, w.shape, groups))
    return false;
  // Depthwise kernels add nothing to results, and make no real numbers.
  for (const size_t input : {kInputs.addends, kInputs.factor})
    if (input && request.has(input) && isDepthwiseBytes(w.shape, groups)) return false;
  return hasCount(request, kInputs.xZero, 1) && hasCount(request, kInputs.wZero, filters) &&
         hasCount(request, kInputs.wScale, filters) && hasCount(request, kInputs.factor, filters);
}

template <const Inputs& kInputs>
class QuantizedConv final : public OpKernel {
 public:
  QuantizedConv(const OpRequest& request, const ConvShape& shape, Ref<PackedFilters> filters)
      : table_(filters->isGrouped() ? *groupedBytesTable() : integerGemmTable()),
        operands_(request, kInputs),
        shape_(shape),
        filterBlocks_(request.inputs[kInputs.w].shape, shape.groups, filters->isGrouped()),
        pieces_(table_, request.node.attributes, request.inputs[kInputs.w].shape, operands_.isSigned(0),
                filters->isGrouped()),
        inside_(inElements(pieces_.copies ? withBorders(shape) : shape)),
        rows_(pieces_.joins ? asRowTaps(inside_) : inside_),
        borders_(shape, pieces_.joins),
        filters_(std::move(filters)),
        windows_(filters_->order() ? std::optional<WindowWords>(std::in_place, shape, *filters_->order())
                                   : std::nullopt),
        blocks_(table_, shape.images * shape.pixels(), pieces_.count > 256 ? table_.tileRows : table_.blockRows) {
    panels_ = table_.panelsOf(filterBlocks_.columns);
    const int64_t wanted = 4 * std::max(request.lanes, 1);
    const int64_t tasks = std::max<int64_t>(blocks_.count() * filterBlocks_.count, 1);
    chunk_ = (panels_ + std::min(panels_, wanted / tasks + 1) - 1) / std::min(panels_, wanted / tasks + 1);
    const std::vector<const void*> constants = operands_.constants();
    hides_ = !windows_ && borders_.share(table_.tileRows) >= kLeastHidden;
    const bool isZero = !constants.empty() && operands_.zero({constants.data(), nullptr, nullptr, 1}) == 0;
    if (hides_ && table_.usesBytes && !isZero) addPieces();
    placeScratch(std::max(request.lanes, 1));
    if (scales() && !constants.empty()) {
      known_.resize(ColumnParameters::kArrays * static_cast<size_t>(allColumns()));
      loadParameters({constants.data(), nullptr, nullptr, 1}, known_.data());
      mayOverflow_ = columnParameters().mayOverflow(known_.data());
    }
    operands_.forgetConstants();
  }

  size_t scratchBytes() const override { return bytes_; }

  void run(const OpContext& context) const override {
    if (scales() && known_.empty()) loadParameters(context, reinterpret_cast<int32_t*>(context.scratch));
    const RequantizedSum sum = operands_.sum(context);
    Requantization how = kRequantizes ? operands_.requantization(context, nullptr, nullptr, sum) : Requantization{};
    how.mayOverflow = mayOverflow_;
    if (windows_) return runWindows(context, how);
    const ConvRows<uint8_t>::Source source{&rows_, input(context), zeros(context)};
    const int64_t chunks = (panels_ + chunk_ - 1) / chunk_;
    const int64_t grain = grainOf(1 << 18, {blocks_.mostRows(), pieces_.depth(table_), table_.panelColumns, chunk_});
    context.parallelFor(blocks_.count() * filterBlocks_.count * chunks, grain,
                        [&](int64_t begin, int64_t end, int lane) {
                          FoundRows found;
                          for (int64_t task = begin; task < end; ++task) {
                            const int64_t chunk = task % chunks * chunk_, block = task / chunks / filterBlocks_.count;
                            const Part part{task / chunks % filterBlocks_.count,
                                            blocks_.firstTile(block),
                                            blocks_.firstTile(block + 1),
                                            chunk,
                                            std::min(panels_, chunk + chunk_),
                                            context.scratch + lanesAt_ + static_cast<size_t>(lane) * laneBytes_};
                            runPart(context, source, how, part, found);
                          }
                        });
  }

 private:
  static constexpr bool kRequantizes = kInputs.requantizes();

  // Sums become other numbers.
  bool scales() const { return kRequantizes || operands_.hasFactor(); }

  // Tiles of output pixels, panels of a block of filters, and the memory of a lane.
  struct Part {
    int64_t block, firstTile, lastTile, firstPanel, lastPanel;
    std::byte* memory;
  };
  // What the row pointers of a lane point at.
  struct FoundRows {
    int64_t firstTile = -1, block = 0;
    bool hides = false;  // some tiles have pieces that are left out
  };

  // A tile of the product and what becomes of its sums; startPanel() sets both for a panel.
  struct PanelTile {
    PanelTile(const QuantizedConv& conv, const Requantization& given) : how(given) {
      if (how.sum) {
        sum = *how.sum;
        how.sum = &sum;
      }
      tile.held = &held;
      tile.outStride = conv.shape_.filters;
      tile.how = conv.scales() ? &how : nullptr;
      tile.ldc = conv.scales() ? conv.table_.panelColumns : conv.shape_.filters;
    }
    PanelTile(const PanelTile&) = delete;  // it points into itself
    PanelTile& operator=(const PanelTile&) = delete;

    Requantization how;
    RequantizedSum sum{};
    HeldTiles held;
    IntegerTile tile{};
    const int32_t* bias = nullptr;             // of all pieces
    int32_t addends[kMaxIntegerPanelColumns];  // of columns, of tiles that leave out pieces
  };

  int64_t elementBytes() const { return table_.usesBytes ? 1 : 2; }
  int64_t padded() const { return panels_ * table_.panelColumns; }  // columns of a block of filters
  int64_t allColumns() const { return padded() * filterBlocks_.count; }
  ConvShape inElements(ConvShape shape) const {
    shape.channels *= elementBytes();
    return shape;
  }

  ColumnParameters columnParameters() const { return {operands_, allColumns()}; }
  const int32_t* parameters(const OpContext& context) const {
    return known_.empty() ? reinterpret_cast<const int32_t*>(context.scratch) : known_.data();
  }

  void placeScratch(int lanes) {
    const auto words = static_cast<size_t>(checkedMultiply(padded(), filterBlocks_.count));
    zerosAt_ = alignUp(checkedMultiply(words, ColumnParameters::kArrays * sizeof(float)));
    inputAt_ = checkedAdd(zerosAt_, alignUp(static_cast<size_t>(inside_.channels) + 64));
    const int64_t lines = checkedMultiply(checkedMultiply(shape_.images, inside_.in[0]), inside_.in[1]);
    const int64_t copied = checkedMultiply(checkedMultiply(lines, inside_.in[2]), inside_.channels);
    lanesAt_ = checkedAdd(inputAt_, pieces_.copies && !windows_ ? alignUp(static_cast<size_t>(copied) + 64) : 0);
    sumsAt_ = alignUp(static_cast<size_t>(blocks_.mostRows() * pieces_.count) * sizeof(void*));
    if (windows_) {
      shortAt_ = static_cast<size_t>(windows_->scratchBytes());
      sumsAt_ = shortAt_ + alignUp(static_cast<size_t>(table_.tileRows * shape_.filters) * sizeof(int32_t));
    }
    tileAt_ = sumsAt_ + alignUp(static_cast<size_t>(blocks_.mostRows()) * sizeof(int32_t));
    hiddenAt_ = tileAt_ + integerTileBytes(table_);
    laneBytes_ = hiddenAt_ + (hides_ ? alignUp(static_cast<size_t>(pieces_.count + blocks_.mostRows())) : 0);
    bytes_ = checkedAdd(lanesAt_, checkedMultiply(laneBytes_, static_cast<size_t>(lanes)));
  }

  void loadParameters(const OpContext& context, int32_t* words) const {
    const ColumnParameters parameters = columnParameters();
    const auto zero = static_cast<uint32_t>(operands_.zero(context));
    WorkCounter work;
    for (int64_t block = 0, at = 0; block < filterBlocks_.count; ++block, work.pass(8 * padded())) {
      const int32_t* sums = table_.usesBytes ? filters_->block(block).columnSums : nullptr;
      for (int64_t n = 0; n < padded(); ++n, ++at) {
        const int64_t filter = filterBlocks_.filter(block, n);
        const bool exists = n < filterBlocks_.columns && filter < shape_.filters;
        const uint32_t zeros = sums ? zero * static_cast<uint32_t>(sums[n]) : 0;
        parameters.write(exists ? parameters.read(context, filter, zeros) : ColumnParameters::Column{}, at, words);
      }
    }
  }

  // The sums of each piece of each column, which tiles that leave out the piece leave out of the bias, too.
  void addPieces() {
    const int64_t width = table_.panelColumns;
    pieceSums_.resize(static_cast<size_t>(checkedMultiply(allColumns(), pieces_.count)));
    WorkCounter work;
    for (int64_t block = 0; block < filterBlocks_.count; ++block) {
      const PackedColumns& filters = filters_->block(block);
      const int32_t* words = filters.words;
      for (int64_t column = 0; column < padded(); column += width)
        for (int64_t piece = 0; piece < pieces_.count; ++piece) {
          int32_t* sums = pieceSums_.data() + (block * pieces_.count + piece) * padded() + column;
          for (int64_t k = 0; k < pieces_.words; ++k, words += width, work.pass(width))
            for (int64_t n = 0; n < width; ++n) {
              const auto word = static_cast<uint32_t>(words[n]);
              const auto byte = [&](int shift) { return static_cast<int8_t>(word >> shift); };
              sums[n] += byte(0) + byte(8) + byte(16) + byte(24) + 4 * filters.columnFactors[column + n];
            }
        }
    }
  }

  // What pixels outside the image contain.
  const uint8_t* zeros(const OpContext& context) const {
    auto* zeros = reinterpret_cast<uint8_t*>(context.scratch + zerosAt_);
    std::memset(zeros, operands_.zero(context), static_cast<size_t>(inside_.channels) + 64);
    return zeros;
  }

  const uint8_t* input(const OpContext& context) const {
    if (!pieces_.copies) return context.in<uint8_t>(0);
    auto* copy = reinterpret_cast<uint8_t*>(context.scratch + inputAt_);
    const int64_t lines = shape_.images * inside_.in[0] * inside_.in[1];
    context.parallelFor(lines, grainOf(1 << 16, {inside_.in[2], inside_.channels}),
                        [&](int64_t begin, int64_t end, int) {
                          for (int64_t line = begin; line < end; ++line) copyLine(context, line, copy);
                        });
    return copy;
  }

  void copyLine(const OpContext& context, int64_t line, uint8_t* copy) const {
    const int64_t h = line % inside_.in[1] - shape_.before[1];
    const int64_t d = line / inside_.in[1] % inside_.in[0] - shape_.before[0];
    const int64_t image = line / inside_.in[1] / inside_.in[0], all = inside_.in[2] * shape_.channels;
    const bool exists = h >= 0 && h < shape_.in[1] && d >= 0 && d < shape_.in[0];
    const int64_t width = shape_.in[2] * shape_.channels;
    const int64_t begin = exists ? shape_.before[2] * shape_.channels : all, end = exists ? begin + width : all;
    const uint8_t* from =
        exists ? context.in<uint8_t>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * width : nullptr;
    const int32_t zero = operands_.zero(context);
    const uint8_t flip = operands_.flip();
    const auto fill = [&](auto* to, auto border, const auto& convert) {
      fillParts(to, begin, border);
      inParts(end - begin, 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) to[begin + i] = convert(from[i]);
      });
      fillParts(to + end, all - end, border);
    };
    if (table_.usesBytes)
      fill(copy + line * all, static_cast<uint8_t>(zero), [=](uint8_t x) { return static_cast<uint8_t>(x ^ flip); });
    else
      fill(reinterpret_cast<int16_t*>(copy) + line * all, int16_t{0},
           [=](uint8_t x) { return static_cast<int16_t>((x ^ flip) - zero); });
  }

  // The rows of the part at the channels of its block; the block before has mostly the same rows. A block's last tile
  // may have fewer rows; there the table has no addresses.
  void findRows(const ConvRows<uint8_t>::Source& source, const Part& part, FoundRows& found, int64_t first,
                int64_t count, const uint8_t** rows) const {
    if (found.firstTile != part.firstTile) {
      ConvRows<uint8_t>::fill(&source, first, count, static_cast<int>(blocks_.mostRows()), rows);
      found = {part.firstTile, 0, hides_ && hideBorders(part, rows)};
    }
    const int64_t channels = filterBlocks_.isGrouped ? filterBlocks_.columns : shape_.groupChannels();
    const int64_t step = (part.block - std::exchange(found.block, part.block)) * channels * elementBytes();
    if (step == 0) return;
    for (int64_t piece = 0; piece < pieces_.count; ++piece, rows += blocks_.mostRows())
      for (int64_t i = 0; i < count; ++i)
        if (rows[i]) rows[i] += step;
  }

  // Of pieces that see nothing but the border, a tile's rows become NULL. Returns whether there are any.
  bool hideBorders(const Part& part, const uint8_t** rows) const {
    bool* hidden = hiddenPieces(part);
    bool any = false, hid = false;
    WorkCounter work;
    Spatial place = borders_.placeOf(blocks_.firstRow(part.firstTile));
    for (int64_t at = part.firstTile; at < part.lastTile; rows += blocks_.rowsOf(at++)) {
      const bool hides = borders_.find(place, blocks_.rowsOf(at), {hidden, static_cast<size_t>(pieces_.count)});
      work.pass(pieces_.count * blocks_.rowsOf(at));
      bool isAlike = at > part.firstTile && hides == hid;
      for (int64_t piece = 0; hides && piece < pieces_.count; ++piece) {
        const uint8_t** first = rows + piece * blocks_.mostRows();
        isAlike = isAlike && hidden[piece] == !first[-blocks_.rowsOf(at - 1)];
        if (hidden[piece]) std::fill_n(first, blocks_.rowsOf(at), nullptr);
      }
      likeLast(part, at) = isAlike;
      any |= hides;
      hid = hides;
    }
    return any;
  }
  bool* hiddenPieces(const Part& part) const { return reinterpret_cast<bool*>(part.memory + hiddenAt_); }
  // Whether a tile leaves out the same pieces as the one before it.
  bool& likeLast(const Part& part, int64_t tile) const {
    return hiddenPieces(part)[pieces_.count + tile - part.firstTile];
  }

  // Tiles from this one on that have its height, and leave out the same pieces.
  int64_t equalTiles(const Part& part, const FoundRows& found, int64_t tile) const {
    const int64_t most =
        std::min(blocks_.equalTiles(tile, part.lastTile), mostTilesPerCall(pieces_.count * pieces_.words));
    int64_t count = 1;
    while (count < most && (!found.hides || likeLast(part, tile + count))) ++count;
    return count;
  }

  // The bias has what the zero point adds to the sums; so have the sums of columns, where there is no bias.
  void leaveOutPieces(const OpContext& context, PanelTile& panelTile, int64_t block, int64_t column) const {
    if (pieceSums_.empty()) return;
    const int64_t width = table_.panelColumns;
    IntegerTile& tile = panelTile.tile;
    const auto factor = scales() ? static_cast<uint32_t>(operands_.zero(context)) : ~uint32_t{0};
    int32_t* addends = panelTile.addends;
    std::copy_n(scales() ? panelTile.bias : filters_->block(block).columnSums + column, width, addends);
    for (int64_t piece = 0; piece < pieces_.count; ++piece) {
      if (tile.rows[piece * tile.pieceStride]) continue;
      const int32_t* sums = pieceSums_.data() + (block * pieces_.count + piece) * padded() + column;
      for (int64_t n = 0; n < width; ++n)
        addends[n] = static_cast<int32_t>(static_cast<uint32_t>(addends[n]) + factor * static_cast<uint32_t>(sums[n]));
    }
    (scales() ? panelTile.how.bias : tile.columnSums) = addends;
  }

  void runPart(const OpContext& context, const ConvRows<uint8_t>::Source& source, const Requantization& how,
               const Part& part, FoundRows& found) const {
    auto** rows = reinterpret_cast<const uint8_t**>(part.memory);
    auto* rowSums = reinterpret_cast<int32_t*>(part.memory + sumsAt_);
    const PackedColumns& filters = filters_->block(part.block);
    const int64_t first = blocks_.firstRow(part.firstTile), count = blocks_.firstRow(part.lastTile) - first;
    findRows(source, part, found, first, count, rows);
    if (filters.hasFactors) addRows(rows, count, rowSums);
    int32_t rowFactors[kMaxIntegerBlockRows];
    std::fill_n(rowFactors, count, -operands_.zero(context));
    PanelTile panelTile(*this, how);
    IntegerTile& tile = panelTile.tile;
    tile.pieces = pieces_.count;
    tile.pieceStride = blocks_.mostRows();
    tile.words = pieces_.words;
    const uint8_t* residual = kRequantizes ? operands_.residual(context, 0) : nullptr;
    const bool makesReals = operands_.hasFactor();
    WorkCounter work;
    for (int64_t panel = part.firstPanel; panel < part.lastPanel; ++panel) {
      const int64_t column = panel * table_.panelColumns;
      startPanel(context, panelTile, part.block, column, rowFactors);
      int64_t row = first;
      for (int64_t at = part.firstTile, some; at < part.lastTile; at += some) {
        const int64_t each = blocks_.rowsOf(at);
        some = equalTiles(part, found, at);
        const int64_t place = row * shape_.filters + part.block * filterBlocks_.columns + column;
        tile.rows = rows + (row - first);
        tile.rowSums = rowSums + (row - first);
        if (found.hides) leaveOutPieces(context, panelTile, part.block, column);
        if (kRequantizes) tile.out = context.out<uint8_t>() + place;
        if (residual) tile.other = residual + place;
        if (makesReals) tile.reals = context.out<float>() + place;
        tile.c = scales() ? reinterpret_cast<int32_t*>(part.memory + tileAt_) : context.out<int32_t>() + place;
        table_.multiply(tile, each, some);
        work.pass(some * (16 + 8 * tile.pieces * tile.words));
        row += some * each;
      }
    }
  }

  void startPanel(const OpContext& context, PanelTile& panelTile, int64_t block, int64_t column,
                  const int32_t* rowFactors) const {
    const PackedColumns& filters = filters_->block(block);
    IntegerTile& tile = panelTile.tile;
    tile.columns = std::min<int64_t>(table_.panelColumns, filterBlocks_.size(block) - column);
    tile.b = filters.words + column * tile.pieces * tile.words;
    columnParameters().apply(parameters(context), block * padded() + column, panelTile.how, panelTile.sum);
    panelTile.bias = panelTile.how.bias;
    if (!table_.usesBytes) return;
    tile.rowFactors = scales() ? nullptr : rowFactors;  // the bias has them
    tile.columnSums = filters.columnSums + column;
    tile.columnFactors = filters.hasFactors ? filters.columnFactors + column : nullptr;
    tile.hasOneFactor = filters.hasOneFactor;
  }

  void runWindows(const OpContext& context, const Requantization& how) const {
    const WindowWords::Source source{context.inputs[0], false, static_cast<uint8_t>(operands_.zero(context)),
                                     operands_.flip()};
    OpContext ofLanes = context;  // their memory lies behind the parameters
    ofLanes.scratch += lanesAt_;
    windows_->forEach(ofLanes, source, static_cast<int64_t>(laneBytes_),
                      shape_.out[2] * panels_ * (16 + 8 * windows_->words()),
                      [&](const WindowWords::Row& row, WindowWords::Lane& lane, std::byte* memory) {
                        runRow(context, how, row, lane, memory);
                      });
  }

  // All tiles are whole: the last one overlaps the one before it, and a row that is shorter goes through memory.
  void runRow(const OpContext& context, const Requantization& how, const WindowWords::Row& row, WindowWords::Lane& lane,
              std::byte* memory) const {
    constexpr int64_t kTilesAtOnce = 8;
    const int64_t tileRows = table_.tileRows, size = kRequantizes ? 1 : 4, stride = shape_.filters * size;
    static_assert(kMaxIntegerTileRows <= WindowWords::kFewestPixels);
    const int64_t pixels = std::max(row.count, tileRows), whole = pixels / tileRows;
    std::byte* result = static_cast<std::byte*>(context.outputs[0]) + row.begin * stride;
    std::byte* out = row.count < tileRows ? memory + shortAt_ : result;
    int32_t rowFactors[kMaxIntegerBlockRows];
    if (!scales()) std::fill_n(rowFactors, kMaxIntegerBlockRows, -operands_.zero(context));
    PanelTile panelTile(*this, how);
    IntegerTile& tile = panelTile.tile;
    tile.pieces = 1;
    tile.words = windows_->words();
    tile.offsets = row.offsets;
    const int64_t parts = (whole + kTilesAtOnce - 1) / kTilesAtOnce;
    for (int64_t part = 0; part < parts; ++part) {
      lane.prepareNext(part, parts);
      const int64_t first = part * whole / parts, last = (part + 1) * whole / parts;
      for (int64_t panel = 0; panel < panels_; ++panel) {
        const int64_t column = panel * table_.panelColumns;
        startPanel(context, panelTile, 0, column, rowFactors);
        const auto multiply = [&](int64_t pixel, int64_t tiles) {
          tile.rows = reinterpret_cast<const uint8_t* const*>(row.pixels + pixel);
          std::byte* to = out + pixel * stride + column * size;
          if (kRequantizes) tile.out = reinterpret_cast<uint8_t*>(to);
          if (operands_.hasFactor()) tile.reals = reinterpret_cast<float*>(to);
          tile.c = reinterpret_cast<int32_t*>(scales() ? memory + tileAt_ : to);
          table_.multiply(tile, tileRows, tiles);
        };
        multiply(first * tileRows, last - first);
        if (part + 1 == parts && pixels % tileRows > 0) multiply(pixels - tileRows, 1);
      }
    }
    if (out != result) std::memcpy(result, out, static_cast<size_t>(row.count * stride));
  }

  // The sum of the bytes of each row, with those that fill up the last words.
  void addRows(const uint8_t* const* rows, int64_t count, int32_t* sums) const {
    WorkCounter work;
    for (int64_t row = 0; row < count; ++row) {
      uint32_t sum = 0;
      for (int64_t piece = 0; piece < pieces_.count; ++piece, work.pass(pieces_.words)) {
        const uint8_t* bytes = rows[piece * blocks_.mostRows() + row];
        if (!bytes) continue;
        for (int64_t i = 0; i < 4 * pieces_.words; ++i) sum += bytes[i];
      }
      sums[row] = static_cast<int32_t>(sum);
    }
  }

  const IntegerGemmTable& table_;
  QuantizedOperands operands_;
  ConvShape shape_;
  FilterBlocks filterBlocks_;
  Pieces pieces_;
  ConvShape inside_;  // what the product reads, with channels in bytes
  ConvRows<uint8_t> rows_;
  BorderTaps borders_;
  bool hides_;                     // tiles leave out pieces that see nothing but the border
  WorkVector<int32_t> pieceSums_;  // [blocks][pieces][columns], where the border is not zero
  Ref<PackedFilters> filters_;
  std::optional<WindowWords> windows_;  // instead of rows
  RowBlocks blocks_;
  int64_t panels_, chunk_;     // chunk: panels for each task
  WorkVector<int32_t> known_;  // parameters of all columns, if they are constant
  bool mayOverflow_ = true;    // see Requantization
  // The scratch memory: parameters of columns, zeros, the copied input, and for each lane row pointers, sums of rows
  // and the sums of a tile.
  size_t zerosAt_ = 0, inputAt_ = 0, lanesAt_ = 0, sumsAt_ = 0, shortAt_ = 0, tileAt_ = 0, hiddenAt_ = 0,
         laneBytes_ = 0, bytes_ = 0;
};

template <const Inputs& kInputs>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  const Operand &x = request.inputs[0], &w = request.inputs[kInputs.w];
  const ConvShape shape(request.node, x.shape, w.shape, request.outputs[0].shape);
  Ref<Prepared> prepared = request.node.prepared;
  const auto* packed = dynamic_cast<const PackedFilters*>(prepared.get());
  const bool hasResidual = kInputs.residual && request.has(kInputs.residual);
  const bool fits = packed ? packed->fits(integerGemmTable(), hasResidual)
                           : prepared && (fitsQuantizedDepthwise(*prepared) || fitsQuantizedFew(*prepared));
  if (!fits)
    prepared = prepareFilters<kInputs>(request.node, x.dtype == DType::Int8, *w.constant,
                                       request.has(kInputs.wZero) ? request.inputs[kInputs.wZero].constant : nullptr,
                                       hasResidual);
  if (isDepthwiseBytes(w.shape, readers::readGroups(request.node.attributes)))
    return createQuantizedDepthwise(request, shape, std::move(prepared), kInputs);
  if (fitsQuantizedFew(*prepared)) return createQuantizedFew(request, shape, std::move(prepared), kInputs);
  return std::make_unique<QuantizedConv<kInputs>>(request, shape,
                                                  Ref<PackedFilters>(static_cast<PackedFilters*>(prepared.get())));
}

template <const Inputs& kInputs>
constexpr Implementation kRow[] = {{"conv_int8", accepts<kInputs>, create<kInputs>}};

const OpRow kRows[] = {
    {kMaxDomain, "ConvInteger", kRow<kConvIntegerInputs>, prepare<kConvIntegerInputs>},
    {kMaxDomain, "QLinearConv", kRow<kQLinearConvInputs>, prepare<kQLinearConvInputs>},
};

}  // namespace

std::span<const OpRow> quantizedConvOps() { return kRows; }

}  // namespace max
