// SPDX-License-Identifier: Apache-2.0
// Files in memory: whole-file reads, and mappings as Storage.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/tensor.h"

namespace max {

// The modes of numpy.memmap: r, r+, w+, c.
enum class MapMode { Read, ReadWrite, Create, CopyOnWrite };

// A mapped part of a file. A file that shrinks under its mapping is a bus error on access.
class MappedFile final : public Storage {
 public:
  // The whole file, read-only: one mapping, shared while anyone holds it.
  static Ref<MappedFile> share(const File& file);
  // `size` bytes from `offset` (any alignment). Read and CopyOnWrite fail if the file is too short; ReadWrite and
  // Create extend it with zeros.
  static Ref<MappedFile> map(const File& file, MapMode mode, uint64_t offset, size_t size);
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

// Files above kMapThreshold are mapped; smaller ones are copied, because a mapped file must not shrink.
inline constexpr uint64_t kMapThreshold = 16u << 20;
Ref<Storage> loadFile(const File& file);

}  // namespace max
