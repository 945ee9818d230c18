// SPDX-License-Identifier: Apache-2.0
// Runs a float32 node with weights on host tensors, with an implementation, a CPU target and a number of lanes of
// choice.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "graph/schema.h"
#include "ops/cpu/target.h"
#include "ops/operator_library.h"
#include "random_numbers.h"
#include "reference_results.h"

namespace max {

using Tensors = std::vector<Ref<Tensor>>;

// The same elements, one byte behind an aligned place and up to the end of the block, as weights lie in files.
inline Ref<Tensor> unaligned(const Tensor& tensor) {
  Ref<Storage> block = allocateStorage(tensor.bytes() + 1);
  std::byte* data = static_cast<std::byte*>(block->data()) + 1;
  std::memcpy(data, tensor.data(), tensor.bytes());
  return makeRef<Tensor>(tensor.dtype(), tensor.shape(), data, std::move(block));
}

class NodeUnderTest {
 public:
  NodeUnderTest(std::string_view domain, std::string_view op) {
    schema_.domain = domain;
    schema_.name = op;
    node_.schema = &schema_;
    node_.name = "test";
  }
  DType results = DType::Float32;

  Node& operator*() { return node_; }
  Node* operator->() { return &node_; }

  // `constants`: bit i = input i is constant, and the weights are prepared as at load.
  Tensors run(const Tensors& inputs, const std::vector<Shape>& outputs, std::string_view implementation = "",
              int lanes = 1, unsigned constants = 0) {
    if (implementation != "reference" || constants) return runNow(inputs, outputs, implementation, lanes, constants);
    std::vector<test::OutputType> types;
    for (const Shape& shape : outputs) types.push_back({results, shape});
    node_.prepared = nullptr;
    return test::referenceResults(node_, inputs, types, [&] { return runNow(inputs, outputs, implementation, lanes); });
  }

  Tensors runPrepared(const Tensors& inputs, const std::vector<Shape>& outputs, Ref<Prepared> prepared, int lanes = 1,
                      std::string_view implementation = "", const std::vector<const Tensor*>& known = {}) {
    std::vector<Operand> in(inputs.size()), out;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) in[i] = {inputs[i]->dtype(), inputs[i]->shape(), known.empty() ? nullptr : known[i]};
    for (const Shape& shape : outputs) out.push_back({results, shape, nullptr});
    node_.prepared = std::move(prepared);
    const std::unique_ptr<OpKernel> kernel = cpuOperators().create({node_, in, out, lanes}, implementation);
    return runOp(*kernel, inputs, out, lanes);
  }

 private:
  Tensors runNow(const Tensors& inputs, const std::vector<Shape>& outputs, std::string_view implementation,
                 int lanes = 1, unsigned constants = 0) {
    std::vector<const Tensor*> known(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) known[i] = constants >> i & 1 ? inputs[i].get() : nullptr;
    const OpRow* kernels = cpuOperators().find(node_.domain(), node_.op());
    Ref<Prepared> prepared;
    if (constants && kernels && kernels->prepare) prepared = kernels->prepare(node_, known);
    return runPrepared(inputs, outputs, std::move(prepared), lanes, implementation, known);
  }

  static Tensors runOp(const OpKernel& kernel, const Tensors& inputs, const std::vector<Operand>& outputs, int lanes) {
    std::vector<const void*> sources;
    std::vector<void*> targets;
    Tensors results;
    for (const Ref<Tensor>& input : inputs) sources.push_back(input ? input->data() : nullptr);
    for (const Operand& output : outputs) {
      results.push_back(Tensor::allocate(output.dtype, output.shape));
      std::memset(results.back()->mutableData(), 0xff, results.back()->bytes());  // NaN: unwritten elements show
      targets.push_back(results.back()->mutableData());
    }
    const Ref<Storage> scratch = allocateStorage(kernel.scratchBytes());
    kernel.run({sources.data(), targets.data(), static_cast<std::byte*>(scratch->data()), lanes});
    return results;
  }

  OpSchema schema_{};
  Node node_;
};

// What is done for each element is in weights_harness.cpp, which is optimised in all builds.
class RandomTensors {
 public:
  explicit RandomTensors(uint32_t seed) : engine_(seed) {}
  int64_t integer(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool chance(double p) { return uniform(engine_, 0, 1) < p; }
  Ref<Tensor> floats(const Shape& shape, float scale = 1);

 private:
  Random engine_;
};

void expectNear(const Tensor& actual, const Tensor& expected, float tolerance, const std::string& what);

using test::forEachCpuTarget;

}  // namespace max
