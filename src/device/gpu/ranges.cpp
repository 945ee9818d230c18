// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/ranges.h"

#include <map>
#include <mutex>

namespace max::gpu {

Ranges::Ranges(const RangeLibrary& names) : library_(names.variable, names.libraries) {
  library_.bind(names.push, push_);
  library_.bind(names.pop, pop_);
}

void Ranges::begin(const char* name) const {
  if (push_ && pop_) static_cast<void>(push_(name));
}

void Ranges::end() const {
  if (push_ && pop_) static_cast<void>(pop_());
}

const Ranges& rangesOf(const Api& api) {
  static auto& mutex = *new std::mutex;
  static auto& opened = *new std::map<const Api*, Ranges>;
  const std::lock_guard lock(mutex);
  return opened.try_emplace(&api, api.ranges).first->second;
}

}  // namespace max::gpu
