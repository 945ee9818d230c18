// SPDX-License-Identifier: Apache-2.0
// Planes of few rows are pooled with their borders masked, so that no row is copied first.
#include <algorithm>
#include <cmath>

#include "ops/cpu/pooling/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/pooling/pool_planes.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if MAX_MASKED_MEMORY

template <class D>
struct Greatest {
  using V = hn::Vec<D>;
  static constexpr bool kIsMean = false;
  static HWY_INLINE V start() { return hn::Set(D(), -HUGE_VALF); }
  static HWY_INLINE V join(V a, V b) { return hn::Max(a, b); }
  // Lanes that the mask leaves out are the start.
  static HWY_INLINE V load(hn::Mask<D> mask, const float* from) {
    return hn::IfThenElse(mask, hn::MaskedLoad(mask, D(), from), start());
  }
  static HWY_INLINE V scaled(V joined, float, V) { return joined; }
};
template <class D>
struct Mean {
  using V = hn::Vec<D>;
  static constexpr bool kIsMean = true;
  static HWY_INLINE V start() { return hn::Zero(D()); }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V load(hn::Mask<D> mask, const float* from) { return hn::MaskedLoad(mask, D(), from); }
  static HWY_INLINE V scaled(V joined, float row, V columns) {
    return hn::Mul(joined, hn::Mul(hn::Set(D(), row), columns));
  }
};

// Loads of some neighbours of a row, of which not all exist.
template <class D, int kTaps, int kStride>
struct Neighbours {
  static constexpr int kLoads = kStride == 1 ? kTaps : (kTaps + 1) / 2 * 2;
  // With a stride of two, two vectors hold the elements of two taps.
  static constexpr int64_t offsetOf(int load) {
    constexpr int64_t kLanes = hn::MaxLanes(D());
    return kStride == 1 ? load : load / 2 * 2 + load % 2 * kLanes;
  }

  // Those in [begin, end) exist.
  HWY_INLINE Neighbours(int64_t begin, int64_t end) {
    const hn::RebindToSigned<D> di;
    for (int i = 0; i < kLoads; ++i) {
      const auto lane = hn::Add(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(offsetOf(i))));
      const auto isBefore = hn::Lt(lane, hn::Set(di, static_cast<int32_t>(begin)));
      masks[i] = hn::RebindMask(D(), hn::AndNot(isBefore, hn::Lt(lane, hn::Set(di, static_cast<int32_t>(end)))));
    }
  }

  hn::Mask<D> masks[kLoads];
};

// Neighbours in each row of a plane become a vector of `joined`.
template <template <class> class Kind, class D, int kTaps, int kStride>
HWY_INLINE void joinNeighbours(D d, const PoolPlanes& planes, const Neighbours<D, kTaps, kStride>& these,
                               const float* from, float* joined) {
  using Op = Kind<D>;
  using N = Neighbours<D, kTaps, kStride>;
  using V = hn::Vec<D>;
  for (int64_t row = 0; row < planes.height; ++row, from += planes.width, joined += hn::MaxLanes(d)) {
    V sum;
    if constexpr (kStride == 1) {
      sum = Op::load(these.masks[0], from);
      MAX_UNROLL for (int i = 1; i < kTaps; ++i) sum = Op::join(sum, Op::load(these.masks[i], from + i));
    } else {
      MAX_UNROLL for (int i = 0; i < N::kLoads; i += 2) {
        const V low = Op::load(these.masks[i], from + N::offsetOf(i));
        const V high = Op::load(these.masks[i + 1], from + N::offsetOf(i + 1));
        const V even = hn::ConcatEven(d, high, low);
        sum = i == 0 ? even : Op::join(sum, even);
        if (i + 1 < kTaps) sum = Op::join(sum, hn::ConcatOdd(d, high, low));
      }
    }
    hn::Store(sum, d, joined);
  }
}

template <class Op, class D>
HWY_INLINE hn::Vec<D> joinRows(D d, const PoolPlanes& planes, const PoolSpan& span, const float* joined) {
  const int64_t step = planes.rowsApart * static_cast<int64_t>(hn::MaxLanes(d));
  joined += span.first * static_cast<int64_t>(hn::MaxLanes(d));
  if (span.count == 3)
    return Op::join(Op::join(hn::Load(d, joined), hn::Load(d, joined + step)), hn::Load(d, joined + 2 * step));
  hn::Vec<D> sum = Op::start();
  for (int64_t i = 0; i < span.count; ++i, joined += step) sum = Op::join(sum, hn::Load(d, joined));
  return sum;
}

// Vectors of at most kMostLanes.
template <template <class> class Kind, int kTaps, int kStride, size_t kMostLanes>
void poolPlanes(const PoolPlanes& planes) {
  const hn::CappedTag<float, kMostLanes> d;
  using D = hn::CappedTag<float, kMostLanes>;
  using Op = Kind<D>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN float joined[kMostPlaneRows * kLanes];
  const bool isNarrow = planes.outWidth < kLanes;
  const auto inside = static_cast<size_t>(std::min(planes.outWidth, kLanes));
  for (int64_t at = 0; at < planes.outWidth; at += kLanes) {
    // The last vector overlaps the one before.
    const int64_t column = isNarrow ? 0 : std::min(at, planes.outWidth - kLanes);
    const int64_t first = column * kStride - planes.before;
    const Neighbours<D, kTaps, kStride> these(-first, planes.width - first);
    const auto shares = Op::kIsMean ? loadPartial(d, planes.shares + column, inside) : hn::Zero(d);
    const float* from = planes.x + first;
    float* to = planes.out + column;
    for (int64_t plane = 0; plane < planes.planes; ++plane, from += planes.height * planes.width) {
      joinNeighbours<Kind>(d, planes, these, from, joined);
      for (int64_t h = 0; h < planes.outHeight; ++h, to += planes.outWidth) {
        const auto result = Op::scaled(joinRows<Op>(d, planes, planes.rows[h], joined), planes.rows[h].share, shares);
        if (isNarrow)
          storePartial(result, d, to, inside);
        else
          hn::StoreU(result, d, to);
      }
    }
  }
}

template <template <class> class Kind, size_t kMostLanes>
PoolPlanesFunction functionOf(int64_t taps, int64_t stride) {
  if (taps == 2 && stride == 2) return poolPlanes<Kind, 2, 2, kMostLanes>;
  if (taps == 3 && stride == 1) return poolPlanes<Kind, 3, 1, kMostLanes>;
  if (taps == 3 && stride == 2) return poolPlanes<Kind, 3, 2, kMostLanes>;
  return nullptr;
}

template <template <class> class Kind>
PoolPlanesFunction functionOf(int64_t taps, int64_t stride, int64_t outWidth) {
  constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  if (kLanes > 8 && outWidth <= 8) return functionOf<Kind, 8>(taps, stride);
  if (taps == 5 && stride == 1) return poolPlanes<Kind, 5, 1, kLanes>;
  return functionOf<Kind, kLanes>(taps, stride);
}

PoolPlanesFunction planesOf(bool isMean, int64_t taps, int64_t stride, int64_t outWidth) {
  return isMean ? functionOf<Mean>(taps, stride, outWidth) : functionOf<Greatest>(taps, stride, outWidth);
}

#else

PoolPlanesFunction planesOf(bool, int64_t, int64_t, int64_t) { return nullptr; }

#endif

}  // namespace

extern const PoolPlanesTable kPoolPlanesTable;
const PoolPlanesTable kPoolPlanesTable = {planesOf};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
PoolPlanesFunction poolPlanesOf(bool isMean, int64_t taps, int64_t stride, int64_t outWidth) {
  return MAX_CHOOSE_TARGET(kPoolPlanesTable).of(isMean, taps, stride, outWidth);
}
}  // namespace max
#endif
