// SPDX-License-Identifier: Apache-2.0
// AMD's wavefronts on the host: what the library's max_hip.h is made of. A lane sees the lanes of its wavefront that
// are at the same place in the source; others are inactive, which a vote leaves out and a permutation reads as 0.
#pragma once

namespace fake {

// FAKE_LANES = of a wavefront. Follows the host's dialect, whose warps it replaces.
inline constexpr char kWavefront[] = R"(
#pragma once
#pragma GCC system_header
static inline unsigned __lane_id() { return (unsigned)(__max_row + threadIdx.x.value) % FAKE_LANES; }
static inline unsigned long long fakeVote(int place, int predicate) {
  const MaxCpuWarp* wavefront = __max_meet(place, predicate != 0);
  unsigned long long votes = 0;
  for (unsigned i = 0; i < FAKE_LANES; ++i)
    if (wavefront->threads >> i & 1) votes |= wavefront->values[i] << i;
  return votes;
}
static inline int fakePermute(int place, int address, int word) {
  const MaxCpuWarp* wavefront = __max_meet(place, (unsigned)word);
  const unsigned from = (unsigned)address / 4 % FAKE_LANES;
  return wavefront->threads >> from & 1 ? (int)(unsigned)wavefront->values[from] : 0;
}
#define __ballot64(predicate) fakeVote(__max_place, predicate)
#define __builtin_amdgcn_ds_bpermute(address, word) fakePermute(__max_place, address, word)
#define __builtin_amdgcn_wave_barrier() ((void)__max_meet(__max_place, 0))
#define __builtin_amdgcn_fence(order, scope) __atomic_thread_fence(order)
#define __builtin_amdgcn_s_sleep(amount) ((void)0)
#undef __ballot
#undef __any
#undef __all
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __activemask
)";

// MFMA: the factors of a wavefront's lanes, 8 or 4 bytes of each, come together.
inline constexpr char kMatrices[] = R"(
#pragma once
#if FAKE_LANES == 64
#define MAX_MMA_VECTORS
typedef short MaxMmaHalves __attribute__((vector_size(8)));
typedef short MaxMmaShorts __attribute__((vector_size(8)));
typedef float MaxMmaFloats __attribute__((vector_size(16)));
typedef int MaxMmaInts __attribute__((vector_size(16)));
static inline float fakeHalf(unsigned long long word, int i) {
  const unsigned bits = (unsigned)(word >> 16 * i & 0xffff), rest = bits & 0x7fff;
  const float magnitude = rest < 0x400u ? (float)rest * 0x1p-24f
                          : __uint_as_float(rest >= 0x7c00u ? 0x7f800000u | rest << 13 : (rest << 13) + 0x38000000u);
  return bits & 0x8000u ? -magnitude : magnitude;
}
static inline float fakeBfloat(unsigned long long word, int i) { return __uint_as_float((unsigned)(word >> 16 * i) << 16); }
static inline float fakeFloat(unsigned long long word, int) { return __uint_as_float((unsigned)word); }
static inline int fakeByte(unsigned long long word, int i) { return (signed char)(word >> 8 * i); }
template <int kCount, class Vector, class Factor, class Value>
static inline Vector fakeProduct(int first, int second, Factor a, Factor b, Vector sums, Value value) {
  unsigned long long words[2] = {}, left[4][4];
  memcpy(&words[0], &a, sizeof a);
  memcpy(&words[1], &b, sizeof b);
  const int lane = (int)__lane_id();
  const MaxCpuWarp* wavefront = __max_meet(first, words[0]);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k) left[i][k] = wavefront->values[16 * k + lane / 16 * 4 + i];
  wavefront = __max_meet(second, words[1]);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      for (int e = 0; e < kCount; ++e) sums[i] += value(left[i][k], e) * value(wavefront->values[16 * k + lane % 16], e);
  return sums;
}
#define __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, x, y, z) fakeProduct<4>(__max_place, __max_place, a, b, c, fakeHalf)
#define __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, x, y, z) fakeProduct<4>(__max_place, __max_place, a, b, c, fakeBfloat)
#define __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, x, y, z) fakeProduct<1>(__max_place, __max_place, a, b, c, fakeFloat)
#define __builtin_amdgcn_mfma_i32_16x16x16i8(a, b, c, x, y, z) fakeProduct<4>(__max_place, __max_place, a, b, c, fakeByte)
#endif
)";

// What the host ends a kernel with, in place of AMD's.
inline constexpr char kHostTraps[] = R"(
#undef __trap
static inline void fakeTrap() { __max_stop("__trap", "", 0); }
#define __trap() fakeTrap()
)";

}  // namespace fake
