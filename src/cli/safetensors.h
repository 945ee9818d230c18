// SPDX-License-Identifier: Apache-2.0
// Named tensors of a .safetensors file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "array.h"

namespace max::cli {

std::vector<std::pair<std::string, Array>> readSafetensors(const std::string& path);

}  // namespace max::cli
