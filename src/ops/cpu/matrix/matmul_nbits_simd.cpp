// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matrix/matmul_nbits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matrix/matmul_nbits_simd.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

template <class D>
void expandBlocks(D d, const NBitsBlocks& weights, float* to) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const hn::Rebind<uint8_t, D> d8;
  const hn::Rebind<int32_t, D> d32;
  const int planes = 8 / weights.bits;
  const auto mask = hn::Set(d32, (1 << weights.bits) - 1);
  const int64_t planeSize = weights.blocks * weights.bytesPerBlock;
  for (int64_t block = 0; block < weights.blocks; ++block) {
    const auto scale = hn::Set(d, weights.scales[block]);
    const auto zero = hn::Set(d, weights.zeros[block]);
    const int64_t begin = block * weights.bytesPerBlock;
    for (int64_t i = begin; i < begin + weights.bytesPerBlock; i += kLanes) {
      auto bytes = hn::PromoteTo(d32, hn::LoadU(d8, weights.bytes + i));
      for (int plane = 0; plane < planes; ++plane) {
        const auto value = hn::ConvertTo(d, hn::And(bytes, mask));
        hn::StoreU(hn::Mul(hn::Sub(value, zero), scale), d, to + plane * planeSize + i);
        bytes = hn::ShiftRightSame(bytes, weights.bits);
      }
    }
  }
}

// The sums of one block are scaled once.
template <int kRows, int kBits, class D>
void dotBlocks(D d, const NBitsBlocks& weights, const float* const* rows, float* results) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  constexpr int kPlanes = 8 / kBits;
  const hn::Rebind<uint8_t, D> d8;
  const hn::Rebind<int32_t, D> d32;
  const auto mask = hn::Set(d32, (1 << kBits) - 1);
  const int64_t planeSize = weights.blocks * weights.bytesPerBlock;
  hn::Vec<D> sums[kRows];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t block = 0; block < weights.blocks; ++block) {
    const auto zero = hn::Set(d, weights.zeros[block]);
    const int64_t begin = block * weights.bytesPerBlock;
    hn::Vec<D> parts[kRows];
    for (auto& part : parts) part = hn::Zero(d);
    for (int64_t i = begin; i < begin + weights.bytesPerBlock; i += kLanes) {
      auto bytes = hn::PromoteTo(d32, hn::LoadU(d8, weights.bytes + i));
      for (int plane = 0; plane < kPlanes; ++plane) {
        const auto value = hn::Sub(hn::ConvertTo(d, hn::And(bytes, mask)), zero);
        for (int row = 0; row < kRows; ++row)
          parts[row] = hn::MulAdd(value, hn::LoadU(d, rows[row] + plane * planeSize + i), parts[row]);
        if (kPlanes > 1) bytes = hn::ShiftRightSame(bytes, kBits);
      }
    }
    const auto scale = hn::Set(d, weights.scales[block]);
    for (int row = 0; row < kRows; ++row) sums[row] = hn::MulAdd(parts[row], scale, sums[row]);
  }
  for (int row = 0; row < kRows; ++row) results[row] = hn::GetLane(hn::SumOfLanes(d, sums[row]));
}

// Blocks are powers of two of at least 4 bytes.
template <class Function>
void withLanes(const NBitsBlocks& weights, Function function) {
  const hn::ScalableTag<float> full;
  if (weights.bytesPerBlock >= static_cast<int64_t>(hn::MaxLanes(full)))
    function(full);
  else
    function(hn::CappedTag<float, 4>());
}

void expand(const NBitsBlocks& weights, float* to) {
  withLanes(weights, [&](auto d) { expandBlocks(d, weights, to); });
}

template <int kRows>
void dotRows(const NBitsBlocks& weights, const float* const* rows, float* results) {
  withLanes(weights, [&](auto d) {
    if (weights.bits == 4)
      dotBlocks<kRows, 4>(d, weights, rows, results);
    else if (weights.bits == 8)
      dotBlocks<kRows, 8>(d, weights, rows, results);
    else
      dotBlocks<kRows, 2>(d, weights, rows, results);
  });
}

void dot(const NBitsBlocks& weights, const float* const* rows, int64_t rowCount, float* results) {
  switch (rowCount) {
    case 1:
      return dotRows<1>(weights, rows, results);
    case 2:
      return dotRows<2>(weights, rows, results);
    case 3:
      return dotRows<3>(weights, rows, results);
    default:
      return dotRows<4>(weights, rows, results);
  }
}

}  // namespace

extern const NBitsTable kNBitsTable;
constexpr NBitsTable kNBitsTable = {expand, dot};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const NBitsTable& nBitsTable() { return MAX_CHOOSE_TARGET(kNBitsTable); }

}  // namespace max
#endif
