// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/allocator_streams.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
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

StreamMark::StreamMark(Ref<StreamTable> table, Ref<OrderedStream> stream)
    : events_(stream->events()), table_(std::move(table)), stream_(std::move(stream)) {}

StreamMark::StreamMark(Ref<EventPool> events) : events_(std::move(events)) {}

StreamMark::~StreamMark() {
  if (event_) events_->giveBack(event_);
}

bool StreamMark::isHeldUp() {
  if (!stream_ || isRecorded_.load(std::memory_order_acquire) || !events_->source().isUsable()) return false;
  Ref<StreamMark> recorded;
  if (!table_->tryMark(*stream_, recorded)) return true;
  const std::lock_guard lock(mutex_);
  if (isRecorded_.load(std::memory_order_relaxed)) return false;
  recorded_ = std::move(recorded);
  isRecorded_.store(true, std::memory_order_release);
  return false;
}

bool StreamMark::isDone() {
  if (done_.load(std::memory_order_acquire)) return true;
  EventSource& source = events_->source();
  if (source.isUsable()) {
    if (isHeldUp()) return false;
    if (stream_ ? recorded_ && !recorded_->isDone() : !event_ || !source.isEventDone(event_)) return false;
  }
  done_.store(true, std::memory_order_release);
  return true;
}

void StreamMark::wait() {
  if (done_.load(std::memory_order_acquire)) return;
  EventSource& source = events_->source();
  if (source.isUsable()) {
    require(!isHeldUp(), MAX_STATUS_FAILED_PRECONDITION, "A stream that is being captured cannot be waited for");
    if (recorded_)
      recorded_->wait();
    else if (event_)
      source.waitForEvent(event_);
    else if (!stream_)
      source.waitForDevice();
  }
  done_.store(true, std::memory_order_release);
}

void StreamMark::makeStreamWait(void* stream) {
  if (isDone()) return;
  if (event_) return events_->source().makeStreamWait(stream, event_);
  if (stream_ && !isHeldUp() && recorded_) return recorded_->makeStreamWait(stream);
  wait();
}

void OrderedStream::follow(StreamMark& mark) const {
  if (isCaptured())
    mark.wait();
  else
    mark.makeStreamWait(native_);
}

Ref<OrderedStream> StreamTable::open(Ref<EventPool> events, void* native, bool isShared) {
  auto stream = Ref<OrderedStream>::adopt(new OrderedStream(std::move(events), native));
  if (isShared) stream->noteShared();
  stream->beganCaptured_ = stream->isCaptured();
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
      last = lastMark(stream);
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

// NULL = the stream is captured, perhaps since a moment ago: then the event is a part of the capture.
Ref<StreamMark> StreamTable::record(OrderedStream& stream) {
  if (stream.isCaptured()) return nullptr;
  auto mark = makeRef<StreamMark>(stream.events_, stream.native_);
  return stream.isCaptured() ? nullptr : mark;
}

// All that went through a handle that was made within the capture is a part of it.
Ref<StreamMark> StreamTable::lastMark(OrderedStream& stream) {
  if (Ref<StreamMark> mark = record(stream)) return mark;
  return stream.beganCaptured_ ? nullptr : makeRef<StreamMark>(stream.events_);
}

bool StreamTable::tryMark(OrderedStream& stream, Ref<StreamMark>& mark) {
  Marking marking(*this);
  {
    const std::lock_guard lock(mutex_);
    mark = stream.last_;
    if (!stream.isOpen_) return true;
    marking.add(stream);
  }
  mark = record(stream);
  return mark != nullptr;
}

Ref<StreamMark> StreamTable::mark(OrderedStream& stream) {
  Ref<StreamMark> mark;
  if (!tryMark(stream, mark)) mark = makeRef<StreamMark>(Ref<StreamTable>(this), Ref<OrderedStream>(&stream));
  return mark;
}

bool StreamTable::isCaptured(OrderedStream& stream) {
  Marking marking(*this);
  {
    const std::lock_guard lock(mutex_);
    if (!stream.isOpen_) return false;
    marking.add(stream);
  }
  return stream.isCaptured();
}

bool StreamTable::hasCaptured(const EventSource& device) {
  Marking marking(*this);
  {
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_)
      for (OrderedStream* stream : slot.open)
        if (&stream->events_->source() == &device) marking.add(*stream);
  }
  return std::ranges::any_of(marking.streams(), [](const Ref<OrderedStream>& each) { return each->isCaptured(); });
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
    if (stream->events_->source().isUsable()) marks.push_back(mark(*stream));
}

}  // namespace max::gpu
