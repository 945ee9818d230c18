// SPDX-License-Identifier: Apache-2.0
// What CUDA's dialect has and HIPRTC lacks. Wavefronts run in step or carry their masks, so the _sync functions need
// not wait for the lanes in their mask. Macros, since later versions declare functions with these names.
#pragma once

#define __shfl_sync(mask, ...) __shfl(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) __shfl_up(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) __shfl_down(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)
#define __any_sync(mask, predicate) __any(predicate)
#define __all_sync(mask, predicate) __all(predicate)
#define __ballot_sync(mask, predicate) __ballot(predicate)
#define __activemask() __ballot(1)
#define __syncwarp(...) maxSyncWavefront()
#define __trap() __builtin_trap()
#define __nanosleep(nanoseconds) __builtin_amdgcn_s_sleep(1)
#define atomicAdd_block atomicAdd
#define atomicExch_block atomicExch
#define atomicCAS_block atomicCAS
#define atomicMin_block atomicMin
#define atomicMax_block atomicMax

static inline __device__ void maxSyncWavefront() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
