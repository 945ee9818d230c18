// SPDX-License-Identifier: Apache-2.0
// What CUDA's dialect has and HIPRTC lacks. A warp has 32 lanes on all chips: a wavefront of 64 lanes is two warps.
// Wavefronts run in step, so the _sync functions need not wait for the lanes in their mask, but tell them from others
// that are here with another mask. Macros, since HIPRTC declares functions with these names.
#pragma once

// A source may have a variable of its own with this name.
static constexpr int maxWarpSize = 32;
#define warpSize maxWarpSize

static inline __device__ unsigned maxLane() { return (unsigned)__lane_id() & 31u; }

// This warp's part of a vote of the wavefront.
static inline __device__ unsigned maxVotes(unsigned long long wavefront) {
  return (unsigned)(wavefront >> ((unsigned)__lane_id() & 32u));
}
#define __activemask() maxVotes(__ballot64(1))
#define __ballot_sync(mask, predicate) (maxVotes(__ballot64(predicate)) & (unsigned)(mask))
#define __any_sync(mask, predicate) ((int)(__ballot_sync(mask, predicate) != 0))
#define __all_sync(mask, predicate) ((int)(__ballot_sync(mask, !(predicate)) == 0))
#define __ballot(predicate) __ballot_sync(0xffffffffu, predicate)
#define __any(predicate) __any_sync(0xffffffffu, predicate)
#define __all(predicate) __all_sync(0xffffffffu, predicate)

// The value of a lane of this warp.
template <class T>
static inline __device__ T maxTake(T value, unsigned lane) {
  const int address = (int)(4 * (((unsigned)__lane_id() & 32u) | lane));
  int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof value);
  for (int& word : words) word = __builtin_amdgcn_ds_bpermute(address, word);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}
static inline __device__ unsigned maxLaneIn(unsigned width, int from) {
  return (maxLane() & ~(width - 1)) | ((unsigned)from & (width - 1));
}
static inline __device__ unsigned maxLaneBefore(unsigned width, unsigned delta) {
  return (maxLane() & (width - 1)) < delta ? maxLane() : maxLane() - delta;
}
static inline __device__ unsigned maxLaneAfter(unsigned width, unsigned delta) {
  return (maxLane() & (width - 1)) + delta >= width ? maxLane() : maxLane() + delta;
}
static inline __device__ unsigned maxLaneAcross(unsigned width, unsigned bits) {
  return (maxLane() ^ bits) / width > maxLane() / width ? maxLane() : maxLane() ^ bits;
}

// Functions of each type, as CUDA has them: numbers of threads are objects here, which a template would take as such.
#define MAX_HIP_SHUFFLES(T)                                                         \
  static inline __device__ T maxShuffle(T value, int from, int width = 32) {        \
    return maxTake(value, maxLaneIn((unsigned)width, from));                        \
  }                                                                                 \
  static inline __device__ T maxShuffleUp(T value, unsigned by, int width = 32) {   \
    return maxTake(value, maxLaneBefore((unsigned)width, by & 31u));                \
  }                                                                                 \
  static inline __device__ T maxShuffleDown(T value, unsigned by, int width = 32) { \
    return maxTake(value, maxLaneAfter((unsigned)width, by & 31u));                 \
  }                                                                                 \
  static inline __device__ T maxShuffleXor(T value, int bits, int width = 32) {     \
    return maxTake(value, maxLaneAcross((unsigned)width, (unsigned)bits & 31u));    \
  }
MAX_HIP_SHUFFLES(int)
MAX_HIP_SHUFFLES(unsigned)
MAX_HIP_SHUFFLES(long)
MAX_HIP_SHUFFLES(unsigned long)
MAX_HIP_SHUFFLES(long long)
MAX_HIP_SHUFFLES(unsigned long long)
MAX_HIP_SHUFFLES(float)
MAX_HIP_SHUFFLES(double)
#define __shfl_sync(mask, ...) maxShuffle(__VA_ARGS__)
#define __shfl_up_sync(mask, ...) maxShuffleUp(__VA_ARGS__)
#define __shfl_down_sync(mask, ...) maxShuffleDown(__VA_ARGS__)
#define __shfl_xor_sync(mask, ...) maxShuffleXor(__VA_ARGS__)
#define __shfl(...) maxShuffle(__VA_ARGS__)
#define __shfl_up(...) maxShuffleUp(__VA_ARGS__)
#define __shfl_down(...) maxShuffleDown(__VA_ARGS__)
#define __shfl_xor(...) maxShuffleXor(__VA_ARGS__)

#include "max_warp.h"

static inline __device__ void maxSyncWavefront() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define __syncwarp(...) maxSyncWavefront()

// By the word that has it. A template, for which a function of HIP's would go first.
template <int = 0>
static inline __device__ unsigned short atomicCAS(unsigned short* address, unsigned short expected,
                                                  unsigned short value) {
  unsigned* word = (unsigned*)((size_t)address & ~(size_t)3);
  const unsigned shift = ((size_t)address & 2u) * 8;
  unsigned before = *(volatile unsigned*)word;
  while ((unsigned short)(before >> shift) == expected) {
    const unsigned seen = atomicCAS(word, before, (before & ~(0xffffu << shift)) | (unsigned)value << shift);
    if (seen == before) break;
    before = seen;
  }
  return (unsigned short)(before >> shift);
}

static inline __device__ int maxFindFirst(long long bits) { return __builtin_ffsll(bits); }
#define __ffsll maxFindFirst

// Bytes, signed or not, multiplied and added.
#define MAX_HIP_DOT(T, Byte)                                                      \
  static inline __device__ T maxDot4(T a, T b, T sum) {                           \
    for (int i = 0; i < 32; i += 8) sum += (T)(Byte)(a >> i) * (T)(Byte)(b >> i); \
    return sum;                                                                   \
  }
MAX_HIP_DOT(int, signed char)
MAX_HIP_DOT(unsigned, unsigned char)
#undef MAX_HIP_DOT
#define __dp4a maxDot4

#define __trap() __builtin_trap()
#define __nanosleep(nanoseconds) __builtin_amdgcn_s_sleep(1)
#define atomicAdd_block atomicAdd
#define atomicExch_block atomicExch
#define atomicCAS_block atomicCAS
#define atomicMin_block atomicMin
#define atomicMax_block atomicMax

#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
