// SPDX-License-Identifier: Apache-2.0
// The format: a 64-bit little-endian header size, a JSON header of
// {name: {dtype, shape, data_offsets: [begin, end]}}, then the bytes.
#include "safetensors.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "failure.h"

namespace max::cli {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit

struct TypeRow {
  const char* name;
  MaxDType dtype;
};

constexpr TypeRow kTypes[] = {{"BOOL", MAX_DTYPE_BOOL},          {"I8", MAX_DTYPE_INT8},
                              {"U8", MAX_DTYPE_UINT8},           {"I16", MAX_DTYPE_INT16},
                              {"U16", MAX_DTYPE_UINT16},         {"I32", MAX_DTYPE_INT32},
                              {"U32", MAX_DTYPE_UINT32},         {"I64", MAX_DTYPE_INT64},
                              {"U64", MAX_DTYPE_UINT64},         {"F16", MAX_DTYPE_FLOAT16},
                              {"BF16", MAX_DTYPE_BFLOAT16},      {"F32", MAX_DTYPE_FLOAT32},
                              {"F64", MAX_DTYPE_FLOAT64},        {"F8_E4M3", MAX_DTYPE_FLOAT8_E4M3FN},
                              {"F8_E5M2", MAX_DTYPE_FLOAT8_E5M2}};

[[noreturn]] void badFile(const std::string& path, const std::string& problem) {
  throw Failure("DATA_LOSS", "File \"" + path + "\" is no readable .safetensors file: " + problem);
}

MaxDType dtypeOf(const std::string& path, const std::string& name) {
  for (const TypeRow& row : kTypes)
    if (name == row.name) return row.dtype;
  badFile(path, "unknown type \"" + name + "\"");
}

Json readHeader(const std::string& path, std::ifstream& file, uint64_t fileSize) {
  uint64_t size = 0;
  if (!file.read(reinterpret_cast<char*>(&size), sizeof size)) badFile(path, "it has no header");
  if (size > kMaxHeader || size > fileSize - sizeof size) badFile(path, "its header is larger than the file");
  std::string text(size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  // Depth is bounded: a header has three levels.
  const auto limitDepth = [](int depth, Json::parse_event_t, Json&) { return depth < 8; };
  Json header = Json::parse(text, limitDepth, false);
  if (!header.is_object()) badFile(path, "its header is no JSON object");
  return header;
}

Array readTensor(const std::string& path, std::ifstream& file, const Json& row, uint64_t start, uint64_t end) {
  const auto offsets = row.at("data_offsets").get<std::vector<uint64_t>>();
  Array array{dtypeOf(path, row.at("dtype").get<std::string>()), row.at("shape").get<std::vector<int64_t>>(), {}};
  const size_t size = byteCount(array.dtype, array.shape);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > end - start || offsets[1] - offsets[0] != size)
    badFile(path, "a tensor's offsets do not fit its shape " + shapeText(array.shape) + " or the file");
  array.bytes.resize(size);
  file.seekg(static_cast<std::streamoff>(start + offsets[0]));
  if (size && !file.read(reinterpret_cast<char*>(array.bytes.data()), static_cast<std::streamsize>(size)))
    badFile(path, "reading failed");
  return array;
}

}  // namespace

std::vector<std::pair<std::string, Array>> readSafetensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Failure("NOT_FOUND", "File \"" + path + "\" cannot be opened: " + std::strerror(errno));
  const auto fileSize = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  const Json header = readHeader(path, file, fileSize);
  const auto start = static_cast<uint64_t>(file.tellg());
  std::vector<std::pair<std::string, Array>> tensors;
  try {
    for (const auto& [name, row] : header.items())
      if (name != "__metadata__") tensors.emplace_back(name, readTensor(path, file, row, start, fileSize));
  } catch (const Json::exception& error) {
    badFile(path, error.what());
  }
  return tensors;
}

}  // namespace max::cli
