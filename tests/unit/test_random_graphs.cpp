// SPDX-License-Identifier: Apache-2.0
// Optimised and unoptimised graphs give the same: hundreds of random graphs, run by the executor for several shapes.
//
// A failure names its seed; --gtest_random_seed=SEED runs that one alone. --gtest_repeat=N goes on to other seeds.
#include "compiler/compile.h"
#include "executor/run.h"
#include "executor_helpers.h"
#include "random_graph_steps.h"

namespace max::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint32_t kGraphs = 150;
#else
constexpr uint32_t kGraphs = 2000;
#endif
constexpr int kRounds = 3;

// What reordered sums and other 16-bit steps may change, relative to 1 + the largest element of the tensor; the bounds
// are those of docs/numerics.md.
double toleranceOf(DType dtype, double largest) {
  if (dtype == DType::Float16) return 2e-3 * (1 + largest);
  return isFloat(dtype) ? 2e-5 * (1 + largest) : 0;
}

double largestOf(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) largest = std::max(largest, std::fabs(numberAt(tensor, i)));
  return largest;
}

void compareTensors(const Tensor& actual, const Tensor& expected) {
  ASSERT_EQ(actual.dtype(), expected.dtype());
  ASSERT_EQ(concat(actual.shape()), concat(expected.shape()));
  const double tolerance = toleranceOf(expected.dtype(), largestOf(expected));
  for (int64_t i = 0; i < expected.count(); ++i) {
    const double a = numberAt(actual, i), e = numberAt(expected, i);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    ASSERT_NEAR(a, e, tolerance) << "element " << i;
  }
}

Ref<Graph> compiled(uint32_t seed, bool optimise) {
  Ref<Graph> graph = GraphSource(seed).build(static_cast<int>(seed % 24) + 4, steps::kAll);
  CompileOptions options;
  options.optimise = optimise;
  compile(*graph, options);
  return graph;
}

// Graphs that fail at run time (a step met sizes that do not fit) fail in both forms, or in the plain one alone.
bool runBoth(const PlannedProgram& plain, const PlannedProgram& optimised, const std::vector<Ref<Tensor>>& inputs,
             size_t outputCount) {
  Outputs expected;
  try {
    expected = run(plain, inputs);
  } catch (const Error&) {
    return false;
  }
  const Outputs actual = run(optimised, inputs);
  for (size_t i = 0; i < outputCount; ++i) {
    SCOPED_TRACE(concat("output ", i));
    compareTensors(actual[i], expected[i]);
  }
  return true;
}

using Operators = std::map<std::string, int>;

void countOperators(const Graph& graph, Operators& operators) {
  for (const Node* node : graph.nodes()) ++operators[concat(node->domain(), ".", node->op())];
}

// Whether the graph ran. Counts the operators that are left of it.
bool check(uint32_t seed, Operators& operators) {
  const Ref<Graph> plain = compiled(seed, false), optimised = compiled(seed, true);
  countOperators(*optimised, operators);
  SCOPED_TRACE(concat("seed ", seed, "\n", dump(*plain), "optimised:\n", dump(*optimised)));
  const PlannedProgram plainProgram(plain, 1), optimisedProgram(optimised, 2);
  bool ran = true;
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) try {
      ran &= runBoth(plainProgram, optimisedProgram, GraphSource::inputs(*plain, seed, round), plain->outputs().size());
    } catch (const Error& error) {
      ADD_FAILURE() << "only the optimised graph fails: " << error.message();
    }
  return ran;
}

TEST(RandomGraphs, OptimisingChangesNothing) {
  static uint32_t next = 0;
  Operators operators;
  if (const auto seed = static_cast<uint32_t>(GTEST_FLAG_GET(random_seed))) {
    check(seed, operators);
    return;
  }
  uint32_t ran = 0;
  const uint32_t first = next;
  for (next = first + 1; next <= first + kGraphs && !HasFailure(); ++next) ran += check(next, operators);
  if (HasFailure()) return;
  EXPECT_GT(ran, kGraphs * 9 / 10) << "too many graphs fail at run time";
  // What the passes make shows that they met their patterns.
  for (const char* name : {"max.MatMul", "max.Conv", "max.MaxPool", "max.AveragePool", "max.Attention",
                           "max.Elementwise", "max.AddLayerNormalization", ".LayerNormalization", ".If", ".Loop",
                           ".TopK", ".Softmax", ".Transpose", ".Reshape"})
    EXPECT_GT(operators[name], 0) << name;
}

}  // namespace
}  // namespace max::test
