// SPDX-License-Identifier: Apache-2.0
// Several launches, one after another, as one op kernel.
#pragma once

#include <memory>
#include <vector>

#include "ops/gpu/launch.h"

namespace max {

class SeveralOps final : public OpKernel {
 public:
  explicit SeveralOps(const Placed& placed, size_t scratchBytes = 0) : placed_(placed), scratchBytes_(scratchBytes) {
    implementation = placed.kernels().front();
  }

  LaunchOp& add(size_t kernel = 0) { return *ops_.emplace_back(std::make_unique<LaunchOp>(placed_, kernel)); }
  size_t scratchBytes() const override { return scratchBytes_; }
  size_t launchCount() const override { return ops_.size(); }
  void run(const OpContext& context) const override {
    for (const auto& op : ops_) op->run(context);
  }

 private:
  const Placed& placed_;
  size_t scratchBytes_;
  std::vector<std::unique_ptr<LaunchOp>> ops_;
};

}  // namespace max
