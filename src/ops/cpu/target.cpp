// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/target.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace max {

namespace {

constexpr std::array<const char*, std::size(kCpuTargets)> kNames = {
    "baseline", "sse4", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "avx512_bf16", "amx"};

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

// Whether the chip has AMX's tiles of bfloat16 and bytes, of the size that kernels are written for.
bool hasTiles(const CpuId& extended, uint64_t state) {
  constexpr uint64_t kTileState = 3 << 17;
  if ((state & kTileState) != kTileState || !extended.has(kEdx, {22, 24, 25})) return false;
  const CpuId palette = cpuid(0x1d, 1);
  const uint32_t* r = palette.registers;
  const auto low = [](uint32_t word) { return word & 0xffff; };
  return r[kEax] >> 16 == 1024 && low(r[kEbx]) == 64 && r[kEbx] >> 16 == 8 && low(r[kEcx]) == 16;
}

// Linux saves tiles only for processes that ask.
bool askForTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM in newer <asm/prctl.h>
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Intel's vectors multiply words of two bfloat16 at half the rate of float32 (measured on Emerald Rapids, whose port
// for them takes one in two cycles).
bool hasSlowWords() {
  const CpuId vendor = cpuid(0, 0);
  const uint32_t* r = vendor.registers;
  return r[kEbx] == 0x756e6547 && r[kEdx] == 0x49656e69 && r[kEcx] == 0x6c65746e;  // GenuineIntel
}

// Of a chip with AVX-512 BF16, without its tiles.
CpuTarget bestBelowTiles() { return hasSlowWords() ? CpuTarget::Avx512Vnni : CpuTarget::Avx512Bf16; }

// VNNI for vectors of AVX2, which has a bit of its own.
bool hasAvxVnni() { return cpuid(7, 1).has(kEax, {4}); }

// The best of the chip, before anyone asks for tiles.
CpuTarget detectChip() {
  const CpuId base = cpuid(1, 0), extended = cpuid(7, 0), more = cpuid(7, 1);
  const uint64_t state = savedState(base);
  const auto saves = [state](uint64_t mask) { return (state & mask) == mask; };
  // SSSE3, SSE4.1, SSE4.2, POPCNT and the AES and PCLMUL that Highway's target includes.
  if (!base.has(kEcx, {0, 1, 9, 19, 20, 23, 25})) return CpuTarget::Baseline;
  // AVX, FMA, F16C; BMI1, AVX2, BMI2.
  if (!saves(0x6) || !base.has(kEcx, {28, 12, 29}) || !extended.has(kEbx, {3, 5, 8})) return CpuTarget::Sse4;
  // AVX-512 F, DQ, CD, BW, VL.
  if (!saves(0xe6) || !extended.has(kEbx, {16, 17, 28, 30, 31}))
    return hasAvxVnni() ? CpuTarget::Avx2Vnni : CpuTarget::Avx2;
  // Each chip with BF16 has VNNI, but a hypervisor may hide either.
  if (!extended.has(kEcx, {11})) return CpuTarget::Avx512;
  if (!more.has(kEax, {5})) return CpuTarget::Avx512Vnni;
  return hasTiles(extended, state) ? CpuTarget::Amx : bestBelowTiles();
}

#else

CpuTarget detectChip() { return CpuTarget::Baseline; }

CpuTarget bestBelowTiles() { return CpuTarget::Baseline; }

bool hasAvxVnni() { return false; }

bool askForTiles() { return false; }

#endif

CpuTarget chipTarget() {
  static const CpuTarget target = detectChip();
  return target;
}

// The best that the chip and `wanted` both have.
CpuTarget lowered(CpuTarget wanted, CpuTarget chip) {
  const CpuTarget target = std::min(wanted, chip);
  return target == CpuTarget::Avx2Vnni && !hasAvxVnni() ? CpuTarget::Avx2 : target;
}

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
  static const CpuTarget target = chipTarget() == CpuTarget::Amx && !askForTiles() ? bestBelowTiles() : chipTarget();
  return target;
}

CpuTarget chosenCpuTarget(std::string_view wanted) {
  const CpuTarget most = cpuTargetFromName(wanted).value_or(CpuTarget::Amx);
  return lowered(most, most == CpuTarget::Amx ? detectedCpuTarget() : chipTarget());
}

CpuTarget cpuTarget() { return currentTarget().load(std::memory_order_relaxed); }

void setCpuTargetForTest(CpuTarget target) {
  currentTarget().store(lowered(target, detectedCpuTarget()), std::memory_order_relaxed);
}

}  // namespace max
