// SPDX-License-Identifier: Apache-2.0
// Runs one kernel on random tensors and compares it with another implementation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/number_access.h"
#include "graph/schema.h"
#include "ops/cpu/target.h"
#include "ops/operator_library.h"
#include "random_numbers.h"
#include "reference_results.h"

namespace max::test {

// A node outside of any graph.
class LooseNode {
 public:
  LooseNode(std::string_view domain, std::string_view op, Attributes attributes = {}) : op_(op), domain_(domain) {
    schema_.domain = domain_;
    schema_.name = op_;
    node_.schema = &schema_;
    node_.attributes = std::move(attributes);
  }
  explicit LooseNode(std::string_view op, Attributes attributes = {}) : LooseNode("", op, std::move(attributes)) {}
  Node& node() { return node_; }

 private:
  std::string op_, domain_;
  OpSchema schema_{};
  Node node_;
};

inline Attributes with(std::initializer_list<std::pair<const char*, Attribute>> entries) {
  Attributes attributes;
  for (const auto& [name, value] : entries) attributes.set(name, value);
  return attributes;
}

struct KernelRun {
  std::vector<Ref<Tensor>> outputs;
  int inPlaceInput = -1;
};

inline KernelRun runKernel(Node& node, const std::vector<Ref<Tensor>>& inputs, const std::vector<OutputType>& outputs,
                           std::string_view implementation, int lanes, bool constants, bool inPlace) {
  std::vector<Operand> in, out;
  std::vector<const void*> inData;
  std::vector<void*> outData;
  std::vector<Ref<Tensor>> kept = inputs;
  KernelRun run;
  for (const Ref<Tensor>& input : inputs) {
    if (input)
      in.push_back({input->dtype(), input->shape(), constants ? input.get() : nullptr});
    else
      in.push_back({});
  }
  for (const OutputType& output : outputs) {
    out.push_back({output.dtype, output.shape, nullptr});
    run.outputs.push_back(Tensor::allocate(output.dtype, output.shape));
  }
  const auto kernel = cpuOperators().create({node, in, out, lanes}, implementation);
  run.inPlaceInput = kernel->inPlaceInput();
  if (inPlace && run.inPlaceInput >= 0) {
    auto& source = kept[static_cast<size_t>(run.inPlaceInput)];
    source = Tensor::copyOf(source->dtype(), source->shape(), source->data());
    run.outputs[0] = source;
  }
  for (const Ref<Tensor>& input : kept) inData.push_back(input ? input->data() : nullptr);
  for (const Ref<Tensor>& output : run.outputs) outData.push_back(output->mutableData());
  if (inPlace && run.inPlaceInput >= 0)
    run.outputs[0] =
        makeRef<Tensor>(outputs[0].dtype, outputs[0].shape, run.outputs[0]->data(), run.outputs[0]->storage());
  const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes() + 64);
  kernel->run({inData.data(), outData.data(), static_cast<std::byte*>(scratch->data()), lanes});
  return run;
}

// `lanes` threads; `implementation` empty = the best. `constants`: inputs known when the kernel is created.
// `inPlace`: output 0 takes over the memory that the kernel offers.
inline KernelRun runOp(Node& node, const std::vector<Ref<Tensor>>& inputs, const std::vector<OutputType>& outputs,
                       std::string_view implementation = {}, int lanes = 1, bool constants = false,
                       bool inPlace = false) {
  const auto run = [&] { return runKernel(node, inputs, outputs, implementation, lanes, constants, inPlace); };
  if (implementation != "reference" || inPlace) return run();
  return {referenceResults(node, inputs, outputs, [&] { return run().outputs; })};
}

// What is done for each element is in op_harness.cpp, which is optimised in all builds.
void storeNumber(void* data, int64_t i, DType dtype, double value);
double numberAt(const Tensor& tensor, int64_t i);

struct SumOfProducts {
  double sum = 0;
  double magnitude = 0;  // of the products' magnitudes
};
SumOfProducts sumOfProducts(const double* left, const double* right, int64_t count);
Ref<Tensor> randomTensor(Random& random, DType dtype, const Shape& shape, double low = -4, double high = 4);

// Shape of up to `rank` dimensions and, for each of `count` operands, one that broadcasts to it.
inline std::vector<Shape> randomBroadcast(Random& random, size_t count, Shape& output, int maxRank = 4,
                                          int64_t maxDim = 9) {
  output = {};
  const int rank = static_cast<int>(random() % static_cast<unsigned>(maxRank + 1));
  for (int i = 0; i < rank; ++i) {
    const unsigned kind = random() % 8;
    output.push(kind == 0 ? 1
                : kind == 1 && output.count() < 40
                    ? static_cast<int64_t>(random() % 300) + 1
                    : static_cast<int64_t>(random() % static_cast<unsigned>(maxDim)) + 1);
  }
  std::vector<Shape> shapes;
  for (size_t k = 0; k < count; ++k) {
    Shape shape;
    const bool full = k == 0;  // the first operand decides the output's shape
    const int first = full ? 0 : static_cast<int>(random() % static_cast<unsigned>(rank + 1));
    for (int i = first; i < rank; ++i) shape.push(full || random() % 3 ? output[i] : 1);
    shapes.push_back(shape);
  }
  return shapes;
}

inline double toleranceOf(DType dtype) {
  return dtype == DType::Float16 ? 2e-3 : dtype == DType::BFloat16 ? 2e-2 : dtype == DType::Float32 ? 4e-6 : 1e-12;
}

void expectClose(const Tensor& actual, const Tensor& expected, double tolerance, const std::string& what);

// Runs the rest of a test once for each CPU target that this machine has.
template <class Body>
void forEachTarget(const Body& body) {
  forEachCpuTarget([&](CpuTarget target) {
    SCOPED_TRACE(nameOf(target));
    body();
  });
}

}  // namespace max::test
