// SPDX-License-Identifier: Apache-2.0
// Streams: a thread each, with random delays. What is ordered with what is settled when work is enqueued.
#include <pthread.h>

#include <chrono>
#include <thread>
#include <utility>

#include "capture.h"
#include "fake.h"

namespace fake {

namespace {

constexpr unsigned kNonBlocking = 1;

thread_local bool inHostFunction = false;

// Now and then a pause, of any length up to the limit.
void delay(uint32_t& random) {
  const uint32_t limit = settings().maxDelay;
  random = random * 1664525u + 1013904223u;
  const uint32_t choice = random >> 29;
  if (limit == 0 || choice > 1) return;
  if (choice == 0)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds((random >> 8) % limit));
}

int runOperation(const Operation& operation, int lost) {
  if (lost && !operation.runsWhenLost) return kOk;
  static std::mutex& turn = *new std::mutex;
  std::unique_lock inTurn(turn, std::defer_lock);
  if (operation.isHostFunction && kPersonality.callsInTurn) inTurn.lock();
  inHostFunction = operation.isHostFunction;
  const int result = operation.run ? operation.run() : static_cast<int>(kOk);
  inHostFunction = false;
  return result;
}

void end(const std::shared_ptr<Stream>& stream) {
  join(stream->device->ended, stream->clock);
  std::erase(stream->device->closing, stream);
  state().races.removeActor(stream->actor);
}

void work(const std::shared_ptr<Stream>& stream) {
  Lock lock(state().mutex);
  uint32_t random = settings().seed * 2654435761u + stream->actor;
  while (true) {
    stream->wake.wait(lock, [&] { return !stream->queue.empty() || stream->isClosed; });
    if (stream->queue.empty()) return end(stream);
    Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (const Position& position : operation.waits) waitFor(lock, position);
    const int lost = stream->device->lost;
    const int counted = operation.isHostFunction ? 0 : 1;
    stream->device->running += counted;
    state().hostFunctions += 1 - counted;
    lock.unlock();
    delay(random);
    const int result = runOperation(operation, lost);
    operation = {};
    lock.lock();
    if (result && !stream->device->lost) stream->device->lost = result;
    ++stream->completed;
    stream->device->running -= counted;
    state().hostFunctions -= 1 - counted;
    state().progress.notify_all();
  }
}

void start(const std::shared_ptr<Stream>& stream) {
  if (std::exchange(stream->isStarted, true)) return;
  std::thread([stream] {
    pthread_setname_np(pthread_self(), "fake-stream");
    work(stream);
  }).detach();
}

void orderAfter(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Stream>& other, Operation& operation) {
  join(stream->clock, other->clock);
  if (!isDone(lastPosition(other))) operation.waits.push_back(lastPosition(other));
}

// The NULL stream and the blocking ones wait for each other.
void orderWithLegacy(const std::shared_ptr<Stream>& stream, Operation& operation) {
  if (stream->isBlocking) orderAfter(stream, stream->device->legacy, operation);
  if (!stream->isLegacy) return;
  for (const auto& [pointer, other] : state().streams)
    if (other->isBlocking && other->device == stream->device) orderAfter(stream, other, operation);
}

void push(const std::shared_ptr<Stream>& stream, Operation operation) {
  orderWithLegacy(stream, operation);
  state().races.begin(stream->actor, stream->clock);
  stream->queue.push_back(std::move(operation));
  ++stream->enqueued;
  start(stream);
  stream->wake.notify_one();
}

}  // namespace

bool isHostFunctionRunning() { return inHostFunction; }

int createStream(Device& device, unsigned flags, int priority, Stream** stream) {
  if (!stream || flags > kNonBlocking) return kInvalidValue;
  auto made = std::make_shared<Stream>();
  made->device = &device;
  made->actor = state().races.addActor();
  made->priority = priority;
  made->flags = flags;
  made->isBlocking = flags != kNonBlocking;
  *stream = made.get();
  state().streams.emplace(made.get(), std::move(made));
  return kOk;
}

// Returns at once; the thread ends after the last work.
int destroyStream(Stream* stream) {
  const auto found = state().streams.find(stream);
  if (found == state().streams.end()) {
    violation("a stream is destroyed that does not exist");
    return kInvalidHandle;
  }
  leaveCapture(*stream);
  stream->isClosed = true;
  stream->wake.notify_one();
  if (stream->isStarted)
    stream->device->closing.push_back(found->second);
  else
    state().races.removeActor(stream->actor);
  state().streams.erase(found);
  return kOk;
}

std::shared_ptr<Stream> findStream(void* handle) {
  constexpr uintptr_t kPerThread = 2;  // taken for the NULL stream, which promises more
  if (reinterpret_cast<uintptr_t>(handle) <= kPerThread) return currentDevice() ? currentDevice()->legacy : nullptr;
  const auto found = state().streams.find(static_cast<Stream*>(handle));
  if (found != state().streams.end()) return found->second;
  violation("a stream is used that does not exist");
  return nullptr;
}

int enqueue(const std::shared_ptr<Stream>& stream, std::function<int()> run, const std::vector<Access>& accesses) {
  for (const Access& access : accesses)
    if (access.bytes > 0 && !isKnownRange(access.address, access.bytes)) return kInvalidValue;
  if (stream->capture) return addToCapture(*stream, {std::move(run), {}, false, false}, accesses);
  if (const int error = refuseOnLegacy(*stream)) return error;
  ++state().counts[FAKE_GPU_QUEUED];
  push(stream, {std::move(run), {}, false, false});
  std::string text;
  bool isOrdered = true;
  for (const Access& access : accesses)
    isOrdered = state().races.access(stream->actor, stream->clock, access, &text) && isOrdered;
  if (!isOrdered) violation("race: " + text);
  return kOk;
}

// What the function does next, or tells other threads to do, comes after the work before it.
int enqueueHostFunction(const std::shared_ptr<Stream>& stream, std::function<int()> run, bool runsWhenLost) {
  if (stream->capture) return addToCapture(*stream, {std::move(run), {}, true, runsWhenLost}, {});
  if (const int error = refuseOnLegacy(*stream)) return error;
  ++state().counts[FAKE_GPU_QUEUED];
  push(stream, {nullptr, {}, true, runsWhenLost});
  stream->queue.back().run = [clock = stream->clock, run = std::move(run)] {
    {
      const Lock lock(state().mutex);
      join(state().races.host(), clock);
    }
    return run();
  };
  return kOk;
}

Position lastPosition(const std::shared_ptr<Stream>& stream) { return {stream, stream->enqueued}; }

bool isDone(const Position& position) { return !position.stream || position.stream->completed >= position.count; }

void waitFor(Lock& lock, const Position& position) {
  state().progress.wait(lock, [&] { return isDone(position); });
}

int synchronize(Lock& lock, const std::shared_ptr<Stream>& stream) {
  if (const int error = refuseOnStream(*stream, kCaptureUnsupported)) return error;
  if (const int error = refuseOnLegacy(*stream)) return error;
  ++state().counts[FAKE_GPU_WAITS];
  if (stream->isLegacy) push(stream, {});
  const Position position = lastPosition(stream);
  static thread_local Clock clock;  // keeps its memory: tests count allocations
  clock = stream->clock;
  waitFor(lock, position);
  join(state().races.host(), clock);
  return stream->device->lost;
}

int synchronize(Lock& lock, Device& device) {
  if (const int error = refuseOnDevice(device)) return error;
  std::vector<std::shared_ptr<Stream>> streams = device.closing;
  streams.push_back(device.legacy);
  for (const auto& [pointer, stream] : state().streams)
    if (stream->device == &device) streams.push_back(stream);
  for (const auto& stream : streams) static_cast<void>(synchronize(lock, stream));
  join(state().races.host(), device.ended);
  return device.lost;
}

void waitForAll(Lock& lock, Device* device) {
  if (!device || isHostFunctionRunning()) return;
  ++state().counts[FAKE_GPU_WAITS];
  std::vector<Position> positions;
  for (const auto& stream : device->closing) positions.push_back(lastPosition(stream));
  positions.push_back(lastPosition(device->legacy));
  for (const auto& [pointer, stream] : state().streams)
    if (stream->device == device) positions.push_back(lastPosition(stream));
  state().progress.wait(lock, [] { return !state().isLocked; });
  state().isLocked = true;
  for (const Position& position : positions) waitFor(lock, position);
  state().isLocked = false;
  state().progress.notify_all();
}

int query(const std::shared_ptr<Stream>& stream) {
  if (const int error = refuseOnStream(*stream, kCaptureUnsupported)) return error;
  if (stream->device->lost) return stream->device->lost;
  if (!isDone(lastPosition(stream))) return kNotReady;
  join(state().races.host(), stream->clock);
  return kOk;
}

}  // namespace fake
