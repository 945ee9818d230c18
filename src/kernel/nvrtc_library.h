// SPDX-License-Identifier: Apache-2.0
// The installed versions of NVRTC, and which of them compiles a source.
#pragma once

#include <cstdint>

#include "kernel/rtc.h"

namespace max {

// One version.
struct Nvrtc : Rtc {
  RtcProgram::SizeFunction getPtxSize = nullptr;
  RtcProgram::BytesFunction getPtx = nullptr;
  // Since 11.1.
  RtcProgram::SizeFunction getCubinSize = nullptr;
  RtcProgram::BytesFunction getCubin = nullptr;
  // Since 11.2.
  int (*getNumSupportedArchs)(int* count) = nullptr;
  int (*getSupportedArchs)(int* numbers) = nullptr;

  // facts.chips: compute capabilities, 10 * major + minor; empty = unknown

  // `name` has the library's. UNAVAILABLE, with the reason alone, if it cannot be used.
  explicit Nvrtc(const CompilerName& name);
};

// What decides on a version: a driver loads code from compilers that are not newer than itself, and machine code from
// those of the same major version. Later compilers do not know the oldest chips.
struct NvrtcTarget {
  int chip = 0;
  int64_t driver = 0;  // its version; 0 = any
};

// Whether the version compiles for this chip, as far as it tells.
bool isKnownChip(const CompilerFacts& facts, int chip);

// The newest version for the target. UNAVAILABLE that lists what was tried if there is none at all. The facts are from
// its last use, if possible, without opening it.
const CompilerFacts& nvrtcFacts(const NvrtcTarget& target);
const Nvrtc& openNvrtc(const NvrtcTarget& target);

}  // namespace max
