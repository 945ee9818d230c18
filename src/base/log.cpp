// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <utility>

#include "base/active_call.h"

namespace max {

namespace {

struct Listener {
  MaxLogCallback callback;
  void* userData;
};

std::atomic<Listener*> listener{nullptr};
std::atomic<int32_t> callers{0};  // calls of the function that run now
thread_local bool insideCallback = false;

// In a child process the parent's threads, and so their calls, are gone.
void forgetCallers() { callers.store(0); }

}  // namespace

bool isLogged(MaxLogLevel level, MaxLogLevel threshold) noexcept {
  return listener.load(std::memory_order_relaxed) != nullptr && level >= threshold;
}

bool isLogged(MaxLogLevel level) noexcept {
  if (listener.load(std::memory_order_relaxed) == nullptr) return false;
  const ActiveCall* call = activeCall();
  return level >= (call ? call->logLevel : kDefaultLogLevel);
}

void sendLog(MaxLogLevel level, std::string message) noexcept {
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  callers.fetch_add(1);
  if (const Listener* current = listener.load(); current && !insideCallback) {
    // What the function calls is no part of the call that logs.
    const ActiveCallScope none(nullptr);
    insideCallback = true;
    current->callback(current->userData, level, message.c_str());
    insideCallback = false;
  }
  callers.fetch_sub(1);
}

void setLogCallback(MaxLogCallback callback, void* userData) {
  require(!insideCallback, MAX_STATUS_FAILED_PRECONDITION, "The log function cannot be set from the log function");
  static const int registered = pthread_atfork(nullptr, nullptr, &forgetCallers);
  static_cast<void>(registered);
  Listener* next = callback ? new Listener{callback, userData} : nullptr;
  const Listener* before = listener.exchange(next);
  while (callers.load() > 0) sched_yield();
  delete before;
}

}  // namespace max
