// SPDX-License-Identifier: Apache-2.0
// The float32 matrix product shared by MatMul, Gemm, convolution and recurrent layers.
//
// C[m, n] = activation(alpha * sum over taps and k of A(m, tap)[k] * B[tap, k][n] + bias[n] + residual[m, n]),
// or with the residual added after the activation.
//
// A is read in place: each row and tap is a pointer to `depth` consecutive floats, so that a
// convolution needs no im2col. B is packed in panels of a few vectors of columns, row after
// row. A micro-kernel keeps a tile of C in registers, over all taps.
//
// Products of bfloat16 work on words of two elements along k: B is packed as words, and rows of A are words in memory,
// or each task converts its rows to words, one row after the other over all taps. To a micro-kernel, words are rows of
// half as many floats. A packed B of float32 can be kept as float16 or bfloat16, where that loses nothing: a task makes
// floats of a part of a panel, which its tiles share. Factors can be the sum of two parts, a bfloat16 and the rest as
// another; their products are those of the first parts, and of each with the other's second. Words of second parts lie
// behind all those of the first, in each row of A and in each panel of B.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"
#include "graph/graph.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/matrix/half_rows.h"
#include "ops/op_kernel.h"

namespace max {

class HeldTiles;
struct GemmTable;

inline constexpr int kMaxTileRows = 8;

// The activation, from a node's `activation` attributes. Limits are applied in registers, functions to the finished
// tile while it is in cache.
struct Activation {
  bool clamps = false;
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  TileFunction function = nullptr;
  float alpha = 0, beta = 0;
  ElementOp op = ElementOp::Copy;  // what the function computes
};
// Resolves the attributes `activation`, `activation_alpha`, `activation_beta`, whose names may have a prefix.
Activation fusedActivation(const Node& node, const char* prefix = "");
void applyActivation(const Activation& activation, float* values, int64_t count);

struct Epilogue {
  float alpha = 1;
  Activation activation;
  bool addsResidualLast = false;  // to the activation's result, not to its argument
};

// How N columns are divided into panels: whole vectors, at most panelVectors each, as even as possible.
struct Panels {
  int lanes;  // floats per vector
  int64_t columns;
  int64_t count;
  int64_t vectors;  // of the narrower panels
  int64_t wider;    // this many of the first panels have one more

  Panels(int lanes_, int panelVectors, int64_t columns_);
  int64_t width(int64_t panel) const { return (vectors + (panel < wider)) * lanes; }
  int64_t begin(int64_t panel) const { return (panel * vectors + (panel < wider ? panel : wider)) * lanes; }
  int64_t paddedColumns() const { return begin(count); }
};

// One micro-kernel call: `count` rows, one panel of columns.
struct GemmTile {
  const float* const* rows;  // [taps][tileRows]; a tap whose first row is NULL adds nothing
  int64_t rowOffset;         // added to each pointer
  int64_t taps, depth;
  const float* b;
  int64_t bStride;  // from one k to the next
  float* c;
  int64_t ldc;
  int64_t columns;  // actual columns of the panel
  bool accumulate;  // C holds the sum of earlier parts of K
  bool finish;      // the last part: bias, residual, activation
  const Epilogue* epilogue;
  const float* bias;  // NULL = none
  const float* residual = nullptr;
  int64_t ldr;
  const float* ahead;    // memory to prefetch to L2,
  int64_t aheadStep;     // this many floats per k
  bool inParts = false;  // the sums of a single row may be
  // Rows of bfloat16 instead of floats; NULL = none.
  uint16_t* narrow = nullptr;  // the finished rows, where C is memory for partial sums
  int64_t ldn = 0;
  const uint16_t* narrowResidual = nullptr;  // its stride is ldr
  bool endsInHalf = false;  // the last word of each tap has one element, behind which there may be anything
  // Of a whole tile with one tap: where its words lie from the row's pointer; NULL = one after the other.
  const int32_t* offsets = nullptr;
  // With tiles of AMX:
  int64_t count = 0;  // of rows
  const GemmTable* vectors = nullptr;
  HeldTiles* held = nullptr;
  const float* sums = nullptr;  // what another kernel summed up; NULL = none
  int64_t sumStride = 0;
  int64_t rowPart = 0, bPart = 0;  // floats from first parts to second ones; 0 = none
  int64_t rowStride = 0;           // floats from one row to the next; 0 = unknown
};
using GemmTileFunction = void (*)(const GemmTile& tile);

// Rows times one panel, whose columns are sums of a few products each.
struct ShortSums {
  const float* a;
  int64_t lda, rows, depth;
  const float* b;  // [depth][bStride], whole vectors
  int64_t bStride;
  float* c;
  int64_t ldc, columns;
  const float* bias;  // NULL = none
  const Activation& activation;
};

// The order of packed weights.
struct PackLayout {
  int lanes, panelVectors, wordElements, parts;
  bool operator==(const PackLayout&) const = default;
};

// B before packing: element (k, n) at data[k' * rowStride + n * columnStride], where k = tap * depth + c is stored as
// k' = c * taps + tap (a convolution's filters) and taps = 1 for plain matrices.
struct PackSource {
  const float* data;
  int64_t rowStride, columnStride;
  int64_t taps, depth;
  int64_t columns;

  int64_t rows() const { return taps * depth; }
};

// A row of what is added to a function's results; both NULL = nothing.
struct RowAddends {
  const float* floats;
  const uint16_t* narrow;
};

// Rows of a function's arguments, `count` of each, and of its results.
struct RoundedRows {
  float* from;
  int64_t stride, rows, count;
  uint16_t* to;  // NULL = floats in place
  int64_t toStride;
  RowAddends added;
  int64_t addedStride;
};

// out[m * columns + n] = sum of a[m * depth + k] * b[n * depth + k]: a few columns, one after the other. Sums over
// `part` of the depth are added in float64.
struct FewColumns {
  const float *a, *b;
  int64_t rows, depth, columns, part;
  float* out;
};

struct GemmTable {
  int lanes;         // floats per vector
  int tileRows;      // at most, of one tile
  int panelVectors;  // at most, of one panel
  int64_t kBlock;    // rows of B that fit in L1
  int wordElements;  // along k in 4 bytes of B: 1 = float32, 2 = bfloat16
  // [rows - 1][half vectors of columns - 1]
  GemmTileFunction tiles[kMaxTileRows][6];
  GemmTileFunction tile(int64_t rows, int64_t columns) const {
    return anyTile ? anyTile : tiles[rows - 1][(2 * columns - 1) >> std::countr_zero(static_cast<unsigned>(lanes))];
  }
  // Packs rows [begin, end) of B, all columns, into `packed` (which starts at row 0).
  void (*pack)(const PackSource& source, int64_t begin, int64_t end, float* packed);
  // out[n] = sum of a[k] * b[n * ldb + k], for n < columns: products with few rows of a transposed, unpacked B.
  void (*dot)(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out);
  void (*fewColumns)(const FewColumns& product);
  // out[n] = sum of a[k] * b[k * ldb + n], for n < columns: products with one row of an unpacked B far away, which is
  // read in the order of memory.
  void (*streamRow)(const float* a, const float* b, int64_t ldb, int64_t depth, int64_t columns, float* out);
  void (*shortSums)(const ShortSums& sums);
  // With words of two elements (NULL without):
  const GemmTable* floats;  // packs B before the conversion
  void (*narrow)(const float* from, int64_t count, uint16_t* to);
  // The activation's function of rows, whose memory it may use, and what is added to it, rounded.
  void (*narrowFunction)(const Activation& activation, const RoundedRows& rows);
  // Pixels of fewer than 16 channels, which become an even number of them; those that are added are zero.
  void (*spread)(const float* from, int64_t pixels, int64_t channels, uint16_t* to);
  // Two rows of B, or one and zeros (`second` is NULL), to one of words; `width` is a multiple of lanes.
  void (*pair)(const float* first, const float* second, int64_t width, float* words);
  // The same of rows of bfloat16 with `count` elements; the rest of the width is zero.
  void (*pairNarrow)(const uint16_t* first, const uint16_t* second, int64_t count, int64_t width, float* words);

  // With tiles of AMX (ops/cpu/matrix/tile_gemm.h):
  GemmTileFunction anyTile = nullptr;                                            // of all sizes; NULL = see `tiles`
  const GemmTable* vectors = nullptr;                                            // the same products with vectors
  int64_t step = 1;                                                              // words of k that kernels take at once
  int parts = 1;                                                                 // of each factor
  void (*narrowRest)(const float* from, int64_t count, uint16_t* to) = nullptr;  // the second part
  int rate = 1;              // products in the time of one of float32 vectors, at the chip's peaks
  bool takesHalves = false;  // words of A may lie anywhere, at offsets, and end in half: see GemmTile

  int64_t wordsOf(int64_t rows) const { return (rows + wordElements - 1) / wordElements; }
  PackLayout layout() const { return {lanes, panelVectors, wordElements, parts}; }
  // Operands may be bfloat16 in memory.
  bool takesNarrow() const { return wordElements == 2 && parts == 1; }
  // For kernels that call tiles themselves.
  const GemmTable& withVectors() const { return vectors ? *vectors : *this; }
};
const GemmTable& gemmTable();            // of cpuTarget()
const GemmTable* bfloat16GemmTable();    // NULL if cpuTarget() lacks such products
const GemmTable* bfloat16VectorTable();  // likewise, without tiles of AMX
// For a node's products.
const GemmTable& gemmTableFor(const Node& node);
// What packs of floats can be kept as, and the conversions of dense elements; NULL if cpuTarget() lacks them.
struct HalfType {
  DType dtype;
  TileFunction widen, narrow;
  void (*multiplyRows)(const HalfRows& product);
};
std::array<HalfType, 2> halfTypes();

int64_t packedCount(const GemmTable& table, int64_t rows, int64_t columns);  // floats
PackSource panelOf(const PackSource& source, const Panels& panels, int64_t panel);
void packMatrix(const GemmTable& table, const PackSource& source, float* packed, int lanes);
// Packs the columns of one panel as words; `floats` is memory for as many rows of the panel's width.
void packPanelAsWords(const GemmTable& table, const PackSource& source, int64_t width, float* floats, float* packed);
// The same of panels [begin, end) of a packed matrix.
void packPanelsAsWords(const GemmTable& table, const PackSource& source, int64_t begin, int64_t end, float* floats,
                       float* packed);

// Finds rows of A: writes pointers to table[tap * tileRows + i] for rows [first, first + count).
using RowFunction = void (*)(const void* source, int64_t first, int64_t count, int tileRows, const float** table);

// How a product's operands lie in memory.
struct GemmTypes {
  GemmTypes(const GemmTable& table_ = gemmTable(), bool narrowA_ = false, bool narrowC_ = false,
            DType packedB_ = DType::Float32)
      : table(&table_), narrowA(narrowA_), narrowC(narrowC_), packedB(packedB_) {}
  const GemmTable* table;
  // Rows are some of a product's, so that a row's sum must not depend on how many there are.
  bool isPart = false;
  // With words of two elements:
  bool narrowA;  // A is bfloat16, and a pointer to it, its stride and offsets count words; its depth is even, unless
                 // kernels take halves
  bool narrowC;  // results are rounded to bfloat16
  // With words of one element: the type of a packed B, one of halfTypes(). A pointer to it and its offsets count
  // floats.
  DType packedB;
};

// Offsets between the products of one batch (or the groups of a convolution), in floats. With bTail < 0 there is as
// much memory behind an unpacked B as its last panel lacks.
struct GemmOffsets {
  int64_t a = 0, b = 0, bTail = 0, c = 0, bias = 0, residual = 0;
};

struct GemmOperands {
  const float* a = nullptr;  // rows are a + m * lda, unless rowFunction says otherwise
  int64_t lda = 0;
  RowFunction rowFunction = nullptr;
  const void* rowSource = nullptr;
  const float* zeroRow = nullptr;  // what the function returns outside of A; NULL = it does not
  // Of rowFunction: memory that its rows read in about their order, and how far row m reads behind the place that it
  // would have if all had an equal part; no floats = unknown.
  int64_t sourceFloats = 0, sourceLead = 0;
  const float* b = nullptr;
  int64_t ldb = 0;               // > 0: B is not packed, row k at b + k * ldb
  const float* bTail = nullptr;  // the last panel of an unpacked B, padded, if it is not full
  float* c = nullptr;
  uint16_t* narrowC = nullptr;  // instead of c
  int64_t ldc = 0;
  const float* bias = nullptr;
  const float* residual = nullptr;
  const uint16_t* narrowResidual = nullptr;  // instead of residual
  int64_t ldr = 0;
  bool fromLast = false;  // a task's panels in falling order: who alternates the order finds some of B in the cache
};

// A product of known sizes, divided into tasks. Created at plan time, run many times.
class Gemm {
 public:
  Gemm(int64_t rows, int64_t columns, int64_t taps, int64_t depth, const Epilogue& epilogue, int lanes,
       WorkVector<GemmOffsets> batch = WorkVector<GemmOffsets>(1), PartialSums partialSums = PartialSums::Float32,
       const GemmTypes& types = {});

  // Bytes for the row pointers of all lanes, partial sums, and rows of words.
  size_t scratchBytes() const { return static_cast<size_t>(lanes_) * laneBytes(); }
  void run(const GemmOperands& operands, std::byte* scratch, int lanes) const;
  const GemmTable& table() const { return *table_; }
  const Panels& panels() const { return panels_; }
  const WorkVector<GemmOffsets>& batch() const { return batch_; }
  // Of the parts of the work that lanes begin with, where 1 is an equal one.
  double largestShare() const;

 private:
  // Which part of which product a task is. `outer` counts the blocks that neighbouring tasks share.
  struct TaskPlace {
    int64_t problem, rowBlock, panelBlock, outer;
  };
  // The part of a product that a task computes with one panel.
  struct Place {
    const GemmOffsets& at;
    int64_t column;        // of the panel's first
    int64_t tile0, tile1;  // of the rows
    const float** pointers;
    float* c;        // of the first row and column
    const float* b;  // the panel
    int64_t panel;
    bool isFirst;  // of the task's panels
  };
  // Memory that tiles prefetch while they multiply: so many floats for each k, and from one tile to the next. Nothing
  // behind it: the chip looks in vain, and for long, for pages that nobody has touched.
  struct Ahead {
    const float *from, *last;  // where the first tile begins; where a tile begins at most
    int64_t step, toNextTile;
  };
  void chooseBlocks();
  void evenShares();
  double workBefore(int64_t task) const;
  TaskPlace placeOf(int64_t task) const;
  int64_t problems() const { return std::max<int64_t>(static_cast<int64_t>(batch_.size()), 1); }
  // Blocks are as even as possible.
  int64_t firstTile(int64_t rowBlock) const { return quotient(rowBlock * tiles_, rowBlocks_); }
  int64_t firstPanel(int64_t panelBlock) const { return quotient(panelBlock * panels_.count, panelBlocks_); }
  void runRow(const GemmOperands& operands) const;
  void runShortSums(const GemmOperands& operands, int lanes) const;
  bool takesShortSums(const GemmOperands& operands) const;
  void runTask(const GemmOperands& operands, int64_t task, int64_t share, const float** pointers) const;
  void fillPointers(const GemmOperands& operands, int64_t tile0, int64_t tile1, const float** pointers) const;
  void dropZeroTaps(const float* zeroRow, int64_t count, const float** pointers) const;
  void narrowRows(const GemmOperands& operands, int64_t tile0, int64_t tile1, int64_t offset,
                  const float** pointers) const;
  void copyRows(int64_t tile0, int64_t tile1, int64_t offset, const float** pointers) const;
  void narrowRow(const float* const* taps, int64_t offset, float* to) const;
  void readPart(GemmTile& tile, const float* part, const float* const* rows, const Place& place) const;
  const float* setPanel(GemmTile& tile, const GemmOperands& operands, const GemmOffsets& at, int64_t panel) const;
  void runPanel(GemmTile& tile, const GemmOperands& operands, const GemmOffsets& at, int64_t panel, bool isFirst,
                int64_t tile0, int64_t tile1, const float** pointers, WorkCounter& work) const;
  void runParts(GemmTile& tile, const GemmOperands& operands, const Place& place, WorkCounter& work) const;
  void addPart(const GemmTile& tile, const float* c, int64_t rows, double* sums) const;
  static constexpr size_t kRowsKeyBytes = 64;  // before the words
  size_t laneBytes() const { return tableBytes_ + sumBytes_ + wordBytes_ + partBytes_ + widenedBytes_; }
  double* sumsOf(const float** pointers) const {
    return reinterpret_cast<double*>(reinterpret_cast<std::byte*>(pointers) + tableBytes_);
  }
  float* wordsOf(const float** pointers) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(pointers) + tableBytes_ + sumBytes_ + kRowsKeyBytes);
  }
  bool keepsRows() const { return table_->wordElements == 2; }
  // Which rows a lane has found or converted: a block of rows of a product; -1 = none yet.
  int64_t* rowsInWords(const float** pointers) const {
    return reinterpret_cast<int64_t*>(reinterpret_cast<std::byte*>(pointers) + tableBytes_ + sumBytes_);
  }
  // Where tiles add up results that are bfloat16 in memory: a panel's columns of a task's rows.
  float* partsOf(const float** pointers) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(pointers) + tableBytes_ + sumBytes_ + wordBytes_);
  }
  // A part of a panel as floats, where B is kept in half of their size.
  float* widenedOf(const float** pointers) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(partsOf(pointers)) + partBytes_);
  }
  int64_t packedFloats(int64_t elements) const { return isHalf() ? elements / 2 : elements; }  // of B
  bool isHalf() const { return half_.widen != nullptr; }
  bool copiesRows() const { return table_->wordElements == 1 && wordStride_ > depth_; }
  bool ownsRows() const { return convertsRows_ || copiesRows(); }
  // A task's own rows belong to one product.
  int64_t rowOffsetOf(const GemmOffsets& at) const { return ownsRows() ? 0 : at.a; }
  bool prefetchesRows(const GemmOperands& operands) const;
  // `part`: of the packed panel, which the tile multiplies.
  Ahead aheadOf(const GemmTile& tile, const GemmOperands& operands, const Place& place, const float* part) const;
  static Ahead nothingAhead(const Place& place) { return {place.b, place.b, 0, 0}; }
  static Ahead aheadIn(const float* from, int64_t floats, const GemmTile& tile, int64_t tiles);
  Ahead nextPart(const GemmTile& tile, const Place& place, const float* part) const;
  Ahead nextPanel(const GemmTile& tile, const GemmOperands& operands, const Place& place) const;
  Ahead ownRows(const GemmTile& tile, const GemmOperands& operands, const Place& place) const;
  Ahead nextRows(const GemmTile& tile, const GemmOperands& operands, const Place& place) const;
  void runTiles(GemmTile& tile, const GemmOperands& operands, const Place& place, const float* const* pointers,
                const Ahead& ahead) const;
  int64_t tileBegin(int64_t tile) const { return tile * tileRows_ + (tile < tallTiles_ ? tile : tallTiles_); }

  const GemmTable* table_;
  int64_t rows_, columns_;
  int64_t rowTaps_, rowDepth_;  // of the rows of A
  bool inParts_;                // the sums of its only row may be
  bool convertsRows_;           // to words, in each task
  bool narrowC_;
  HalfType half_;         // of a packed B; Float32: it has floats, or words
  int64_t taps_, depth_;  // of tiles: the same, or words; converted ones are those of all taps in a row
  int64_t wordStride_;    // from one converted or copied row to the next
  Epilogue epilogue_;
  int lanes_;
  WorkVector<GemmOffsets> batch_;
  Panels panels_;
  int64_t tiles_, tileRows_, tallTiles_;  // the first tallTiles_ tiles have one row more than tileRows_
  // K is split so that a panel stays in the first cache: into whole taps if one is small enough, else into parts of
  // one.
  int64_t tapPart_, depthPart_, depthParts_;
  int64_t blockTiles_;  // of one task, at most
  int64_t rowBlocks_, panelBlocks_;
  int64_t sharedProblems_;  // products of the batch per task if their rows are found by a function
  size_t tableBytes_;
  PartialSums partialSums_;
  size_t sumBytes_ = 0;      // per lane: the sums of one panel of a task, unless they are kept in C
  size_t wordBytes_ = 0;     // per lane: the rows of one task as words
  size_t partBytes_ = 0;     // per lane: see partsOf()
  size_t widenedBytes_ = 0;  // per lane: see widenedOf()
  bool isShortRow_ = false, hasShortSums_ = false;
};

}  // namespace max
