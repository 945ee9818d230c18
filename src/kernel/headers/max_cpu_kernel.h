// SPDX-License-Identifier: Apache-2.0
// The dialect of kernels on the host. Every source that is compiled for it begins with this header.
//
// A kernel's threads are turns of a loop over threadIdx, into which the compiler inlines the kernel. Where one waits
// (a barrier, a shuffle), the library runs the rest of the loop elsewhere, on another stack, and comes back.
// What this header leaves as it is (__global__, __shared__, __launch_bounds__, __noinline__) the library rewrites.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "max_cpu_abi.h"

#define MAX_KERNEL_ON_CPU 1

#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __constant__ __attribute__((used, visibility("default")))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "max_cpu_types.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
};

// A number that is unsigned for whoever looks at it. Sums and products are made of signed numbers, so that the compiler
// sees that addresses made of them are regular, and turns the loop over threads into vector instructions.
struct __max_index {
  int value;

  __forceinline__ operator unsigned() const { return (unsigned)value; }
};

// For variables that are declared with auto.
template <class T>
static __forceinline__ __max_index& operator+=(__max_index& a, T b) {
  a.value += (int)b;
  return a;
}
template <class T>
static __forceinline__ __max_index& operator-=(__max_index& a, T b) {
  a.value -= (int)b;
  return a;
}
static __forceinline__ __max_index& operator++(__max_index& a) { return a += 1; }
static __forceinline__ __max_index operator++(__max_index& a, int) {
  const __max_index before = a;
  a += 1;
  return before;
}

// With other numbers (0.5f * threadIdx.x, (long long)blockIdx.x * blockDim.x) it is the unsigned number.
#define __max_index_operator(op)                                                                                \
  static __forceinline__ __max_index operator op(__max_index a, __max_index b) { return {a.value op b.value}; } \
  static __forceinline__ __max_index operator op(__max_index a, int b) { return {a.value op b}; }               \
  static __forceinline__ __max_index operator op(int a, __max_index b) { return {a op b.value}; }               \
  static __forceinline__ __max_index operator op(__max_index a, unsigned b) { return {a.value op(int) b}; }     \
  static __forceinline__ __max_index operator op(unsigned a, __max_index b) { return {(int)a op b.value}; }     \
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                                   \
  static __forceinline__ auto operator op(__max_index a, T b) {                                                 \
    return (unsigned)a op b;                                                                                    \
  }                                                                                                             \
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>                                   \
  static __forceinline__ auto operator op(T a, __max_index b) {                                                 \
    return a op(unsigned) b;                                                                                    \
  }                                                                                                             \
  static_assert(true, "for the semicolon")
__max_index_operator(+);
__max_index_operator(-);
__max_index_operator(*);
#undef __max_index_operator

struct __max_index3 {
  __max_index x, y, z;

  operator uint3() const { return {x, y, z}; }
  operator dim3() const { return {x, y, z}; }
};

// A block runs in one thread of the process. No address of these is taken, so stores of a kernel do not alias them.
#define __max_own [[maybe_unused]] static thread_local
__max_own __max_index3 threadIdx, blockIdx, blockDim, gridDim;
__max_own int __max_row;        // threads before the row of the current one
__max_own int __max_row_end;    // x where the loop over threads ends its row
__max_own int __max_end;        // thread at which the loop ends
__max_own bool __max_waited;    // whether the thread that the loop is at has
__max_own void* __max_dynamic;  // dynamic shared memory
[[maybe_unused]] static constexpr int warpSize = 32;

static const MaxCpuRuntime* __max_runtime;

// The threads after the current one are now somebody else's.
struct __max_pause {
  __max_index3 index = threadIdx;
  int row = __max_row;
  int thread = __max_row + threadIdx.x.value;
  int end = __max_end;

  ~__max_pause() {
    threadIdx = index;
    __max_row = row;
    __max_row_end = index.x.value + 1;
    __max_end = thread + 1;
    __max_waited = true;
  }
};

[[maybe_unused]] static __attribute__((noinline)) unsigned long long __max_barrier(int predicate) {
  const __max_pause pause;
  return __max_runtime->barrier(pause.thread, pause.end, predicate);
}

[[maybe_unused]] static __attribute__((noinline)) const MaxCpuWarp* __max_exchange(unsigned mask,
                                                                                   unsigned long long value) {
  const __max_pause pause;
  return __max_runtime->exchange(pause.thread, pause.end, mask, value);
}

static inline void __syncthreads() { __max_barrier(0); }
static inline int __syncthreads_count(int predicate) { return (int)(unsigned)__max_barrier(predicate); }
static inline int __syncthreads_or(int predicate) { return (unsigned)__max_barrier(predicate) != 0; }
static inline int __syncthreads_and(int predicate) {
  const unsigned long long votes = __max_barrier(predicate);
  return (unsigned)votes == (unsigned)(votes >> 32);
}
static inline void __syncwarp(unsigned mask = 0xffffffffu) { __max_exchange(mask, 0); }
static inline unsigned __activemask() { return __max_runtime->liveThreads(__max_row + threadIdx.x.value); }
static inline unsigned __max_lane() { return (unsigned)(__max_row + threadIdx.x.value) % 32; }

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const MaxCpuWarp* warp = __max_exchange(mask, predicate != 0);
  unsigned votes = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (warp->threads >> i & 1) votes |= (unsigned)warp->values[i] << i;
  return votes;
}
static inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
static inline unsigned __ballot(int predicate) { return __ballot_sync(0xffffffffu, predicate); }
static inline int __any(int predicate) { return __any_sync(0xffffffffu, predicate); }
static inline int __all(int predicate) { return __all_sync(0xffffffffu, predicate); }

// The value of lane `from`; of the own lane if that one does not take part.
template <class T>
static inline T __max_take(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= 8, "shuffles take values of at most 8 bytes");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  const MaxCpuWarp* warp = __max_exchange(mask, bits);
  if (warp->threads >> from & 1) memcpy(&value, &warp->values[from], sizeof value);
  return value;
}
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const unsigned lane = __max_lane();
  return __max_take(mask, value, (lane & ~(unsigned)(width - 1)) | ((unsigned)from & (unsigned)(width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = __max_lane();
  return __max_take(mask, value, (lane & (unsigned)(width - 1)) < delta ? lane : lane - delta);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = __max_lane();
  return __max_take(mask, value, (lane & (unsigned)(width - 1)) + delta >= (unsigned)width ? lane : lane + delta);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const unsigned lane = __max_lane(), from = lane ^ (unsigned)bits;
  return __max_take(mask, value, from / (unsigned)width > lane / (unsigned)width ? lane : from);
}
template <class T>
static inline T __shfl(T value, int from, int width = 32) {
  return __shfl_sync(0xffffffffu, value, from, width);
}
template <class T>
static inline T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <class T>
static inline T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
template <class T>
static inline T __shfl_xor(T value, int bits, int width = 32) {
  return __shfl_xor_sync(0xffffffffu, value, bits, width);
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

static inline void __trap() { __max_runtime->trap(__max_row + threadIdx.x.value, "__trap", "", 0); }
#undef assert
#define assert(condition) \
  ((condition) ? (void)0 : __max_runtime->trap(__max_row + threadIdx.x.value, #condition, __FILE__, __LINE__))

#include "max_cpu_atomics.h"
#include "max_cpu_math.h"
#include "max_half.h"

static inline __max_index3 __max_three(const unsigned (&values)[3]) {
  return {{(int)values[0]}, {(int)values[1]}, {(int)values[2]}};
}

// The loop over the threads of a block.
template <class... Parameters>
struct __max_loop {
  static constexpr unsigned long long sizes[sizeof...(Parameters) + 1] = {sizeof(Parameters)..., 0};

  template <void (*kernel)(Parameters...)>
  static __forceinline__ void threads(int begin, Parameters... parameters) {
    const int width = blockDim.x.value, height = blockDim.y.value;
    for (int next = begin; next < __max_end;) {
      const int row = next / width, left = __max_end - row * width;
      __max_row = row * width;
      __max_row_end = left < width ? left : width;
      threadIdx.y.value = row % height;
      threadIdx.z.value = row / height;
      int x = next - row * width;
      for (; x < __max_row_end; ++x) {
        threadIdx.x.value = x;
        kernel(parameters...);
      }
      next = __max_row + x;
    }
  }

  template <void (*kernel)(Parameters...), size_t... number>
  static __forceinline__ void call(int begin, void* const* arguments, std::index_sequence<number...>) {
    threads<kernel>(begin, *static_cast<Parameters*>(arguments[number])...);
  }

  template <void (*kernel)(Parameters...)>
  static void run(MaxCpuBlock* block, [[maybe_unused]] void* const* arguments, unsigned begin, unsigned end,
                  unsigned blocks) {
    gridDim = __max_three(block->grid);
    blockDim = __max_three(block->block);
    blockIdx = __max_three(block->index);
    __max_dynamic = block->shared;
    __max_waited = false;
    while (true) {
      __max_end = (int)end;
      call<kernel>((int)begin, arguments, std::make_index_sequence<sizeof...(Parameters)>());
      if (--blocks == 0 || __max_waited) return;
      blockIdx.x.value = (int)++block->index[0];
    }
  }
};

template <auto kernel>
struct __max_entry {
  static_assert(sizeof(kernel) == 0, "a kernel returns nothing and throws nothing");
};
template <class... Parameters, void (*kernel)(Parameters...)>
struct __max_entry<kernel> {
  static MaxCpuKernel get(int maxThreads) {
    using Loop = __max_loop<Parameters...>;
    return {(const void*)kernel, &Loop::template run<kernel>, Loop::sizes, (int)sizeof...(Parameters), maxThreads};
  }
};
