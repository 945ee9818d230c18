// SPDX-License-Identifier: Apache-2.0
// Long sums against sums in long double: how far rounding errors add up, relative to the sum of the magnitudes, on
// every CPU target and with every implementation; docs/numerics.md states the bounds.
#include <algorithm>
#include <utility>

#include "op_harness.h"

namespace max::test {
namespace {

constexpr double kFloat32Bound = 1e-6, kFloat64Bound = 2e-14;

struct LongSum {
  const char* op;
  Shape a, b;  // b: rank 0 = none
  Shape output;
  int64_t terms;
  // The term of output element i: indices into a and b.
  std::pair<int64_t, int64_t> (*term)(const LongSum& sum, int64_t i, int64_t k);
  bool isMean = false;
};

std::pair<int64_t, int64_t> productTerm(const LongSum& sum, int64_t i, int64_t k) {
  const int64_t columns = sum.output[1];
  return {i / columns * sum.terms + k, k * columns + i % columns};
}
std::pair<int64_t, int64_t> rowTerm(const LongSum& sum, int64_t i, int64_t k) { return {i * sum.terms + k, 0}; }
std::pair<int64_t, int64_t> columnTerm(const LongSum& sum, int64_t i, int64_t k) {
  return {k * sum.output.count() + i, 0};
}
// One pixel, whose channels and neighbours are all summed up.
std::pair<int64_t, int64_t> pixelTerm(const LongSum& sum, int64_t i, int64_t k) { return {k, i * sum.terms + k}; }

const LongSum kSumsToTry[] = {
    {"MatMul", {3, 40}, {40, 5}, {3, 5}, 40, productTerm},
    {"MatMul", {2, 5000}, {5000, 35}, {2, 35}, 5000, productTerm},
    {"MatMul", {33, 3000}, {3000, 2}, {33, 2}, 3000, productTerm},
    {"Gemm", {5, 4000}, {4000, 17}, {5, 17}, 4000, productTerm},
    {"ReduceSum", {7, 9001}, {}, {7, 1}, 9001, rowTerm},
    {"ReduceSum", {1, 400003}, {}, {1, 1}, 400003, rowTerm},
    {"ReduceMean", {3, 50000}, {}, {3, 1}, 50000, rowTerm, true},
    {"ReduceSum", {6000, 37}, {}, {1, 37}, 6000, columnTerm},
    {"Conv", {1, 512, 3, 3}, {6, 512, 3, 3}, {1, 6, 1, 1}, 512 * 9, pixelTerm},
    {"GlobalAveragePool", {1, 3, 200, 150}, {}, {1, 3, 1, 1}, 30000, rowTerm, true},
};

std::vector<Ref<Tensor>> inputsOf(const LongSum& sum, DType dtype, double low) {
  Random random(11);
  std::vector<Ref<Tensor>> inputs{randomTensor(random, dtype, sum.a, low, 1)};
  if (sum.b.rank() > 0) inputs.push_back(randomTensor(random, dtype, sum.b, low, 1));
  if (std::string_view(sum.op).starts_with("Reduce"))
    inputs.push_back(Tensor::of<int64_t>(DType::Int64, {1}, {sum.term == columnTerm ? 0 : 1}));
  return inputs;
}

// The largest error of an element.
double errorOf(const LongSum& sum, const std::vector<Ref<Tensor>>& inputs, const Tensor& actual) {
  double worst = 0;
  for (int64_t i = 0; i < actual.count(); ++i) {
    long double exact = 0, magnitude = 0;
    for (int64_t k = 0; k < sum.terms; ++k) {
      const auto [a, b] = sum.term(sum, i, k);
      const long double left = numberAt(*inputs[0], a), right = sum.b.rank() > 0 ? numberAt(*inputs[1], b) : 1;
      exact += left * right;
      magnitude += std::fabs(left * right);
    }
    const long double terms = sum.isMean ? static_cast<long double>(sum.terms) : 1;
    worst = std::max(worst, static_cast<double>(std::fabs(numberAt(actual, i) - exact / terms) / (magnitude / terms)));
  }
  return worst;
}

void check(const LongSum& sum, DType dtype, double low, double bound) {
  LooseNode node(sum.op);
  const std::vector<Ref<Tensor>> inputs = inputsOf(sum, dtype, low);
  for (const Implementation& candidate : cpuOperators().find("", sum.op)->implementations) {
    KernelRun run;
    try {
      run = runOp(node.node(), inputs, {{dtype, sum.output}}, candidate.name, 2, true);
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED) << error.message();  // not for this type
      continue;
    }
    const double error = errorOf(sum, inputs, *run.outputs[0]);
    EXPECT_LE(error, bound) << sum.op << " of " << sum.terms << " terms from " << low << " to 1, " << nameOf(dtype)
                            << ", " << candidate.name;
  }
}

TEST(Accuracy, OfLongSums) {
  forEachTarget([] {
    for (const LongSum& sum : kSumsToTry)
      for (const double low : {-1., 0.}) {
        check(sum, DType::Float32, low, kFloat32Bound);
        check(sum, DType::Float64, low, kFloat64Bound);
      }
  });
}

// The parts in which threads add up do not depend on their number.
TEST(Accuracy, BitsDoNotDependOnTheNumberOfThreads) {
  for (const LongSum& sum : kSumsToTry) {
    LooseNode node(sum.op);
    const std::vector<Ref<Tensor>> inputs = inputsOf(sum, DType::Float32, -1);
    const auto run = [&](int lanes) {
      return runOp(node.node(), inputs, {{DType::Float32, sum.output}}, {}, lanes, true).outputs[0];
    };
    const Ref<Tensor> one = run(1);
    for (const int lanes : {2, 3, 8})
      EXPECT_EQ(std::memcmp(one->data(), run(lanes)->data(), one->bytes()), 0) << sum.op << ", " << lanes << " threads";
  }
}

}  // namespace
}  // namespace max::test
