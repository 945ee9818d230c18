// SPDX-License-Identifier: Apache-2.0
// Micro-kernels of integer products per target: multiply and add pairs of int16, or, with AVX-VNNI, four bytes.
#include <optional>

#include "ops/cpu/matrix/gemm_int.h"
#include "ops/cpu/matrix/tile_tables.h"
#include "ops/cpu/quantization/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/gemm_int_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/matrix/pairs-inl.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;

constexpr int64_t kLanes = hn::MaxLanes(D32());
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 8, kVectors = 3;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6, kVectors = 2;
#else
constexpr int kTileRows = 4, kVectors = 2;
#endif

struct Pairs {
  static HWY_INLINE V32 multiply(V32 a, V32 b, V32 sum) { return multiplyPairs(a, b, sum); }
};

#if HWY_TARGET == HWY_AVX2
struct Bytes {
  // As instructions that need no more than this target's: who calls them has asked the chip.
  static HWY_INLINE V32 multiply(V32 a, V32 b, V32 sum) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.raw) : "x"(a.raw), "x"(b.raw));
    return sum;
  }
};
#endif

using DF = hn::Rebind<float, D32>;
using D8 = hn::Rebind<uint8_t, D32>;
using VF = hn::Vec<DF>;

// round(x) + zero, between two ends. NaN becomes the lower end: the second operand of Max is taken then.
struct Rounding {
  VF low, high, magic;  // a number added to which leaves no digits behind the point
  V32 zero;             // less the bits of `magic`
  Rounding(int32_t addend, int32_t least, int32_t most)
      : low(hn::Set(DF(), static_cast<float>(least - addend))),
        high(hn::Set(DF(), static_cast<float>(most - addend))),
        magic(hn::Set(DF(), kRoundingMagic)),
        zero(hn::Sub(hn::Set(D32(), addend), hn::BitCast(D32(), magic))) {}
  HWY_INLINE V32 integers(VF x) const { return hn::Add(hn::BitCast(D32(), shifted(x)), zero); }
  HWY_INLINE VF reals(VF x) const { return hn::Sub(shifted(x), magic); }  // without `zero`

 private:
  HWY_INLINE VF shifted(VF x) const { return hn::Add(hn::Min(hn::Max(x, low), high), magic); }
};

// What Requantization says, in vectors, which are made once for some tiles: bytes that are stored might change its
// numbers.
struct Requantizer {
  const Requantization how;
  const Rounding rounding;
  // With a sum:
  const float *ownFactors = nullptr, *addends = nullptr;
  Rounding last;  // of the sum, if there is one
  VF ownFactor = hn::Zero(DF()), otherFactor = ownFactor;
  V32 flip = hn::Zero(D32()), otherZero = flip;  // numbers of the other operand as int8 or uint8

  explicit Requantizer(const Requantization& from) : how(from), rounding(how.zero, how.low, how.high), last(rounding) {
    if (!how.sum) return;
    ownFactors = how.sum->ownFactors;
    addends = how.sum->addends;
    last = Rounding(how.sum->sumZero, how.sum->low, how.sum->high);
    ownFactor = hn::Set(DF(), how.sum->ownFactor);
    otherFactor = hn::Set(DF(), how.sum->otherFactor);
    flip = hn::Set(D32(), how.sum->otherIsSigned ? 128 : 0);
    otherZero = hn::Add(hn::Set(D32(), how.sum->otherZero), flip);
  }

  // Sums of `count` columns. `other`: numbers of 8 bits, or NULL if those of columns are added.
  void run(const int32_t* sums, int64_t count, const uint8_t* other, uint8_t* out) const {
    const D8 d8;
    int64_t n = 0;
    for (; n + kLanes <= count; n += kLanes)
      hn::StoreU(bytes(sums, n, other ? hn::LoadU(d8, other + n) : hn::Zero(d8), other), d8, out + n);
    if (n >= count) return;
    const auto left = static_cast<size_t>(count - n);
    storePartial(bytes(sums, n, other ? loadPartial(d8, other + n, left) : hn::Zero(d8), other), d8, out + n, left);
  }

 private:
  HWY_INLINE hn::Vec<D8> bytes(const int32_t* sums, int64_t n, hn::Vec<D8> other, bool hasOther) const {
    const D32 d;
    const DF df;
    V32 sum = hn::LoadU(d, sums + n);
    if (how.bias) sum = hn::Add(sum, hn::LoadU(d, how.bias + n));
    VF x = hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, how.factors + n));
    if (how.sum)
      x = hn::Add(hn::Mul(rounding.reals(x), hasOther ? ownFactor : hn::LoadU(df, ownFactors + n)),
                  hasOther ? scaled(other) : hn::LoadU(df, addends + n));
    const V32 y = last.integers(x);
    const hn::RebindToUnsigned<D32> du;
    return hn::U8FromU32(hn::And(hn::BitCast(du, y), hn::Set(du, 255)));
  }
  HWY_INLINE VF scaled(hn::Vec<D8> other) const {
    const V32 code = hn::Xor(hn::PromoteTo(D32(), other), flip);
    return hn::Mul(hn::ConvertTo(DF(), hn::Sub(code, otherZero)), otherFactor);
  }
};

void requantize(const int32_t* sums, int64_t count, const Requantization& how, const uint8_t* other, uint8_t* out) {
  Requantizer(how).run(sums, count, other, out);
}

void scaleRow(const int32_t* sums, int64_t count, const Requantization& how, float* out) {
  const D32 d;
  const DF df;
  for (int64_t n = 0; n < count; n += kLanes) {
    V32 sum = hn::LoadU(d, sums + n);
    if (how.bias) sum = hn::Add(sum, hn::LoadU(d, how.bias + n));
    VF x = hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, how.factors + n));
    if (how.addends) x = hn::Add(x, hn::LoadU(df, how.addends + n));
    if (n + kLanes <= count)
      hn::StoreU(x, df, out + n);
    else
      storePartial(x, df, out + n, static_cast<size_t>(count - n));
  }
}

// What bytes leave to add to the sums of row i.
HWY_INLINE V32 withZeroPoints(const IntegerTile& t, int i, int64_t n, V32 sums) {
  const D32 d;
  if (t.rowFactors) sums = hn::Add(sums, hn::Mul(hn::Set(d, t.rowFactors[i]), hn::LoadU(d, t.columnSums + n)));
  if (t.columnFactors) sums = hn::Add(sums, hn::Mul(hn::Set(d, t.rowSums[i]), hn::LoadU(d, t.columnFactors + n)));
  return sums;
}

// The first kUsed vectors of the panel. Within the loop over tiles, registers would be spilled in that over words.
template <class Words, int kRows, int kUsed>
HWY_NOINLINE void multiplyTile(const IntegerTile& t, const Requantizer* requantizer) {
  const D32 d;
  V32 sum[kRows][kUsed];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kUsed; ++j) sum[i][j] = hn::Zero(d);
  const int32_t* b = t.b;
  for (int64_t piece = 0; piece < t.pieces; ++piece) {
    const uint8_t* const* rows = t.rows + piece * t.pieceStride;
    if (!rows[0]) {
      b += t.words * kVectors * kLanes;
      continue;
    }
    for (int64_t k = 0; k < t.words; ++k, b += kVectors * kLanes) {
      V32 columns[kUsed];
      MAX_UNROLL for (int j = 0; j < kUsed; ++j) columns[j] = hn::LoadU(d, b + j * kLanes);
      MAX_UNROLL for (int i = 0; i < kRows; ++i) {
        int32_t word;
        __builtin_memcpy(&word, rows[i] + 4 * k, 4);
        const V32 value = hn::Set(d, word);
        MAX_UNROLL for (int j = 0; j < kUsed; ++j) sum[i][j] = Words::multiply(value, columns[j], sum[i][j]);
      }
    }
  }
  HWY_ALIGN int32_t sums[kRows][kUsed * kLanes];
  MAX_UNROLL for (int i = 0; i < kRows; ++i) MAX_UNROLL for (int j = 0; j < kUsed; ++j)
      hn::Store(withZeroPoints(t, i, j * kLanes, sum[i][j]), d, sums[i] + j * kLanes);
  if (t.reals) {
    for (int i = 0; i < kRows; ++i) scaleRow(sums[i], t.columns, *t.how, t.reals + i * t.outStride);
  } else if (requantizer) {
    for (int i = 0; i < kRows; ++i)
      requantizer->run(sums[i], t.columns, t.other ? t.other + i * t.outStride : nullptr, t.out + i * t.outStride);
  } else {
    for (int i = 0; i < kRows; ++i)
      for (int64_t n = 0; n < t.columns; ++n) t.c[i * t.ldc + n] = sums[i][n];
  }
}

template <class Words, int kRows, int kUsed>
void tile(IntegerTile& t) {
  std::optional<Requantizer> requantizer;
  if (t.how && !t.reals) requantizer.emplace(*t.how);
  for (; t.tiles > 0; --t.tiles, t.advance(kRows))
    multiplyTile<Words, kRows, kUsed>(t, requantizer ? &*requantizer : nullptr);
}

template <class Words, int kUsed>
constexpr std::array<IntegerTileFunction, kMaxIntegerTileRows> tilesOf() {
  std::array<IntegerTileFunction, kMaxIntegerTileRows> tiles = {tile<Words, 1, kUsed>, tile<Words, 2, kUsed>,
                                                                tile<Words, 3, kUsed>, tile<Words, 4, kUsed>};
  if constexpr (kTileRows > 4) tiles[4] = tile<Words, 5, kUsed>, tiles[5] = tile<Words, 6, kUsed>;
  if constexpr (kTileRows > 6) tiles[6] = tile<Words, 7, kUsed>, tiles[7] = tile<Words, 8, kUsed>;
  return tiles;
}

template <class Words>
constexpr IntegerGemmTable tableOf(bool usesBytes) {
  IntegerGemmTable table = {usesBytes,
                            kTileRows,
                            kVectors * static_cast<int>(kLanes),
                            static_cast<int>(kLanes),
                            {tilesOf<Words, 1>(), tilesOf<Words, 2>()},
                            requantize};
  if constexpr (kVectors > 2) table.tiles[2] = tilesOf<Words, 3>();
  return table;
}

}  // namespace

extern const IntegerGemmTable kIntegerGemmTable;
constexpr IntegerGemmTable kIntegerGemmTable = tableOf<Pairs>(false);
#if HWY_TARGET == HWY_AVX2
extern const IntegerGemmTable kByteGemmTable;
constexpr IntegerGemmTable kByteGemmTable = tableOf<Bytes>(true);
#endif

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const IntegerGemmTable& integerGemmTable() {
  if (const TileTables* tiles = tileTables()) return *tiles->bytes;
  return integerVectorTable();
}
const IntegerGemmTable& integerVectorTable() {
#if HWY_TARGETS & HWY_AVX2
  if (cpuTarget() == CpuTarget::Avx2Vnni) return N_AVX2::kByteGemmTable;
#endif
  const IntegerGemmTable& table = MAX_CHOOSE_TARGET(kIntegerGemmTable);
  const IntegerGemmTable* bytes = vnniGemmTable(table);
  return bytes ? *bytes : table;
}
}  // namespace max
#endif
