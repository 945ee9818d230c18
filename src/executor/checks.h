// SPDX-License-Identifier: Apache-2.0
// Checks between steps, for debugging: bytes written past a value, NaN and infinity.
#pragma once

#include <string>
#include <vector>

#include "executor/monitor.h"
#include "max/session.h"

namespace max {

class CheckMonitor final : public RunMonitor {
 public:
  explicit CheckMonitor(MaxAssertLevel level) : level_(level) {}

  void stepBegins(const RunContext& context, size_t step) override;
  void stepEnds(const RunContext& context, size_t step) override;
  bool wantsGuards() const override { return true; }
  void setGuard(void* guard) const override;
  void checkGuard(const Node& node, int output, const void* guard) const override;

 private:
  bool checksNumbers() const { return level_ != MAX_ASSERT_LEVEL_SAFE; }
  void checkNumbers(const RunContext& context, size_t step) const;
  // Fails, or logs a warning, depending on the level.
  void complain(const Node* node, const std::string& text, MaxStatus status) const;

  const MaxAssertLevel level_;
  std::vector<bool> finite_;  // of the steps that nest: whether all inputs were
};

}  // namespace max
