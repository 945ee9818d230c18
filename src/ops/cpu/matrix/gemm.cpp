// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matrix/gemm.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/active_call.h"
#include "base/align.h"
#include "base/half.h"
#include "base/interrupt_point.h"
#include "graph/activations.h"
#include "graph/readers/matrix.h"
#include "ops/cpu/elementwise/cast.h"
#include "ops/cpu/matrix/tile_tables.h"
#include "ops/cpu/matrix/tiles.h"

namespace max {

namespace {

constexpr int64_t kRowBlockBytes = 384 << 10;  // of A that stay in the second cache
constexpr int64_t kWholeBytes = 1 << 20;       // of B that each task reads as a whole, even if it has few tiles
constexpr int64_t kFewestTiles = 2;            // of such a task
constexpr int64_t kFewestRowBlock = 4, kFewestWidenedBlock = 16;  // tiles; those of a B that is widened share that
constexpr size_t kPointerBytes = 32 << 10;                        // of row pointers, per lane
constexpr int64_t kFewTiles = 2;       // for which a part is widened that stays in the first cache,
constexpr int64_t kWidenedDepth = 64;  // of so many rows of B
constexpr double kFlopsPerLane = 1e6;  // less than that is not worth a thread
constexpr double kBytesPerLane = 128 << 10;
constexpr double kStepsPerStore = 8;  // of k, in whose time a tile is stored
constexpr int64_t kTasksPerLane = 4;
constexpr int64_t kMoreBlocks = 4;         // of panels, to divide the work better
constexpr double kUneven = 0.02;           // of a lane's share
constexpr int64_t kStepsPerTileRow = 4;    // of a tile and one row of B, base/interrupt_point.h
constexpr int64_t kRowsPerStore = 24;      // of B, in whose time a tile is stored to memory that is new
constexpr int64_t kMostAhead = 32 << 10;   // floats of the next rows that are prefetched
constexpr int64_t kFarFloats = 128 << 10;  // of A, which may be in no near cache
constexpr int64_t kStepsAhead = 64;        // of k, in which memory answers
constexpr int64_t kLineFloats = 16;        // a line of the caches
constexpr int64_t kLongestCopied = 8192, kColumnsWorthCopying = 256;
constexpr int64_t kMostRowSteps = 64 << 10;   // products of a row that is computed at once
constexpr int64_t kShortDepth = 8;            // of sums that take less time than what there is around a tile
constexpr int64_t kShortSumBytes = 32 << 10;  // of results that are computed at once

// Whether the same element of all rows of a tile lies in one set of the first cache, whose sets repeat themselves after
// a page: those of a copy with gaps between the rows do not.
bool crowdsCache(int64_t taps, int64_t depth) {
  return taps == 1 && depth > 0 && depth % 1024 == 0 && depth <= kLongestCopied;
}

HalfType halfTypeOf(DType packed) {
  for (const HalfType& half : halfTypes())
    if (half.dtype == packed) return half;
  return {DType::Float32, nullptr, nullptr, nullptr};
}

// As many floats as are read before it.
void prefetchBehind(const float* part, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kLineFloats) __builtin_prefetch(part + floats + i, 0, 2);
}

int64_t tasksPerChunk(int64_t tasks, int lanes) { return std::max<int64_t>(1, tasks / (lanes * kTasksPerLane * 4)); }

}  // namespace

Activation fusedActivation(const Node& node, const char* prefix) {
  const readers::FusedActivation read(node.attributes, prefix);
  Activation result;
  if (read.name.empty()) return result;
  if (read.name == "Relu" || read.name == "Clip") {
    result.clamps = true;
    result.low = read.name == "Clip" ? read.alpha : 0.f;
    result.high = read.name == "Clip" ? read.beta : std::numeric_limits<float>::infinity();
    return result;
  }
  const std::optional<ElementOp> op = activationOp(read.name);
  if (op && findActivation(read.name, ActivationInfo::Epilogues)) result.function = findFloatTileFunction(*op);
  if (op) result.op = *op;
  result.alpha = read.alpha;
  result.beta = read.beta;
  require(result.function, MAX_STATUS_UNIMPLEMENTED, node.description(), ": unknown activation '", read.name, "'");
  return result;
}

void applyActivation(const Activation& activation, float* values, int64_t count) {
  const float low = activation.low, high = activation.high;
  for (int64_t i = 0; i < count && activation.clamps; ++i)  // NaN stays
    values[i] = values[i] < low ? low : values[i] > high ? high : values[i];
  if (activation.function)
    activation.function({values, {values, nullptr, nullptr}, {1, 0, 0}, count, activation.alpha, activation.beta});
}

Panels::Panels(int lanes_, int panelVectors, int64_t columns_) : lanes(lanes_), columns(columns_) {
  const int64_t all = ceilDiv(columns, lanes);
  count = ceilDiv(all, panelVectors);
  vectors = count ? all / count : 0;
  wider = count ? all % count : 0;
}

int64_t packedCount(const GemmTable& table, int64_t rows, int64_t columns) {
  return checkedMultiply(table.parts * table.wordsOf(rows),
                         Panels(table.lanes, table.panelVectors, columns).paddedColumns());
}

PackSource panelOf(const PackSource& source, const Panels& panels, int64_t panel) {
  const int64_t first = panels.begin(panel);
  PackSource part = source;
  part.data += first * source.columnStride;
  part.columns = std::min(panels.width(panel), source.columns - first);
  return part;
}

const GemmTable& gemmTableFor(const Node& node) {
  if (node.products != DType::BFloat16) return gemmTable();
  const TileTables* tiles = tileTables();
  const GemmTable* words = node.productParts == 1 ? bfloat16GemmTable() : tiles ? tiles->pairsInParts : nullptr;
  return words ? *words : gemmTable();
}

std::array<HalfType, 2> halfTypes() {
  const CastTable& casts = castTable();
  const HalfRowsTable& rows = halfRowsTable();
  return {{{DType::Float16, casts.floatFromHalf, casts.halfFromFloat, rows.ofHalves},
           {DType::BFloat16, casts.floatFromBFloat16, casts.bfloat16FromFloat, rows.ofBFloats}}};
}

void packPanelAsWords(const GemmTable& table, const PackSource& source, int64_t width, float* floats, float* packed) {
  const int64_t rows = source.rows();
  table.floats->pack(source, 0, rows, floats);
  WorkCounter work;
  for (int64_t k = 0; k < rows; k += 2, floats += 2 * width, packed += width, work.pass(width))
    table.pair(floats, k + 1 < rows ? floats + width : nullptr, width, packed);
  if (table.parts == 1) return;
  WorkVector<uint16_t> rests(static_cast<size_t>(2 * width));
  uint16_t *first = rests.data(), *second = first + width;
  floats -= alignUp(rows, 2) * width;
  for (int64_t k = 0; k < rows; k += 2, floats += 2 * width, packed += width, work.pass(2 * width)) {
    table.narrowRest(floats, width, first);
    if (k + 1 < rows) table.narrowRest(floats + width, width, second);
    table.pairNarrow(first, k + 1 < rows ? second : nullptr, width, width, packed);
  }
}

void packPanelsAsWords(const GemmTable& table, const PackSource& source, int64_t begin, int64_t end, float* floats,
                       float* packed) {
  const Panels panels(table.lanes, table.panelVectors, source.columns);
  for (int64_t panel = begin; panel < end; ++panel) {
    float* to = packed + panels.begin(panel) * table.wordsOf(source.rows()) * table.parts;
    packPanelAsWords(table, panelOf(source, panels, panel), panels.width(panel), floats, to);
  }
}

namespace {

// Panel by panel: packs one as floats, and makes words of its rows while they are in cache.
void packWords(const GemmTable& table, const PackSource& source, float* packed, int lanes) {
  const Panels panels(table.lanes, table.panelVectors, source.columns);
  const int64_t rows = source.rows();
  const bool isSmall = rows * source.columns < (64 << 10);
  const auto body = [&](int64_t begin, int64_t end, int) {
    WorkVector<float> floats(static_cast<size_t>(rows * panels.width(0)));
    packPanelsAsWords(table, source, begin, end, floats.data(), packed);
  };
  parallelFor(isSmall ? 1 : lanes, panels.count, isSmall ? std::max<int64_t>(panels.count, 1) : 1, body);
}

}  // namespace

void packMatrix(const GemmTable& table, const PackSource& source, float* packed, int lanes) {
  if (table.wordElements == 2) return packWords(table, source, packed, lanes);
  const int64_t rows = source.rows();
  const int64_t grain = std::max<int64_t>(64, ceilDiv(ceilDiv(rows, lanes * kTasksPerLane), 8) * 8);
  const bool isSmall = rows * source.columns < (64 << 10);
  parallelFor(isSmall ? 1 : lanes, rows, isSmall ? std::max<int64_t>(rows, 1) : grain,
              [&](int64_t begin, int64_t end, int) { table.pack(source, begin, end, packed); });
}

Gemm::Gemm(int64_t rows, int64_t columns, int64_t taps, int64_t depth, const Epilogue& epilogue, int lanes,
           WorkVector<GemmOffsets> batch, PartialSums partialSums, const GemmTypes& types)
    : table_(types.table),
      rows_(rows),
      columns_(columns),
      rowTaps_(taps),
      rowDepth_(depth),
      inParts_(rows == 1 && !types.isPart),
      convertsRows_(table_->wordElements == 2 && !types.narrowA),
      narrowC_(types.narrowC),
      half_(halfTypeOf(types.packedB)),
      taps_(convertsRows_ ? 1 : taps),
      depth_(table_->wordsOf(convertsRows_ ? checkedMultiply(taps, depth) : depth)),
      wordStride_(alignUp(depth_, table_->step)),
      epilogue_(epilogue),
      lanes_(std::max(lanes, 1)),
      batch_(std::move(batch)),
      panels_(table_->lanes, table_->panelVectors, columns),
      partialSums_(taps_ * depth_ > table_->kBlock ? partialSums : PartialSums::Float32) {
  const bool isLarge = rows >= table_->tileRows && columns >= kColumnsWorthCopying;
  if (table_->wordElements == 1 && isLarge && crowdsCache(taps, depth)) wordStride_ += kLineFloats;
  tiles_ = ceilDiv(rows_, table_->tileRows);
  tileRows_ = tiles_ ? rows_ / tiles_ : 0;
  tallTiles_ = tiles_ ? rows_ % tiles_ : 0;
  tapPart_ = std::max<int64_t>(1, table_->kBlock / std::max<int64_t>(depth_, 1));
  const int64_t block = !isHalf() || tiles_ > kFewTiles ? table_->kBlock : tiles_ <= 1 ? depth_ : kWidenedDepth;
  depthPart_ = alignUp(ceilDiv(depth_, std::max<int64_t>(1, ceilDiv(depth_, block))), table_->step);
  depthParts_ = std::max<int64_t>(1, ceilDiv(depth_, std::max<int64_t>(depthPart_, 1)));
  chooseBlocks();
  const int64_t blockRows = blockTiles_ * table_->tileRows;
  const int64_t sums = blockRows * table_->panelVectors * table_->lanes;
  if (partialSums_ != PartialSums::Float32) sumBytes_ = static_cast<size_t>(sums) * sizeof(double);
  if (keepsRows() || copiesRows()) wordBytes_ = kRowsKeyBytes;
  if (ownsRows())
    wordBytes_ += static_cast<size_t>(
        alignUp(checkedMultiply<int64_t>(4, checkedMultiply(table_->parts * blockRows, wordStride_))));
  if (narrowC_) partBytes_ = static_cast<size_t>(alignUp(4 * sums));
  if (isHalf() && tiles_ > 1)
    widenedBytes_ = static_cast<size_t>(alignUp(4 * std::min(table_->kBlock, depth_) * panels_.width(0)));
  isShortRow_ = rows_ == 1 && batch_.size() == 1 && taps_ == 1 && depthParts_ == 1 && panelBlocks_ == 1 &&
                partialSums_ == PartialSums::Float32 && table_->wordElements == 1 && !narrowC_ && !isHalf() &&
                !copiesRows() && depth_ * panels_.paddedColumns() <= kMostRowSteps;
  hasShortSums_ = taps_ == 1 && depth_ <= kShortDepth && rows_ > table_->tileRows && table_->wordElements == 1 &&
                  !narrowC_ && !isHalf() && epilogue_.alpha == 1;
}

void Gemm::chooseBlocks() {
  const double k = static_cast<double>(taps_) * static_cast<double>(depth_);
  const double products = static_cast<double>(batch_.size()) * static_cast<double>(columns_) * k;
  // Tiles compute whole vectors, and store as much for few words of k as for many.
  const double steps = static_cast<double>(batch_.size()) * static_cast<double>(panels_.paddedColumns()) *
                       static_cast<double>(rows_) * (k + kStepsPerStore);
  const double useful = std::max(2 * steps / kFlopsPerLane, 4 * products / kBytesPerLane);
  lanes_ = static_cast<int>(std::clamp(useful, 1., static_cast<double>(lanes_)));
  // Separate rows cost their full size; the windows of a convolution overlap.
  const int64_t rowBytes = std::max<int64_t>(4 * depth_ * std::min<int64_t>(taps_, 3), 1);
  const size_t tilePointers = static_cast<size_t>(rowTaps_ * table_->tileRows) * sizeof(void*);
  const int64_t fewest = isHalf() ? kFewestWidenedBlock : kFewestRowBlock;
  blockTiles_ = std::clamp<int64_t>(kRowBlockBytes / rowBytes / table_->tileRows, fewest, 32);
  blockTiles_ = std::min<int64_t>(blockTiles_, static_cast<int64_t>(kPointerBytes / std::max<size_t>(tilePointers, 1)));
  blockTiles_ = std::clamp<int64_t>(blockTiles_, 1, std::max<int64_t>(tiles_, 1));
  const int64_t wanted = lanes_ == 1 ? 1 : lanes_ * kTasksPerLane;
  const int64_t problems = this->problems();
  rowBlocks_ = ceilDiv(tiles_, blockTiles_);
  if (problems * rowBlocks_ >= wanted)  // as many for each lane
    rowBlocks_ = std::min(tiles_, ceilDiv(rowBlocks_, lanes_) * lanes_);
  // A lane that has all columns of its rows reads in the next product what it wrote in this one, and not what is in
  // another core's cache.
  const int64_t rowTasks = ceilDiv(wanted, problems);
  const int64_t bytes = 4 * taps_ * depth_ * table_->parts * panels_.paddedColumns();
  if (!isHalf() && bytes <= kWholeBytes && tiles_ >= kFewestTiles * rowTasks)
    rowBlocks_ = std::max(rowBlocks_, rowTasks);
  const int64_t allPanels = std::max<int64_t>(panels_.count, 1);
  panelBlocks_ = std::clamp<int64_t>(ceilDiv(wanted, std::max<int64_t>(problems * rowBlocks_, 1)), 1, allPanels);
  if (keepsRows() && panelBlocks_ > 1) panelBlocks_ = allPanels;  // lanes keep their rows
  if (problems * rowBlocks_ * panelBlocks_ < wanted)
    rowBlocks_ = std::min(tiles_, ceilDiv(wanted, problems * panelBlocks_));
  panelBlocks_ = std::min(panelBlocks_, panels_.count);
  if (lanes_ > 1 && !keepsRows() && bytes > kWholeBytes) evenShares();
  blockTiles_ = rowBlocks_ ? ceilDiv(tiles_, rowBlocks_) : 0;
  // Words are made of the rows of one product.
  const int64_t mostShared = ownsRows() ? 1 : problems;
  sharedProblems_ = std::clamp<int64_t>(problems * rowBlocks_ * panelBlocks_ / wanted, 1, mostShared);
  tableBytes_ = ceilDiv(static_cast<int64_t>(tilePointers) * blockTiles_, 64) * 64;
}

// Lanes begin with as many tasks each, which need not be as much work: a few more blocks of panels may divide it
// better.
void Gemm::evenShares() {
  const int64_t most = std::min(panels_.count, panelBlocks_ + kMoreBlocks);
  int64_t best = panelBlocks_;
  double least = largestShare();
  for (int64_t blocks = panelBlocks_ + 1; blocks <= most && least > 1 + kUneven; ++blocks) {
    panelBlocks_ = blocks;
    const double share = largestShare();
    if (share > least - kUneven) continue;
    least = share;
    best = panelBlocks_;
  }
  panelBlocks_ = best;
}

double Gemm::largestShare() const {
  const int64_t tasks = problems() * rowBlocks_ * panelBlocks_, grain = tasksPerChunk(tasks, lanes_);
  if (tasks == 0) return 1;
  const int64_t chunks = ceilDiv(tasks, grain);
  double largest = 0, before = 0;
  for (int64_t lane = 0, chunk = 0; lane < lanes_; ++lane) {
    chunk += chunks / lanes_ + (lane < chunks % lanes_);
    const double after = workBefore(std::min(chunk * grain, tasks));
    largest = std::max(largest, after - std::exchange(before, after));
  }
  return largest * lanes_ / before;
}

// In elements of the results, of tasks that share no rows.
double Gemm::workBefore(int64_t task) const {
  const TaskPlace at = placeOf(task);
  const int64_t row = tileBegin(firstTile(at.rowBlock)), column = panels_.begin(firstPanel(at.panelBlock));
  const int64_t columns = panels_.begin(firstPanel(at.panelBlock + 1)) - column, all = panels_.paddedColumns();
  const auto within = static_cast<double>(column * rows_ + columns * row);
  return static_cast<double>(at.problem) * static_cast<double>(rows_) * static_cast<double>(all) + within;
}

// Neighbouring tasks share B, which is the larger part if there is more than one panel block, or a lane's rows.
Gemm::TaskPlace Gemm::placeOf(int64_t task) const {
  const int64_t inner = keepsRows() ? panelBlocks_ : rowBlocks_, outer = keepsRows() ? rowBlocks_ : panelBlocks_;
  const int64_t outerTask = quotient(task, inner), problem = quotient(outerTask, outer);
  const int64_t innerBlock = task - outerTask * inner, outerBlock = outerTask - problem * outer;
  return {problem, keepsRows() ? outerBlock : innerBlock, keepsRows() ? innerBlock : outerBlock, outerTask};
}

void Gemm::run(const GemmOperands& operands, std::byte* scratch, int lanes) const {
  if (isShortRow_ && !operands.rowFunction && !operands.narrowResidual) return runRow(operands);
  if (takesShortSums(operands)) return runShortSums(operands, lanes);
  // The groups of a convolution read the same pixels: a task finds them once for several groups.
  const int64_t share = operands.rowFunction ? sharedProblems_ : 1;
  const int64_t tasks = ceilDiv(static_cast<int64_t>(batch_.size()), share) * rowBlocks_ * panelBlocks_;
  const auto body = [&](int64_t begin, int64_t end, int lane) {
    auto* pointers = reinterpret_cast<const float**>(scratch + static_cast<size_t>(lane) * laneBytes());
    for (int64_t task = begin; task < end; ++task) runTask(operands, task, share, pointers);
  };
  const int used = std::min(lanes, lanes_);
  for (int lane = 0; lane < used && wordBytes_ > 0; ++lane)
    *rowsInWords(reinterpret_cast<const float**>(scratch + static_cast<size_t>(lane) * laneBytes())) = -1;
  if (used == 1 && !activeCall()) return body(0, tasks, 0);
  parallelFor(used, tasks, tasksPerChunk(tasks, used), body);
}

// What is below without tasks, parts and tiles, which take longer than such a row.
void Gemm::runRow(const GemmOperands& operands) const {
  const GemmOffsets& at = batch_.front();
  const float* row = operands.a + at.a;
  GemmTile tile;
  tile.rows = &row;
  tile.inParts = inParts_;
  tile.rowOffset = 0;
  tile.taps = 1;
  tile.depth = depth_;
  tile.ldc = operands.ldc;
  tile.accumulate = false;
  tile.finish = true;
  tile.epilogue = &epilogue_;
  tile.ldr = operands.ldr;
  tile.aheadStep = 0;
  for (int64_t panel = 0; panel < panels_.count; ++panel) {
    const int64_t column = panels_.begin(panel);
    tile.b = tile.ahead = setPanel(tile, operands, at, panel);
    tile.c = operands.c + at.c + column;
    if (operands.residual) tile.residual = operands.residual + at.residual + column;
    table_->tile(1, tile.columns)(tile);
  }
}

bool Gemm::takesShortSums(const GemmOperands& operands) const {
  return hasShortSums_ && !operands.rowFunction && !operands.residual && !operands.narrowResidual;
}

// A few rows at a time, whose results stay in the first cache until they are whole.
void Gemm::runShortSums(const GemmOperands& operands, int lanes) const {
  const int64_t fitting = kShortSumBytes / (4 * std::max<int64_t>(columns_, 1)) / table_->tileRows * table_->tileRows;
  const int64_t most = std::max<int64_t>(fitting, table_->tileRows), parts = ceilDiv(rows_, most);
  const int64_t tasks = static_cast<int64_t>(batch_.size()) * parts;
  const int used = std::min(lanes, lanes_);
  parallelFor(used, tasks, tasksPerChunk(tasks, used), [&](int64_t begin, int64_t end, int) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t problem = quotient(task, parts), row = (task - problem * parts) * most;
      const GemmOffsets& at = batch_[static_cast<size_t>(problem)];
      const int64_t rows = std::min(most, rows_ - row);
      float* c = operands.c + at.c + row * operands.ldc;
      for (int64_t panel = 0; panel < panels_.count; ++panel) {
        GemmTile tile;
        const float* b = setPanel(tile, operands, at, panel);
        table_->shortSums({operands.a + at.a + row * operands.lda, operands.lda, rows, depth_, b, tile.bStride,
                           c + panels_.begin(panel), operands.ldc, tile.columns, tile.bias, epilogue_.activation});
      }
      passWork(rows * panels_.count * (depth_ + 1));
    }
  });
}

void Gemm::runTask(const GemmOperands& operands, int64_t task, int64_t share, const float** pointers) const {
  const TaskPlace at = placeOf(task);
  const auto first = static_cast<size_t>(at.problem * share);
  const int64_t tile0 = firstTile(at.rowBlock), tile1 = firstTile(at.rowBlock + 1);
  const int64_t panel0 = firstPanel(at.panelBlock), panel1 = firstPanel(at.panelBlock + 1);
  if (!keepsRows() || std::exchange(*rowsInWords(pointers), at.outer) != at.outer) {
    fillPointers(operands, tile0, tile1, pointers);
    if (convertsRows_) narrowRows(operands, tile0, tile1, batch_[first].a, pointers);
    if (copiesRows()) copyRows(tile0, tile1, batch_[first].a, pointers);
  }
  WorkCounter work;
  HeldTiles held;
  GemmTile tile;  // each panel sets what is not set here
  tile.vectors = table_->vectors;
  tile.inParts = inParts_;
  if (table_->parts == 2) tile.rowPart = wordStride_;
  tile.rowStride = convertsRows_ ? table_->parts * wordStride_ : operands.rowFunction ? 0 : operands.lda;
  tile.held = &held;
  tile.ldr = operands.ldr;
  tile.ldn = operands.ldc;
  tile.epilogue = &epilogue_;
  for (size_t i = first; i < std::min(first + static_cast<size_t>(share), batch_.size()); ++i)
    for (int64_t panel = panel0; panel < panel1; ++panel)
      runPanel(tile, operands, batch_[i], operands.fromLast ? panel0 + panel1 - 1 - panel : panel, panel == panel0,
               tile0, tile1, pointers, work);
}

// Of the first product of the batch; others add their offset.
void Gemm::fillPointers(const GemmOperands& operands, int64_t tile0, int64_t tile1, const float** pointers) const {
  const int tileRows = table_->tileRows;
  for (int64_t tile = tile0; tile < tile1; ++tile, pointers += rowTaps_ * tileRows) {
    const int64_t first = tileBegin(tile), count = tileBegin(tile + 1) - first;
    if (!operands.rowFunction) {
      for (int64_t i = 0; i < count; ++i) pointers[i] = operands.a + (first + i) * operands.lda;
      continue;
    }
    operands.rowFunction(operands.rowSource, first, count, tileRows, pointers);
    if (operands.zeroRow && !convertsRows_) dropZeroTaps(operands.zeroRow, count, pointers);
  }
}

// Wide dilations put whole taps of a tile into the border.
void Gemm::dropZeroTaps(const float* zeroRow, int64_t count, const float** pointers) const {
  for (int64_t tap = 0; tap < rowTaps_; ++tap, pointers += table_->tileRows)
    if (std::all_of(pointers, pointers + count, [&](const float* row) { return row == zeroRow; })) *pointers = nullptr;
}

// Replaces each tile's pointers by one for each row of words. The table shrinks: what is written was read before.
void Gemm::narrowRows(const GemmOperands& operands, int64_t tile0, int64_t tile1, int64_t offset,
                      const float** pointers) const {
  // Rows without gaps between them become words all at once.
  const bool isDense =
      !operands.rowFunction && operands.lda == rowDepth_ && rowDepth_ == 2 * wordStride_ && table_->parts == 1;
  const int tileRows = table_->tileRows;
  float* words = wordsOf(pointers);
  const float* const* from = pointers;
  WorkCounter work;
  for (int64_t tile = tile0; tile < tile1; ++tile, from += rowTaps_ * tileRows, pointers += tileRows) {
    const int64_t count = tileBegin(tile + 1) - tileBegin(tile);
    if (isDense) table_->narrow(from[0] + offset, count * rowDepth_, reinterpret_cast<uint16_t*>(words));
    for (int64_t i = 0; i < count; ++i, words += table_->parts * wordStride_, work.pass(depth_)) {
      if (!isDense) narrowRow(from + i, offset, words);
      pointers[i] = words;
    }
  }
}

void Gemm::copyRows(int64_t tile0, int64_t tile1, int64_t offset, const float** pointers) const {
  float* to = wordsOf(pointers);
  WorkCounter work;
  for (int64_t tile = tile0; tile < tile1; ++tile, pointers += table_->tileRows) {
    const int64_t count = *pointers ? tileBegin(tile + 1) - tileBegin(tile) : 0;
    for (int64_t i = 0; i < count; ++i, to += wordStride_, work.pass(depth_ / table_->lanes))
      pointers[i] = std::copy_n(pointers[i] + offset, depth_, to) - depth_;
  }
}

void Gemm::narrowRow(const float* const* taps, int64_t offset, float* to) const {
  for (int part = 0; part < table_->parts; ++part, to += wordStride_) {
    const auto narrow = part == 0 ? table_->narrow : table_->narrowRest;
    auto* elements = reinterpret_cast<uint16_t*>(to);
    for (int64_t tap = 0; tap < rowTaps_; ++tap, elements += rowDepth_)
      narrow(taps[tap * table_->tileRows] + offset, rowDepth_, elements);
    if (rowTaps_ * rowDepth_ % 2) *elements = 0;
  }
}

// What all rows read of the bias and of B, whose panel is returned.
const float* Gemm::setPanel(GemmTile& tile, const GemmOperands& operands, const GemmOffsets& at, int64_t panel) const {
  const int64_t column = panels_.begin(panel), width = panels_.width(panel);
  tile.columns = std::min(width, columns_ - column);
  tile.bias = operands.bias ? operands.bias + at.bias + column : nullptr;
  const bool usesTail = operands.ldb && at.bTail >= 0 && tile.columns < width;
  tile.bStride = operands.ldb && !usesTail ? operands.ldb : width;
  if (usesTail) return operands.bTail + at.bTail;
  return operands.b + at.b + (operands.ldb ? column : packedFloats(column * taps_ * depth_) * table_->parts);
}

// Sets what the tile multiplies: a part of a panel, of as many rows as its depth. Of a B of half the size it is a copy
// in floats. Where few rows would share that, they are multiplied at once, and the tile adds the sums in C to nothing.
void Gemm::readPart(GemmTile& tile, const float* part, const float* const* rows, const Place& place) const {
  tile.b = part;
  if (!isHalf()) return;
  if (tiles_ > 1) {
    if (tiles_ <= kFewTiles) prefetchBehind(part, tile.depth * tile.bStride / 2);
    float* floats = widenedOf(place.pointers);
    half_.widen({floats, {part, nullptr, nullptr}, {1, 0, 0}, tile.depth * tile.bStride, 0, 0});
    tile.b = floats;
    return;
  }
  const auto* halves = reinterpret_cast<const uint16_t*>(part);
  const float* bias = epilogue_.alpha == 1 ? tile.bias : nullptr;  // as tiles do that add nothing
  for (int64_t row = 0, count; row < rows_; row += count) {
    count = std::min(rows_ - row, kHalfRows);
    half_.multiplyRows({rows + row, count, tile.rowOffset, halves, tile.depth, tile.bStride, bias,
                        place.c + row * tile.ldc, tile.columns, tile.ldc});
  }
  tile.taps = tile.depth = 0;
  tile.accumulate = true;
}

void Gemm::runPanel(GemmTile& tile, const GemmOperands& operands, const GemmOffsets& at, int64_t panel, bool isFirst,
                    int64_t tile0, int64_t tile1, const float** pointers, WorkCounter& work) const {
  const int64_t column = panels_.begin(panel), width = panels_.width(panel);
  const float* b = setPanel(tile, operands, at, panel);
  if (table_->parts == 2) tile.bPart = taps_ * depth_ * width;
  tile.ldc = narrowC_ ? width : operands.ldc;
  float* c = narrowC_ ? partsOf(pointers) : operands.c + at.c + tileBegin(tile0) * operands.ldc + column;
  const Place place{at, column, tile0, tile1, pointers, c, b, panel, isFirst};
  if (partialSums_ != PartialSums::Float32) return runParts(tile, operands, place, work);
  for (int64_t tap = 0; tap < taps_; tap += tapPart_) {
    tile.taps = std::min(tapPart_, taps_ - tap);
    for (int64_t part = 0; part < depthParts_; ++part) {
      const int64_t first = part * depthPart_;
      tile.rowOffset = rowOffsetOf(at) + first;
      tile.depth = std::min(depthPart_, depth_ - first);
      tile.accumulate = tap > 0 || part > 0;
      tile.finish = tap + tapPart_ >= taps_ && part + 1 == depthParts_;
      tile.endsInHalf = table_->takesHalves && !convertsRows_ && rowDepth_ % 2 != 0 && part + 1 == depthParts_;
      const float* packed = b + packedFloats((tap * depth_ + first) * tile.bStride);
      const int64_t steps = tile.taps * tile.depth;
      const float* const* rows = pointers + tap * table_->tileRows;
      readPart(tile, packed, rows, place);
      runTiles(tile, operands, place, rows, aheadOf(tile, operands, place, packed));
      work.pass((steps + kRowsPerStore) * (tile1 - tile0) * kStepsPerTileRow);
    }
  }
}

// Each part's product is computed in C and added to sums of the wanted type; the last step converts them to C.
void Gemm::runParts(GemmTile& tile, const GemmOperands& operands, const Place& place, WorkCounter& work) const {
  const int64_t tiles = place.tile1 - place.tile0, rows = tileBegin(place.tile1) - tileBegin(place.tile0);
  const float* bias = std::exchange(tile.bias, nullptr);
  double* sums = sumsOf(place.pointers);
  std::fill_n(sums, rows * tile.columns, 0.);
  tile.taps = 1;
  tile.accumulate = tile.finish = false;
  for (int64_t tap = 0; tap < taps_; ++tap)
    for (int64_t first = 0, depth; first < depth_; first += depth) {
      tile.rowOffset = rowOffsetOf(place.at) + first;
      tile.depth = depth = std::min(table_->kBlock, depth_ - first);
      const float* packed = place.b + packedFloats((tap * depth_ + first) * tile.bStride);
      const float* const* tileRows = place.pointers + tap * table_->tileRows;
      readPart(tile, packed, tileRows, place);
      runTiles(tile, operands, place, tileRows, aheadOf(tile, operands, place, packed));
      work.pass((depth + kRowsPerStore) * tiles * kStepsPerTileRow);
      addPart(tile, place.c, rows, sums);
    }
  // With alpha = 1 tiles start from the bias, except those that add to C.
  const bool addsBias = bias && epilogue_.alpha == 1;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < tile.columns; ++n)
      place.c[m * tile.ldc + n] =
          static_cast<float>(sums[m * tile.columns + n] + (addsBias ? static_cast<double>(bias[n]) : 0.));
  tile.bias = bias;
  tile.taps = tile.depth = 0;
  tile.accumulate = tile.finish = true;
  runTiles(tile, operands, place, place.pointers, nothingAhead(place));
}

void Gemm::addPart(const GemmTile& tile, const float* c, int64_t rows, double* sums) const {
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < tile.columns; ++n) {
      double& sum = sums[m * tile.columns + n];
      sum += static_cast<double>(c[m * tile.ldc + n]);
      if (partialSums_ == PartialSums::Float16)
        sum = static_cast<double>(floatFromHalf(halfFromFloat(static_cast<float>(sum))));
      else if (partialSums_ == PartialSums::BFloat16)
        sum = static_cast<double>(floatFromBFloat16(bfloat16FromFloat(static_cast<float>(sum))));
    }
}

// The first panel's tiles wait for rows, which the others find in the second cache.
Gemm::Ahead Gemm::aheadOf(const GemmTile& tile, const GemmOperands& operands, const Place& place,
                          const float* part) const {
  if (rows_ == 1 && !table_->anyTile) return nothingAhead(place);  // a vector kernel waits for B alone
  if (place.isFirst && !tile.accumulate && prefetchesRows(operands)) return ownRows(tile, operands, place);
  if (tile.finish && place.panel == (operands.fromLast ? 0 : panels_.count - 1)) return nextRows(tile, operands, place);
  return tile.finish ? nextPanel(tile, operands, place) : nextPart(tile, place, part);
}

// Where they are more than B, which else is what the chip waits for.
bool Gemm::prefetchesRows(const GemmOperands& operands) const {
  if (ownsRows() || rows_ == 0) return false;
  if (operands.rowFunction ? batch_.size() != 1 : operands.lda > 2 * depth_) return false;
  const int64_t floats = operands.rowFunction ? operands.sourceFloats : rows_ * operands.lda;
  return floats >= std::max(kFarFloats, taps_ * depth_ * columns_);
}

// Tiles prefetch what the next ones read, in the order of memory, which the chip continues on its own.
Gemm::Ahead Gemm::ownRows(const GemmTile& tile, const GemmOperands& operands, const Place& place) const {
  const int64_t tiles = place.tile1 - place.tile0, first = tileBegin(place.tile0), steps = tile.taps * tile.depth;
  const int64_t floats = operands.rowFunction ? operands.sourceFloats : rows_ * operands.lda;
  const int64_t ofTile = floats * (tileBegin(place.tile1) - first) / (rows_ * tiles), step = ceilDiv(ofTile, steps);
  const int64_t lead = (operands.rowFunction ? operands.sourceLead : 0) + (1 + kStepsAhead / steps) * ofTile;
  const float* begin = operands.a + place.at.a;
  return {begin + floats * first / rows_ + lead, begin + std::max<int64_t>(floats - steps * step, 0), step, ofTile};
}

// Some floats that all tiles prefetch together.
Gemm::Ahead Gemm::aheadIn(const float* from, int64_t floats, const GemmTile& tile, int64_t tiles) {
  const int64_t steps = std::max<int64_t>(tile.taps * tile.depth, 1), step = ceilDiv(floats, steps * tiles);
  return {from, from + std::max<int64_t>(floats - steps * step, 0), step, step * steps};
}

// Parts are consecutive; the last one may be shorter.
Gemm::Ahead Gemm::nextPart(const GemmTile& tile, const Place& place, const float* part) const {
  const float* from = part + packedFloats(tile.taps * tile.depth * tile.bStride);
  const int64_t rest = packedFloats(taps_ * depth_ * tile.bStride) - (from - place.b);
  if (rest <= 0) return nothingAhead(place);
  return aheadIn(from, std::min<int64_t>(rest, from - part), tile, place.tile1 - place.tile0);
}

Gemm::Ahead Gemm::nextPanel(const GemmTile& tile, const GemmOperands& operands, const Place& place) const {
  if (operands.ldb) return nothingAhead(place);
  const int64_t floats = packedFloats(taps_ * depth_ * table_->parts * tile.bStride);
  const float* next = operands.fromLast ? place.b - floats : place.b + floats;
  return aheadIn(next, packedFloats(tile.taps * tile.depth * tile.bStride), tile, place.tile1 - place.tile0);
}

// Behind the last panel come the rows of the next task, or its first panel.
Gemm::Ahead Gemm::nextRows(const GemmTile& tile, const GemmOperands& operands, const Place& place) const {
  const int64_t tiles = place.tile1 - place.tile0;
  const bool isDense = !operands.rowFunction && operands.lda == (convertsRows_ ? rowDepth_ : depth_);
  if (isDense && place.tile1 < tiles_) {
    const int64_t first = tileBegin(place.tile1), last = tileBegin(std::min(place.tile1 + tiles, tiles_));
    const float* rows = operands.a + place.at.a + first * operands.lda;
    return aheadIn(rows, std::min((last - first) * operands.lda, kMostAhead), tile, tiles);
  }
  const GemmOffsets& next = &place.at == &batch_.back() ? place.at : *(&place.at + 1);
  return aheadIn(operands.b + next.b, packedFloats(tile.taps * tile.depth * tile.columns), tile, tiles);
}

void Gemm::runTiles(GemmTile& tile, const GemmOperands& operands, const Place& place, const float* const* pointers,
                    const Ahead& ahead) const {
  const bool keepsParts = !narrowC_ || tile.accumulate || !tile.finish;
  const int64_t row = tileBegin(place.tile0), residual = place.at.residual + row * operands.ldr + place.column;
  tile.rows = pointers;
  tile.c = place.c;
  if (narrowC_) tile.narrow = operands.narrowC + place.at.c + row * operands.ldc + place.column;
  if (operands.residual) tile.residual = operands.residual + residual;
  if (operands.narrowResidual) tile.narrowResidual = operands.narrowResidual + residual;
  tile.aheadStep = ahead.step;
  const float* from = ahead.from;
  for (int64_t t = place.tile0, last; t < place.tile1;) {
    last = t < tallTiles_ ? std::min(tallTiles_, place.tile1) : place.tile1;  // of this height
    tile.count = tileRows_ + (t < tallTiles_);
    const GemmTileFunction multiply = table_->tile(tile.count, tile.columns);
    const int64_t toNext = tile.count * operands.ldr;
    for (; t < last; ++t, from += ahead.toNextTile) {
      tile.ahead = std::min(from, ahead.last);
      multiply(tile);
      tile.rows += taps_ * table_->tileRows;
      if (keepsParts) tile.c += tile.count * tile.ldc;
      if (narrowC_) tile.narrow += tile.count * operands.ldc;
      if (tile.residual) tile.residual += toNext;
      if (tile.narrowResidual) tile.narrowResidual += toNext;
    }
  }
}

}  // namespace max
