// SPDX-License-Identifier: Apache-2.0
// The instruction sets that this process uses: the CPU's best, or a lower one
// that MAX_CPU_TARGET asks for (baseline, sse4, avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16, amx).
#pragma once

#include <optional>
#include <string_view>

namespace max {

// In rising order; each includes those before it, but that chips with AVX-512 may lack the VNNI of AVX2.
enum class CpuTarget { Baseline, Sse4, Avx2, Avx2Vnni, Avx512, Avx512Vnni, Avx512Bf16, Amx };
inline constexpr CpuTarget kCpuTargets[] = {CpuTarget::Baseline,   CpuTarget::Sse4,   CpuTarget::Avx2,
                                            CpuTarget::Avx2Vnni,   CpuTarget::Avx512, CpuTarget::Avx512Vnni,
                                            CpuTarget::Avx512Bf16, CpuTarget::Amx};

const char* nameOf(CpuTarget target);
std::optional<CpuTarget> cpuTargetFromName(std::string_view name);
// Supported by the CPU and the operating system, which this asks for AMX's tiles: for the whole process, and for good.
CpuTarget detectedCpuTarget();
// The target of that name, or the best below it that the machine has; detectedCpuTarget if the name is unknown. Below
// AMX nobody is asked for tiles.
CpuTarget chosenCpuTarget(std::string_view wanted);
CpuTarget cpuTarget();  // the one that MAX_CPU_TARGET asks for; the variable is read once
// Lowers the target in tests, to the best below if the machine lacks it; not for production.
void setCpuTargetForTest(CpuTarget target);

}  // namespace max
