// SPDX-License-Identifier: Apache-2.0
// Vector types with the sizes and alignments that they have on accelerators.
#pragma once
#pragma GCC system_header  // sources may enable any warnings

#define __max_vectors(Name, T, align2, align4)                                               \
  struct Name##1 {                                                                           \
    T x;                                                                                     \
  };                                                                                         \
  struct alignas(align2) Name##2 {                                                           \
    T x, y;                                                                                  \
  };                                                                                         \
  struct Name##3 {                                                                           \
    T x, y, z;                                                                               \
  };                                                                                         \
  struct alignas(align4) Name##4 {                                                           \
    T x, y, z, w;                                                                            \
  };                                                                                         \
  [[maybe_unused]] static inline Name##1 make_##Name##1(T x) { return {x}; }                 \
  [[maybe_unused]] static inline Name##2 make_##Name##2(T x, T y) { return {x, y}; }         \
  [[maybe_unused]] static inline Name##3 make_##Name##3(T x, T y, T z) { return {x, y, z}; } \
  [[maybe_unused]] static inline Name##4 make_##Name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

__max_vectors(char, signed char, 2, 4) __max_vectors(uchar, unsigned char, 2, 4) __max_vectors(short, short, 4, 8)
    __max_vectors(ushort, unsigned short, 4, 8) __max_vectors(int, int, 8, 16) __max_vectors(uint, unsigned, 8, 16)
        __max_vectors(long, long, 16, 16) __max_vectors(ulong, unsigned long, 16, 16)
            __max_vectors(longlong, long long, 16, 16) __max_vectors(ulonglong, unsigned long long, 16, 16)
                __max_vectors(float, float, 8, 16) __max_vectors(double, double, 16, 16)
#undef __max_vectors
