// SPDX-License-Identifier: Apache-2.0
// Nothing runs on types and sizes that its operator and the graph did not agree to, and nothing runs for nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "base/object.h"
#include "executor_helpers.h"
#include "graph/schema.h"
#include "ops/agreement.h"
#include "ops/operator_library.h"

namespace max {
namespace {

using test::floats;
using test::ints;
using test::Outputs;

template <class Function>
std::string failureOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_INVALID_ARGUMENT) << error.message();
    return error.message();
  }
  return "";
}

void expectIn(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in '" << text << "'";
}

// A node on inputs of these types, whose output the graph takes for something else.
struct Misled {
  Misled(std::string_view op, const std::vector<Ref<Tensor>>& inputs, const TensorType& type,
         Attributes attributes = {}) {
    std::vector<Value*> values;
    for (const Ref<Tensor>& input : inputs) {
      values.push_back(graph->addInput(concat("x", values.size()), TensorType::unranked(input->dtype())));
      tensors.push_back(input);
    }
    node = graph->addNode("", op, values, std::move(attributes), 1, "bad");
    node->output()->type = type;
    graph->addOutput(node->output(), "y");
    graph->sort();
  }
  std::string planned() const {
    return failureOf([&] { test::run(PlannedProgram(graph, 1), tensors); });
  }
  std::string evaluated() const {
    std::vector<const Tensor*> pointers;
    for (const Ref<Tensor>& tensor : tensors) pointers.push_back(tensor.get());
    return failureOf([&] { (void)evaluate(*node, pointers); });
  }

  Ref<Graph> graph = makeRef<Graph>();
  std::vector<Ref<Tensor>> tensors;
  Node* node;
};

TEST(Agreement, PlansAndFoldingHoldNodesToTheGraph) {
  const Ref<Tensor> x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Attributes toDouble, axis;
  toDouble.set("to", int64_t{11});
  axis.set("axis", int64_t{0});
  const Misled cases[] = {
      {"Add", {x, x}, TensorType::of(DType::Float32, {Dim(2), Dim(4)})},
      {"Neg", {x}, TensorType::of(DType::Float32, {Dim(6)})},
      {"Cast", {x}, TensorType::unranked(DType::Int64), toDouble},
      {"Concat", {x, x}, TensorType::of(DType::Float32, {}), axis},
      {"Identity", {x}, TensorType::of(DType::Sequence, {})},
      {"Transpose", {x}, TensorType::of(DType::Float32, {Dim(2), Dim(3)})},
      {"Reshape", {x, ints({1}, {6})}, TensorType::of(DType::Float32, {Dim(5)})},
      {"NonZero", {x}, TensorType::of(DType::Int64, {Dim(3), Dim(6)})},
      {"Compress", {x, Tensor::of<uint8_t>(DType::Bool, {2}, {1, 1})}, TensorType::unranked(DType::Float64)},
  };
  for (const Misled& misled : cases) {
    const std::string prefix = concat(misled.node->description(), ": output 0 is ");
    expectIn(prefix, misled.planned());
    expectIn("the graph has", misled.planned());
    expectIn(prefix, misled.evaluated());
  }
}

TEST(Agreement, OptionalsMayBeWhatTheyHold) {
  EXPECT_TRUE(isDeclared(TensorType::of(DType::Optional, {}), DType::Float32));
  EXPECT_TRUE(isDeclared(TensorType(), DType::Sequence));
  EXPECT_FALSE(isDeclared(TensorType::unranked(DType::Float32), DType::Optional));
  EXPECT_FALSE(isDeclared(TensorType::unranked(DType::Float32), DType::Sequence));
}

Inferred inferred(DType dtype, SymbolicShape shape) {
  return {{TensorType::of(dtype, std::move(shape)), std::nullopt}};
}

bool agrees(const Node& node, const Operand& input, const Inferred& outputs) {
  std::vector<Operand> operands;
  return agreeOnOutputs(node, {&input, 1}, outputs, operands);
}

TEST(Agreement, ViewsHaveTheElementsOfTheirInput) {
  const Ref<Tensor> x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  for (const char* op : {"Identity", "Flatten", "Squeeze"}) {
    const Ref<Graph> graph = makeRef<Graph>();
    const Node& node =
        *graph->addNode("", op, {graph->addInput("x", TensorType::unranked(DType::Float32))}, {}, 1, "bad");
    node.outputs[0]->type = TensorType();
    const Operand operand{x->dtype(), x->shape(), nullptr};
    EXPECT_TRUE(agrees(node, operand, inferred(DType::Float32, {Dim(3), Dim(2)})));
    for (const Inferred& other : {inferred(DType::Float32, {}), inferred(DType::Float32, {Dim(2), Dim(4)}),
                                  inferred(DType::Float64, {Dim(2), Dim(3)})})
      expectIn("cannot be viewed as", failureOf([&] { (void)agrees(node, operand, other); }));
  }
}

TEST(Agreement, UnknownShapesAreNotScalars) {
  const Ref<Graph> graph = makeRef<Graph>();
  for (const char* op : {"Neg", "Exp", "Softmax"}) {
    const Node& node = *graph->addNode("", op, {graph->addInput(op, TensorType::unranked(DType::Float32))});
    const Operand operand{DType::Float32, {}, nullptr};
    EXPECT_TRUE(agrees(node, operand, inferred(DType::Float32, {})));
    EXPECT_FALSE(agrees(node, operand, inferred(DType::Invalid, {})));
    EXPECT_FALSE(agrees(node, operand, {{TensorType::unranked(DType::Float32), std::nullopt}}));
    EXPECT_FALSE(agrees(node, operand, inferred(DType::Float32, {graph->dimTable().symbol("n")})));
  }
}

TEST(Agreement, SizesOfEmptyShapesAreNumbers) {
  constexpr int64_t kLong = int64_t{1} << 40;
  EXPECT_TRUE(isCountable({kLong, 0}));
  EXPECT_TRUE(isCountable({0, 3, kLong}));
  EXPECT_FALSE(isCountable({kLong, kLong, 0}));
  EXPECT_FALSE(isCountable({0, int64_t{1} << 60}));
  EXPECT_FALSE(isCountable({-1}));
}

// Operators of a program that count their runs and lie about what they make.
std::atomic<int> runs{0};
Ref<Tensor> made;

void inferLike(InferContext& context) { context.setOutputLike(0, 0); }
void inferList(InferContext& context) { context.setOutput(0, TensorType::of(DType::Int64, {context.unknownDim()})); }

class CountingOp final : public OpKernel {
 public:
  void run(const OpContext&) const override { ++runs; }
};
constexpr Implementation kCounting[] = {
    {"count", nullptr, [](const OpRequest&) -> std::unique_ptr<OpKernel> { return std::make_unique<CountingOp>(); }}};
std::vector<Ref<Tensor>> giveMade(const Node&, std::span<const Tensor* const>) { return {made}; }

void registerOperators() {
  static const bool isDone = [] {
    static const OpSchema schemas[] = {
        {"test", "Pure", 1, 1, 1, 1, "T->T; T=any", inferLike, kTraitNone, 0},
        {"test", "Effect", 1, 1, 1, 1, "T->T; T=any", inferLike, kTraitRandom, 0},
        {"test", "Liar", 1, 1, 1, 1, "any->*", inferList, kTraitDataDependent, 0},
    };
    for (const OpSchema& schema : schemas) registerSchema(schema);
    cpuOperators().add({"test", "Pure", kCounting});
    cpuOperators().add({"test", "Effect", kCounting});
    cpuOperators().add({"test", "Liar", {}, nullptr, giveMade});
    return true;
  }();
  EXPECT_TRUE(isDone);
}

Ref<Graph> graphOf(std::string_view op) {
  registerOperators();
  Ref<Graph> graph = makeRef<Graph>();
  Value* x = graph->addInput("x", TensorType::unranked(DType::Float32));
  graph->addOutput(graph->addNode("test", op, {x}, {}, 1, "bad")->output(), "y");
  graph->sort();
  return graph;
}

// Those that may have effects beside their outputs run, and only those.
TEST(Agreement, NothingRunsForOutputsWithoutElements) {
  const PlannedProgram pure(graphOf("Pure"), 1), effect(graphOf("Effect"), 1);
  const Ref<Tensor> something = floats({2}, {1, 2}), nothing = floats({int64_t{1} << 40, 0}, {});
  const auto runsOf = [&](const PlannedProgram& program, const Ref<Tensor>& x) {
    runs = 0;
    EXPECT_EQ(test::run(program, {x})[0].shape(), x->shape());
    return runs.load();
  };
  EXPECT_EQ(runsOf(pure, something), 1);
  EXPECT_EQ(runsOf(effect, something), 1);
  EXPECT_EQ(runsOf(pure, nothing), 0);
  EXPECT_EQ(runsOf(effect, nothing), 1);
  const Tensor* input = nothing.get();
  runs = 0;
  EXPECT_EQ(evaluate(*graphOf("Pure")->nodes()[0], {&input, 1})[0]->shape(), nothing->shape());
  EXPECT_EQ(runs, 0);
}

TEST(Agreement, ResultsAreWhatTheirOperatorPromises) {
  const Ref<Graph> graph = graphOf("Liar");
  const PlannedProgram program(graph, 1);
  const Ref<Tensor> x = floats({2}, {1, 2});
  const Tensor* input = x.get();
  const PoolScope scope;
  const auto failure = [&](Ref<Tensor> result) {
    made = std::move(result);
    const std::string text = failureOf([&] { test::run(program, {x}); });
    EXPECT_EQ(text.empty(), failureOf([&] { (void)evaluate(*graph->nodes()[0], {&input, 1}); }).empty());
    made.reset();
    return text;
  };
  EXPECT_EQ(failure(ints({2}, {1, 2})), "");
  EXPECT_EQ(failure(ints({3}, {1, 2, 3})), "");
  expectIn("output 0 is float32[2] at run time, but its operator has int64[", failure(floats({2}, {1, 2})));
  expectIn("output 0 is int64[] at run time", failure(ints({}, {1})));
  expectIn("output 0 is sequence[] at run time", failure(objectTensor(DType::Sequence, {})));
  expectIn("output 0 was not produced", failure(nullptr));
  EXPECT_EQ(failure(ints({2}, {1, 2})), "");
}

}  // namespace
}  // namespace max
