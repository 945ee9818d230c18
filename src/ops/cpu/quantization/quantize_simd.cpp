// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/quantization/quantize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/quantization/quantize_simd.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
constexpr int64_t kLanes = hn::MaxLanes(D());

template <class Q>
void quantize(const float* x, Q* y, int64_t count, float scale, float zero) {
  const D d;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<Q, D> narrow;
  const auto by = hn::Set(d, scale), offset = hn::Set(d, zero), magic = hn::Set(d, kRoundingMagic);
  const auto least = hn::Set(d, -kQuantizedFar<Q>), most = hn::Set(d, kQuantizedFar<Q>);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    // The second operand of Max is taken where the first is NaN.
    const auto bounded = hn::Min(hn::Max(hn::Div(hn::LoadU(d, x + i), by), least), most);
    const auto rounded = hn::Sub(hn::Add(bounded, magic), magic);
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(d32, hn::Add(rounded, offset))), narrow, y + i);
  }
  for (; i < count; ++i) y[i] = quantized<Q>(x[i], scale, zero);
}

template <class Q>
void dequantize(const Q* x, float* y, int64_t count, float scale, float zero) {
  const D d;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<Q, D> narrow;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto value = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(narrow, x + i)));
    hn::StoreU(hn::Mul(hn::Sub(value, hn::Set(d, zero)), hn::Set(d, scale)), d, y + i);
  }
  for (; i < count; ++i) y[i] = (static_cast<float>(x[i]) - zero) * scale;
}

void range(const float* x, int64_t count, float& low, float& high) {
  const D d;
  auto least = hn::Set(d, low), most = hn::Set(d, high);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto value = hn::LoadU(d, x + i);
    least = hn::Min(value, least);
    most = hn::Max(value, most);
  }
  low = hn::GetLane(hn::MinOfLanes(d, least));
  high = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < count; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
}

}  // namespace

extern const QuantizeTable kQuantizeTable;
constexpr QuantizeTable kQuantizeTable = {{quantize<uint8_t>, dequantize<uint8_t>},
                                          {quantize<int8_t>, dequantize<int8_t>},
                                          {quantize<uint16_t>, dequantize<uint16_t>},
                                          {quantize<int16_t>, dequantize<int16_t>},
                                          range};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const QuantizeTable& quantizeTable() { return MAX_CHOOSE_TARGET(kQuantizeTable); }

}  // namespace max
#endif
