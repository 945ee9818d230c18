// SPDX-License-Identifier: Apache-2.0
#include "base/file_format.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/file.h"

namespace max {

namespace {

using namespace std::string_view_literals;

struct Row {
  std::string_view magic;
  size_t offset;
  FileFormat format;
  const char* text;
};

constexpr const char* kPickle = "a Python pickle, as PyTorch writes; torch.onnx.export exports a module to ONNX";
constexpr const char* kXml = "XML, as OpenVINO writes; convert the original model to ONNX";

constexpr Row kRows[] = {
    {"\x93\xF0\x9F\x94\xA5++\x93"sv, 0, FileFormat::Checkpoint,
     "a .max checkpoint of weights, which maxWeightsLoad and maxBufferLoad read"},
    {"\x93MAX\r\n\x1A\n"sv, 0, FileFormat::Compiled, "a compiled model, which maxModelLoad reads"},
    {"\x93NUMPY"sv, 0, FileFormat::Other, "a NumPy array; maxBufferMap can map the data after its header"},
    {"PK\x03\x04"sv, 0, FileFormat::Other,
     "a zip archive, as PyTorch (.pt), Keras (.keras) and NumPy (.npz) write; export models to ONNX, weights to "
     "safetensors"},
    {"\x80\x02"sv, 0, FileFormat::Other, kPickle},
    {"\x80\x03"sv, 0, FileFormat::Other, kPickle},
    {"\x80\x04"sv, 0, FileFormat::Other, kPickle},
    {"\x80\x05"sv, 0, FileFormat::Other, kPickle},
    {"\x89HDF\r\n\x1A\n"sv, 0, FileFormat::Other, "an HDF5 file, as Keras writes; tf2onnx converts it to ONNX"},
    {"TFL3"sv, 4, FileFormat::Other, "a TensorFlow Lite model; tf2onnx converts it to ONNX"},
    {"ORTM"sv, 4, FileFormat::Other, "a model in ONNX Runtime's own format; load the original ONNX file"},
    {"GGUF"sv, 0, FileFormat::Other,
     "a GGUF file, which is not supported; export the model to ONNX, weights to safetensors"},
    {"<?xml"sv, 0, FileFormat::Other, kXml},
    {"<net "sv, 0, FileFormat::Other, kXml},
    {"\x7F"
     "ELF"sv,
     0, FileFormat::Other, "a shared library; maxExtensionLoad loads extensions"},
    {"\x1F\x8B"sv, 0, FileFormat::Other, "a gzip archive; unpack it first"},
    {"version https://git-lfs"sv, 0, FileFormat::Other,
     "a Git LFS pointer instead of the file; git lfs pull fetches the file"},
    {"{"sv, 0, FileFormat::Other, "JSON"},
};

// A size, then a JSON object.
bool isSafetensors(std::string_view begin, uint64_t fileSize) {
  uint64_t header;
  if (begin.size() < sizeof header + 1) return false;
  std::memcpy(&header, begin.data(), sizeof header);
  return begin[sizeof header] == '{' && header <= fileSize - sizeof header;
}

// A protocol buffers message whose first field is a small version number and whose second is a field of ModelProto.
bool isOnnx(std::string_view begin) {
  constexpr std::string_view kNextFields = "\x12\x1A\x22\x28\x32\x3A\x42\x72";
  return begin.size() > 3 && begin[0] == 8 && begin[1] > 0 && begin[1] < 32 &&
         kNextFields.find(begin[2]) != kNextFields.npos;
}

std::string sentence(const char* text) { return concat("it is ", text); }

}  // namespace

std::string describeFormat(std::string_view begin, uint64_t fileSize, FileFormat expected) {
  if (fileSize == 0) return "it is empty";
  if (isSafetensors(begin, fileSize))
    return expected == FileFormat::Safetensors ? ""
                                               : sentence("a safetensors file of weights, which maxWeightsLoad reads");
  for (const Row& row : kRows)
    if (begin.size() >= row.offset && begin.substr(row.offset).starts_with(row.magic))
      return expected == row.format && expected != FileFormat::Other ? "" : sentence(row.text);
  if (isOnnx(begin)) return expected == FileFormat::Onnx ? "" : sentence("an ONNX model, which maxModelLoad reads");
  return "";
}

std::string describeFormat(const File& file, FileFormat expected) {
  char begin[kFormatBytes];
  const uint64_t size = file.size();
  const auto count = static_cast<size_t>(std::min<uint64_t>(size, sizeof begin));
  file.read(begin, count, 0);
  return describeFormat({begin, count}, size, expected);
}

}  // namespace max
