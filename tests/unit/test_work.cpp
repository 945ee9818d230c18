// SPDX-License-Identifier: Apache-2.0
// Estimates of work: what windows, products and unknown operators are taken for; and what plans do ahead of their time.
#include <gtest/gtest.h>

#include "base/load_budget.h"
#include "compiler/compile.h"
#include "executor/planner.h"
#include "graph/graph.h"
#include "ops/work.h"

namespace max {
namespace {

template <class Count>
auto countOf(Count count, std::string_view op, const std::vector<Shape>& shapes, const Attributes& attributes,
             const Shape& result, std::string_view domain = "") {
  OpSchema schema{};
  schema.domain = domain;
  schema.name = op;
  Node node;
  node.schema = &schema;
  node.attributes = attributes;
  std::vector<Operand> inputs;
  for (const Shape& shape : shapes) inputs.push_back({DType::Float32, shape, nullptr});
  const Operand output{DType::Float32, result, nullptr};
  return count(node, std::span<const Operand>(inputs), std::span<const Operand>(&output, 1));
}

std::optional<uint64_t> workOf(std::string_view op, std::vector<Shape> shapes, const Attributes& attributes = {},
                               const Shape& result = {1000}, std::string_view domain = "") {
  return countOf(estimateWork, op, shapes, attributes, result, domain);
}

Attributes with(std::string_view name, Attribute value) {
  Attributes attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

TEST(Work, WindowsCountForEachElement) {
  const Attributes window = with("kernel_shape", std::vector<int64_t>{300, 50});
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    EXPECT_GE(*workOf(op, {{1000}}, window), 15'000'000u) << op;
  EXPECT_GE(*workOf("LRN", {{1000}}, with("size", int64_t{50000})), 50'000'000u);
}

TEST(Work, ProductsCountTheirSums) {
  EXPECT_GE(*workOf("MatMul", {{100, 5000}, {5000, 10}}), 5'000'000u);
  EXPECT_GE(*workOf("Gemm", {{5000, 100}, {5000, 10}}, with("transA", int64_t{1})), 5'000'000u);
  EXPECT_GE(*workOf("Conv", {{1, 8, 100}, {10, 8, 70}}), 560'000u);
  EXPECT_GE(*workOf("ConvTranspose", {{1, 8, 100}, {8, 10, 70}}), 560'000u);
}

TEST(Work, MultiplicationsOfProductsAreExact) {
  const auto multiplications = [](std::string_view op, const std::vector<Shape>& shapes, const Shape& result,
                                  const Attributes& attributes = {}, std::string_view domain = "") {
    return countOf(countMultiplications, op, shapes, attributes, result, domain);
  };
  EXPECT_EQ(multiplications("MatMul", {{3, 4, 5}, {5, 6}}, {3, 4, 6}), 3u * 4 * 5 * 6);
  EXPECT_EQ(multiplications("Gemm", {{5, 4}, {5, 6}, {6}}, {4, 6}, with("transA", int64_t{1})), 4u * 5 * 6);
  EXPECT_EQ(multiplications("MatMulInteger", {{4, 5}, {5, 6}}, {4, 6}, {}, kMaxDomain), 4u * 5 * 6);
  EXPECT_EQ(multiplications("Conv", {{1, 8, 10, 10}, {16, 4, 3, 3}}, {1, 16, 8, 8}), 16u * 64 * 4 * 9);
  EXPECT_EQ(multiplications("ConvTranspose", {{1, 8, 10}, {8, 5, 2}}, {1, 5, 20}), 80u * 5 * 2);
  EXPECT_EQ(multiplications("LSTM", {{7, 2, 5}, {1, 12, 5}, {1, 12, 3}}, {7, 1, 2, 3}), 7u * 2 * 12 * (5 + 3));
  EXPECT_EQ(multiplications("Softmax", {{10}}, {10}), 0u);
  const std::vector<Shape> expand = {{1, 10, 10, 4}, {24, 4, 1, 1}, {24, 1, 3, 3}};
  EXPECT_EQ(multiplications("ExpandConv", expand, {1, 8, 8, 24}, {}, kMaxDomain), 100u * 4 * 24 + 64 * 24 * 9);
  const std::vector<Shape> heads = {{1, 2, 5, 8}, {1, 2, 11, 8}, {1, 2, 11, 4}};
  EXPECT_EQ(multiplications("Attention", heads, {1, 2, 5, 4}, {}, kMaxDomain), 2u * 5 * 11 * (8 + 4));
}

TEST(Work, SelectionsReadWhatTheyReturn) {
  EXPECT_EQ(countOf(countBytes, "Add", {{100}, {1}}, {}, {100}), 804u);
  EXPECT_EQ(countOf(countBytes, "Gather", {{1000, 10}, {2}}, {}, {2, 10}), 168u);
  EXPECT_EQ(countOf(countBytes, "Gather", {{2}, {50}}, {}, {50}), 408u);
}

TEST(Work, OthersCountTheirElements) {
  EXPECT_EQ(*workOf("Add", {{1000}, {1}}), *workOf("Add", {{1000}, {1}}, {}, {1000}, "some.extension"));
  EXPECT_EQ(*workOf("Add", {{1000}, {1}}), *workOf("Mul", {{1000}, {1}}));
  EXPECT_LT(*workOf("Transpose", {{10, 100}}), 10'000u);
}

TEST(Work, TheLargestNumberIsTheEnd) {
  EXPECT_EQ(*workOf("MaxPool", {{1}}, with("kernel_shape", std::vector<int64_t>{INT64_MAX, INT64_MAX})), UINT64_MAX);
  EXPECT_EQ(*workOf("Add", {{int64_t{1} << 40, int64_t{1} << 40}}), UINT64_MAX);
}

TEST(Work, WorkOfBodiesIsUnknown) {
  EXPECT_FALSE(workOf("Loop", {{1}}));
  EXPECT_FALSE(workOf("ImageDecoder", {{1}}));
}

// A pool over ones of the shape of x.
Ref<Graph> poolOfOnes(std::string_view op) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {Dim(1), Dim(1), graph->dimTable().symbol("n")}));
  Value* shape = graph->addNode("", "Shape", {x})->output();
  Value* ones = graph->addNode("", "ConstantOfShape", {shape})->output();
  Attributes window;
  window.set("kernel_shape", std::vector<int64_t>{8001});
  window.set("pads", std::vector<int64_t>{4000, 4000});
  graph->addOutput(graph->addNode("", op, {ones}, std::move(window))->output(), "y");
  graph->sort();
  return graph;
}

TEST(Work, PlansLeaveLongWorkToTheRun) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    const Program program(poolOfOnes(op), 1, 0);
    for (const int64_t size : {int64_t{50}, int64_t{8001}}) {
      const int64_t dims[] = {1, 1, size};
      const TensorArg input{DType::Float32, dims, nullptr};
      const Ref<Plan> plan = makePlan(program, {&input, 1});
      const bool isEvaluated = plan->steps.size() == 1 && !plan->steps[0].node;  // the output is copied from a constant
      EXPECT_EQ(isEvaluated, size == 50) << op << size;
    }
  }
}

TEST(Work, BudgetsEnd) {
  LoadBudget budget(1000);
  EXPECT_FALSE(budget.tryTakeWork(uint64_t{1} << 40));
  budget.addWorkFor(uint64_t{1} << 40);
  EXPECT_TRUE(budget.tryTakeWork(uint64_t{1} << 40));
  EXPECT_THROW(budget.takeMemory(uint64_t{1} << 40), Error);
}

TEST(Work, ChargesGiveBack) {
  LoadBudget budget(0);
  const LoadBudgetScope scope(&budget);
  for (int i = 0; i < 10; ++i) {
    MemoryCharge charge;
    charge.add(uint64_t{50} << 20);
    EXPECT_THROW(charge.add(uint64_t{50} << 20), Error);
  }
}

}  // namespace
}  // namespace max
