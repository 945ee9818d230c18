// SPDX-License-Identifier: Apache-2.0
// What is known of the inputs of a body while it is built.
//
// The types that a file declares for them are hints: exporters write the shapes of the first iteration. A carried value
// has what its initial value and the body's output have in common. That is found by building the body: first with the
// types of the initial values, then again without what an iteration turned out to change, until nothing else changes.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "onnx/proto.h"

namespace max::onnx {

// What is forgotten of the initial values' types, by carried value.
struct Forgotten {
  struct Entry {
    bool isUnranked = false;
    bool isOptional = false;
    bool isMixed = false;  // sequences, optionals or maps of different types
    std::vector<bool> dims;
  };
  std::vector<Entry> entries = {};
  int rounds = 0;
  bool isAssumed = false;  // the body cannot be built with less: the types are checked when it runs
};

class BodyTypes {
 public:
  // `inputs` are those of the node, of opset `version`; attributes other than graphs are set.
  BodyTypes(std::string_view op, int64_t version, std::span<Value* const> inputs, const Attributes& attributes,
            DimTable& dims);

  // The types of the inputs of `body`.
  std::vector<TensorType> types(const GraphProto& body, const Forgotten& forgotten) const;
  // Notes what the body that was built with `given` changes; false if nothing else.
  bool forgetChanges(const Graph& body, std::span<const TensorType> given, Forgotten& forgotten) const;
  // Forgets the shapes of all carried values; false if none was known.
  bool forgetShapes(Forgotten& forgotten) const;

 private:
  size_t firstCarried_ = 0, carried_ = 0, firstOutput_ = 0;
  std::vector<TensorType> initial_;  // by input of the body
  DimTable& dims_;
};

// Operators whose attribute 'body' is run many times.
bool hasBody(std::string_view domain, std::string_view op);

}  // namespace max::onnx
