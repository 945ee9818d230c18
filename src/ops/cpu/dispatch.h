// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel file once per instruction set, through Highway's headers alone.
//
// Highway's foreach_target includes the file again for each target; the file puts
// what it offers into one table per target, and MAX_CHOOSE_TARGET picks the table
// by cpuTarget(). Pick it when a kernel is created, never in a static: tests
// change the target while they run. A file looks like this:
//
//   #include "ops/cpu/scale.h"          // struct ScaleTable { void (*scale)(float* x, int64_t n); };
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "ops/cpu/scale.cpp"
//   #include "ops/cpu/dispatch.h"       // no include guard around the part that Highway needs
//   #include "ops/cpu/math-inl.h"       // headers with code per target come after it
//
//   HWY_BEFORE_NAMESPACE();
//   namespace max::HWY_NAMESPACE {
//   namespace hn = hwy::HWY_NAMESPACE;
//   namespace {                         // internal linkage: nothing of one target leaks into another
//   void scale(float* x, int64_t n) { ... hn::Mul ... }
//   }
//   extern const ScaleTable kScaleTable;
//   const ScaleTable kScaleTable = {scale};
//   }
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace max {
//   const ScaleTable& scaleTable() { return MAX_CHOOSE_TARGET(kScaleTable); }
//   }
//   #endif
//
// The targets are plain scalar code (HWY_SCALAR, vectors of one lane: shuffles do
// not exist there), SSE4, AVX2 with FMA, and AVX-512. Templates of the standard
// library are compiled for the baseline, so loops that matter use hn:: only.

#ifndef MAX_OPS_CPU_DISPATCH_H
#define MAX_OPS_CPU_DISPATCH_H

#include "ops/cpu/target.h"

// Highway's assertions abort; they stay off in every build.
#define HWY_IS_DEBUG_BUILD 0
#if defined(MAX_ONE_KERNEL_TARGET) && defined(__AVX512BW__)  // the baseline alone: for sanitizer builds
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3_DL)
#elif defined(MAX_ONE_KERNEL_TARGET)  // AVX2 beside the baseline
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

#define MAX_CHOOSE_TARGET(name)                                    \
  (::max::cpuTarget() >= ::max::CpuTarget::Avx512 ? MAX_AVX3(name) \
   : ::max::cpuTarget() >= ::max::CpuTarget::Avx2 ? MAX_AVX2(name) \
   : ::max::cpuTarget() >= ::max::CpuTarget::Sse4 ? MAX_SSE4(name) \
                                                  : HWY_STATIC_DISPATCH(name))

#define MAX_UNROLL _Pragma("GCC unroll 16")  // before a loop over registers

#endif  // MAX_OPS_CPU_DISPATCH_H

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#undef MAX_AVX3
#undef MAX_AVX2
#undef MAX_SSE4
#if HWY_TARGETS & HWY_AVX3
#define MAX_AVX3(name) N_AVX3::name
#else
#define MAX_AVX3(name) HWY_STATIC_DISPATCH(name)
#endif
#if HWY_TARGETS & HWY_AVX2
#define MAX_AVX2(name) N_AVX2::name
#else
#define MAX_AVX2(name) HWY_STATIC_DISPATCH(name)
#endif
#if HWY_TARGETS & HWY_SSE4
#define MAX_SSE4(name) N_SSE4::name
#else
#define MAX_SSE4(name) HWY_STATIC_DISPATCH(name)
#endif
