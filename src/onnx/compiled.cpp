// SPDX-License-Identifier: Apache-2.0
#include "onnx/compiled.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/new_file.h"
#include "onnx/graph_writer.h"

namespace max {

namespace {

// Neither text nor protobuf; the line ending detects a transfer in text mode.
constexpr std::array<unsigned char, 8> kMagic = {0x93, 'M', 'A', 'X', '\r', '\n', 0x1A, '\n'};
constexpr uint32_t kVersion = 1;
constexpr uint64_t kGraphOffset = 128;
constexpr uint64_t kPage = 4096;
// Files up to this size are read completely at load, so their weights are checked too.
constexpr uint64_t kCheckedData = uint64_t{16} << 20;

struct Header {
  std::array<unsigned char, 8> magic;
  uint32_t version;
  uint32_t size;
  uint64_t fileSize;
  uint64_t graphOffset, graphSize;
  uint64_t dataOffset, dataSize;
  uint64_t dataChecksum;
  uint64_t checksum;  // of everything before it, and of the graph
};
static_assert(sizeof(Header) == 72);
constexpr size_t kCheckedHeader = offsetof(Header, checksum);

// Four independent sums of words, to run in parallel. The bytes may come in parts whose sizes are multiples of 32.
class Checksum {
 public:
  void add(const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (; size >= sizeof sums_; bytes += sizeof sums_, size -= sizeof sums_) addWords(bytes);
    if (size == 0) return;
    unsigned char last[sizeof sums_] = {};
    std::memcpy(last, bytes, size);
    addWords(last);
  }

  uint64_t value() const {
    uint64_t result = count_;
    for (const uint64_t sum : sums_) result = mix(result, sum);
    return result;
  }

 private:
  static uint64_t mix(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
    return sum ^ (sum >> 29);
  }

  void addWords(const unsigned char* bytes) {
    for (size_t i = 0; i < std::size(sums_); ++i) {
      uint64_t word;
      std::memcpy(&word, bytes + i * sizeof word, sizeof word);
      sums_[i] = mix(sums_[i], word);
    }
    ++count_;
  }

  uint64_t sums_[4] = {1, 2, 3, 4};
  uint64_t count_ = 0;
};

uint64_t headerChecksum(const Header& header, const void* graph) {
  Checksum checksum;
  checksum.add(&header, kCheckedHeader);
  checksum.add(graph, static_cast<size_t>(header.graphSize));
  return checksum.value();
}

class Part final : public Storage {
 public:
  Part(Ref<Storage> whole, size_t offset, size_t size)
      : Storage(static_cast<std::byte*>(whole->data()) + offset, size), whole_(std::move(whole)) {}

 private:
  Ref<Storage> whole_;
};

bool fits(uint64_t offset, uint64_t size, uint64_t whole) { return offset <= whole && size <= whole - offset; }

void checkHeader(const Header& header, uint64_t fileSize, const std::string& name) {
  require(header.version <= kVersion, MAX_STATUS_UNIMPLEMENTED, name, ": Compiled model of version ", header.version,
          "; this library reads up to version ", kVersion, ", so compile the model again or use a newer library");
  require(header.fileSize == fileSize, MAX_STATUS_DATA_LOSS, name, ": Compiled model is damaged: it must have ",
          header.fileSize, " bytes, but has ", fileSize);
  require(header.version == kVersion && header.size == sizeof header && header.graphOffset >= sizeof header &&
              header.dataOffset % kPage == 0 && fits(header.graphOffset, header.graphSize, fileSize) &&
              fits(header.dataOffset, header.dataSize, fileSize),
          MAX_STATUS_DATA_LOSS, name, ": Compiled model is damaged: its header is inconsistent");
}

void writeZeros(const NewFile& file, uint64_t count) {
  static constexpr char kZeros[kPage] = {};
  for (; count > 0; count -= std::min(count, kPage)) file.write(kZeros, static_cast<size_t>(std::min(count, kPage)));
}

Checksum checksumOf(const onnx::StoredTensors& tensors) {
  Checksum checksum;
  for (const onnx::StoredTensor& tensor : tensors.list) {
    checksum.add(tensor.tensor->data(), tensor.tensor->bytes());
    // The bytes between two tensors are zero.
    static constexpr char kZeros[onnx::kTensorAlignment] = {};
    const uint64_t end = tensor.offset + tensor.tensor->bytes(), wholeWords = alignUp(end, 32);
    checksum.add(kZeros, static_cast<size_t>(alignUp(end, onnx::kTensorAlignment) - wholeWords));
    tensor.tensor->dropPages();
  }
  return checksum;
}

void writeTensors(const NewFile& file, const onnx::StoredTensors& tensors) {
  for (const onnx::StoredTensor& tensor : tensors.list) {
    const uint64_t bytes = tensor.tensor->bytes();
    file.write(tensor.tensor->data(), bytes);
    writeZeros(file, alignUp(bytes, onnx::kTensorAlignment) - bytes);
    tensor.tensor->dropPages();
  }
}

}  // namespace

bool isCompiledModel(const Storage& file) {
  return file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

bool isCompiledModel(const File& file) {
  std::array<unsigned char, kMagic.size()> magic{};
  if (file.size() < magic.size()) return false;
  file.read(magic.data(), magic.size(), 0);
  return magic == kMagic;
}

CompiledModel openCompiledModel(const Ref<Storage>& file, const std::string& name) {
  Header header;
  require(file->size() >= sizeof header, MAX_STATUS_DATA_LOSS, name, ": Compiled model is damaged: it has ",
          file->size(), " bytes");
  std::memcpy(&header, file->data(), sizeof header);
  checkHeader(header, file->size(), name);
  const auto* bytes = static_cast<const std::byte*>(file->data());
  Checksum data;
  if (header.fileSize <= kCheckedData) data.add(bytes + header.dataOffset, static_cast<size_t>(header.dataSize));
  require(header.checksum == headerChecksum(header, bytes + header.graphOffset) &&
              (header.fileSize > kCheckedData || header.dataChecksum == data.value()),
          MAX_STATUS_DATA_LOSS, name, ": Compiled model is damaged: its checksum is wrong");
  CompiledModel model;
  model.graph = makeRef<Part>(file, static_cast<size_t>(header.graphOffset), static_cast<size_t>(header.graphSize));
  model.dataOffset = static_cast<size_t>(header.dataOffset);
  return model;
}

void saveCompiledModel(const Graph& graph, const std::vector<TensorType>& declaredOutputs, const ModelInfo& info,
                       const KernelCodes& kernels, const std::string& path) {
  onnx::StoredTensors tensors;
  const std::string proto = onnx::writeModel(graph, declaredOutputs, info, kernels, tensors);
  Header header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.size = sizeof header;
  header.graphOffset = kGraphOffset;
  header.graphSize = proto.size();
  header.dataOffset = alignUp(kGraphOffset + proto.size(), kPage);
  header.dataSize = tensors.size;
  header.fileSize = header.dataOffset + header.dataSize;
  header.dataChecksum = checksumOf(tensors).value();
  header.checksum = headerChecksum(header, proto.data());
  NewFile file(path);
  file.write(&header, sizeof header);
  writeZeros(file, kGraphOffset - sizeof header);
  file.write(proto.data(), proto.size());
  writeZeros(file, header.dataOffset - kGraphOffset - proto.size());
  writeTensors(file, tensors);
  file.keep();
}

}  // namespace max
