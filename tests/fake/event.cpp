// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include "capture.h"
#include "fake.h"

namespace fake {

namespace {

std::shared_ptr<Event> findEvent(void* handle) {
  const auto found = state().events.find(static_cast<Event*>(handle));
  if (found != state().events.end()) return found->second;
  violation("an event is used that does not exist");
  return nullptr;
}

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

int createEvent(Device& device, bool hasTiming, Event** event) {
  if (!event) return kInvalidValue;
  auto made = std::make_shared<Event>();
  made->device = &device;
  made->hasTiming = hasTiming;
  *event = made.get();
  state().events.emplace(made.get(), std::move(made));
  return kOk;
}

int destroyEvent(Event* event) {
  if (state().events.erase(event)) return kOk;
  violation("an event is destroyed that does not exist");
  return kInvalidHandle;
}

int recordEvent(void* handle, const std::shared_ptr<Stream>& stream) {
  const auto event = findEvent(handle);
  if (!event || !stream || event->device != stream->device) return kInvalidHandle;
  if (stream->capture) return recordInCapture(*event, stream);
  event->capture = nullptr;
  event->branch = nullptr;
  auto mark = std::make_shared<Mark>();
  const auto pass = [mark] {
    const Lock lock(state().mutex);
    mark->nanoseconds = now();
    mark->isDone = true;
    return static_cast<int>(kOk);
  };
  const int result = enqueue(stream, pass, {});
  event->mark = mark;
  event->position = lastPosition(stream);
  event->clock = stream->clock;
  return result;
}

int waitForEvent(const std::shared_ptr<Stream>& stream, void* handle) {
  const auto event = findEvent(handle);
  if (!event || !stream) return kInvalidHandle;
  if (stream->capture || event->capture) return waitInCapture(stream, *event);
  if (!event->mark) return kOk;
  join(stream->clock, event->clock);
  const int result = enqueue(stream, nullptr, {});
  if (!isDone(event->position)) stream->queue.back().waits.push_back(event->position);
  return result;
}

int queryEvent(void* handle) {
  const auto event = findEvent(handle);
  if (!event) return kInvalidHandle;
  if (const int error = refuseCapturedEvent(*event)) return error;
  if (!event->mark) return kOk;
  if (!isDone(event->position)) return kNotReady;
  join(state().races.host(), event->clock);
  return kOk;
}

int synchronizeEvent(Lock& lock, void* handle) {
  const auto event = findEvent(handle);
  if (!event) return kInvalidHandle;
  if (const int error = refuseCapturedEvent(*event)) return error;
  if (!event->mark) return kOk;
  ++state().counts[FAKE_GPU_WAITS];
  const Clock clock = event->clock;
  waitFor(lock, Position(event->position));
  join(state().races.host(), clock);
  return event->device->lost;
}

int elapsedTime(float* milliseconds, void* start, void* end) {
  const auto first = findEvent(start);
  const auto last = findEvent(end);
  if (!milliseconds || !first || !last) return kInvalidHandle;
  if (first->capture || last->capture) return kCapturedEvent;
  if (!first->mark || !last->mark || !first->hasTiming || !last->hasTiming) return kInvalidHandle;
  if (!first->mark->isDone || !last->mark->isDone) return kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(last->mark->nanoseconds - first->mark->nanoseconds) * 1e-6);
  return kOk;
}

}  // namespace fake
