// SPDX-License-Identifier: Apache-2.0
// Existing files; see new_file.h for new ones and mapped_file.h for mappings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/descriptor.h"
#include "base/system_error.h"

namespace max {

// Tells whether two descriptors or mappings show the same bytes of the same file.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modifiedNanoseconds = 0;
  // Contents or attributes, even the number of links, so it is no part of the identity; programs cannot choose it.
  int64_t changedNanoseconds = 0;
  bool operator==(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modifiedNanoseconds == other.modifiedNanoseconds;
  }
};

// An open file descriptor. Folders, pipes and devices cannot be opened.
class File {
 public:
  static File openForRead(const std::string& path);
  // Opens a file in place for reading and writing; `create` creates or truncates it first.
  static File openForWrite(const std::string& path, bool create);
  // Takes ownership of a descriptor that is open for reading; `path` is for messages.
  static File adopt(Descriptor descriptor, std::string path);

  int descriptor() const { return descriptor_.number(); }
  const std::string& path() const { return path_; }
  uint64_t size() const;
  FileIdentity identity() const;
  // Reads exactly `count` bytes at `offset`; DATA_LOSS if the file is shorter.
  void read(void* target, size_t count, uint64_t offset) const;
  // Makes the file at least `size` bytes long, filled with zeros.
  void extend(uint64_t size) const;

 private:
  File(Descriptor descriptor, std::string path);
  Descriptor descriptor_;
  std::string path_;
};

// Contents of a text file such as those under /proc and /sys, up to about `limit` bytes; empty if it cannot be read.
std::string readSmallTextFile(const char* path, size_t limit = size_t{1} << 20);

}  // namespace max
