// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/target.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace max {

namespace {

constexpr std::array<const char*, 6> kNames = {"baseline", "sse4", "avx2", "avx512", "avx512_vnni", "avx512_bf16"};

#if defined(__x86_64__)

enum Register { kEax, kEbx, kEcx, kEdx };

struct CpuId {
  uint32_t registers[4] = {};
  bool has(Register reg, std::initializer_list<int> bits) const {
    return std::all_of(bits.begin(), bits.end(), [&](int bit) { return registers[reg] >> bit & 1; });
  }
};

CpuId cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuId id;
  uint32_t* r = id.registers;
  if (!__get_cpuid_count(leaf, subleaf, &r[kEax], &r[kEbx], &r[kEcx], &r[kEdx])) return {};
  return id;
}

// Register state that the operating system saves (XCR0).
uint64_t savedState(const CpuId& features) {
  if (!features.has(kEcx, {27})) return 0;  // OSXSAVE
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

CpuTarget detect() {
  const CpuId base = cpuid(1, 0), extended = cpuid(7, 0), more = cpuid(7, 1);
  const uint64_t state = savedState(base);
  const auto saves = [state](uint64_t mask) { return (state & mask) == mask; };
  // SSSE3, SSE4.1, SSE4.2, POPCNT and the AES and PCLMUL that Highway's target includes.
  if (!base.has(kEcx, {0, 1, 9, 19, 20, 23, 25})) return CpuTarget::Baseline;
  // AVX, FMA, F16C; BMI1, AVX2, BMI2.
  if (!saves(0x6) || !base.has(kEcx, {28, 12, 29}) || !extended.has(kEbx, {3, 5, 8})) return CpuTarget::Sse4;
  // AVX-512 F, DQ, CD, BW, VL.
  if (!saves(0xe6) || !extended.has(kEbx, {16, 17, 28, 30, 31})) return CpuTarget::Avx2;
  // Each chip with BF16 has VNNI, but a hypervisor may hide either.
  if (!extended.has(kEcx, {11})) return CpuTarget::Avx512;
  return more.has(kEax, {5}) ? CpuTarget::Avx512Bf16 : CpuTarget::Avx512Vnni;
}

#else

CpuTarget detect() { return CpuTarget::Baseline; }

#endif

std::atomic<CpuTarget>& currentTarget() {
  static std::atomic<CpuTarget> target{[] {
    const char* wanted = secure_getenv("MAX_CPU_TARGET");
    return chosenCpuTarget(wanted ? wanted : "");
  }()};
  return target;
}

}  // namespace

const char* nameOf(CpuTarget target) { return kNames[static_cast<size_t>(target)]; }

std::optional<CpuTarget> cpuTargetFromName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<CpuTarget>(found - kNames.begin());
}

CpuTarget detectedCpuTarget() {
  static const CpuTarget target = detect();
  return target;
}

CpuTarget chosenCpuTarget(std::string_view wanted) {
  const CpuTarget best = detectedCpuTarget();
  return std::min(best, cpuTargetFromName(wanted).value_or(best));
}

CpuTarget cpuTarget() { return currentTarget().load(std::memory_order_relaxed); }

void setCpuTargetForTest(CpuTarget target) {
  currentTarget().store(std::min(target, detectedCpuTarget()), std::memory_order_relaxed);
}

}  // namespace max
