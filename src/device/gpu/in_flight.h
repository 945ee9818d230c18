// SPDX-License-Identifier: Apache-2.0
// Objects in use by queued work that our allocators do not manage: memory of the host program, modules.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "device/gpu/allocator_streams.h"

namespace max::gpu {

class InFlight final : public RefCounted {
 public:
  explicit InFlight(Ref<EventSource> device) : device_(std::move(device)) {}

  // Keeps the objects until the work before the mark is done (NULL: it is), and then until the next collection: by a
  // later call or by a dedicated thread.
  void keep(std::vector<Ref<const RefCounted>> objects, const Ref<StreamMark>& mark);
  // The same for work on several streams.
  void keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks);
  // Releases what is done, except on a device that seems to be lost. Does nothing in host functions, which block the
  // driver.
  void collect();
  // Releases everything: all work is done, or will never be.
  void clear() noexcept;

 private:
  friend class Watch;
  struct Entry {
    Ref<StreamMark> mark;
    Ref<const RefCounted> object;
  };

  class Collection;
  void add(std::vector<Entry> entries);
  void collect(size_t busyAtMost);
  void collectLost() noexcept;
  void drop() noexcept;
  void watch() noexcept;
  bool endWatchIfEmpty() noexcept;

  const Ref<EventSource> device_;
  std::mutex mutex_;
  std::condition_variable collected_;
  std::deque<Entry> entries_;           // by the mutex
  int collecting_ = 0;                  // by the mutex: threads that have some of them
  std::atomic<bool> isWatched_{false};  // cleared under the mutex
};

}  // namespace max::gpu
