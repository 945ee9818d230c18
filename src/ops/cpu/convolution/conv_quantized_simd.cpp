// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_quantized.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_quantized_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/matrix/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D32 = hn::ScalableTag<int32_t>;
using D8 = hn::Rebind<uint8_t, D32>;
constexpr int64_t kLanes = hn::MaxLanes(D32());

// Channels [c, c + kVectors * kLanes).
template <int kVectors>
HWY_INLINE void vectors(const DepthwiseBytes& pixel, int64_t c) {
  const D32 d;
  const D8 d8;
  const auto flip = hn::Set(d8, pixel.flip);
  hn::Vec<D32> sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (int64_t pair = 0; pair < pixel.pairs; ++pair) {
    const uint8_t* first = pixel.columns[pixel.offsets[2 * pair]] + c;
    const uint8_t* second = pixel.columns[pixel.offsets[2 * pair + 1]] + c;
    const auto* weights = reinterpret_cast<const int32_t*>(pixel.weights) + pair * pixel.channels + c;
    for (int v = 0; v < kVectors; ++v) {
      const auto low = hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, first + v * kLanes), flip));
      const auto high = hn::PromoteTo(d, hn::Xor(hn::LoadU(d8, second + v * kLanes), flip));
      const auto word = hn::Or(low, hn::ShiftLeft<16>(high));
      sum[v] = multiplyPairs(word, hn::LoadU(d, weights + v * kLanes), sum[v]);
    }
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, pixel.sums + c + v * kLanes);
}

void channel(const DepthwiseBytes& pixel, int64_t c) {
  int32_t sum = 0;
  for (int64_t tap = 0; tap < 2 * pixel.pairs; ++tap) {
    const int32_t x = pixel.columns[pixel.offsets[tap]][c] ^ pixel.flip;
    sum += x * pixel.weights[2 * (tap / 2 * pixel.channels + c) + tap % 2];
  }
  pixel.sums[c] = sum;
}

void run(const DepthwiseBytes& pixel) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= pixel.channels; c += 2 * kLanes) vectors<2>(pixel, c);
  for (; c + kLanes <= pixel.channels; c += kLanes) vectors<1>(pixel, c);
  if (c == pixel.channels) return;
  // The last vector overlaps the one before it.
  if (c > 0) return vectors<1>(pixel, pixel.channels - kLanes);
  for (; c < pixel.channels; ++c) channel(pixel, c);
}

}  // namespace

extern const DepthwiseBytesFunction kDepthwiseBytes;
constexpr DepthwiseBytesFunction kDepthwiseBytes = run;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
DepthwiseBytesFunction depthwiseBytesFunction() { return MAX_CHOOSE_TARGET(kDepthwiseBytes); }
}  // namespace max
#endif
