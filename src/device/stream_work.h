// SPDX-License-Identifier: Apache-2.0
// The work of a stream, for other streams.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ref.h"

namespace max {

class StreamTask;

// The work queued on a stream, separate from the stream's handle, which may be released first. Failures stay with the
// stream: here work is only done or not.
class StreamWork : public RefCounted {
 public:
  // Unique, unlike the address, which other work may reuse.
  uint64_t id() const { return id_; }
  // The position after all currently queued work.
  virtual uint64_t position() const noexcept = 0;
  // Whether all work up to the position is known to be done.
  virtual bool isDone(uint64_t position) const noexcept = 0;
  // Whether the position stays the same while nothing is queued. False if other code queues work without this library.
  virtual bool isCounted() const noexcept { return true; }
  // Whether this thread runs a host function of the stream: earlier work is done, later work waits for it.
  virtual bool isRunningHere() const noexcept = 0;
  // Whether the work is in the parent process: what is not done never will be.
  virtual bool isCutOff() const noexcept = 0;
  // The calling thread waits for all work up to the position.
  virtual void wait(uint64_t position) = 0;
  // Generic version for other streams. The task only waits for work queued now, not for later work, which may be
  // waiting for that stream.
  virtual std::unique_ptr<StreamTask> waitTask(uint64_t position) = 0;

 protected:
  StreamWork();

 private:
  const uint64_t id_;
};

}  // namespace max
