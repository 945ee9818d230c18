// SPDX-License-Identifier: Apache-2.0
// Named ranges of a thread's calls, which the vendors' profilers show beside the kernels.
#pragma once

#include "device/gpu/api.h"
#include "device/gpu/library.h"

namespace max::gpu {

class Ranges {
 public:
  explicit Ranges(const RangeLibrary& names);

  // Ranges nest. Without the library they do nothing.
  MAX_GPU_FOREIGN_CALL void begin(const char* name) const;
  MAX_GPU_FOREIGN_CALL void end() const;

 private:
  Library library_;
  int (*push_)(const char* name) = nullptr;
  int (*pop_)() = nullptr;
};

// Those of an API, opened on first use and never closed.
const Ranges& rangesOf(const Api& api);

}  // namespace max::gpu
