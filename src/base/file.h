// SPDX-License-Identifier: Apache-2.0
// Files: whole-file reads, memory maps as Storage, errors with the path in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/tensor.h"

namespace max {

// Throws the status that belongs to `error` (an errno value): "Cannot open 'x': No such file or directory".
[[noreturn]] void failErrno(int error, std::string_view action, std::string_view path);

// Tells whether two descriptors or mappings show the same bytes of the same file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modifiedNanoseconds = 0;
  bool operator==(const FileIdentity&) const = default;
};

// An open file descriptor. Opening refuses folders, pipes and devices.
class File {
 public:
  static File openForRead(const std::string& path);
  // Opens an existing file for reading and writing; `create` makes it first and empties it.
  static File openForWrite(const std::string& path, bool create);
  // Takes over a descriptor that is open for reading.
  static File adopt(int descriptor, std::string path) { return File(descriptor, std::move(path)); }
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  uint64_t size() const;
  FileIdentity identity() const;
  // Reads exactly `count` bytes at `offset`; DATA_LOSS if the file ends before.
  void read(void* target, size_t count, uint64_t offset) const;
  void write(const void* source, size_t count) const;
  // Makes the file at least `size` bytes long, filled with zeros.
  void extend(uint64_t size) const;

 private:
  File(int descriptor, std::string path);
  int descriptor_;
  std::string path_;
};

// A new file beside `target` that takes its place when it is complete, or vanishes.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target);
  ~TemporaryFile();
  const File& file() const { return file_; }
  void keep();

 private:
  std::string target_;
  std::string path_;
  File file_;
  bool kept_ = false;
};

// As in numpy.memmap: r, r+, w+, c.
enum class MapMode { Read, ReadWrite, Create, CopyOnWrite };

// A mapped part of a file. A file that shrinks under its mapping is a bus error on access.
class MappedFile final : public Storage {
 public:
  // The whole file, read-only: one mapping for all who ask while one of them holds it.
  static Ref<MappedFile> share(const File& file);
  // `size` bytes from `offset` (any alignment). Read and CopyOnWrite refuse a file that is too short;
  // ReadWrite and Create extend it with zeros, Create after emptying it.
  static Ref<MappedFile> open(const std::string& path, MapMode mode, uint64_t offset, size_t size);
  ~MappedFile() override;

  const std::string& path() const { return path_; }
  const FileIdentity& identity() const { return identity_; }
  const FileIdentity* file() const override { return shared_ ? &identity_ : nullptr; }
  void dropPages(const void* data, size_t bytes) const noexcept override;
  // Bounds-checked view.
  std::span<const std::byte> bytes(size_t offset, size_t count) const;

 private:
  MappedFile(const File& file, MapMode mode, uint64_t offset, size_t size);
  std::string path_;
  FileIdentity identity_;
  void* mapping_ = nullptr;
  size_t mappingSize_ = 0;
  bool shared_ = false;  // in the table of shared mappings
};

// The whole file in a heap block.
Ref<Storage> readFile(const File& file);

// Files above kMapThreshold are mapped, smaller ones copied, because a mapped file must not shrink.
inline constexpr uint64_t kMapThreshold = 16u << 20;
Ref<Storage> loadFile(const File& file);

// The content, up to about `limit` bytes, of a text file such as those under /proc and /sys; empty if it cannot be
// read.
std::string readSmallTextFile(const char* path, size_t limit = size_t{1} << 20);

}  // namespace max
