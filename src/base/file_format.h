// SPDX-License-Identifier: Apache-2.0
// Recognises a file's format by its first bytes, for messages of functions that read another format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace max {

class File;

enum class FileFormat { Onnx, Compiled, Checkpoint, Safetensors, Other };

// "it is a safetensors file of weights, which maxWeightsLoad reads"; empty if
// the format is unknown or the expected one. `begin`: the file's first bytes, kFormatBytes if it has that many.
std::string describeFormat(std::string_view begin, uint64_t fileSize, FileFormat expected);
std::string describeFormat(const File& file, FileFormat expected);

inline constexpr size_t kFormatBytes = 64;

}  // namespace max
