// SPDX-License-Identifier: Apache-2.0
// Base of the C API's handles.
#pragma once

#include <atomic>

#include "base/handle_kind.h"
#include "base/ref.h"

namespace max {

// The first base of `T`: the tag follows the reference count, where handleKindAt looks for it.
template <class T, class Base = Handle>
class HandleOf : public Base {
 protected:
  HandleOf() noexcept { static_assert(sizeof(Base) == 2 * sizeof(uint64_t)); }
  ~HandleOf() override { tag_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> tag_{kHandleTag + static_cast<uint64_t>(kHandleKind<T>)};
};

}  // namespace max
