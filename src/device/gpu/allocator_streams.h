// SPDX-License-Identifier: Apache-2.0
// Streams as the allocators see them: which ones used a block, and when that work is done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace max::gpu {

// One device's driver events. Thread-safe; throws failures.
class EventSource : public RefCounted {
 public:
  virtual void* createEvent() = 0;
  virtual void destroyEvent(void* event) noexcept = 0;
  // Marks all work now on the stream.
  virtual void recordEvent(void* event, void* stream) = 0;
  virtual bool isEventDone(void* event) = 0;
  // The host waits.
  virtual void waitForEvent(void* event) = 0;
  // Later work on the stream, of any device of the driver, waits; the call does not block.
  virtual void makeStreamWait(void* stream, void* event) = 0;
  // Whether work on the stream is being kept for a graph instead of being done.
  virtual bool isCaptured(void*) noexcept { return false; }
  // Whether the device still works: the work of a lost device is over.
  virtual bool isUsable() const noexcept = 0;
  // The host waits for all work, even of a lost device.
  virtual void waitForDevice() noexcept {}
};

// Events of a device, kept for the next mark.
class EventPool final : public RefCounted {
 public:
  explicit EventPool(Ref<EventSource> source);
  ~EventPool() override;

  EventSource& source() const { return *source_; }
  void* take();
  void giveBack(void* event) noexcept;

 private:
  Ref<EventSource> source_;
  const uint32_t generation_;
  std::mutex mutex_;
  std::vector<void*> events_;
};

class StreamTable;
class OrderedStream;
class CachedBlock;

// A point in the work of a stream. A stream that is captured cannot be marked: the mark is recorded when the capture is
// over, by a later call.
class StreamMark final : public RefCounted {
 public:
  // Records it.
  StreamMark(Ref<EventPool> events, void* stream);
  // Of a captured stream.
  StreamMark(Ref<StreamTable> table, Ref<OrderedStream> stream);
  // Of a stream that was captured when it was closed: nothing tells when its work is done, other than the device.
  explicit StreamMark(Ref<EventPool> events);
  ~StreamMark() override;

  bool isDone();
  // Whether it cannot be waited for yet, since the stream is captured.
  bool isHeldUp();
  // FAILED_PRECONDITION if it is held up.
  void wait();
  void makeStreamWait(void* stream);
  bool isOf(const EventSource& device) const { return &events_->source() == &device; }

 private:
  Ref<EventPool> events_;
  void* event_ = nullptr;
  const Ref<StreamTable> table_;  // of a captured stream
  const Ref<OrderedStream> stream_;
  std::mutex mutex_;
  Ref<StreamMark> recorded_;  // by the mutex until the next is set: of the stream after its capture; NULL = done
  std::atomic<bool> isRecorded_{false};
  std::atomic<bool> done_{false};
};

// Blocks that may be used at once, by size.
class BlockLists {
 public:
  BlockLists();
  void push(CachedBlock* block) noexcept;
  // The last one that fits `size`, a size from BlockLists::rounded, and wastes less than a sixth; NULL = none.
  CachedBlock* pop(size_t size) noexcept;
  // The last of the largest blocks.
  CachedBlock* popLargest() noexcept;
  size_t count() const { return count_; }

  // 16 sizes between powers of two, but multiples of `granularity`, which is a power of two.
  static size_t rounded(size_t bytes, size_t granularity);
  static bool fits(size_t blockSize, size_t size) { return blockSize >= size && blockSize - size <= size / 8; }

 private:
  static size_t classOf(size_t size);

  std::vector<CachedBlock*> heads_;
  size_t count_ = 0;
};

// A driver's stream while it is open: see CachingAllocator::openStream.
class OrderedStream final : public RefCounted {
 public:
  void* native() const { return native_; }
  const Ref<EventPool>& events() const { return events_; }
  uint64_t bit() const { return uint64_t{1} << slot_; }
  // Other code has the driver's stream, and may capture its work.
  void noteShared() noexcept { shared_.store(true, std::memory_order_relaxed); }
  // While the driver's stream exists. Costs nothing if no other code has it.
  bool isCaptured() const noexcept {
    return shared_.load(std::memory_order_relaxed) && events_->source().isCaptured(native_);
  }
  // Later work comes after the mark. A captured stream cannot wait for what is outside of its capture: then the host
  // waits.
  void follow(StreamMark& mark) const;

 private:
  friend class StreamTable;
  friend class CachingAllocator;
  OrderedStream(Ref<EventPool> events, void* native) : events_(std::move(events)), native_(native) {}

  Ref<EventPool> events_;
  void* native_;
  uint32_t slot_ = 0;
  std::atomic<bool> shared_{false};
  bool beganCaptured_ = false;  // when it was opened, other code captured it
  // Blocks that later work on this stream may use at once. Guarded by the allocator that opened it.
  BlockLists blocks_;
  bool closed_ = false;
  // Guarded by the table.
  bool isOpen_ = true;
  int marking_ = 0;       // threads that use the driver's stream
  Ref<StreamMark> last_;  // of a closed stream, for good; NULL = its work is done
};

// The streams of all devices of one driver, in 64 slots, so that a block notes in one word which streams used it.
// Streams in the same slot are waited for together. The driver is called without the lock.
class StreamTable final : public RefCounted {
 public:
  Ref<OrderedStream> open(Ref<EventPool> events, void* native, bool isShared);
  // Call this while the driver's stream still exists.
  void close(OrderedStream& stream) noexcept;
  // Marks the current work of a stream; NULL = it is closed, and its work is done.
  Ref<StreamMark> mark(OrderedStream& stream);
  // The same, but returns false if the stream is captured.
  bool tryMark(OrderedStream& stream, Ref<StreamMark>& mark);
  // Closed streams are not.
  bool isCaptured(OrderedStream& stream);
  bool hasCaptured(const EventSource& device);
  // Marks the current work of all streams in the slots of `bits`.
  void mark(uint64_t bits, std::vector<Ref<StreamMark>>& marks);
  // Removes a device whose streams are all closed, after their work.
  void finish(const EventSource& device) noexcept;

 private:
  static constexpr uint32_t kSlots = 64;
  struct Slot {
    std::vector<OrderedStream*> open;
    std::vector<Ref<StreamMark>> closed;  // last marks of closed streams
  };

  // Open streams that the driver is asked about.
  class Marking;

  static Ref<StreamMark> record(OrderedStream& stream);
  static Ref<StreamMark> lastMark(OrderedStream& stream);
  // Removes closed streams whose work is done.
  void collect(Slot& slot);
  void markSlot(Slot& slot, std::vector<Ref<StreamMark>>& marks);

  std::mutex mutex_;
  std::condition_variable marked_;
  Slot slots_[kSlots];
};

}  // namespace max::gpu
