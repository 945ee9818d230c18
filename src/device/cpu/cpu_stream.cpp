// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_stream.h"

#include <cstring>
#include <utility>

#include "device/cpu/cpu_event.h"
#include "device/cpu/cpu_memory.h"

namespace max {

namespace {

// Completes a mark when all earlier work is done, failed or not.
class MarkTask final : public StreamTask {
 public:
  MarkTask(Ref<CpuMarks> marks, uint32_t mark) : marks_(std::move(marks)), mark_(mark) {}
  void run(const Error*) override { marks_->complete(mark_); }
  bool runsAfterFailure() const override { return true; }

 private:
  Ref<CpuMarks> marks_;
  uint32_t mark_;
};

[[noreturn]] void failNative() {
  fail(MAX_STATUS_UNIMPLEMENTED, "Device cpu:0 has no driver streams: a stream of the host has no native handle");
}

CpuMarks& marksOf(MaxEvent& event) { return *static_cast<CpuEvent&>(event).marks(); }

void copyBytes(void* target, const void* source, size_t bytes) {
  if (bytes > 0) std::memcpy(target, source, bytes);
}

}  // namespace

void* CpuInlineStream::native() { failNative(); }

void CpuInlineStream::copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind) {
  copyBytes(target.data, source.data, bytes);
}

void CpuInlineStream::copyStrided(const StridedCopy& copy) { copyStridedOnHost(copy); }

void CpuInlineStream::fill(MemoryRange target, const FillPattern& pattern, size_t count) {
  fillOnHost(target.data, pattern, count);
}

void CpuInlineStream::enqueue(std::unique_ptr<StreamTask> task) { task->run(nullptr); }

void CpuInlineStream::record(MaxEvent& event) {
  CpuMarks& marks = marksOf(event);
  marks.complete(marks.add());
}

void CpuInlineStream::wait(MaxEvent& event) { event.synchronize(); }

CpuQueueStream::CpuQueueStream(MaxDevice& device, Ref<CpuQueue> queue)
    : MaxStream(device, false, false), queue_(std::move(queue)) {}

// In a child process the worker does not exist and its locks may stay held, so the queue is abandoned.
CpuQueueStream::~CpuQueueStream() {
  if (queue_->isCutOff())
    static_cast<void>(queue_.detach());
  else
    queue_->close();
}

void CpuQueueStream::waitUntilIdle() {
  queue_->waitUntilIdle();
  queue_->check();
}

void CpuQueueStream::synchronize() {
  queue_->waitUntilIdle();
  queue_->throwFailureOnce();
}

void* CpuQueueStream::native() { failNative(); }

void CpuQueueStream::copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind) {
  submit([target, source, bytes] { copyBytes(target.data, source.data, bytes); });
}

void CpuQueueStream::copyStrided(const StridedCopy& copy) {
  submit([copy] { copyStridedOnHost(copy); });
}

void CpuQueueStream::fill(MemoryRange target, const FillPattern& pattern, size_t count) {
  submit([target, pattern, count] { fillOnHost(target.data, pattern, count); });
}

void CpuQueueStream::enqueue(std::unique_ptr<StreamTask> task) { queue_->push(std::move(task)); }

void CpuQueueStream::record(MaxEvent& event) {
  check();
  CpuMarks& marks = marksOf(event);
  const uint32_t mark = marks.add();
  try {
    enqueue(std::make_unique<MarkTask>(Ref<CpuMarks>(&marks), mark));
  } catch (...) {
    marks.complete(mark);
    throw;
  }
}

void CpuQueueStream::wait(MaxEvent& event) { enqueue(event.waitTask()); }

}  // namespace max
