// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/launch.h"

#include <algorithm>

#include "base/error.h"
#include "device/stream.h"
#include "ops/gpu/row_source.h"

namespace max {

namespace {

constexpr int32_t kThreads = 256;      // of a block, where it does not matter
constexpr int64_t kMostBlocks = 8192;  // enough to fill any device
constexpr int64_t kMostRowBlocks = 65536;
constexpr size_t kMostArguments = 128;

}  // namespace

LaunchOp::LaunchOp(const Placed& placed, size_t kernel)
    : module_(placed.module()), kernel_(module_->kernel(placed.kernels().at(kernel))) {
  implementation = placed.kernels().front();
}

void LaunchOp::coverElements(int64_t count) {
  setGrid(std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks), 1, 1, kThreads);
}

void LaunchOp::coverRows(int64_t count) { setGrid(std::clamp<int64_t>(count, 1, kMostRowBlocks), 1, 1, kRowThreads); }

void LaunchOp::setGrid(int64_t x, int64_t y, int64_t z, int32_t threads) {
  config_.grid[0] = static_cast<int32_t>(x);
  config_.grid[1] = static_cast<int32_t>(y);
  config_.grid[2] = static_cast<int32_t>(z);
  config_.block[0] = threads;
}

void LaunchOp::run(const OpContext& context, std::initializer_list<uint64_t> last) const {
  std::array<const void*, kMostPointers> pointers;
  std::array<const void*, kMostArguments> arguments;
  std::array<size_t, kMostArguments> sizes;
  const size_t pointerCount = inputs_.size() + outputs_.size();
  require(pointerCount <= kMostPointers && 1 + pointerCount + values_.size() + last.size() <= kMostArguments,
          MAX_STATUS_INTERNAL, "Kernel '", kernel_.name(), "' has too many arguments");
  size_t count = 0;
  const auto add = [&](const void* value, size_t size) {
    arguments[count] = value;
    sizes[count++] = size;
  };
  if (!first_.empty()) add(first_.data(), first_.size());
  for (size_t i = 0; i < pointerCount; ++i) {
    const bool isInput = i < inputs_.size();
    const size_t number = isInput ? inputs_[i] : outputs_[i - inputs_.size()];
    pointers[i] = number == kScratch ? context.scratch : isInput ? context.inputs[number] : context.outputs[number];
    add(&pointers[i], sizeof(void*));
  }
  for (const Bytes& value : values_) add(value.data(), value.size());
  for (const uint64_t& value : last) add(&value, sizeof value);
  MaxLaunchConfig config = config_;
  kernel_.launch(config, arguments.data(), sizes.data(), static_cast<int32_t>(count), *context.place->stream);
}

}  // namespace max
