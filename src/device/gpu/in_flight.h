// SPDX-License-Identifier: Apache-2.0
// What queued work uses and no allocator of ours looks after: memory of the host program, modules.
#pragma once

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "device/gpu/allocator_streams.h"

namespace max::gpu {

class InFlight {
 public:
  explicit InFlight(Ref<EventPool> events) : events_(std::move(events)) {}

  // Keeps the object until the present work of the stream is done, and then until somebody looks.
  void keep(Ref<const RefCounted> object, void* stream);
  // The same for work on several streams.
  void keep(Ref<const RefCounted> object, std::vector<Ref<StreamMark>> marks);
  // Lets go of what is done.
  void collect();
  // Lets go of everything: all work is done, or will never be.
  void clear() noexcept;

 private:
  struct Entry {
    Ref<StreamMark> mark;
    Ref<const RefCounted> object;
  };

  Ref<EventPool> events_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace max::gpu
