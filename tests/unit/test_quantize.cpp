// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear whose neighbours have scales of their own.
#include <limits>

#include "op_harness.h"

namespace max::test {
namespace {

struct Layout {
  Shape data, scales;
  int64_t axis, block;
};

// Rows that are repeated and rows that are not, elements behind the axis, blocks of the last axis and of another one.
// Threads may begin within a row.
const Layout kLayouts[] = {
    {{7, 3}, {3}, 1, 0},
    {{5, 300}, {300}, -1, 0},
    {{1, 259}, {259}, 1, 0},
    {{41, 1000}, {1000}, 1, 0},
    {{3, 37, 5, 3}, {37}, 1, 0},
    {{2, 40, 15}, {40}, 1, 0},
    {{70, 64}, {70, 4}, 1, 16},
    {{3, 2, 96}, {3, 2, 3}, 2, 32},
    {{3, 256}, {3, 2}, 1, 128},
    {{6, 37}, {3, 37}, 0, 2},
    {{4, 12, 1, 16}, {4, 3, 1, 16}, 1, 4},
};

Attributes attributesOf(const Layout& layout) {
  Attributes attributes = with({{"axis", layout.axis}});
  if (layout.block > 0) attributes.set("block_size", layout.block);
  return attributes;
}

void expectSame(LooseNode& node, const std::vector<Ref<Tensor>>& inputs, DType result, const std::string& what) {
  const std::vector<OutputType> types{{result, inputs[0]->shape()}};
  const KernelRun expected = runOp(node.node(), inputs, types, "reference");
  for (const int lanes : {1, 3}) {
    const KernelRun actual = runOp(node.node(), inputs, types, {}, lanes);
    expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(what, " on ", lanes));
  }
}

// Numbers that lie between two integers of their scale or out of range, and what is no usual number.
Ref<Tensor> oddNumbers(Random& random, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kOdd[] = {NAN, kInfinity, -kInfinity, 3e38f, -3e38f, 1e-40f, -0.f, 12.8f, -12.8f, 100.f};
  const Ref<Tensor> tensor = randomTensor(random, DType::Float32, shape, -9, 9);
  auto* numbers = static_cast<float*>(tensor->mutableData());
  for (int64_t i = 0; i < tensor->count(); ++i) {
    if (random() % 3 == 0) numbers[i] = static_cast<float>(static_cast<int>(random() % 99)) * 0.025f;
    if (random() % 5 == 0) numbers[i] = kOdd[random() % std::size(kOdd)];
  }
  return tensor;
}

Ref<Tensor> oddScales(Random& random, const Shape& shape) {
  constexpr float kOdd[] = {0.05f, 0.05f, 0.05f, 1e-40f, 1e38f, -0.1f, 0.f, NAN};
  const Ref<Tensor> tensor = randomTensor(random, DType::Float32, shape, 0.01, 0.1);
  auto* numbers = static_cast<float*>(tensor->mutableData());
  for (int64_t i = 0; i < tensor->count(); ++i)
    if (random() % 2) numbers[i] = kOdd[random() % std::size(kOdd)];
  return tensor;
}

Ref<Tensor> wholeNumbers(Random& random, DType dtype, const Shape& shape) {
  const bool isSigned = dtype != DType::UInt8;
  return randomTensor(random, dtype, shape, isSigned ? -128 : 0, isSigned ? 127 : 255);
}

TEST(Quantize, ScalesOfNeighbours) {
  forEachTarget([] {
    Random random(1);
    for (const Layout& layout : kLayouts)
      for (const DType dtype : {DType::UInt8, DType::Int8, DType::Int16})
        for (const bool hasZero : {true, false}) {
          LooseNode node("QuantizeLinear", attributesOf(layout));
          if (!hasZero) node.node().attributes.set("output_dtype", onnxFromDType(dtype));
          std::vector<Ref<Tensor>> inputs{oddNumbers(random, layout.data), oddScales(random, layout.scales)};
          if (hasZero) inputs.push_back(wholeNumbers(random, dtype, layout.scales));
          expectSame(node, inputs, dtype, concat("to ", dtype, layout.data, " with ", layout.scales));
        }
  });
}

TEST(Quantize, DequantizeByScalesOfNeighbours) {
  forEachTarget([] {
    Random random(2);
    for (const Layout& layout : kLayouts)
      for (const DType dtype : {DType::UInt8, DType::Int8, DType::Int16})
        for (const bool hasZero : {true, false}) {
          LooseNode node("DequantizeLinear", attributesOf(layout));
          std::vector<Ref<Tensor>> inputs{wholeNumbers(random, dtype, layout.data),
                                          randomTensor(random, DType::Float32, layout.scales, 0.01, 0.1)};
          if (hasZero) inputs.push_back(wholeNumbers(random, dtype, layout.scales));
          expectSame(node, inputs, DType::Float32, concat("of ", dtype, layout.data, " with ", layout.scales));
        }
  });
}

}  // namespace
}  // namespace max::test
