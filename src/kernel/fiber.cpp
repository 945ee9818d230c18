// SPDX-License-Identifier: Apache-2.0
#include "kernel/fiber.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

#if defined(MAX_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(MAX_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace max {

namespace {

constexpr size_t kBatch = 32;
constexpr size_t kPage = 4096;
// All threads of a block are at the same stack depth. So the stacks start at different offsets from a round address, to
// avoid cache conflicts between addresses with equal low bits.
constexpr size_t kColours = 64;
constexpr size_t kColour = 320;
constexpr size_t kDistance = kFiberStack + 5 * kPage;
static_assert(kDistance - (kColours - 1) * kColour >= kFiberStack && kDistance % kPage == 0);

// Abandoned frames have poisoned memory around them.
void clearShadow([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes) {
#if defined(MAX_FIBER_ASAN)
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace

#if defined(MAX_FIBER_UCONTEXT)

namespace {

void startUcontext(unsigned functionHigh, unsigned functionLow, unsigned argumentHigh, unsigned argumentLow) {
  const auto join = [](unsigned high, unsigned low) { return static_cast<uintptr_t>(uint64_t{high} << 32 | low); };
  const auto function = reinterpret_cast<void (*)(void*)>(join(functionHigh, functionLow));
  function(reinterpret_cast<void*>(join(argumentHigh, argumentLow)));
}

}  // namespace

static void prepareRegisters(FiberContext& fiber, FiberStack stack, void (*function)(void*), void* argument) {
  getcontext(&fiber.registers);
  fiber.registers.uc_stack.ss_sp = stack.bottom;
  fiber.registers.uc_stack.ss_size = stack.size;
  fiber.registers.uc_link = nullptr;
  const uint64_t f = reinterpret_cast<uintptr_t>(function), a = reinterpret_cast<uintptr_t>(argument);
  makecontext(&fiber.registers, reinterpret_cast<void (*)()>(startUcontext), 4, static_cast<unsigned>(f >> 32),
              static_cast<unsigned>(f), static_cast<unsigned>(a >> 32), static_cast<unsigned>(a));
}

static void switchRegisters(FiberContext& from, FiberContext& to) { swapcontext(&from.registers, &to.registers); }

#else

// Saves what a call must preserve, changes stacks, restores. A new fiber's stack is made to look saved, with the
// function in rbx and its argument in rbp.
extern "C" void max_kernel_switch_stack(void** from, void* to);
extern "C" void max_kernel_start_stack();
asm(R"(
.text
.p2align 4
.hidden max_kernel_switch_stack
.globl max_kernel_switch_stack
.type max_kernel_switch_stack, @function
max_kernel_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size max_kernel_switch_stack, .-max_kernel_switch_stack
.p2align 4
.hidden max_kernel_start_stack
.globl max_kernel_start_stack
.type max_kernel_start_stack, @function
max_kernel_start_stack:
  movq %rbp, %rdi
  xorl %ebp, %ebp
  call *%rbx
  ud2
.size max_kernel_start_stack, .-max_kernel_start_stack
)");

static void prepareRegisters(FiberContext& fiber, FiberStack stack, void (*function)(void*), void* argument) {
  void* saved[7] = {nullptr,
                    nullptr,
                    nullptr,
                    nullptr,
                    reinterpret_cast<void*>(function),
                    argument,
                    reinterpret_cast<void*>(max_kernel_start_stack)};
  // Aligned to 16 bytes when the function is called.
  char* top = static_cast<char*>(stack.bottom) + stack.size - 16 - sizeof saved - 8;
  top = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15}) + 8;
  std::memcpy(top, saved, sizeof saved);
  fiber.stackPointer = top;
}

static void switchRegisters(FiberContext& from, FiberContext& to) {
  max_kernel_switch_stack(&from.stackPointer, to.stackPointer);
}

#endif

void prepareFiber(FiberContext& fiber, FiberStack stack, void (*function)(void*), void* argument) {
  prepareRegisters(fiber, stack, function, argument);
#if defined(MAX_FIBER_ASAN) || defined(MAX_FIBER_UCONTEXT)
  fiber.stackBottom = stack.bottom;
  fiber.stackSize = stack.size;
#endif
#if defined(MAX_FIBER_ASAN)
  fiber.fakeStack = nullptr;
#endif
  clearShadow(stack.bottom, stack.size);
#if defined(MAX_FIBER_TSAN)
  if (!fiber.sanitizerFiber) fiber.sanitizerFiber = __tsan_create_fiber(0);
#endif
}

void switchFiber(FiberContext& from, FiberContext& to) {
#if defined(MAX_FIBER_ASAN)
  __sanitizer_start_switch_fiber(&from.fakeStack, to.stackBottom, to.stackSize);
#endif
#if defined(MAX_FIBER_TSAN)
  __tsan_switch_to_fiber(to.sanitizerFiber, 0);
#endif
  switchRegisters(from, to);
#if defined(MAX_FIBER_ASAN)
  __sanitizer_finish_switch_fiber(from.fakeStack, nullptr, nullptr);
#endif
}

void enterFiber([[maybe_unused]] FiberContext& thread) {
#if defined(MAX_FIBER_ASAN)
  // The bounds of the thread's own stack are only known to the first fiber it switches to.
  const bool isKnown = thread.stackSize != 0;
  __sanitizer_finish_switch_fiber(nullptr, isKnown ? nullptr : &thread.stackBottom,
                                  isKnown ? nullptr : &thread.stackSize);
#endif
}

void adoptThread([[maybe_unused]] FiberContext& context) {
#if defined(MAX_FIBER_TSAN)
  context.sanitizerFiber = __tsan_get_current_fiber();
#endif
}

void releaseFiber([[maybe_unused]] FiberContext& fiber) {
#if defined(MAX_FIBER_TSAN)
  if (fiber.sanitizerFiber) __tsan_destroy_fiber(fiber.sanitizerFiber);
  fiber.sanitizerFiber = nullptr;
#endif
}

FiberStacks::~FiberStacks() {
  for (void* batch : batches_) {
    clearShadow(batch, kBatch * kDistance);
    munmap(batch, kBatch * kDistance);
  }
}

// Each stack of the first batch has a guard page below it. All threads of a kernel have frames of the same size, so an
// overflow shows there; guards for thousands of stacks would use up the process's mappings.
FiberStack FiberStacks::stack(size_t index) {
  if (index / kBatch >= batches_.size()) {
    void* batch = mmap(nullptr, kBatch * kDistance, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    require(batch != MAP_FAILED, MAX_STATUS_RESOURCE_EXHAUSTED, "Cannot map ", kBatch,
            " stacks for threads of a kernel: ", std::strerror(errno));
    if (batches_.empty())
      for (size_t i = 0; i < kBatch; ++i) mprotect(static_cast<char*>(batch) + i * kDistance, kPage, PROT_NONE);
    batches_.push_back(batch);
  }
  void* bottom = static_cast<char*>(batches_[index / kBatch]) + index % kBatch * kDistance;
  return {bottom, kDistance - index % kColours * kColour};
}

}  // namespace max
