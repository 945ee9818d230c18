// SPDX-License-Identifier: Apache-2.0
// max.MatMulNBits, and the product that it shares with mixtures of experts.
#include "ops/cpu/matrix/matmul_nbits.h"

#include <algorithm>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "graph/readers/matrix.h"
#include "ops/cpu/matrix/nbits_packed.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kFewRows = 8;
constexpr int64_t kPieceDepth = 512;  // of a panel that stays in the first caches

}  // namespace

NBitsProduct::NBitsProduct(const Sizes& sizes, int lanes)
    : table_(&nBitsTable()),
      gemm_(&gemmTable()),
      s_(sizes),
      blocks_(ceilDiv(sizes.depth, sizes.blockSize)),
      padded_(blocks_ * sizes.blockSize),
      manyBlocks_(std::max<int64_t>(1, kPieceDepth / sizes.blockSize)),
      panels_(gemm_->lanes, gemm_->panelVectors, sizes.columns),
      width_(int64_t{gemm_->panelVectors} * gemm_->lanes),
      lanes_(std::max(lanes, 1)) {}

int64_t NBitsProduct::laneFloats() const {
  const int64_t piece = s_.mostRows > kFewRows ? 2 * width_ * manyBlocks_ * s_.blockSize : 0;
  return 2 * columnFloats() + piece;
}

size_t NBitsProduct::scratchBytes() const {
  const int64_t rows = checkedMultiply(s_.mostRows, padded_);
  checkedMultiply(width_, checkedMultiply<int64_t>(8, checkedAdd(padded_, blocks_)));
  return static_cast<size_t>(
      checkedMultiply<int64_t>(4, checkedAdd(rows, checkedMultiply<int64_t>(lanes_, laneFloats()))));
}

NBitsProduct::Lane NBitsProduct::laneAt(float* memory, int index) const {
  float* lane = memory + index * laneFloats();
  float* piece = lane + 2 * columnFloats();
  return {lane, lane + columnFloats(), piece, piece + width_ * manyBlocks_ * s_.blockSize};
}

// In the order of the weights; 0 beyond the depth.
void NBitsProduct::arrange(const float* from, int64_t pieceBlocks, float* to) const {
  const int64_t planes = 8 / s_.bits;
  for (int64_t block = 0; block < blocks_; block += pieceBlocks) {
    const int64_t first = block * s_.blockSize, size = std::min(pieceBlocks, blocks_ - block) * s_.blockSize / planes;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t i = 0; i < size; ++i) {
        const int64_t at = first + i * planes + plane;
        to[first + plane * size + i] = at < s_.depth ? from[at] : 0;
      }
  }
}

void NBitsProduct::readZeros(const NBitsMatrix& weights, int64_t column, float* zeros) const {
  const int64_t own = s_.oneScale ? 1 : blocks_;
  if (weights.zeros) {
    std::copy_n(weights.zeros + column * own, own, zeros);
  } else if (weights.packedZeros) {
    for (int64_t block = 0; block < own; ++block) {
      const int64_t bit = column * s_.zeroBits + block * s_.bits;
      zeros[block] = static_cast<float>((weights.packedZeros[bit / 8] >> (bit % 8)) & ((1 << s_.bits) - 1));
    }
  } else {
    std::fill_n(zeros, own, static_cast<float>(1 << (s_.bits - 1)));
  }
}

// Fills the lane's zero points for the blocks of a column, and its scales if the column has only one.
void NBitsProduct::readColumn(const NBitsMatrix& weights, int64_t column, int64_t slot, const Lane& lane) const {
  float* zeros = lane.zeros + slot * blocks_;
  readZeros(weights, column, zeros);
  if (!s_.oneScale) return;
  std::fill_n(zeros, blocks_, zeros[0]);
  std::fill_n(lane.scales + slot * blocks_, blocks_, weights.scales[column]);
}

// A piece of a column's weights.
NBitsBlocks NBitsProduct::blocksOf(const Job& job, int64_t column, int64_t slot, int64_t block,
                                   const Lane& lane) const {
  const int64_t bytes = s_.blockSize * s_.bits / 8;
  const float* scales = s_.oneScale ? lane.scales + slot * blocks_ : job.weights.scales + column * blocks_;
  return {job.weights.bytes + (column * blocks_ + block) * bytes,
          scales + block,
          lane.zeros + slot * blocks_ + block,
          std::min(job.pieceBlocks, blocks_ - block),
          bytes,
          s_.bits};
}

void NBitsProduct::fewRows(const Job& job, int64_t column, const Lane& lane) const {
  readColumn(job.weights, column, 0, lane);
  const NBitsBlocks weights = blocksOf(job, column, 0, 0, lane);
  for (int64_t m = 0; m < job.count; m += kNBitsRows) {
    const int64_t count = std::min(kNBitsRows, job.count - m);
    const float* some[kNBitsRows];
    float results[kNBitsRows];
    for (int64_t i = 0; i < count; ++i) some[i] = job.rows + (m + i) * padded_;
    table_->dot(weights, some, count, results);
    for (int64_t i = 0; i < count; ++i) job.out[(m + i) * s_.columns + column] = results[i];
    passWork(padded_);
  }
}

void NBitsProduct::packPiece(const Job& job, int64_t panel, int64_t block, const Lane& lane) const {
  const int64_t depth = std::min(job.pieceBlocks, blocks_ - block) * s_.blockSize, columns = columnsOf(panel);
  for (int64_t i = 0; i < columns; ++i)
    table_->expand(blocksOf(job, panels_.begin(panel) + i, i, block, lane), lane.piece + i * depth);
  gemm_->pack({lane.piece, 1, depth, 1, depth, columns}, 0, depth, lane.packed);
}

void NBitsProduct::multiplyPiece(const Job& job, int64_t panel, int64_t block, const Lane& lane) const {
  const int64_t blocks = std::min(job.pieceBlocks, blocks_ - block), depth = blocks * s_.blockSize;
  const int64_t width = panels_.width(panel);
  const float* pointers[kMaxTileRows];
  GemmTile tile{pointers,
                block * s_.blockSize,
                1,
                depth,
                lane.packed,
                width,
                nullptr,
                s_.columns,
                columnsOf(panel),
                block > 0,
                block + blocks == blocks_,
                &plain_,
                nullptr,
                nullptr,
                0,
                lane.packed,
                0};
  for (int64_t m = 0; m < job.count; m += gemm_->tileRows) {
    const int64_t count = std::min<int64_t>(gemm_->tileRows, job.count - m);
    for (int64_t i = 0; i < count; ++i) pointers[i] = job.rows + (m + i) * padded_;
    tile.c = job.out + m * s_.columns + panels_.begin(panel);
    gemm_->tile(count, width)(tile);
  }
}

void NBitsProduct::panel(const Job& job, int64_t panel, const Lane& lane) const {
  for (int64_t i = 0; i < columnsOf(panel); ++i) readColumn(job.weights, panels_.begin(panel) + i, i, lane);
  for (int64_t block = 0; block < blocks_; block += job.pieceBlocks) {
    packPiece(job, panel, block, lane);
    multiplyPiece(job, panel, block, lane);
    passWork(job.pieceBlocks * s_.blockSize * (32 + job.count));
  }
}

void NBitsProduct::run(const NBitsMatrix& weights, const float* const* rows, int64_t count, float* out,
                       std::byte* scratch, int lanes) const {
  const bool isFew = count <= kFewRows;
  auto* arranged = reinterpret_cast<float*>(scratch);
  const Job job{weights, arranged, count, out, isFew ? blocks_ : manyBlocks_};
  for (int64_t m = 0; m < count; ++m, passWork(padded_)) arrange(rows[m], job.pieceBlocks, arranged + m * padded_);
  float* memory = arranged + count * padded_;
  const int64_t tasks = isFew ? s_.columns : panels_.count;
  const int64_t work = std::max<int64_t>(padded_ * count * (isFew ? 1 : width_), 1);
  parallelFor(std::min(lanes, lanes_), tasks, std::max<int64_t>(1, 65536 / work),
              [&](int64_t begin, int64_t end, int index) {
                const Lane lane = laneAt(memory, index);
                for (int64_t task = begin; task < end; ++task)
                  isFew ? fewRows(job, task, lane) : panel(job, task, lane);
              });
}

namespace {

NBitsProduct::Sizes sizesOf(const OpRequest& request) {
  const readers::PackedProduct product(request.node.attributes);
  NBitsProduct::Sizes sizes{};
  sizes.bits = static_cast<int>(product.bits);
  sizes.depth = product.depth;
  sizes.columns = product.columns;
  sizes.blockSize = product.block;
  sizes.zeroBits = alignUp(product.blocks() * sizes.bits, 8);
  sizes.mostRows = request.inputs[0].shape.count() / sizes.depth;
  return sizes;
}

class NBitsOp : public OpKernel {
 public:
  explicit NBitsOp(const OpRequest& request)
      : sizes_(sizesOf(request)),
        product_(sizes_, request.lanes),
        hasZeros_(request.has(3)),
        packedZeros_(hasZeros_ && request.inputs[3].dtype == DType::UInt8) {}

  size_t scratchBytes() const override {
    return checkedAdd(product_.scratchBytes(), checkedMultiply<size_t>(pointerCount(), sizeof(float*)));
  }

  void run(const OpContext& context) const override {
    const auto** rows = reinterpret_cast<const float**>(context.scratch);
    for (int64_t m = 0; m < sizes_.mostRows; ++m) rows[m] = context.in<float>(0) + m * sizes_.depth;
    const NBitsMatrix weights{context.in<uint8_t>(1), context.in<float>(2),
                              hasZeros_ && !packedZeros_ ? context.in<float>(3) : nullptr,
                              packedZeros_ ? context.in<uint8_t>(3) : nullptr};
    product_.run(weights, rows, sizes_.mostRows, context.out<float>(),
                 context.scratch + pointerCount() * sizeof(float*), context.lanes);
  }

 private:
  // A multiple of 64 bytes.
  size_t pointerCount() const { return alignUp(static_cast<size_t>(sizes_.mostRows), 8); }

  NBitsProduct::Sizes sizes_;
  NBitsProduct product_;
  bool hasZeros_, packedZeros_;
};

std::unique_ptr<OpKernel> createNBits(const OpRequest& request) { return std::make_unique<NBitsOp>(request); }

bool isFloat32(const OpRequest& request) { return request.inputs[0].dtype == DType::Float32; }

constexpr Implementation kNBits[] = {{"matmul_nbits_packed", acceptsPackedNBits, createPackedNBits},
                                     {"matmul_nbits_f32", isFloat32, createNBits}};
const OpRow kRows[] = {{kMaxDomain, "MatMulNBits", kNBits, prepareNBits}};

}  // namespace

std::span<const OpRow> matMulNBitsOps() { return kRows; }

}  // namespace max
