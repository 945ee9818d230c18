// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/movement/transpose_lines.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/movement/transpose_lines.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

template <class T>
constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
template <class T>
constexpr int64_t kBlocks = static_cast<int64_t>(sizeof(T)) * kLanes<T> / 16;

#if HWY_TARGET != HWY_SCALAR
template <class T>
using VectorOf = hn::Vec<hn::ScalableTag<T>>;

// Blocks of as many rows as they have elements: rows k and k + half of them are interleaved until each block is a
// column.
template <class T>
HWY_INLINE void transposeBlocks(const std::byte* source, int64_t step, VectorOf<T>* columns) {
  const hn::ScalableTag<T> d;
  constexpr int kRows = 16 / sizeof(T);
  VectorOf<T> next[kRows];
  MAX_UNROLL
  for (int i = 0; i < kRows; ++i) columns[i] = hn::LoadU(d, reinterpret_cast<const T*>(source + i * step));
  MAX_UNROLL
  for (int round = 1; round < kRows; round *= 2) {
    MAX_UNROLL
    for (int i = 0; i < kRows / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, columns[i], columns[i + kRows / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, columns[i], columns[i + kRows / 2]);
    }
    MAX_UNROLL
    for (int i = 0; i < kRows; ++i) columns[i] = next[i];
  }
}

// Block b of vector k becomes block k of vector b.
template <class T>
HWY_INLINE void swapBlocks(VectorOf<T>* v) {
  const hn::ScalableTag<T> d;
  using V = VectorOf<T>;
  if constexpr (kBlocks<T> == 2) {
    const V low = hn::ConcatLowerLower(d, v[1], v[0]);
    v[1] = hn::ConcatUpperUpper(d, v[1], v[0]);
    v[0] = low;
  } else {
    const V even0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[1]), v[0]);
    const V odd0 = hn::OddEvenBlocks(v[1], hn::SwapAdjacentBlocks(v[0]));
    const V even1 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[3]), v[2]);
    const V odd1 = hn::OddEvenBlocks(v[3], hn::SwapAdjacentBlocks(v[2]));
    v[0] = hn::ConcatLowerLower(d, even1, even0);
    v[1] = hn::ConcatLowerLower(d, odd1, odd0);
    v[2] = hn::ConcatUpperUpper(d, even1, even0);
    v[3] = hn::ConcatUpperUpper(d, odd1, odd0);
  }
}

// As many rows and columns as a vector has elements. Its code is long: one copy is enough.
template <class T>
HWY_NOINLINE void transposeVectors(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep,
                                   bool streams) {
  const hn::ScalableTag<T> d;
  constexpr int kRows = 16 / sizeof(T), kCount = static_cast<int>(kBlocks<T>);
  VectorOf<T> parts[kCount][kRows];
  for (int b = 0; b < kCount; ++b) transposeBlocks<T>(source + b * kRows * sourceStep, sourceStep, parts[b]);
  for (int k = 0; k < kRows; ++k) {
    VectorOf<T> columns[kCount];
    for (int b = 0; b < kCount; ++b) columns[b] = parts[b][k];
    swapBlocks<T>(columns);
    for (int b = 0; b < kCount; ++b) {
      T* to = reinterpret_cast<T*>(target + (b * kRows + k) * targetStep);
      if (streams)
        hn::Stream(columns[b], d, to);
      else
        hn::StoreU(columns[b], d, to);
    }
  }
}

template <class T>
void transposeSquare(const std::byte* source, int64_t sourceStep, std::byte* target, int64_t targetStep, bool streams) {
  constexpr int64_t kSize = sizeof(T), kSide = sideOfSquare(kSize);
  // Parts of one line follow each other.
  for (int64_t c = 0; c < kSide; c += kLanes<T>)
    for (int64_t r = 0; r < kSide; r += kLanes<T>)
      transposeVectors<T>(source + r * sourceStep + c * kSize, sourceStep, target + c * targetStep + r * kSize,
                          targetStep, streams);
}

#endif

void streamLines(const std::byte* source, std::byte* target, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const auto* from = reinterpret_cast<const uint8_t*>(source);
  auto* to = reinterpret_cast<uint8_t*>(target);
  for (int64_t i = 0; i < bytes; i += kLanes<uint8_t>) hn::Stream(hn::LoadU(d, from + i), d, to + i);
}

template <class T>
constexpr TransposeLines transposeOf() {
#if HWY_TARGET != HWY_SCALAR
  constexpr bool kHasBlocks = kBlocks<T> >= 2;
  if constexpr (kHasBlocks) return transposeSquare<T>;
#endif
  return nullptr;
}

}  // namespace

extern const TransposeLinesTable kTransposeLines;
constexpr TransposeLinesTable kTransposeLines = {
    {transposeOf<uint8_t>(), transposeOf<uint16_t>(), transposeOf<uint32_t>(), transposeOf<uint64_t>()},
    kBlocks<uint8_t> >= 2 ? streamLines : nullptr};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const TransposeLinesTable& transposeLinesTable() { return MAX_CHOOSE_TARGET(kTransposeLines); }

}  // namespace max
#endif
