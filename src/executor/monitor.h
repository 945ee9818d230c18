// SPDX-License-Identifier: Apache-2.0
// Observers of a call's steps: the profile, checks between steps, traces. Most calls have none.
#pragma once

#include <cstddef>
#include <span>

#include "base/active_call.h"
#include "base/tensor.h"
#include "executor/plan.h"

namespace max {

struct RunContext;

// Belongs to one call and sees its steps in order, in one thread. A call may have several, in a list. Plans run within
// plans (bodies of loops), so calls nest. An exception ends the call.
class RunMonitor {
 public:
  virtual ~RunMonitor() = default;
  virtual void planBegins(const RunContext&) {}
  virtual void stepBegins(const RunContext&, size_t) {}
  virtual void stepEnds(const RunContext&, size_t) {}
  // The node that ends a plan; it runs separately because its output shapes are only known afterwards.
  virtual void nodeBegins(const RunContext&) {}
  virtual void nodeEnds(const RunContext&, std::span<const Ref<Tensor>>) {}
  virtual void planEnds(const RunContext&) {}
  // For nodes that allocate their outputs themselves: whether kGuardBytes follow each block, and those bytes before and
  // after. `output`: -1 = scratch memory.
  virtual bool wantsGuards() const { return false; }
  virtual void setGuard(void*) const {}
  virtual void checkGuard(const Node&, int /*output*/, const void*) const {}

  RunMonitor* next = nullptr;
};

// Calls a function of all monitors of a call (NULL = no monitors).
template <class Function>
void forEachMonitor(const ActiveCall* call, Function&& function) {
  for (RunMonitor* monitor = call ? call->monitor : nullptr; monitor; monitor = monitor->next) function(*monitor);
}

}  // namespace max
