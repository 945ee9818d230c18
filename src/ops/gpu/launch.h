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
  // One block of kRowThreads for each of `count` rows, in a loop if there are very many.
  void coverRows(int64_t count);
  void setGrid(int64_t x, int64_t y, int64_t z, int32_t threads);

  // Scratch memory of this size, to which a pointer follows those of the outputs.
  void useScratch(size_t bytes) {
    addOutput(kScratch);
    scratchBytes_ = bytes;
  }
  size_t scratchBytes() const override { return scratchBytes_; }

  void run(const OpContext& context) const override { run(context, {}); }
  // With values that follow the others.
  void run(const OpContext& context, std::initializer_list<uint64_t> last) const;

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
  size_t scratchBytes_ = 0;
};

// A launch with all inputs whose contents are read, all outputs, and these values.
template <class... Values>
std::unique_ptr<LaunchOp> launchOf(const Placed& placed, const OpRequest& request, const Values&... values) {
  auto op = std::make_unique<LaunchOp>(placed);
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.has(i) && placed.reads(i)) op->addInput(i);
  for (size_t i = 0; i < request.outputs.size(); ++i)
    if (request.outputs[i].present()) op->addOutput(i);
  (op->addValue(values), ...);
  return op;
}

// The same with a thread for each of `count` elements, which is the first value; in the source
// EACH(i, count) is the loop over them.
template <class... Values>
std::unique_ptr<OpKernel> elementLaunch(const Placed& placed, const OpRequest& request, int64_t count,
                                        const Values&... values) {
  std::unique_ptr<LaunchOp> op = launchOf(placed, request, count, values...);
  op->coverElements(count);
  return op;
}

// The same with a block for each of `count` rows; in the source, EACH_ROW(row, count).
template <class... Values>
std::unique_ptr<OpKernel> rowLaunch(const Placed& placed, const OpRequest& request, int64_t count,
                                    const Values&... values) {
  std::unique_ptr<LaunchOp> op = launchOf(placed, request, count, values...);
  op->coverRows(count);
  return op;
}

}  // namespace max
