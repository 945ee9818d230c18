// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products with AVX-512 VNNI: words of four bytes.
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

namespace max {

namespace {

constexpr int kTileRows = 7, kVectors = 4, kLanes = 16;
// Two tiles of two vectors at once read a panel half as often: with few filters it comes from the second cache.
constexpr int kTallRows = 2 * kTileRows, kTallVectors = 2;
// Words of B that are prefetched into the first cache. A single row waits for nothing but memory, which is further
// away.
template <int kRows>
constexpr int64_t kDistance = (kRows == 1 ? 32 : 12) * kVectors* kLanes;

MAX_VNNI inline void storeWords(__m512i words, int64_t left, void* to) {
  if (left >= kLanes) return _mm512_storeu_si512(to, words);
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1 << left) - 1), words);
}

// Packing interleaves quarters of the vectors.
MAX_VNNI inline __m512i inOrder(__m512i packed) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), packed);
}

// The sums of row i, which lie in c, with zero points subtracted and what other kernels made.
template <int kUsed>
MAX_VNNI inline void loadRow(const IntegerTile& t, int64_t i, __m512i (&sums)[kUsed]) {
  const auto add = [&](int j, int32_t factor, const int32_t* numbers) MAX_VNNI {
    const __m512i product = _mm512_mullo_epi32(_mm512_set1_epi32(factor), _mm512_loadu_si512(numbers + j * kLanes));
    sums[j] = _mm512_add_epi32(sums[j], product);
  };
#pragma GCC unroll 4
  for (int j = 0; j < kUsed; ++j) {
    const int64_t left = t.how ? kLanes : t.columns - j * kLanes;
    const __mmask16 exists = existingLanes(left);
    sums[j] = _mm512_maskz_loadu_epi32(exists, t.c + i * t.ldc + j * kLanes);
    if (t.sums) sums[j] = _mm512_add_epi32(sums[j], _mm512_loadu_si512(t.sums + (i * kVectors + j) * kLanes));
    if (t.rowFactors) add(j, t.rowFactors[i], t.columnSums);
    if (t.columnFactors && !t.hasOneFactor) add(j, t.rowSums[i], t.columnFactors);
  }
}

// What becomes of the sums of a tile, if it is more than bytes made of them and the bias.
template <int kUsed>
MAX_VNNI void finish(const IntegerTile& t, int64_t rows) {
  const RequantizationVectors how(t.how && !t.reals ? *t.how : Requantization{});
  for (int64_t i = 0; i < rows; ++i) {
    __m512i sums[4] = {};
    auto& used = reinterpret_cast<__m512i(&)[kUsed]>(sums);
    loadRow<kUsed>(t, i, used);
    if (!t.how || t.reals) {
#pragma GCC unroll 4
      for (int j = 0; j < kUsed; ++j) {
        const int64_t left = t.columns - j * kLanes;
        if (!t.how) {
          storeWords(sums[j], left, t.c + i * t.ldc + j * kLanes);
          continue;
        }
        __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[j]), _mm512_loadu_ps(t.how->factors + j * kLanes));
        if (t.how->addends) x = _mm512_add_ps(x, _mm512_loadu_ps(t.how->addends + j * kLanes));
        storeWords(_mm512_castps_si512(x), left, t.reals + i * t.outStride + j * kLanes);
      }
      continue;
    }
    if (t.other) {
      const uint8_t* other = t.other + i * t.outStride;
      how.sum<kUsed>(
          sums, 0, [&](int j) MAX_VNNI { return loadFirst(other + j * kLanes, t.columns - j * kLanes); }, sums);
    } else if (how.addends) {
      how.sum<kUsed>(sums, 0, sums);
    } else {
      how.round<kUsed>(sums, 0, sums);
    }
    storeFirst(inOrder(how.packed(sums)), t.columns, t.out + i * t.outStride);
  }
}

// Whether no products of rows' and columns' numbers are left to add to the sums.
inline bool addsNoColumns(const IntegerTile& t) { return !t.columnFactors || t.hasOneFactor; }

// Whether bytes are made of the sums and the bias alone, whose products with factors fit into 32 bits.
inline bool isPlain(const IntegerTile& t) {
  return t.how && !t.how->mayOverflow && !t.how->sum && !t.reals && addsNoColumns(t) && !t.sums;
}

// Rows whose bytes fill a vector together are packed at once.
template <int kUsed>
constexpr int kRowsAtOnce = kUsed <= 2 ? kVectors / kUsed : 1;

// Stores the bytes of row number `row` and of those after it that exist.
template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void storeRows(__m512i bytes, int row, int64_t columns, int64_t stride,
                                                              uint8_t*& out) {
  const auto store = [&](int i, __m512i part) MAX_VNNI __attribute__((always_inline)) {
    if (row + i >= kRows) return;
    storeFirst(part, columns, out);
    out += stride;
  };
  store(0, bytes);
  if constexpr (kRowsAtOnce<kUsed> == 2) {
    store(1, _mm512_castsi256_si512(_mm512_extracti64x4_epi64(bytes, 1)));
  } else if constexpr (kRowsAtOnce<kUsed> == 4) {
    store(1, _mm512_castsi128_si512(_mm512_extracti32x4_epi32(bytes, 1)));
    store(2, _mm512_castsi128_si512(_mm512_extracti32x4_epi32(bytes, 2)));
    store(3, _mm512_castsi128_si512(_mm512_extracti32x4_epi32(bytes, 3)));
  }
}

// Such bytes of all rows.
template <int kRows, int kUsed, bool kSigned>
MAX_VNNI __attribute__((always_inline)) inline void finishPlain(const IntegerTile& t,
                                                                const __m512i (&sums)[kRows][kUsed]) {
  constexpr int kAtOnce = kRowsAtOnce<kUsed>;
  const Requantization& how = *t.how;
  const PackedBytes bytes(how.zero, how.low, how.high);
  const bool isAnyByte = !kSigned && kRows >= kTileRows && how.zero == 0 && how.low == 0 && how.high == 255;
  // Stores of bytes may change anything else for the compiler.
  const float* factors = how.factors;
  const int64_t columns = t.columns, stride = t.outStride;
  uint8_t* out = t.out;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i += kAtOnce) {
    __m512i numbers[4] = {};
#pragma GCC unroll 4
    for (int j = 0; j < kAtOnce * kUsed; ++j)
      if (i + j / kUsed < kRows)
        numbers[j] = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[i + j / kUsed][j % kUsed]),
                                                      _mm512_loadu_ps(factors + j % kUsed * kLanes)));
    const __m512i packed = inOrder(isAnyByte ? _mm512_packus_epi16(_mm512_packs_epi32(numbers[0], numbers[1]),
                                                                   _mm512_packs_epi32(numbers[2], numbers[3]))
                                             : bytes.packed<kSigned>(numbers));
    storeRows<kRows, kUsed>(packed, i, columns, stride, out);
  }
}

// Whether bytes are made of the sums, the bias and other bytes, with products that fit into 32 bits.
inline bool addsBytes(const IntegerTile& t) {
  return t.how && t.how->sum && t.other && !t.reals && addsNoColumns(t) && !t.sums && !mayOverflow(*t.how->sum);
}

// Such bytes of whole vectors.
template <int kRows, int kUsed, bool kOtherIsSigned>
MAX_VNNI __attribute__((always_inline)) inline void finishWithBytes(const IntegerTile& t,
                                                                    const __m512i (&sums)[kRows][kUsed]) {
  constexpr int kAtOnce = kRowsAtOnce<kUsed>;
  const RequantizationVectors how(*t.how);
  const uint8_t* other = t.other;
  const int64_t stride = t.outStride;
  uint8_t* out = t.out;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i += kAtOnce) {
    __m512i numbers[4] = {};
#pragma GCC unroll 4
    for (int j = 0; j < kAtOnce * kUsed; ++j) {
      const int row = i + j / kUsed, column = j % kUsed * kLanes;
      if (row < kRows)
        numbers[j] = how.sumWithBytes<kOtherIsSigned>(sums[row][j % kUsed], column, other + row * stride + column);
    }
    storeRows<kRows, kUsed>(inOrder(how.packed(numbers)), i, kUsed * kLanes, stride, out);
  }
}

// Whether numbers are made of the sums and the bias alone, in whole vectors.
template <int kUsed>
inline bool arePlainReals(const IntegerTile& t) {
  return t.reals && addsNoColumns(t) && !t.sums && t.columns == kUsed * kLanes;
}

// Such numbers of all rows.
template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void finishReals(const IntegerTile& t,
                                                                const __m512i (&sums)[kRows][kUsed]) {
  const float *factors = t.how->factors, *addends = t.how->addends;
  const int64_t stride = t.outStride;
  float* out = t.reals;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, out += stride)
#pragma GCC unroll 4
    for (int j = 0; j < kUsed; ++j) {
      __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[i][j]), _mm512_loadu_ps(factors + j * kLanes));
      if (addends) x = _mm512_add_ps(x, _mm512_loadu_ps(addends + j * kLanes));
      _mm512_storeu_ps(out + j * kLanes, x);
    }
}

// Whether bytes are made of the sums, the bias and numbers of the columns.
inline bool addsNumbers(const IntegerTile& t) {
  return t.how && t.how->sum && !t.other && !t.reals && addsNoColumns(t) && !t.sums;
}

template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void finishWithNumbers(const IntegerTile& t,
                                                                      const __m512i (&sums)[kRows][kUsed]) {
  const RequantizationVectors how(*t.how);
  const int64_t columns = t.columns, stride = t.outStride;
  uint8_t* out = t.out;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, out += stride) {
    __m512i numbers[4] = {};
    how.sum<kUsed>(sums[i], 0, numbers);
    storeFirst(inOrder(how.packed(numbers)), columns, out);
  }
}

// All vectors but the last of each row are full.
template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void storeSums(const IntegerTile& t,
                                                              const __m512i (&sums)[kRows][kUsed]) {
  // Stores may change anything else for the compiler.
  int32_t* c = t.c;
  const int64_t stride = t.ldc, left = t.how ? kLanes : t.columns - (kUsed - 1) * kLanes;
  if (left >= kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i, c += stride)
#pragma GCC unroll 4
      for (int j = 0; j < kUsed; ++j) storeWords(sums[i][j], kLanes, c + j * kLanes);
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, c += stride)
#pragma GCC unroll 4
    for (int j = 0; j < kUsed; ++j) storeWords(sums[i][j], j + 1 < kUsed ? kLanes : left, c + j * kLanes);
}

// Adds the products of words that lie anywhere. They are few, and stay in the first cache.
template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void multiplySpread(const IntegerTile& t, __m512i (&sum)[kRows][kUsed]) {
  constexpr int kKept = kRows * kUsed + kUsed < 32 ? kUsed : kUsed - 1;
  const uint8_t* rows[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) rows[i] = t.rows[i];
  const int32_t* b = t.b;
  for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) {
    const int64_t at = t.offsets[k];
    __m512i columns[kKept];
#pragma GCC unroll 16
    for (int j = 0; j < kKept; ++j) columns[j] = _mm512_loadu_si512(b + j * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      int32_t word;
      __builtin_memcpy(&word, rows[i] + 4 * at, 4);
      const __m512i value = _mm512_set1_epi32(word);
#pragma GCC unroll 16
      for (int j = 0; j < kKept; ++j)  // of so many rows, it is the other form that compilers move
        sum[i][j] = kRows > kTileRows ? _mm512_dpbusd_epi32(sum[i][j], value, columns[j])
                                      : addProducts(sum[i][j], value, columns[j]);
      if constexpr (kKept < kUsed) sum[i][kKept] = addProducts(sum[i][kKept], value, b + kKept * kLanes);
    }
  }
}

// The same number for all columns.
template <int kRows, int kUsed>
MAX_VNNI __attribute__((always_inline)) inline void addToRows(const IntegerTile& t, __m512i (&sum)[kRows][kUsed]) {
  const auto factor = static_cast<uint32_t>(t.columnFactors[0]);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const auto number = static_cast<int32_t>(factor * static_cast<uint32_t>(t.rowSums[i]));
#pragma GCC unroll 4
    for (int j = 0; j < kUsed; ++j) sum[i][j] = _mm512_add_epi32(sum[i][j], _mm512_set1_epi32(number));
  }
}

// Adds the products of a piece. Without kIsFar, a whole tile that prefetches nothing else finds B in the second cache.
template <int kRows, int kUsed, bool kIsFar>
MAX_VNNI __attribute__((always_inline)) inline void multiplyPiece(const uint8_t* const* table, const IntegerTile& t,
                                                                  const int32_t* b, const int32_t* ahead,
                                                                  __m512i (&sum)[kRows][kUsed]) {
  constexpr int kKept = kRows * kUsed + kUsed < 32 ? kUsed : kUsed - 1;  // of 32 registers, one is for A
  const uint8_t* rows[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) rows[i] = table[i];
  const auto step = [&](int64_t k, bool isFar) MAX_VNNI __attribute__((always_inline)) {
    __m512i columns[kKept];
#pragma GCC unroll 16
    for (int j = 0; j < kUsed; ++j) {
      if (isFar) __builtin_prefetch(b + kDistance<kRows> + j * kLanes, 0, 3);
      if (j < kKept) columns[j] = _mm512_loadu_si512(b + j * kLanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      int32_t word;
      __builtin_memcpy(&word, rows[i] + 4 * k, 4);
      const __m512i value = _mm512_set1_epi32(word);
#pragma GCC unroll 16
      for (int j = 0; j < kKept; ++j) sum[i][j] = _mm512_dpbusd_epi32(sum[i][j], value, columns[j]);
      // With all sums of the largest tile in registers, there is none left for its last column of words.
      if constexpr (kKept < kUsed) sum[i][kKept] = addProducts(sum[i][kKept], value, b + kKept * kLanes);
    }
  };
  if constexpr (kRows == kTileRows) {
    if (!t.ahead) {
#pragma GCC unroll 2
      for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) step(k, kIsFar);
      return;
    }
  }
  for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes, ahead += t.aheadStep) {
    if constexpr (kRows <= kTileRows) __builtin_prefetch(ahead, 0, 2);
    step(k, true);
  }
}

// Where half a vector has all columns: chips that work on halves take half the time for one. Every second word is
// added to sums of its own, since more products than rows are under way at once.
constexpr int kNarrowLanes = kLanes / 2;
template <int kRows>
using NarrowSums = __m256i[2][kRows];

template <int kRows, bool kIsFar, bool kIsSpread>
MAX_VNNI __attribute__((always_inline)) inline void multiplyNarrow(const uint8_t* const* table, const int32_t* offsets,
                                                                   int64_t words, const int32_t* b,
                                                                   NarrowSums<kRows>& sums) {
  const uint8_t* rows[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) rows[i] = table[i];
  const auto step = [&](int64_t k, int part) MAX_VNNI __attribute__((always_inline)) {
    const int64_t at = kIsSpread ? offsets[k] : k;
    if (kIsFar) __builtin_prefetch(b + kDistance<kRows>, 0, 3);
    const __m256i columns = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      int32_t word;
      __builtin_memcpy(&word, rows[i] + 4 * at, 4);
      sums[part][i] = addProducts(sums[part][i], _mm256_set1_epi32(word), columns);
    }
    b += kVectors * kLanes;
  };
  int64_t k = 0;
  for (; k + 1 < words; k += 2) {
    step(k, 0);
    step(k + 1, 1);
  }
  if (k < words) step(k, 0);
}

// Adds the products of a tile. Returns the memory to prefetch next.
template <int kRows, bool kIsFar>
MAX_VNNI __attribute__((always_inline)) inline const int32_t* multiplyNarrowTile(const IntegerTile& t,
                                                                                 __m512i (&sum)[kRows][1]) {
  NarrowSums<kRows> sums;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    sums[0][i] = _mm512_castsi512_si256(sum[i][0]);
    sums[1][i] = _mm256_setzero_si256();
  }
  const bool isSpread = kRows >= kTileRows && t.offsets;
  if constexpr (kRows >= kTileRows) {
    if (isSpread) multiplyNarrow<kRows, kIsFar, true>(t.rows, t.offsets, t.words, t.b, sums);
  }
  const int32_t *b = t.b, *ahead = t.ahead;
  for (int64_t piece = isSpread ? t.pieces : 0; piece < t.pieces; ++piece, b += t.words * kVectors * kLanes) {
    const uint8_t* const* rows = t.rows + piece * t.pieceStride;
    if (rows[0]) multiplyNarrow<kRows, kIsFar, false>(rows, nullptr, t.words, b, sums);
    for (int64_t k = 0; ahead && k < t.words; ++k, ahead += t.aheadStep) __builtin_prefetch(ahead, 0, 2);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) sum[i][0] = _mm512_zextsi256_si512(_mm256_add_epi32(sums[0][i], sums[1][i]));
  return ahead;
}

// The first kUsed vectors of the panel. Returns the memory to prefetch next.
template <int kRows, int kUsed, bool kIsFar>
MAX_VNNI __attribute__((always_inline)) inline const int32_t* multiplyWide(const IntegerTile& t,
                                                                           __m512i (&sum)[kRows][kUsed]) {
  const int32_t* b = t.b;
  const int32_t* ahead = t.ahead ? t.ahead : b;
  const bool isSpread = kRows >= kTileRows && t.offsets;
  if constexpr (kRows >= kTileRows) {
    if (isSpread) multiplySpread<kRows, kUsed>(t, sum);
  }
  for (int64_t piece = isSpread ? t.pieces : 0; piece < t.pieces; ++piece) {
    const uint8_t* const* rows = t.rows + piece * t.pieceStride;
    if (rows[0]) multiplyPiece<kRows, kUsed, kIsFar>(rows, t, b, ahead, sum);
    b += t.words * kVectors * kLanes;
    ahead += t.words * t.aheadStep;
  }
  return ahead;
}

// Likewise, with what becomes of the sums.
template <int kRows, int kUsed, bool kIsFar, bool kIsNarrow>
MAX_VNNI __attribute__((always_inline)) inline const int32_t* multiplyTile(const IntegerTile& t) {
  __m512i sum[kRows][kUsed];
#pragma GCC unroll 16
  for (int j = 0; j < kUsed; ++j) {
    const int32_t* bias = t.how ? t.how->bias : nullptr;
    sum[0][j] = bias ? _mm512_loadu_si512(bias + j * kLanes) : _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int i = 1; i < kRows; ++i) sum[i][j] = sum[0][j];
  }
  if (t.columnFactors && t.hasOneFactor) addToRows<kRows, kUsed>(t, sum);
  const int32_t* ahead;
  if constexpr (kIsNarrow)
    ahead = multiplyNarrowTile<kRows, kIsFar>(t, sum);
  else
    ahead = multiplyWide<kRows, kUsed, kIsFar>(t, sum);
  if (isPlain(t)) {
    t.how->low < 0 ? finishPlain<kRows, kUsed, true>(t, sum) : finishPlain<kRows, kUsed, false>(t, sum);
    return ahead;
  }
  if constexpr (kRows >= kTileRows && (kUsed == kVectors || kUsed == kTallVectors)) {
    if (t.columns == kUsed * kLanes && addsBytes(t)) {
      t.how->sum->otherIsSigned ? finishWithBytes<kRows, kUsed, true>(t, sum)
                                : finishWithBytes<kRows, kUsed, false>(t, sum);
      return ahead;
    }
  }
  if constexpr (kRows >= kTileRows) {
    if (arePlainReals<kUsed>(t)) {
      finishReals(t, sum);
      return ahead;
    }
  }
  // Of other tiles there are few.
  if constexpr (kRows >= 5 && kUsed == kVectors) {
    if (addsNumbers(t)) {
      finishWithNumbers<kRows, kUsed>(t, sum);
      return ahead;
    }
  }
  storeSums(t, sum);
  if (t.how || t.rowFactors || !addsNoColumns(t) || t.sums) finish<kUsed>(t, kRows);
  return ahead;
}

// Tiles in two halves, of 32 columns each: while one is multiplied, the sums of the other become bytes, a row after
// some steps. The chip does both at once then; after a whole tile it would wait for the last sums.
constexpr int kHalfVectors = kVectors / 2, kHalfColumns = kHalfVectors * kLanes;
using HalfSums = __m512i[kTileRows][kHalfVectors];

// What makes bytes of sums. It is read from memory each time: the registers have sums.
struct alignas(64) Completion {
  __m512i zero, least, greatest, sign;  // bytes are signed until the sign is changed
  __m512i order;

  MAX_VNNI explicit Completion(const Requantization& how) {
    const int32_t shift = how.low < 0 ? 0 : 128;
    const PackedBytes bytes(how.zero - shift, how.low - shift, how.high - shift);
    zero = bytes.zero;
    least = bytes.least;
    greatest = bytes.greatest;
    sign = _mm512_set1_epi8(static_cast<char>(shift));
    order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  }
};

// The results of half a tile.
struct HalfRows {
  const float* factors;
  uint8_t* out;
  int64_t stride;
};

// Makes bytes of the next row's sums.
MAX_VNNI __attribute__((always_inline)) inline void completeRow(const Completion* completion, HalfRows& rows,
                                                                __m512i (&sums)[kHalfVectors]) {
  __asm__ volatile("" : "+r"(completion) : : "memory");
  const Completion& c = *completion;
#pragma GCC unroll 2
  for (int j = 0; j < kHalfVectors; ++j)
    sums[j] =
        _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[j]), _mm512_loadu_ps(rows.factors + j * kLanes)));
  __m512i bytes = _mm512_adds_epi16(_mm512_packs_epi32(sums[0], sums[1]), c.zero);
  bytes = _mm512_packs_epi16(bytes, bytes);
  bytes = _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, c.least), c.greatest), c.sign);
  bytes = _mm512_permutexvar_epi32(c.order, bytes);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows.out), _mm512_castsi512_si256(bytes));
  rows.out += rows.stride;
}

constexpr int64_t kStepsAhead = 8, kStepsPerRow = 2;  // before the first row is completed, and each

// Sums of the half that begins with column `column`, while those of the other one are completed.
MAX_VNNI __attribute__((always_inline)) inline void multiplyHalf(const uint8_t* const* table, int64_t words,
                                                                 const int32_t* b, const int32_t* bias, HalfSums& sum,
                                                                 const Completion* completion, HalfRows done,
                                                                 HalfSums& other) {
#pragma GCC unroll 2
  for (int j = 0; j < kHalfVectors; ++j) {
    sum[0][j] = _mm512_loadu_si512(bias + j * kLanes);
#pragma GCC unroll 16
    for (int i = 1; i < kTileRows; ++i) sum[i][j] = sum[0][j];
  }
  const uint8_t* rows[kTileRows];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) rows[i] = table[i];
  int64_t k = 0;
  const auto step = [&]() MAX_VNNI __attribute__((always_inline)) {
    __m512i columns[kHalfVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kHalfVectors; ++j) {
      __builtin_prefetch(b + kDistance<kTileRows> + j * kLanes, 0, 3);
      columns[j] = _mm512_loadu_si512(b + j * kLanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      int32_t word;
      __builtin_memcpy(&word, rows[i] + 4 * k, 4);
      const __m512i value = _mm512_set1_epi32(word);
#pragma GCC unroll 2
      for (int j = 0; j < kHalfVectors; ++j) sum[i][j] = addProducts(sum[i][j], value, columns[j]);
    }
    ++k;
    b += kVectors * kLanes;
  };
  const int64_t ahead = std::min(words - kStepsPerRow * kTileRows, kStepsAhead);
  while (k < ahead) step();
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) {
    step();
    step();
    completeRow(completion, done, other[i]);
  }
  while (k < words) step();
}

MAX_VNNI void tilesInHalves(IntegerTile& t) {
  const Completion completion(*t.how);
  const float* factors = t.how->factors;
  const int32_t* bias = t.how->bias;
  const int64_t words = t.words, stride = t.outStride;
  HalfSums sums[2] = {};
  // Before the first tile there is nothing to complete.
  HalfRows done{factors, reinterpret_cast<uint8_t*>(t.c), 0};
  for (; t.tiles > 0; --t.tiles, t.advance(kTileRows)) {
    multiplyHalf(t.rows, words, t.b, bias, sums[0], &completion, done, sums[1]);
    multiplyHalf(t.rows, words, t.b + kHalfColumns, bias + kHalfColumns, sums[1], &completion, {factors, t.out, stride},
                 sums[0]);
    done = {factors + kHalfColumns, t.out + kHalfColumns, stride};
    for (int64_t k = 0; t.ahead && k < words; ++k, t.ahead += t.aheadStep) __builtin_prefetch(t.ahead, 0, 2);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) completeRow(&completion, done, sums[1][i]);
}

// Whether that is worth it: sums are short, and long enough to complete others meanwhile.
inline bool areHalved(const IntegerTile& t) {
  constexpr int64_t kMostWords = 64;
  return t.tiles > 1 && t.columns == kVectors * kLanes && t.pieces == 1 && t.rows[0] && !t.offsets &&
         t.words >= kStepsPerRow * kTileRows && t.words <= kMostWords && t.how->bias && !t.columnFactors;
}

// As if `count` tiles were one. With kIsFar B may come from behind the second cache.
template <int kRows, int kUsed, bool kIsFar, bool kIsNarrow = false>
MAX_VNNI void multiplyNext(IntegerTile& t, int64_t count = 1) {
  const int32_t* ahead = multiplyTile<kRows, kUsed, kIsFar, kIsNarrow>(t);
  if (t.ahead) t.ahead = ahead;
  t.tiles -= count;
  t.advance(kRows);
}

template <int kRows, int kUsed>
MAX_VNNI void tile(IntegerTile& t) {
  if constexpr (kRows == kTileRows && kUsed == kTallVectors) {
    while (t.tiles > 1 && !t.ahead) multiplyNext<kTallRows, kUsed, true>(t, 2);
  }
  if constexpr (kUsed == 1) {
    if (t.columns <= kNarrowLanes) {
      if (t.tiles > 0) multiplyNext<kRows, kUsed, true, true>(t);
      while (t.tiles > 0) multiplyNext<kRows, kUsed, false, true>(t);
      return;
    }
  }
  if (t.tiles > 0) multiplyNext<kRows, kUsed, true>(t);
  while (t.tiles > 0) multiplyNext<kRows, kUsed, kRows != kTileRows>(t);
}

void tileOrHalves(IntegerTile& t) { isPlain(t) && areHalved(t) ? tilesInHalves(t) : tile<kTileRows, kVectors>(t); }

MAX_VNNI void copyRows(const uint8_t* from, int64_t rows, int64_t depth, uint8_t flip, uint8_t* to, int64_t stride,
                       int32_t* sums) {
  constexpr int64_t kBytes = 64;
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip)), none = _mm512_setzero_si512();
  const int64_t whole = depth / kBytes * kBytes;
  const __mmask64 rest = (uint64_t{1} << (depth - whole)) - 1;
  for (int64_t row = 0; row < rows; ++row, from += depth) {
    uint8_t* copy = to ? to + row * stride : nullptr;
    __m512i sum = none;
    for (int64_t i = 0; i < whole; i += kBytes) {
      const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(from + i), flips);
      if (copy) _mm512_storeu_si512(copy + i, bytes);
      sum = _mm512_add_epi64(sum, _mm512_sad_epu8(bytes, none));
    }
    if (rest != 0) {
      const __m512i bytes =
          _mm512_maskz_mov_epi8(rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, from + whole), flips));
      if (copy) _mm512_mask_storeu_epi8(copy + whole, rest, bytes);
      sum = _mm512_add_epi64(sum, _mm512_sad_epu8(bytes, none));
    }
    sums[row] = static_cast<int32_t>(_mm512_reduce_add_epi64(sum));
  }
}

MAX_VNNI void joinRows(const uint8_t* rows, int64_t stride, int64_t count, bool isSigned, uint32_t* sums,
                       int32_t* words) {
  const __mmask64 exists = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80)), ones = _mm512_set1_epi8(1);
  __m512i row[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) row[i] = _mm512_maskz_loadu_epi8(exists, rows + i * stride);
  const __m512i firstLow = _mm512_unpacklo_epi8(row[0], row[1]), firstHigh = _mm512_unpackhi_epi8(row[0], row[1]);
  const __m512i lastLow = _mm512_unpacklo_epi8(row[2], row[3]), lastHigh = _mm512_unpackhi_epi8(row[2], row[3]);
  // Unpacking leaves every fourth quarter of the words in a vector.
  const __m512i quarters[4] = {_mm512_unpacklo_epi16(firstLow, lastLow), _mm512_unpackhi_epi16(firstLow, lastLow),
                               _mm512_unpacklo_epi16(firstHigh, lastHigh), _mm512_unpackhi_epi16(firstHigh, lastHigh)};
  const __m512i a = _mm512_shuffle_i32x4(quarters[0], quarters[1], 0x88);
  const __m512i b = _mm512_shuffle_i32x4(quarters[2], quarters[3], 0x88);
  const __m512i c = _mm512_shuffle_i32x4(quarters[0], quarters[1], 0xdd);
  const __m512i d = _mm512_shuffle_i32x4(quarters[2], quarters[3], 0xdd);
  const __m512i joined[4] = {_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(c, d, 0x88),
                             _mm512_shuffle_i32x4(a, b, 0xdd), _mm512_shuffle_i32x4(c, d, 0xdd)};
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const __m512i flipped = _mm512_xor_si512(joined[j], sign);
    __m512i sum = _mm512_loadu_si512(sums + j * kLanes);
    // Signed bytes with the other sign are 128 more.
    sum = isSigned ? _mm512_sub_epi32(addProducts(sum, flipped, ones), _mm512_set1_epi32(4 * 128))
                   : addProducts(sum, joined[j], ones);
    _mm512_storeu_si512(sums + j * kLanes, sum);
    _mm512_storeu_si512(words + j * kLanes, isSigned ? joined[j] : flipped);
  }
}

template <int kUsed>
constexpr std::array<IntegerTileFunction, kMaxIntegerTileRows> tilesOf() {
  return {tile<1, kUsed>, tile<2, kUsed>, tile<3, kUsed>, tile<4, kUsed>,
          tile<5, kUsed>, tile<6, kUsed>, tile<7, kUsed>};
}

}  // namespace

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable& base) {
  if (cpuTarget() < CpuTarget::Avx512Vnni) return nullptr;
  static const IntegerGemmTable table = [&] {
    IntegerGemmTable vnni{
        true,           kTileRows, kVectors * kLanes, kLanes, {tilesOf<1>(), tilesOf<2>(), tilesOf<3>(), tilesOf<4>()},
        base.requantize};
    vnni.takesOffsets = true;
    vnni.copyRows = copyRows;
    vnni.joinRows = joinRows;
    // Chips without bfloat16 have two ports for vectors of this width: products and what completes sums share them.
    if (cpuTarget() >= CpuTarget::Avx512Bf16) vnni.tiles[kVectors - 1][kTileRows - 1] = tileOrHalves;
    return vnni;
  }();
  return &table;
}

}  // namespace max

#else

namespace max {

const IntegerGemmTable* vnniGemmTable(const IntegerGemmTable&) { return nullptr; }

}  // namespace max

#endif
