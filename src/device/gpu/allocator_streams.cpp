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

// While it lives, the driver's streams exist.
class StreamTable::Marking {
 public:
  explicit Marking(StreamTable& table) : table_(table) {}
  ~Marking() {
    if (streams_.empty()) return;
    const std::lock_guard lock(table_.mutex_);
    for (const Ref<OrderedStream>& stream : streams_) --stream->marking_;
    table_.marked_.notify_all();
  }
  Marking(const Marking&) = delete;
  Marking& operator=(const Marking&) = delete;

  // With the table's lock.
  void add(OrderedStream& stream) {
    streams_.emplace_back(&stream);
    ++stream.marking_;
  }
  const std::vector<Ref<OrderedStream>>& streams() const { return streams_; }

 private:
  StreamTable& table_;
  std::vector<Ref<OrderedStream>> streams_;
};

// A mark that cannot be waited for belongs to a failing device; nothing will use its memory again.
void StreamTable::finish(const EventSource& device) noexcept {
  const auto nextOf = [&](const Slot& slot) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(slot.closed, [&](const auto& mark) { return mark->isOf(device); });
    return found == slot.closed.end() ? Ref<StreamMark>() : *found;
  };
  for (Slot& slot : slots_) {
    while (const Ref<StreamMark> last = nextOf(slot)) {
      try {
        last->wait();
      } catch (const std::exception&) {
      }
      const std::lock_guard lock(mutex_);
      std::erase(slot.closed, last);
    }
  }
}

void StreamTable::collect(Slot& slot) {
  std::vector<Ref<StreamMark>> done;
  {
    const std::lock_guard lock(mutex_);
    done = slot.closed;
  }
  std::erase_if(done, [](const Ref<StreamMark>& mark) {
    try {
      return !mark->isDone();
    } catch (const std::exception&) {
      return true;
    }
  });
  if (done.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const Ref<StreamMark>& mark : done) std::erase(slot.closed, mark);
}

// A driver may fail once. After that, a stream that cannot be marked belongs to a lost device, and so does its memory.
// The last mark comes first, so that there is always one to find.
void StreamTable::close(OrderedStream& stream) noexcept {
  Slot& slot = slots_[stream.slot_];
  Ref<StreamMark> last;
  for (int attempt = 0; attempt < 2 && !last; ++attempt) {
    try {
      collect(slot);
      last = makeRef<StreamMark>(stream.events_, stream.native_);
    } catch (const std::exception&) {
    }
  }
  std::unique_lock lock(mutex_);
  std::erase(slot.open, &stream);
  stream.isOpen_ = false;
  stream.last_ = last;
  try {
    if (last) slot.closed.push_back(last);
  } catch (const std::exception&) {  // no host memory: blocks that the stream used are not waited for
  }
  marked_.wait(lock, [&] { return stream.marking_ == 0; });
}

Ref<StreamMark> StreamTable::mark(OrderedStream& stream) {
  Marking marking(*this);
  {
    const std::lock_guard lock(mutex_);
    if (!stream.isOpen_) return stream.last_;
    marking.add(stream);
  }
  return makeRef<StreamMark>(stream.events_, stream.native_);
}

void StreamTable::mark(uint64_t bits, std::vector<Ref<StreamMark>>& marks) {
  for (uint32_t i = 0; i < kSlots; ++i)
    if (bits >> i & 1) markSlot(slots_[i], marks);
}

void StreamTable::markSlot(Slot& slot, std::vector<Ref<StreamMark>>& marks) {
  collect(slot);
  Marking marking(*this);
  {
    const std::lock_guard lock(mutex_);
    marks.insert(marks.end(), slot.closed.begin(), slot.closed.end());
    for (OrderedStream* stream : slot.open) marking.add(*stream);
  }
  for (const Ref<OrderedStream>& stream : marking.streams())
    if (stream->events_->source().isUsable()) marks.push_back(makeRef<StreamMark>(stream->events_, stream->native_));
}

}  // namespace max::gpu
