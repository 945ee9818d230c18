// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks of their own that one thread of the process switches between.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define MAX_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAX_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MAX_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MAX_FIBER_TSAN 1
#endif
#endif
#if !defined(__x86_64__)
#define MAX_FIBER_UCONTEXT 1
#include <ucontext.h>
#endif

namespace max {

// At least this much.
inline constexpr size_t kFiberStack = 128 << 10;

struct FiberStack {
  void* bottom;
  size_t size;
};

// Where a fiber, or the thread's own stack, was left.
struct FiberContext {
#if defined(MAX_FIBER_UCONTEXT)
  ucontext_t registers;
#else
  void* stackPointer = nullptr;
#endif
#if defined(MAX_FIBER_ASAN)
  void* fakeStack = nullptr;
#endif
#if defined(MAX_FIBER_ASAN) || defined(MAX_FIBER_UCONTEXT)
  const void* stackBottom = nullptr;
  size_t stackSize = 0;
#endif
#if defined(MAX_FIBER_TSAN)
  void* sanitizerFiber = nullptr;
#endif
};

// Makes `fiber` start with function(argument) on the stack. The function must switch away at its end, for good.
void prepareFiber(FiberContext& fiber, FiberStack stack, void (*function)(void*), void* argument);
// Goes on at `to`; returns when somebody switches back to `from`.
void switchFiber(FiberContext& from, FiberContext& to);
// To be called first in a fiber's function; the thread switches to its first fiber itself.
void enterFiber(FiberContext& thread);
// The sanitizers' part of a context: of the running thread, of a new fiber, and its end.
void adoptThread(FiberContext& context);
void releaseFiber(FiberContext& fiber);

// Stacks of a thread of the process, kept until it ends.
class FiberStacks {
 public:
  FiberStacks() = default;
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // RESOURCE_EXHAUSTED.
  FiberStack stack(size_t index);

 private:
  std::vector<void*> batches_;
};

}  // namespace max
