// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of float64 and int64, whose numbers no float32 has.
#include <vector>

#include "op_harness.h"

namespace max::test {
namespace {

// Also where results are tiny, end at infinity or stay at 1; the last ones do not fill a vector.
TEST(Doubles, FunctionsOfAnySize) {
  struct Row {
    const char* op;
    double (*function)(double);
  };
  const Row rows[] = {{"Exp", [](double x) { return std::exp(x); }},
                      {"Tanh", [](double x) { return std::tanh(x); }},
                      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }}};
  std::vector<double> numbers{0., -0., HUGE_VAL, -HUGE_VAL, NAN};
  for (const double x :
       {1e-300, 1e-20, 1e-5, 0.3, 1., 5., 18., 20., 37., 500., 700., 709.7, 710., 740., 746., 1e5, 1e300})
    numbers.insert(numbers.end(), {x, -x});
  forEachTarget([&] {
    for (const Row& row : rows) {
      const Shape shape{static_cast<int64_t>(numbers.size())};
      const Ref<Tensor> x = Tensor::copyOf(DType::Float64, shape, numbers.data());
      LooseNode node(row.op);
      const KernelRun run = runOp(node.node(), {x}, {{DType::Float64, shape}}, "elementwise");
      for (size_t i = 0; i < numbers.size(); ++i) {
        const double actual = run.outputs[0]->as<double>()[i], expected = row.function(numbers[i]);
        const bool isSame = actual == expected || (std::isnan(actual) && std::isnan(expected));
        EXPECT_TRUE(isSame || std::abs(actual - expected) <= 1e-15 * std::abs(expected) + 1e-307)
            << row.op << " of " << numbers[i] << " is " << actual << ", not " << expected;
      }
    }
  });
}

// Also what no vector of 32 bits has, in vectors that are not full.
TEST(Doubles, CastsOfSixtyFourBits) {
  const std::vector<double> doubles{0., -0., NAN, 5e-324, -1., 0.5, HUGE_VAL, 256., 0., 0., -1e300};
  const std::vector<int64_t> longs{0,   1, -1, INT64_MIN, INT64_MAX, (int64_t{1} << 53) + 1, int64_t{1} << 32,
                                   256, 0, 0,  3};
  const Shape shape{static_cast<int64_t>(doubles.size())};
  const auto cast = [&](const Ref<Tensor>& x, DType to) {
    LooseNode node("Cast", with({{"to", onnxFromDType(to)}}));
    return runOp(node.node(), {x}, {{to, shape}}, "elementwise").outputs[0];
  };
  forEachTarget([&] {
    const auto x = Tensor::copyOf(DType::Float64, shape, doubles.data());
    const auto k = Tensor::copyOf(DType::Int64, shape, longs.data());
    const auto truths = cast(x, DType::Bool), others = cast(k, DType::Bool), numbers = cast(k, DType::Float64);
    for (size_t i = 0; i < doubles.size(); ++i) {
      EXPECT_EQ(truths->as<uint8_t>()[i], doubles[i] != 0) << doubles[i];
      EXPECT_EQ(others->as<uint8_t>()[i], longs[i] != 0) << longs[i];
      EXPECT_EQ(numbers->as<double>()[i], static_cast<double>(longs[i])) << longs[i];
    }
  });
}

}  // namespace
}  // namespace max::test
