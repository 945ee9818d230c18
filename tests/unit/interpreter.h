// SPDX-License-Identifier: Apache-2.0
// Tests of passes: a short way to write graphs down, an interpreter that runs
// them node by node with evaluate, and the comparison of both.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/compile.h"
#include "graph/graph.h"
#include "graph/schema.h"
#include "ops/op_kernel.h"
#include "random_numbers.h"

namespace max::test {

using Environment = std::unordered_map<const Value*, Ref<Tensor>>;

inline Ref<Tensor> lookUp(const Environment& environment, const Value* value) {
  if (!value) return nullptr;
  if (value->constant) return value->constant;
  const auto found = environment.find(value);
  if (found == environment.end()) ADD_FAILURE() << "no contents for value " << value->name;
  return found == environment.end() ? nullptr : found->second;
}

inline std::vector<Ref<Tensor>> interpretInto(const Graph& graph, Environment& environment) {
  for (const Node* node : graph.nodes()) {
    std::vector<Ref<Tensor>> results;
    if (node->is("If")) {
      const bool condition = *lookUp(environment, node->input(0))->as<uint8_t>() != 0;
      results = interpretInto(*node->attributes.getGraph(condition ? "then_branch" : "else_branch"), environment);
    } else {
      std::vector<Ref<Tensor>> inputs;
      std::vector<const Tensor*> pointers;
      for (const Value* input : node->inputs) {
        inputs.push_back(lookUp(environment, input));
        pointers.push_back(inputs.back().get());
      }
      results = evaluate(*node, pointers);
    }
    for (size_t i = 0; i < node->outputs.size(); ++i)
      if (node->outputs[i]) environment[node->outputs[i]] = results[i];
  }
  std::vector<Ref<Tensor>> outputs;
  for (const Value* output : graph.outputs()) outputs.push_back(lookUp(environment, output));
  return outputs;
}

inline std::vector<Ref<Tensor>> interpret(const Graph& graph, const std::vector<Ref<Tensor>>& inputs) {
  Environment environment;
  for (size_t i = 0; i < inputs.size(); ++i) environment[graph.inputs()[i]] = inputs[i];
  return interpretInto(graph, environment);
}

inline Ref<Tensor> randomTensor(const Shape& shape, Random& random, float low = -2, float high = 2) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  fillUniform(random, static_cast<float*>(tensor->mutableData()), tensor->count(), low, high);
  return tensor;
}

// Writes graphs down.
class Builder {
 public:
  explicit Builder(uint32_t seed = 7) : random_(seed) {}

  Ref<Graph> graph = makeRef<Graph>("test");

  Dim symbol(std::string_view name) { return graph->dimTable().symbol(name); }
  Value* input(const SymbolicShape& dims, DType dtype = DType::Float32) {
    return graph->addInput(concat("x", graph->inputs().size()), TensorType::of(dtype, dims));
  }
  Value* op(std::string_view name, std::vector<Value*> inputs, Attributes attributes = {}) {
    return graph->addNode("", name, std::move(inputs), std::move(attributes))->output();
  }
  Node* node(std::string_view name, std::vector<Value*> inputs, Attributes attributes, size_t outputs) {
    return graph->addNode("", name, std::move(inputs), std::move(attributes), outputs);
  }
  void output(Value* value) { graph->addOutput(value); }

  Value* scalar(float value) { return graph->addConstant(Tensor::copyOf(DType::Float32, Shape(), &value)); }
  Value* ints(const std::vector<int64_t>& values) {
    return graph->addConstant(Tensor::copyOf(DType::Int64, {static_cast<int64_t>(values.size())}, values.data()));
  }
  Value* floats(const std::vector<float>& values) {
    return graph->addConstant(Tensor::copyOf(DType::Float32, {static_cast<int64_t>(values.size())}, values.data()));
  }
  Value* random(const Shape& shape, float low = -1, float high = 1) {
    return graph->addConstant(randomTensor(shape, random_, low, high));
  }

 private:
  Random random_;
};

inline Attributes attrs(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  Attributes attributes;
  for (const auto& [name, value] : entries) attributes.set(name, value);
  return attributes;
}

inline Attribute list(std::vector<int64_t> values) { return Attribute(std::move(values)); }

inline void expectClose(const Tensor& actual, const Tensor& expected, double tolerance) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(concat(actual.shape()), concat(expected.shape()));
  if (actual.dtype() != DType::Float32) {
    ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.bytes()), 0);
    return;
  }
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = actual.as<float>()[i], e = expected.as<float>()[i];
    if (std::isnan(a) && std::isnan(e)) continue;
    ASSERT_NEAR(a, e, tolerance * (1 + std::fabs(e))) << "element " << i;
  }
}

inline std::map<std::string, int> countOperators(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const Node* node : graph.nodes())
    ++counts[concat(node->domain(), node->domain().empty() ? "" : ".", node->op())];
  return counts;
}

inline std::string operatorsOf(const Graph& graph) {
  std::string text;
  for (const auto& [name, count] : countOperators(graph)) {
    if (!text.empty()) text += ' ';
    text += name;
    if (count > 1) text += concat("*", count);
  }
  return text;
}

// Passes that only change how nodes run, so that tests see what is left of the operators.
inline CompileOptions withoutFusion() {
  CompileOptions options;
  options.disabledPasses = {"elementwise"};
  return options;
}

// What `build` writes down, as it is and compiled, on random inputs of `shapes`.
struct Compiled {
  Builder graph;  // compiled
  std::vector<Ref<Tensor>> expected, actual;
};
inline void compileAndRun(Compiled& result, const std::function<void(Builder&)>& build,
                          const std::vector<Shape>& shapes, const CompileOptions& options, float low, float high) {
  Builder plain;
  build(plain);
  build(result.graph);
  plain.graph->sort();
  compile(*result.graph.graph, options);
  Random random(3);
  std::vector<Ref<Tensor>> inputs;
  for (const Shape& shape : shapes) inputs.push_back(randomTensor(shape, random, low, high));
  result.expected = interpret(*plain.graph, inputs);
  result.actual = interpret(*result.graph.graph, inputs);
  EXPECT_EQ(result.actual.size(), result.expected.size());
}

// Compares both. Returns the operators of the compiled graph ("Relu max.Conv*2").
inline std::string compileAndCompare(const std::function<void(Builder&)>& build, const std::vector<Shape>& shapes,
                                     const CompileOptions& options = withoutFusion(), double tolerance = 1e-4,
                                     float low = -2, float high = 2) {
  Compiled result;
  compileAndRun(result, build, shapes, options, low, high);
  for (size_t i = 0; i < result.actual.size(); ++i) {
    SCOPED_TRACE(dump(*result.graph.graph));
    expectClose(*result.actual[i], *result.expected[i], tolerance);
  }
  return operatorsOf(*result.graph.graph);
}

}  // namespace max::test
