// SPDX-License-Identifier: Apache-2.0
// What plans look like: steps, places, memory.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "executor/run.h"
#include "executor_helpers.h"
#include "interpreter.h"
#include "random_numbers.h"

namespace max {
namespace {

Ref<Plan> planOf(const Program& program, const std::vector<Ref<Tensor>>& inputs) {
  std::vector<TensorArg> arguments;
  for (const Ref<Tensor>& input : inputs) arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
  return makePlan(program, arguments);
}

Ref<Tensor> zeros(const Shape& shape) { return Tensor::allocate(DType::Float32, shape, true); }

TEST(Plan, ShapeArithmeticAndViewsTakeNoSteps) {
  Ref<Graph> graph = makeRef<Graph>();
  Dim n = graph->dimTable().symbol("n");
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {n, Dim(4)}));
  Value* y = graph->addNode("", "Softmax", {x})->output();
  Value* shape = graph->addNode("", "Shape", {y})->output();
  Value* zero = graph->addConstant(Tensor::of<int64_t>(DType::Int64, {1}, {0}));
  Value* rows = graph->addNode("", "Gather", {shape, zero})->output();
  Value* two = graph->addConstant(Tensor::of<int64_t>(DType::Int64, {2}, {2, 2}));
  Attributes axis;
  axis.set("axis", int64_t{0});
  Value* target = graph->addNode("", "Concat", {rows, two}, axis)->output();
  Value* viewed = graph->addNode("", "Reshape", {y, target})->output();
  graph->addOutput(graph->addNode("", "Softmax", {viewed})->output());
  graph->sort();
  const Program program(graph, 1, 0);
  const Ref<Plan> plan = planOf(program, {zeros({5, 4})});
  EXPECT_EQ(plan->steps.size(), 2u);
  EXPECT_EQ(plan->outputs.at(0).shape, Shape({5, 2, 2}));
  EXPECT_EQ(plan->boundary.kind, Boundary::End);
}

TEST(Plan, ChainsNeedNoMoreMemoryThanTheyHold) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* value = graph->addInput("x", TensorType::of(DType::Float32, {Dim(64), Dim(16)}));
  for (int i = 0; i < 20; ++i) {
    Attributes permutation;
    permutation.set("perm", std::vector<int64_t>{1, 0});
    value = graph->addNode("", "Transpose", {value}, permutation)->output();
  }
  graph->addOutput(value);
  graph->sort();
  const Program program(graph, 1, 0);
  const Ref<Plan> plan = planOf(program, {zeros({64, 16})});
  EXPECT_EQ(plan->steps.size(), 20u);
  if (!kForbidsMemory) {
    EXPECT_LE(plan->arenaBytes, 2u * 64 * 16 * sizeof(float));
  }
}

TEST(Plan, ElementwiseStepsWorkInPlaceUpToTheOutput) {
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::of(DType::Float32, {Dim(1000)}));
  Value* value = x;
  for (int i = 0; i < 10; ++i) value = graph->addNode("", "Neg", {value})->output();
  graph->addOutput(value);
  graph->sort();
  const Program program(graph, 1, 0);
  const Ref<Plan> plan = planOf(program, {zeros({1000})});
  EXPECT_EQ(plan->steps.size(), 10u);
  EXPECT_EQ(plan->arenaBytes, 0u);
}

TEST(Plan, ConstantsBecomeOutputsByCopies) {
  Ref<Graph> graph = makeRef<Graph>();
  graph->addOutput(graph->addConstant(zeros({3})));
  graph->sort();
  const Program program(graph, 1, 0);
  const Ref<Plan> plan = planOf(program, {});
  EXPECT_EQ(plan->steps.size(), 1u);
}

// A graph of one input [rows, columns].
struct OneInput {
  OneInput(int64_t rows, int64_t columns) {
    input = graph->addInput("x", TensorType::of(DType::Float32, {Dim(rows), Dim(columns)}));
  }
  Value* add(const char* op, std::vector<Value*> inputs) { return graph->addNode("", op, inputs)->output(); }
  Value* concat(std::vector<Value*> inputs, int64_t axis) {
    Attributes attributes;
    attributes.set("axis", axis);
    return graph->addNode("", "Concat", inputs, attributes)->output();
  }
  Node* halves(Value* value, int64_t axis) {
    Attributes attributes;
    attributes.set("axis", axis);
    attributes.set("num_outputs", int64_t{2});
    return graph->addNode("", "Split", {value}, attributes, 2);
  }
  Ref<Plan> plan() {
    graph->sort();
    const Ref<Program> program = makeRef<Program>(graph, 1, 0);  // kept by its plan
    return planOf(*program, {zeros(Shape({input->type.dims[0].value(), input->type.dims[1].value()}))});
  }

  void expectWhatNodesGive() {
    const Ref<Tensor> x = zeros(Shape({input->type.dims[0].value(), input->type.dims[1].value()}));
    for (int64_t k = 0; k < x->shape().count(); ++k) static_cast<float*>(x->mutableData())[k] = static_cast<float>(k);
    const std::vector<Ref<Tensor>> expected = test::interpret(*graph, {x});
    const test::Outputs got = test::run(PlannedProgram(graph, 1), {x});
    for (size_t i = 0; i < expected.size(); ++i)
      for (int64_t k = 0; k < expected[i]->shape().count(); ++k)
        EXPECT_FLOAT_EQ(got[i].as<float>()[k], expected[i]->as<float>()[k]) << "output " << i;
  }

  Ref<Graph> graph = makeRef<Graph>();
  Value* input;
};

// What the steps of one operator copy in one block each, and how much of that has two places.
struct Copied {
  size_t parts = 0;
  size_t moved = 0;
};

Copied copiedBy(const Plan& plan, const char* op) {
  Copied found;
  for (const Step& step : plan.steps) {
    if (!step.node || step.node->op() != op) continue;
    for (const CopiedPart& part : step.kernel->parts()) {
      Location from = plan.table[step.inputs + part.input], to = plan.table[step.outputs + part.output];
      (from.kind == Location::Arena ? from.index : from.offset) += part.inputOffset;
      (to.kind == Location::Arena ? to.index : to.offset) += part.outputOffset;
      ++found.parts;
      if (!(from == to)) ++found.moved;
    }
  }
  return found;
}

TEST(Plan, PartsOfAConcatAreMadeInIt) {
  OneInput source(4, 16);
  Value* first = source.add("Neg", {source.add("Softmax", {source.input})});
  Value* nested = source.concat({source.add("Abs", {source.input}), source.add("Exp", {source.input})}, 0);
  Value* joined = source.concat({first, nested}, 0);
  source.graph->addOutput(source.add("Softmax", {joined}));
  source.graph->addOutput(joined);
  const Copied copied = copiedBy(*source.plan(), "Concat");
  EXPECT_EQ(copied.parts, 4u);
  EXPECT_EQ(copied.moved, 0u);
}

TEST(Plan, SplitsAreViews) {
  OneInput source(4, 32);
  Node* given = source.halves(source.input, 0);
  Node* made = source.halves(source.add("Softmax", {source.input}), 0);
  for (size_t i = 0; i < 2; ++i) source.graph->addOutput(source.add("Add", {given->output(i), made->output(1 - i)}));
  const Ref<Plan> plan = source.plan();
  EXPECT_EQ(copiedBy(*plan, "Split").parts, 4u);
  EXPECT_EQ(copiedBy(*plan, "Split").moved, 0u);
  source.expectWhatNodesGive();
}

TEST(Plan, PartsThatCannotShareAreCopied) {
  OneInput source(4, 16);
  Value* made = source.add("Softmax", {source.input});
  Value* twice = source.concat({made, made, source.input}, 0);  // one of the two can be in its place
  source.graph->addOutput(source.add("Softmax", {twice}));
  EXPECT_EQ(copiedBy(*source.plan(), "Concat").moved, 2u);

  OneInput unaligned(3, 5);
  Value* parts =
      unaligned.concat({unaligned.add("Abs", {unaligned.input}), unaligned.add("Exp", {unaligned.input})}, 0);
  unaligned.graph->addOutput(unaligned.add("Softmax", {parts}));
  EXPECT_EQ(copiedBy(*unaligned.plan(), "Concat").moved, 1u);
}

// Random graphs of operators that differ in how they use memory, against node-by-node evaluation.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    graph_ = makeRef<Graph>();
    n_ = graph_->dimTable().symbol("n");
    for (const char* name : {"a", "b"}) values_.push_back(graph_->addInput(name, type()));
    for (int i = 0; i < 25; ++i) values_.push_back(next());
    for (int i = 0; i < 4; ++i) graph_->addOutput(pick(), "out" + std::to_string(i));
    graph_->addOutput(values_.back(), "last");
    if (!joined_.empty()) graph_->addOutput(joined_[random_() % joined_.size()], "joined");
    graph_->eraseDead();
    graph_->sort();
  }
  const Ref<Graph>& graph() const { return graph_; }

 private:
  TensorType type() { return TensorType::of(DType::Float32, {n_, n_}); }
  Value* pick() { return values_[random_() % values_.size()]; }
  Value* next() {
    switch (random_() % 8) {
      case 6:
      case 7:
        return half();
      case 0:
        return graph_->addNode("", "Add", {pick(), pick()})->output();
      case 1:
        return graph_->addNode("", "Neg", {pick()})->output();
      case 2: {
        Attributes permutation;
        permutation.set("perm", std::vector<int64_t>{1, 0});
        return graph_->addNode("", "Transpose", {pick()}, permutation)->output();
      }
      case 3:
        return graph_->addNode("", "Identity", {pick()})->output();
      case 4:
        return graph_->addNode("", "Softmax", {pick()})->output();
      default: {
        Value* source = pick();
        Value* shape = graph_->addNode("", "Shape", {pick()})->output();
        return graph_->addNode("", "Reshape", {source, shape})->output();
      }
    }
  }

  // Of two values that are joined, now or before.
  Value* half() {
    Attributes rows;
    rows.set("axis", int64_t{0});
    Value* whole = joined_.empty() || random_() % 2 ? graph_->addNode("", "Concat", {pick(), pick()}, rows)->output()
                                                    : joined_[random_() % joined_.size()];
    joined_.push_back(random_() % 2 ? whole : graph_->addNode("", "Neg", {whole})->output());
    rows.set("num_outputs", int64_t{2});
    return graph_->addNode("", "Split", {joined_.back()}, rows, 2)->output(random_() % 2);
  }

  Random random_;
  Ref<Graph> graph_;
  Dim n_;
  std::vector<Value*> values_;
  std::vector<Value*> joined_;  // twice as many rows
};

TEST(Plan, RandomGraphsAndShapesGiveWhatTheirNodesGive) {
  Random random(7);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomGraph source(seed);
    const PlannedProgram program(source.graph(), 2);
    for (int round = 0; round < 4; ++round) {
      const int64_t n = round == 0 ? 8 : static_cast<int64_t>(random() % 9);
      std::vector<Ref<Tensor>> inputs;
      for (int i = 0; i < 2; ++i) {
        inputs.push_back(Tensor::allocate(DType::Float32, {n, n}));
        fillUniform(random, static_cast<float*>(inputs.back()->mutableData()), n * n, -1, 1);
      }
      const test::Outputs got = test::run(program, inputs);
      const std::vector<Ref<Tensor>> expected = test::interpret(*source.graph(), inputs);
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(got[i].shape(), expected[i]->shape()) << "seed " << seed;
        for (int64_t k = 0; k < got[i].shape().count(); ++k)
          ASSERT_NEAR(got[i].as<float>()[k], expected[i]->as<float>()[k], 1e-5) << "seed " << seed << " output " << i;
      }
    }
  }
}

}  // namespace
}  // namespace max
