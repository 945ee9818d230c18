// SPDX-License-Identifier: Apache-2.0
// Compiled kernels that the file of a compiled model carries.
#pragma once

#include <string>
#include <vector>

namespace max {

struct KernelCode {
  std::string chip;    // "cuda:sm_90"
  std::string source;  // hash of what it was compiled from
  std::string code;    // as a driver loads it
};
using KernelCodes = std::vector<KernelCode>;

}  // namespace max
