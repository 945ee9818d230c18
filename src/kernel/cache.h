// SPDX-License-Identifier: Apache-2.0
// Cache of compiled code, in memory and on disk.
//
// Processes share the folder: an entry is a file that appears complete, under the hash of all its inputs, or not at
// all. If the folder cannot be used (read-only, full, missing, or writable by other users), it is ignored without an
// error. Damaged entries count as missing.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "kernel/cache_entry.h"
#include "kernel/hash.h"

namespace max {

struct CacheLimits {
  uint64_t diskBytes = uint64_t{512} << 20;
  size_t memoryBytes = size_t{64} << 20;
};

class CompileCache {
 public:
  // Files go to `folder`/kernels; an empty folder means memory only.
  explicit CompileCache(const std::string& folder, CacheLimits limits = {});
  // The folder in MAX_CACHE_DIR, else XDG_CACHE_HOME/max, else ~/.cache/max.
  static CompileCache& process();

  // NULL if there is none. Thread-safe, as all functions are.
  Ref<const CacheEntry> find(const Digest& key);
  void store(const Digest& key, const Ref<const CacheEntry>& entry);

 private:
  struct Kept {
    Digest key;
    Ref<const CacheEntry> entry;
  };
  struct KeyHash {
    size_t operator()(const Digest& key) const;
  };

  Ref<const CacheEntry> recall(const Digest& key);
  void remember(const Digest& key, const Ref<const CacheEntry>& entry);

  std::string folder_;
  CacheLimits limits_;
  // Guarded by processMutex(): most recently used first.
  std::list<Kept> kept_;
  std::unordered_map<Digest, std::list<Kept>::iterator, KeyHash> index_;
  size_t keptBytes_ = 0;
};

}  // namespace max
