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

// What the host ends a kernel with, in place of AMD's.
inline constexpr char kHostTraps[] = R"(
#undef __trap
static inline void fakeTrap() { __max_stop("__trap", "", 0); }
#define __trap() fakeTrap()
)";

}  // namespace fake
