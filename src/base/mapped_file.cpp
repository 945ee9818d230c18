// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>
#include <vector>

#include "base/align.h"
#include "base/checked.h"
#include "base/fork.h"
#include "base/pages.h"

namespace max {

namespace {

// Never destroyed: mappings may be released while the process exits. Guarded by processMutex().
std::vector<MappedFile*>& sharedMappings() {
  static auto& mappings = *new std::vector<MappedFile*>;
  return mappings;
}

}  // namespace

MappedFile::MappedFile(const File& file, MapMode mode, uint64_t offset, size_t size)
    : path_(file.path()), identity_(file.identity()) {
  size_ = size;
  if (size == 0) return;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const size_t lead = static_cast<size_t>(offset % page);
  const size_t mapped = checkedAdd(size, lead);
  const int protection = mode == MapMode::Read ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = mode == MapMode::Read || mode == MapMode::CopyOnWrite ? MAP_PRIVATE : MAP_SHARED;
  void* mapping = mmap(nullptr, mapped, protection, flags, file.descriptor(), static_cast<off_t>(offset - lead));
  if (mapping == MAP_FAILED) failErrno(errno, "Cannot map", path_);
  mapping_ = mapping;
  mappingSize_ = mapped;
  data_ = static_cast<char*>(mapping) + lead;
}

MappedFile::~MappedFile() {
  if (shared_) {
    const std::lock_guard lock(processMutex());
    std::erase(sharedMappings(), this);
  }
  if (mapping_) munmap(mapping_, mappingSize_);
}

Ref<MappedFile> MappedFile::share(const File& file) {
  const FileIdentity identity = file.identity();
  const std::lock_guard lock(processMutex());
  std::vector<MappedFile*>& mappings = sharedMappings();
  for (MappedFile* mapping : mappings)
    if (mapping->identity_ == identity && mapping->tryRetain()) return Ref<MappedFile>::adopt(mapping);
  mappings.reserve(mappings.size() + 1);
  auto* mapping = new MappedFile(file, MapMode::Read, 0, static_cast<size_t>(identity.size));
  mappings.push_back(mapping);
  mapping->shared_ = true;
  return Ref<MappedFile>::adopt(mapping);
}

void MappedFile::dropPages(const void* data, size_t bytes) const noexcept {
  if (!shared_) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = alignUp(reinterpret_cast<uintptr_t>(data), page);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

Ref<MappedFile> MappedFile::map(const File& file, MapMode mode, uint64_t offset, size_t size) {
  const uint64_t end = checkedAdd(offset, static_cast<uint64_t>(size));
  require(end <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()), MAX_STATUS_OUT_OF_RANGE,
          "File offset is too large: ", end);
  if (mode == MapMode::ReadWrite || mode == MapMode::Create) file.extend(end);
  const uint64_t fileSize = file.size();
  require(end <= fileSize, MAX_STATUS_OUT_OF_RANGE, "File '", file.path(), "' has ", fileSize, " bytes; bytes [",
          offset, ", ", end, ") were requested");
  return Ref<MappedFile>::adopt(new MappedFile(file, mode, offset, size));
}

std::span<const std::byte> MappedFile::bytes(size_t offset, size_t count) const {
  checkRange(path_.c_str(), offset, count, size_);
  return {static_cast<const std::byte*>(data_) + offset, count};
}

Ref<Storage> readFile(const File& file) {
  Ref<Storage> storage = allocateLastingStorage(static_cast<size_t>(file.size()));
  populateForWriting(storage->data(), storage->size());
  file.read(storage->data(), storage->size(), 0);
  return storage;
}

Ref<Storage> loadFile(const File& file) {
  if (file.size() <= kMapThreshold) return readFile(file);
  return MappedFile::share(file);
}

}  // namespace max
