// SPDX-License-Identifier: Apache-2.0
// What is known about a body's inputs while the body is built.
//
// The types that a file declares for them are hints: exporters write the shapes of the first iteration. A carried value
// has the type that its initial value and the body's output have in common. To find it, the body is built first with
// the types of the initial values, then again without the parts that an iteration changed, until nothing else changes.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "onnx/proto.h"

namespace max::onnx {

// Parts of the initial values' types that are dropped, by carried value.
struct Forgotten {
  struct Entry {
    bool isUnranked = false;
    bool isOptional = false;
    bool isMixed = false;  // sequences, optionals or maps of different types
    std::vector<bool> dims;
  };
  std::vector<Entry> entries = {};
  int rounds = 0;
  bool isAssumed = false;  // the body cannot be built with less: the types are checked at run time
};

class BodyTypes {
 public:
  // `inputs` are those of the node, of opset `version`; attributes other than graphs are set.
  BodyTypes(std::string_view op, int64_t version, std::span<Value* const> inputs, const Attributes& attributes,
            DimTable& dims);

  // The types of the inputs of `body`.
  std::vector<TensorType> types(const GraphProto& body, const Forgotten& forgotten) const;
  // Records what the body built with `given` changes; false if nothing new.
  bool forgetChanges(const Graph& body, std::span<const TensorType> given, Forgotten& forgotten) const;
  // Drops the shapes of all carried values; false if none was known.
  bool forgetShapes(Forgotten& forgotten) const;

 private:
  size_t firstCarried_ = 0, carried_ = 0, firstOutput_ = 0;
  std::vector<TensorType> initial_;  // by input of the body
  DimTable& dims_;
};

// Operators that run their attribute 'body' repeatedly.
bool hasBody(std::string_view domain, std::string_view op);

}  // namespace max::onnx
