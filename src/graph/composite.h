// SPDX-License-Identifier: Apache-2.0
// Composite operators, made of other operators: a table row names one and the function that builds it. They are
// expanded when added to a graph, so neither compiler nor executor sees them.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/schema.h"

namespace max {

using Values = std::vector<Value*>;

// A size in an expansion: a number, or an int64 tensor with one dimension and one element.
struct Extent {
  template <std::integral T>
  Extent(T known) : number(known) {}
  Extent(Value* unknown) : value(unknown) {}
  bool isKnown() const { return value == nullptr; }
  int64_t number = 0;
  Value* value = nullptr;
};

// A node being expanded, with helpers to add its parts.
class Expansion {
 public:
  Expansion(Graph& graph, const Node& node, size_t outputCount)
      : graph_(graph), node_(node), label_(node.name), outputs_(outputCount, nullptr) {}

  // The node.
  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  bool has(size_t i) const { return input(i) != nullptr; }
  Value* input(size_t i) const { return node_.input(i); }
  size_t inputCount() const { return node_.inputs.size(); }
  // The input's element type; UNIMPLEMENTED if it is unknown.
  DType dtype(size_t i) const { return dtypeOf(input(i)); }
  DType dtypeOf(const Value* value) const;
  int64_t integer(std::string_view name, int64_t fallback) const { return attributes().getInt(name, fallback); }
  bool flag(std::string_view name, bool fallback = false) const { return integer(name, fallback) != 0; }
  float number(std::string_view name, float fallback) const { return attributes().getFloat(name, fallback); }
  std::string text(std::string_view name, std::string_view fallback) const {
    return attributes().getString(name, fallback);
  }
  size_t outputCount() const { return outputs_.size(); }
  void setOutput(size_t i, Value* value) {
    if (i < outputs_.size()) outputs_[i] = value;
  }
  const Values& outputs() const { return outputs_; }
  // An integer attribute that must be in a range.
  int64_t integerWithin(std::string_view name, int64_t fallback, int64_t least, int64_t most) const;
  [[noreturn]] void fail(MaxStatus status, std::string_view text) const;
  template <class... Parts>
  [[noreturn]] void invalid(const Parts&... parts) const {
    fail(MAX_STATUS_INVALID_ARGUMENT, max::concat(parts...));
  }
  // For options without an expansion.
  template <class... Parts>
  [[noreturn]] void unsupported(const Parts&... parts) const {
    fail(MAX_STATUS_UNIMPLEMENTED, max::concat(parts...));
  }

  // Properties of values. Unknown ranks are UNIMPLEMENTED, since expansions differ by rank.
  int rank(const Value* value) const;
  int axis(int64_t value, int rank) const;  // into [0, rank)
  Extent dim(Value* value, int axis);
  Values dims(Value* value);  // with one element each

  // Parts.
  Values nodes(std::string_view domain, std::string_view op, Values inputs, Attributes attributes, size_t outputCount);
  Value* op(std::string_view op, Values inputs, Attributes attributes = {}) {
    return nodes("", op, std::move(inputs), std::move(attributes), 1)[0];
  }
  Value* own(std::string_view op, Values inputs, Attributes attributes = {}) {
    return nodes(kMaxDomain, op, std::move(inputs), std::move(attributes), 1)[0];
  }
  Value* add(Value* a, Value* b) { return op("Add", {a, b}); }
  Value* sub(Value* a, Value* b) { return op("Sub", {a, b}); }
  Value* mul(Value* a, Value* b) { return op("Mul", {a, b}); }
  Value* div(Value* a, Value* b) { return op("Div", {a, b}); }
  Value* matmul(Value* a, Value* b) { return op("MatMul", {a, b}); }
  Value* where(Value* condition, Value* a, Value* b) { return op("Where", {condition, a, b}); }
  Value* cast(Value* value, DType dtype);  // the value itself if it has that type
  Value* transpose(Value* value, std::vector<int64_t> perm);
  Value* concat(Values values, int64_t axis);
  Value* slice(Value* value, int64_t axis, Extent begin, Extent end, int64_t step = 1);
  Values split(Value* value, int64_t axis, const std::vector<int64_t>& sizes);
  Value* gather(Value* value, Value* indices, int64_t axis);
  Value* unsqueeze(Value* value, const std::vector<int64_t>& axes);
  Value* squeeze(Value* value, const std::vector<int64_t>& axes);
  Value* reshape(Value* value, const std::vector<Extent>& shape);
  Value* expand(Value* value, const std::vector<Extent>& shape);
  Value* reduce(std::string_view op, Value* value, const std::vector<int64_t>& axes, bool keep = false);
  Value* softmax(Value* value, int64_t axis = -1);
  // Inserts a graph from the node's attributes here.
  Values inlined(const Graph& body, Values arguments) { return graph_.inlineSubgraph(body, arguments); }
  // 0, 1, .. of [size], int64.
  Value* range(Extent size);

  // Constants.
  Value* constant(Ref<Tensor> tensor) { return graph_.addConstant(std::move(tensor)); }
  Value* ints(const std::vector<int64_t>& values);
  Value* scalar(DType dtype, double value);
  Value* like(const Value* value, double number) { return scalar(dtypeOf(value), number); }
  // An int64 list.
  Value* list(const std::vector<Extent>& extents);
  Extent plus(Extent a, Extent b);
  Extent minus(Extent a, Extent b);
  Extent times(Extent a, Extent b);
  Extent dividedBy(Extent a, int64_t b);
  // A scalar of rank 0.
  Value* scalarOf(Extent extent);

 private:
  Extent combined(std::string_view op, Extent a, Extent b);
  Value* valueOf(Extent extent) { return extent.isKnown() ? ints({extent.number}) : extent.value; }
  Graph& graph_;
  const Node& node_;
  const std::string& label_;
  Values outputs_;
};

inline Attributes attributesOf(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  Attributes attributes;
  for (const auto& [name, value] : entries) attributes.set(name, value);
  return attributes;
}

struct Composite {
  // Arity, dtypes and attributes are checked before the expansion; `infer` checks shapes and adds what the parts do not
  // determine about the outputs (NULL = nothing).
  OpSchema schema;
  void (*expand)(Expansion& expansion);  // sets the node's outputs
};

// NULL if there is none.
const Composite* findComposite(std::string_view domain, std::string_view op);
std::vector<const Composite*> allComposites();

// Adds any operator, composite or not, for users of a graph. Errors name the node as given and leave the graph
// unchanged. An output without a name may be NULL if a composite cannot make it.
Values addOperator(Graph& graph, std::string_view domain, std::string_view op, Values inputs, Attributes attributes,
                   std::span<const std::string> outputNames, const std::string& name = "");

}  // namespace max
