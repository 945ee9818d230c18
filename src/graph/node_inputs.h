// SPDX-License-Identifier: Apache-2.0
// A node and what is known about its inputs, for shape rules and for the readers that rules and kernels share
// (src/graph/readers/).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"

namespace max {

// What a shape rule knows about an input.
struct InputType {
  bool present = false;
  TensorType type;
  const Tensor* constant = nullptr;            // contents, if known
  const std::vector<Dim>* elements = nullptr;  // contents of a small integer tensor, if known symbolically
};

class NodeInputs {
 public:
  NodeInputs(const Node& node, std::span<const InputType> inputs) : node_(node), inputs_(inputs) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  bool flag(std::string_view name, bool fallback) const { return attributes().getInt(name, fallback) != 0; }
  size_t inputCount() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].present; }
  const InputType& input(size_t i) const;
  DType dtype(size_t i) const { return input(i).type.dtype; }
  bool ranked(size_t i) const { return has(i) && input(i).type.ranked; }
  int rank(size_t i) const { return input(i).type.rank(); }
  const SymbolicShape& dims(size_t i) const { return input(i).type.dims; }

  // Contents of a small integer tensor as dimensions, from its constant or its symbolic elements. An empty list is
  // always known.
  std::optional<std::vector<Dim>> elements(size_t i) const;
  // Contents as numbers, if all are known.
  std::optional<std::vector<int64_t>> integers(size_t i) const;
  // Contents of any dtype; NULL if unknown.
  const Tensor* contents(size_t i) const;
  // Contents of input i, a list of axes for this rank (empty if the input is
  // absent); nullopt if unknown. Normalises them to [0, rank); throws if one is out of range or occurs twice.
  std::optional<std::vector<int>> axes(size_t i, int rank) const;
  std::vector<int> axesOf(std::span<const int64_t> values, int rank) const;
  // Normalises an axis to [0, rank); throws naming the node if it is out of range.
  int axis(int64_t value, int rank) const;
  int axisAttribute(std::string_view name, int64_t fallback, int rank) const {
    return axis(attributes().getInt(name, fallback), rank);
  }
  // Inputs (a bit each) whose unknown contents were requested.
  uint32_t missing() const { return missing_; }

  // INVALID_ARGUMENT: "node 'x' (Op): ...; inputs: 'a' float32[2, 3], ...".
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    failWith(concat(parts...));
  }

 private:
  [[noreturn]] void failWith(const std::string& text) const;
  void miss(size_t i) const;

  const Node& node_;
  std::span<const InputType> inputs_;
  mutable uint32_t missing_ = 0;
};

}  // namespace max
