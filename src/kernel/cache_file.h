// SPDX-License-Identifier: Apache-2.0
// The cache's folder: entries as files.
#pragma once

#include <string>

#include "kernel/cache.h"

namespace max {

// NULL if there is no such file or it is damaged. A file that is found counts as used now.
Ref<const CacheEntry> readCacheFile(const std::string& path, const Digest& key);
// Makes the folder, writes the file beside its place and moves it there. Failures leave nothing behind.
void writeCacheFile(const std::string& folder, const std::string& path, const Digest& key, const CacheEntry& entry);
// Removes files, least recently used first, until those that are left have at most three quarters of `limit` bytes;
// nothing while they have no more than `limit`. What writers that were killed left is removed too.
void trimCacheFolder(const std::string& folder, uint64_t limit);

// Whether nobody but this user and root can have put files there.
bool isPrivateFolder(const std::string& folder);

}  // namespace max
