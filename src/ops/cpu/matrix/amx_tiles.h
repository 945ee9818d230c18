// SPDX-License-Identifier: Apache-2.0
// AMX's instructions, for the kernels of tile_product.h. Assemblers know them wherever they know AVX-512 BF16, so that
// no function has to be compiled for such chips.
#pragma once

#if defined(__x86_64__)

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12: operands of intrinsics
#endif
#include <immintrin.h>

#include <algorithm>

#include "ops/cpu/matrix/tile_product.h"

namespace max {

struct AmxTiles {
  static void configure(const TileConfig& config) { __asm__ volatile("ldtilecfg %0" : : "m"(config)); }
  static void release() { __asm__ volatile("tilerelease"); }

  template <int kTile>
  static void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const std::byte* from, int64_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(std::byte* to, int64_t stride) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kA, int kB>
  static void dotPairs() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
  template <int kSum, int kA, int kB>
  static void dotBytes() {  // unsigned ones of A
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }

  // Writes whole lines, which a tile can be loaded from at once. What is not there becomes zero.
  template <class T>
  __attribute__((target("avx512f"))) static void copyRows(const RowWords<T>& from, int64_t count, std::byte* to) {
    for (int64_t row = 0; row < count; ++row, to += TileLimits::kRowBytes) {
      __m512i line = _mm512_setzero_si512();
      const T* const* piece = from.rows + row;
      int64_t word = from.word;
      for (int64_t done = 0, part; done < from.some; done += part, piece += from.pieceStride, word = 0) {
        part = std::min(from.some - done, from.words - word);
        const auto mask = static_cast<__mmask16>(((1 << part) - 1) << done);
        const auto* words = reinterpret_cast<const std::byte*>(*piece + from.offset) + 4 * (word - done);
        line = _mm512_mask_loadu_epi32(line, mask, words);  // reads nothing outside of the mask
      }
      _mm512_store_si512(to, line);
    }
  }
};

}  // namespace max

#endif
