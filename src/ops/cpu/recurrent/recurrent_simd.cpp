// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/recurrent/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/recurrent/recurrent_simd.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/math-inl.h"
#include "ops/cpu/vector_io-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());

// Whole vectors, or the first lanes of one.
struct Whole {
  HWY_INLINE V load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE void store(V value, float* to) const { hn::StoreU(value, D(), to); }
};
struct First {
  size_t count;
  HWY_INLINE V load(const float* from) const { return loadPartial(D(), from, count); }
  HWY_INLINE void store(V value, float* to) const { storePartial(value, D(), to, count); }
};

template <class Body>
HWY_INLINE void forVectors(int64_t count, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) body(i, Whole());
  if constexpr (kLanes > 1)
    if (i < count) body(i, First{static_cast<size_t>(count - i)});
}

// Gates in the order input, output, forget, update.
void lstmCell(const float* gates, const float* input, float* c, float* h, int64_t n) {
  const D d;
  forVectors(n, [&](int64_t i, const auto memory) HWY_ATTR {
    const auto gate = [&](int64_t g)
                          HWY_ATTR { return hn::Add(memory.load(gates + g * n + i), memory.load(input + g * n + i)); };
    const V in = sigmoid(d, gate(0)), forget = sigmoid(d, gate(2)), update = tanh(d, gate(3));
    const V cell = hn::Add(hn::Mul(forget, memory.load(c + i)), hn::Mul(in, update));
    memory.store(cell, c + i);
    memory.store(hn::Mul(tanh(d, cell), sigmoid(d, gate(1))), h + i);
  });
}

// Gates in the order update, reset, candidate.
void gruCell(const float* gates, const float* input, const float* product, const float* bias, bool resets, float* h,
             int64_t n) {
  const D d;
  forVectors(n, [&](int64_t i, const auto memory) HWY_ATTR {
    const auto gate = [&](int64_t g) HWY_ATTR {
      return sigmoid(d, hn::Add(memory.load(gates + g * n + i), memory.load(input + g * n + i)));
    };
    V state = memory.load(product + i);
    if (bias) state = hn::Add(state, memory.load(bias + i));
    if (resets) state = hn::Mul(gate(1), state);
    const V candidate = tanh(d, hn::Add(memory.load(input + 2 * n + i), state));
    memory.store(hn::Add(candidate, hn::Mul(gate(0), hn::Sub(memory.load(h + i), candidate))), h + i);
  });
}

void gruReset(const float* gates, const float* input, const float* h, float* left, int64_t n) {
  const D d;
  forVectors(n, [&](int64_t i, const auto memory) HWY_ATTR {
    const V reset = sigmoid(d, hn::Add(memory.load(gates + n + i), memory.load(input + n + i)));
    memory.store(hn::Mul(reset, memory.load(h + i)), left + i);
  });
}

void makeReal(float* sums, int32_t factor, const int32_t* columnSums, float scale, const float* scales,
              const float* bias, int64_t count) {
  const D d;
  const hn::RebindToSigned<D> d32;
  const auto by = hn::Set(d32, factor);
  const V common = hn::Set(d, scale);
  forVectors(count, [&](int64_t i, const auto memory) HWY_ATTR {
    auto sum = hn::BitCast(d32, memory.load(sums + i));
    if (factor != 0)
      sum = hn::Add(sum, hn::Mul(by, hn::BitCast(d32, memory.load(reinterpret_cast<const float*>(columnSums + i)))));
    const V real = hn::Mul(hn::ConvertTo(d, sum), hn::Mul(common, memory.load(scales + i)));
    memory.store(bias ? hn::Add(real, memory.load(bias + i)) : real, sums + i);
  });
}

}  // namespace

extern const RecurrentTable kRecurrentTable;
constexpr RecurrentTable kRecurrentTable = {lstmCell, gruCell, gruReset, makeReal};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

const RecurrentTable& recurrentTable() { return MAX_CHOOSE_TARGET(kRecurrentTable); }

}  // namespace max
#endif
