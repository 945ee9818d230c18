// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/matmul_nbits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/matmul_nbits_kernels.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

template <class D>
void expandBlocks(D d, const PackedWeights& weights, float* to) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const hn::Rebind<uint8_t, D> d8;
  const hn::Rebind<int32_t, D> d32;
  const int planes = 8 / weights.bits;
  const auto mask = hn::Set(d32, (1 << weights.bits) - 1);
  const int64_t planeSize = weights.blocks * weights.bytesPerBlock;
  for (int64_t block = 0; block < weights.blocks; ++block) {
    const auto scale = hn::Set(d, weights.scales[block]);
    const auto shift = hn::Set(d, -weights.zeros[block] * weights.scales[block]);
    const int64_t begin = block * weights.bytesPerBlock;
    for (int64_t i = begin; i < begin + weights.bytesPerBlock; i += kLanes) {
      auto bytes = hn::PromoteTo(d32, hn::LoadU(d8, weights.bytes + i));
      for (int plane = 0; plane < planes; ++plane) {
        const auto value = hn::ConvertTo(d, hn::And(bytes, mask));
        hn::StoreU(hn::MulAdd(value, scale, shift), d, to + plane * planeSize + i);
        bytes = hn::ShiftRightSame(bytes, weights.bits);
      }
    }
  }
}

// Blocks are powers of two of at least 4 bytes.
void expand(const PackedWeights& weights, float* to) {
  const hn::ScalableTag<float> full;
  if (weights.bytesPerBlock >= static_cast<int64_t>(hn::MaxLanes(full)))
    expandBlocks(full, weights, to);
  else
    expandBlocks(hn::CappedTag<float, 4>(), weights, to);
}

template <int kRows>
void dotRows(const float* weights, const float* const* rows, int64_t count, float* results) {
  const hn::ScalableTag<float> d;
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  hn::Vec<hn::ScalableTag<float>> sums[kRows];
  for (auto& sum : sums) sum = hn::Zero(d);
  for (int64_t i = 0; i < count; i += kLanes) {
    const auto weight = hn::LoadU(d, weights + i);
    for (int row = 0; row < kRows; ++row) sums[row] = hn::MulAdd(weight, hn::LoadU(d, rows[row] + i), sums[row]);
  }
  for (int row = 0; row < kRows; ++row) results[row] = hn::GetLane(hn::SumOfLanes(d, sums[row]));
}

void dot(const float* weights, const float* const* rows, int64_t rowCount, int64_t count, float* results) {
  switch (rowCount) {
    case 1:
      return dotRows<1>(weights, rows, count, results);
    case 2:
      return dotRows<2>(weights, rows, count, results);
    case 3:
      return dotRows<3>(weights, rows, count, results);
    default:
      return dotRows<4>(weights, rows, count, results);
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
