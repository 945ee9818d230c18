// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/movement/interleave.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/movement/interleave.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

template <class T>
T* at(std::byte* data, int64_t step, int64_t channel) {
  return reinterpret_cast<T*>(data + channel * step);
}

template <class T>
const T* at(const std::byte* data, int64_t step, int64_t channel) {
  return reinterpret_cast<const T*>(data + channel * step);
}

template <class T, int kChannels>
void join(const std::byte* source, int64_t step, std::byte* target, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* to = at<T>(target, 0, 0);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, to += kChannels * lanes) {
    const auto a = hn::LoadU(d, at<T>(source, step, 0) + i), b = hn::LoadU(d, at<T>(source, step, 1) + i);
    const auto c = hn::LoadU(d, at<T>(source, step, 2) + i);
    if constexpr (kChannels == 3)
      hn::StoreInterleaved3(a, b, c, d, to);
    else
      hn::StoreInterleaved4(a, b, c, hn::LoadU(d, at<T>(source, step, 3) + i), d, to);
  }
  for (; i < count; ++i)
    for (int64_t c = 0; c < kChannels; ++c) *to++ = at<T>(source, step, c)[i];
}

template <class T, int kChannels>
void split(const std::byte* source, std::byte* target, int64_t step, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* from = at<T>(source, 0, 0);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes, from += kChannels * lanes) {
    hn::Vec<decltype(d)> v[4];
    if constexpr (kChannels == 3)
      hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    else
      hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    MAX_UNROLL for (int c = 0; c < kChannels; ++c) hn::StoreU(v[c], d, at<T>(target, step, c) + i);
  }
  for (; i < count; ++i)
    for (int64_t c = 0; c < kChannels; ++c) at<T>(target, step, c)[i] = *from++;
}

template <int kChannels>
void joinOf(int64_t size, const std::byte* source, int64_t step, std::byte* target, int64_t count) {
  const auto function = size == 1   ? join<uint8_t, kChannels>
                        : size == 2 ? join<uint16_t, kChannels>
                                    : join<uint32_t, kChannels>;
  function(source, step, target, count);
}

template <int kChannels>
void splitOf(int64_t size, const std::byte* source, std::byte* target, int64_t step, int64_t count) {
  const auto function = size == 1   ? split<uint8_t, kChannels>
                        : size == 2 ? split<uint16_t, kChannels>
                                    : split<uint32_t, kChannels>;
  function(source, target, step, count);
}

void joinAny(int64_t size, const std::byte* source, int64_t step, std::byte* target, int64_t channels, int64_t count) {
  (channels == 3 ? joinOf<3> : joinOf<4>)(size, source, step, target, count);
}

void splitAny(int64_t size, const std::byte* source, std::byte* target, int64_t step, int64_t channels, int64_t count) {
  (channels == 3 ? splitOf<3> : splitOf<4>)(size, source, target, step, count);
}

}  // namespace

extern const InterleaveTable kInterleave;
constexpr InterleaveTable kInterleave = {joinAny, splitAny};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const InterleaveTable& interleaveTable() { return MAX_CHOOSE_TARGET(kInterleave); }

}  // namespace max
#endif
