// SPDX-License-Identifier: Apache-2.0
// The interface between kernels compiled for the host and the library that runs them. Part of both.
#pragma once

inline constexpr int kMaxCpuAbi = 3;

extern "C" {

// The block that a thread of the process runs.
struct MaxCpuBlock {
  unsigned grid[3];
  unsigned block[3];
  unsigned index[3];
  void* shared;  // dynamic shared memory; its address is the same in all blocks of a thread of the process
};

// Values exchanged by the threads of a warp, which has 32 (or 64, for tests of code for chips with as many).
struct MaxCpuWarp {
  unsigned long long threads;  // participants: one bit each
  unsigned long long values[64];
};

// Provided by the library. `thread` is the caller's number in its block; the threads after it, up to `end`, are
// started elsewhere, because the loop that would have started them waits in the caller.
struct MaxCpuRuntime {
  // Waits for all threads of the block: how many took part (high half) and how many had a predicate (low half).
  unsigned long long (*barrier)(unsigned thread, unsigned end, int predicate);
  // Waits for the threads of the warp in `mask`. Valid until the next call.
  const MaxCpuWarp* (*exchange)(unsigned thread, unsigned end, unsigned mask, unsigned long long value);
  // Waits for the threads of the warp that reach the same place in the source, as long as that cannot deadlock. Valid
  // until the next call.
  const MaxCpuWarp* (*meet)(unsigned thread, unsigned end, int place, unsigned long long value);
  // This thread's dynamic shared memory.
  void* (*sharedMemory)();
  // Ends the launch with an error. Does not return.
  void (*trap)(unsigned thread, const char* reason, const char* file, int line);
};

// One per kernel.
struct MaxCpuKernel {
  const void* function;  // whose symbol is the kernel's name
  // Runs threads [begin, end) of a block, then of the blocks that follow it in x, up to `blocks` in all: as long as no
  // thread waits. The block's index is then that of the last one.
  void (*run)(MaxCpuBlock* block, void* const* arguments, unsigned begin, unsigned end, unsigned blocks);
  const unsigned long long* sizes;  // of the parameters
  int count;
  int maxThreads;                 // of a block; 0 = unspecified
  const unsigned char* pointers;  // of the parameters: 0 = is none, 1 = to const, 2 = to what a kernel may write
};

// Exported by a compiled library under the name maxCpuLibrary.
struct MaxCpuLibrary {
  int abi;
  int count;
  const MaxCpuKernel* kernels;
  const MaxCpuRuntime** runtime;  // filled in when it is loaded
};
}
