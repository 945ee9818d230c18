// SPDX-License-Identifier: Apache-2.0
// __match_..._sync and __reduce_..._sync where the chip lacks them, made of ballots and shuffles. Lanes with different
// masks may be here at the same time.
#pragma once

#define MAX_WARP_FUNCTION static inline __device__

// One round for each different value.
template <class Word>
MAX_WARP_FUNCTION unsigned maxMatchAnyWord(unsigned mask, Word value) {
  unsigned own = 0, left = __ballot_sync(mask, 1);  // without lanes that have ended
  while (left != 0) {
    const Word first = __shfl_sync(mask, value, __ffs((int)left) - 1);
    const unsigned equal = __ballot_sync(mask, value == first);
    if (value == first) own = equal;
    left &= ~equal;
  }
  return own;
}
template <class Word>
MAX_WARP_FUNCTION unsigned maxMatchAllWord(unsigned mask, Word value, int* all) {
  const Word first = __shfl_sync(mask, value, __ffs((int)__ballot_sync(mask, 1)) - 1);
  *all = __all_sync(mask, value == first);
  return *all ? mask : 0;
}

#define MAX_WARP_MATCH(T, word)                                                                          \
  MAX_WARP_FUNCTION unsigned maxMatchAny(unsigned mask, T value) { return maxMatchAnyWord(mask, word); } \
  MAX_WARP_FUNCTION unsigned maxMatchAll(unsigned mask, T value, int* all) { return maxMatchAllWord(mask, word, all); }
MAX_WARP_MATCH(int, (unsigned)value)
MAX_WARP_MATCH(unsigned, value)
MAX_WARP_MATCH(long, (unsigned long long)value)
MAX_WARP_MATCH(unsigned long, (unsigned long long)value)
MAX_WARP_MATCH(long long, (unsigned long long)value)
MAX_WARP_MATCH(unsigned long long, value)
MAX_WARP_MATCH(float, __float_as_uint(value))
MAX_WARP_MATCH(double, (unsigned long long)__double_as_longlong(value))
#undef MAX_WARP_MATCH

// Five steps for a whole warp; otherwise one for each lane.
#define MAX_WARP_REDUCTION(name, T, change)                                                                   \
  MAX_WARP_FUNCTION T name##Pair(T a, T b) { return (T)(change); }                                            \
  MAX_WARP_FUNCTION T name(unsigned mask, T value) {                                                          \
    const unsigned lanes = __ballot_sync(mask, 1);                                                            \
    if (lanes == 0xffffffffu) {                                                                               \
      for (int step = 16; step > 0; step /= 2) value = name##Pair(value, __shfl_xor_sync(mask, value, step)); \
      return value;                                                                                           \
    }                                                                                                         \
    T result = __shfl_sync(mask, value, __ffs((int)lanes) - 1);                                               \
    for (unsigned left = lanes & (lanes - 1); left != 0; left &= left - 1)                                    \
      result = name##Pair(result, __shfl_sync(mask, value, __ffs((int)left) - 1));                            \
    return result;                                                                                            \
  }
MAX_WARP_REDUCTION(maxReduceAdd, unsigned, a + b)
MAX_WARP_REDUCTION(maxReduceAdd, int, (unsigned)a + (unsigned)b)
MAX_WARP_REDUCTION(maxReduceMin, unsigned, b < a ? b : a)
MAX_WARP_REDUCTION(maxReduceMin, int, b < a ? b : a)
MAX_WARP_REDUCTION(maxReduceMax, unsigned, a < b ? b : a)
MAX_WARP_REDUCTION(maxReduceMax, int, a < b ? b : a)
MAX_WARP_REDUCTION(maxReduceAnd, unsigned, a& b)
MAX_WARP_REDUCTION(maxReduceOr, unsigned, a | b)
MAX_WARP_REDUCTION(maxReduceXor, unsigned, a ^ b)
#undef MAX_WARP_REDUCTION
#undef MAX_WARP_FUNCTION

// Macros, since compilers declare functions with these names for other chips.
#define __reduce_add_sync(...) maxReduceAdd(__VA_ARGS__)
#define __reduce_min_sync(...) maxReduceMin(__VA_ARGS__)
#define __reduce_max_sync(...) maxReduceMax(__VA_ARGS__)
#define __reduce_and_sync(...) maxReduceAnd(__VA_ARGS__)
#define __reduce_or_sync(...) maxReduceOr(__VA_ARGS__)
#define __reduce_xor_sync(...) maxReduceXor(__VA_ARGS__)
// CUDA's chips have them since 7.0.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 700
#define __match_any_sync(...) maxMatchAny(__VA_ARGS__)
#define __match_all_sync(...) maxMatchAll(__VA_ARGS__)
#endif
