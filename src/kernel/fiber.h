// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks that one thread of the process switches between.
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

// Minimum size.
inline constexpr size_t kFiberStack = 128 << 10;

struct FiberStack {
  void* bottom;
  size_t size;
};

// The saved context of a fiber or of the thread's own stack.
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

// Makes `fiber` start with function(argument) on the stack. The function must switch away at its end and never return.
void prepareFiber(FiberContext& fiber, FiberStack stack, void (*function)(void*), void* argument);
// Continues at `to`; returns on a switch back to `from`.
void switchFiber(FiberContext& from, FiberContext& to);
// A fiber's function must call this first; the thread itself switches to its first fiber.
void enterFiber(FiberContext& thread);
// The sanitizers' part of a context: of the running thread, of a new fiber, and its end.
void adoptThread(FiberContext& context);
void releaseFiber(FiberContext& fiber);

// A thread's stacks, kept until the thread ends.
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
