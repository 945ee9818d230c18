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

// Channels [c, c + kVectors * lanes).
template <int kVectors, class D32>
HWY_INLINE void vectors(D32 d, const DepthwiseBytes& pixel, int64_t c) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const hn::Rebind<uint8_t, D32> d8;
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

// False if there are fewer channels than lanes.
template <class D32>
bool runVectors(D32 d, const DepthwiseBytes& pixel) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (pixel.channels < kLanes) return false;
  int64_t c = 0;
  for (; c + 2 * kLanes <= pixel.channels; c += 2 * kLanes) vectors<2>(d, pixel, c);
  for (; c + kLanes <= pixel.channels; c += kLanes) vectors<1>(d, pixel, c);
  // The last vector overlaps the one before it.
  if (c < pixel.channels) vectors<1>(d, pixel, pixel.channels - kLanes);
  return true;
}

void run(const DepthwiseBytes& pixel) {
  if (runVectors(hn::ScalableTag<int32_t>(), pixel) || runVectors(hn::CappedTag<int32_t, 4>(), pixel)) return;
  for (int64_t c = 0; c < pixel.channels; ++c) channel(pixel, c);
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
