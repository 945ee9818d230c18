// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache.h"

#include <stdlib.h>

#include <cstring>
#include <optional>

#include "base/fork.h"
#include "base/log.h"
#include "kernel/cache_file.h"

namespace max {

namespace {

// MAX_CACHE_DIR set to nothing turns the folder off; XDG's specification ignores an empty XDG_CACHE_HOME.
std::string folderOfProcess() {
  if (const char* chosen = secure_getenv("MAX_CACHE_DIR")) return chosen;
  if (const char* caches = secure_getenv("XDG_CACHE_HOME"); caches && caches[0] == '/') return concat(caches, "/max");
  if (const char* home = secure_getenv("HOME"); home && home[0] == '/') return concat(home, "/.cache/max");
  return {};
}

}  // namespace

// A private subfolder of the chosen one, which other users may be able to write to.
CompileCache::CompileCache(const std::string& folder, CacheLimits limits)
    : folder_(folder.empty() ? folder : concat(folder, "/kernels")), limits_(limits) {}

// Never destroyed: modules may be compiled while the process exits.
CompileCache& CompileCache::process() {
  static CompileCache& cache = *new CompileCache(folderOfProcess());
  return cache;
}

size_t CompileCache::KeyHash::operator()(const Digest& key) const {
  size_t hash;
  std::memcpy(&hash, key.data(), sizeof hash);
  return hash;
}

Ref<const CacheEntry> CompileCache::recall(const Digest& key) {
  const std::lock_guard lock(processMutex());
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->entry;
}

void CompileCache::remember(const Digest& key, const Ref<const CacheEntry>& entry) {
  if (entry->size() > limits_.memoryBytes) return;
  std::list<Kept> dropped;  // freed outside the lock
  const std::lock_guard lock(processMutex());
  if (index_.contains(key)) return;
  kept_.push_front({key, entry});
  index_.emplace(key, kept_.begin());
  keptBytes_ += entry->size();
  while (keptBytes_ > limits_.memoryBytes) {
    keptBytes_ -= kept_.back().entry->size();
    index_.erase(kept_.back().key);
    dropped.splice(dropped.begin(), kept_, std::prev(kept_.end()));
  }
}

Ref<const CacheEntry> CompileCache::find(const Digest& key) {
  if (Ref<const CacheEntry> entry = recall(key)) return entry;
  if (folder_.empty()) return nullptr;
  const std::optional<CacheFolder> folder = CacheFolder::find(folder_);
  Ref<const CacheEntry> entry = folder ? folder->read(key) : nullptr;
  if (entry) remember(key, entry);
  return entry;
}

void CompileCache::store(const Digest& key, const Ref<const CacheEntry>& entry) {
  remember(key, entry);
  if (folder_.empty() || entry->size() > limits_.diskBytes) return;
  try {
    const CacheFolder folder = CacheFolder::make(folder_);
    folder.write(key, *entry);
    folder.trim(limits_.diskBytes);
  } catch (const Error& error) {
    logMessage(MAX_LOG_LEVEL_INFO, "The compiled kernel cannot be cached on disk: ", error.message());
  }
}

}  // namespace max
