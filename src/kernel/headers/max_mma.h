// SPDX-License-Identifier: Apache-2.0
// Products of small matrices by a team of lanes, for blocks of one dimension.
//
// A team has MAX_MMA_LANES lanes. It multiplies 16 rows of one tile in shared memory by 16 rows of another, along their
// common axis k, and each lane keeps 256 / MAX_MMA_LANES of the sums. A tile has 64 bytes of k for each of its rows; a
// product takes MaxMma<Kind>::steps steps to go through them. Three bodies: PTX's mma.sync from sm_80 on, which the CPU
// emulates register by register through exchanges between the lanes of a warp; MFMA on AMD's chips that have it; plain
// arithmetic elsewhere.
#pragma once
#if defined(MAX_KERNEL_ON_CPU)
#pragma GCC system_header
#endif

#include "max_half.h"

#if defined(MAX_MMA_IS_PLAIN)  // for tests
#elif defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define MAX_MMA_MFMA 1
#elif defined(MAX_KERNEL_ON_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
#define MAX_MMA_PTX 1
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define MAX_MMA_ASYNC 1
#endif

#if defined(MAX_MMA_MFMA)
#define MAX_MMA_LANES 64
#else
#define MAX_MMA_LANES 32
#endif
#if defined(MAX_MMA_ASYNC)
#define MAX_MMA_STAGES 3  // tiles of each factor that fit and are worth while
#else
#define MAX_MMA_STAGES 2
#endif

#define MAX_MMA_FUNCTION static inline __device__

// What is multiplied: elements in shared memory, and what they are summed in.
template <class T, class S>
struct MaxMmaPlain {
  typedef T Element;
  typedef S Sum;
};
struct MaxMmaHalf : MaxMmaPlain<__half, float> {};
struct MaxMmaBfloat : MaxMmaPlain<__nv_bfloat16, float> {};
struct MaxMmaExact : MaxMmaPlain<float, float> {};   // float32 as it is
struct MaxMmaTf32 : MaxMmaPlain<float, float> {};    // may round factors to 11 binary digits
struct MaxMmaNarrow : MaxMmaPlain<float, float> {};  // may round factors to bfloat16
struct MaxMmaBytes : MaxMmaPlain<signed char, int> {};

MAX_MMA_FUNCTION int maxMmaLane() { return (int)(threadIdx.x & (unsigned)(MAX_MMA_LANES - 1)); }

// A tile of `kRows` rows. kIsInner: its memory has the elements of a row together, otherwise those of a place on k.
// Pieces of 16 bytes are permuted so that lanes find them in different banks.
template <class T, int kRows, bool kIsInner>
struct MaxTile {
  static const int kDepth = 64 / (int)sizeof(T);  // along k
  static const int kPiece = 16 / (int)sizeof(T);
  static const int kPieces = 4 * kRows;
  static const int kAcross = kRows / kPiece;  // pieces of a place on k
  uint4* memory;

  // Of an element.
  inline __device__ void* at(int row, int k) const {
    if (kIsInner) {
      const int turn = ((row >> 1) ^ (row >> 3 & 1)) & 3;
      return (char*)(memory + row * 4 + ((k / kPiece) ^ turn)) + k % kPiece * (int)sizeof(T);
    }
    const int turn = (sizeof(T) >= 4 ? (k & 3) << 1 : k & 7) & (kAcross - 1);
    return (char*)(memory + k * kAcross + ((row / kPiece) ^ turn)) + row % kPiece * (int)sizeof(T);
  }
  inline __device__ T get(int row, int k) const { return *(const T*)at(row, k); }
};

// Copies the first `bytes` of 16 bytes from an address that is a multiple of 16; the rest becomes zero.
MAX_MMA_FUNCTION void maxCopyAsync(void* to, const void* from, int bytes) {
#if defined(MAX_MMA_ASYNC)
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "r"(bytes)
               : "memory");
#else
  *(uint4*)to = bytes == 16 ? *(const uint4*)from : make_uint4(0, 0, 0, 0);
  if (bytes != 16)
    for (int i = 0; i < bytes; ++i) ((char*)to)[i] = ((const char*)from)[i];
#endif
}
// Copies belong to the group that is closed next.
MAX_MMA_FUNCTION void maxCloseCopies() {
#if defined(MAX_MMA_ASYNC)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// This thread's groups are there, but for the last few.
template <int kLast>
MAX_MMA_FUNCTION void maxWaitForCopies() {
#if defined(MAX_MMA_ASYNC)
  asm volatile("cp.async.wait_group %0;" ::"n"(kLast) : "memory");
#endif
}

// Plain arithmetic: a lane has 4 columns, which lie together, of each of its rows.
template <class Kind>
struct MaxMmaArithmetic {
  typedef typename Kind::Element Element;
  typedef typename Kind::Sum Sum;
  static const int steps = 4;
  static const int kCount = 16 / (int)sizeof(Element);
  static const int kRows = 64 / MAX_MMA_LANES;
  struct Rows {
    Element values[kRows][kCount];
  };
  struct Columns {
    Element values[4][kCount];
  };

  template <int kParts, class T, int kAll, bool kIsInner>
  static inline __device__ void load(Element (&values)[kParts][kCount], const MaxTile<T, kAll, kIsInner>& tile, int row,
                                     int apart, int step) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      if (kIsInner) {
        const uint4 piece = *(const uint4*)tile.at(row + apart * i, step * kCount);
        memcpy(values[i], &piece, 16);
      } else {
#pragma unroll
        for (int k = 0; k < kCount; ++k) values[i][k] = tile.get(row + apart * i, step * kCount + k);
      }
    }
  }
  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int step) {
    load(rows.values, tile, row + maxMmaLane() / 4, 8, step);
  }
  template <class T, int kAll, bool kIsInner>
  static inline __device__ void loadColumns(Columns& columns, const MaxTile<T, kAll, kIsInner>& tile, int column,
                                            int step) {
    const int first = column + maxMmaLane() % 4 * 4;
    if (kIsInner || sizeof(T) != 4) {
      load(columns.values, tile, first, 1, step);
      return;
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      Element piece[4];
      const uint4 memory = *(const uint4*)tile.at(first, step * kCount + k);
      memcpy(piece, &memory, sizeof(T) == 4 ? 16 : 0);
#pragma unroll
      for (int i = 0; i < 4; ++i) columns.values[i][k] = piece[i];
    }
  }
  static const int kLaneRows = kRows, kRowLanes = 4;
  static inline __device__ void multiply(Sum (&sums)[4 * kRows], const Rows& a, const Columns& b) {
#pragma unroll
    for (int k = 0; k < kCount; ++k)
#pragma unroll
      for (int i = 0; i < 4 * kRows; ++i) sums[i] += (Sum)a.values[i / 4][k] * (Sum)b.values[i % 4][k];
  }
  static inline __device__ int laneRow(int i) { return i / 4; }
  static inline __device__ int row(int i) { return maxMmaLane() / 4 + i / 4 * 8; }
  static inline __device__ int column(int i) { return maxMmaLane() % 4 * 4 + i % 4; }
};

// Two floats as bfloat16 in a word, the first one below.
MAX_MMA_FUNCTION unsigned maxMmaPair(unsigned first, unsigned second) {
  unsigned word;
#if defined(MAX_MMA_ASYNC)
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(__uint_as_float(second)), "f"(__uint_as_float(first)));
#else
  word = (unsigned)__float2bfloat16(__uint_as_float(first)).bits |
         (unsigned)__float2bfloat16(__uint_as_float(second)).bits << 16;
#endif
  return word;
}

#if defined(MAX_MMA_PTX)

// Lane i has the address of row i % 8 of matrix i / 8, of four: 8 rows of 16 bytes. It gets word i % 4 of row i / 4 of
// each; transposed, with elements of 16 bits, elements 2 * (i % 4) and the next one of column i / 4.
template <bool kIsTransposed>
MAX_MMA_FUNCTION void maxLoadMatrices(unsigned (&words)[4], const void* row) {
#if defined(MAX_KERNEL_ON_CPU)
  const MaxCpuWarp* warp = __max_exchange(0xffffffffu, (unsigned long long)row);
  const int group = maxMmaLane() / 4, part = maxMmaLane() % 4;
  for (int i = 0; i < 4; ++i) {
    const unsigned long long* rows = warp->values + 8 * i;
    if (kIsTransposed) {
      const unsigned first = ((const unsigned short*)rows[2 * part])[group];
      words[i] = first | (unsigned)((const unsigned short*)rows[2 * part + 1])[group] << 16;
    } else {
      words[i] = ((const unsigned*)rows[group])[part];
    }
  }
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  if (kIsTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
#endif
}

// 16 rows and 32 bytes of k: words l % 4 and l % 4 + 4 of rows l / 4 and l / 4 + 8, the rows first, or the words first
// for columns.
template <bool kIsColumns, class T, int kRows, bool kIsInner>
MAX_MMA_FUNCTION void maxLoadWords(unsigned (&words)[4], const MaxTile<T, kRows, kIsInner>& tile, int row, int step) {
  const int lane = maxMmaLane(), size = (int)sizeof(T), first = step * 32 / size;
  const int matrix = lane / 8, lower = kIsColumns ? matrix / 2 : matrix % 2,
            later = kIsColumns ? matrix % 2 : matrix / 2;
  if (kIsInner) {
    maxLoadMatrices<false>(words, tile.at(row + lane % 8 + 8 * lower, first + later * (16 / size)));
  } else if (size == 2) {
    maxLoadMatrices<true>(words, tile.at(row + 8 * lower, first + lane % 8 + 8 * later));
  } else {
    for (int i = 0; i < 4; ++i) {
      const int below = kIsColumns ? i / 2 : i % 2, behind = kIsColumns ? i % 2 : i / 2;
      words[i] = 0;
      for (int byte = 0; byte < 4; byte += size) {
        const int k = first + (lane % 4 + behind * 4) * (4 / size) + byte / size;
        const void* at = tile.at(row + lane / 4 + below * 8, k);
        words[i] |= size == 4 ? *(const unsigned*)at : (unsigned)*(const unsigned char*)at << 8 * byte;
      }
    }
  }
}

#if defined(MAX_KERNEL_ON_CPU)
MAX_MMA_FUNCTION float maxMmaValue(MaxMmaHalf, unsigned word, int i) {
  return maxHalfToFloat((unsigned short)(word >> 16 * i));
}
MAX_MMA_FUNCTION float maxMmaValue(MaxMmaBfloat, unsigned word, int i) {
  return maxBfloatToFloat((unsigned short)(word >> 16 * i));
}
MAX_MMA_FUNCTION float maxMmaValue(MaxMmaTf32, unsigned word, int) { return __uint_as_float(word); }
MAX_MMA_FUNCTION int maxMmaValue(MaxMmaBytes, unsigned word, int i) { return (signed char)(word >> 8 * i); }

// The numbers of `kLines` rows of a factor from the lanes that have them: of row `first` and those `apart` from it.
template <class Kind, int kLines, int kCount>
MAX_MMA_FUNCTION void maxMmaCollect(typename Kind::Sum (&lines)[kLines][kCount], int first, int apart, unsigned word,
                                    unsigned later) {
  const MaxCpuWarp* warp = __max_exchange(0xffffffffu, word | (unsigned long long)later << 32);
  const int perWord = kCount / 8;
  for (int line = 0; line < kLines; ++line)
    for (int k = 0; k < 8; ++k) {
      const unsigned long long both = warp->values[4 * (first + apart * line) + k % 4];
      for (int i = 0; i < perWord; ++i)
        lines[line][k * perWord + i] = maxMmaValue(Kind(), (unsigned)(k < 4 ? both : both >> 32), i);
    }
}
// As mma.sync computes it, from the registers of the lanes.
template <class Kind>
MAX_MMA_FUNCTION void maxMultiplyWords(Kind, typename Kind::Sum (&sums)[8], const unsigned (&a)[4],
                                       const unsigned (&b)[4]) {
  constexpr int kCount = 32 / (int)sizeof(typename Kind::Element);
  typename Kind::Sum rows[2][1][kCount], columns[2][2][kCount];
  for (int i = 0; i < 2; ++i) {
    maxMmaCollect<Kind>(rows[i], maxMmaLane() / 4, 1, a[i], a[i + 2]);
    maxMmaCollect<Kind>(columns[i], maxMmaLane() % 4 * 2, 1, b[2 * i], b[2 * i + 1]);
  }
  for (int i = 0; i < 8; ++i) {
    typename Kind::Sum sum = 0;
    for (int k = 0; k < kCount; ++k) sum += rows[i / 2 % 2][0][k] * columns[i / 4][i % 2][k];
    sums[i] += sum;
  }
}
#else
#define MAX_MMA_INSTRUCTION(Kind, name, letter)                                                                     \
  MAX_MMA_FUNCTION void maxMultiplyWords(Kind, Kind::Sum(&sums)[8], const unsigned(&a)[4], const unsigned(&b)[4]) { \
    for (int i = 0; i < 2; ++i)                                                                                     \
      asm(name " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                   \
          : letter(sums[4 * i]), letter(sums[4 * i + 1]), letter(sums[4 * i + 2]), letter(sums[4 * i + 3])          \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * i]), "r"(b[2 * i + 1]));                          \
  }
MAX_MMA_INSTRUCTION(MaxMmaHalf, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "+f")
MAX_MMA_INSTRUCTION(MaxMmaBfloat, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "+f")
MAX_MMA_INSTRUCTION(MaxMmaTf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "+f")
MAX_MMA_INSTRUCTION(MaxMmaBytes, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "+r")
#undef MAX_MMA_INSTRUCTION
#endif

// To 11 binary digits, ties away from zero, or to even where that is one instruction.
MAX_MMA_FUNCTION unsigned maxMmaTf32(unsigned bits) {
#if defined(MAX_KERNEL_ON_CPU)
  return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
#else
  unsigned word;
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(bits)));
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(bits)));
#endif
  return word;
#endif
}

template <class Kind>
struct MaxMmaTensor {
  typedef typename Kind::Element Element;
  typedef typename Kind::Sum Sum;
  static const int steps = 2, kLaneRows = 2, kRowLanes = 4;
  struct Rows {
    unsigned words[4];
  };
  typedef Rows Columns;

  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int step) {
    maxLoadWords<false>(rows.words, tile, row, step);
  }
  template <class Tile>
  static inline __device__ void loadColumns(Rows& columns, const Tile& tile, int column, int step) {
    maxLoadWords<true>(columns.words, tile, column, step);
  }
  static inline __device__ void multiply(Sum (&sums)[8], const Rows& a, const Rows& b) {
    maxMultiplyWords(Kind(), sums, a.words, b.words);
  }
  static inline __device__ int laneRow(int i) { return i / 2 % 2; }
  static inline __device__ int row(int i) { return maxMmaLane() / 4 + i / 2 % 2 * 8; }
  static inline __device__ int column(int i) { return maxMmaLane() % 4 * 2 + i % 2 + i / 4 * 8; }
};

struct MaxMmaTensorTf32 : MaxMmaTensor<MaxMmaTf32> {
  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int step) {
    maxLoadWords<false>(rows.words, tile, row, step);
    for (int i = 0; i < 4; ++i) rows.words[i] = maxMmaTf32(rows.words[i]);
  }
  template <class Tile>
  static inline __device__ void loadColumns(Rows& columns, const Tile& tile, int column, int step) {
    maxLoadWords<true>(columns.words, tile, column, step);
    for (int i = 0; i < 4; ++i) columns.words[i] = maxMmaTf32(columns.words[i]);
  }
};

// The order along k is the same in both factors, but not that of memory.
struct MaxMmaTensorNarrow : MaxMmaTensor<MaxMmaBfloat> {
  static const int steps = 1;
  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int) {
    unsigned words[2][4];
    for (int i = 0; i < 2; ++i) maxLoadWords<false>(words[i], tile, row, i);
    for (int i = 0; i < 4; ++i) rows.words[i] = maxMmaPair(words[i / 2][i % 2], words[i / 2][i % 2 + 2]);
  }
  template <class Tile>
  static inline __device__ void loadColumns(Rows& columns, const Tile& tile, int column, int) {
    unsigned words[2][4];
    for (int i = 0; i < 2; ++i) maxLoadWords<true>(words[i], tile, column, i);
    for (int i = 0; i < 4; ++i) columns.words[i] = maxMmaPair(words[i % 2][i / 2 * 2], words[i % 2][i / 2 * 2 + 1]);
  }
};

#elif defined(MAX_MMA_MFMA)

#if !defined(MAX_MMA_VECTORS)  // as the compiler takes them
typedef _Float16 MaxMmaHalves __attribute__((ext_vector_type(4)));
typedef short MaxMmaShorts __attribute__((ext_vector_type(4)));
typedef float MaxMmaFloats __attribute__((ext_vector_type(4)));
typedef int MaxMmaInts __attribute__((ext_vector_type(4)));
#endif

// A lane has row l % 16 and the l / 16-th quarter of 32 bytes of k: the order along k is the same in both factors.
template <class T, int kRows, bool kIsInner>
MAX_MMA_FUNCTION void maxLoadWords(unsigned (&words)[2], const MaxTile<T, kRows, kIsInner>& tile, int row, int step) {
  const int lane = maxMmaLane(), count = 8 / (int)sizeof(T), first = (step * 4 + lane / 16) * count;
  if (kIsInner) {
    __builtin_memcpy(words, tile.at(row + lane % 16, first), 8);
  } else {
    T values[8 / sizeof(T)];
    for (int k = 0; k < count; ++k) values[k] = tile.get(row + lane % 16, first + k);
    __builtin_memcpy(words, values, 8);
  }
}

MAX_MMA_FUNCTION MaxMmaFloats maxMultiplyWords(MaxMmaHalf, MaxMmaFloats sums, const unsigned (&a)[2],
                                               const unsigned (&b)[2]) {
  MaxMmaHalves x, y;
  __builtin_memcpy(&x, a, 8);
  __builtin_memcpy(&y, b, 8);
  return __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sums, 0, 0, 0);
}
MAX_MMA_FUNCTION MaxMmaFloats maxMultiplyWords(MaxMmaBfloat, MaxMmaFloats sums, const unsigned (&a)[2],
                                               const unsigned (&b)[2]) {
  MaxMmaShorts x, y;
  __builtin_memcpy(&x, a, 8);
  __builtin_memcpy(&y, b, 8);
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, sums, 0, 0, 0);
}
MAX_MMA_FUNCTION MaxMmaFloats maxMultiplyWords(MaxMmaExact, MaxMmaFloats sums, const unsigned (&a)[2],
                                               const unsigned (&b)[2]) {
  for (int i = 0; i < 2; ++i)
    sums = __builtin_amdgcn_mfma_f32_16x16x4f32(__uint_as_float(a[i]), __uint_as_float(b[i]), sums, 0, 0, 0);
  return sums;
}
MAX_MMA_FUNCTION MaxMmaInts maxMultiplyWords(MaxMmaBytes, MaxMmaInts sums, const unsigned (&a)[2],
                                             const unsigned (&b)[2]) {
#if defined(__gfx90a__)
  for (int i = 0; i < 2; ++i) sums = __builtin_amdgcn_mfma_i32_16x16x16i8((int)a[i], (int)b[i], sums, 0, 0, 0);
  return sums;
#else
  long long x, y;
  __builtin_memcpy(&x, a, 8);
  __builtin_memcpy(&y, b, 8);
  return __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, sums, 0, 0, 0);
#endif
}

template <class Kind, class Vector = MaxMmaFloats>
struct MaxMmaMatrix {
  typedef typename Kind::Element Element;
  typedef typename Kind::Sum Sum;
  static const int steps = 2, kLaneRows = 4, kRowLanes = 16;
  struct Rows {
    unsigned words[2];
  };
  typedef Rows Columns;

  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int step) {
    maxLoadWords(rows.words, tile, row, step);
  }
  template <class Tile>
  static inline __device__ void loadColumns(Rows& columns, const Tile& tile, int column, int step) {
    maxLoadWords(columns.words, tile, column, step);
  }
  static inline __device__ void multiply(Sum (&sums)[4], const Rows& a, const Rows& b) {
    Vector vector = {sums[0], sums[1], sums[2], sums[3]};
    vector = maxMultiplyWords(Kind(), vector, a.words, b.words);
    for (int i = 0; i < 4; ++i) sums[i] = vector[i];
  }
  static inline __device__ int laneRow(int i) { return i; }
  static inline __device__ int row(int i) { return maxMmaLane() / 16 * 4 + i; }
  static inline __device__ int column(int) { return maxMmaLane() % 16; }
};

struct MaxMmaMatrixNarrow : MaxMmaMatrix<MaxMmaBfloat> {
  static const int steps = 1;
  template <class Tile>
  static inline __device__ void loadRows(Rows& rows, const Tile& tile, int row, int) {
    unsigned words[2][2];
    for (int i = 0; i < 2; ++i) {
      maxLoadWords(words[i], tile, row, i);
      rows.words[i] = maxMmaPair(words[i][0], words[i][1]);
    }
  }
  template <class Tile>
  static inline __device__ void loadColumns(Rows& columns, const Tile& tile, int column, int) {
    loadRows(columns, tile, column, 0);
  }
};

#endif

// The body for a kind: `steps`, Rows, Columns, and functions that all lanes of a team call together. A lane's sums
// belong to row(i) and column(i) of the 16 x 16: it has kLaneRows rows, and sum i is of its row laneRow(i). The other
// sums of a row are those of the lanes next to it, kRowLanes in all.
template <class Kind>
struct MaxMma : MaxMmaArithmetic<Kind> {};
#if defined(MAX_MMA_PTX)
template <>
struct MaxMma<MaxMmaHalf> : MaxMmaTensor<MaxMmaHalf> {};
template <>
struct MaxMma<MaxMmaBfloat> : MaxMmaTensor<MaxMmaBfloat> {};
template <>
struct MaxMma<MaxMmaTf32> : MaxMmaTensorTf32 {};
template <>
struct MaxMma<MaxMmaNarrow> : MaxMmaTensorNarrow {};
template <>
struct MaxMma<MaxMmaBytes> : MaxMmaTensor<MaxMmaBytes> {};
#elif defined(MAX_MMA_MFMA)
template <>
struct MaxMma<MaxMmaHalf> : MaxMmaMatrix<MaxMmaHalf> {};
template <>
struct MaxMma<MaxMmaBfloat> : MaxMmaMatrix<MaxMmaBfloat> {};
template <>
struct MaxMma<MaxMmaExact> : MaxMmaMatrix<MaxMmaExact> {};
template <>
struct MaxMma<MaxMmaTf32> : MaxMmaMatrix<MaxMmaExact> {};
template <>
struct MaxMma<MaxMmaNarrow> : MaxMmaMatrixNarrow {};
template <>
struct MaxMma<MaxMmaBytes> : MaxMmaMatrix<MaxMmaBytes, MaxMmaInts> {};
#endif
