// SPDX-License-Identifier: Apache-2.0
// Depthwise and grouped convolutions of 8-bit integers, and those with few filters, with AVX-512 VNNI.
#include "ops/cpu/convolution/conv_quantized.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

namespace max {

namespace {

// What a tap of each of several pixels holds, kWidth channels of each, of which `exists` exist.
template <int kWidth>
MAX_VNNI inline __m512i load(const uint8_t* const (&from)[64 / kWidth], __mmask16 exists) {
  const auto bytes = [&](int i) { return reinterpret_cast<const __m256i*>(from[i]); };
  if constexpr (kWidth == 64) {
    return _mm512_loadu_si512(from[0]);
  } else if constexpr (kWidth == 32) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(bytes(0))), _mm256_loadu_si256(bytes(1)), 1);
  } else {
    __m512i result = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(exists, from[0]));
    result = _mm512_inserti32x4(result, _mm_maskz_loadu_epi8(exists, from[1]), 1);
    result = _mm512_inserti32x4(result, _mm_maskz_loadu_epi8(exists, from[2]), 2);
    return _mm512_inserti32x4(result, _mm_maskz_loadu_epi8(exists, from[3]), 3);
  }
}

// Stores the results of the first `count` of several pixels, which are `stride` apart.
template <int kWidth>
MAX_VNNI inline void store(__m512i bytes, int64_t count, int64_t channels, int64_t stride, uint8_t* out) {
  if constexpr (kWidth == 64) {
    if (count > 0) _mm512_storeu_si512(out, bytes);
  } else if constexpr (kWidth == 32) {
    if (count > 0) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(bytes));
    if (count > 1) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + stride), _mm512_extracti64x4_epi64(bytes, 1));
  } else {
    const __m128i parts[] = {_mm512_castsi512_si128(bytes), _mm512_extracti32x4_epi32(bytes, 1),
                             _mm512_extracti32x4_epi32(bytes, 2), _mm512_extracti32x4_epi32(bytes, 3)};
    for (int i = 0; i < 4 && i < count; ++i) storeFirst(_mm512_castsi128_si512(parts[i]), channels, out + i * stride);
  }
}

// Stores what becomes of the sums of `count` pixels, at least one, `stride` apart, the first at `to` of the image.
template <int kWidth>
MAX_VNNI __attribute__((always_inline)) inline void finishPixels(const DepthwiseQuads& run,
                                                                 const RequantizationVectors& how, int64_t block,
                                                                 int64_t to, int64_t count, int64_t stride,
                                                                 __m512i (&sums)[4]) {
  if (run.other) {
    const uint8_t* from[64 / kWidth];
    for (int i = 0; i < 64 / kWidth; ++i) from[i] = run.other + to + std::min<int64_t>(i, count - 1) * stride;
    how.sumWithPacked(sums, block * 64, load<kWidth>(from, existingLanes(run.channels)), sums);
  } else {
    how.round<4>(sums, block * 64, sums);
  }
  store<kWidth>(how.packed(sums), count, std::min<int64_t>(kWidth, run.channels), stride, run.out + to);
}

// Bytes of the last kernel row that are prefetched: the others were read for the rows before.
constexpr int64_t kAhead = 2048;

// Four bytes of a channel become a word; places as ChannelBlock says.
MAX_VNNI __attribute__((always_inline)) inline void interleave(const __m512i (&taps)[4], __m512i (&words)[4]) {
  const __m512i lowFirst = _mm512_unpacklo_epi8(taps[0], taps[1]), lowLast = _mm512_unpacklo_epi8(taps[2], taps[3]);
  const __m512i highFirst = _mm512_unpackhi_epi8(taps[0], taps[1]);
  const __m512i highLast = _mm512_unpackhi_epi8(taps[2], taps[3]);
  words[0] = _mm512_unpacklo_epi16(lowFirst, lowLast);
  words[1] = _mm512_unpackhi_epi16(lowFirst, lowLast);
  words[2] = _mm512_unpacklo_epi16(highFirst, highLast);
  words[3] = _mm512_unpackhi_epi16(highFirst, highLast);
}

// One block of channels of all pixels. Each part of a vector belongs to a pixel, or to kEach that share columns.
template <int kWidth, int kEach, bool kFlips>
MAX_VNNI void runBlock(const DepthwiseQuads& run, const RequantizationVectors& how, int64_t block, int64_t c) {
  constexpr int kParts = 64 / kWidth;
  const __mmask16 exists = existingLanes(run.channels);
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(run.flip));
  const int8_t* allWeights = run.weights + block * run.steps * kEach * 256;
  const int32_t* bias = run.how->bias + block * 64;
  for (int64_t pixel = 0; pixel < run.pixels; pixel += kParts * kEach) {
    const uint8_t* const* columns[kParts];
    for (int i = 0; i < kParts; ++i)
      columns[i] = run.columns + std::min(pixel + i * kEach, run.pixels - 1) * run.pixelStep;
    __m512i sums[kEach][4];
#pragma GCC unroll 4
    for (int each = 0; each < kEach; ++each)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sums[each][i] = _mm512_loadu_si512(bias + 16 * i);
    const int8_t* weights = allWeights;
    for (int64_t step = 0; step < run.steps; ++step) {
      __m512i taps[4];
      const int64_t* offsets = run.offsets + 4 * step;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const uint8_t* from[kParts];
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part)
          from[part] = columns[part][kEach > 1 ? offsets[0] + i : offsets[i]] + c;
        taps[i] = load<kWidth>(from, exists);
        if constexpr (kFlips) taps[i] = _mm512_xor_si512(taps[i], flip);
      }
      __m512i words[4];
      interleave(taps, words);
#pragma GCC unroll 4
      for (int each = 0; each < kEach; ++each, weights += 256)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) sums[each][i] = addProducts(sums[each][i], words[i], weights + 64 * i);
    }
    if constexpr (kEach > 1 && kWidth > 16) {
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
        const uint8_t* at = columns[part][run.offsets[4 * run.steps - 4]] + c + kAhead;
#pragma GCC unroll 4
        for (int each = 0; each < kEach; ++each) __builtin_prefetch(at + each * run.channels, 0, 3);
      }
    }
#pragma GCC unroll 4
    for (int each = 0; each < kEach; ++each)
      if (const int64_t left = run.pixels - pixel - each; left > 0)
        finishPixels<kWidth>(run, how, block, (pixel + each) * run.channels + c, (left + kEach - 1) / kEach,
                             kEach * run.channels, sums[each]);
  }
}

template <int kEach, bool kFlips>
MAX_VNNI void runAll(const DepthwiseQuads& run) {
  const RequantizationVectors how(*run.how);
  forEachChannelBlock(run.channels, [&](auto width, int64_t block, int64_t c)
                                        MAX_VNNI { runBlock<width(), kEach, kFlips>(run, how, block, c); });
}

void run(const DepthwiseQuads& run) {
  switch (run.sharing) {
    case 4:
      return run.flip ? runAll<4, true>(run) : runAll<4, false>(run);
    case 2:
      return run.flip ? runAll<2, true>(run) : runAll<2, false>(run);
    default:
      return run.flip ? runAll<1, true>(run) : runAll<1, false>(run);
  }
}

// What products of groups take of a vector: all of it, or its half, which is as many words of fewer channels.
struct WholeVector {
  using Words = __m512i;
  static constexpr int64_t kChannels = 64;
  MAX_VNNI static Words load(const void* from) { return _mm512_loadu_si512(from); }
  MAX_VNNI static Words loadFirst(__mmask64 exists, const void* from) { return _mm512_maskz_loadu_epi8(exists, from); }
  MAX_VNNI static Words spread(__m512i lanes, Words x) { return _mm512_permutexvar_epi32(lanes, x); }
  MAX_VNNI static __m512i whole(Words x) { return x; }
};
struct HalfVector {
  using Words = __m256i;
  static constexpr int64_t kChannels = 32;
  MAX_VNNI static Words load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  MAX_VNNI static Words loadFirst(__mmask64 exists, const void* from) {
    return _mm256_maskz_loadu_epi8(static_cast<__mmask32>(exists), from);
  }
  MAX_VNNI static Words spread(__m512i lanes, Words x) {
    return _mm256_permutexvar_epi32(_mm512_castsi512_si256(lanes), x);
  }
  MAX_VNNI static __m512i whole(Words x) { return _mm512_zextsi256_si512(x); }
};

// Word number 0, 1, .. of each group in all lanes of the group.
struct SpreadWords {
  __m512i lanes, one = _mm512_set1_epi32(1);
  MAX_VNNI explicit SpreadWords(int64_t words)
      : lanes(_mm512_and_si512(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                               _mm512_set1_epi32(static_cast<int32_t>(-words)))) {}
  MAX_VNNI void next() { lanes = _mm512_add_epi32(lanes, one); }
};

// Four sums of a word of results lie in the same lane of four vectors.
MAX_VNNI void finishGrouped(const IntegerTile& t, const RequantizationVectors& how, int64_t rows) {
  const __m512i inOrder = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const int32_t* sums = t.c;
  for (int64_t i = 0; i < rows; ++i, sums += kGroupedChannels) {
    __m512i numbers[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) numbers[j] = _mm512_loadu_si512(sums + 16 * j);
    how.addends ? how.sum<4>(numbers, 0, numbers) : how.round<4>(numbers, 0, numbers);
    storeFirst(_mm512_shuffle_epi8(how.packed(numbers), inOrder), t.columns, t.out + i * t.outStride);
  }
}

// The channels of kRows pixels, or as many as `exists` says.
template <int kRows, class Vector, bool kIsFull>
MAX_VNNI __attribute__((always_inline)) inline void groupedTile(const IntegerTile& t, __mmask64 exists) {
  using Words = typename Vector::Words;
  Words sums[kRows][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j)
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[i][j] = Vector::load(t.how->bias + 16 * j);
  const int32_t* b = t.b;
  for (int64_t piece = 0; piece < t.pieces; ++piece) {
    const uint8_t* const* rows = t.rows + piece * t.pieceStride;
    if (!rows[0]) {
      b += t.words * kGroupedChannels;
      continue;
    }
    SpreadWords spread(t.words);
    for (int64_t word = 0; word < t.words; ++word, b += 64, spread.next()) {
      Words columns[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) columns[j] = Vector::load(b + 16 * j);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const Words value =
            Vector::spread(spread.lanes, kIsFull ? Vector::load(rows[i]) : Vector::loadFirst(exists, rows[i]));
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) sums[i][j] = addProducts(sums[i][j], value, columns[j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) _mm512_storeu_si512(t.c + i * kGroupedChannels + 16 * j, Vector::whole(sums[i][j]));
}

template <int kRows, class Vector, bool kIsFull>
MAX_VNNI void groupedTilesOf(IntegerTile& t) {
  const RequantizationVectors how(*t.how);
  const __mmask64 exists = ~__mmask64{0} >> (kGroupedChannels - t.columns);
  for (; t.tiles > 0; --t.tiles, t.advance(kRows)) {
    groupedTile<kRows, Vector, kIsFull>(t, exists);
    finishGrouped(t, how, kRows);
  }
}

// Loads of some bytes only take longer than others.
template <int kRows>
void groupedTiles(IntegerTile& t) {
  if (t.columns > HalfVector::kChannels)
    t.columns == WholeVector::kChannels ? groupedTilesOf<kRows, WholeVector, true>(t)
                                        : groupedTilesOf<kRows, WholeVector, false>(t);
  else
    t.columns == HalfVector::kChannels ? groupedTilesOf<kRows, HalfVector, true>(t)
                                       : groupedTilesOf<kRows, HalfVector, false>(t);
}

IntegerGemmTable makeGroupedTable() {
  IntegerGemmTable table{};
  table.usesBytes = true;
  table.tileRows = 6;
  table.panelColumns = kGroupedChannels;
  table.lanes = kGroupedChannels;
  table.tiles[0] = {groupedTiles<1>, groupedTiles<2>, groupedTiles<3>,
                    groupedTiles<4>, groupedTiles<5>, groupedTiles<6>};
  table.blockRows = 54;
  return table;
}

// The words of each half quarter of a and of b, added up.
MAX_VNNI inline __m512i addedPairs(__m512i a, __m512i b) {
  return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

// The sum of each vector's words.
MAX_VNNI inline __m128i addedUp(const __m512i* x) {
  const __m512i first = addedPairs(x[0], x[1]), last = addedPairs(x[2], x[3]);
  const __m512i quarters = _mm512_add_epi32(_mm512_unpacklo_epi64(first, last), _mm512_unpackhi_epi64(first, last));
  const __m256i halves = _mm256_add_epi32(_mm512_castsi512_si256(quarters), _mm512_extracti64x4_epi64(quarters, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

// The sums of kPixels pixels, which begin at these bytes of each row.
template <int kFilters, int kPixels>
MAX_VNNI void fewFiltersTile(const FewFilterBytes& run, const int64_t (&at)[kPixels], int32_t* sums) {
  __m512i sum[kPixels * kFilters];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels * kFilters; ++i) sum[i] = _mm512_setzero_si512();
  const int8_t* weights = run.weights;
  const int64_t whole = run.depth & -64;
  const __mmask64 rest = (uint64_t{1} << (run.depth - whole)) - 1;
  for (int64_t r = 0; r < run.rows; ++r) {
    const uint8_t* x[kPixels];
#pragma GCC unroll 8
    for (int p = 0; p < kPixels; ++p) x[p] = run.x[r] + at[p];
    const auto add = [&](auto load) MAX_VNNI __attribute__((always_inline)) {
      __m512i columns[kFilters];
#pragma GCC unroll 4
      for (int f = 0; f < kFilters; ++f, weights += 64) columns[f] = _mm512_loadu_si512(weights);
#pragma GCC unroll 8
      for (int p = 0; p < kPixels; ++p) {
        const __m512i value = load(x[p]);
#pragma GCC unroll 4
        for (int f = 0; f < kFilters; ++f)
          sum[p * kFilters + f] = addProducts(sum[p * kFilters + f], value, columns[f]);
      }
    };
    for (int64_t k = 0; k < whole; k += 64)
      add([&](const uint8_t* from) MAX_VNNI { return _mm512_loadu_si512(from + k); });
    if (rest) add([&](const uint8_t* from) MAX_VNNI { return _mm512_maskz_loadu_epi8(rest, from + whole); });
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels * kFilters; i += 4)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + i), addedUp(sum + i));
}

// The last tile overlaps the one before it; one that is not full reads pixels twice.
template <int kFilters>
MAX_VNNI void fewFilters(const FewFilterBytes& run) {
  constexpr int kPixels = kFilters <= 2 ? 8 : 4;  // so that their sums are in registers, and enough of them
  for (int64_t pixel = 0; pixel < run.pixels; pixel += kPixels) {
    const int64_t first = std::max<int64_t>(0, std::min(pixel, run.pixels - kPixels));
    int64_t at[kPixels];
    for (int p = 0; p < kPixels; ++p) at[p] = std::min(first + p, run.pixels - 1) * run.step;
    if (run.pixels >= kPixels) {
      fewFiltersTile<kFilters, kPixels>(run, at, run.sums + first * kFilters);
      continue;
    }
    int32_t sums[kPixels * kFilters];
    fewFiltersTile<kFilters, kPixels>(run, at, sums);
    std::copy_n(sums, run.pixels * kFilters, run.sums);
  }
}

void runFewFilters(const FewFilterBytes& run) {
  constexpr FewFilterBytesFunction kRun[kMostFewFilterBytes] = {fewFilters<1>, fewFilters<2>, fewFilters<3>,
                                                                fewFilters<4>};
  kRun[run.filters - 1](run);
}

}  // namespace

FewFilterBytesFunction fewFilterBytesFunction() {
  return cpuTarget() < CpuTarget::Avx512Vnni ? nullptr : runFewFilters;
}

DepthwiseQuadsFunction depthwiseQuadsFunction() { return cpuTarget() < CpuTarget::Avx512Vnni ? nullptr : run; }

const IntegerGemmTable* groupedBytesTable() {
  if (cpuTarget() < CpuTarget::Avx512Vnni) return nullptr;
  static const IntegerGemmTable table = makeGroupedTable();
  return &table;
}

}  // namespace max

#else

namespace max {

DepthwiseQuadsFunction depthwiseQuadsFunction() { return nullptr; }
FewFilterBytesFunction fewFilterBytesFunction() { return nullptr; }
const IntegerGemmTable* groupedBytesTable() { return nullptr; }

}  // namespace max

#endif
