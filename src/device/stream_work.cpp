// SPDX-License-Identifier: Apache-2.0
#include "device/stream_work.h"

#include <atomic>

namespace max {

namespace {

std::atomic<uint64_t> newestId{0};

}  // namespace

StreamWork::StreamWork() : id_(newestId.fetch_add(1, std::memory_order_relaxed) + 1) {}

}  // namespace max
