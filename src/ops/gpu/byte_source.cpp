// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/byte_source.h"

#include <algorithm>

#include "base/error.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// The instructions take signed bytes. Unsigned ones are multiplied less 128, and so are their zero points.
constexpr const char* kBytes = R"(
template <class T>
MAX_DEVICE unsigned signsOf() {
  return (T)-1 > (T)0 ? 0x80808080u : 0u;
}
template <class T>
MAX_DEVICE int withoutSign(int zero) {
  return (T)-1 > (T)0 ? zero - 128 : zero;
}
MAX_DEVICE int sumOfBytes(const unsigned (&words)[4]) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#if defined(MAX_MMA_ASYNC)
    sum = __dp4a((int)words[i], 0x01010101, sum);
#else
    for (int shift = 0; shift < 32; shift += 8) sum += (signed char)(words[i] >> shift);
#endif
  }
  return sum;
}
// 16 bytes, `apart` from each other, as signed ones; those behind the first `valid` are zero.
template <class T>
MAX_DEVICE void takeBytes(unsigned (&words)[4], const T* from, long long apart, long long valid, bool isPiece) {
  if (isPiece && valid >= 16) {
    const uint4 memory = *(const uint4*)from;
    memcpy(words, &memory, 16);
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] ^= signsOf<T>();
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = 0;
#pragma unroll
    for (int byte = 0; byte < 4; ++byte)
      if (4 * i + byte < valid)
        words[i] |= ((unsigned char)from[(4 * i + byte) * apart] ^ (signsOf<T>() & 0xff)) << 8 * byte;
  }
}

// A factor's rows, whose elements lie together (kIsInner) or `stride` apart, in pieces of 16 for each thread.
template <class T, int kRows, int kThreads, bool kIsInner>
struct ByteSource {
  typedef MaxTile<Element, kRows, true> Tile;
  static const int kEach = (4 * kRows + kThreads - 1) / kThreads;
  const T* base;  // of the tile's first row
  long long rows, stride, k, end;
  bool aligned;
  int sums[kEach];

  inline __device__ ByteSource(const T* matrix, long long first, long long count, long long apart, long long begin,
                               long long past)
      : base(matrix + (kIsInner ? first * apart : first)),
        rows(count - first),
        stride(apart),
        k(begin),
        end(past),
        aligned(kIsInner && isAligned(base, stride)) {
    for (int i = 0; i < kEach; ++i) sums[i] = 0;
  }
  static inline __device__ int rowOf(int piece) { return kIsInner ? piece / 4 : piece % kRows; }
  static inline __device__ int partOf(int piece) { return kIsInner ? piece % 4 : piece / kRows; }
  inline __device__ void load(const Tile& tile) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int piece = threadIdx.x + i * kThreads, row = rowOf(piece), depth = 16 * partOf(piece);
      if (piece >= Tile::kPieces) break;
      unsigned words[4];
      const T* from = base + (kIsInner ? row * stride + k + depth : (k + depth) * stride + row);
      takeBytes(words, from, kIsInner ? 1 : stride, row < rows ? end - k - depth : 0, aligned);
      sums[i] += sumOfBytes(words);
      memcpy(tile.at(row, depth), words, 16);
    }
    k += Tile::kDepth;
  }
  inline __device__ void give(int (*all)[4]) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int piece = threadIdx.x + i * kThreads;
      if (piece < Tile::kPieces) all[rowOf(piece)][partOf(piece)] = sums[i];
    }
  }
};

// A tile of results, without what zero points add, goes to `store`. `aZero` and `bZero` tell those of the tile's rows and
// columns; `count`: of the numbers along k.
template <int kRows, int kColumns, int kThreads, int kTeamRows, class A, class B, class RowZero, class ColumnZero, class Store>
MAX_DEVICE void multiplyBytes(A& a, B& b, long long count, const RowZero& aZero, const ColumnZero& bZero,
                              const Store& store) {
  __shared__ uint4 memory[2 * 4 * (kRows + kColumns)];
  __shared__ int all[kRows + kColumns][4];  // sums of rows and columns, and their zero points
  const int kTeamColumns = kThreads / MAX_MMA_LANES / kTeamRows;
  Sum sums[kRows / kTeamRows / 16][kColumns / kTeamColumns / 16][MAX_PER_LANE] = {};
  accumulate<kRows, kColumns, kThreads, kTeamRows, 2>(sums, memory, a, b, (count + 63) / 64);
  a.give(all);
  b.give(all + kRows);
  __syncthreads();
  for (int i = threadIdx.x; i < kRows + kColumns; i += kThreads) {
    all[i][0] += all[i][1] + all[i][2] + all[i][3];
    all[i][1] = i < kRows ? aZero(i) : bZero(i - kRows);
  }
  storeTile<kRows, kColumns, kThreads, kTeamRows, 1>(sums, memory, [&](int row, int column, const Sum (&one)[1]) {
    const unsigned aSum = all[row][0], zeroOfA = all[row][1];
    const unsigned bSum = all[kRows + column][0], zeroOfB = all[kRows + column][1];
    store(row, column, (unsigned)one[0] - zeroOfA * bSum - zeroOfB * aSum + (unsigned)count * zeroOfA * zeroOfB);
  });
}
// Of `count` values, one for each index, or one for all.
#define MAX_ONE_OF(values, index, count) ((count) == 1 ? (values)[0] : (values)[(index) % (count)])
)";

constexpr const char* kRequantized = R"(
#include <cmath>
static inline __device__ int requantized(float sum, float factor) {
  const float x = sum * factor;
  return (int)rintf(x > -1048576.0f ? x < 1048576.0f ? x : 1048576.0f : -1048576.0f);
}
)";

}  // namespace

std::string byteFunctions() { return concat(productFunctions("signed char", "int", "MaxMmaBytes"), kBytes); }

const char* requantizedSource() { return kRequantized; }

std::string parametersOf(const Node& node, std::initializer_list<const char*> names) {
  std::string text;
  size_t input = 0;
  for (const char* name : names) {
    if (const Value* value = node.input(input++))
      text += concat(", const ", kernelType(value->type.dtype).element, "* ", name);
  }
  return text;
}

std::string argumentsOf(const Node& node, std::initializer_list<const char*> names) {
  std::string text;
  size_t input = 0;
  for (const char* name : names)
    if (node.input(input++)) text += concat(", ", name);
  return text;
}

int64_t countOf(const OpRequest& request, size_t input) {
  return request.has(input) ? std::max<int64_t>(request.inputs[input].shape.count(), 1) : 1;
}

bool haveTypes(const Node& node) {
  return std::ranges::all_of(node.inputs, [](const Value* value) {
    return !value || (kernelType(value->type.dtype).element && value->type.dtype != DType::Float64);
  });
}

}  // namespace max
