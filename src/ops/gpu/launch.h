// SPDX-License-Identifier: Apache-2.0
// A launch of a kernel as an op kernel.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ops/gpu/gpu_operators.h"

namespace max {

// The kernel's parameters: perhaps a first value, pointers to the given inputs, then to the outputs, then values.
class LaunchOp final : public OpKernel {
 public:
  // Of its kernel with this number.
  explicit LaunchOp(const Placed& placed, size_t kernel = 0);

  static constexpr size_t kScratch = SIZE_MAX;  // the op kernel's scratch memory as an input or output

  // In their order. `input`: its number in the request.
  void addInput(size_t input) { inputs_.push_back(input); }
  void addOutput(size_t output) { outputs_.push_back(output); }
  template <class T>
  void addFirst(const T& value) {
    first_ = bytesOf(value);
  }
  template <class T>
  void addValue(const T& value) {
    values_.push_back(bytesOf(value));
  }
  // One thread for each of `count` elements, in a loop if there are very many.
  void coverElements(int64_t count);
  void setGrid(int64_t x, int64_t y, int64_t z, int32_t threads);

  void run(const OpContext& context) const override;

 private:
  using Bytes = std::vector<std::byte>;
  static constexpr size_t kMostPointers = 32;

  template <class T>
  static Bytes bytesOf(const T& value) {
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  const Ref<MaxModule> module_;
  MaxKernel& kernel_;
  MaxLaunchConfig config_ = MAX_LAUNCH_CONFIG_INIT;
  std::vector<size_t> inputs_;
  std::vector<size_t> outputs_;
  Bytes first_;
  std::vector<Bytes> values_;
};

}  // namespace max
