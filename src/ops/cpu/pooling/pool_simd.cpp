// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt_point.h"
#include "ops/cpu/pooling/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/pooling/pool_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/reduction/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

struct Greatest {
  static constexpr float kStart = -HUGE_VALF;
  static HWY_INLINE V join(V a, V b) { return hn::Max(a, b); }
};
struct Sum {
  static constexpr float kStart = 0;
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
};

// Taps of a row between interrupt checks.
constexpr int64_t kTaps = 4096;

template <class T, class Body>
HWY_INLINE void forEachTap(const T* x, const PoolWindow& window, const Body& body) {
  for (int64_t i = 0; i < window.count[0]; ++i)
    for (int64_t j = 0; j < window.count[1]; ++j) {
      const T* from = x + i * window.stride[0] + j * window.stride[1];
      int64_t rest = window.count[2];
      for (; rest > kTaps; rest -= kTaps) {
        for (int64_t k = 0; k < kTaps; ++k, from += window.stride[2]) body(from);
        passWork(8 * kTaps);
      }
      for (int64_t k = 0; k < rest; ++k, from += window.stride[2]) body(from);
    }
}

// Channels in blocks of four vectors that stay in registers for the whole window.
template <class Op>
HWY_INLINE void poolPixel(const float* x, const PoolWindow& window, int64_t channels, float factor, float* y) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V start = hn::Set(d, Op::kStart), by = hn::Set(d, factor);
  int64_t c = 0;
  for (; c + 4 * lanes <= channels; c += 4 * lanes) {
    V a = start, b = start, e = start, f = start;
    forEachTap(x + c, window, [&](const float* from) HWY_ATTR {
      a = Op::join(a, hn::LoadU(d, from));
      b = Op::join(b, hn::LoadU(d, from + lanes));
      e = Op::join(e, hn::LoadU(d, from + 2 * lanes));
      f = Op::join(f, hn::LoadU(d, from + 3 * lanes));
    });
    hn::StoreU(hn::Mul(a, by), d, y + c);
    hn::StoreU(hn::Mul(b, by), d, y + c + lanes);
    hn::StoreU(hn::Mul(e, by), d, y + c + 2 * lanes);
    hn::StoreU(hn::Mul(f, by), d, y + c + 3 * lanes);
  }
  forEachLane(channels - c, [&](int64_t i, size_t left) HWY_ATTR {
    V a = start;
    forEachTap(x + c + i, window, [&](const float* from) HWY_ATTR { a = Op::join(a, loadLanes(d, from, left)); });
    storeLanes(hn::Mul(a, by), d, y + c + i, left);
  });
}

// Calls pixel(x, y) for each pixel of the output.
template <class T, class Pixel>
HWY_INLINE void forEachOutput(const T* x, const PoolWindow& window, T* y, const Pixel& pixel) {
  for (int64_t i = 0; i < window.outputs; ++i, x += window.step, y += window.outStep) pixel(x, y);
}

void greatest(const float* x, const PoolWindow& window, int64_t channels, float* y) {
  forEachOutput(x, window, y,
                [&](const float* from, float* to) HWY_ATTR { poolPixel<Greatest>(from, window, channels, 1.f, to); });
}
void sum(const float* x, const PoolWindow& window, int64_t channels, float factor, float* y) {
  forEachOutput(x, window, y,
                [&](const float* from, float* to) HWY_ATTR { poolPixel<Sum>(from, window, channels, factor, to); });
}

HWY_INLINE void greatestNarrowPixel(const uint16_t* x, const PoolWindow& window, int64_t channels, uint16_t* y) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V start = hn::Set(d, Greatest::kStart);
  int64_t c = 0;
  for (; c + 2 * lanes <= channels; c += 2 * lanes) {
    V a = start, b = start;
    forEachTap(x + c, window, [&](const uint16_t* from) HWY_ATTR {
      a = hn::Max(a, loadWide(from, lanes));
      b = hn::Max(b, loadWide(from + lanes, lanes));
    });
    storeNarrow(a, y + c, lanes);
    storeNarrow(b, y + c + lanes, lanes);
  }
  for (; c < channels; c += lanes) {
    const int64_t left = std::min(lanes, channels - c);
    V a = start;
    forEachTap(x + c, window, [&](const uint16_t* from) HWY_ATTR { a = hn::Max(a, loadWide(from, left)); });
    storeNarrow(a, y + c, left);
  }
}

void greatestNarrow(const uint16_t* x, const PoolWindow& window, int64_t channels, uint16_t* y) {
  forEachOutput(x, window, y,
                [&](const uint16_t* from, uint16_t* to) HWY_ATTR { greatestNarrowPixel(from, window, channels, to); });
}

// Whole vectors of channels from c on.
template <class D, class T>
HWY_INLINE void greatestVectors(D d, const T* x, const PoolWindow& window, int64_t channels, int64_t& c, T* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; c + lanes <= channels; c += lanes) {
    auto most = hn::Set(d, std::numeric_limits<T>::lowest());
    forEachTap(x + c, window, [&](const T* from) HWY_ATTR { most = hn::Max(most, hn::LoadU(d, from)); });
    hn::StoreU(most, d, y + c);
  }
}

template <class T>
void greatestBytes(const T* x, const PoolWindow& window, int64_t channels, T* y) {
  forEachOutput(x, window, y, [&](const T* from, T* to) HWY_ATTR {
    int64_t c = 0;
    greatestVectors(hn::ScalableTag<T>(), from, window, channels, c, to);
    if constexpr (hn::MaxLanes(hn::ScalableTag<T>()) > 32)
      greatestVectors(hn::CappedTag<T, 32>(), from, window, channels, c, to);
    greatestVectors(hn::CappedTag<T, 8>(), from, window, channels, c, to);
    greatestVectors(hn::CappedTag<T, 1>(), from, window, channels, c, to);
  });
}

// Calls body(i) for vectors that cover a row of at least one; the last one overlaps the one before it.
template <class Body>
HWY_INLINE void forEachVector(int64_t count, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  for (int64_t i = 0; i < count;) {
    for (const int64_t end = std::min(count, i + kStepsPerLook); i < end; i += lanes) body(std::min(i, count - lanes));
    if (i < count) passWork(kStepsPerLook);
  }
}

// What rows of the output see of the columns: kCount rows of one slice.
template <class Op, int kCount>
HWY_INLINE void joinFew(const float* x, int64_t step, int64_t width, float* joined) {
  const F d;
  forEachVector(width, [&](int64_t i) HWY_ATTR {
    V sum = hn::LoadU(d, x + i);
    MAX_UNROLL for (int r = 1; r < kCount; ++r) sum = Op::join(sum, hn::LoadU(d, x + r * step + i));
    hn::StoreU(sum, d, joined + i);
  });
}

template <class Op>
HWY_INLINE void joinColumns(const PoolRows& rows, const PoolSpan& span, float* joined) {
  const F d;
  const float* x = rows.x + span.first * rows.width;
#if HWY_TARGET <= HWY_AVX2
  const bool isOne = rows.slices == 1 && rows.width >= static_cast<int64_t>(hn::Lanes(d));
  if (isOne && span.count == 2) return joinFew<Op, 2>(x, rows.rowStep, rows.width, joined);
  if (isOne && span.count == 3) return joinFew<Op, 3>(x, rows.rowStep, rows.width, joined);
#endif
  forEachLane(rows.width, [&](int64_t i, size_t left) HWY_ATTR {
    V sum = hn::Set(d, Op::kStart);
    for (int64_t s = 0; s < rows.slices; ++s) {
      const float* from = x + s * rows.sliceStep + i;
      for (int64_t r = 0; r < span.count; ++r, from += rows.rowStep) sum = Op::join(sum, loadLanes(d, from, left));
    }
    storeLanes(sum, d, joined + i, left);
  });
}

// Makes results of joined columns: joinTaps(where the first one's taps begin).
template <class Op, class Join>
HWY_INLINE void finishRow(const PoolRows& rows, int64_t h, const Join& joinTaps) {
  const F d;
  const float* joined = rows.joined + h * rows.joinedStep;
  float* out = rows.out + h * rows.outWidth;
  const V share = hn::Set(d, rows.share * rows.rows[h].share);
  const auto scaled = [&](V sum, V shares)
                          HWY_ATTR { return Op::kStart == 0 ? hn::Mul(sum, hn::Mul(share, shares)) : sum; };
  if (const auto lanes = static_cast<int64_t>(hn::Lanes(d)); rows.outWidth < lanes) {
    const auto count = static_cast<size_t>(rows.outWidth);
    const V shares = Op::kStart == 0 ? loadPartial(d, rows.shares, count) : share;
    return storePartial(scaled(joinTaps(joined), shares), d, out, count);
  }
  forEachVector(rows.outWidth, [&](int64_t i) HWY_ATTR {
    const V shares = Op::kStart == 0 ? hn::LoadU(d, rows.shares + i) : share;
    hn::StoreU(scaled(joinTaps(joined + i * rows.stride), shares), d, out + i);
  });
}

// Any taps; with a stride, elements that lie apart.
template <class Op>
HWY_INLINE V joinAny(const PoolRows& rows, const float* from) {
  const F d;
  const hn::RebindToSigned<F> di;
  const auto apart = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(rows.stride)));
  V sum = hn::Set(d, Op::kStart);
  if (rows.stride == 1)
    for (int64_t tap = 0; tap < rows.taps; ++tap, from += rows.dilation) sum = Op::join(sum, hn::LoadU(d, from));
  else
    for (int64_t tap = 0; tap < rows.taps; ++tap, from += rows.dilation)
      sum = Op::join(sum, hn::GatherIndex(d, from, apart));
  return sum;
}

// Neighbours that are kStride apart, and of which each sees up to as many elements more: some of each of their parts.
template <class Op, int kStride>
HWY_INLINE V joinParts(const float* from, int64_t taps) {
  const F d;
  V sum = hn::Set(d, Op::kStart);
  for (; taps > 0; taps -= kStride, from += kStride) {
    V a, b, c, e;
    if constexpr (kStride == 2) hn::LoadInterleaved2(d, from, a, b);
    if constexpr (kStride == 4) hn::LoadInterleaved4(d, from, a, b, c, e);
    sum = Op::join(sum, a);
    if (taps > 1) sum = Op::join(sum, b);
    if constexpr (kStride == 4) {
      if (taps > 2) sum = Op::join(sum, c);
      if (taps > 3) sum = Op::join(sum, e);
    }
  }
  return sum;
}

template <class Op>
HWY_INLINE void finishRow(const PoolRows& rows, int64_t h) {
  [[maybe_unused]] const F d;
#if HWY_TARGET <= HWY_AVX2  // the better, the smaller; others take the shorter code
  if (rows.stride == 1 && rows.taps == 3)
    return finishRow<Op>(rows, h, [&](const float* from) HWY_ATTR {
      const V two = Op::join(hn::LoadU(d, from), hn::LoadU(d, from + rows.dilation));
      return Op::join(two, hn::LoadU(d, from + 2 * rows.dilation));
    });
  if (rows.stride == 2 && rows.dilation == 1)
    return finishRow<Op>(rows, h, [&](const float* from) HWY_ATTR { return joinParts<Op, 2>(from, rows.taps); });
  if (rows.stride == 4 && rows.dilation == 1)
    return finishRow<Op>(rows, h, [&](const float* from) HWY_ATTR { return joinParts<Op, 4>(from, rows.taps); });
#endif
  finishRow<Op>(rows, h, [&](const float* from) HWY_ATTR { return joinAny<Op>(rows, from); });
}

template <class Op>
void poolRows(const PoolRows& rows) {
  for (int64_t h = 0; h < rows.count; ++h)
    joinColumns<Op>(rows, rows.rows[h], rows.joined + h * rows.joinedStep + rows.before);
  for (int64_t h = 0; h < rows.count; ++h) finishRow<Op>(rows, h);
}

}  // namespace

extern const PoolTable kPoolTable;
const PoolTable kPoolTable = {greatest, greatestNarrow,     greatestBytes<int8_t>, greatestBytes<uint8_t>,
                              sum,      poolRows<Greatest>, poolRows<Sum>};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const PoolTable& poolTable() { return MAX_CHOOSE_TARGET(kPoolTable); }
}  // namespace max
#endif
