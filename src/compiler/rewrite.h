// SPDX-License-Identifier: Apache-2.0
// What passes rewrite graphs with: new nodes that remember what they stand for,
// replacement, and rules that run until nothing changes.
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

// Nodes that were replaced stay in the graph, without inputs, until the pass ends, so that no
// pointer that a pass holds goes stale.
class Rewriter {
 public:
  Rewriter(Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  Graph& graph() { return graph_; }
  const CompileOptions& options() const { return options_; }
  bool changed() const { return changed_; }

  // Adds a node that stands for `origins`, the last of which gives it its name.
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
  // A view of `value` with these dimensions; NULL if no constant target says it for every shape.
  Value* reshape(Value* value, const SymbolicShape& dims, const Node* origin);
  Value* transpose(Value* value, const std::vector<int64_t>& perm, const Node* origin);

  // May `to` stand for `from` everywhere? (A graph's output must stay a value of its own.)
  bool canReplace(const Value* from, const Value* to) const;
  // Uses of `from` become uses of `to`; nodes that nobody needs any more are retired. False if it cannot be.
  bool replace(Value* from, Value* to);
  // Replaces the single output of `node`.
  bool replace(Node* node, Value* to) { return replace(node->output(), to); }
  void retire(Node* node);

  // Erases what is retired or dead and sorts. Passes hold no node after it.
  void finish();

 private:
  Graph& graph_;
  const CompileOptions& options_;
  bool changed_ = false;
};

// A local rewrite tried on every node of an operator. "" = every operator. Returns whether it did something.
struct Rule {
  std::string_view domain;
  std::string_view op;
  bool (*apply)(Rewriter& rewriter, Node& node);
};

// A constant that varies along the last dimension of `output` only, as a vector of its size; NULL if it is none.
Value* asBias(Rewriter& rewriter, Value* value, const Value* output);

// Tries the rules on all nodes, in order, again and again until nothing changes (at most `rounds` times).
void applyRules(Rewriter& rewriter, std::span<const Rule> rules, int rounds = 8);

// Reading graphs.

bool isLive(const Node& node);  // some output is used
// The node that makes a value which only its own graph reads; else NULL. (Work must not move into a branch or a loop.)
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
int rankOf(const Value* value);  // of a ranked value
// The only element of a constant, as a number.
std::optional<double> scalarOf(const Value* value);
bool isScalar(const Value* value, double number);
// Element `i` of a floating-point or integer tensor.
double elementOf(const Tensor& tensor, int64_t i);
// Contents of a constant integer tensor.
std::optional<std::vector<int64_t>> integersOf(const Value* value);
int64_t normaliseAxis(int64_t axis, int rank);  // negative axes count from the end; not checked
bool hasTrait(const Node& node, OpTraits trait);
// The operand that is not `value` of a node with two inputs.
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
// The permutation of a Transpose; empty if it is not known.
std::vector<int64_t> permOf(const Node& transpose);
std::vector<int64_t> inverse(const std::vector<int64_t>& perm);
// A Reduce operator's axes, in [0, rank), rising; nullopt if they are not known.
std::optional<std::vector<int64_t>> reducedAxes(const Node& reduce);
bool isReduce(const Node& node);
// The constant target of a Reshape from one shape to another that is right for every value of their
// symbols: numbers, 0 = as in the input, at most one -1.
std::optional<std::vector<int64_t>> reshapeTarget(const SymbolicShape& from, const SymbolicShape& to);
// For each axis of `view` the axis of `base` that it is, where they differ by dimensions of size 1 only (-1 for those);
// empty if they differ otherwise.
std::vector<int64_t> unitViewAxes(const SymbolicShape& base, const SymbolicShape& view);

}  // namespace max
