// SPDX-License-Identifier: Apache-2.0
// The compilers for accelerators. They need neither an accelerator nor a driver.
#pragma once

#include "kernel/compiler.h"

namespace max {

// NVRTC 11 to 13: for each source, the installed version that suits its chip and driver. Its functions are UNAVAILABLE
// if there is none.
const KernelCompiler& nvrtcCompiler();
// HIPRTC with comgr. UNAVAILABLE if they cannot be opened.
const KernelCompiler& hiprtcCompiler();

}  // namespace max
