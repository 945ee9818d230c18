// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

#include "base/active_call.h"
#include "base/fork.h"
#include "base/printable.h"

namespace max {

namespace {

// A slot for a callback. Slots are never freed, so reading needs no lock; a slot whose callback was removed is reused
// when it has no readers. The fields are written while `token` is zero.
struct Listener {
  std::atomic<MaxLogToken> token{0};
  std::atomic<int32_t> callers{0};  // threads that read it or run its callback
  MaxLogCallback callback = nullptr;
  void* userData = nullptr;
  MaxLogLevel level = MAX_LOG_LEVEL_NOTSET;
  Listener* next = nullptr;
};

constexpr MaxLogLevel kNobody = std::numeric_limits<MaxLogLevel>::max();

// Changes are guarded by processMutex().
std::atomic<Listener*> first{nullptr};
std::atomic<MaxLogLevel> lowestLevel{kNobody};  // that any callback listens to
MaxLogToken lastToken = 0;

thread_local const Listener* running = nullptr;  // whose callback this thread runs

// In a child process the parent's threads, and their calls, do not exist.
void forgetCallers() {
  for (Listener* listener = first.load(); listener; listener = listener->next)
    listener->callers.store(listener == running ? 1 : 0);
}

void updateLowestLevel() {
  MaxLogLevel lowest = kNobody;
  for (const Listener* listener = first.load(); listener; listener = listener->next)
    if (listener->token.load() != 0) lowest = std::min(lowest, listener->level);
  lowestLevel.store(lowest, std::memory_order_relaxed);
}

Listener& freeListener() {
  for (Listener* listener = first.load(); listener; listener = listener->next)
    if (listener->token.load() == 0 && listener->callers.load() == 0) return *listener;
  auto* listener = new Listener;
  listener->next = first.load();
  first.store(listener);
  return *listener;
}

void callOne(Listener& listener, MaxLogLevel level, const char* message) noexcept {
  listener.callers.fetch_add(1);
  if (listener.token.load() != 0 && level >= listener.level) {
    running = &listener;
    listener.callback(listener.userData, level, message);
    running = nullptr;
  }
  listener.callers.fetch_sub(1);
}

Listener* find(MaxLogToken token) {
  for (Listener* listener = first.load(); listener; listener = listener->next)
    if (token != 0 && listener->token.load() == token) return listener;
  return nullptr;
}

}  // namespace

void requireLogLevel(MaxLogLevel level) {
  require(level >= MAX_LOG_LEVEL_NOTSET && level <= MAX_LOG_LEVEL_CRITICAL && level % 10 == 0,
          MAX_STATUS_INVALID_ARGUMENT, "Log level is ", level, "; the levels are 0, 10, 20, 30, 40, 50 and 60");
}

bool isLogged(MaxLogLevel level, MaxLogLevel threshold) noexcept {
  return level >= lowestLevel.load(std::memory_order_relaxed) && level >= threshold;
}

bool isLogged(MaxLogLevel level) noexcept {
  if (level < lowestLevel.load(std::memory_order_relaxed)) return false;
  const ActiveCall* call = activeCall();
  return level >= (call ? call->logLevel : kDefaultLogLevel);
}

void sendLog(MaxLogLevel level, std::string message) noexcept {
  if (running) return;
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  message = printable(message);
  // What callbacks call is not part of the call that logs.
  const ActiveCallScope none(nullptr);
  for (Listener* listener = first.load(); listener; listener = listener->next)
    callOne(*listener, level, message.c_str());
}

MaxLogToken addLogCallback(MaxLogCallback callback, void* userData, MaxLogLevel level) {
  static const int registered = pthread_atfork(nullptr, nullptr, &forgetCallers);
  static_cast<void>(registered);
  const std::lock_guard lock(processMutex());
  Listener& listener = freeListener();
  listener.callback = callback;
  listener.userData = userData;
  listener.level = level;
  const MaxLogToken token = ++lastToken;
  listener.token.store(token);
  updateLowestLevel();
  return token;
}

void removeLogCallback(MaxLogToken token) {
  Listener* listener = nullptr;
  {
    const std::lock_guard lock(processMutex());
    listener = find(token);
    require(listener != nullptr, MAX_STATUS_NOT_FOUND, "There is no log callback with token ", token);
    listener->token.store(0);
    updateLowestLevel();
  }
  // A reused slot has its own callers, which have seen its new token.
  while (!running && listener->callers.load() > 0 && listener->token.load() == 0) sched_yield();
}

}  // namespace max
