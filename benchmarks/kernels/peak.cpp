// SPDX-License-Identifier: Apache-2.0
// The highest rate of float32 multiply-adds, and of bfloat16 ones: independent chains in registers.
#include <chrono>
#include <cstdint>

#ifndef MAX_BENCHMARKS_PEAK
#define MAX_BENCHMARKS_PEAK
namespace max {
struct Peak {
  float (*run)(int64_t iterations);
  double operations;  // per iteration
};
}  // namespace max
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../benchmarks/kernels/peak.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kChains = 12;
float run(int64_t iterations) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 1e-3f);
  hn::Vec<decltype(d)> x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = hn::Set(d, static_cast<float>(i));
  for (int64_t n = 0; n < iterations; ++n)
    _Pragma("GCC unroll 16") for (int i = 0; i < kChains; ++i) x[i] = hn::MulAdd(x[i], a, b);
  auto sum = x[0];
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, x[i]);
  return hn::GetLane(sum);
}

extern const Peak kPeak;
constexpr Peak kPeak = {run, 2. * kChains* hn::MaxLanes(hn::ScalableTag<float>())};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace max {

namespace {

constexpr int64_t kIterations = 200000;

double rateOf(const Peak& peak) {
  double best = 0;
  volatile float sink = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    sink = sink + peak.run(kIterations);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = best > kIterations * peak.operations / seconds ? best : kIterations * peak.operations / seconds;
  }
  return best;
}

#if defined(__x86_64__)
// As above, with pairs of bfloat16: 2^-8 squared, which no sum loses.
__attribute__((target("avx512f,avx512bf16"))) float runBFloat16(int64_t iterations) {
  constexpr int kSums = 12;
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3b803b80));
  __m512 x[kSums];
  _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) x[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t n = 0; n < iterations; ++n)
    _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) x[i] = _mm512_dpbf16_ps(x[i], factor, factor);
  _Pragma("GCC unroll 16") for (int i = 1; i < kSums; ++i) x[0] = _mm512_add_ps(x[0], x[i]);
  return _mm512_cvtss_f32(x[0]);
}
constexpr Peak kBFloat16Peak = {runBFloat16, 12. * 16 * 2 * 2};
#endif

}  // namespace

double measurePeak() { return rateOf(MAX_CHOOSE_TARGET(kPeak)); }

double measureBFloat16Peak() {
#if defined(__x86_64__)
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return rateOf(kBFloat16Peak);
#endif
  return measurePeak();
}

}  // namespace max
#endif
