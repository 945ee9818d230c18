// SPDX-License-Identifier: Apache-2.0
// machine_limits THREADS: what this machine can do at most, as JSON; benchmarks/compare.py reads it.
// Multiplications (with their additions) per millisecond in registers, bytes per millisecond from and to memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "peak.h"

namespace max {
namespace {

constexpr int64_t kFloats = int64_t{32} << 20;  // 128 MB for each thread, of which caches hold little

struct Memory {
  int threads;
  float *from, *to;

  explicit Memory(int threads_) : threads(threads_), from(allocate(threads_)), to(allocate(threads_)) {}
  ~Memory() {
    std::free(from);
    std::free(to);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  static float* allocate(int threads) {
    const size_t bytes = static_cast<size_t>(threads) * kFloats * sizeof(float);
    auto* data = static_cast<float*>(std::aligned_alloc(size_t{2} << 20, bytes));
    if (!data) std::exit(1);
    std::memset(data, 0, bytes);
    return data;
  }
};

void readPart(int thread, void* state) {
  volatile float sink = memoryLoops().read(static_cast<Memory*>(state)->from + thread * kFloats, kFloats);
  static_cast<void>(sink);
}

void readAheadPart(int thread, void* state) {
  volatile float sink = memoryLoops().readAhead(static_cast<Memory*>(state)->from + thread * kFloats, kFloats);
  static_cast<void>(sink);
}

void joinPart(int thread, void* state) {
  const auto& memory = *static_cast<Memory*>(state);
  constexpr int64_t kHalf = kFloats / 2;
  const float* from = memory.from + thread * kFloats;
  memoryLoops().join(from, from + kHalf, kHalf, memory.to + thread * kFloats);
}

void copyPart(int thread, void* state) {
  const auto& memory = *static_cast<Memory*>(state);
  memoryLoops().copy(memory.from + thread * kFloats, kFloats, memory.to + thread * kFloats);
}

void streamPart(int thread, void* state) {
  const auto& memory = *static_cast<Memory*>(state);
  memoryLoops().stream(memory.from + thread * kFloats, kFloats, memory.to + thread * kFloats);
}

double multiplicationsPerMs(const Peak& peak, int threads) { return rateOf(peak, threads) / 2e3; }

void print(int threads) {
  Memory memory(threads);
  constexpr double kBytes = kFloats * sizeof(float);
  const double read =
      std::max(bestRate(threads, kBytes, readPart, &memory), bestRate(threads, kBytes, readAheadPart, &memory)) / 1e3;
  const double joined = bestRate(threads, 1.5 * kBytes, joinPart, &memory) / 1e3;
  const double copied = bestRate(threads, 2 * kBytes, copyPart, &memory) / 1e3;
  const double streamed = bestRate(threads, 2 * kBytes, streamPart, &memory) / 1e3;
  std::printf("{\"f32\": %.0f, \"bf16\": %.0f, \"int8\": %.0f, \"read\": %.0f, \"copy\": %.0f, \"join\": %.0f}\n",
              multiplicationsPerMs(floatPeak(), threads), multiplicationsPerMs(bfloat16Peak(), threads),
              multiplicationsPerMs(integerPeak(), threads), read, std::max(copied, streamed), joined);
}

}  // namespace
}  // namespace max

int main(int argc, char** argv) {
  const int threads = argc == 2 ? std::atoi(argv[1]) : 0;
  if (threads < 1) {
    std::fprintf(stderr, "usage: machine_limits THREADS\n");
    return 2;
  }
  max::print(threads);
  return 0;
}
