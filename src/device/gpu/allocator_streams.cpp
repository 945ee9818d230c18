// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/allocator_streams.h"

#include <algorithm>
#include <exception>

#include "base/fork.h"

namespace max::gpu {

EventPool::EventPool(Ref<EventSource> source) : source_(std::move(source)), generation_(forkGeneration()) {}

EventPool::~EventPool() {
  if (generation_ != forkGeneration()) return;
  for (void* event : events_) source_->destroyEvent(event);
}

void* EventPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) {
      void* event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  return source_->createEvent();
}

void EventPool::giveBack(void* event) noexcept {
  if (generation_ != forkGeneration()) return;
  try {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  } catch (const std::exception&) {
    source_->destroyEvent(event);
  }
}

StreamMark::StreamMark(Ref<EventPool> events, void* stream) : events_(std::move(events)), event_(events_->take()) {
  try {
    events_->source().recordEvent(event_, stream);
  } catch (...) {
    events_->giveBack(event_);
    throw;
  }
}

StreamMark::~StreamMark() { events_->giveBack(event_); }

bool StreamMark::isDone() {
  if (done_.load(std::memory_order_acquire)) return true;
  EventSource& source = events_->source();
  if (source.isUsable() && !source.isEventDone(event_)) return false;
  done_.store(true, std::memory_order_release);
  return true;
}

void StreamMark::wait() {
  if (done_.load(std::memory_order_acquire)) return;
  if (events_->source().isUsable()) events_->source().waitForEvent(event_);
  done_.store(true, std::memory_order_release);
}

void StreamMark::makeStreamWait(void* stream) {
  if (!isDone()) events_->source().makeStreamWait(stream, event_);
}

Ref<OrderedStream> StreamTable::open(Ref<EventPool> events, void* native) {
  auto stream = Ref<OrderedStream>::adopt(new OrderedStream(std::move(events), native));
  const std::lock_guard lock(mutex_);
  const auto* emptiest = std::min_element(std::begin(slots_), std::end(slots_), [](const Slot& a, const Slot& b) {
    return a.open.size() + a.closed.size() < b.open.size() + b.closed.size();
  });
  stream->slot_ = static_cast<uint32_t>(emptiest - slots_);
  slots_[stream->slot_].open.push_back(stream.get());
  return stream;
}

// A mark that cannot be waited for belongs to a failing device; nothing will use its memory again.
void StreamTable::finish(const EventSource& device) noexcept {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_)
    std::erase_if(slot.closed, [&](const Ref<StreamMark>& mark) {
      if (!mark->isOf(device)) return false;
      try {
        mark->wait();
      } catch (const std::exception&) {
      }
      return true;
    });
}

void StreamTable::collect(Slot& slot) noexcept {
  std::erase_if(slot.closed, [](const Ref<StreamMark>& mark) {
    try {
      return mark->isDone();
    } catch (const std::exception&) {
      return false;
    }
  });
}

// A driver may fail once. After that, a stream that cannot be marked belongs to a lost device, and so does its memory.
void StreamTable::close(OrderedStream& stream) noexcept {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[stream.slot_];
  std::erase(slot.open, &stream);
  collect(slot);
  for (int attempt = 0; attempt < 2 && !stream.last_; ++attempt) {
    try {
      stream.last_ = makeRef<StreamMark>(stream.events_, stream.native_);
      slot.closed.push_back(stream.last_);
    } catch (const std::exception&) {
    }
  }
}

void StreamTable::mark(uint64_t bits, std::vector<Ref<StreamMark>>& marks) {
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < kSlots; ++i) {
    if ((bits >> i & 1) == 0) continue;
    Slot& slot = slots_[i];
    collect(slot);
    marks.insert(marks.end(), slot.closed.begin(), slot.closed.end());
    for (const OrderedStream* stream : slot.open)
      if (stream->events_->source().isUsable()) marks.push_back(makeRef<StreamMark>(stream->events_, stream->native_));
  }
}

}  // namespace max::gpu
