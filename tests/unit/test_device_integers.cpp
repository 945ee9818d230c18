// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of 8-bit integers on accelerators: the same results as on the CPU, to the bit. The tests'
// environment names fake drivers, where the instructions of matrix units are emulated.
#include "compiler/compile.h"
#include "device/device_registry.h"
#include "device_helpers.h"
#include "interpreter.h"
#include "op_harness.h"
#include "ops/gpu/gpu_operators.h"

namespace max::test {
namespace {

class DeviceIntegers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (deviceCount(GetParam()) == 0) GTEST_SKIP() << "there is no accelerator";
    device_ = openDevice(GetParam(), 0);
  }

  // Bytes of the whole range.
  Ref<Tensor> bytes(DType dtype, const Shape& shape) {
    Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
    auto* to = static_cast<uint8_t*>(tensor->mutableData());
    for (int64_t i = 0; i < tensor->count(); ++i) to[i] = static_cast<uint8_t>(random_());
    return tensor;
  }
  Ref<Tensor> words(const Shape& shape) {
    Ref<Tensor> tensor = Tensor::allocate(DType::Int32, shape);
    auto* to = static_cast<int32_t*>(tensor->mutableData());
    for (int64_t i = 0; i < tensor->count(); ++i) to[i] = static_cast<int32_t>(uniform(random_, -90000, 90000));
    return tensor;
  }
  Ref<Tensor> scales(const Shape& shape, float about) {
    Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
    auto* to = static_cast<float*>(tensor->mutableData());
    for (int64_t i = 0; i < tensor->count(); ++i) to[i] = about * static_cast<float>(uniform(random_, 0.8, 1.2));
    return tensor;
  }

  // `constants`: a bit for each input that the model has.
  void check(const char* op, const std::vector<Ref<Tensor>>& inputs, uint64_t constants, const char* kernel,
             const Attributes& attributes = {}, std::string_view domain = "") {
    std::string trace = op;
    for (const Ref<Tensor>& input : inputs)
      if (input) trace += concat(' ', input->dtype(), input->shape());
    SCOPED_TRACE(trace);
    Builder b, exact;
    std::vector<Value*> values, exactValues;
    std::vector<Ref<Tensor>> given;
    std::vector<const Tensor*> pointers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      pointers.push_back(inputs[i].get());
      values.push_back(nullptr);
      exactValues.push_back(nullptr);
      if (!inputs[i]) continue;
      const TensorType type = TensorType::of(inputs[i]->dtype(), symbolic(inputs[i]->shape()));
      exactValues.back() = exact.graph->addInput(concat("x", i), type);
      const bool isConstant = (constants >> i & 1) != 0;
      if (!isConstant) given.push_back(inputs[i]);
      values.back() = isConstant ? b.graph->addConstant(inputs[i]) : b.graph->addInput(concat("x", i), type);
    }
    const Ref<Tensor> expected = evaluate(*exact.graph->addNode(domain, op, exactValues, attributes), pointers).at(0);
    b.output(b.graph->addNode(domain, op, values, attributes)->output());
    b.graph->sort();
    CompileOptions options;
    options.accelerator = device_.get();
    compile(*b.graph, options);
    int found = 0;
    for (const Node* node : b.graph->nodes())
      found += node->placed && static_cast<const Placed&>(*node->placed).kernels().front() == std::string_view(kernel);
    EXPECT_EQ(found, 1) << kernel;
    const PlannedProgram program(b.graph, RunSettings(1, nullptr, {device_}));
    const Ref<Tensor> actual = runThere(program, *device_, given).at(0);
    ASSERT_EQ(actual->shape(), expected->shape());
    for (int64_t i = 0; i < expected->count(); ++i)
      ASSERT_EQ(numberAt(*actual, i), numberAt(*expected, i)) << "at " << i;
  }

  void checkMatrix(const Shape& a, DType aType, const Shape& b, DType bType, const std::vector<Ref<Tensor>>& zeros,
                   bool isConstant) {
    std::vector<Ref<Tensor>> inputs = {bytes(aType, a), bytes(bType, b)};
    inputs.insert(inputs.end(), zeros.begin(), zeros.end());
    check("MatMulInteger", inputs, isConstant ? 0b10 : 0, "gpu_integer_matmul");
  }

  void checkConv(const Shape& x, DType xType, const Shape& w, DType wType, const char* kernel,
                 const std::vector<int64_t>& strides, int64_t groups = 1, int64_t dilation = 1) {
    const size_t axes = strides.size();
    const Attributes attributes = attrs({{"strides", list(strides)},
                                         {"pads", list(std::vector<int64_t>(2 * axes, 1))},
                                         {"dilations", list(std::vector<int64_t>(axes, dilation))},
                                         {"group", groups}});
    check("QLinearConv",
          {bytes(xType, x), scales({}, 0.02f), bytes(xType, {}), bytes(wType, w), scales({w[0]}, 0.01f),
           bytes(wType, {w[0]}), scales({}, 0.9f), bytes(xType, {}), words({w[0]})},
          0b111111110, kernel, attributes);
  }

  // Channels last, as the compiler has them: results are multiplied by a number of their filter, and another one joins.
  void checkFactors(const Shape& x, DType type, const Shape& w, const char* kernel) {
    const Shape filters{w[0]};
    const auto numbers = [&](double most) { return randomTensor(random_, DType::Float32, filters, -most, most); };
    check("QLinearConv",
          {bytes(type, x), scales({}, 0.02f), bytes(type, {}), bytes(DType::Int8, w), scales(filters, 0.01f),
           bytes(DType::Int8, {}), scales({}, 0.9f), bytes(type, {}), words(filters), nullptr, nullptr, nullptr,
           scales({}, 0.7f), bytes(type, {}), numbers(20), numbers(1.5)},
          0xf1fe, kernel, attrs({{"pads", list({1, 1, 1, 1})}}), kMaxDomain);
  }

  Ref<MaxDevice> device_;
  Random random_{9};
};

// Each form of tiles, with sizes that fill them and sizes that do not; long sums are added in parts.
TEST_P(DeviceIntegers, Matrices) {
  const auto u8 = DType::UInt8, s8 = DType::Int8;
  const auto both = [&](int64_t rows, int64_t columns) {
    return std::vector<Ref<Tensor>>{bytes(u8, {rows}), bytes(s8, {columns})};
  };
  checkMatrix({64, 64}, u8, {64, 64}, s8, both(64, 64), true);
  checkMatrix({2, 40, 45}, u8, {45, 83}, s8, both(1, 83), true);
  checkMatrix({7, 80}, u8, {80, 136}, s8, both(7, 1), true);
  checkMatrix({1, 5000}, u8, {5000, 18}, s8, both(1, 18), true);
  checkMatrix({1100, 40}, u8, {40, 1410}, s8, both(1, 1), true);
  checkMatrix({37, 45}, s8, {45, 51}, u8, {}, false);
  checkMatrix({3, 2, 5, 16}, s8, {2, 16, 20}, u8, {}, false);
  checkMatrix({48}, s8, {48, 20}, u8, {}, false);
  checkMatrix({5, 0}, s8, {0, 4}, u8, {}, false);
}

TEST_P(DeviceIntegers, QuantizedMatrices) {
  const auto u8 = DType::UInt8;
  for (const int64_t depth : {33, 4800})
    check("QLinearMatMul",
          {bytes(u8, {2, 9, depth}), scales({}, 0.02f), bytes(u8, {}), bytes(DType::Int8, {depth, 21}),
           scales({21}, 0.01f), bytes(DType::Int8, {21}), scales({}, 0.4f), bytes(u8, {})},
          0b11111110, "gpu_integer_matmul");
}

// Pixels that are read by pieces and ones that are not, groups, and sums in parts; then few channels of a group.
TEST_P(DeviceIntegers, Convolutions) {
  const auto u8 = DType::UInt8, s8 = DType::Int8;
  const char *product = "gpu_integer_conv_product", *plain = "gpu_integer_conv";
  checkConv({2, 16, 9, 7}, u8, {24, 16, 3, 3}, s8, product, {1, 1});
  checkConv({1, 3, 20, 21}, u8, {17, 3, 7, 7}, s8, product, {2, 2});
  checkConv({2, 12, 8, 9}, u8, {32, 6, 3, 2}, s8, product, {1, 1}, 2, 2);
  checkConv({1, 600, 4, 4}, u8, {9, 600, 3, 3}, s8, product, {1, 1});
  checkConv({1, 16, 90, 140}, u8, {130, 16, 1, 1}, s8, product, {1, 1});
  checkConv({1, 8, 5, 6}, u8, {8, 1, 3, 3}, s8, plain, {1, 1}, 8);
  check("ConvInteger", {bytes(s8, {2, 24, 6, 5}), bytes(u8, {8, 24, 3, 2}), bytes(s8, {}), bytes(u8, {8})}, 0b1110,
        product, attrs({{"strides", list({3, 1})}, {"pads", list({2, 1, 1, 0})}}));
}

// In products, in sums of their parts, and where a thread computes an element.
TEST_P(DeviceIntegers, FactorsOfFilters) {
  for (const DType type : {DType::UInt8, DType::Int8}) {
    checkFactors({2, 9, 7, 16}, type, {24, 16, 3, 3}, "gpu_integer_conv_product");
    checkFactors({1, 4, 4, 600}, type, {9, 600, 3, 3}, "gpu_integer_conv_product");
    checkFactors({2, 9, 7, 16}, type, {3, 16, 3, 3}, "gpu_integer_conv");
  }
}

INSTANTIATE_TEST_SUITE_P(Apis, DeviceIntegers, testing::Values("cuda", "hip"));

}  // namespace
}  // namespace max::test
