// SPDX-License-Identifier: Apache-2.0
// The file: magic, u32 major, u32 minor, u64 size of the metadata, then the metadata (u32 key size, key, u8 dtype,
// u8 rank, u32 dims[rank], u64 offset of the data in the file), then the data. Little endian, one tensor.
#include "device/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/align.h"
#include "base/checked.h"
#include "base/file_format.h"
#include "base/new_file.h"
#include "device/device_registry.h"
#include "device/memory_use.h"

namespace max {

namespace {

constexpr unsigned char kMagic[8] = {0x93, 0xF0, 0x9F, 0x94, 0xA5, 0x2B, 0x2B, 0x93};
constexpr uint32_t kMajor = 0;
constexpr uint32_t kMinor = 1;
constexpr uint64_t kHeaderSize = sizeof kMagic + 2 * sizeof(uint32_t) + sizeof(uint64_t);
constexpr uint64_t kMetadataLimit = uint64_t{1} << 20;
constexpr uint64_t kDataAlignment = 64;

Ref<MaxBuffer> makeBuffer(const BufferLayout& layout, Ref<Storage> memory, void* data) {
  const Ref<MaxDevice> host = hostDevice();
  return makeRef<MaxBuffer>(Ref<MaxStream>(&host->defaultStream()), layout, std::move(memory), data);
}

class MetadataReader {
 public:
  MetadataReader(const std::string& path, const std::string& bytes) : path_(path), bytes_(bytes) {}

  template <class T>
  T read() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string_view text(size_t count) { return {take(count), count}; }

 private:
  const char* take(size_t count) {
    require(count <= bytes_.size() - at_, MAX_STATUS_DATA_LOSS, "Checkpoint '", path_, "' is damaged: its ",
            bytes_.size(), " bytes of metadata end at a field of ", count, " bytes");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  const std::string& path_;
  const std::string& bytes_;
  size_t at_ = 0;
};

struct Entry {
  std::string key;
  DType dtype;
  Shape shape;
  uint64_t offset;
};

std::string readMetadata(const File& file) {
  char header[kHeaderSize];
  require(file.size() >= sizeof kMagic, MAX_STATUS_INVALID_ARGUMENT, "File '", file.path(),
          "' is not a .max checkpoint: it has ", file.size(), " bytes");
  file.read(header, sizeof kMagic, 0);
  if (std::memcmp(header, kMagic, sizeof kMagic) != 0) {
    const std::string format = describeFormat(file, FileFormat::Checkpoint);
    invalidArgument("File '", file.path(),
                    "' is not a .max checkpoint: ", format.empty() ? "it starts with other bytes" : format);
  }
  file.read(header, kHeaderSize, 0);
  uint64_t size;
  std::memcpy(&size, header + kHeaderSize - sizeof size, sizeof size);
  require(size <= kMetadataLimit, MAX_STATUS_DATA_LOSS, "Checkpoint '", file.path(), "' is damaged: it declares ", size,
          " bytes of metadata");
  std::string metadata(static_cast<size_t>(size), '\0');
  file.read(metadata.data(), metadata.size(), kHeaderSize);
  return metadata;
}

Entry readEntry(const File& file) {
  const std::string metadata = readMetadata(file);
  MetadataReader reader(file.path(), metadata);
  std::string key(reader.text(reader.read<uint32_t>()));
  Entry entry{std::move(key), static_cast<DType>(reader.read<uint8_t>()), {}, 0};
  require(isValid(entry.dtype) && entry.dtype != DType::String, MAX_STATUS_DATA_LOSS, "Checkpoint '", file.path(),
          "' has the unknown dtype ", static_cast<int32_t>(entry.dtype));
  const int rank = reader.read<uint8_t>();
  for (int i = 0; i < rank; ++i) entry.shape.push(reader.read<uint32_t>());
  entry.offset = reader.read<uint64_t>();
  const uint64_t bytes = bytesFor(entry.dtype, entry.shape.count());
  require(entry.offset <= file.size() && bytes <= file.size() - entry.offset, MAX_STATUS_DATA_LOSS, "Checkpoint '",
          file.path(), "' is truncated: ", bytes, " bytes at ", entry.offset, " end past its ", file.size(), " bytes");
  return entry;
}

Ref<MaxBuffer> copyFromFile(const File& file, const BufferLayout& layout, uint64_t offset) {
  Ref<Storage> memory = allocateStorage(bytesFor(layout.dtype, layout.shape.count()));
  file.read(memory->data(), memory->size(), offset);
  void* data = memory->data();
  return makeBuffer(layout, std::move(memory), data);
}

template <class T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string headerOf(const MaxBuffer& buffer, std::string_view key) {
  std::string metadata;
  append(metadata, static_cast<uint32_t>(key.size()));
  metadata += key;
  append(metadata, static_cast<uint8_t>(buffer.dtype()));
  append(metadata, static_cast<uint8_t>(buffer.rank()));
  for (const int64_t dim : buffer.shape()) {
    require(dim <= std::numeric_limits<uint32_t>::max(), MAX_STATUS_UNIMPLEMENTED,
            "A .max checkpoint cannot hold a dimension of ", dim);
    append(metadata, static_cast<uint32_t>(dim));
  }
  const uint64_t size = metadata.size() + sizeof(uint64_t);
  const uint64_t offset = alignUp(kHeaderSize + size, kDataAlignment);
  append(metadata, offset);
  std::string header(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  append(header, kMajor);
  append(header, kMinor);
  append(header, size);
  header += metadata;
  header.resize(static_cast<size_t>(offset), '\0');
  return header;
}

}  // namespace

namespace {

Ref<MaxBuffer> mapFile(const File& file, DType dtype, const Shape& shape, MapMode mode, uint64_t offset) {
  BufferLayout layout = BufferLayout::dense(dtype, shape);
  layout.readOnly = mode == MapMode::Read;
  Ref<MappedFile> mapping = MappedFile::map(file, mode, offset, bytesFor(dtype, shape.count()));
  if (isAlignedFor(dtype, mapping->data())) {
    void* data = mapping->data();
    return makeBuffer(layout, std::move(mapping), data);
  }
  require(mode == MapMode::Read || mode == MapMode::CopyOnWrite, MAX_STATUS_INVALID_ARGUMENT, "Offset ", offset,
          " of '", file.path(), "' is not a multiple of the size of ", dtype,
          "; it can be read, but not mapped for writing");
  return copyFromFile(file, layout, offset);
}

}  // namespace

Ref<MaxBuffer> mapBuffer(const std::string& path, DType dtype, const Shape& shape, MapMode mode, uint64_t offset) {
  require(isValid(dtype) && dtype != DType::String, MAX_STATUS_INVALID_ARGUMENT, "A file cannot be mapped as ", dtype);
  const bool writes = mode == MapMode::ReadWrite || mode == MapMode::Create;
  const File file = writes ? File::openForWrite(path, mode == MapMode::Create) : File::openForRead(path);
  return mapFile(file, dtype, shape, mode, offset);
}

bool isCheckpoint(const File& file) {
  unsigned char magic[sizeof kMagic];
  if (file.size() < sizeof magic) return false;
  file.read(magic, sizeof magic, 0);
  return std::memcmp(magic, kMagic, sizeof magic) == 0;
}

Ref<MaxBuffer> loadCheckpoint(const File& file, std::string* outKey) {
  const Entry entry = readEntry(file);
  if (outKey) *outKey = entry.key;
  const BufferLayout layout = BufferLayout::dense(entry.dtype, entry.shape);
  if (file.size() > kMapThreshold) return mapFile(file, entry.dtype, entry.shape, MapMode::CopyOnWrite, entry.offset);
  return copyFromFile(file, layout, entry.offset);
}

void saveCheckpoint(const MaxBuffer& buffer, const std::string& path, std::string_view key) {
  refuseStrings(buffer, "cannot be saved in checkpoints");
  require(key.size() < kMetadataLimit / 2, MAX_STATUS_INVALID_ARGUMENT, "Key has ", key.size(), " characters");
  const Ref<MaxDevice> host = hostDevice();
  const bool direct = buffer.isHostAccessible() && buffer.isContiguous();
  awaitContents(buffer);
  const Ref<MaxBuffer> dense =
      direct ? Ref<MaxBuffer>(const_cast<MaxBuffer*>(&buffer)) : buffer.clone(host->defaultStream());
  NewFile file(path);
  file.write(headerOf(*dense, key));
  file.write(dense->data(), dense->bytes());
  file.keep();
}

}  // namespace max
