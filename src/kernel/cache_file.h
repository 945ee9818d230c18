// SPDX-License-Identifier: Apache-2.0
// The cache's folder: entries as files.
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "kernel/cache_entry.h"
#include "kernel/hash.h"

namespace max {

// The open folder. Everything in it is accessed through its descriptor, so that it cannot be replaced. Its files
// contain code that this process will run: only this user or root may own or write to folder and files.
class CacheFolder {
 public:
  // Nothing if there is no such folder, it is a link, or other users may write to it.
  static std::optional<CacheFolder> find(const std::string& path);
  // Creates it and its parents if missing. PERMISSION_DENIED if it still cannot be used.
  static CacheFolder make(const std::string& path);

  // NULL if there is no such file, or if it is damaged or could be another user's. A hit updates its time of use.
  Ref<const CacheEntry> read(const Digest& key) const;
  void write(const Digest& key, const CacheEntry& entry) const;
  // If the files exceed `limit` bytes, removes the least recently used ones until at most three quarters of `limit`
  // remain. Also removes files left by killed writers.
  void trim(uint64_t limit) const;

 private:
  CacheFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}

  Descriptor folder_;
  std::string path_;  // for messages
};

}  // namespace max
