// SPDX-License-Identifier: Apache-2.0
// What texts show of devices and targets.
#pragma once

#include <string>

namespace max::cli {

// "cpu, gpu:0, cuda:0 or hip:0"
std::string deviceExamples();
// "cuda:sm_90, hip:gfx90a": chips of accelerators.
std::string targetExamples();

}  // namespace max::cli
