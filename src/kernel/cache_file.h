// SPDX-License-Identifier: Apache-2.0
// A folder of a cache: entries as files.
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/new_file.h"
#include "kernel/cache_entry.h"
#include "kernel/hash.h"

namespace max {

inline constexpr std::string_view kKernelExtension = ".kernel";

// The open folder. Everything in it is accessed through its descriptor, so that it cannot be replaced. Its files
// contain code that this process will run, or weights: only this user or root may own or write to folder and files.
class CacheFolder {
 public:
  // Nothing if there is no such folder, it is a link, or other users may write to it.
  static std::optional<CacheFolder> find(const std::string& path, std::string_view extension = kKernelExtension);
  // Creates it and its parents if missing. PERMISSION_DENIED if it still cannot be used.
  static CacheFolder make(const std::string& path, std::string_view extension = kKernelExtension);

  // The file of a key; nothing if there is none, or if it could be another user's.
  std::optional<File> open(const Digest& key) const;
  NewFile create(const Digest& key) const;
  // Updates a file's time of use.
  static void noteUse(const File& file) noexcept;

  // NULL if there is no such file, or if it is damaged or could be another user's. A hit updates its time of use.
  Ref<const CacheEntry> read(const Digest& key) const;
  void write(const Digest& key, const CacheEntry& entry) const;
  // If the folder's files with this extension exceed `limit` bytes, removes the least recently used ones until at most
  // three quarters of `limit` remain. Also removes files left by killed writers.
  void trim(uint64_t limit) const;

 private:
  CacheFolder(Descriptor folder, std::string path, std::string_view extension)
      : folder_(std::move(folder)), path_(std::move(path)), extension_(extension) {}

  Descriptor folder_;
  std::string path_;  // for messages
  std::string_view extension_;
};

}  // namespace max
