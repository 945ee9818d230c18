// SPDX-License-Identifier: Apache-2.0
// Tracks the users of buffers' memory: work on streams, and the host through mappings.
//
// Every access to a buffer's contents comes after the work already queued on the buffer's stream, so work on that
// stream is not recorded. Work on other streams is recorded with the memory, shared by views, and later accesses come
// after it: everything after writes, writes after reads. Work of the calling thread itself, as on the host's default
// stream, waits first and is done when the call returns; it is not recorded either.
#pragma once

#include <vector>

#include "device/buffer.h"
#include "device/stream_work.h"

namespace max {

enum class AccessKind : uint8_t { Read, Write };

// The records of one block of memory, guarded by its lock.
class MemoryUse final : public MemoryNotes {
 public:
  struct Entry {
    Ref<StreamWork> work;
    uint64_t position = 0;  // its newest access is before this position
    int open = 0;           // accesses that are being queued
    bool writes = false;
  };

  std::vector<Entry> entries;  // one for each stream
  int readMappings = 0;
  bool isMappedForWriting = false;

  bool isEmpty() const { return entries.empty() && !isMapped(); }
  bool isMapped() const { return isMappedForWriting || readMappings > 0; }
};

// The accesses of work queued while this object exists.
class AccessScope {
 public:
  explicit AccessScope(MaxStream& stream) : stream_(stream) {}
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

  // Makes later work on the stream wait for current users of the buffer. FAILED_PRECONDITION if it is mapped to the
  // host.
  void reads(const MaxBuffer& buffer) { add(buffer, AccessKind::Read); }
  void writes(const MaxBuffer& buffer) { add(buffer, AccessKind::Write); }
  void add(const MaxBuffer& buffer, AccessKind kind) {
    const Storage* memory = buffer.memory().get();
    if (&buffer.stream() == &stream_ && !(memory && memory->isNoted())) [[likely]]
      return;
    if (memory && memory == last_ && &buffer.stream() == lastBound_ && kind <= lastKind_) return;
    order(buffer, kind);
  }

 private:
  friend void noteAccess(const MaxBuffer&, AccessKind, MaxStream&);
  static constexpr size_t kFew = 16;

  void order(const MaxBuffer& buffer, AccessKind kind);
  void open(Storage& memory, MemoryUse& use, AccessKind kind);
  void close(Storage& memory) noexcept;

  MaxStream& stream_;
  StreamWork* work_ = nullptr;  // of the stream, once there is something to order
  Storage* few_[kFew];          // NOLINT: the first `count_` are set
  std::vector<Storage*> more_;
  size_t count_ = 0;
  // The newest one of another stream's buffers: the same buffer is often used again.
  const Storage* last_ = nullptr;
  const MaxStream* lastBound_ = nullptr;
  AccessKind lastKind_ = AccessKind::Read;
};

// The same for work that is already queued.
void noteAccess(const MaxBuffer& buffer, AccessKind kind, MaxStream& stream);

// Throws if a mapping to the host forbids the access.
void requireUnmapped(const MaxBuffer& buffer, AccessKind kind);

// The calling thread waits for users of the memory, except on the buffer's own stream; the mapping must be recorded
// already.
void awaitUses(const MaxBuffer& buffer, AccessKind kind);
// The calling thread waits for everything it needs before it reads the contents. Throws a failure of the buffer's
// stream.
void awaitContents(const MaxBuffer& buffer);

// Marks the memory as mapped; accesses that the mapping forbids then fail.
void beginMapping(const MaxBuffer& buffer, bool writes);
void endMapping(Storage& memory, bool writes) noexcept;

// Drops all records, for memory without other references.
void forgetUse(Storage& memory) noexcept;

}  // namespace max
