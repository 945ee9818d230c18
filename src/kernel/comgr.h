// SPDX-License-Identifier: Apache-2.0
// AMD's code object manager: known architectures, assembly and LLVM IR.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/rtc.h"

namespace max {

// Names another library.
inline constexpr const char* kComgrVariable = "MAX_COMGR_LIBRARY";

// UNAVAILABLE if comgr cannot be opened, from each function.

// "comgr 2.4".
const std::string& comgrLabel();
std::string comgrFile();
// UNIMPLEMENTED if comgr does not know the architecture ("gfx90a", "gfx90a:xnack+"), for which HIPRTC would abort.
void requireHipArchitecture(const std::string& architecture);
// Of a code object.
std::string disassemble(std::string_view code, const std::string& architecture);
// LLVM IR as text, and the log. `headers` (name, text) include those named in `options`.
CompiledCode compileToLlvm(const KernelSource& source, const std::string& text,
                           const std::vector<std::pair<std::string, std::string>>& headers,
                           const std::vector<std::string>& options);

}  // namespace max
