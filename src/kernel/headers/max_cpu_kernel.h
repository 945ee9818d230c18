// SPDX-License-Identifier: Apache-2.0
// The dialect of kernels on the host. Every source that is compiled for it begins with this header.
//
// A kernel's threads are iterations of a loop over threadIdx, into which the compiler inlines the kernel. Where one
// waits (a barrier, a shuffle), the library runs the rest of the loop elsewhere, on another stack, and comes back. The
// library rewrites what this header does not define (__global__, __shared__, __launch_bounds__, __noinline__, and
// __max_place, a number for each place in the source).
#pragma once
#pragma GCC system_header  // sources may enable any warnings

// Includes nothing from the C library: kernels may use its names freely, as on accelerators.
#include "max_cpu_abi.h"

#define MAX_KERNEL_ON_CPU 1

#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __constant__ __attribute__((used, visibility("default")))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __maxnreg__(registers)

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;

extern "C" {
int printf(const char* format, ...);
void* malloc(size_t bytes) noexcept;
void free(void* memory) noexcept;
void* memcpy(void* to, const void* from, size_t bytes) noexcept;
void* memmove(void* to, const void* from, size_t bytes) noexcept;
void* memset(void* to, int value, size_t bytes) noexcept;
int memcmp(const void* a, const void* b, size_t bytes) noexcept;
}

// Templates, so that those of <new> take precedence if a source includes it.
template <class T>
inline void* operator new(size_t, T* place) noexcept {
  return place;
}
template <class T>
inline void* operator new[](size_t, T* place) noexcept {
  return place;
}

// In place of <type_traits>.
template <class T>
inline constexpr bool __max_is_integer = false;
template <class T>
inline constexpr bool __max_is_real = false;
#define __max_integer(T) \
  template <>            \
  inline constexpr bool __max_is_integer<T> = true;
__max_integer(bool);
__max_integer(char);
__max_integer(signed char);
__max_integer(unsigned char);
__max_integer(short);
__max_integer(unsigned short);
__max_integer(int);
__max_integer(unsigned);
__max_integer(long);
__max_integer(unsigned long);
__max_integer(long long);
__max_integer(unsigned long long);
#undef __max_integer

template <>
inline constexpr bool __max_is_real<float> = true;
template <>
inline constexpr bool __max_is_real<double> = true;
template <class T>
inline constexpr bool __max_is_number = __max_is_integer<T> || __max_is_real<T>;
template <bool condition>
struct __max_condition {};
template <>
struct __max_condition<true> {
  using type = int;
};
template <bool condition>
using __max_if = typename __max_condition<condition>::type;

#include "max_cpu_types.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
};

// The compiler may rely on it.
#define __max_assume(condition)                \
  do {                                         \
    if (!(condition)) __builtin_unreachable(); \
  } while (0)

// A number that looks unsigned to users. Sums and products are signed, so that the compiler sees that addresses
// computed from them are regular and vectorises the loop over threads. Arithmetic that looks like hashing or random
// numbers, which overflows on purpose, is unsigned.
struct __max_number {
  int value;

  __forceinline__ operator unsigned() const { return (unsigned)value; }
  template <class T, __max_if<__max_is_number<T>> = 0>
  __forceinline__ __max_number& operator=(T other) {
    value = (int)(unsigned)other;
    return *this;
  }
};

// A number in threadIdx and the like.
struct __max_index : __max_number {
  using __max_number::operator=;
};

// Constants this large are not steps of addresses.
#define __max_is_large(x) (__builtin_constant_p(x) && ((x) > 0xffff || (x) < -0xffff))

static __forceinline__ __max_number __max_sum(int a, int b) {
  return {__max_is_large(a) || __max_is_large(b) ? (int)((unsigned)a + (unsigned)b) : a + b};
}
static __forceinline__ __max_number __max_difference(int a, int b) {
  return {__max_is_large(a) || __max_is_large(b) ? (int)((unsigned)a - (unsigned)b) : a - b};
}
static __forceinline__ __max_number __max_product(int a, int b) {
  return {__max_is_large(a) || __max_is_large(b) ? (int)((unsigned)a * (unsigned)b) : a * b};
}

// With other numbers (0.5f * threadIdx.x, (long long)blockIdx.x * blockDim.x) it is the unsigned number.
#define __max_number_operator(op, function)                                                                         \
  static __forceinline__ __max_number operator op(__max_number a, __max_number b) {                                 \
    return function(a.value, b.value);                                                                              \
  }                                                                                                                 \
  static __forceinline__ __max_number operator op(__max_number a, int b) { return function(a.value, b); }           \
  static __forceinline__ __max_number operator op(int a, __max_number b) { return function(a, b.value); }           \
  static __forceinline__ __max_number operator op(__max_number a, unsigned b) { return function(a.value, (int)b); } \
  static __forceinline__ __max_number operator op(unsigned a, __max_number b) { return function((int)a, b.value); } \
  template <class T, __max_if<__max_is_number<T>> = 0>                                                              \
  static __forceinline__ auto operator op(__max_number a, T b) {                                                    \
    return (unsigned)a op b;                                                                                        \
  }                                                                                                                 \
  template <class T, __max_if<__max_is_number<T>> = 0>                                                              \
  static __forceinline__ auto operator op(T a, __max_number b) {                                                    \
    return a op(unsigned) b;                                                                                        \
  }                                                                                                                 \
  static_assert(true, "for the semicolon")
__max_number_operator(+, __max_sum);
__max_number_operator(-, __max_difference);
__max_number_operator(*, __max_product);
#undef __max_number_operator

// The first thread of a block, as a rule. Knowing that adding a thread does not overflow makes addresses from unsigned
// numbers regular.
static __forceinline__ __max_number operator*(__max_index a, __max_index b) {
  const int product = a.value * b.value;
  __max_assume(product >= 0 && product <= __INT_MAX__ - 1024);
  return {product};
}

// For variables that are declared with auto.
#define __max_number_assignment(op)                                           \
  template <class T>                                                          \
  static __forceinline__ __max_number& operator op##=(__max_number& a, T b) { \
    return a = a op b;                                                        \
  }
__max_number_assignment(+);
__max_number_assignment(-);
__max_number_assignment(*);
__max_number_assignment(/);
__max_number_assignment(%);
__max_number_assignment(&);
__max_number_assignment(|);
__max_number_assignment(^);
__max_number_assignment(<<);
__max_number_assignment(>>);
#undef __max_number_assignment

static __forceinline__ __max_number& operator++(__max_number& a) { return a += 1; }
static __forceinline__ __max_number& operator--(__max_number& a) { return a -= 1; }
static __forceinline__ __max_number operator++(__max_number& a, int) {
  const __max_number before = a;
  a += 1;
  return before;
}
static __forceinline__ __max_number operator--(__max_number& a, int) {
  const __max_number before = a;
  a -= 1;
  return before;
}

struct __max_index3 {
  __max_index x, y, z;

  operator uint3() const { return {x, y, z}; }
  operator dim3() const { return {x, y, z}; }
};

// A block runs in one thread of the process. No address of these is taken, so stores of a kernel do not alias them.
#define __max_own [[maybe_unused]] static thread_local
__max_own __max_index3 threadIdx, blockIdx, blockDim, gridDim;
__max_own int __max_row;        // threads before the row of the current one
__max_own int __max_row_end;    // x at which the loop over threads ends its row
__max_own int __max_end;        // thread at which the loop ends
__max_own bool __max_waited;    // whether the loop's current thread has
__max_own void* __max_dynamic;  // dynamic shared memory
[[maybe_unused]] static constexpr int warpSize = 32;

static const MaxCpuRuntime* __max_runtime;
extern "C" const MaxCpuLibrary* maxCpuLibrary();

// The threads after the current one now run elsewhere.
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
[[maybe_unused]] static __attribute__((noinline)) const MaxCpuWarp* __max_meet(int place, unsigned long long value) {
  const __max_pause pause;
  return __max_runtime->meet(pause.thread, pause.end, place, value);
}
#define __activemask() ((unsigned)__max_meet(__max_place, 0)->threads)
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
// Without a mask, all active threads take part.
#define __ballot(predicate) __ballot_sync(__activemask(), predicate)
#define __any(predicate) __any_sync(__activemask(), predicate)
#define __all(predicate) __all_sync(__activemask(), predicate)

// The value of lane `from`; of this lane if that one does not take part. This
// lane's value may be uninitialised, as in "if (lane == 0) x = ...; x =
// __shfl_sync(mask, x, 0);": so it is passed by reference, to keep the compiler from exploiting that.
template <class T>
static inline T __max_take(unsigned mask, const T& value, unsigned from) {
  static_assert(sizeof(T) <= 8, "shuffles take values of at most 8 bytes");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  __asm__("" : "+r"(bits));
  const MaxCpuWarp* warp = __max_exchange(mask, bits);
  if (warp->threads >> from & 1) bits = warp->values[from];
  T result;
  memcpy(&result, &bits, sizeof result);
  return result;
}
template <class T>
static inline T __shfl_sync(unsigned mask, const T& value, int from, int width = 32) {
  const unsigned lane = __max_lane();
  return __max_take(mask, value, (lane & ~(unsigned)(width - 1)) | ((unsigned)from & (unsigned)(width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, const T& value, unsigned delta, int width = 32) {
  const unsigned lane = __max_lane(), by = delta % 32;
  return __max_take(mask, value, (lane & (unsigned)(width - 1)) < by ? lane : lane - by);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, const T& value, unsigned delta, int width = 32) {
  const unsigned lane = __max_lane(), by = delta % 32;
  return __max_take(mask, value, (lane & (unsigned)(width - 1)) + by >= (unsigned)width ? lane : lane + by);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, const T& value, int bits, int width = 32) {
  const unsigned lane = __max_lane(), from = lane ^ ((unsigned)bits % 32);
  return __max_take(mask, value, from / (unsigned)width > lane / (unsigned)width ? lane : from);
}
#define __shfl(...) __shfl_sync(__activemask(), __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(__activemask(), __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(__activemask(), __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(__activemask(), __VA_ARGS__)

// The threads with the same value.
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value) {
  static_assert(sizeof(T) <= 8, "values that are compared have at most 8 bytes");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  const MaxCpuWarp* warp = __max_exchange(mask, bits);
  unsigned equal = 0;
  for (unsigned i = 0; i < 32; ++i) equal |= (unsigned)(warp->threads >> i & 1 && warp->values[i] == bits) << i;
  return equal;
}
template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int* all) {
  static_assert(sizeof(T) <= 8, "values that are compared have at most 8 bytes");
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof value);
  const MaxCpuWarp* warp = __max_exchange(mask, bits);
  *all = 1;
  for (unsigned i = 0; i < 32; ++i)
    if (warp->threads >> i & 1 && warp->values[i] != bits) *all = 0;
  return *all ? mask : 0;
}

#define __max_reduction(name, T, change)                            \
  static inline T name(unsigned mask, T value) {                    \
    const MaxCpuWarp* warp = __max_exchange(mask, (unsigned)value); \
    const unsigned own = __max_lane();                              \
    T a = value;                                                    \
    for (unsigned i = 0; i < 32; ++i) {                             \
      const T b = (T)(unsigned)warp->values[i];                     \
      if (i != own && warp->threads >> i & 1) a = (T)(change);      \
    }                                                               \
    return a;                                                       \
  }
__max_reduction(__reduce_add_sync, unsigned, a + b);
__max_reduction(__reduce_add_sync, int, (unsigned)a + (unsigned)b);
__max_reduction(__reduce_min_sync, unsigned, b < a ? b : a);
__max_reduction(__reduce_min_sync, int, b < a ? b : a);
__max_reduction(__reduce_max_sync, unsigned, a < b ? b : a);

__max_reduction(__reduce_max_sync, int, a < b ? b : a);
__max_reduction(__reduce_and_sync, unsigned, a& b);
__max_reduction(__reduce_or_sync, unsigned, a | b);
__max_reduction(__reduce_xor_sync, unsigned, a ^ b);
#undef __max_reduction

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Ticks of a steady clock.
static inline long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  unsigned long long ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return (long long)ticks;
#endif
}
template <int = 0>
static inline clock_t clock() {
  return (clock_t)clock64();
}
static inline void __nanosleep(unsigned) {}

static inline void __max_stop(const char* reason, const char* file, int line) {
  __max_runtime->trap((unsigned)(__max_row + threadIdx.x.value), reason, file, line);
}
static inline void __trap() { __max_stop("__trap", "", 0); }
#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#endif
#define assert(...) ((__VA_ARGS__) ? (void)0 : __max_stop(#__VA_ARGS__, __FILE__, __LINE__))

#include "max_cpu_atomics.h"
#include "max_cpu_math.h"

static inline __max_index3 __max_three(const unsigned (&values)[3]) {
  return {{{(int)values[0]}}, {{(int)values[1]}}, {{(int)values[2]}}};
}

// The numbers of the parameters.
template <int... number>
struct __max_numbers {};
template <int count, int... number>
struct __max_count : __max_count<count - 1, count - 1, number...> {};
template <int... number>
struct __max_count<0, number...> {
  using type = __max_numbers<number...>;
};

template <class T>
inline constexpr unsigned char __max_pointer = 0;
template <class T>
inline constexpr unsigned char __max_pointer<T*> = 2;
template <class T>
inline constexpr unsigned char __max_pointer<const T*> = 1;

// The loop over the threads of a block.
template <class... Parameters>
struct __max_loop {
  static constexpr unsigned long long sizes[sizeof...(Parameters) + 1] = {sizeof(Parameters)..., 0};
  static constexpr unsigned char pointers[sizeof...(Parameters) + 1] = {__max_pointer<Parameters>..., 0};

  // Each runs threads of one row, from x on, and returns where it ended.
  template <void (*kernel)(Parameters...)>
  struct Row {
    __forceinline__ int run(int x, Parameters... parameters) const {
      for (; x < __max_row_end; ++x) {
        __max_assume(x >= 0 && x < 1024);
        threadIdx.x.value = x;
        kernel(parameters...);
      }
      return x;
    }
  };

  // Counted as most kernels count them: GCC splits the loop where "if (i < n)" is no longer true, and makes vector code
  // without conditions of the first part. Not for blocks where that number overflows.
  template <void (*kernel)(Parameters...)>
  struct CountedRow {
    __forceinline__ int run(int x, Parameters... parameters) const {
      const int base = blockIdx.x.value * blockDim.x.value;
      __max_assume(base >= 0 && base <= __INT_MAX__ - 1024);
      int at = base + x;
      for (; at < base + __max_row_end; ++at) {
        x = at - base;
        __max_assume(x >= 0 && x < 1024 && at >= 0);
        threadIdx.x.value = x;
        kernel(parameters...);
      }
      return at - base;
    }
  };

  // For all kernels with these parameters: small but slow.
  struct CalledRow {
    void (*volatile kernel)(Parameters...);

    int run(int x, Parameters... parameters) const {
      for (; x < __max_row_end; ++x) {
        threadIdx.x.value = x;
        kernel(parameters...);
      }
      return x;
    }
  };

  template <class Rows>
  static __forceinline__ void threads(const Rows& rows, int begin, Parameters... parameters) {
    const int width = blockDim.x.value, height = blockDim.y.value;
    // A fiber usually begins at the first thread: then no division is needed.
    int number = begin == 0 ? 0 : begin / width;
    int y = begin == 0 ? 0 : number % height, z = begin == 0 ? 0 : number / height;
    int x = begin - number * width;
    while (true) {
      const int left = __max_end - number * width;
      const int end = left < width ? left : width;
      __max_assume(end <= 1024 && x >= 0);
      __max_row = number * width;
      __max_row_end = end;
      threadIdx.y.value = y;
      threadIdx.z.value = z;
      x = rows.run(x, parameters...);
      if (number * width + x >= __max_end) return;
      x = 0;
      ++number;
      if (++y == height) y = 0, ++z;
    }
  }

  template <class Rows, int... number>
  static __forceinline__ void call(const Rows& rows, int begin, void* const* arguments, __max_numbers<number...>) {
    threads(rows, begin, *static_cast<Parameters*>(arguments[number])...);
  }

  template <class Rows>
  static __forceinline__ void blocks(const Rows& rows, MaxCpuBlock* block, [[maybe_unused]] void* const* arguments,
                                     unsigned begin, unsigned end, unsigned count) {
    gridDim = __max_three(block->grid);
    blockDim = __max_three(block->block);
    blockIdx = __max_three(block->index);
    __max_dynamic = block->shared;
    __max_waited = false;
    while (true) {
      __max_end = (int)end;
      call(rows, (int)begin, arguments, typename __max_count<sizeof...(Parameters)>::type());
      if (--count == 0 || __max_waited) return;
      blockIdx.x.value = (int)++block->index[0];
    }
  }

  static __attribute__((noinline, cold)) void runWide(void (*kernel)(Parameters...), MaxCpuBlock* block,
                                                      void* const* arguments, unsigned begin, unsigned end,
                                                      unsigned count) {
    blocks(CalledRow{kernel}, block, arguments, begin, end, count);
  }

  template <void (*kernel)(Parameters...)>
  static void run(MaxCpuBlock* block, void* const* arguments, unsigned begin, unsigned end, unsigned count) {
#if defined(__clang__)
    blocks(Row<kernel>(), block, arguments, begin, end, count);
#else
    if (((unsigned long long)block->index[0] + count) * block->block[0] > __INT_MAX__ - 1024)
      return runWide(kernel, block, arguments, begin, end, count);
    blocks(CountedRow<kernel>(), block, arguments, begin, end, count);
#endif
  }
};

template <class Function>
inline constexpr bool __max_is_kernel = false;
template <class... Parameters>
inline constexpr bool __max_is_kernel<void (*)(Parameters...)> = true;
template <class... Parameters>
inline constexpr bool __max_is_kernel<void (*)(Parameters...) noexcept> = true;

template <class T>
inline constexpr bool __max_is_value = true;
template <class T>
inline constexpr bool __max_is_value<T&> = false;
template <class T>
inline constexpr bool __max_is_value<T&&> = false;
template <class Function>
inline constexpr bool __max_takes_values = true;
template <class Result, class... Parameters>
inline constexpr bool __max_takes_values<Result (*)(Parameters...)> = (true && ... && __max_is_value<Parameters>);

template <auto kernel>
struct __max_entry;
template <class... Parameters, void (*kernel)(Parameters...)>
struct __max_entry<kernel> {
  static MaxCpuKernel get(int maxThreads) {
    using Loop = __max_loop<Parameters...>;
    return {(const void*)kernel, &Loop::template run<kernel>, Loop::sizes, (int)sizeof...(Parameters), maxThreads,
            Loop::pointers};
  }
};
