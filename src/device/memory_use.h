// SPDX-License-Identifier: Apache-2.0
// Who uses the memory of buffers: work on streams, and the host through mappings.
//
// Whatever reads or writes a buffer's contents comes after the work that is then on the stream that the buffer is bound
// to, so work on that stream needs no note. Work on other streams is noted with the memory, where views find it too,
// and later accesses come after it: all after writes, writes after reads. What the calling thread does itself, as on
// the host's default stream, waits first and is done when the call returns; it needs no note either.
#pragma once

#include <vector>

#include "device/buffer.h"
#include "device/stream_work.h"

namespace max {

enum class AccessKind : uint8_t { Read, Write };

// The notes of one block of memory, guarded by its lock.
class MemoryUse final : public MemoryNotes {
 public:
  struct Entry {
    Ref<StreamWork> work;
    uint64_t position = 0;  // its newest access is among the work up to here
    int open = 0;           // accesses that are being queued
    bool writes = false;
  };

  std::vector<Entry> entries;  // one for each stream
  int readMappings = 0;
  bool isMappedForWriting = false;

  bool isEmpty() const { return entries.empty() && !isMapped(); }
  bool isMapped() const { return isMappedForWriting || readMappings > 0; }
};

// The accesses of work that is queued while this object lives.
class AccessScope {
 public:
  explicit AccessScope(MaxStream& stream) : stream_(stream) {}
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

  // Later work on the stream comes after what uses the buffer now. FAILED_PRECONDITION if the host has it mapped.
  void reads(const MaxBuffer& buffer) { add(buffer, AccessKind::Read); }
  void writes(const MaxBuffer& buffer) { add(buffer, AccessKind::Write); }
  void add(const MaxBuffer& buffer, AccessKind kind) {
    const bool isNoted = buffer.memory() && buffer.memory()->isNoted();
    if (&buffer.stream() == &stream_ && !isNoted) [[likely]]
      return;
    order(buffer, kind);
  }

 private:
  friend void noteAccess(const MaxBuffer&, AccessKind, MaxStream&);
  static constexpr size_t kFew = 16;

  void order(const MaxBuffer& buffer, AccessKind kind);
  void open(Storage& memory, MemoryUse& use, AccessKind kind);
  void close(Storage& memory) noexcept;

  MaxStream& stream_;
  Storage* few_[kFew];  // NOLINT: the first `count_` are set
  std::vector<Storage*> more_;
  size_t count_ = 0;
  // The newest one: the same buffer often comes again.
  const Storage* last_ = nullptr;
  const MaxStream* lastBound_ = nullptr;
  AccessKind lastKind_ = AccessKind::Read;
};

// The same for work that somebody has queued already.
void noteAccess(const MaxBuffer& buffer, AccessKind kind, MaxStream& stream);

// Throws if the host has the memory mapped in a way that forbids the access.
void requireUnmapped(const MaxBuffer& buffer, AccessKind kind);

// The calling thread waits for what uses the memory, apart from the stream that the buffer is bound to, where a mapping
// has been noted already.
void awaitUses(const MaxBuffer& buffer, AccessKind kind);
// The calling thread waits for all that it must before it reads the contents. A failure of the buffer's stream is
// thrown.
void awaitContents(const MaxBuffer& buffer);

// Marks the memory as mapped, from when on accesses are refused that a mapping forbids.
void beginMapping(const MaxBuffer& buffer, bool writes);
void endMapping(Storage& memory, bool writes) noexcept;

// Forgets all: of memory that nobody else holds.
void forgetUse(Storage& memory) noexcept;

}  // namespace max
