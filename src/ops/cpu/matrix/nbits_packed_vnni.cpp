// SPDX-License-Identifier: Apache-2.0
// Products of weights of few bits and rows of bytes with AVX-512 VNNI.
#include <algorithm>
#include <array>

#include "ops/cpu/matrix/nbits_packed.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

namespace max {

namespace {

constexpr int kTileRows = 6, kVectors = 2, kLanes = 16;
constexpr float kLeast = 0x1p-119f;  // of a block's largest magnitude: 127 divided by less is infinite

// The magnitude of a block's largest element. As integers, magnitudes have the same order, and NaN is above all.
MAX_VNNI float largest(const float* from, int64_t count) {
  __m512i most = _mm512_setzero_si512();
  const __m512i sign = _mm512_set1_epi32(0x7fffffff);
  for (int64_t i = 0; i < count; i += kLanes) {
    const __m512i numbers = _mm512_castps_si512(_mm512_maskz_loadu_ps(existingLanes(count - i), from + i));
    most = _mm512_max_epi32(most, _mm512_and_si512(numbers, sign));
  }
  return __builtin_bit_cast(float, _mm512_reduce_max_epi32(most));
}

MAX_VNNI void roundRow(const float* row, int64_t depth, int64_t blockSize, int32_t factor, const NBitsRoundedRows& to) {
  for (int64_t begin = 0, block = 0; begin < depth; begin += blockSize, ++block) {
    const int64_t count = std::min(blockSize, depth - begin);
    const float most = largest(row + begin, count);
    const __m512 inverse = _mm512_set1_ps(most > kLeast ? 127 / most : 0);
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = 0; i < blockSize; i += kLanes) {
      const __m512 numbers = _mm512_maskz_loadu_ps(existingLanes(count - i), row + begin + i);
      const __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(numbers, inverse));
      sum = _mm512_add_epi32(sum, rounded);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to.bytes + begin + i), _mm512_cvtsepi32_epi8(rounded));
    }
    to.scales[block * to.blockStride] = most / 127;
    to.sums[block * to.blockStride] = factor * _mm512_reduce_add_epi32(sum);
  }
}

template <int kBits, int kPlane>
MAX_VNNI inline __m512i bytesOf(__m512i words) {
  if constexpr (kBits == 8) return words;
  return _mm512_and_si512(_mm512_srli_epi32(words, kPlane * kBits), _mm512_set1_epi8((1 << kBits) - 1));
}

template <int kBits>
MAX_VNNI void expandWords(const NBitsColumns& weights, uint32_t* to) {
  constexpr int kPlanes = 8 / kBits;
  const int64_t words = weights.blocks * weights.blockWords;
  for (int64_t word = 0; word < words; ++word, to += kPlanes * kLanes) {
    const __m512i packed = _mm512_loadu_si512(weights.words + word * kLanes);
    _mm512_storeu_si512(to, bytesOf<kBits, 0>(packed));
    if constexpr (kPlanes > 1) _mm512_storeu_si512(to + kLanes, bytesOf<kBits, 1 % kPlanes>(packed));
    if constexpr (kPlanes > 2) {
      _mm512_storeu_si512(to + 2 * kLanes, bytesOf<kBits, 2 % kPlanes>(packed));
      _mm512_storeu_si512(to + 3 * kLanes, bytesOf<kBits, 3 % kPlanes>(packed));
    }
  }
}

MAX_VNNI void expand(const NBitsColumns& weights, uint32_t* to) {
  weights.bits == 4 ? expandWords<4>(weights, to) : expandWords<2>(weights, to);
}

template <int kRows>
using Sums = __m512i[kRows][kVectors];

// Rows at equal distances, by few addresses.
constexpr int kNearRows = 3;
struct RowWords {
  const int8_t* near;
  const int8_t* far;  // row kNearRows
  int64_t stride;

  RowWords(const int8_t* first, int64_t byteStride)
      : near(first), far(first + kNearRows * byteStride), stride(byteStride) {}
  MAX_VNNI __attribute__((always_inline)) __m512i word(int row, int64_t k) const {
    int32_t word;
    __builtin_memcpy(&word, (row < kNearRows ? near : far) + row % kNearRows * stride + k, 4);
    return _mm512_set1_epi32(word);
  }
};

// One plane of some words, times the words of the rows.
template <int kRows, int kBits, int kPlane>
MAX_VNNI __attribute__((always_inline)) inline void addPlane(const __m512i (&words)[kVectors], const RowWords& rows,
                                                             Sums<kRows>& sums) {
  __m512i columns[kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) columns[j] = bytesOf<kBits, kPlane>(words[j]);
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const __m512i value = rows.word(i, 4 * kPlane);
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) sums[i][j] = addProducts(sums[i][j], columns[j], value);
  }
}

// The pairs of 16 bits that words hold.
MAX_VNNI inline __m512i addPairs(__m512i sum, __m512i a, __m512i b) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}

// What the zero points of a block's columns add to its sums.
template <int kRows>
MAX_VNNI __attribute__((always_inline)) inline void addZeros(const uint8_t* zeros, int64_t stride,
                                                             const int32_t* rowSums, Sums<kRows>& sums) {
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    const auto* from = reinterpret_cast<const __m128i*>(zeros + j * stride);
    const __m512i column = _mm512_cvtepu8_epi32(_mm_loadu_si128(from));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[i][j] = addPairs(sums[i][j], column, _mm512_set1_epi32(rowSums[i]));
  }
}

template <int kRows, int kBits>
MAX_VNNI void multiplyTile(const NBitsByteTile& t) {
  __m512 results[kRows][kVectors];
  const __mmask16 masks[kVectors] = {existingLanes(t.columns), existingLanes(t.columns - kLanes)};
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      results[i][j] =
          t.accumulate ? _mm512_maskz_loadu_ps(masks[j], t.out + i * t.stride + j * kLanes) : _mm512_setzero_ps();
  }
  const uint32_t* from = t.weights.words;
  const uint8_t* zeros = t.weights.zeros;
  const float* scales = t.weights.scales;
  const float* rowScales = t.rows.scales;
  const int32_t* rowSums = t.rows.sums;
  // Without zero points the middle of the range is in the rows' sums already.
  const __mmask16 starts = zeros ? 0 : 0xffff;
  RowWords rows(t.rows.bytes, t.rows.byteStride);
  for (int64_t block = t.weights.blocks; block > 0; --block) {
    Sums<kRows> sums;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[i][0] = sums[i][1] = _mm512_maskz_set1_epi32(starts, rowSums[i]);
    int64_t word = t.weights.blockWords;
    do {
      const __m512i words[kVectors] = {_mm512_loadu_si512(from), _mm512_loadu_si512(from + t.wordStride)};
      addPlane<kRows, kBits, 0>(words, rows, sums);
      if constexpr (kBits < 8) addPlane<kRows, kBits, 1>(words, rows, sums);
      if constexpr (kBits < 4) {
        addPlane<kRows, kBits, 2>(words, rows, sums);
        addPlane<kRows, kBits, 3>(words, rows, sums);
      }
      from += kLanes;
      rows.near += 32 / kBits;
      rows.far += 32 / kBits;
    } while (--word > 0);
    if (zeros) {
      addZeros<kRows>(zeros, t.blockStride, rowSums, sums);
      zeros += kLanes;
    }
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      const __m512 scale = _mm512_loadu_ps(scales + j * t.blockStride);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const __m512 unit = _mm512_mul_ps(scale, _mm512_set1_ps(rowScales[i]));
        results[i][j] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i][j]), unit, results[i][j]);
      }
    }
    scales += kLanes;
    rowScales += t.rows.blockStride;
    rowSums += t.rows.blockStride;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      _mm512_mask_storeu_ps(t.out + i * t.stride + j * kLanes, masks[j], results[i][j]);
  }
}

using TileFunction = void (*)(const NBitsByteTile& tile);

template <int kBits>
constexpr std::array<TileFunction, kTileRows> kTiles = {multiplyTile<1, kBits>, multiplyTile<2, kBits>,
                                                        multiplyTile<3, kBits>, multiplyTile<4, kBits>,
                                                        multiplyTile<5, kBits>, multiplyTile<6, kBits>};

void multiply(const NBitsByteTile& tile, int64_t rows) {
  const auto& tiles = tile.weights.bits == 4 ? kTiles<4> : tile.weights.bits == 8 ? kTiles<8> : kTiles<2>;
  tiles[static_cast<size_t>(rows - 1)](tile);
}

}  // namespace

const NBitsByteTable* nBitsByteTable() {
  static constexpr NBitsByteTable kTable{kTileRows, roundRow, expand, multiply};
  return cpuTarget() >= CpuTarget::Avx512Vnni ? &kTable : nullptr;
}

}  // namespace max

#else

namespace max {

const NBitsByteTable* nBitsByteTable() { return nullptr; }

}  // namespace max

#endif
