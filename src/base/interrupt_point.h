// SPDX-License-Identifier: Apache-2.0
// How long work checks for stops of the active call (base/active_call.h): kernels count steps of about a nanosecond,
// and a thread checks the deadline and the cancellation every million steps. A loop whose length depends on a file or
// an input either uses parallelFor with small pieces or counts here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace max {

// Steps between two checks: a few milliseconds, even if a step takes several nanoseconds.
inline constexpr int64_t kStepsPerLook = int64_t{1} << 20;

// Counts this thread's steps. Throws CANCELLED or DEADLINE_EXCEEDED if the active call was stopped. Costs two or three
// nanoseconds: for outer loops.
void passWork(int64_t steps);

// The same for innermost loops: one subtraction and a branch.
class WorkCounter {
 public:
  void pass(int64_t steps = 1) {
    left_ -= steps;
    if (left_ <= 0) [[unlikely]] {
      passWork(kSlice - left_);
      left_ = kSlice;
    }
  }

 private:
  static constexpr int64_t kSlice = 4096;
  int64_t left_ = kSlice;
};

// Calls body(begin, end) for parts of [0, count), each a fraction of the steps between two checks, and checks between
// them. `steps`: per item.
template <class Body>
void inParts(int64_t count, int64_t steps, Body body) {
  const int64_t part = std::max<int64_t>(1, kStepsPerLook / 4 / std::max<int64_t>(steps, 1));
  for (int64_t begin = 0; begin < count;) {
    const int64_t end = count - begin > part ? begin + part : count;
    body(begin, end);
    passWork((end - begin) * steps);
    begin = end;
  }
}

// memcpy, memset and fill, in parts if large. Pointers must not be NULL.
void copyLong(void* to, const void* from, size_t bytes);
void clearLong(void* to, size_t bytes);
inline void copyBytes(void* to, const void* from, size_t bytes) {
  if (bytes > kStepsPerLook) return copyLong(to, from, bytes);
  if (bytes > 0) std::memcpy(to, from, bytes);
}
inline void clearBytes(void* to, size_t bytes) {
  if (bytes > kStepsPerLook) return clearLong(to, bytes);
  if (bytes > 0) std::memset(to, 0, bytes);
}
template <class T>
void fillParts(T* to, int64_t count, T value) {
  inParts(count, 1, [=](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
}

}  // namespace max
