// SPDX-License-Identifier: Apache-2.0
#include "base/kept_memory.h"

#include "base/fork.h"

namespace max {

void KeptMemoryList::add(const RefCounted& owner, const KeptMemory& memory) {
  const std::lock_guard lock(processMutex());
  entries_.emplace_back(&owner, &memory);
}

void KeptMemoryList::remove(const KeptMemory& memory) noexcept {
  const std::lock_guard lock(processMutex());
  std::erase_if(entries_, [&](const auto& entry) { return entry.second == &memory; });
}

// Without the lock, which owners may need in their destructors; they are held meanwhile.
void KeptMemoryList::trim(Kept which) const {
  std::vector<std::pair<Ref<const RefCounted>, const KeptMemory*>> held;
  {
    const std::lock_guard lock(processMutex());
    held.reserve(entries_.size());
    for (const auto& [owner, memory] : entries_)
      if (owner->tryRetain()) held.emplace_back(Ref<const RefCounted>::adopt(owner), memory);
  }
  for (const auto& [owner, memory] : held) memory->trim(which);
}

}  // namespace max
