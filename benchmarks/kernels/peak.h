// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but one kind of work, as fast as the processor can.
#pragma once

#include <cstdint>

namespace max {

// Independent chains of products in registers.
struct Peak {
  float (*run)(int64_t iterations);
  double operations;  // per iteration; a multiplication and an addition are two
};
const Peak& floatPeak();
const Peak& bfloat16Peak();  // that of float32 if cpuTarget() has no such products
const Peak& integerPeak();   // of 8-bit integers

// Counts of floats are multiples of 256, addresses of 64.
struct MemoryLoops {
  float (*read)(const float* from, int64_t count);
  float (*readAhead)(const float* from, int64_t count);  // with prefetches
  void (*copy)(const float* from, int64_t count, float* to);
  void (*stream)(const float* from, int64_t count, float* to);             // stores that leave the caches alone
  void (*join)(const float* a, const float* b, int64_t count, float* to);  // likewise, of two sources
};
const MemoryLoops& memoryLoops();

// How often `amount` is done per second by each of `threads` threads together, at best: work(thread, state).
double bestRate(int threads, double amount, void (*work)(int thread, void* state), void* state);
// Of one thread, in operations per second.
double rateOf(const Peak& peak, int threads = 1);

}  // namespace max
