// SPDX-License-Identifier: Apache-2.0
// Products with weights of 2, 4 or 8 bits that share a scale and a zero point block by block.
#pragma once

#include <cstdint>

#include "base/align.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {

// Some blocks of the weights of one output. Each byte contains one element of each of 8 / bits planes, so elements
// plane by plane are in another order than along the depth: plane p has p, p + planes, p + 2 planes, ..
struct NBitsBlocks {
  const uint8_t* bytes;
  const float* scales;  // of the blocks
  const float* zeros;
  int64_t blocks;
  int64_t bytesPerBlock;
  int bits;
};

inline constexpr int64_t kNBitsRows = 4;

struct NBitsTable {
  // The weights as floats, plane by plane.
  void (*expand)(const NBitsBlocks& weights, float* to);
  // results[i] = sum of weights * rows[i], for at most kNBitsRows rows stored plane by plane.
  void (*dot)(const NBitsBlocks& weights, const float* const* rows, int64_t rowCount, float* results);
};
const NBitsTable& nBitsTable();  // of cpuTarget()

// One matrix of weights [columns, depth]. Without zero points, the middle of the range is 0.
struct NBitsMatrix {
  const uint8_t* bytes;
  const float* scales;
  const float* zeros;          // NULL = none, or packed ones
  const uint8_t* packedZeros;  // NULL = none, or floating-point ones
};

// X W' with such weights: for few rows the weights are multiplied as they are unpacked; for more they are converted
// piecewise to packed panels of floats for the tiles of the matrix product.
class NBitsProduct {
 public:
  struct Sizes {
    int bits;
    int64_t depth, columns;
    int64_t blockSize;  // a power of two, of 4 bytes or more
    bool oneScale;      // one scale and zero point per column, not per block
    int64_t zeroBits;   // from the packed zero points of one column to those of the next
    int64_t mostRows;   // of one run
  };

  NBitsProduct(const Sizes& sizes, int lanes);
  size_t scratchBytes() const;
  // out [count, columns] = rows [count] W'; each row is `depth` floats.
  void run(const NBitsMatrix& weights, const float* const* rows, int64_t count, float* out, std::byte* scratch,
           int lanes) const;

 private:
  // One run.
  struct Job {
    NBitsMatrix weights;
    const float* rows;  // in the order of the weights
    int64_t count;
    float* out;
    int64_t pieceBlocks;  // rows lie plane by plane within pieces of so many blocks
  };
  // Scratch memory of a lane.
  struct Lane {
    float* zeros;   // of the columns of a panel
    float* scales;  // likewise, where they are spread over blocks
    float* piece;   // some depth of a panel's weights
    float* packed;
  };
  Lane laneAt(float* memory, int index) const;
  int64_t laneFloats() const;
  void arrange(const float* from, int64_t pieceBlocks, float* to) const;
  void readZeros(const NBitsMatrix& weights, int64_t column, float* zeros) const;
  void readColumn(const NBitsMatrix& weights, int64_t column, int64_t slot, const Lane& lane) const;
  NBitsBlocks blocksOf(const Job& job, int64_t column, int64_t slot, int64_t block, const Lane& lane) const;
  void fewRows(const Job& job, int64_t column, const Lane& lane) const;
  void panel(const Job& job, int64_t panel, const Lane& lane) const;
  void packPiece(const Job& job, int64_t panel, int64_t block, const Lane& lane) const;
  void multiplyPiece(const Job& job, int64_t panel, int64_t block, const Lane& lane) const;
  int64_t columnsOf(int64_t panel) const { return std::min(panels_.width(panel), s_.columns - panels_.begin(panel)); }
  int64_t columnFloats() const { return alignUp(width_ * blocks_, 16); }

  const NBitsTable* table_;
  const GemmTable* gemm_;
  Sizes s_;
  int64_t blocks_, padded_;  // padded: the depth, of whole blocks
  int64_t manyBlocks_;       // of a piece, with many rows
  Panels panels_;
  int64_t width_;  // of a panel at most
  Epilogue plain_;
  int lanes_;
};

}  // namespace max
