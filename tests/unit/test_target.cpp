// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "ops/cpu/kernel_target.h"

namespace max {
namespace {

TEST(CpuTarget, NamesRoundTrip) {
  for (const CpuTarget target : kCpuTargets) EXPECT_EQ(cpuTargetFromName(nameOf(target)), target);
  EXPECT_EQ(cpuTargetFromName("mmx"), std::nullopt);
  EXPECT_EQ(cpuTargetFromName(""), std::nullopt);
}

TEST(CpuTarget, NeverExceedsTheChip) {
  const CpuTarget before = cpuTarget();
  EXPECT_LE(before, detectedCpuTarget());
  setCpuTargetForTest(kCpuTargets[std::size(kCpuTargets) - 1]);
  EXPECT_EQ(cpuTarget(), detectedCpuTarget());
  setCpuTargetForTest(CpuTarget::Baseline);
  EXPECT_EQ(cpuTarget(), CpuTarget::Baseline);
  setCpuTargetForTest(before);
}

// Compilers do not know this bit yet.
bool hasAvxVnni() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx, ecx, edx;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax >> 4 & 1);
#else
  return false;
#endif
}

CpuTarget bestUpTo(CpuTarget most) {
  const CpuTarget target = std::min(most, detectedCpuTarget());
  return target == CpuTarget::Avx2Vnni && !hasAvxVnni() ? CpuTarget::Avx2 : target;
}

TEST(CpuTarget, NamesLowerTheTargetAndOthersLeaveTheBest) {
  for (const CpuTarget target : kCpuTargets)
    EXPECT_EQ(chosenCpuTarget(nameOf(target)), bestUpTo(target)) << nameOf(target);
  for (const char* unknown : {"", "amx2", "AVX2", "avx2 "}) EXPECT_EQ(chosenCpuTarget(unknown), detectedCpuTarget());
}

// The variable is read once, so this needs a separate process, which "threadsafe" starts.
TEST(CpuTargetDeathTest, VariableLowersTheTarget) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exitWithTarget = [] {
    setenv("MAX_CPU_TARGET", "baseline", 1);
    std::exit(static_cast<int>(cpuTarget()) + 10);
  };
  EXPECT_EXIT(exitWithTarget(), testing::ExitedWithCode(10), "");
}

TEST(CpuTarget, AgreesWithTheCompilersOwnDetection) {
#if defined(__x86_64__)
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx512, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx512Vnni, __builtin_cpu_supports("avx512vnni") != 0);
  const bool hasWords = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
  if (__builtin_cpu_is("intel"))  // tiles, or none
    EXPECT_NE(detectedCpuTarget(), CpuTarget::Avx512Bf16);
  else
    EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx512Bf16, hasWords);
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx2Vnni, hasAvxVnni() || __builtin_cpu_supports("avx512bw"));
  EXPECT_EQ(detectedCpuTarget() >= CpuTarget::Avx2, __builtin_cpu_supports("avx2") != 0);
#endif
}

// Builds for sanitizers, and those with MAX_KERNEL_TARGET, have vector kernels for one instruction set.
TEST(CpuTarget, KernelsAreThoseOfTheBuild) {
  const CpuTarget before = cpuTarget();
  setCpuTargetForTest(detectedCpuTarget());
  const std::string only = MAX_ONLY_KERNEL_TARGET;
  const CpuTarget built = only.empty() ? std::min(cpuTarget(), CpuTarget::Avx512) : cpuTargetFromName(only).value();
  const CpuTarget expected = built <= cpuTarget() ? built : CpuTarget::Baseline;
  EXPECT_STREQ(nameOf(kernelTarget()), nameOf(expected));
  std::cout << "kernels run for " << nameOf(kernelTarget()) << "\n";
  setCpuTargetForTest(before);
}

}  // namespace
}  // namespace max
