// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits: with few rows the weights are multiplied as they come out of their bytes, with more they become
// packed panels of floats, a piece at a time, for the tiles of the matrix product.
#include "ops/cpu/matmul_nbits.h"

#include <algorithm>

#include "base/checked.h"
#include "ops/cpu/gemm.h"

namespace max {

namespace {

constexpr int64_t kFewRows = 8;
constexpr int64_t kPieceDepth = 512;  // of a panel, that stay in the first caches

// The weights and how they are cut.
struct Cut {
  int bits;
  int64_t depth, columns, rows;
  int64_t blockSize, blocks;
  int64_t padded;       // depth, of whole blocks
  int64_t pieceBlocks;  // rows of A lie plane by plane within pieces of so many blocks

  explicit Cut(const KernelRequest& request)
      : bits(static_cast<int>(request.node.attributes.getInt("bits", 4))),
        depth(request.node.attributes.getInt("K", 0)),
        columns(request.node.attributes.getInt("N", 0)),
        rows(depth > 0 ? request.inputs[0].shape.count() / depth : 0),
        blockSize(request.node.attributes.getInt("block_size", 32)),
        blocks(depth / blockSize + (depth % blockSize != 0)),
        padded(blocks * blockSize),
        pieceBlocks(rows <= kFewRows ? blocks : std::max<int64_t>(1, kPieceDepth / blockSize)) {}

  bool isFew() const { return rows <= kFewRows; }
  int64_t bytesPerBlock() const { return blockSize * bits / 8; }
  int64_t blocksFrom(int64_t block) const { return std::min(pieceBlocks, blocks - block); }
};

class NBitsKernel : public Kernel {
 public:
  explicit NBitsKernel(const KernelRequest& request);
  void run(const KernelContext& context) const override;
  size_t scratchBytes() const override;

 private:
  void arrange(const float* from, float* to) const;
  void readZeros(const KernelContext& context, int64_t column, float* zeros) const;
  PackedWeights weightsOf(const KernelContext& context, int64_t column, int64_t block, const float* zeros) const;
  void fewRows(const KernelContext& context, int64_t column, const float* rows, float* lane) const;
  void panel(const KernelContext& context, int64_t panel, const float* rows, float* lane) const;
  void packPiece(const KernelContext& context, int64_t panel, int64_t block, float* lane) const;
  void multiplyPiece(const KernelContext& context, int64_t panel, int64_t block, const float* rows, float* lane) const;
  int64_t columnsOf(int64_t panel) const {
    return std::min(panels_.width(panel), shape_.columns - panels_.begin(panel));
  }
  // A lane's memory: zero points of a panel's columns, a piece of weights, the same packed.
  int64_t pieceFloats() const { return shape_.isFew() ? 0 : width_ * shape_.pieceBlocks * shape_.blockSize; }
  int64_t zeroFloats() const { return (shape_.isFew() ? 1 : width_) * shape_.blocks; }
  int64_t laneFloats() const { return (zeroFloats() + 15) / 16 * 16 + 2 * pieceFloats(); }
  float* pieceOf(float* lane) const { return lane + (zeroFloats() + 15) / 16 * 16; }

  const NBitsTable* table_;
  const GemmTable* gemm_;
  Cut shape_;
  Panels panels_;
  int64_t width_;  // of a panel at most
  Epilogue plain_;
  bool hasZeros_, packedZeros_;
  int lanes_;
};

NBitsKernel::NBitsKernel(const KernelRequest& request)
    : table_(&nBitsTable()),
      gemm_(&gemmTable()),
      shape_(request),
      panels_(gemm_->lanes, gemm_->panelVectors, shape_.columns),
      width_(int64_t{gemm_->panelVectors} * gemm_->lanes),
      hasZeros_(request.has(3)),
      packedZeros_(hasZeros_ && request.inputs[3].dtype == DType::UInt8),
      lanes_(std::max(request.lanes, 1)) {}

size_t NBitsKernel::scratchBytes() const {
  const int64_t floats =
      checkedAdd(checkedMultiply(shape_.rows, shape_.padded), checkedMultiply<int64_t>(lanes_, laneFloats()));
  return static_cast<size_t>(checkedMultiply<int64_t>(4, floats));
}

// In the order of the weights; beyond the depth 0.
void NBitsKernel::arrange(const float* from, float* to) const {
  const int64_t planes = 8 / shape_.bits;
  for (int64_t block = 0; block < shape_.blocks; block += shape_.pieceBlocks) {
    const int64_t first = block * shape_.blockSize, size = shape_.blocksFrom(block) * shape_.blockSize / planes;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t i = 0; i < size; ++i) {
        const int64_t at = first + i * planes + plane;
        to[first + plane * size + i] = at < shape_.depth ? from[at] : 0;
      }
  }
}

void NBitsKernel::readZeros(const KernelContext& context, int64_t column, float* zeros) const {
  const int64_t blocks = shape_.blocks;
  const int bits = shape_.bits;
  if (!hasZeros_) {
    std::fill_n(zeros, blocks, static_cast<float>(1 << (bits - 1)));
  } else if (!packedZeros_) {
    std::copy_n(context.in<float>(3) + column * blocks, blocks, zeros);
  } else {
    const uint8_t* packed = context.in<uint8_t>(3) + column * ((blocks * bits + 7) / 8);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t bit = block * bits;
      zeros[block] = static_cast<float>((packed[bit / 8] >> (bit % 8)) & ((1 << bits) - 1));
    }
  }
}

// A piece of a column's weights.
PackedWeights NBitsKernel::weightsOf(const KernelContext& context, int64_t column, int64_t block,
                                     const float* zeros) const {
  const int64_t at = column * shape_.blocks + block, bytes = shape_.bytesPerBlock();
  return {context.in<uint8_t>(1) + at * bytes,
          context.in<float>(2) + at,
          zeros + block,
          shape_.blocksFrom(block),
          bytes,
          shape_.bits};
}

void NBitsKernel::fewRows(const KernelContext& context, int64_t column, const float* rows, float* lane) const {
  readZeros(context, column, lane);
  const PackedWeights weights = weightsOf(context, column, 0, lane);
  for (int64_t m = 0; m < shape_.rows; m += kNBitsRows) {
    const int64_t count = std::min(kNBitsRows, shape_.rows - m);
    const float* some[kNBitsRows];
    float results[kNBitsRows];
    for (int64_t i = 0; i < count; ++i) some[i] = rows + (m + i) * shape_.padded;
    table_->dot(weights, some, count, results);
    for (int64_t i = 0; i < count; ++i) context.out<float>()[(m + i) * shape_.columns + column] = results[i];
  }
}

void NBitsKernel::packPiece(const KernelContext& context, int64_t panel, int64_t block, float* lane) const {
  const int64_t depth = shape_.blocksFrom(block) * shape_.blockSize, columns = columnsOf(panel);
  float* piece = pieceOf(lane);
  for (int64_t i = 0; i < columns; ++i)
    table_->expand(weightsOf(context, panels_.begin(panel) + i, block, lane + i * shape_.blocks), piece + i * depth);
  gemm_->pack({piece, 1, depth, 1, depth, columns}, 0, depth, piece + pieceFloats());
}

void NBitsKernel::multiplyPiece(const KernelContext& context, int64_t panel, int64_t block, const float* rows,
                                float* lane) const {
  const int64_t depth = shape_.blocksFrom(block) * shape_.blockSize, width = panels_.width(panel);
  const float* packed = pieceOf(lane) + pieceFloats();
  const float* pointers[kMaxTileRows];
  GemmTile tile{pointers,
                block * shape_.blockSize,
                1,
                depth,
                packed,
                width,
                nullptr,
                shape_.columns,
                columnsOf(panel),
                block > 0,
                block + shape_.blocksFrom(block) == shape_.blocks,
                &plain_,
                nullptr,
                nullptr,
                0,
                packed,
                0};
  for (int64_t m = 0; m < shape_.rows; m += gemm_->tileRows) {
    const int64_t count = std::min<int64_t>(gemm_->tileRows, shape_.rows - m);
    for (int64_t i = 0; i < count; ++i) pointers[i] = rows + (m + i) * shape_.padded;
    tile.c = context.out<float>() + m * shape_.columns + panels_.begin(panel);
    gemm_->tiles[count - 1][width / gemm_->lanes - 1](tile);
  }
}

void NBitsKernel::panel(const KernelContext& context, int64_t panel, const float* rows, float* lane) const {
  for (int64_t i = 0; i < columnsOf(panel); ++i) readZeros(context, panels_.begin(panel) + i, lane + i * shape_.blocks);
  for (int64_t block = 0; block < shape_.blocks; block += shape_.pieceBlocks) {
    packPiece(context, panel, block, lane);
    multiplyPiece(context, panel, block, rows, lane);
  }
}

void NBitsKernel::run(const KernelContext& context) const {
  auto* rows = reinterpret_cast<float*>(context.scratch);
  for (int64_t m = 0; m < shape_.rows; ++m) arrange(context.in<float>(0) + m * shape_.depth, rows + m * shape_.padded);
  float* lanes = rows + shape_.rows * shape_.padded;
  const int64_t tasks = shape_.isFew() ? shape_.columns : panels_.count;
  const int64_t work = std::max<int64_t>(shape_.padded * shape_.rows * (shape_.isFew() ? 1 : width_), 1);
  parallelFor(std::min(context.lanes, lanes_), tasks, std::max<int64_t>(1, 65536 / work),
              [&](int64_t begin, int64_t end, int index) {
                float* lane = lanes + index * laneFloats();
                for (int64_t task = begin; task < end; ++task)
                  shape_.isFew() ? fewRows(context, task, rows, lane) : panel(context, task, rows, lane);
              });
}

std::unique_ptr<Kernel> createNBits(const KernelRequest& request) { return std::make_unique<NBitsKernel>(request); }

constexpr Implementation kNBits[] = {{"matmul_nbits_f32", nullptr, createNBits}};
const OpKernels kRows[] = {{kMaxDomain, "MatMulNBits", kNBits}};

}  // namespace

std::span<const OpKernels> matMulNBitsKernels() { return kRows; }

}  // namespace max
