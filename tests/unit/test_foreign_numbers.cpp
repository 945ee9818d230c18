// SPDX-License-Identifier: Apache-2.0
// Unusual numbers that a file or a caller may contain: bools beyond 1, NaN and huge numbers on their way to integers,
// sums past an integer's end, windows wider than all else, axes of nothing. All implementations of the operators take
// them alike; under a sanitizer, none does what C++ leaves open.
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/object.h"
#include "graph/composite.h"
#include "graph/schema.h"
#include "op_harness.h"

namespace max::test {
namespace {

using Ints = std::vector<int64_t>;

template <class T>
Ref<Tensor> tensorOf(DType dtype, const Shape& shape, const std::vector<T>& values) {
  return Tensor::copyOf(dtype, shape, values.data());
}

Ref<Tensor> zeros(DType dtype, const Shape& shape) { return Tensor::allocate(dtype, shape, true); }

// A node on constants, run by each implementation that takes it.
std::vector<std::vector<Ref<Tensor>>> runAll(std::string_view op, const std::vector<Ref<Tensor>>& inputs,
                                             Attributes attributes = {}, size_t outputs = 1,
                                             std::string_view domain = "") {
  const PoolScope scope;
  const Ref<Graph> graph = makeRef<Graph>();
  std::vector<Value*> values;
  std::vector<InputType> types;
  std::vector<Operand> operands, results;
  std::vector<const void*> sources;
  for (const Ref<Tensor>& input : inputs) {
    values.push_back(graph->addConstant(input));
    types.push_back({true, TensorType::of(input->dtype(), symbolic(input->shape())), input.get(), nullptr});
    operands.push_back({input->dtype(), input->shape(), input.get()});
    sources.push_back(input->data());
  }
  const Node* node = graph->addNode(domain, op, values, std::move(attributes), outputs, "n");
  for (const auto& output : inferNode(*node, nullptr, types))
    results.push_back({output.type.dtype, *concrete(output.type.dims), nullptr});
  std::vector<std::vector<Ref<Tensor>>> all;
  const OpRequest request{*node, operands, results, 1};
  for (const Implementation& implementation : cpuOperators().find(domain, op)->implementations) {
    if (implementation.accepts && !implementation.accepts(request)) continue;
    const auto kernel = implementation.create(request);
    all.emplace_back();
    std::vector<void*> targets;
    for (const Operand& result : results) {
      all.back().push_back(Tensor::allocate(result.dtype, result.shape));
      targets.push_back(all.back().back()->mutableData());
    }
    const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
    kernel->run({sources.data(), targets.data(), static_cast<std::byte*>(scratch->data()), 1});
  }
  EXPECT_FALSE(all.empty()) << op;
  return all;
}

std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.count(); ++i) numbers.push_back(numberAt(tensor, i));
  return numbers;
}

void expectAll(std::string_view op, const std::vector<double>& expected, const std::vector<Ref<Tensor>>& inputs,
               Attributes attributes = {}) {
  for (const auto& outputs : runAll(op, inputs, std::move(attributes)))
    EXPECT_EQ(numbersOf(*outputs[0]), expected) << op << " of " << nameOf(inputs[0]->dtype());
}

TEST(ForeignNumbers, AnyByteButZeroIsTrue) {
  const auto bytes = tensorOf<uint8_t>(DType::Bool, {4}, {2, 0, 255, 1});
  const auto ones = tensorOf<uint8_t>(DType::Bool, {4}, {1, 1, 1, 1});
  expectAll("Cast", {1, 0, 1, 1}, {bytes}, attributesOf({{"to", int64_t{7}}}));
  expectAll("Not", {0, 1, 0, 0}, {bytes});
  expectAll("And", {1, 0, 1, 1}, {bytes, ones});
  expectAll("Xor", {0, 1, 0, 0}, {bytes, ones});
  expectAll("Equal", {1, 0, 1, 1}, {bytes, ones});
  expectAll("Where", {5, 6, 5, 5},
            {bytes, tensorOf<int64_t>(DType::Int64, {1}, {5}), tensorOf<int64_t>(DType::Int64, {1}, {6})});
  const auto chosen = cpuOperators().find("", "Compress")->dynamic;
  const Ref<Graph> graph = makeRef<Graph>();
  const auto data = tensorOf<int64_t>(DType::Int64, {4}, {0, 1, 2, 3});
  const Node* node = graph->addNode("", "Compress", {graph->addConstant(data), graph->addConstant(bytes)}, {}, 1, "n");
  const Tensor* inputs[] = {data.get(), bytes.get()};
  EXPECT_EQ(numbersOf(*chosen(*node, std::span<const Tensor* const>(inputs))[0]), (std::vector<double>{0, 2, 3}));
}

TEST(ForeignNumbers, StringsOfAnyByte) {
  const PoolScope scope;
  const auto bytes = tensorOf<uint8_t>(DType::Bool, {2}, {2, 0});
  const std::string_view letters[] = {"a", "b"}, dash[] = {"-"};
  for (const auto& outputs : runAll("Where", {bytes, stringTensor(Shape{2}, letters), stringTensor(Shape{1}, dash)}))
    EXPECT_EQ(outputs[0]->count(), 2);
  for (const auto& outputs : runAll("Cast", {bytes}, attributesOf({{"to", int64_t{8}}})))
    EXPECT_EQ(outputs[0]->count(), 2);
}

// What lies outside of the region takes the attribute's value.
TEST(ForeignNumbers, NumbersThatAreNotIntegers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float value;
    DType dtype;
    double expected;
  };
  const Case cases[] = {{nan, DType::Int32, 0},    {1e30f, DType::Int32, INT32_MAX}, {-1e30f, DType::Int8, -128},
                        {nan, DType::UInt8, 0},    {nan, DType::Int64, 0},           {1e30f, DType::UInt8, 255},
                        {300, DType::UInt16, 300}, {-1e30f, DType::Int16, INT16_MIN}};
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const Case& one : cases) {
      const auto roi = tensorOf<float>(DType::Float32, {2}, {5, 6}), none = zeros(DType::Float32, {0});
      const auto sizes = tensorOf<int64_t>(DType::Int64, {1}, {2});
      expectAll("Resize", {one.expected, one.expected}, {zeros(one.dtype, {2}), roi, none, sizes},
                attributesOf({{"mode", mode},
                              {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                              {"extrapolation_value", one.value}}));
    }
}

TEST(ForeignNumbers, SumsPastTheEndWrap) {
  const auto largest = tensorOf<int64_t>(DType::Int64, {1, 2, 1}, {INT64_MAX, INT64_MAX});
  const auto block = tensorOf<int64_t>(DType::Int64, {1}, {2});
  expectAll("Col2Im", {double(INT64_MAX), double(INT64_MAX)}, {largest, block, block});
  const auto overlapping = tensorOf<int64_t>(DType::Int64, {1, 2, 2}, {1, 1, INT64_MAX, 1});
  const auto wider = tensorOf<int64_t>(DType::Int64, {1}, {3});
  expectAll("Col2Im", {1, double(INT64_MIN), 1}, {overlapping, wider, block});
  expectAll("CumSum", {double(INT64_MAX), -2},
            {tensorOf<int64_t>(DType::Int64, {2}, {INT64_MAX, INT64_MAX}), tensorOf<int64_t>(DType::Int64, {}, {0})});
  const Attributes far = attributesOf({{"k", INT64_MIN}});
  expectAll("EyeLike", {0, 0, 0, 0}, {zeros(DType::Float32, {2, 2})}, far);
  expectAll("EyeLike", {0, 0, 0, 0}, {zeros(DType::Int64, {2, 2})}, attributesOf({{"k", INT64_MAX}}));
}

TEST(ForeignNumbers, WindowsWiderThanAllElse) {
  const int64_t most = INT32_MAX;
  const auto image = tensorOf<float>(DType::Float32, {1, 1, 1, 1, 1}, {3});
  const auto wide = [&](std::string_view op, const Ints& kernel) {
    Attributes attributes =
        attributesOf({{"kernel_shape", kernel}, {"pads", Ints(6, most)}, {"strides", Ints(3, most)}});
    if (op == "AveragePool") attributes.set("count_include_pad", int64_t{1});
    return attributes;
  };
  for (const Ints& kernel : {Ints{most, 1, 1}, Ints{1, 1, most}, Ints{1 << 10, 1 << 10, 1 << 10}})
    for (const char* op : {"AveragePool", "MaxPool", "LpPool"})
      for (const auto& outputs : runAll(op, {image}, wide(op, kernel))) EXPECT_GT(outputs[0]->count(), 0);
  for (const char* op : {"AveragePool", "MaxPool"})
    for (const auto& outputs : runAll(op, {image}, wide(op, {most, 1, 1}), 1, kMaxDomain))
      EXPECT_GT(outputs[0]->count(), 0);
}

TEST(ForeignNumbers, AxesOfNothing) {
  const auto attributes =
      attributesOf({{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}, {"storage_order", int64_t{1}}});
  for (DType dtype : {DType::Float32, DType::Float16, DType::Int8})
    for (const auto& outputs : runAll("MaxPool", {zeros(dtype, {1, 1, 0, 3})}, attributes, 2))
      for (double index : numbersOf(*outputs[1])) EXPECT_EQ(index, 0);
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"})
    for (const auto& outputs : runAll(op, {zeros(DType::Float32, {3, 0})})) EXPECT_EQ(outputs[0]->count(), 0);
  for (const auto& outputs :
       runAll("LayerNormalization", {zeros(DType::Float32, {3, 0}), zeros(DType::Float32, {0})}, {}, 3))
    for (size_t i : {size_t{1}, size_t{2}})
      for (double number : numbersOf(*outputs[i])) EXPECT_TRUE(std::isnan(number));
}

// As weights lie in files.
TEST(ForeignNumbers, NeedNotBeAligned) {
  const std::vector<double> values{1, -2, 3};
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Int16, DType::Int64, DType::Float16}) {
    std::vector<std::byte> bytes(1 + values.size() * sizeOf(dtype));
    const Ref<Tensor> tensor = Tensor::allocate(dtype, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i)
      storeNumber(tensor->mutableData(), static_cast<int64_t>(i), dtype, values[i]);
    std::memcpy(bytes.data() + 1, tensor->data(), tensor->bytes());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(max::numberAt(dtype, bytes.data() + 1, static_cast<int64_t>(i)), values[i]) << nameOf(dtype);
  }
}

}  // namespace
}  // namespace max::test
