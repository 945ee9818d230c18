// SPDX-License-Identifier: Apache-2.0
// Constant weights of 2, 4 or 8 bits that share a scale and a zero point block by block, packed at load.
//
// A vector of columns after the other; in each, a vector of words of 32 bits after the other along the depth, one word
// for each column. Byte i of a word has the elements i, 4 + i, 8 + i, .. of its 32 / bits, from the low bits on: a
// shift and a mask make bytes of four elements in their order.
#pragma once

#include <cstdint>

#include "ops/op_kernel.h"

namespace max {

// Some blocks of one vector of columns.
struct NBitsColumns {
  const uint32_t* words;   // [blocks][blockWords][lanes]
  const float* scales;     // [blocks][lanes]
  const uint8_t* zeros;    // likewise; NULL = the middle of the range, or floats
  const float* realZeros;  // likewise; NULL = the middle of the range, or bytes
  int64_t blocks, blockWords;
  int bits;

  bool hasZeros() const { return zeros || realZeros; }
};

// Rows of floats that are multiplied as weights are unpacked.
struct NBitsRows {
  const float* const* rows;
  const float* sums;  // of each block; of one row after the other
  int64_t sumStride;
  int64_t count;
};

inline constexpr int64_t kMaxNBitsRows = 8;

struct NBitsFloatTable {
  int lanes;
  int64_t mostRows;
  // out[i * stride + n] = sum of rows[i] * column n, for `columns` of the vector and at most mostRows rows. Rows have
  // whole blocks.
  void (*multiply)(const NBitsColumns& weights, const NBitsRows& rows, int64_t columns, float* out, int64_t stride);
  // to[k * width + n]: the weights as floats.
  void (*expand)(const NBitsColumns& weights, int64_t width, float* to);
};
const NBitsFloatTable& nBitsFloatTable();  // of cpuTarget()

// Rows as bytes: each block is rounded to 127 steps of either sign, of the block's own size.
struct NBitsRoundedRows {
  int8_t* bytes;        // whole blocks
  float* scales;        // of one block of all rows after the other
  int32_t* sums;        // likewise, times what zero points of the weights have in common
  int64_t byteStride;   // from one row to the next
  int64_t blockStride;  // from one block to the next

  NBitsRoundedRows at(int64_t row, int64_t block, int64_t blockSize) const {
    const int64_t to = block * blockStride + row;
    return {bytes + row * byteStride + block * blockSize, scales + to, sums + to, byteStride, blockStride};
  }
};

// A tile of a product of such rows: at most two vectors of columns.
struct NBitsByteTile {
  NBitsRoundedRows rows;
  NBitsColumns weights;  // the first vector
  int64_t wordStride;    // to the second one, in words; 0 = there is none
  int64_t blockStride;   // likewise, in scales and zero points
  float* out;
  int64_t stride, columns;
  bool accumulate;  // `out` has the sums of earlier blocks
};

struct NBitsByteTable {
  int64_t tileRows;
  void (*round)(const float* row, int64_t depth, int64_t blockSize, int32_t factor, const NBitsRoundedRows& to);
  // As words of four bytes.
  void (*expand)(const NBitsColumns& weights, uint32_t* to);
  void (*multiply)(const NBitsByteTile& tile, int64_t rows);
};
const NBitsByteTable* nBitsByteTable();  // NULL if cpuTarget() has no fast products of bytes

// For max.MatMulNBits; see OpRow and Implementation.
Ref<Prepared> prepareNBits(const Node& node, std::span<const Tensor* const> constants);
bool acceptsPackedNBits(const OpRequest& request);
std::unique_ptr<OpKernel> createPackedNBits(const OpRequest& request);

}  // namespace max
