// SPDX-License-Identifier: Apache-2.0
// ".max" checkpoints and mapped files as host buffers.
#pragma once

#include <string>

#include "base/mapped_file.h"
#include "device/buffer.h"

namespace max {

Ref<MaxBuffer> mapBuffer(const std::string& path, DType dtype, const Shape& shape, MapMode mode, uint64_t offset);
bool isCheckpoint(const File& file);
// `outKey`: receives the tensor's name; may be NULL.
Ref<MaxBuffer> loadCheckpoint(const File& file, std::string* outKey = nullptr);
void saveCheckpoint(const MaxBuffer& buffer, const std::string& path, std::string_view key);

}  // namespace max
