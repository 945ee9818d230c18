// SPDX-License-Identifier: Apache-2.0
#include "peak.h"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../benchmarks/kernels/peak.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/matrix/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

constexpr int kChains = 12;
using Floats = hn::ScalableTag<float>;

float runFloats(int64_t iterations) {
  const Floats d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 1e-3f);
  hn::Vec<Floats> x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = hn::Set(d, static_cast<float>(i));
  for (int64_t n = 0; n < iterations; ++n)
    _Pragma("GCC unroll 16") for (int i = 0; i < kChains; ++i) x[i] = hn::MulAdd(x[i], a, b);
  auto sum = x[0];
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, x[i]);
  return hn::GetLane(sum);
}

// Pairs of 16-bit integers, which is what products of bytes become without better instructions. (A product of constants
// would leave the loop.)
float runIntegers(int64_t iterations) {
  const hn::ScalableTag<int32_t> d;
  const auto b = hn::Set(d, 0x50005);
  hn::Vec<decltype(d)> x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = hn::Set(d, i);
  for (int64_t n = 0; n < iterations; ++n)
    _Pragma("GCC unroll 16") for (int i = 0; i < kChains; ++i) x[i] = multiplyPairs(x[i], b, x[i]);
  auto sum = x[0];
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, x[i]);
  return static_cast<float>(hn::GetLane(sum));
}

constexpr int kVectors = 8;

float read(const float* from, int64_t count) {
  const Floats d;
  const int64_t lanes = hn::Lanes(d);
  hn::Vec<Floats> x[kVectors];
  for (int i = 0; i < kVectors; ++i) x[i] = hn::Zero(d);
  for (int64_t n = 0; n < count; n += kVectors * lanes)
    _Pragma("GCC unroll 8") for (int i = 0; i < kVectors; ++i) x[i] = hn::Max(x[i], hn::Load(d, from + n + i * lanes));
  for (int i = 1; i < kVectors; ++i) x[0] = hn::Max(x[0], x[i]);
  return hn::GetLane(x[0]);
}

// As above, asking for memory before its turn.
float readAhead(const float* from, int64_t count) {
  const Floats d;
  const int64_t lanes = hn::Lanes(d);
  constexpr int64_t kAhead = 2048;  // floats, the best of the powers of two
  hn::Vec<Floats> x[kVectors];
  for (int i = 0; i < kVectors; ++i) x[i] = hn::Zero(d);
  for (int64_t n = 0; n < count; n += kVectors * lanes) _Pragma("GCC unroll 8") for (int i = 0; i < kVectors; ++i) {
      __builtin_prefetch(from + n + i * lanes + kAhead, 0, 3);
      x[i] = hn::Max(x[i], hn::Load(d, from + n + i * lanes));
    }
  for (int i = 1; i < kVectors; ++i) x[0] = hn::Max(x[0], x[i]);
  return hn::GetLane(x[0]);
}

// What an elementwise operator on two tensors does.
void join(const float* a, const float* b, int64_t count, float* to) {
  const Floats d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t n = 0; n < count; n += lanes) hn::Stream(hn::Add(hn::Load(d, a + n), hn::Load(d, b + n)), d, to + n);
  hwy::FlushStream();
}

void copy(const float* from, int64_t count, float* to) {
  const Floats d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t n = 0; n < count; n += lanes) hn::Store(hn::Load(d, from + n), d, to + n);
}

void stream(const float* from, int64_t count, float* to) {
  const Floats d;
  const int64_t lanes = hn::Lanes(d);
  for (int64_t n = 0; n < count; n += lanes) hn::Stream(hn::Load(d, from + n), d, to + n);
  hwy::FlushStream();
}

}  // namespace

extern const Peak kFloats, kIntegers;
constexpr Peak kFloats = {runFloats, 2. * kChains* hn::MaxLanes(Floats())};
constexpr Peak kIntegers = {runIntegers, 4. * kChains* hn::MaxLanes(hn::ScalableTag<int32_t>())};
extern const MemoryLoops kMemory;
constexpr MemoryLoops kMemory = {read, readAhead, copy, stream, join};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "ops/cpu/matrix/amx_tiles.h"

namespace max {

namespace {

constexpr int64_t kIterations = 200000;
constexpr int kRounds = 10;

#if defined(__x86_64__)
constexpr int kSums = 16;  // of two pipelines, whose products of pairs take six cycles

// GCC would copy sums from register to register, which takes a pipeline of some chips.
template <class V>
__attribute__((target("avx512f"), always_inline)) inline void keepInPlace(V& sums) {
  asm volatile("" : "+v"(sums));
}

// As above, with pairs of bfloat16: 2^-8 squared, which no sum loses.
__attribute__((target("avx512f,avx512bf16"))) float runBFloat16(int64_t iterations) {
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3b803b80));
  __m512 x[kSums];
  _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) x[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) {
      x[i] = _mm512_dpbf16_ps(x[i], factor, factor);
      keepInPlace(x[i]);
    }
  _Pragma("GCC unroll 16") for (int i = 1; i < kSums; ++i) x[0] = _mm512_add_ps(x[0], x[i]);
  return _mm512_cvtss_f32(x[0]);
}
constexpr Peak kBFloat16 = {runBFloat16, 2. * 2 * 16 * kSums};

// Words of four bytes.
__attribute__((target("avx512f,avx512vnni"))) float runBytes(int64_t iterations) {
  const __m512i factor = _mm512_set1_epi32(0x01020301);
  __m512i x[kSums];
  _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) x[i] = _mm512_set1_epi32(i);
  for (int64_t n = 0; n < iterations; ++n) _Pragma("GCC unroll 16") for (int i = 0; i < kSums; ++i) {
      x[i] = _mm512_dpbusd_epi32(x[i], factor, factor);
      keepInPlace(x[i]);
    }
  _Pragma("GCC unroll 16") for (int i = 1; i < kSums; ++i) x[0] = _mm512_add_epi32(x[0], x[i]);
  return static_cast<float>(_mm_cvtsi128_si32(_mm512_castsi512_si128(x[0])));
}
constexpr Peak kBytes = {runBytes, 2. * 4 * 16 * kSums};

// Four tiles of sums, as products have them.
template <class Dot>
float runTiles(int64_t iterations) {
  HeldTiles held;
  held.shapeFor<AmxTiles>(BlockTiles::kRows);
  for (int64_t n = 0; n < iterations; ++n) {
    Dot::template add<AmxTiles, 0, 4, 6>();
    Dot::template add<AmxTiles, 1, 4, 7>();
    Dot::template add<AmxTiles, 2, 5, 6>();
    Dot::template add<AmxTiles, 3, 5, 7>();
  }
  return 0;
}
constexpr double kTileWords = 4. * 16 * 16 * 16;
constexpr Peak kTilePairs = {runTiles<DotPairs>, 2 * 2 * kTileWords};
constexpr Peak kTileBytes = {runTiles<DotBytes>, 2 * 4 * kTileWords};
#endif

}  // namespace

const Peak& floatPeak() { return MAX_CHOOSE_TARGET(kFloats); }

const Peak& bfloat16Peak() {
#if defined(__x86_64__)
  if (cpuTarget() >= CpuTarget::Amx) return kTilePairs;
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return kBFloat16;
#endif
  return floatPeak();
}

const Peak& integerPeak() {
#if defined(__x86_64__)
  if (cpuTarget() >= CpuTarget::Amx) return kTileBytes;
  if (cpuTarget() >= CpuTarget::Avx512Vnni) return kBytes;
#endif
  return MAX_CHOOSE_TARGET(kIntegers);
}

const MemoryLoops& memoryLoops() { return MAX_CHOOSE_TARGET(kMemory); }

double bestRate(int threads, double amount, void (*work)(int thread, void* state), void* state) {
  using Clock = std::chrono::steady_clock;
  std::barrier<> line(threads);
  double best = 0;
  const auto lane = [&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      line.arrive_and_wait();
      const Clock::time_point start = Clock::now();
      work(thread, state);
      line.arrive_and_wait();
      if (thread == 0)
        best = std::max(best, threads * amount / std::chrono::duration<double>(Clock::now() - start).count());
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(lane, thread);
  lane(0);
  for (std::thread& other : others) other.join();
  return best;
}

double rateOf(const Peak& peak, int threads) {
  const auto work = [](int, void* state) {
    volatile float sink = static_cast<const Peak*>(state)->run(kIterations);
    static_cast<void>(sink);
  };
  return bestRate(threads, kIterations * peak.operations, work, const_cast<Peak*>(&peak));
}

}  // namespace max
#endif
