// SPDX-License-Identifier: Apache-2.0
// Operator definitions: one row each. A row is everything the graph knows about an operator: arity, dtypes, shape rule,
// a few traits that passes rely on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute_rules.h"
#include "graph/graph.h"
#include "graph/node_inputs.h"

namespace max {

// Passed to a shape rule. The same rule serves graph building (symbolic dimensions) and plans (all dimensions known):
// in a plan, an input whose contents it needs may be constant. A rule leaves out what it does not know, or calls
// setUnknown or setRank. A plan ignores a rule's shapes if unknown contents that shapes depend on were requested
// (OpSchema::shapeInputs).
class InferContext : public NodeInputs {
 public:
  InferContext(const Node& node, DimTable* dims, std::span<const InputType> inputs, size_t outputCount);

  size_t outputCount() const { return outputs_.size(); }
  // The broadcast of two shapes; throws naming the node, both shapes and the dimensions that disagree.
  SymbolicShape broadcast(const SymbolicShape& a, const SymbolicShape& b) const;
  Dim broadcast(Dim a, Dim b) const;
  Dim unknownDim() const;                   // a new symbol; in a plan: marks the output as known only after running
  Dim symbol(std::string_view name) const;  // in plans an unknown dimension

  // Outputs that the node does not request are ignored. Before the rule runs, outputs have the dtype from the schema's
  // row and no rank.
  void setOutput(size_t i, TensorType type);  // dtype Invalid = unchanged
  void setShape(size_t i, SymbolicShape dims) { setOutput(i, TensorType::of(DType::Invalid, std::move(dims))); }
  void setUnknown(size_t i);  // neither rank nor dimensions
  // All dimensions unknown. For rank 0 the rank itself becomes unknown; for scalars use setShape(i, {}).
  void setRank(size_t i, int rank);
  void setOutputLike(size_t i, size_t input);
  void setDType(size_t i, DType dtype);
  // Contents of a small integer output; longer lists than kMaxElements are dropped.
  void setElements(size_t i, std::vector<Dim> elements);

  struct Output {
    TensorType type;
    std::optional<std::vector<Dim>> elements;
  };
  const std::vector<Output>& outputs() const { return outputs_; }
  std::vector<Output> takeOutputs() { return std::move(outputs_); }
  bool isPlan() const { return dims_ == nullptr; }

 private:
  DimTable* dims_;
  std::vector<Output> outputs_;
};

enum OpTraits : uint32_t {
  kTraitNone = 0,
  kTraitElementwise = 1u << 0,  // output element i depends only on (broadcast) input elements i
  kTraitCommutative = 1u << 1,
  kTraitView = 1u << 2,           // output 0 has the elements of input 0, in order: Reshape, Squeeze, Identity
  kTraitShapeOnly = 1u << 3,      // needs only the shape of input 0: Shape, Size
  kTraitDataDependent = 1u << 4,  // output shapes are known only after running: NonZero, Unique
  kTraitRandom = 1u << 5,         // never folded, never merged
  kTraitControlFlow = 1u << 6,    // has subgraphs; run by the executor: If, Loop, Scan
  kTraitVariadic = 1u << 7,       // the last input repeats
  kTraitGuard = 1u << 8,          // output 0 is input 0 with a checked shape: passes do not look through it
};

// Contents of integer tensors are tracked symbolically up to this many elements.
inline constexpr size_t kMaxElements = 256;

using InferFunction = void (*)(InferContext& context);

struct ParsedRow;
struct TypeSignature;  // the parsed form of OpSchema::types

struct OpSchema {
  std::string_view domain;  // "" = ONNX's own
  std::string_view name;
  int minInputs;
  int maxInputs;  // ignored with kTraitVariadic
  int minOutputs;
  int maxOutputs;
  // dtypes, as "inputs -> outputs; constraints", for example "T,T->T; T=number" or "T,I->T; T=any; I=index".
  // Classes: any (tensor), value (tensors, sequences, optionals, maps), sequence, optional, map, number (no bool),
  // float, integer, signed, bool, index (int32, int64), int64, float32, uint8...,
  // joined by '|'. A trailing "..." repeats the last input or output; their dtypes are equal for a letter of the
  // constraints and independent for a class. "*" on the output side: the shape rule sets the dtype.
  std::string_view types;
  InferFunction infer;
  uint32_t traits;
  uint32_t shapeInputs;  // bit i: output shapes depend on the contents of input i (Reshape: 1 << 1)
  // The attributes, as AttributeRules reads them: "axis=i perm=I mode=s{linear,cubic} size=i[1..]". "*" = any.
  std::string_view attributes = "";
  std::string_view extension = {};    // that brought the operator; empty = it is the library's own
  const ParsedRow* parsed = nullptr;  // set when the row is registered

  // NULL in rows of tests, which are not registered.
  const TypeSignature* signature() const;
  const AttributeRules* attributeRules() const;
  bool has(OpTraits trait) const { return (traits & trait) != 0; }
  bool sharesInput() const { return (traits & (kTraitView | kTraitGuard)) != 0; }  // no memory of its own
  bool hasOutputList() const;                                                      // the last output repeats: Split, If
};

// Searches the static table and the rows of loaded extensions. NULL if not found.
const OpSchema* findSchema(std::string_view domain, std::string_view op);
std::vector<const OpSchema*> allSchemas();

// Runs dtype checks and the shape rule of a node on given input types.
// Used by Graph::addNode and inferTypes, and by the executor for each plan.
// `outputCount` of the first form is the number of the node's outputs.
std::vector<InferContext::Output> inferNode(const Node& node, DimTable* dims, std::span<const InputType> inputs);
std::vector<InferContext::Output> inferNode(const Node& node, DimTable* dims, std::span<const InputType> inputs,
                                            size_t outputCount);

// Throws INVALID_ARGUMENT if the node has too few or too many inputs or outputs, or lacks a required one.
void checkArity(const Node& node, size_t outputCount);
// Throws INVALID_ARGUMENT if the operator does not have the attribute, or its type or value is wrong.
void checkAttributes(const Node& node);
// What is known about the node's inputs while the graph is built and compiled.
std::vector<InputType> inputTypes(const Node& node);

// Adds a row for an extension's operator; row and strings must stay valid. ALREADY_EXISTS if there is one. Thread-safe.
void registerSchema(const OpSchema& schema);

}  // namespace max
