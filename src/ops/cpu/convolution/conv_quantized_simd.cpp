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

#if HWY_TARGET == HWY_AVX2
// The same of 16 channels a block: the bytes of two taps are interleaved before they become integers of 16 bits.
template <int kBlocks>
HWY_INLINE void blocks(const DepthwiseBytes& pixel, int64_t c) {
  const hn::Full128<uint8_t> d8;
  const hn::Full256<int16_t> d16;
  const hn::Full256<int32_t> d;
  const auto flip = hn::Set(d8, pixel.flip);
  hn::Vec<decltype(d)> sum[2 * kBlocks];
  MAX_UNROLL for (int v = 0; v < 2 * kBlocks; ++v) sum[v] = hn::Zero(d);
  for (int64_t pair = 0; pair < pixel.pairs; ++pair) {
    const uint8_t* first = pixel.columns[pixel.offsets[2 * pair]] + c;
    const uint8_t* second = pixel.columns[pixel.offsets[2 * pair + 1]] + c;
    const auto* weights = reinterpret_cast<const int32_t*>(pixel.weights) + pair * pixel.channels + c;
    MAX_UNROLL for (int v = 0; v < 2 * kBlocks; v += 2) {
      const auto a = hn::Xor(hn::LoadU(d8, first + v * 8), flip), b = hn::Xor(hn::LoadU(d8, second + v * 8), flip);
      const auto low = hn::PromoteTo(d16, hn::InterleaveLower(d8, a, b));
      const auto high = hn::PromoteTo(d16, hn::InterleaveUpper(d8, a, b));
      sum[v] = multiplyPairs(hn::BitCast(d, low), hn::LoadU(d, weights + v * 8), sum[v]);
      sum[v + 1] = multiplyPairs(hn::BitCast(d, high), hn::LoadU(d, weights + v * 8 + 8), sum[v + 1]);
    }
  }
  MAX_UNROLL for (int v = 0; v < 2 * kBlocks; ++v) hn::StoreU(sum[v], d, pixel.sums + c + v * 8);
}

// Returns how many channels it has done.
int64_t runBlocks(const DepthwiseBytes& pixel) {
  int64_t c = 0;
  for (; c + 32 <= pixel.channels; c += 32) blocks<2>(pixel, c);
  for (; c + 16 <= pixel.channels; c += 16) blocks<1>(pixel, c);
  return c;
}
#else
int64_t runBlocks(const DepthwiseBytes&) { return 0; }
#endif

// False if there are fewer channels than lanes.
template <class D32>
bool runVectors(D32 d, const DepthwiseBytes& pixel) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (pixel.channels < kLanes) return false;
  int64_t c = runBlocks(pixel);
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
