// SPDX-License-Identifier: Apache-2.0
// Tools for passes to rewrite graphs: new nodes that record their origins, replacement, and rules that run until
// nothing changes.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/compile_options.h"
#include "graph/graph.h"
#include "graph/schema.h"

namespace max {

// Replaced nodes stay in the graph, without inputs, until the pass ends, so that a pass's pointers stay valid.
class Rewriter {
 public:
  Rewriter(Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  Graph& graph() { return graph_; }
  const CompileOptions& options() const { return options_; }
  bool changed() const { return changed_; }

  // Adds a node that replaces `origins`; it gets the name of the last one.
  Node* add(std::string_view domain, std::string_view op, std::vector<Value*> inputs, Attributes attributes,
            std::span<const Node* const> origins, size_t outputCount = 1);
  Node* add(std::string_view domain, std::string_view op, std::vector<Value*> inputs, Attributes attributes,
            std::initializer_list<const Node*> origins, size_t outputCount = 1) {
    return add(domain, op, std::move(inputs), std::move(attributes), std::span(origins.begin(), origins.size()),
               outputCount);
  }
  Value* constant(Ref<Tensor> tensor) { return graph_.addConstant(std::move(tensor)); }
  Value* constant(const std::vector<int64_t>& values);  // int64, rank 1
  Value* scalar(DType dtype, double value);             // rank 0
  // A view of `value` with these dimensions; NULL if no constant target is right for every shape.
  Value* reshape(Value* value, const SymbolicShape& dims, const Node* origin);
  Value* transpose(Value* value, const std::vector<int64_t>& perm, const Node* origin);

  // Can `to` replace `from` everywhere? (A graph's output must stay a value of its own.)
  bool canReplace(const Value* from, const Value* to) const;
  // Replaces uses of `from` by `to`; nodes without remaining uses are retired. False if impossible.
  bool replace(Value* from, Value* to);
  // Replaces the single output of `node`.
  bool replace(Node* node, Value* to) { return replace(node->output(), to); }
  void retire(Node* node);

  // Erases retired and dead nodes and sorts. Passes must not use node pointers after this.
  void finish();

 private:
  Graph& graph_;
  const CompileOptions& options_;
  bool changed_ = false;
};

// A local rewrite tried on every node of an operator. "" = every operator. Returns whether it changed something.
struct Rule {
  std::string_view domain;
  std::string_view op;
  bool (*apply)(Rewriter& rewriter, Node& node);
};

// A constant that only varies along the last dimension of `output`, as a vector of its size; NULL if it is not one.
Value* asBias(Rewriter& rewriter, Value* value, const Value* output);

// Applies the rules to all nodes, in order, until nothing changes (at most `rounds` times).
void applyRules(Rewriter& rewriter, std::span<const Rule> rules, int rounds = 8);

// Whether an error met while a graph is rewritten ends the compilation: it was stopped, or the library is at fault.
// After all others the node stays as it was, since the graph may still run.
bool endsCompilation(const Error& error);

// Reading graphs.

bool isLive(const Node& node);  // some output is used
// The producer of a value that only its own graph reads; else NULL. (Work must not move into a branch or a loop.)
Node* localProducer(const Value* value);
// That node, if it is this operator of ONNX's own domain; else NULL.
Node* producer(const Value* value, std::string_view op);
Node* ownProducer(const Value* value, std::string_view op);
// Exactly one use, and not an output of the graph.
bool hasSingleUse(const Value* value);
// The only user of a value, in the same graph; NULL if there are others.
Node* singleUser(const Value* value);
bool sameDims(const Value* a, const Value* b);
bool sameRank(const Value* a, const Value* b);
bool sameType(const Value* a, const Value* b);
bool isRanked(const Value* value);
int rankOf(const Value* value);                     // of a ranked value
bool sameTensor(const Tensor& a, const Tensor& b);  // type, shape and contents
// The only element of a constant, as a number.
std::optional<double> scalarOf(const Value* value);
bool isScalar(const Value* value, double number);
// Element `i` of a floating-point or integer tensor.
double elementOf(const Tensor& tensor, int64_t i);
// Contents of a constant integer tensor.
std::optional<std::vector<int64_t>> integersOf(const Value* value);
int64_t normaliseAxis(int64_t axis, int rank);  // negative axes count from the end; not checked
bool hasTrait(const Node& node, OpTraits trait);
// The other operand of a two-input node.
Value* otherOperand(const Node& node, const Value* value);
// A two-input node with one constant scalar: the other operand and the scalar. `left` tells whether the scalar is
// first.
struct ScalarOperand {
  Value* value = nullptr;
  double scalar = 0;
  bool left = false;
  explicit operator bool() const { return value != nullptr; }
};
ScalarOperand scalarOperand(const Node* node);
// The permutation of a Transpose; empty if unknown.
std::vector<int64_t> permOf(const Node& transpose);
std::vector<int64_t> inverse(const std::vector<int64_t>& perm);
std::vector<int64_t> channelsToLast(int rank);  // at least 2: axis 1 comes last
// A Reduce operator's axes, in [0, rank), sorted; nullopt if unknown.
std::optional<std::vector<int64_t>> reducedAxes(const Node& reduce);
bool isReduce(const Node& node);
// The constant target of a Reshape from one shape to another that is right for every value of their
// symbols: numbers, 0 = as in the input, at most one -1.
std::optional<std::vector<int64_t>> reshapeTarget(const SymbolicShape& from, const SymbolicShape& to);
// The axis of `base` for each axis of `view`, if they differ only by dimensions of size 1 (-1 for those); empty if they
// differ otherwise.
std::vector<int64_t> unitViewAxes(const SymbolicShape& base, const SymbolicShape& view);

}  // namespace max
