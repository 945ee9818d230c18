// SPDX-License-Identifier: Apache-2.0
// Which instruction sets this process uses: the best of the chip, or a lower one
// that MAX_CPU_TARGET asks for (sse4, avx2, avx512, avx512_bf16, amx).
#pragma once

#include <optional>
#include <string_view>

namespace max {

// In rising order; each includes those before it.
enum class CpuTarget { Baseline, Sse4, Avx2, Avx512, Avx512Bf16, Amx };

const char* nameOf(CpuTarget target);
std::optional<CpuTarget> cpuTargetFromName(std::string_view name);
CpuTarget detectedCpuTarget();  // what the chip and the operating system offer
// detectedCpuTarget, lowered by MAX_CPU_TARGET; read once. An unknown or unavailable name is ignored with a log line.
CpuTarget cpuTarget();
// Lowers the target while tests run; not for products.
void setCpuTargetForTest(CpuTarget target);

}  // namespace max
