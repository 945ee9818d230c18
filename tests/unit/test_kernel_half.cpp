// SPDX-License-Identifier: Apache-2.0
// The half-precision types that kernels get, where the host runs them: the same numbers as the library's own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/half.h"

#define __device__
// What is there in kernels.
namespace {
struct float2 {
  float x, y;
};
float2 make_float2(float x, float y) { return {x, y}; }
int __float2int_rz(float x) { return static_cast<int>(x); }
int __float2int_rn(float x) { return static_cast<int>(std::rint(x)); }
unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
unsigned __float2uint_rn(float x) { return static_cast<unsigned>(std::rint(x)); }
}  // namespace
#include "kernel/headers/max_half.h"

namespace max {
namespace {

float floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

TEST(KernelHalf, AllValuesBecomeTheSameFloats) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto word = static_cast<uint16_t>(bits);
    const float half = __half2float(__ushort_as_half(word)), bfloat = __bfloat162float(__ushort_as_bfloat16(word));
    if (std::isnan(floatFromHalf(word)))
      ASSERT_TRUE(std::isnan(half) && __hisnan(__ushort_as_half(word))) << bits;
    else
      ASSERT_EQ(maxFloatBits(half), maxFloatBits(floatFromHalf(word))) << bits;
    if (std::isnan(floatFromBFloat16(word)))
      ASSERT_TRUE(std::isnan(bfloat) && __hisnan(__ushort_as_bfloat16(word))) << bits;
    else
      ASSERT_EQ(maxFloatBits(bfloat), maxFloatBits(floatFromBFloat16(word))) << bits;
  }
}

// Floats of all exponents, and around the middle between two halves, where rounding to even decides.
TEST(KernelHalf, FloatsAreRoundedToEven) {
  for (uint64_t high = 0; high < 0x80000; ++high) {
    for (const uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
      const auto bits = static_cast<uint32_t>(high << 13 | low);
      const float x = floatOf(bits);
      if (std::isnan(x)) continue;
      ASSERT_EQ(__half_as_ushort(__float2half(x)), halfFromFloat(x)) << bits;
      ASSERT_EQ(__bfloat16_as_ushort(__float2bfloat16(x)), bfloat16FromFloat(x)) << bits;
    }
  }
  EXPECT_TRUE(std::isnan(__half2float(__float2half(NAN))));
  EXPECT_TRUE(std::isnan(__bfloat162float(__float2bfloat16(NAN))));
}

template <class Half>
void checkArithmetic() {
  const Half a = 1.5f, b = -2.25f, zero = 0;
  EXPECT_EQ(static_cast<float>(a + b), -0.75f);
  EXPECT_EQ(static_cast<float>(a - b), 3.75f);
  EXPECT_EQ(static_cast<float>(a * b), -3.375f);
  EXPECT_EQ(static_cast<float>(__hdiv(b, a)), -1.5f);
  EXPECT_EQ(static_cast<float>(__hfma(a, b, a)), -1.875f);
  EXPECT_EQ(static_cast<float>(-a), -1.5f);
  EXPECT_EQ(static_cast<float>(__habs(b)), 2.25f);
  EXPECT_EQ(static_cast<float>(__hmax(a, b)), 1.5f);
  EXPECT_EQ(static_cast<float>(__hmin(a, b)), -2.25f);
  EXPECT_EQ(static_cast<float>(hsqrt(Half(4.0f))), 2.0f);
  EXPECT_EQ(static_cast<float>(hexp(zero)), 1.0f);
  EXPECT_EQ(static_cast<float>(hfloor(b)), -3.0f);
  EXPECT_TRUE(b < a && a >= b && a != b && __hlt(b, a) && !__heq(a, b) && !__hisnan(a));
  Half sum = a;
  sum += b;
  sum *= b;
  EXPECT_EQ(static_cast<float>(sum), 1.6875f);
}

TEST(KernelHalf, CountsLikeCudasTypes) {
  checkArithmetic<__half>();
  checkArithmetic<__nv_bfloat16>();
  // Each operation rounds: a lone float would keep the one.
  EXPECT_EQ(static_cast<float>(__half(2048.0f) + __half(1.0f)), 2048.0f);
  EXPECT_EQ(static_cast<float>(__nv_bfloat16(256.0f) + __nv_bfloat16(1.0f)), 256.0f);
  const __half2 pair = __hfma2(__floats2half2_rn(1, 2), __half2half2(__half(3.0f)), __floats2half2_rn(0.5f, -1));
  EXPECT_EQ(__low2float(pair), 3.5f);
  EXPECT_EQ(__high2float(pair), 5.0f);
}

template <class Pair>
void checkPairs(Pair a, Pair b) {
  Pair c = a * b + a / b - b;  // (2, 8) and (4, -2)
  EXPECT_EQ(__low2float(c), 4.5f);
  EXPECT_EQ(__high2float(c), -18.0f);
  c += -__hmax2(a, __hneg2(b));
  EXPECT_EQ(__low2float(c), 2.5f);
  EXPECT_EQ(__high2float(c), -26.0f);
  EXPECT_EQ(__high2float(__habs2(__hmin2(a, b))), 2.0f);
  EXPECT_EQ(__low2float(h2rcp(b)), 0.25f);
}

TEST(KernelHalf, PairsCountTwice) {
  checkPairs(__floats2half2_rn(2, 8), __float22half2_rn({4, -2}));
  checkPairs(__floats2bfloat162_rn(2, 8), __float22bfloat162_rn({4, -2}));
  EXPECT_EQ(__half22float2(__lowhigh2highlow(__floats2half2_rn(1, 2))).x, 2.0f);
  EXPECT_EQ(__bfloat1622float2(__bfloat162bfloat162(__nv_bfloat16(3))).y, 3.0f);
  const __half infinite = __float2half(INFINITY);
  EXPECT_TRUE(__hisinf(infinite) == 1 && __hisinf(-infinite) == -1 && __hisinf(__half(5u)) == 0);
}

}  // namespace
}  // namespace max
