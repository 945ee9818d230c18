// SPDX-License-Identifier: Apache-2.0
#include "device/memory_use.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/fork_lock.h"

namespace max {

namespace {

using Entry = MemoryUse::Entry;

std::mutex& lockOf(const Storage& memory) { return forkSafeMutex(&memory); }

// Under the lock.
MemoryUse* useOf(Storage& memory) { return static_cast<MemoryUse*>(memory.notes().get()); }

MemoryUse& madeUseOf(Storage& memory) {
  if (!memory.notes()) memory.notes() = std::make_unique<MemoryUse>();
  return *useOf(memory);
}

void requireUnmapped(const MemoryUse& use, const MaxBuffer& buffer, AccessKind kind) {
  if (!use.isMapped() || (kind == AccessKind::Read && !use.isMappedForWriting)) return;
  fail(MAX_STATUS_FAILED_PRECONDITION, "Buffer of type ", buffer.layout(), " is mapped to the host for ",
       use.isMappedForWriting ? "writing" : "reading", " and cannot be ", kind == AccessKind::Read ? "read" : "written",
       " otherwise until it is unmapped");
}

// Entries that an access must wait for. A few need no allocation.
class Conflicts {
 public:
  void add(const Entry& entry) {
    if (count_ < std::size(few_))
      few_[count_] = entry;
    else
      more_.push_back(entry);
    ++count_;
  }
  // Of the accesses on other streams than `own`.
  void addAll(const MemoryUse& use, AccessKind kind, const StreamWork* own) {
    for (const Entry& entry : use.entries)
      if (entry.work.get() != own && (kind == AccessKind::Write || entry.writes)) add(entry);
  }
  bool isEmpty() const { return count_ == 0; }
  template <class Function>
  void forEach(Function&& function) const {
    for (size_t i = 0; i < count_; ++i) function(i < std::size(few_) ? few_[i] : more_[i - std::size(few_)]);
  }

 private:
  Entry few_[2];
  std::vector<Entry> more_;
  size_t count_ = 0;
};

uint64_t positionOf(const Entry& entry) { return entry.open > 0 ? entry.work->position() : entry.position; }

// In a child process, a write takes over memory from work left in the parent; a read would miss that work, and fails.
bool isTakenOver(const StreamWork& work, AccessKind kind) { return kind == AccessKind::Write && work.isCutOff(); }

// Whether an entry that was waited for is obsolete: its work is done, or every later use of the buffer comes after it,
// because it comes after the stream that the buffer is bound to. A host function has not waited for later work on its
// own stream.
bool isObsolete(const Entry& entry, AccessKind kind, bool boundWaits) {
  if (isTakenOver(*entry.work, kind)) return true;
  if (entry.open > 0) return false;
  return entry.work->isDone(entry.position) || (boundWaits && !entry.work->isRunningHere());
}

// Drops obsolete entries that have not changed since. The conflicts hold the last references meanwhile.
void forget(Storage& memory, const Conflicts& conflicts, AccessKind kind, bool boundWaits) {
  bool isAny = false;
  conflicts.forEach([&](const Entry& e) { isAny |= isObsolete(e, kind, boundWaits); });
  if (!isAny) return;
  const std::lock_guard lock(lockOf(memory));
  MemoryUse* use = useOf(memory);
  conflicts.forEach([&](const Entry& old) {
    if (!isObsolete(old, kind, boundWaits)) return;
    std::erase_if(use->entries, [&](const Entry& e) {
      return e.work == old.work && e.position == old.position && e.open == old.open;
    });
  });
  memory.setNoted(!use->isEmpty());
}

}  // namespace

void requireUnmapped(const MaxBuffer& buffer, AccessKind kind) {
  Storage* memory = buffer.memory().get();
  if (!memory || !memory->isNoted()) return;
  const std::lock_guard lock(lockOf(*memory));
  if (const MemoryUse* use = useOf(*memory)) requireUnmapped(*use, buffer, kind);
}

void AccessScope::order(const MaxBuffer& buffer, AccessKind kind) {
  Storage* memory = buffer.memory().get();
  const bool isBound = &buffer.stream() == &stream_;
  work_ = stream_.work();
  const bool notes = memory && !isBound && work_;
  Conflicts conflicts;
  if (notes || (memory && memory->isNoted())) {
    if (count_ >= kFew) more_.reserve(more_.size() + 1);
    const std::lock_guard lock(lockOf(*memory));
    MemoryUse& use = madeUseOf(*memory);
    requireUnmapped(use, buffer, kind);
    conflicts.addAll(use, kind, work_);
    if (notes) open(*memory, use, kind);
  }
  if (!conflicts.isEmpty()) stream_.check();
  conflicts.forEach([&](const Entry& entry) {
    if (!isTakenOver(*entry.work, kind)) stream_.follow(*entry.work, positionOf(entry));
  });
  if (!conflicts.isEmpty()) forget(*memory, conflicts, kind, isBound);
  if (isBound) return;
  StreamWork* bound = buffer.stream().work();
  const uint64_t position = bound ? bound->position() : 0;
  if (bound && !bound->isDone(position) && !isTakenOver(*bound, kind)) {
    stream_.check();
    stream_.follow(*bound, position);
  }
  if (!notes) return;
  last_ = memory;
  lastBound_ = &buffer.stream();
  lastKind_ = kind;
}

// Under the lock, before the work is queued, so that nothing can fail afterwards.
void AccessScope::open(Storage& memory, MemoryUse& use, AccessKind kind) {
  auto entry = std::ranges::find_if(use.entries, [&](const Entry& e) { return e.work.get() == work_; });
  if (entry == use.entries.end()) {
    use.entries.push_back({Ref<StreamWork>(work_)});
    entry = use.entries.end() - 1;
  }
  ++entry->open;
  entry->writes |= kind == AccessKind::Write;
  memory.setNoted(true);
  if (count_ < kFew)
    few_[count_] = &memory;
  else
    more_.push_back(&memory);
  ++count_;
}

void AccessScope::close(Storage& memory) noexcept {
  const std::lock_guard lock(lockOf(memory));
  for (Entry& entry : useOf(memory)->entries) {
    if (entry.work.get() != work_) continue;
    entry.position = entry.work->position();
    --entry.open;
    return;
  }
}

AccessScope::~AccessScope() {
  for (size_t i = 0; i < count_; ++i) close(i < kFew ? *few_[i] : *more_[i - kFew]);
}

void noteAccess(const MaxBuffer& buffer, AccessKind kind, MaxStream& stream) {
  if (&buffer.stream() == &stream || !buffer.memory() || !stream.work()) return;
  AccessScope scope(stream);
  scope.work_ = stream.work();
  const std::lock_guard lock(lockOf(*buffer.memory()));
  scope.open(*buffer.memory(), madeUseOf(*buffer.memory()), kind);
}

void awaitUses(const MaxBuffer& buffer, AccessKind kind) {
  Storage* memory = buffer.memory().get();
  if (!memory || !memory->isNoted()) return;
  Conflicts conflicts;
  {
    const std::lock_guard lock(lockOf(*memory));
    if (const MemoryUse* use = useOf(*memory)) conflicts.addAll(*use, kind, nullptr);
  }
  conflicts.forEach([&](const Entry& entry) {
    if (!entry.work->isRunningHere() && !isTakenOver(*entry.work, kind)) entry.work->wait(positionOf(entry));
  });
  if (!conflicts.isEmpty()) forget(*memory, conflicts, kind, false);
}

void awaitContents(const MaxBuffer& buffer) {
  requireUnmapped(buffer, AccessKind::Read);
  awaitUses(buffer, AccessKind::Read);
  buffer.stream().waitUntilIdle();
}

void beginMapping(const MaxBuffer& buffer, bool writes) {
  Storage& memory = *buffer.memory();
  const std::lock_guard lock(lockOf(memory));
  MemoryUse& use = madeUseOf(memory);
  requireUnmapped(use, buffer, writes ? AccessKind::Write : AccessKind::Read);
  if (writes)
    use.isMappedForWriting = true;
  else
    ++use.readMappings;
  memory.setNoted(true);
}

void endMapping(Storage& memory, bool writes) noexcept {
  const std::lock_guard lock(lockOf(memory));
  MemoryUse& use = *useOf(memory);
  if (writes)
    use.isMappedForWriting = false;
  else
    --use.readMappings;
  memory.setNoted(!use.isEmpty());
}

void forgetUse(Storage& memory) noexcept {
  memory.setNoted(false);
  memory.notes().reset();
}

}  // namespace max
