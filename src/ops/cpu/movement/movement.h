// SPDX-License-Identifier: Apache-2.0
// Shared by data movement operators, which copy elements of any size regardless of their meaning.
#pragma once

#include <vector>

#include "ops/op_kernel.h"
#include "ops/request_inputs.h"

namespace max {

// Inputs that control the movement (starts, axes, repeats): known when the kernel is created, or read in each run.
class MovementCall {
 public:
  MovementCall(const OpRequest& request, const void* const* data)
      : request_(request), data_(data), inputs_(request, data) {}

  const NodeInputs& read() const { return *inputs_; }  // for readers
  const Node& node() const { return request_.node; }
  const Attributes& attributes() const { return request_.node.attributes; }
  const OpRequest& request() const { return request_; }
  size_t inputCount() const { return request_.inputs.size(); }
  size_t outputCount() const { return request_.outputs.size(); }
  bool has(size_t i) const { return request_.has(i); }
  const Shape& in(size_t i = 0) const { return request_.inputs[i].shape; }
  const Shape& out(size_t i = 0) const { return request_.outputs[i].shape; }
  // Contents of an integer input; empty if it is omitted.
  std::vector<int64_t> integers(size_t i) const;
  // Contents of an input: NULL if it is neither constant nor running.
  const void* contents(size_t i) const;
  // Brings an axis into [0, rank); INVALID_ARGUMENT naming the node otherwise.
  int axis(int64_t value, int rank) const;

  template <class... Parts>
  [[noreturn]] void fail(MaxStatus status, const Parts&... parts) const {
    max::fail(status, node().description(), ": ", parts...);
  }

 private:
  const OpRequest& request_;
  const void* const* data_;  // NULL while the kernel is made
  RequestInputs inputs_;
};

// A copy of a request that outlives the call.
struct SavedRequest {
  explicit SavedRequest(const OpRequest& request);
  OpRequest request() const { return {node, inputs, outputs, lanes, settings}; }

  const Node& node;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  int lanes;
  OpSettings settings;
};

bool allConstant(const OpRequest& request, size_t firstInput);
// True if elements of input 0 are whole bytes (not strings, not packed).
bool hasByteElements(const OpRequest& request);

// Reads index k of an int32 or int64 tensor.
inline int64_t indexAt(const void* data, bool is64, int64_t k) {
  return is64 ? static_cast<const int64_t*>(data)[k] : static_cast<const int32_t*>(data)[k];
}
[[noreturn]] void failIndex(const Node& node, int64_t index, int64_t size, int axis);
// A negative index counts from the end; OUT_OF_RANGE naming node, index and axis otherwise.
inline int64_t checkedIndex(const Node& node, int64_t index, int64_t size, int axis) {
  const int64_t result = index < 0 ? index + size : index;
  if (result < 0 || result >= size) [[unlikely]]
    failIndex(node, index, size, axis);
  return result;
}

}  // namespace max
