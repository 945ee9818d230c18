// SPDX-License-Identifier: Apache-2.0
// What docs/numerics.md says of NaN and infinity, for all floating-point types, implementations and CPU targets.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "op_harness.h"

namespace max::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

Ref<Tensor> tensorOf(DType dtype, const Shape& shape, const Numbers& values) {
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  for (int64_t i = 0; i < tensor->count(); ++i)
    storeNumber(tensor->mutableData(), i, dtype, values[static_cast<size_t>(i) % values.size()]);
  return tensor;
}

Ref<Tensor> row(DType dtype, const Numbers& values) {
  return tensorOf(dtype, {static_cast<int64_t>(values.size())}, values);
}

struct Call {
  const char* op;
  Attributes attributes;
  std::vector<Ref<Tensor>> inputs;
  std::vector<OutputType> outputs;
};

// Runs all implementations on all targets and looks at the numbers of the first output.
void expectNumbers(const Call& call, const std::function<bool(const Numbers&)>& isRight) {
  LooseNode node(call.op, call.attributes);
  int ran = 0;
  for (const Implementation& candidate : cpuOperators().find("", call.op)->implementations)
    forEachTarget([&] {
      KernelRun run;
      try {
        run = runOp(node.node(), call.inputs, call.outputs, candidate.name, 1, true);
      } catch (const Error& error) {
        ASSERT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED) << error.message();  // not for this type
        return;
      }
      Numbers numbers;
      for (int64_t i = 0; i < run.outputs[0]->count(); ++i) numbers.push_back(numberAt(*run.outputs[0], i));
      EXPECT_TRUE(isRight(numbers)) << call.op << " of " << nameOf(call.inputs[0]->dtype()) << ", " << candidate.name
                                    << ": " << testing::PrintToString(numbers);
      ++ran;
    });
  EXPECT_GT(ran, 0) << call.op;
}

void forEachFloat(const std::function<void(DType dtype)>& body) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) body(dtype);
}

// 37 numbers, the one in the middle NaN: more than a vector and its rest.
Numbers withNaN() {
  Numbers numbers(37, 1);
  numbers[18] = kNaN;
  return numbers;
}

bool isNaNInTheMiddle(const Numbers& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i)
    if (std::isnan(numbers[i]) != (i == 18)) return false;
  return numbers.size() == 37;
}

TEST(NaN, StaysInExtremes) {
  forEachFloat([](DType dtype) {
    const Ref<Tensor> x = row(dtype, withNaN()), zero = row(dtype, {0}), two = row(dtype, {2});
    const std::vector<OutputType> same{{dtype, {37}}};
    for (const char* op : {"Max", "Min"})
      for (const Ref<Tensor>& other : {zero, two}) {
        expectNumbers({op, {}, {x, other}, same}, isNaNInTheMiddle);
        expectNumbers({op, {}, {other, x}, same}, isNaNInTheMiddle);
      }
    expectNumbers({"Clip", {}, {x, tensorOf(dtype, {}, {0}), tensorOf(dtype, {}, {2})}, same}, isNaNInTheMiddle);
    expectNumbers({"Relu", {}, {x}, same}, isNaNInTheMiddle);
    const Ref<Tensor> axis = Tensor::of<int64_t>(DType::Int64, {1}, {0});
    for (const char* op : {"ReduceMax", "ReduceMin"})
      expectNumbers({op, {}, {x, axis}, {{dtype, {1}}}}, [](const Numbers& found) { return std::isnan(found[0]); });
  });
}

TEST(NaN, IsAboveAllNumbersInTopK) {
  forEachFloat([](DType dtype) {
    const Ref<Tensor> x = row(dtype, {3, kNaN, kInfinity, -1}), k = Tensor::of<int64_t>(DType::Int64, {1}, {4});
    const std::vector<OutputType> outputs{{dtype, {4}}, {DType::Int64, {4}}};
    expectNumbers({"TopK", {}, {x, k}, outputs}, [](const Numbers& found) {
      return std::isnan(found[0]) && found[1] == kInfinity && found[2] == 3 && found[3] == -1;
    });
    expectNumbers({"TopK", with({{"largest", int64_t{0}}}), {x, k}, outputs}, [](const Numbers& found) {
      return found[0] == -1 && found[1] == 3 && found[2] == kInfinity && std::isnan(found[3]);
    });
  });
}

TEST(NaN, IsARowOfSoftmaxWhoseLargestElementIsInfinite) {
  const auto isNaN = [](const Numbers& found) {
    return std::all_of(found.begin(), found.end(), [](double number) { return std::isnan(number); });
  };
  forEachFloat([&](DType dtype) {
    Numbers up(37, 1), down(37, -kInfinity);
    up[18] = kInfinity;
    for (const char* op : {"Softmax", "LogSoftmax"})
      for (const Numbers& numbers : {up, down})
        expectNumbers({op, with({{"axis", int64_t{0}}}), {row(dtype, numbers)}, {{dtype, {37}}}}, isNaN);
  });
}

// Whatever its bits; and where float32 ends.
TEST(NaN, StaysThatInExponentials) {
  const uint32_t patterns[] = {0x7fc00000, 0x7f800001, 0x7fffffff, 0xffffffff, 0xff800001, 0x7fc00101, 0xffd5aaab};
  for (const char* op : {"Exp", "Sigmoid", "Elu"}) {
    const Ref<Tensor> x = Tensor::allocate(DType::Float32, {7 * 9});
    auto* bits = static_cast<uint32_t*>(x->mutableData());
    for (int64_t i = 0; i < x->count(); ++i) bits[i] = patterns[i % 7];
    expectNumbers({op, {}, {x}, {{DType::Float32, x->shape()}}}, [](const Numbers& found) {
      return std::all_of(found.begin(), found.end(), [](double number) { return std::isnan(number); });
    });
  }
  const Numbers ends = {88.7228317, 88.7228394, 1e30, kInfinity, -87.33654, -87.34, -104, -1e30, -kInfinity};
  expectNumbers({"Exp", {}, {row(DType::Float32, ends)}, {{DType::Float32, {9}}}}, [](const Numbers& found) {
    const auto isNear = [](double number, double expected) { return std::abs(number / expected - 1) < 1e-5; };
    const auto isSmall = [](double number) { return number >= 0 && number < 1.18e-38; };
    return isNear(found[0], 3.4028e38) && found[1] == kInfinity && found[2] == kInfinity && found[3] == kInfinity &&
           isNear(found[4], 1.17549e-38) && std::all_of(found.begin() + 5, found.end(), isSmall);
  });
}

TEST(NaN, BecomesTheLowestNumberWhenQuantised) {
  forEachFloat([](DType dtype) {
    for (const auto& [integer, lowest] : {std::pair{DType::Int8, -128.}, {DType::UInt8, 0.}, {DType::Int16, -32768.}}) {
      const Ref<Tensor> scale = tensorOf(dtype, {}, {0.5}), zero = tensorOf(integer, {}, {3});
      if (dtype == DType::Float64) continue;  // the standard has no such scale
      expectNumbers({"QuantizeLinear", {}, {row(dtype, withNaN()), scale, zero}, {{integer, {37}}}},
                    [&, low = lowest](const Numbers& found) { return found[18] == low && found[17] == 5; });
    }
  });
}

}  // namespace
}  // namespace max::test
