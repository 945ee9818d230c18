// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of kernels on one thread of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernel/fiber.h"
#include "kernel/headers/max_cpu_abi.h"

namespace max {

struct CpuLaunch {
  const MaxCpuKernel* kernel = nullptr;
  const char* name = "";             // name in error messages
  void* const* arguments = nullptr;  // addresses of the values
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};  // at most kMaxCpuThreads in all
  size_t sharedBytes = 0;         // at most kMaxCpuShared
  uint32_t lanes = 32;            // of a warp: 32 or 64
};

inline constexpr uint32_t kMaxCpuThreads = 1024;
inline constexpr size_t kMaxCpuShared = 227 << 10;

// Functions that compiled kernels call.
const MaxCpuRuntime& cpuRuntime();

// A fiber runs threads of a block one after another until one of them waits. Then that thread owns the fiber, and the
// threads after it get another one. Kernels that never wait run on one fiber, as a plain loop.
class BlockRunner {
 public:
  // This thread's instance, created at the first call and kept until the thread ends.
  static BlockRunner& ofThread();
  ~BlockRunner();

  // Runs blocks [begin, end) of the launch, counted in x first.
  void run(const CpuLaunch& launch, int64_t begin, int64_t end);

  // Called by the kernel.
  unsigned long long barrier(unsigned thread, unsigned end, bool predicate);
  const MaxCpuWarp* exchange(unsigned thread, unsigned end, unsigned mask, unsigned long long value);
  const MaxCpuWarp* meetAtPlace(unsigned thread, unsigned end, int place, unsigned long long value);
  void* sharedMemory();
  [[noreturn]] void trap(unsigned thread, const char* reason, const char* file, int line);
  void reportFailure(const std::exception& error);
  // Ends the launch with the error that was reported.
  [[noreturn]] void leaveBlock();

 private:
  static constexpr unsigned kWarps = kMaxCpuThreads / 32;  // at most

  struct Fiber {
    FiberContext context;
    BlockRunner* runner = nullptr;
    unsigned begin = 0;
    unsigned end = 0;
    unsigned blocks = 0;  // to run one after another while no thread waits
    bool owned = false;   // owned by one thread of the block, which has waited
    Fiber* next = nullptr;
  };
  struct Queue {
    Fiber* first = nullptr;
    Fiber* last = nullptr;

    bool empty() const { return !first; }
    void push(Fiber* fiber);
    Fiber* pop();
    void take(Queue& other);
  };
  // One warp operation: it is done when all live lanes in the mask have arrived. If the mask is unknown (an operation
  // at a source location), it is also done when no thread in the block can continue otherwise.
  struct Meeting {
    MaxCpuWarp warp;
    uint64_t mask;
    int place;         // 0 = there is a mask
    unsigned readers;  // lanes that have not read yet
    bool done;
    Queue waiting;
  };

  void runBlocks(MaxCpuBlock& block, unsigned count);
  static void fiberMain(void* fiber);
  Fiber* makeFiber();
  Fiber* takeFiber(unsigned begin, unsigned end, unsigned blocks);
  void own(unsigned thread, unsigned end);
  void finish(Fiber& fiber);
  void wait(Queue& queue);
  void resumeNext(Fiber& from);
  void markEnded(unsigned begin, unsigned end);
  void checkBarrier();
  void checkMeetings(unsigned warp);
  void complete(Meeting& meeting);
  Meeting& meetingOf(unsigned warp, uint64_t mask, int place);
  const MaxCpuWarp& meet(unsigned thread, uint64_t mask, int place, unsigned long long value);
  void completePlaces();
  uint64_t liveThreads(unsigned thread) const;
  void reportDeadlock();
  void reportTrap(unsigned thread, const char* reason, std::string_view file, int line);
  std::string blockName() const;

  FiberStacks stacks_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  FiberContext thread_;
  void* shared_ = nullptr;

  // The current launch and block.
  const CpuLaunch* launch_ = nullptr;
  MaxCpuBlock* block_ = nullptr;
  unsigned threads_ = 0;
  unsigned lanes_ = 32;
  unsigned laneBits_ = 5;  // of a thread's number
  Fiber* current_ = nullptr;
  Queue ready_;
  Queue atBarrier_;
  unsigned arrived_ = 0;
  unsigned votes_ = 0;
  unsigned long long barrierResult_ = 0;
  unsigned ended_ = 0;
  bool waited_ = false;  // whether any thread of the block has
  int placesOpen_ = 0;   // pending meetings at source locations
  uint64_t endedMask_[kWarps] = {};
  std::vector<std::unique_ptr<Meeting>> meetings_[kWarps];
  std::optional<Error> error_;
};

}  // namespace max
