// SPDX-License-Identifier: Apache-2.0
// Long products whose parts are added up in another type, with everything that may follow a product.
#include "base/half.h"
#include "weights_harness.h"

namespace max {
namespace {

struct Case {
  int64_t rows, depth, columns;
  bool transB;
  bool constant;
  float alpha;
  const char* activation;
};

constexpr Case kCases[] = {
    {1, 2000, 1, false, false, 1, ""},        {1, 2000, 130, false, true, 1, "Relu"},
    {3, 1700, 50, true, false, 1, "Gelu"},    {40, 1000, 33, true, true, 2, "Relu"},
    {7, 3000, 65, false, true, 0.5f, "Tanh"}, {100, 900, 97, false, false, 1, ""},
    {100, 900, 97, false, true, 1, ""},       {5, 3000, 4, false, true, 1, "Relu"},
};

Ref<Tensor> run(Node& node, const Tensors& inputs, const Shape& shape, const Case& each, PartialSums type, int lanes) {
  std::vector<Operand> operands;
  std::vector<const void*> data;
  const std::vector<const Tensor*> known = {nullptr, inputs[1].get()};
  if (each.constant) node.prepared = cpuOperators().find(kMaxDomain, "MatMul")->prepare(node, known);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool isKnown = i == 1 && each.constant;
    operands.push_back({inputs[i]->dtype(), inputs[i]->shape(), isKnown ? inputs[i].get() : nullptr});
    data.push_back(inputs[i]->data());
  }
  const std::vector<Operand> outputs = {{DType::Float32, shape, nullptr}};
  OpSettings settings;
  settings.partialSums = type;
  const auto kernel = cpuOperators().create({node, operands, outputs, lanes, settings}, "gemm_f32");
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, shape);
  const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
  void* target = result->mutableData();
  kernel->run({data.data(), &target, static_cast<std::byte*>(scratch->data()), lanes});
  return result;
}

TEST(PartialSums, OfAnyTypeComeCloseToThoseOfFloats) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(3);
    for (const Case& each : kCases) {
      Attributes attributes;
      attributes.set("transB", int64_t{each.transB});
      attributes.set("alpha", each.alpha);
      if (*each.activation) attributes.set("activation", std::string(each.activation));
      NodeUnderTest node(kMaxDomain, "MatMul");
      node->attributes = attributes;
      const Shape out = {each.rows, each.columns};
      const Tensors inputs = {
          random.floats({each.rows, each.depth}),
          random.floats(each.transB ? Shape{each.columns, each.depth} : Shape{each.depth, each.columns}),
          random.floats({each.columns}), random.floats(out)};
      if (each.constant)  // weights that are kept as float16
        for (int64_t i = 0; i < inputs[1]->count(); ++i) {
          float& weight = static_cast<float*>(inputs[1]->mutableData())[i];
          weight = floatFromHalf(halfFromFloat(weight));
        }
      const Ref<Tensor> expected = run(*node, inputs, out, each, PartialSums::Float32, 1);
      struct Row {
        PartialSums type;
        float tolerance;
      };
      for (const Row& row :
           {Row{PartialSums::Float64, 2e-5f}, Row{PartialSums::Float16, 1e-2f}, Row{PartialSums::BFloat16, 6e-2f}}) {
        const Ref<Tensor> actual = run(*node, inputs, out, each, row.type, 3);
        expectNear(*actual, *expected, row.tolerance,
                   concat(nameOf(target), " depth ", each.depth, " sums ", static_cast<int>(row.type)));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

}  // namespace
}  // namespace max
