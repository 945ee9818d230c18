// SPDX-License-Identifier: Apache-2.0
// max.MapBytes: a result for each byte, from a table of 256.
#include <cstring>

#include "ops/cpu/target.h"
#include "ops/families.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX2__))
// GCC 12 takes the undefined operands of these intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define MAX_HAS_BYTE_SHUFFLES 1
#endif

namespace max {

namespace {

using MapFunction = void (*)(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y);

void mapEach(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = table[x[i]];
}

#if MAX_HAS_BYTE_SHUFFLES
#define MAX_AVX2_BYTES __attribute__((target("avx2")))
#define MAX_AVX512_BYTES __attribute__((target("avx512f,avx512bw,avx512vl")))
#define MAX_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

// The last vector, which is not full.
template <class Vector>
void mapRest(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y,
             void (*map)(const uint8_t*, const uint8_t*, int64_t, uint8_t*)) {
  uint8_t bytes[sizeof(Vector)] = {};
  std::memcpy(bytes, x, static_cast<size_t>(count));
  map(bytes, table, sizeof bytes, bytes);
  std::memcpy(y, bytes, static_cast<size_t>(count));
}

// Rows of 16 entries as differences from the row before. A shuffle gives 0 where the top bit is set, so that a byte
// takes part until 16 was subtracted from it too often; what is below then stays below.
struct TableRows {
  __m256i rows[16];

  MAX_AVX2_BYTES explicit TableRows(const uint8_t* table) {
    __m256i before = _mm256_setzero_si256();
    for (int i = 0; i < 16; ++i) {
      if (i == 8) before = _mm256_setzero_si256();
      const __m256i row =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table + i * 16)));
      rows[i] = _mm256_xor_si256(row, before);
      before = row;
    }
  }
  MAX_AVX2_BYTES __m256i mapped(__m256i bytes) const {
    const __m256i sixteen = _mm256_set1_epi8(16);
    __m256i low = bytes, high = _mm256_xor_si256(bytes, _mm256_set1_epi8(-128)), result = _mm256_setzero_si256();
    for (int i = 0; i < 8; ++i) {
      const __m256i both = _mm256_xor_si256(_mm256_shuffle_epi8(rows[i], low), _mm256_shuffle_epi8(rows[i + 8], high));
      result = _mm256_xor_si256(result, both);
      low = _mm256_subs_epi8(low, sixteen);
      high = _mm256_subs_epi8(high, sixteen);
    }
    return result;
  }
};

MAX_AVX2_BYTES void mapShuffled(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y) {
  const TableRows rows(table);
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), rows.mapped(bytes));
  }
  if (i < count) mapRest<__m256i>(x + i, table, count - i, y + i, mapShuffled);
}

// Entries in pairs: a byte without its last bit finds the pair, whose halves that bit chooses from. Even and odd bytes
// are looked up one after the other, in words.
struct TablePairs {
  __m512i pairs[4];

  MAX_AVX512_BYTES explicit TablePairs(const uint8_t* table)
      : pairs{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
              _mm512_loadu_si512(table + 192)} {}
  // Bits of `index` above the sixth are ignored.
  MAX_AVX512_BYTES __m512i pairAt(__m512i index, __mmask32 isHigh) const {
    const __m512i low = _mm512_permutex2var_epi16(pairs[0], index, pairs[1]);
    const __m512i high = _mm512_permutex2var_epi16(pairs[2], index, pairs[3]);
    return _mm512_mask_blend_epi16(isHigh, low, high);
  }
  MAX_AVX512_BYTES __m512i mapped(__m512i x) const {
    const __m512i eight = _mm512_set1_epi16(8);
    const __m512i even = pairAt(_mm512_srli_epi16(x, 1), _mm512_test_epi16_mask(x, _mm512_set1_epi16(128)));
    const __m512i odd = pairAt(_mm512_srli_epi16(x, 9), _mm512_movepi16_mask(x));
    const __m512i low = _mm512_srlv_epi16(even, _mm512_and_si512(_mm512_slli_epi16(x, 3), eight));
    const __m512i high = _mm512_sllv_epi16(odd, _mm512_andnot_si512(_mm512_srli_epi16(x, 5), eight));
    return _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAA, low, high);
  }
};

// Each half of the table is in two registers; the top bit of a byte says which half it means.
struct TableHalves {
  __m512i parts[4];

  MAX_VBMI explicit TableHalves(const uint8_t* table)
      : parts{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
              _mm512_loadu_si512(table + 192)} {}
  MAX_VBMI __m512i mapped(__m512i bytes) const {
    const __m512i low = _mm512_permutex2var_epi8(parts[0], bytes, parts[1]);
    const __m512i high = _mm512_permutex2var_epi8(parts[2], bytes, parts[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
  }
};

#define MAX_MAP_VECTORS(name, target, Table)                                                              \
  target void name(const uint8_t* x, const uint8_t* entries, int64_t count, uint8_t* y) {                 \
    const Table table(entries);                                                                           \
    int64_t i = 0;                                                                                        \
    for (; i + 64 <= count; i += 64) _mm512_storeu_si512(y + i, table.mapped(_mm512_loadu_si512(x + i))); \
    if (i == count) return;                                                                               \
    const __mmask64 left = (uint64_t{1} << (count - i)) - 1;                                              \
    _mm512_mask_storeu_epi8(y + i, left, table.mapped(_mm512_maskz_loadu_epi8(left, x + i)));             \
  }
MAX_MAP_VECTORS(mapPairs, MAX_AVX512_BYTES, TablePairs)
MAX_MAP_VECTORS(mapHalves, MAX_VBMI, TableHalves)
#endif

MapFunction mapFunction() {
#if MAX_HAS_BYTE_SHUFFLES
  if (cpuTarget() >= CpuTarget::Avx512Vnni && __builtin_cpu_supports("avx512vbmi")) return mapHalves;
  if (cpuTarget() >= CpuTarget::Avx512) return mapPairs;
  if (cpuTarget() >= CpuTarget::Avx2) return mapShuffled;
#endif
  return mapEach;
}

class MapBytesOp final : public OpKernel {
 public:
  explicit MapBytesOp(const OpRequest& request) : map_(mapFunction()), count_(request.inputs[0].shape.count()) {}
  int inPlaceInput() const override { return 0; }
  void run(const OpContext& context) const override {
    constexpr int64_t kGrain = 1 << 16;
    context.parallelFor(count_, kGrain, [&](int64_t begin, int64_t end, int) {
      map_(context.in<uint8_t>(0) + begin, context.in<uint8_t>(1), end - begin, context.out<uint8_t>() + begin);
    });
  }

 private:
  MapFunction map_;
  int64_t count_;
};

constexpr Implementation kMap[] = {
    {"bytes", [](const OpRequest&) { return true; },
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<MapBytesOp>(request); }}};

const OpRow kRows[] = {{kMaxDomain, "MapBytes", kMap}};

}  // namespace

std::span<const OpRow> mapBytesOps() { return kRows; }

}  // namespace max
