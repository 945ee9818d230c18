// SPDX-License-Identifier: Apache-2.0
// The graph: values and the nodes that produce them. Built by the importer or in code, rewritten by the compiler's
// passes, then frozen and read by the executor.
//
// Operators are those of the newest opset this library supports; the ONNX importer rewrites older forms. Our own
// operators (fused, channels last) are in the domain "max".
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/ref.h"
#include "base/tensor.h"
#include "graph/attributes.h"
#include "graph/dim.h"
#include "graph/expression.h"

namespace max {

struct Node;
struct OpSchema;
class Graph;

inline constexpr std::string_view kMaxDomain = "max";  // our own operators; ONNX's own domain is ""
inline constexpr int kMaxGraphDepth = 32;              // of nested subgraphs

// Nested types: the contents of a sequence, optional or map, outermost first; a map's key before its value.
using InnerTypes = std::array<DType, 4>;

// What is known about a value without running anything. Sequences, optionals and maps are scalars of such a dtype.
struct TensorType {
  DType dtype = DType::Invalid;  // Invalid = unknown
  bool ranked = false;
  SymbolicShape dims;     // meaningful if ranked
  InnerTypes inner = {};  // of values that are not tensors; Invalid = unknown

  static TensorType of(DType dtype, SymbolicShape dims) { return {dtype, true, std::move(dims), {}}; }
  static TensorType unranked(DType dtype) { return {dtype, false, {}, {}}; }
  // A sequence or optional of values of this type.
  static TensorType holding(DType kind, const TensorType& element);
  // The contents of a sequence or optional, or a map's value; ranked only if it is not a tensor.
  TensorType held() const;
  int rank() const { return static_cast<int>(dims.size()); }
};
// Merges newly inferred facts, except where they are less precise.
void refine(TensorType& known, TensorType found);
void appendTo(std::string& text, const TensorType& type);  // "float32[batch, 3]", "sequence of float32"

// State that a node's kernels share between plans, created once at load: packed weights, the program of a fused
// elementwise chain. Created by ops, owned by nodes.
class Prepared : public RefCounted {
 public:
  virtual size_t bytes() const { return 0; }  // memory held, for reports
  // The node's kernels never read this constant input again, so its contents can be released.
  virtual bool replaces(size_t) const { return false; }
};

struct Use {
  Node* node;
  int index;  // which input
};

// Uses in the order in which they were added. Passes take them away from either end, and a value may have tens of
// thousands: both ends are searched at once, and what lies between is not moved.
class UseList {
 public:
  const Use* begin() const { return uses_.data() + first_; }
  const Use* end() const { return uses_.data() + uses_.size(); }
  size_t size() const { return uses_.size() - first_; }
  bool empty() const { return size() == 0; }
  const Use& operator[](size_t index) const { return begin()[index]; }

  void add(Use use);
  void remove(const Node* node, size_t index);  // nothing if it is not there
  void clear();

 private:
  std::vector<Use> uses_;
  size_t first_ = 0;  // those before it are gone
};

// A constant's contents in an accelerator's memory. `device`: as Node::home.
struct DeviceCopy {
  const RefCounted* device;
  Ref<Storage> contents;
};

struct Value {
  Graph* graph = nullptr;
  std::string name;
  TensorType type;
  Node* producer = nullptr;  // NULL for inputs, constants, weights
  int producerIndex = 0;
  UseList uses;          // by nodes, including those in subgraphs; graph outputs are not uses
  Ref<Tensor> constant;  // contents, if known
  // Contents of a small integer tensor as dimensions ("[batch, -1, 768]"), if known symbolically.
  std::optional<std::vector<Dim>> elements;
  bool isInput = false;
  bool isWeight = false;  // replaceable by name from a registry

  // Float32 that lies in memory as bfloat16, because nodes that read it round it anyway; chosen for a target.
  bool isNarrow = false;
  std::vector<DeviceCopy> onDevices;  // the constant's contents in memory of accelerators, chosen for a target

  // The device that an input, a weight or the output of max.Transfer was placed on; NULL = the session's first.
  Ref<const RefCounted> home;

  size_t outputs = 0;  // how many outputs of its graph it is
  bool isOutput() const { return outputs > 0; }
  // NULL if it is not there.
  const Storage* onDevice(const RefCounted* device) const;
};

struct Node {
  Graph* graph = nullptr;
  const OpSchema* schema = nullptr;
  std::string name;             // may be empty
  std::vector<Value*> inputs;   // NULL = omitted optional input
  std::vector<Value*> outputs;  // NULL = output not requested
  Attributes attributes;
  Ref<const Expression> expression;  // of max.Elementwise: what it computes
  DType products = DType::Float32;   // type of factors in products of float32, chosen for a target
  int productParts = 1;              // numbers of that type whose sum is a factor
  Ref<Prepared> prepared;
  Ref<Prepared> placed;              // what an accelerator runs, chosen for a target; NULL = the node runs on the host
  const RefCounted* home = nullptr;  // of a placed node: that accelerator; NULL = the session's first device
  std::vector<std::string> sources;  // names of the original nodes in the model

  std::string_view op() const;
  std::string_view domain() const;
  bool is(std::string_view op) const;     // an operator of ONNX's own domain
  bool isOwn(std::string_view op) const;  // an operator of the domain "max"
  Value* input(size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  Value* output(size_t i = 0) const { return i < outputs.size() ? outputs[i] : nullptr; }
  // "node 'conv1' (Conv)", for messages.
  std::string description() const;
};

class Graph : public RefCounted {
 public:
  explicit Graph(std::string name = "");   // a model's main graph
  Graph(Graph& parent, std::string name);  // a subgraph: may use values of its parents
  ~Graph() override;

  const std::string& name() const { return name_; }
  Graph* parent() const { return parent_; }
  DimTable& dimTable() { return *dims_; }

  Value* addInput(std::string_view name, TensorType type);
  Value* addConstant(Ref<Tensor> tensor, std::string_view name = "");
  // A constant that can be replaced by name; `tensor` may be NULL until it is bound.
  Value* addWeight(std::string_view name, DType dtype, const Shape& shape, Ref<Tensor> tensor = nullptr);
  // Checks arity, attributes, dtypes and shapes, and infers the outputs' types. `outputNames` gives the number of
  // outputs (empty name = generate one). Throws INVALID_ARGUMENT that names node, operator, tensor, shapes.
  Node* addNode(const OpSchema& schema, std::vector<Value*> inputs, Attributes attributes,
                std::span<const std::string> outputNames, std::string name = "");
  Node* addNode(std::string_view domain, std::string_view op, std::vector<Value*> inputs, Attributes attributes = {},
                size_t outputCount = 1, std::string name = "");
  // `home`: the device that it is made on, NULL = the session's first.
  void addOutput(Value* value, std::string_view name = "", Ref<const RefCounted> home = nullptr);
  // INVALID_ARGUMENT unless the value belongs to this graph or a parent.
  void requireVisible(const Value* value, const char* what) const;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::vector<std::string>& outputNames() const { return outputNames_; }
  const RefCounted* outputHome(size_t index) const { return outputHomes_[index].get(); }
  // Nodes, in topological order if sort() was called after the last change.
  const std::vector<Node*>& nodes() const { return order_; }
  Value* findValue(std::string_view name) const;  // of this graph, NULL if none
  std::vector<const Value*> weights() const;      // of this graph, in order of addition

  // Rewriting.
  void replaceInput(Node& node, size_t index, Value* value);
  // Also replaces outputs of `from`'s graph, unless `to` belongs to another graph (a subgraph's outputs are its own
  // values).
  void replaceAllUses(Value* from, Value* to);
  // Its outputs must be unused. The node stays readable as an empty shell (graph == NULL) while the graph exists.
  void erase(Node* node);
  Value* addValue(std::string_view name, TensorType type);  // for nodes built by hand
  // Erases nodes with unused outputs, and unused constants, in subgraphs too; unused optional outputs become NULL.
  // Returns the number of erased nodes.
  size_t eraseDead();
  // Stable topological order, in subgraphs too; throws INVALID_ARGUMENT naming a node on a cycle.
  void sort();
  // Infers types again, in order, after a rewrite (symbolic dimensions stay at least as precise).
  void inferTypes();
  // Outer values that this subgraph (and its own subgraphs) use; empty for a main graph.
  std::vector<Value*> capturedValues() const;
  // A deep copy of a main graph with its own table of dimensions; tensors are shared.
  Ref<Graph> clone() const;
  // Inlines a subgraph of one of this graph's nodes, with `arguments` as its inputs. Returns the values that replace
  // its outputs. Call sort() when done.
  std::vector<Value*> inlineSubgraph(const Graph& body, std::span<Value* const> arguments);

 private:
  friend class GraphCopier;
  Value* newValue(std::string_view name, TensorType type, Node* producer = nullptr, int index = 0);
  std::string uniqueName(std::string_view base);
  bool contains(const Graph* graph) const;  // this graph or a nested subgraph
  void checkSubgraphs(const Node& node) const;
  void attach(Node& node);
  void detach(Node& node);
  void collectCaptured(const Graph& inner, std::vector<Value*>& captured) const;
  std::vector<Node*> dependencies(const Node& node) const;
  std::string name_;
  Graph* parent_ = nullptr;
  int depth_ = 0;
  std::shared_ptr<DimTable> dims_;
  std::deque<Value> values_;
  std::deque<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> order_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::vector<std::string> outputNames_;
  std::vector<Ref<const RefCounted>> outputHomes_;
  struct Names;
  std::unique_ptr<Names> names_;
};

}  // namespace max
