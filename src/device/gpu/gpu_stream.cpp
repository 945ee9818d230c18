// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/gpu_stream.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/active_call.h"
#include "device/device.h"
#include "device/gpu/gpu_event.h"

namespace max::gpu {

namespace {

constexpr unsigned kNonBlocking = 1;  // does not synchronise with the driver's default stream
constexpr size_t kStagedAtOnce = size_t{4} << 20;

// For drivers, smaller numbers mean higher priority.
int driverPriority(const Context& context, int32_t priority) {
  int least = 0, greatest = 0;
  context.call(context.driver().priorityRange, &least, &greatest);
  return static_cast<int>(std::clamp<int64_t>(-int64_t{priority}, greatest, least));
}

// Of a device of the stream's API.
const Context& contextOf(MaxDevice& device) { return static_cast<GpuStream&>(device.defaultStream()).context(); }

bool isOfApi(const MaxDevice& device, const Api& api) { return std::string_view(device.api()) == api.name; }

}  // namespace

NativeStream::NativeStream(Ref<Context> context, int32_t priority) : context_(std::move(context)) {
  context_->call(context_->driver().streamCreate, &handle_, kNonBlocking, driverPriority(*context_, priority));
}

NativeStream::~NativeStream() {
  // If the device only seems to be lost, work may still use memory that is released now.
  if (context_->isLost()) context_->tryCall(context_->driver().streamSynchronize, handle_);
  if (isOwned_) context_->tryCall(context_->driver().streamDestroy, handle_);
}

bool NativeStream::isAwaited() const noexcept {
  return isOwned_ && context_->api().destroyWaits &&
         context_->tryCall(context_->driver().streamQuery, handle_) == kNotReady;
}

GpuStream::GpuStream(MaxDevice& device, const DeviceParts& parts, Ref<HostQueue> hostQueue, bool isDefault,
                     int32_t priority)
    : MaxStream(device, isDefault, false),
      parts_(parts),
      native_(makeRef<NativeStream>(parts.context, priority)),
      ordered_(parts.memory->openStream(native_->handle())),
      hostQueue_(std::move(hostQueue)),
      work_(makeRef<GpuWork>(context().driver(), ordered_, hostQueue_, true)) {}

GpuStream::GpuStream(MaxDevice& device, const DeviceParts& parts, Ref<HostQueue> hostQueue, void* borrowed)
    : MaxStream(device, false, false),
      parts_(parts),
      native_(makeRef<NativeStream>(parts.context, borrowed)),
      ordered_(parts.memory->openStream(borrowed, true)),
      hostQueue_(std::move(hostQueue)),
      work_(makeRef<GpuWork>(context().driver(), ordered_, hostQueue_, false)) {}

GpuStream::~GpuStream() {
  parts_.memory->closeStream(*ordered_);
  if (isDefault() || context().isLost()) work_->noteAllDone();  // the device waits for all work in its destructor
  if (context().isLost()) hostQueue_->abandon();
  if (!isDefault() && native_->isAwaited()) goWhenIdle();
}

// Releasing a stream must not wait, least of all in a host function of the stream.
void GpuStream::goWhenIdle() noexcept {
  try {
    parts_.inFlight->keep({native_}, table().mark(*ordered_));
  } catch (const std::exception&) {  // then the driver waits
  }
}

void GpuStream::check() {
  if (context().isLost()) hostQueue_->abandon();
  context().check();
  hostQueue_->check();
}

void GpuStream::requireWaitable() {
  require(!hostQueue_->isRunningHere(), MAX_STATUS_FAILED_PRECONDITION,
          "A host function cannot wait for the stream that it runs on");
  requireUncaptured("A wait of the host for a stream");
}

// What a graph would do again with each launch.
void GpuStream::requireUncaptured(const char* what) {
  require(!isCaptured(), MAX_STATUS_FAILED_PRECONDITION, what, " is not possible while the stream of ",
          device().displayName(), " is being captured");
}

bool GpuStream::isDriverIdle() const {
  const int error = context().query(context().driver().streamQuery, native_->handle());
  if (error != kSuccess && error != kNotReady) context().fail(context().driver().streamQuery.name, error);
  return error == kSuccess;
}

void GpuStream::waitForDriver() {
  requireWaitable();
  if (context().isLost()) hostQueue_->abandon();
  const uint64_t position = work_->position();
  const ActiveCall* call = activeCall();
  if (call && call->interrupt) pollUntilDone(*call->interrupt, [this] { return isDriverIdle(); });
  context().call(context().driver().streamSynchronize, native_->handle());
  work_->noteDone(position);
  parts_.inFlight->collect();
}

void GpuStream::waitUntilIdle() {
  waitForDriver();
  check();
}

void GpuStream::synchronize() {
  try {
    waitForDriver();
  } catch (...) {
    if (context().isLost()) hostQueue_->abandon();
    throw;
  }
  hostQueue_->throwFailureOnce();
}

// Memory of this driver's allocators knows which streams use it. That of another driver counts other streams.
bool GpuStream::noteInBlock(const Ref<Storage>& memory) const noexcept {
  CachedBlock* block = CachedBlock::of(memory.get());
  if (!block || !block->isOf(table())) return false;
  block->noteUse(*ordered_);
  return true;
}

void GpuStream::noteUse(const Ref<Storage>& memory) {
  if (memory && !noteInBlock(memory)) keepUntilDone(memory);
}

void GpuStream::keepUntilDone(Ref<const RefCounted> object) {
  keepUntilDone(std::vector<Ref<const RefCounted>>{std::move(object)});
}

// If an object cannot be kept, nothing would tell when it is free: then the host waits.
void GpuStream::keepUntilDone(std::vector<Ref<const RefCounted>> objects) {
  try {
    parts_.inFlight->keep(std::move(objects), table().mark(*ordered_));
  } catch (...) {
    finishForFailure();
    throw;
  }
}

void GpuStream::setGraphUses(std::vector<Ref<const RefCounted>>* uses) {
  graphUses_ = uses;
  work_->share();
}

void GpuStream::addToGraph(const RefCounted& code) {
  if (std::ranges::none_of(*graphUses_, [&](const auto& known) { return known.get() == &code; }))
    graphUses_->emplace_back(&code);
}

void GpuStream::keepAfterFailure(const Ref<Storage>& memory) noexcept {
  if (memory && !noteInBlock(memory)) finishForFailure();
}

// Work that is captured is not done anyway.
void GpuStream::finishForFailure() const noexcept {
  if (!ordered_->isCaptured()) context().tryCall(context().driver().streamSynchronize, native_->handle());
}

void GpuStream::copy(MemoryRange target, MemoryRange source, size_t bytes, MaxCopyKind kind) {
  check();
  if (bytes == 0) return;
  const Driver& driver = context().driver();
  if (kind == MAX_COPY_KIND_HOST_TO_HOST)
    return submit([target, source, bytes] { std::memcpy(target.data, source.data, bytes); });
  const auto& function = kind == MAX_COPY_KIND_HOST_TO_DEVICE   ? driver.copyHostToDevice
                         : kind == MAX_COPY_KIND_DEVICE_TO_HOST ? driver.copyDeviceToHost
                                                                : driver.copyDeviceToDevice;
  if (kind == MAX_COPY_KIND_HOST_TO_DEVICE && mustStage(source)) return copyStaged(target, source, bytes);
  queue(target.owner, source.owner,
        [&] { context().call(function, target.data, source.data, bytes, native_->handle()); });
}

// Drivers read memory of the host at the call, unless it is page-locked. Host work that is still queued may write
// there; a capture has none, and a graph reads the memory when it is launched.
bool GpuStream::mustStage(const MemoryRange& source) {
  const CachedBlock* block = CachedBlock::of(source.owner.get());
  if ((block && block->isOf(table())) || !work_->mayHaveHostWork() || ordered_->isCaptured()) return false;
  const uint64_t position = work_->position();
  if (!isDriverIdle()) return true;
  work_->noteDone(position);
  return false;
}

// The stream itself moves the bytes to page-locked memory, part by part through the same.
void GpuStream::copyStaged(const MemoryRange& target, const MemoryRange& source, size_t bytes) {
  const Ref<Storage> staging = parts_.pinned->allocate(std::min(bytes, kStagedAtOnce), 0, nullptr);
  noteUse(staging);
  queue(target.owner, source.owner, [&] {
    for (size_t done = 0; done < bytes; done += kStagedAtOnce) {
      const size_t part = std::min(bytes - done, kStagedAtOnce);
      const char* from = static_cast<const char*>(source.data) + done;
      submit([staging, from, part] { std::memcpy(staging->data(), from, part); });
      context().call(context().driver().copyHostToDevice, static_cast<char*>(target.data) + done, staging->data(), part,
                     native_->handle());
    }
  });
}

void GpuStream::copyPeer(MemoryRange target, MaxDevice& targetDevice, MemoryRange source, MaxDevice& sourceDevice,
                         size_t bytes) {
  check();
  if (bytes == 0) return;
  const Context& to = contextOf(targetDevice);
  const Context& from = contextOf(sourceDevice);
  const Driver& driver = context().driver();
  void* stream = native_->handle();
  queue(target.owner, source.owner, [&] {
    if (driver.contextCopyPeer)
      context().call(driver.contextCopyPeer, target.data, to.handle(), source.data, from.handle(), bytes, stream);
    else
      context().call(driver.deviceCopyPeer, target.data, to.device(), source.data, from.device(), bytes, stream);
  });
}

void GpuStream::enqueue(std::unique_ptr<StreamTask> task) {
  check();
  requireUncaptured("A host function, or other work that needs one,");
  const Ref<GpuWork> work = work_;  // the task may drop the last handle of this stream at once
  void* call = hostQueue_->add(std::move(task));
  try {
    context().call(context().driver().launchHostFunction, native_->handle(), &HostQueue::run, call);
  } catch (...) {
    hostQueue_->cancel(call);
    throw;
  }
  work->noteHostWorkQueued();
}

void GpuStream::record(MaxEvent& event) {
  check();
  static_cast<GpuEvent&>(event).record(native_->handle(), ordered_->isCaptured());
}

// A captured stream cannot depend on what is outside of its capture: then the host waits.
void GpuStream::wait(MaxEvent& event) {
  check();
  const bool isOwnApi = isOfApi(event.device(), context().api());
  const Ref<NativeEvent> mark = isOwnApi ? static_cast<GpuEvent&>(event).mark() : nullptr;
  if (mark && mark->isCaptured()) return joinCapture(mark->handle());
  if (ordered_->isCaptured()) return event.synchronize();
  if (!mark) {
    if (!event.isReady()) enqueue(event.waitTask());
    return;
  }
  context().call(context().driver().streamWaitEvent, native_->handle(), mark->handle(), 0u);
  work_->noteHostWorkQueued();
}

// The stream, if it is not yet captured, becomes a part of the capture that has the mark.
void GpuStream::joinCapture(void* event) {
  context().call(context().driver().streamWaitEvent, native_->handle(), event, 0u);
  work_->share();
  work_->noteHostWorkQueued();
}

void GpuStream::awaitWork(StreamWork& other, uint64_t position) {
  check();
  auto* work = dynamic_cast<GpuWork*>(&other);
  const bool isOwnApi = work && &work->api() == &context().api();
  if (ordered_->isCaptured())
    return isOwnApi && work->isCaptured() ? work->makeCaptureWait(handle()) : other.wait(position);
  if (!isOwnApi) return enqueue(other.waitTask(position));
  const Ref<StreamMark> mark = work->mark();
  if (!mark) return;
  require(!mark->isHeldUp(), MAX_STATUS_FAILED_PRECONDITION, "A buffer's stream of ", device().displayName(),
          " is being captured: work on another stream that uses the buffer must be told to wait for that stream first");
  mark->makeStreamWait(handle());
  work_->noteHostWorkQueued();
}

}  // namespace max::gpu
