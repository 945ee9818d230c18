// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/kernel_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/kernel_target.cpp"
#include "ops/cpu/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

CpuTarget kernelTarget();
CpuTarget kernelTarget() {
  return HWY_TARGET == HWY_AVX3   ? CpuTarget::Avx512
         : HWY_TARGET == HWY_AVX2 ? CpuTarget::Avx2
         : HWY_TARGET == HWY_SSE4 ? CpuTarget::Sse4
                                  : CpuTarget::Baseline;
}

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {

CpuTarget kernelTarget() { return MAX_CHOOSE_TARGET(kernelTarget)(); }

}  // namespace max
#endif
