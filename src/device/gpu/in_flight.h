// SPDX-License-Identifier: Apache-2.0
// What queued work uses and no allocator of ours looks after: memory of the host program, modules.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "device/gpu/allocator_streams.h"

namespace max::gpu {

class InFlight final : public RefCounted {
 public:
  explicit InFlight(Ref<EventPool> events) : events_(std::move(events)) {}

  // Keeps the object until the present work of the stream is done, and then until somebody looks: a later call, or a
  // thread that does nothing else.
  void keep(Ref<const RefCounted> object, void* stream);
  void keep(std::vector<Ref<const RefCounted>> objects, void* stream);
  // The same for work on several streams.
  void keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks);
  // Lets go of what is done; of a device that seems to be lost, nothing. Does nothing in host functions, which hold up
  // the driver.
  void collect();
  // Lets go of everything: all work is done, or will never be.
  void clear() noexcept;

 private:
  friend class Watch;
  struct Entry {
    Ref<StreamMark> mark;
    Ref<const RefCounted> object;
  };

  void collect(size_t busyAtMost);
  void collectLost() noexcept;
  void drop() noexcept;
  void watch() noexcept;
  bool endWatchIfEmpty() noexcept;

  Ref<EventPool> events_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<bool> isWatched_{false};  // cleared under the mutex
};

}  // namespace max::gpu
