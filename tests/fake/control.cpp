// SPDX-License-Identifier: Apache-2.0
// Calls that fail on command, lost devices, violations, and what tests can ask for.
#include "control.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "capture.h"
#include "fake.h"

namespace fake {

namespace {

// After one of these a context answers nothing else.
constexpr std::array kSpoilingCodes = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719};

struct Control {
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> violations{0};
  std::atomic<int64_t> failAt{-1};
  std::atomic<int> failCode{kUnknown};
  std::atomic<const char*> failedCall{""};
};

void readFailCall(Control& control) {
  const char* text = getenv("FAKE_GPU_FAIL_CALL");
  if (!text) return;
  char* end = nullptr;
  control.failAt = strtoll(text, &end, 10);
  if (*end == ':') control.failCode = atoi(end + 1);
}

Control& control() {
  static Control* one = [] {
    auto* made = new Control;
    readFailCall(*made);
    return made;
  }();
  return *one;
}

// No operation goes on when a device is lost.
void lose(Lock& lock, Device& device, int code) {
  device.lost = code;
  state().progress.wait(lock, [&] { return device.running == 0; });
}

// A context that is spoiled by a call for no device in particular may be any.
void spoil(const Device* device, int code) {
  if (std::find(kSpoilingCodes.begin(), kSpoilingCodes.end(), code) == kSpoilingCodes.end()) return;
  Lock lock(state().mutex);
  for (const auto& each : state().devices)
    if (!device || each.get() == device) lose(lock, *each, code);
}

// The code that this call must fail with, or kOk.
int countCall(const char* function, const Device* device) {
  Control& c = control();
  const int64_t number = ++c.calls;
  if (number != c.failAt) return kOk;
  c.failedCall = function;
  const int code = c.failCode;
  spoil(device, code);
  return code;
}

// A call that holds the lock for long waits for a host function, which may be what this call is for.
void waitForLock(Lock& lock, const char* function) {
  constexpr std::chrono::seconds kLong(5);
  while (!state().progress.wait_for(lock, kLong, [] { return !state().isLocked; }))
    if (state().hostFunctions > 0)
      return violation(std::string(function) + " needs a lock that a call holds while it waits for a host function");
}

int enterAs(const char* function, const Device* device) {
  if (isHostFunctionRunning()) {
    violation(std::string(function) + " was called from a host function");
    return kNotPermitted;
  }
  if (const int code = countCall(function, device)) return code;
  Lock lock(state().mutex);
  waitForLock(lock, function);
  if (kPersonality.startsByItself) initialize();
  if (!state().isInitialized) return kNotInitialized;
  return refuseInCapture(function);
}

int stateOfDevice() {
  const Device* device = currentDevice();
  if (!device) return kInvalidContext;
  const Lock lock(state().mutex);
  if (!kPersonality.startsByItself && device->contextReferences == 0) return kContextIsDestroyed;
  return device->lost;
}

}  // namespace

int enter(const char* function) {
  const int code = enterAs(function, currentDevice());
  return code ? code : stateOfDevice();
}

int enterWithoutDevice(const char* function) { return enterAs(function, nullptr); }

void violation(const std::string& text) {
  ++control().violations;
  fprintf(stderr, "fake GPU: %s\n", text.c_str());
  if (getenv("FAKE_GPU_ABORT")) abort();
}

}  // namespace fake

using fake::control;
using fake::state;

namespace {

struct LiveObjects {
  size_t contexts = 0;
  size_t allocations = 0;
  size_t hostAllocations = 0;
  size_t streams = 0;
  size_t events = 0;
  size_t modules = 0;
  size_t graphs = 0;
};

LiveObjects countLiveObjects() {
  const fake::Lock lock(state().mutex);
  const fake::State& s = state();
  LiveObjects count;
  for (const auto& device : s.devices) {
    count.contexts += static_cast<size_t>(device->contextReferences);
    count.allocations += device->allocated.size();
  }
  count.hostAllocations = s.hostMemory.size() + s.registeredMemory.size();
  count.streams = s.streams.size();
  count.events = s.events.size();
  count.modules = static_cast<size_t>(s.modules);
  count.graphs = s.graphs.size();
  return count;
}

}  // namespace

FAKE_API int64_t fakeGpuGetLiveObjectCount(void) {
  const LiveObjects live = countLiveObjects();
  return static_cast<int64_t>(live.contexts + live.allocations + live.hostAllocations + live.streams + live.events +
                              live.modules + live.graphs);
}

FAKE_API const char* fakeGpuDescribeLiveObjects(void) {
  static thread_local char text[200];
  const LiveObjects live = countLiveObjects();
  snprintf(text, sizeof text,
           "%zu contexts, %zu allocations, %zu of host memory, %zu streams, %zu events, %zu modules, %zu graphs",
           live.contexts, live.allocations, live.hostAllocations, live.streams, live.events, live.modules, live.graphs);
  return text;
}

FAKE_API int64_t fakeGpuGetViolationCount(void) { return control().violations; }

FAKE_API int64_t fakeGpuGetCallCount(void) { return control().calls; }

FAKE_API void fakeGpuFailCall(int64_t n, int32_t code) {
  control().failedCall = "";
  control().failCode = code;
  control().failAt = n > 0 ? control().calls + n : -1;
}

FAKE_API const char* fakeGpuGetFailedCall(void) { return control().failedCall; }

FAKE_API int64_t fakeGpuGetCount(int32_t what) {
  if (what >= 0 && what < FAKE_GPU_COUNTS) return state().counts[what];
  const fake::Lock lock(state().mutex);
  int64_t bytes = 0;
  for (const auto& [address, size] : state().hostMemory) bytes += static_cast<int64_t>(size);
  return bytes;
}

FAKE_API void fakeGpuLoseDevice(int32_t device, int32_t code) {
  fake::Lock lock(state().mutex);
  if (fake::Device* found = fake::findDevice(device)) fake::lose(lock, *found, code);
}
