// SPDX-License-Identifier: Apache-2.0
// The work of a stream as others see it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ref.h"

namespace max {

class StreamTask;

// What has been queued on a stream, apart from the stream's handle, which may go first. Failures of the work stay with
// the stream: here it is only done or not.
class StreamWork : public RefCounted {
 public:
  // Never that of other work, which may come to lie at the same address.
  uint64_t id() const { return id_; }
  // Stands for all work that is queued now.
  virtual uint64_t position() const noexcept = 0;
  // Whether all work up to the position is known to be done.
  virtual bool isDone(uint64_t position) const noexcept = 0;
  // Whether the position stays the same while nothing is queued. False if somebody queues work past this library.
  virtual bool isCounted() const noexcept { return true; }
  // Whether this thread runs a host function of the stream: what came before it is done, the rest waits for it.
  virtual bool isRunningHere() const noexcept = 0;
  // Whether a fork has left it behind in another process: what is not done will never be.
  virtual bool isCutOff() const noexcept = 0;
  // The calling thread waits for all work up to the position.
  virtual void wait(uint64_t position) = 0;
  // The same for a stream that knows no better. The task waits for what is queued now, never for what comes later,
  // which may be waiting for that stream.
  virtual std::unique_ptr<StreamTask> waitTask(uint64_t position) = 0;

 protected:
  StreamWork();

 private:
  const uint64_t id_;
};

}  // namespace max
