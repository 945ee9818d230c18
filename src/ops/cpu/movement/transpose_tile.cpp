// SPDX-License-Identifier: Apache-2.0
// 16-byte vectors of the compiler: every 64-bit CPU has them, and transposes of
// large tensors wait for memory, not for shuffles.
#include "ops/cpu/movement/transpose_tile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/interrupt_point.h"
#include "ops/cpu/movement/interleave.h"
#include "ops/cpu/movement/transpose_lines.h"
#include "ops/cpu/streamed.h"

namespace max {

namespace {

// Matrices whose rows begin no further apart are narrow.
constexpr int64_t kNarrowStep = 64;

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(16)));
  static constexpr int kLanes = 16 / sizeof(T);
};

template <class T, size_t... I>
typename VectorOf<T>::Type interleaveLow(typename VectorOf<T>::Type a, typename VectorOf<T>::Type b,
                                         std::index_sequence<I...>) {
  constexpr int lanes = VectorOf<T>::kLanes;
  return __builtin_shufflevector(a, b, (static_cast<int>(I) / 2 + (I % 2 ? lanes : 0))...);
}

template <class T, size_t... I>
typename VectorOf<T>::Type interleaveHigh(typename VectorOf<T>::Type a, typename VectorOf<T>::Type b,
                                          std::index_sequence<I...>) {
  constexpr int lanes = VectorOf<T>::kLanes;
  return __builtin_shufflevector(a, b, (static_cast<int>(I) / 2 + lanes / 2 + (I % 2 ? lanes : 0))...);
}

// A square of kLanes x kLanes: log2(kLanes) rounds that interleave rows i and i + kLanes / 2. The first `columns` are
// written; rows past the first `rows` are copies of the last one of these.
template <class T>
void transposeSquare(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep,
                     int64_t columns = VectorOf<T>::kLanes, int64_t rows = VectorOf<T>::kLanes) {
  using V = typename VectorOf<T>::Type;
  constexpr int lanes = VectorOf<T>::kLanes;
  constexpr auto indices = std::make_index_sequence<static_cast<size_t>(lanes)>();
  V vectors[lanes], next[lanes];
  for (int i = 0; i < lanes; ++i) std::memcpy(&vectors[i], source + std::min<int64_t>(i, rows - 1) * sourceStep, 16);
  for (int round = 1; round < lanes; round *= 2) {
    for (int i = 0; i < lanes / 2; ++i) {
      next[2 * i] = interleaveLow<T>(vectors[i], vectors[i + lanes / 2], indices);
      next[2 * i + 1] = interleaveHigh<T>(vectors[i], vectors[i + lanes / 2], indices);
    }
    for (int i = 0; i < lanes; ++i) vectors[i] = next[i];
  }
  for (int i = 0; i < columns; ++i) std::memcpy(target + i * targetStep, &vectors[i], 16);
}

template <class T>
void transposeScalar(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                     int64_t columns) {
  constexpr int64_t size = sizeof(T);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r)
      std::memcpy(target + c * targetStep + r * size, source + r * sourceStep + c * size, sizeof(T));
}

// At least as many rows and columns as a square has. The last squares overlap those before them.
template <class T>
void transposeSquares(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                      int64_t columns) {
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  for (int64_t i = 0; i < rows; i += lanes)
    for (int64_t k = 0; k < columns; k += lanes) {
      const int64_t r = std::min(i, rows - lanes), c = std::min(k, columns - lanes);
      transposeSquare<T>(source + r * sourceStep + c * size, sourceStep, target + c * targetStep + r * size,
                         targetStep);
    }
}

// Fewer columns than a square has: what squares read beyond them are the rows that follow, or copies of the last ones.
template <class T>
void transposeNarrow(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                     int64_t columns) {
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  std::byte copy[lanes * kNarrowStep + 16] = {};
  const int64_t end = (rows - 1) * sourceStep + columns * size;
  for (int64_t i = 0; i < rows; i += lanes) {
    const int64_t r = std::min(i, rows - lanes);
    const std::byte* from = source + r * sourceStep;
    const int64_t rest = end - r * sourceStep;
    if (rest < (lanes - 1) * sourceStep + 16) {
      std::memcpy(copy, from, static_cast<size_t>(rest));
      from = copy;
    }
    transposeSquare<T>(from, sourceStep, target + r * size, targetStep, columns);
  }
}

// Fewer rows than a square has, whose columns follow each other in the target: each is written with a part of the next
// one, whose turn is later.
template <class T>
void transposeFlat(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t rows, int64_t columns) {
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  const int64_t step = rows * size, safe = columns - (16 + step - 1) / step;
  int64_t c = 0;
  for (; c + lanes <= safe; c += lanes)
    transposeSquare<T>(source + c * size, sourceStep, target + c * step, step, lanes, rows);
  transposeScalar<T>(source + c * size, sourceStep, target + c * step, step, rows, columns - c);
}

template <class T>
void transposeTile(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                   int64_t columns) {
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  if (rows >= lanes && columns >= lanes)
    return transposeSquares<T>(source, sourceStep, target, targetStep, rows, columns);
  if (rows >= lanes && sourceStep <= kNarrowStep && 4 * columns > lanes)
    return transposeNarrow<T>(source, sourceStep, target, targetStep, rows, columns);
  if (columns >= lanes && targetStep == rows * size && 4 * rows > lanes)
    return transposeFlat<T>(source, sourceStep, target, rows, columns);
  transposeScalar<T>(source, sourceStep, target, targetStep, rows, columns);
}

// Rows at multiples of this distance map to few cache sets.
constexpr int64_t kConflictingStep = 1024;

// Uses a small block, so that every cache line of the source is read once and every line of the target written once:
// rows would evict each other otherwise.
template <class T, int64_t kTile>
void transposeBuffered(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep) {
  constexpr int64_t rowBytes = kTile * static_cast<int64_t>(sizeof(T));
  alignas(64) std::byte block[kTile * rowBytes];
  transposeSquares<T>(source, sourceStep, block, rowBytes, kTile, kTile);
  for (int64_t c = 0; c < kTile; ++c) std::memcpy(target + c * targetStep, block + c * rowBytes, rowBytes);
}

// Calls work(first, count) for parts of `count`, each of which has some elements.
constexpr int64_t kPart = 4096;
template <class Work>
void inParts(int64_t count, const Work& work, int64_t part = kPart) {
  WorkCounter counter;
  for (int64_t i = 0; i < count; i += part, counter.pass(kPart)) work(i, std::min(part, count - i));
}

// Less than a tile along one side; there may be nothing.
template <class T>
void transposeThin(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                   int64_t columns) {
  constexpr int64_t size = sizeof(T), kMultiple = 64;
  if (rows == 0 || columns == 0) return;
  const bool isTall = rows > columns;
  const int64_t across = std::min(rows, columns), part = std::max(kPart / across / kMultiple * kMultiple, kMultiple);
  inParts(
      std::max(rows, columns),
      [&](int64_t first, int64_t count) {
        transposeTile<T>(source + first * (isTall ? sourceStep : size), sourceStep,
                         target + first * (isTall ? size : targetStep), targetStep, isTall ? count : rows,
                         isTall ? columns : count);
      },
      part);
}

// Tiles of whole cache lines on both sides; the last ones overlap those before them.
template <class T>
void transposeAny(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
                  int64_t columns, bool streams) {
  constexpr int64_t size = sizeof(T), tile = sideOfSquare(size);
  if (rows < tile || columns < tile) return transposeThin<T>(source, sourceStep, target, targetStep, rows, columns);
  const TransposeLines lines = transposeLines(size);
  const bool conflicts = sourceStep % kConflictingStep == 0 || targetStep % kConflictingStep == 0;
  // Along the longer side, unless conflicts would be most of it.
  const bool goesDown = !lines || rows > 4 * columns;
  WorkCounter work;
  for (int64_t i = 0; i < (goesDown ? columns : rows); i += tile)
    for (int64_t k = 0; k < (goesDown ? rows : columns); k += tile, work.pass(tile * tile)) {
      const int64_t r = std::min(goesDown ? k : i, rows - tile), c = std::min(goesDown ? i : k, columns - tile);
      const std::byte* from = source + r * sourceStep + c * size;
      std::byte* to = target + c * targetStep + r * size;
      if (lines)
        lines(from, sourceStep, to, targetStep, streams && r % tile == 0);
      else if (conflicts)
        transposeBuffered<T, tile>(from, sourceStep, to, targetStep);
      else
        transposeSquares<T>(from, sourceStep, to, targetStep, tile, tile);
    }
}

// Elements 0, 2, 4, ... of two vectors, or 1, 3, 5, ...
template <class T, int kFirst, size_t... I>
typename VectorOf<T>::Type everySecond(typename VectorOf<T>::Type a, typename VectorOf<T>::Type b,
                                       std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * static_cast<int>(I) + kFirst)...);
}

// Pairs become two rows.
template <class T>
void splitPairs(const std::byte* source, std::byte* first, std::byte* second, int64_t count) {
  using V = typename VectorOf<T>::Type;
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  constexpr auto indices = std::make_index_sequence<static_cast<size_t>(lanes)>();
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V a, b;
    std::memcpy(&a, source + 2 * i * size, 16);
    std::memcpy(&b, source + 2 * i * size + 16, 16);
    const V even = everySecond<T, 0>(a, b, indices), odd = everySecond<T, 1>(a, b, indices);
    std::memcpy(first + i * size, &even, 16);
    std::memcpy(second + i * size, &odd, 16);
  }
  for (; i < count; ++i) {
    std::memcpy(first + i * size, source + 2 * i * size, sizeof(T));
    std::memcpy(second + i * size, source + (2 * i + 1) * size, sizeof(T));
  }
}

// Two rows become pairs.
template <class T>
void joinPairs(const std::byte* first, const std::byte* second, std::byte* target, int64_t count) {
  using V = typename VectorOf<T>::Type;
  constexpr int64_t lanes = VectorOf<T>::kLanes, size = sizeof(T);
  constexpr auto indices = std::make_index_sequence<static_cast<size_t>(lanes)>();
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V a, b;
    std::memcpy(&a, first + i * size, 16);
    std::memcpy(&b, second + i * size, 16);
    const V low = interleaveLow<T>(a, b, indices), high = interleaveHigh<T>(a, b, indices);
    std::memcpy(target + 2 * i * size, &low, 16);
    std::memcpy(target + 2 * i * size + 16, &high, 16);
  }
  for (; i < count; ++i) {
    std::memcpy(target + 2 * i * size, first + i * size, sizeof(T));
    std::memcpy(target + (2 * i + 1) * size, second + i * size, sizeof(T));
  }
}

template <class T>
void transpose(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, int64_t rows,
               int64_t columns, bool streams) {
  constexpr int64_t size = sizeof(T);
  if (columns == 2 && sourceStep == 2 * size)
    return inParts(rows, [&](int64_t first, int64_t count) {
      splitPairs<T>(source + first * sourceStep, target + first * size, target + targetStep + first * size, count);
    });
  if (rows == 2 && targetStep == 2 * size)
    return inParts(columns, [&](int64_t first, int64_t count) {
      joinPairs<T>(source + first * size, source + sourceStep + first * size, target + first * targetStep, count);
    });
  transposeAny<T>(source, sourceStep, target, targetStep, rows, columns,
                  streams && canStream(target, targetStep, source));
}

}  // namespace

void transposeTiles(int64_t elementSize, const std::byte* source, int64_t sourceStep, std::byte* target,
                    int64_t targetStep, int64_t rows, int64_t columns, bool streams) {
  if (isInterleaved(elementSize, rows) && targetStep == rows * elementSize)
    return inParts(columns, [&](int64_t first, int64_t count) {
      interleaveTable().join(elementSize, source + first * elementSize, sourceStep, target + first * targetStep, rows,
                             count);
    });
  if (isInterleaved(elementSize, columns) && sourceStep == columns * elementSize)
    return inParts(rows, [&](int64_t first, int64_t count) {
      interleaveTable().split(elementSize, source + first * sourceStep, target + first * elementSize, targetStep,
                              columns, count);
    });
  switch (elementSize) {
    case 1:
      return transpose<uint8_t>(source, sourceStep, target, targetStep, rows, columns, streams);
    case 2:
      return transpose<uint16_t>(source, sourceStep, target, targetStep, rows, columns, streams);
    case 4:
      return transpose<uint32_t>(source, sourceStep, target, targetStep, rows, columns, streams);
    default:
      return transpose<uint64_t>(source, sourceStep, target, targetStep, rows, columns, streams);
  }
}

void transposeFloats(const float* source, int64_t sourceStep, float* target, int64_t targetStep, int64_t rows,
                     int64_t columns) {
  constexpr int64_t kSize = sizeof(float);
  transposeTiles(kSize, reinterpret_cast<const std::byte*>(source), sourceStep * kSize,
                 reinterpret_cast<std::byte*>(target), targetStep * kSize, rows, columns);
}

void transposeMatrices(const float* source, int64_t count, int64_t rows, int64_t columns, float* target) {
  for (int64_t i = 0; i < count; ++i, source += rows * columns, target += rows * columns) {
    passWork(rows * columns);  // they may be small and many
    transposeFloats(source, columns, target, rows, rows, columns);
  }
}

}  // namespace max
