// SPDX-License-Identifier: Apache-2.0
#include "base/ref.h"

namespace max {

namespace {
std::atomic<int64_t> liveObjects{0};
}

int64_t liveObjectCount() noexcept { return liveObjects.load(std::memory_order_relaxed); }
void addLiveObjects(int64_t delta) noexcept { liveObjects.fetch_add(delta, std::memory_order_relaxed); }

}  // namespace max
