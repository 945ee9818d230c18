// SPDX-License-Identifier: Apache-2.0
// Tests of values that are bfloat16 in memory: nodes that read and write them, and networks with and without them.
#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "base/half.h"
#include "executor_helpers.h"
#include "interpreter.h"
#include "weights_harness.h"

namespace max {

inline Ref<Tensor> narrowed(const Tensor& tensor) {
  Ref<Tensor> result = Tensor::allocate(DType::BFloat16, tensor.shape());
  for (int64_t i = 0; i < tensor.count(); ++i)
    static_cast<uint16_t*>(result->mutableData())[i] = bfloat16FromFloat(tensor.as<float>()[i]);
  return result;
}

inline Ref<Tensor> widened(const Tensor& tensor) {
  Ref<Tensor> result = Tensor::allocate(DType::Float32, tensor.shape());
  for (int64_t i = 0; i < tensor.count(); ++i)
    static_cast<float*>(result->mutableData())[i] = floatFromBFloat16(tensor.as<uint16_t>()[i]);
  return result;
}

// With some inputs and the result in bfloat16, a kernel gives what it gives with the same numbers in float32, rounded;
// functions of products lose 2^-12 more.
// `narrow`: bit i = input i may be narrow; `constants` as for NodeUnderTest::run; `tolerance`: of floats.
inline void checkNode(NodeUnderTest& node, Tensors inputs, unsigned narrow, const Shape& output, unsigned constants,
                      const std::string& what, float tolerance = 1e-5f) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (narrow >> i & 1) inputs[i] = widened(*narrowed(*inputs[i]));
  node.results = DType::Float32;
  const Tensors expected = node.run(inputs, {output}, "", 2, constants);
  for (const unsigned some : {0u, narrow & 1, narrow}) {
    Tensors given = inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (some >> i & 1) given[i] = narrowed(*inputs[i]);
    node.results = DType::Float32;
    expectNear(*node.run(given, {output}, "", 2, constants)[0], *expected[0], tolerance, concat(what, " to floats"));
    node.results = DType::BFloat16;
    const Ref<Tensor> result = node.run(given, {output}, "", 2, constants)[0];
    ASSERT_EQ(result->dtype(), DType::BFloat16);
    for (int64_t i = 0; i < result->count(); ++i) {
      const float actual = floatFromBFloat16(result->as<uint16_t>()[i]), wanted = expected[0]->as<float>()[i];
      ASSERT_LE(std::fabs(actual - wanted), std::fabs(wanted) * (1.f / 256 + 1.f / 4096) + 2e-5f)
          << what << ": element " << i;
    }
  }
}

// A network for the precision `medium`, with and without the pass.
struct Network {
  Ref<Graph> graph;
  test::Outputs outputs;

  Network(const std::function<void(test::Builder&)>& build, const Shape& input, bool isNarrow)
      : Network(build, input, optionsFor(isNarrow)) {}
  Network(const std::function<void(test::Builder&)>& build, const Shape& input, const CompileOptions& options) {
    test::Builder builder;
    build(builder);
    graph = builder.graph;
    compile(*graph, options);
    Random random(5);
    const Ref<Tensor> x = test::randomTensor(input, random);
    outputs = test::run(PlannedProgram(graph, 2), {x});
  }

  static CompileOptions optionsFor(bool isNarrow) {
    CompileOptions options;
    options.precision = MAX_PRECISION_MEDIUM;
    if (!isNarrow) options.disabledPasses = {"narrow"};
    return options;
  }
  // Of the values between nodes.
  int narrowValues() const {
    int count = 0;
    for (const Node* node : graph->nodes()) count += node->output()->isNarrow;
    return count;
  }
};

}  // namespace max
