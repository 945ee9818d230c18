// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "ops/cpu/target.h"

namespace max {
namespace {

TEST(CpuTarget, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(CpuTarget::Amx); ++i) {
    const auto target = static_cast<CpuTarget>(i);
    EXPECT_EQ(cpuTargetFromName(nameOf(target)), target);
  }
  EXPECT_EQ(cpuTargetFromName("mmx"), std::nullopt);
  EXPECT_EQ(cpuTargetFromName(""), std::nullopt);
}

TEST(CpuTarget, NeverExceedsTheChip) {
  const CpuTarget before = cpuTarget();
  EXPECT_LE(before, detectedCpuTarget());
  setCpuTargetForTest(CpuTarget::Amx);
  EXPECT_EQ(cpuTarget(), detectedCpuTarget());
  setCpuTargetForTest(CpuTarget::Baseline);
  EXPECT_EQ(cpuTarget(), CpuTarget::Baseline);
  setCpuTargetForTest(before);
}

TEST(CpuTarget, AgreesWithTheCompilersOwnDetection) {
#if defined(__x86_64__)
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx512, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx2, __builtin_cpu_supports("avx2") != 0);
#endif
}

}  // namespace
}  // namespace max
