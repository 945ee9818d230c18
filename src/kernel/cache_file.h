// SPDX-License-Identifier: Apache-2.0
// The cache's folder: entries as files.
#pragma once

#include <optional>
#include <string>

#include "base/descriptor.h"
#include "kernel/cache_entry.h"
#include "kernel/hash.h"

namespace max {

// The open folder. Everything in it is reached from its handle, so that nobody can put another in its place. Its files
// hold code that this process will run: folder and files must be this user's or root's, and nobody else's to write.
class CacheFolder {
 public:
  // Nothing where there is no such folder, where it is a link, or where others may write into it.
  static std::optional<CacheFolder> find(const std::string& path);
  // Makes it and its parents where they are missing. PERMISSION_DENIED if it could not be found then.
  static CacheFolder make(const std::string& path);

  // NULL if there is no such file, or if it is damaged or could be somebody else's. What is found counts as used now.
  Ref<const CacheEntry> read(const Digest& key) const;
  void write(const Digest& key, const CacheEntry& entry) const;
  // Removes files, least recently used first, until those that are left have at most three quarters of `limit` bytes;
  // nothing while they have no more than `limit`. What writers that were killed left is removed too.
  void trim(uint64_t limit) const;

 private:
  CacheFolder(Descriptor folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}

  Descriptor folder_;
  std::string path_;  // for messages
};

}  // namespace max
