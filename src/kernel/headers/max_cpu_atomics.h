// SPDX-License-Identifier: Apache-2.0
// Atomic functions: relaxed, as on accelerators. All return the previous value.
#pragma once
#pragma GCC system_header  // sources may enable any warnings

// By compare-and-swap, for operations without a processor instruction.
template <class T, class Word, class Change>
static inline T __max_swap(T* address, Change change) {
  static_assert(sizeof(T) == sizeof(Word), "");
  Word* words = (Word*)address;
  Word before = __atomic_load_n(words, __ATOMIC_RELAXED), after;
  T value;
  do {
    memcpy(&value, &before, sizeof value);
    const T changed = change(value);
    memcpy(&after, &changed, sizeof after);
  } while (!__atomic_compare_exchange_n(words, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return value;
}

#define __max_atomics(T)                                                                                            \
  static inline T atomicAdd(T* address, T value) { return __atomic_fetch_add(address, value, __ATOMIC_RELAXED); }   \
  static inline T atomicSub(T* address, T value) { return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED); }   \
  static inline T atomicAnd(T* address, T value) { return __atomic_fetch_and(address, value, __ATOMIC_RELAXED); }   \
  static inline T atomicOr(T* address, T value) { return __atomic_fetch_or(address, value, __ATOMIC_RELAXED); }     \
  static inline T atomicXor(T* address, T value) { return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED); }   \
  static inline T atomicExch(T* address, T value) { return __atomic_exchange_n(address, value, __ATOMIC_RELAXED); } \
  static inline T atomicCAS(T* address, T expected, T value) {                                                      \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);              \
    return expected;                                                                                                \
  }                                                                                                                 \
  static inline T atomicMin(T* address, T value) {                                                                  \
    return __max_swap<T, T>(address, [=](T old) { return value < old ? value : old; });                             \
  }                                                                                                                 \
  static inline T atomicMax(T* address, T value) {                                                                  \
    return __max_swap<T, T>(address, [=](T old) { return old < value ? value : old; });                             \
  }
__max_atomics(int);
__max_atomics(unsigned);
__max_atomics(long long);
__max_atomics(unsigned long long);
#undef __max_atomics

static inline float atomicAdd(float* address, float value) {
  return __max_swap<float, unsigned>(address, [=](float old) { return old + value; });
}
static inline double atomicAdd(double* address, double value) {
  return __max_swap<double, unsigned long long>(address, [=](double old) { return old + value; });
}
static inline float atomicExch(float* address, float value) {
  return __max_swap<float, unsigned>(address, [=](float) { return value; });
}
static inline unsigned short atomicCAS(unsigned short* address, unsigned short expected, unsigned short value) {
  __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
static inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return __max_swap<unsigned, unsigned>(address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}
static inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return __max_swap<unsigned, unsigned>(address,
                                        [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicSub_block atomicSub
#define atomicSub_system atomicSub
#define atomicAnd_block atomicAnd
#define atomicAnd_system atomicAnd
#define atomicOr_block atomicOr
#define atomicOr_system atomicOr
#define atomicXor_block atomicXor
#define atomicXor_system atomicXor
#define atomicExch_block atomicExch
#define atomicExch_system atomicExch
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
#define atomicMin_block atomicMin
#define atomicMin_system atomicMin
#define atomicMax_block atomicMax
#define atomicMax_system atomicMax
#define atomicInc_block atomicInc
#define atomicInc_system atomicInc
#define atomicDec_block atomicDec
#define atomicDec_system atomicDec
