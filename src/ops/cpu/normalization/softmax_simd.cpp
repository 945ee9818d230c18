// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/cpu/normalization/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/normalization/softmax_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/math-inl.h"
#include "ops/cpu/quantization/quantize.h"
#include "ops/cpu/reduction/fold-inl.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

void shortRow(const float* x, float* y, size_t size, bool logarithm) {
  const F d;
  const auto inside = hn::FirstN(d, size);
  const V value = loadPartial(d, x, size);
  const V largest = hn::MaxOfLanes(d, hn::IfThenElse(inside, value, hn::Set(d, -HUGE_VALF)));
  const V shifted = hn::Sub(value, largest);
  const V e = hn::IfThenElseZero(inside, softmaxWeight(d, shifted, kPowers));
  const V sum = hn::SumOfLanes(d, e);
  if (logarithm)
    storePartial(hn::Sub(shifted, hn::Set(d, std::log(hn::GetLane(sum)))), d, y, size);
  else
    storePartial(hn::Mul(e, hn::Div(hn::Set(d, 1.f), sum)), d, y, size);
}

// y = function(x)
template <class Function>
HWY_INLINE void finish(const float* x, float* y, int64_t size, bool isStreamed, const Function& function) {
  const F d;
  if (isStreamed)
    forEachLane(size, [=](int64_t i, size_t) HWY_ATTR { hn::Stream(function(hn::LoadU(d, x + i)), d, y + i); });
  else
    forEachLane(size, [=](int64_t i, size_t left)
                          HWY_ATTR { storeLanes(function(loadLanes(d, x + i, left)), d, y + i, left); });
}

void row(const float* x, float* y, int64_t size, bool logarithm, float* weights) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (size <= lanes) return shortRow(x, y, static_cast<size_t>(size), logarithm);
  const float largest = foldMax(x, size);
  const V shift = hn::Set(d, largest);
  V sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  float* to = weights ? weights : y;
  const auto step = [&](int64_t i) HWY_ATTR {
    const V e = softmaxWeight(d, hn::Sub(hn::LoadU(d, x + i), shift), kPowers);
    if (weights) __builtin_prefetch(x + 2 * size + i);
    if (!logarithm) hn::StoreU(e, d, to + i);
    return e;
  };
  int64_t i = 0;
  for (int64_t end = size < kStepsPerLook ? size : kStepsPerLook;;) {
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      sum0 = hn::Add(sum0, step(i));
      sum1 = hn::Add(sum1, step(i + lanes));
    }
    if (end == size) break;
    passWork(kStepsPerLook);
    end = size - end < kStepsPerLook ? size : end + kStepsPerLook;
  }
  for (; i + lanes <= size; i += lanes) sum0 = hn::Add(sum0, step(i));
  if (i < size) {
    const auto left = static_cast<size_t>(size - i);
    const V e = softmaxWeight(d, hn::Sub(loadPartial(d, x + i, left), shift), kPowers);
    if (!logarithm) storePartial(e, d, to + i, left);
    sum1 = hn::Add(sum1, hn::IfThenElseZero(hn::FirstN(d, left), e));
  }
  const float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  const V by = hn::Set(d, logarithm ? largest + std::log(sum) : 1 / sum);
  if (logarithm)
    finish(x, y, size, weights, [=](V v) HWY_ATTR { return hn::Sub(v, by); });
  else
    finish(to, y, size, weights, [=](V v) HWY_ATTR { return hn::Mul(v, by); });
}

// Of lines of which two are computed at once. AVX-512 has 32 registers, others have half as many.
constexpr int64_t kMostVectors = HWY_TARGET == HWY_AVX3 ? 8 : 4;
constexpr int64_t kLongestInRegisters = kMostVectors * static_cast<int64_t>(hn::MaxLanes(F()));

#if MAX_MASKED_MEMORY
// kRows rows at once, `stride` apart, each in kVectors registers, of which the lower half is full: a row alone waits
// for its own sums.
template <int kVectors, int kRows>
HWY_NOINLINE void shortRows(const float* x, float* y, int64_t stride, int64_t size, bool logarithm) {
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto isFull = [](int v) { return v < kVectors / 2; };
  // Of a vector that is not full.
  const auto countIn = [=](int v) {
    return static_cast<size_t>(HWY_MAX(int64_t{0}, HWY_MIN(size - v * lanes, lanes)));
  };
  const auto load = [=](const float* from, int v) HWY_ATTR {
    if (isFull(v)) return hn::LoadU(d, from + v * lanes);
    const auto inside = hn::FirstN(d, countIn(v));
    return hn::IfThenElse(inside, hn::MaskedLoad(inside, d, from + v * lanes), hn::Set(d, -HUGE_VALF));
  };
  V numbers[kRows][kVectors], largest[kRows], sum[kRows];
  MAX_UNROLL for (int r = 0; r < kRows; ++r) {
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) {
      numbers[r][v] = load(x + r * stride, v);
      largest[r] = v == 0 ? numbers[r][v] : hn::Max(largest[r], numbers[r][v]);
    }
  }
  MAX_UNROLL for (int r = 0; r < kRows; ++r) largest[r] = hn::MaxOfLanes(d, largest[r]);
  MAX_UNROLL for (int v = 0; v < kVectors; ++v) {
    MAX_UNROLL for (int r = 0; r < kRows; ++r) {
      numbers[r][v] = softmaxWeight(d, hn::Sub(numbers[r][v], largest[r]), kPowers);
      if (!isFull(v)) numbers[r][v] = hn::IfThenElseZero(hn::FirstN(d, countIn(v)), numbers[r][v]);
      sum[r] = v == 0 ? numbers[r][v] : hn::Add(sum[r], numbers[r][v]);
    }
  }
  V by[kRows];
  MAX_UNROLL for (int r = 0; r < kRows; ++r) {
    sum[r] = hn::SumOfLanes(d, sum[r]);
    by[r] = logarithm ? hn::Set(d, hn::GetLane(largest[r]) + std::log(hn::GetLane(sum[r])))
                      : hn::Div(hn::Set(d, 1.f), sum[r]);
  }
  MAX_UNROLL for (int r = 0; r < kRows; ++r) {
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) numbers[r][v] =
        logarithm ? hn::Sub(load(x + r * stride, v), by[r]) : hn::Mul(numbers[r][v], by[r]);
  }
  MAX_UNROLL for (int r = 0; r < kRows; ++r) {
    MAX_UNROLL for (int v = 0; v < kVectors; ++v) {
      float* to = y + r * stride + v * lanes;
      if (isFull(v))
        hn::StoreU(numbers[r][v], d, to);
      else
        storePartial(numbers[r][v], d, to, countIn(v));
    }
  }
}
#endif

void rows(const float* x, float* y, int64_t count, int64_t size, bool logarithm, float* weights) {
  int64_t i = 0;
#if MAX_MASKED_MEMORY
  constexpr int64_t kMostOfLogarithms = 4;
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  if (logarithm ? size > lanes && size <= kMostOfLogarithms * lanes : size <= kLongestInRegisters) {
    const int64_t some = size <= lanes ? 4 : 2;
    const auto function = size <= lanes       ? shortRows<1, 4>
                          : size <= 2 * lanes ? shortRows<2, 2>
                          : size <= 4 * lanes ? shortRows<4, 2>
                                              : shortRows<kMostVectors, 2>;
    for (; i + some <= count; i += some) function(x + i * size, y + i * size, size, size, logarithm);
    // The last ones take the place of all, so that each row is computed alike; one of a vector is by itself, too.
    for (; i < count && size > lanes; ++i) function(x + i * size, y + i * size, 0, size, logarithm);
  }
#endif
  for (; i < count; ++i) row(x + i * size, y + i * size, size, logarithm, weights);
}

void columns(const float* x, float* y, int64_t size, int64_t stride, int64_t count, float* scratch, bool logarithm) {
  const F d;
  float* largest = scratch;
  float* sum = scratch + count;
  WorkCounter work;
  // Calls body(offset in a line of columns, lanes) for all vectors of element `k` of the lines.
  const auto forEach = [count](const auto& body) HWY_ATTR { forEachLane(count, body); };
  forEach([&](int64_t i, size_t left) HWY_ATTR {
    V best = loadLanes(d, x + i, left);
    for (int64_t k = 1; k < size; ++k) best = hn::Max(best, loadLanes(d, x + k * stride + i, left));
    work.pass(size);
    storeLanes(best, d, largest + i, left);
    storeLanes(hn::Zero(d), d, sum + i, left);
  });
  for (int64_t k = 0; k < size; ++k, work.pass(count))
    forEach([&](int64_t i, size_t left) HWY_ATTR {
      const V shifted = hn::Sub(loadLanes(d, x + k * stride + i, left), loadLanes(d, largest + i, left));
      const V e = softmaxWeight(d, shifted, kPowers);
      storeLanes(hn::Add(loadLanes(d, sum + i, left), e), d, sum + i, left);
      if (!logarithm) storeLanes(e, d, y + k * stride + i, left);
    });
  for (int64_t i = 0; i < count; ++i) sum[i] = logarithm ? largest[i] + std::log(sum[i]) : 1 / sum[i];
  for (int64_t k = 0; k < size; ++k, work.pass(count))
    forEach([&](int64_t i, size_t left) HWY_ATTR {
      const V by = loadLanes(d, sum + i, left);
      const int64_t at = k * stride + i;
      const V result = logarithm ? hn::Sub(loadLanes(d, x + at, left), by) : hn::Mul(loadLanes(d, y + at, left), by);
      storeLanes(result, d, y + at, left);
    });
}

using Bytes = hn::Rebind<uint8_t, F>;
using Integers = hn::RebindToSigned<F>;

// Those behind the last are 0.
HWY_INLINE hn::Vec<Bytes> loadFlipped(const uint8_t* from, size_t left, hn::Vec<Bytes> flip) {
  const Bytes d8;
  if (left == 0) return hn::Xor(hn::LoadU(d8, from), flip);
  return hn::IfThenElseZero(hn::FirstN(d8, left), hn::Xor(loadPartial(d8, from, left), flip));
}

// Weights of distances below 256.
#if HWY_TARGET == HWY_AVX3
// A power of the distance is one of its upper half times one of its lower half, each of which is in a register.
class ByteWeights {
 public:
  explicit ByteWeights(float scale) : high_(powers(-16 * scale)), low_(powers(-scale)) {}
  HWY_INLINE V operator()(hn::Vec<Integers> distance) const {
    // Bits of an index above the fourth are ignored.
    const V high{_mm512_permutexvar_ps(hn::ShiftRight<4>(distance).raw, high_.raw)};
    return hn::Mul(high, V{_mm512_permutexvar_ps(distance.raw, low_.raw)});
  }

 private:
  static HWY_INLINE V powers(float step) {
    const F d;
    return softmaxWeight(d, hn::Mul(hn::Iota(d, 0), hn::Set(d, step)), kPowers);
  }

  V high_, low_;
};
#else
class ByteWeights {
 public:
  explicit ByteWeights(float scale) : step_(hn::Set(F(), -scale)) {}
  HWY_INLINE V operator()(hn::Vec<Integers> distance) const {
    return softmaxWeight(F(), hn::Mul(hn::ConvertTo(F(), distance), step_), kPowers);
  }

 private:
  V step_;
};
#endif

// What all lines share.
struct ByteConstants {
  static constexpr float kMostScale = 1e6f;  // all weights but the largest are 0 with much less; products stay finite
  hn::Vec<Bytes> flip, resultFlip;
  ByteWeights weights;
  float resultScale;
  V top;
  hn::Vec<Integers> offset;

  explicit ByteConstants(const ByteSoftmax& how)
      : flip(hn::Set(Bytes(), how.flip)),
        resultFlip(hn::Set(Bytes(), how.resultFlip)),
        weights(std::min(how.scale, kMostScale)),
        resultScale(how.resultScale),
        top(hn::Set(F(), static_cast<float>(255 - how.resultZero))),
        offset(hn::Sub(hn::Set(Integers(), how.resultZero), hn::BitCast(Integers(), hn::Set(F(), kRoundingMagic)))) {}
};

// Stores the weights of a line, and returns their sum. A weight is a power of the distance to the largest byte, which
// is the same with any zero point.
HWY_INLINE float weigh(const ByteConstants& how, const uint8_t* x, int64_t size, float* weights) {
  const F d;
  const Integers di;
  auto most = hn::Zero(Bytes());
  forEachLane(size, [&](int64_t i, size_t left) HWY_ATTR { most = hn::Max(most, loadFlipped(x + i, left, how.flip)); });
  const auto largest = hn::MaxOfLanes(di, hn::PromoteTo(di, most));
  V sum = hn::Zero(d);
  forEachLane(size, [&](int64_t i, size_t left) HWY_ATTR {
    const V e = how.weights(hn::Sub(largest, hn::PromoteTo(di, loadFlipped(x + i, left, how.flip))));
    hn::StoreU(e, d, weights + i);
    sum = hn::Add(sum, left == 0 ? e : hn::IfThenElseZero(hn::FirstN(d, left), e));
  });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void bytes(const ByteSoftmax& numbers, const uint8_t* x, uint8_t* y, int64_t size, int64_t lines, float* weights) {
  const F d;
  const Bytes d8;
  const Integers di;
  const ByteConstants how(numbers);
  WorkCounter work;
  for (int64_t line = 0; line < lines; ++line, x += size, y += size, work.pass(size)) {
    constexpr float kMost = 1e30f;  // finite, so that it leaves a weight of 0
    const float factor = 1 / (weigh(how, x, size, weights) * how.resultScale);
    const V by = hn::Set(d, factor < kMost ? factor : kMost);
    forEachLane(size, [&](int64_t i, size_t left) HWY_ATTR {
      // The second operand of Max is taken where the first is NaN.
      const V number = hn::Min(hn::Max(hn::Mul(hn::LoadU(d, weights + i), by), hn::Zero(d)), how.top);
      const auto rounded = hn::Add(hn::BitCast(di, hn::Add(number, hn::Set(d, kRoundingMagic))), how.offset);
      const auto result = hn::Xor(hn::DemoteTo(d8, rounded), how.resultFlip);
      if (left == 0)
        hn::StoreU(result, d8, y + i);
      else
        storePartial(result, d8, y + i, left);
    });
  }
}

}  // namespace

extern const SoftmaxTable kSoftmaxTable;
const SoftmaxTable kSoftmaxTable = {kLongestInRegisters, rows, columns, bytes};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const SoftmaxTable& softmaxTable() { return MAX_CHOOSE_TARGET(kSoftmaxTable); }
}  // namespace max
#endif
