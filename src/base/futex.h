// SPDX-License-Identifier: Apache-2.0
// Waiting on a word of memory, by sleeping or spinning. std::atomic::wait yields the processor first, which costs
// milliseconds on a busy machine.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace max {

// Sleeps while the word has this value, at most this long (0 = no limit); may return early.
inline void futexWait(const std::atomic<uint32_t>& word, uint32_t value, int64_t nanoseconds = 0) noexcept {
  const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds > 0 ? &limit : nullptr, nullptr, 0);
}

inline void futexWake(const std::atomic<uint32_t>& word, int count) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

inline void futexWakeAll(const std::atomic<uint32_t>& word) noexcept { futexWake(word, INT_MAX); }

// Between two reads of memory that another thread will write: leaves the core to its sibling thread.
inline void pauseCpu() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace max
