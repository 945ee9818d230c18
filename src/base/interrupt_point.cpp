// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt_point.h"

#include "base/active_call.h"

namespace max {

namespace {

constexpr int64_t kBytesPerStep = 4;  // of memory that is touched first

thread_local int64_t stepsLeft = kStepsPerLook;

// Calls body(offset, bytes) for parts.
template <class Body>
void inBytes(size_t bytes, Body body) {
  const auto steps = static_cast<int64_t>(bytes / kBytesPerStep) + 1;
  inParts(steps, 1, [&](int64_t begin, int64_t end) {
    const size_t first = static_cast<size_t>(begin) * kBytesPerStep;
    if (first < bytes) body(first, std::min(static_cast<size_t>(end - begin) * kBytesPerStep, bytes - first));
  });
}

}  // namespace

void passWork(int64_t steps) {
  stepsLeft -= steps;
  if (stepsLeft > 0) [[likely]]
    return;
  stepsLeft = kStepsPerLook;
  checkInterrupt();
}

void copyLong(void* to, const void* from, size_t bytes) {
  inBytes(bytes, [=](size_t first, size_t count) {
    std::memcpy(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(from) + first, count);
  });
}

void clearLong(void* to, size_t bytes) {
  inBytes(bytes, [=](size_t first, size_t count) { std::memset(static_cast<std::byte*>(to) + first, 0, count); });
}

}  // namespace max
