// SPDX-License-Identifier: Apache-2.0
// Several launches, one after another, as one op kernel.
#pragma once

#include <memory>
#include <vector>

#include "ops/gpu/launch.h"

namespace max {

class SeveralOps final : public OpKernel {
 public:
  explicit SeveralOps(const Placed& placed) : placed_(placed) { implementation = placed.kernel(); }

  LaunchOp& add() { return *ops_.emplace_back(std::make_unique<LaunchOp>(placed_)); }
  void run(const OpContext& context) const override {
    for (const auto& op : ops_) op->run(context);
  }

 private:
  const Placed& placed_;
  std::vector<std::unique_ptr<LaunchOp>> ops_;
};

}  // namespace max
