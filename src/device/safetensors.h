// SPDX-License-Identifier: Apache-2.0
// The header of a .safetensors file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace max {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::Invalid;
  Shape shape;
  uint64_t begin = 0;  // of its bytes in the file
};

// The tensors of a whole file; each is inside the file. DATA_LOSS that starts with `path` if the file is damaged.
std::vector<SafetensorsEntry> parseSafetensors(std::span<const std::byte> file, const std::string& path);

}  // namespace max
