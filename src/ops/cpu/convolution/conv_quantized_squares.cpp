// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers with square kernels, without strides or dilations, with AVX-512 VNNI.
#include "ops/cpu/convolution/conv_quantized.h"
#include "ops/cpu/target.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))

#include "ops/cpu/matrix/requantize_vnni.h"

#define MAX_INLINE MAX_VNNI __attribute__((always_inline)) inline

namespace max {

namespace {

constexpr int kRows = DepthwiseSquare::kRows;

// What there is for vectors of all widths.
#define MAX_VECTOR(name, type, prefix, bits)                                                                  \
  struct name {                                                                                               \
    using Bytes = type;                                                                                       \
    static constexpr int64_t kBytes = (bits) / 8;                                                             \
    MAX_INLINE static Bytes load(const void* from) {                                                          \
      return prefix##_loadu_si##bits(static_cast<const Bytes*>(from));                                        \
    }                                                                                                         \
    MAX_INLINE static void store(void* to, Bytes x) { prefix##_storeu_si##bits(static_cast<Bytes*>(to), x); } \
    MAX_INLINE static Bytes flipped(Bytes x, Bytes flip) { return prefix##_xor_si##bits(x, flip); }           \
    MAX_INLINE static Bytes lowBytes(Bytes a, Bytes b) { return prefix##_unpacklo_epi8(a, b); }               \
    MAX_INLINE static Bytes highBytes(Bytes a, Bytes b) { return prefix##_unpackhi_epi8(a, b); }              \
    MAX_INLINE static Bytes lowPairs(Bytes a, Bytes b) { return prefix##_unpacklo_epi16(a, b); }              \
    MAX_INLINE static Bytes highPairs(Bytes a, Bytes b) { return prefix##_unpackhi_epi16(a, b); }             \
    MAX_INLINE static Bytes rounded(Bytes sums, const float* factors) {                                       \
      return prefix##_cvtps_epi32(prefix##_mul_ps(prefix##_cvtepi32_ps(sums), prefix##_loadu_ps(factors)));   \
    }                                                                                                         \
    MAX_INLINE static Bytes packedWords(Bytes a, Bytes b, Bytes zero) {                                       \
      return prefix##_adds_epi16(prefix##_packs_epi32(a, b), zero);                                           \
    }                                                                                                         \
    template <bool kSigned>                                                                                   \
    MAX_INLINE static Bytes packed(Bytes a, Bytes b) {                                                        \
      return kSigned ? prefix##_packs_epi16(a, b) : prefix##_packus_epi16(a, b);                              \
    }                                                                                                         \
  }
MAX_VECTOR(Vector512, __m512i, _mm512, 512);
MAX_VECTOR(Vector256, __m256i, _mm256, 256);
MAX_VECTOR(Vector128, __m128i, _mm, 128);
#undef MAX_VECTOR

// A vector is a block of channels of one pixel: so many, or up to 16. Chips that work on halves of a vector take half
// of the time for one of 32; parts of several pixels in one vector would have to be put there first.
struct Channels64 : Vector512 {
  MAX_INLINE static Bytes pixel(const uint8_t* from, __mmask16) { return load(from); }
  MAX_INLINE static void storePixel(uint8_t* to, Bytes x, int64_t) { store(to, x); }
  MAX_INLINE static Bytes part(__m512i x, int = 0) { return x; }
  MAX_INLINE static __m512i joined(const Bytes* x) { return x[0]; }
};
struct Channels32 : Vector256 {
  MAX_INLINE static Bytes pixel(const uint8_t* from, __mmask16) { return load(from); }
  MAX_INLINE static void storePixel(uint8_t* to, Bytes x, int64_t) { store(to, x); }
  MAX_INLINE static Bytes part(__m512i x, int i = 0) {
    return i == 0 ? _mm512_castsi512_si256(x) : _mm512_extracti64x4_epi64(x, 1);
  }
  MAX_INLINE static __m512i joined(const Bytes* x) { return _mm512_inserti64x4(_mm512_castsi256_si512(x[0]), x[1], 1); }
};
struct Channels16 : Vector128 {
  MAX_INLINE static Bytes pixel(const uint8_t* from, __mmask16 exists) { return _mm_maskz_loadu_epi8(exists, from); }
  MAX_INLINE static void storePixel(uint8_t* to, Bytes x, int64_t channels) {
    channels >= kBytes ? store(to, x) : storeFirst(_mm512_castsi128_si512(x), channels, to);
  }
  MAX_INLINE static Bytes part(__m512i x, int i = 0) {
    switch (i) {
      case 0:
        return _mm512_castsi512_si128(x);
      case 1:
        return _mm512_extracti32x4_epi32(x, 1);
      case 2:
        return _mm512_extracti32x4_epi32(x, 2);
      default:
        return _mm512_extracti32x4_epi32(x, 3);
    }
  }
  MAX_INLINE static __m512i joined(const Bytes* x) {
    const __m512i half = _mm512_inserti32x4(_mm512_castsi128_si512(x[0]), x[1], 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(half, x[2], 2), x[3], 3);
  }
};
template <int kWidth>
using ChannelsOf =
    std::conditional_t<kWidth == 64, Channels64, std::conditional_t<kWidth == 32, Channels32, Channels16>>;

// How far ahead, in bytes, the output and the last rows of the input are prefetched: the others were read for the rows
// of the output before.
constexpr int64_t kAhead = 2048;

// The rows of the input that two rows of the output read, a column at a time.
template <class V, int kSize>
class Columns {
 public:
  using Bytes = typename V::Bytes;
  static constexpr int kInputRows = kSize + kRows - 1;

  MAX_INLINE Columns(const DepthwiseSquare& run, int64_t c)
      : column_(run.column),
        width_(run.width),
        zeros_(run.zeros),
        exists_(existingLanes(run.channels)),
        flip_(V::part(_mm512_set1_epi8(static_cast<char>(run.flip)))) {
    const int64_t first = std::clamp<int64_t>(column_, 0, width_) * run.channels + c;
    for (int r = 0; r < kInputRows; ++r) {
      x_[r] = run.x[r] ? run.x[r] + first : zeros_;
      step_[r] = run.x[r] ? run.channels : 0;
    }
  }

  MAX_INLINE void next(Bytes (&column)[kInputRows]) {
    if (column_ >= 0 && column_ < width_) {
#pragma GCC unroll 8
      for (int r = 0; r < kInputRows; ++r) {
        column[r] = V::flipped(V::pixel(x_[r], exists_), flip_);
        if (r >= kSize - 1) __builtin_prefetch(x_[r] + kAhead, 0, 3);
        x_[r] += step_[r];
      }
    } else {
#pragma GCC unroll 8
      for (int r = 0; r < kInputRows; ++r) column[r] = V::flipped(V::pixel(zeros_, exists_), flip_);
    }
    ++column_;
  }

 private:
  const uint8_t* x_[kInputRows];
  int64_t step_[kInputRows];  // 0 = zeros
  int64_t column_, width_;
  const uint8_t* zeros_;
  __mmask16 exists_;
  Bytes flip_;
};

// Four bytes of a channel become a word; places as ChannelBlock says.
template <class V>
MAX_INLINE void interleave(const typename V::Bytes* rows, typename V::Bytes (&words)[4]) {
  const auto lowFirst = V::lowBytes(rows[0], rows[1]), lowLast = V::lowBytes(rows[2], rows[3]);
  const auto highFirst = V::highBytes(rows[0], rows[1]), highLast = V::highBytes(rows[2], rows[3]);
  words[0] = V::lowPairs(lowFirst, lowLast);
  words[1] = V::highPairs(lowFirst, lowLast);
  words[2] = V::lowPairs(highFirst, highLast);
  words[3] = V::highPairs(highFirst, highLast);
}

// Adds products of the words of a quarter and its weights; `at(w)` is where the words of tap w begin.
template <class V, int kTaps, int kPixels, class At>
MAX_INLINE void addTaps(const typename V::Bytes* words, At at, const int8_t* weights,
                        typename V::Bytes (&sums)[kPixels][kRows]) {
#pragma GCC unroll 8
  for (int w = 0; w < kTaps; ++w)
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) {
      const auto taps = V::load(weights + (w * kRows + r) * 256);
#pragma GCC unroll 4
      for (int p = 0; p < kPixels; ++p) sums[p][r] = addProducts(sums[p][r], words[at(w) + p], taps);
    }
}

// The words of kernels with three rows stay in registers from one tile to the next.
template <class V, int kSize>
class HeldWords {
 public:
  using Bytes = typename V::Bytes;
  static constexpr int kPixels = 2;

  MAX_INLINE HeldWords(Columns<V, kSize>& columns, std::byte*) : columns_(columns) {
#pragma GCC unroll 2
    for (int i = 0; i < kKept; ++i) read(kPixels + i);
  }
  MAX_INLINE void startTile() {
#pragma GCC unroll 2
    for (int i = 0; i < kKept; ++i)
#pragma GCC unroll 4
      for (int quarter = 0; quarter < 4; ++quarter) words_[quarter][i] = words_[quarter][kPixels + i];
#pragma GCC unroll 2
    for (int i = 0; i < kPixels; ++i) read(kKept + i);
  }
  MAX_INLINE void startQuarter(int) {}
  MAX_INLINE void add(int quarter, const int8_t* weights, Bytes (&sums)[kPixels][kRows]) const {
    addTaps<V, kSize>(
        words_[quarter], [](int w) { return w; }, weights, sums);
  }
  MAX_INLINE void endTile() {}

 private:
  static constexpr int kKept = kSize - 1;

  MAX_INLINE void read(int place) {
    Bytes column[kSize + kRows - 1], words[4];
    columns_.next(column);
    interleave<V>(column, words);
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) words_[quarter][place] = words[quarter];
  }

  Columns<V, kSize>& columns_;
  Bytes words_[4][kKept + kPixels];
};

// Those of larger kernels are kept in memory: of each column two vectors for each quarter. Those of the next tile are
// made while one is multiplied. The last two of six rows are words of two columns, of the first four there are words
// of one.
template <class V, int kSize>
class StoredWords {
 public:
  using Bytes = typename V::Bytes;
  static constexpr int kPixels = 3;

  MAX_INLINE StoredWords(Columns<V, kSize>& columns, std::byte* memory)
      : columns_(columns), words_(memory + kColumnBytes), next_(words_) {
    pair_[0] = pair_[1] = V::part(_mm512_setzero_si512());
#pragma GCC unroll 1
    for (int i = 0; i < kSize - 1 + kPixels; ++i) read();
  }
  MAX_INLINE void startTile() {}
  MAX_INLINE void startQuarter(int quarter) {
    if (quarter < kPixels) read();
  }
  MAX_INLINE void add(int quarter, const int8_t* weights, Bytes (&sums)[kPixels][kRows]) const {
    const std::byte* words = words_ + quarter * 64;
    addPart<kSize, kSize - 1>(
        words, [](int w) { return w; }, weights, sums);
    weights += kSize * kRows * 256;
    if constexpr (kSize == 5)
      addPart<3, 3>(
          words + 256, [](int w) { return w < 2 ? 2 * w : 3; }, weights, sums);
    else
      addPart<kSize, kSize - 1>(
          words + 256, [](int w) { return w; }, weights, sums);
  }
  MAX_INLINE void endTile() { words_ += kPixels * kColumnBytes; }

 private:
  static constexpr int64_t kColumnBytes = DepthwiseSquare::kColumnBytes;

  template <int kTaps, int kLast, class At>
  MAX_INLINE static void addPart(const std::byte* from, At at, const int8_t* weights, Bytes (&sums)[kPixels][kRows]) {
    Bytes words[kLast + kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kLast + kPixels; ++i) {
      words[i] = V::load(from + i * kColumnBytes);
      __asm__("" : "+v"(words[i]));  // or they are loaded for each product
    }
    addTaps<V, kTaps>(words, at, weights, sums);
  }

  MAX_INLINE void read() {
    Bytes column[kSize + kRows - 1], words[4];
    columns_.next(column);
    interleave<V>(column, words);
    write(words, next_);
    if constexpr (kSize == 5) {
      const auto low = V::lowBytes(column[4], column[5]), high = V::highBytes(column[4], column[5]);
      const Bytes both[4] = {V::lowPairs(pair_[0], low), V::highPairs(pair_[0], low), V::lowPairs(pair_[1], high),
                             V::highPairs(pair_[1], high)};
      write(both, next_ + 256 - kColumnBytes);
      pair_[0] = low;
      pair_[1] = high;
    } else {
      interleave<V>(column + 4, words);
      write(words, next_ + 256);
    }
    next_ += kColumnBytes;
  }
  MAX_INLINE static void write(const Bytes (&words)[4], std::byte* to) {
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) V::store(to + quarter * 64, words[quarter]);
  }

  Columns<V, kSize>& columns_;
  std::byte *words_, *next_;
  Bytes pair_[2];  // of the column before
};

// Whether all that becomes of a sum is a product, its zero point, and the ends of its type.
bool isPlain(const DepthwiseSquare& run) {
  const Requantization& how = *run.how;
  const bool isSigned = how.low < 0;
  return !run.other && !how.sum && !how.mayOverflow && how.low == (isSigned ? -128 : 0) &&
         how.high == (isSigned ? 127 : 255);
}

// One block of channels of all pixels.
template <class V, int kSize, bool kIsPlain>
class Block {
 public:
  using Bytes = typename V::Bytes;
  using Words = std::conditional_t<kSize == 3, HeldWords<V, kSize>, StoredWords<V, kSize>>;
  static constexpr int kPixels = Words::kPixels;

  MAX_INLINE Block(const DepthwiseSquare& run, const RequantizationVectors& how, int64_t block, int64_t c)
      : run_(run),
        how_(how),
        place_(block * ChannelBlock::kPlaces),
        c_(c),
        weights_(run.weights + place_ * DepthwiseSquare::words(kSize) * kRows * 4),
        bias_(run.how->bias + place_),
        factors_(how.factors + place_) {}

  MAX_INLINE void runAll() {
    Columns<V, kSize> columns(run_, c_);
    Words words(columns, run_.memory);
    for (int64_t pixel = 0; pixel < run_.pixels; pixel += kPixels) tile(words, pixel);
  }

 private:
  MAX_INLINE void tile(Words& words, int64_t pixel) {
    Bytes sums[4][kPixels][kRows];
    words.startTile();
    // Or compilers keep the addresses of all weights.
    __asm__("" : "+r"(weights_), "+r"(bias_), "+r"(factors_));
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) {
      words.startQuarter(quarter);
      const Bytes bias = V::load(bias_ + quarter * 16);
      forEach([&](int p, int r) MAX_VNNI __attribute__((always_inline)) { sums[quarter][p][r] = bias; });
      words.add(quarter, weights_ + quarter * 64, sums[quarter]);
      if constexpr (kIsPlain)
        forEach([&](int p, int r) MAX_VNNI __attribute__((always_inline)) {
          Bytes& x = sums[quarter][p][r];
          x = V::rounded(x, factors_ + quarter * 16);
          if (quarter % 2 == 1) x = V::packedWords(sums[quarter - 1][p][r], x, V::part(how_.zero));
        });
    }
    words.endTile();
    if constexpr (!kIsPlain)
      finishAny(sums, pixel);
    else if (how_.isSigned)
      finishPlain<true>(sums, pixel);
    else
      finishPlain<false>(sums, pixel);
  }

  // What does not exist is stored, too, where later something else is.
  template <bool kSigned>
  MAX_INLINE void finishPlain(const Bytes (&words)[4][kPixels][kRows], int64_t pixel) const {
    const int64_t last = run_.pixels - pixel - 1, rowStep = run_.rows < kRows ? 0 : run_.rowStep;
    uint8_t* out = run_.out + pixel * run_.channels + c_;
#pragma GCC unroll 4
    for (int i = 0; i < kPixels; ++i) {
      const int p = kPixels - 1 - i;
      uint8_t* to = out + std::min<int64_t>(p, last) * run_.channels;
      __builtin_prefetch(to + rowStep + kAhead, 1, 3);
      __builtin_prefetch(to + kAhead, 1, 3);
      V::storePixel(to + rowStep, V::template packed<kSigned>(words[1][p][1], words[3][p][1]), run_.channels);
      V::storePixel(to, V::template packed<kSigned>(words[1][p][0], words[3][p][0]), run_.channels);
    }
  }

  // As many results at once as a vector has parts; the last ones overlap those before. What does not exist is not
  // stored.
  MAX_INLINE void finishAny(const Bytes (&sums)[4][kPixels][kRows], int64_t pixel) const {
    constexpr int kParts = 64 / V::kBytes, kResults = kPixels * kRows;
    const __mmask16 exists = existingLanes(run_.channels);
#pragma GCC unroll 8
    for (int next = 0; next < kResults; next += kParts) {
      const int first = std::min(next, kResults - kParts);
      int64_t at[kParts];
      bool isStored[kParts];
      Bytes others[kParts];
#pragma GCC unroll 4
      for (int i = 0; i < kParts; ++i) {
        const int64_t p = pixel + (first + i) / kRows, r = (first + i) % kRows;
        isStored[i] = p < run_.pixels && r < run_.rows;
        at[i] = isStored[i] ? r * run_.rowStep + p * run_.channels + c_ : c_;
        if (run_.other) others[i] = V::pixel(run_.other + at[i], exists);
      }
      __m512i numbers[4];
#pragma GCC unroll 4
      for (int quarter = 0; quarter < 4; ++quarter) numbers[quarter] = V::joined(&sums[quarter][0][0] + first);
      if (run_.other)
        how_.sumWithPacked(numbers, place_, V::joined(others), numbers);
      else
        how_.round<4>(numbers, place_, numbers);
      const __m512i bytes = how_.packed(numbers);
#pragma GCC unroll 4
      for (int i = 0; i < kParts; ++i)
        if (isStored[i]) V::storePixel(run_.out + at[i], V::part(bytes, i), run_.channels);
    }
  }

  template <class Body>
  MAX_INLINE static void forEach(Body body) {
#pragma GCC unroll 4
    for (int p = 0; p < kPixels; ++p)
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r) body(p, r);
  }

  const DepthwiseSquare& run_;
  const RequantizationVectors& how_;
  int64_t place_, c_;
  const int8_t* weights_;
  const int32_t* bias_;
  const float* factors_;
};

template <class V, int kSize, bool kIsPlain>
MAX_VNNI __attribute__((noinline)) void runBlock(const DepthwiseSquare& run, const RequantizationVectors& how,
                                                 int64_t block, int64_t c) {
  Block<V, kSize, kIsPlain>(run, how, block, c).runAll();
}

template <int kSize, bool kIsPlain>
MAX_VNNI void runBlocks(const DepthwiseSquare& run) {
  const RequantizationVectors how(*run.how);
  forEachChannelBlock(run.channels, [&](auto width, int64_t block, int64_t c) MAX_VNNI {
    runBlock<ChannelsOf<width()>, kSize, kIsPlain>(run, how, block, c);
  });
}

template <int kSize>
void runSize(const DepthwiseSquare& run) {
  isPlain(run) ? runBlocks<kSize, true>(run) : runBlocks<kSize, false>(run);
}

void run(const DepthwiseSquare& run) {
  if (run.size == 3) return runSize<3>(run);
  run.size == 5 ? runSize<5>(run) : runSize<7>(run);
}

}  // namespace

DepthwiseSquareFunction depthwiseSquareFunction() { return cpuTarget() < CpuTarget::Avx512Vnni ? nullptr : run; }

}  // namespace max

#else

namespace max {

DepthwiseSquareFunction depthwiseSquareFunction() { return nullptr; }

}  // namespace max

#endif
