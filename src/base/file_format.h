// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes, for messages to those who have given it to a function that reads others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace max {

class File;

enum class FileFormat { Onnx, Compiled, Checkpoint, Safetensors, Other };

// "it is a safetensors file of weights, which maxWeightsLoad reads"; empty if that is not known, or what was expected.
// `begin`: the first bytes of the file, kFormatBytes if there are so many.
std::string describeFormat(std::string_view begin, uint64_t fileSize, FileFormat expected);
std::string describeFormat(const File& file, FileFormat expected);

inline constexpr size_t kFormatBytes = 64;

}  // namespace max
