// SPDX-License-Identifier: Apache-2.0
// max.MapBytes: a result for each byte, from a table of 256.
#include "ops/cpu/target.h"
#include "ops/families.h"

#if defined(__x86_64__) && (!defined(MAX_ONE_KERNEL_TARGET) || defined(__AVX512BW__))
// GCC 12 takes the undefined operands of these intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define MAX_HAS_BYTE_PERMUTATION 1
#endif

namespace max {

namespace {

using MapFunction = void (*)(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y);

void mapEach(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = table[x[i]];
}

#if MAX_HAS_BYTE_PERMUTATION
#define MAX_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

// Each half of the table is in two registers; the top bit of a byte says which half it means.
MAX_VBMI inline __m512i mapped(const __m512i (&parts)[4], __m512i bytes) {
  const __m512i low = _mm512_permutex2var_epi8(parts[0], bytes, parts[1]);
  const __m512i high = _mm512_permutex2var_epi8(parts[2], bytes, parts[3]);
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
}

MAX_VBMI void mapVectors(const uint8_t* x, const uint8_t* table, int64_t count, uint8_t* y) {
  const __m512i parts[] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
                           _mm512_loadu_si512(table + 192)};
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) _mm512_storeu_si512(y + i, mapped(parts, _mm512_loadu_si512(x + i)));
  if (i == count) return;
  const __mmask64 left = (uint64_t{1} << (count - i)) - 1;
  _mm512_mask_storeu_epi8(y + i, left, mapped(parts, _mm512_maskz_loadu_epi8(left, x + i)));
}
#endif

MapFunction mapFunction() {
#if MAX_HAS_BYTE_PERMUTATION
  if (cpuTarget() >= CpuTarget::Avx512Vnni && __builtin_cpu_supports("avx512vbmi")) return mapVectors;
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
