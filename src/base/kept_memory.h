// SPDX-License-Identifier: Apache-2.0
// Memory that objects keep for reuse, and free when it is needed elsewhere.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace max {

enum class Kept : uint8_t {
  Idle,  // blocks kept for reuse
  All    // also what takes time to recreate
};

class KeptMemory {
 public:
  // Memory in use stays. Thread-safe.
  virtual void trim(Kept which) const noexcept = 0;

 protected:
  ~KeptMemory() = default;
};

// Thread-safe.
class KeptMemoryList {
 public:
  void trim(Kept which) const;

 private:
  friend class KeptMemoryEntry;
  void add(const RefCounted& owner, const KeptMemory& memory);
  void remove(const KeptMemory& memory) noexcept;

  // Guarded by processMutex().
  std::vector<std::pair<const RefCounted*, const KeptMemory*>> entries_;
};

// Registers memory for as long as this exists; it is trimmed only while its owner exists.
class KeptMemoryEntry {
 public:
  KeptMemoryEntry(KeptMemoryList& list, const RefCounted& owner, const KeptMemory& memory)
      : list_(list), memory_(memory) {
    list_.add(owner, memory);
  }
  ~KeptMemoryEntry() { list_.remove(memory_); }
  KeptMemoryEntry(const KeptMemoryEntry&) = delete;
  KeptMemoryEntry& operator=(const KeptMemoryEntry&) = delete;

 private:
  KeptMemoryList& list_;
  const KeptMemory& memory_;
};

}  // namespace max
