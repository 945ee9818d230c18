// SPDX-License-Identifier: Apache-2.0
// A target of the test's own: what compiles and runs for it uses its library and nothing of the CPU's.
#include <algorithm>

#include "executor_helpers.h"
#include "interpreter.h"
#include "ops/operator_library.h"
#include "weights_harness.h"

namespace max::test {
namespace {

// Runs every operator as constants are folded, and an expression step by step.
class PlainOp final : public OpKernel {
 public:
  explicit PlainOp(const OpRequest& request) : node_(request.node) {
    for (const Operand& input : request.inputs) inputs_.push_back(input);
  }

  void run(const OpContext& context) const override {
    lastPlace = context.place ? *context.place : OpPlace{};
    std::vector<Ref<Tensor>> tensors;
    for (size_t i = 0; i < inputs_.size(); ++i)
      tensors.push_back(Tensor::copyOf(inputs_[i].dtype, inputs_[i].shape, context.inputs[i]));
    const Ref<Tensor> result = node_.expression ? valueOf(*node_.expression, tensors) : valueOf(node_, tensors);
    std::memcpy(context.outputs[0], result->data(), result->bytes());
  }

  static OpPlace lastPlace;

 private:
  static Ref<Tensor> valueOf(const Node& node, const std::vector<Ref<Tensor>>& inputs) {
    std::vector<const Tensor*> pointers;
    for (const Ref<Tensor>& input : inputs) pointers.push_back(input.get());
    return evaluate(node, pointers).front();
  }

  static Ref<Tensor> valueOf(const Expression& expression, const std::vector<Ref<Tensor>>& inputs) {
    std::vector<Ref<Tensor>> made;
    for (const Expression::Step& step : expression.steps) {
      std::vector<Ref<Tensor>> operands;
      for (const Expression::Operand operand : step.operands) {
        using Kind = Expression::Operand::Kind;
        if (operand.kind == Kind::Input) operands.push_back(inputs.at(operand.index));
        if (operand.kind == Kind::Step) operands.push_back(made.at(operand.index));
        if (operand.kind == Kind::Omitted) operands.push_back(nullptr);
        if (operand.kind == Kind::Constant) {
          const Tensor& constant = *expression.constants.at(operand.index);
          operands.push_back(Tensor::copyOf(constant.dtype(), constant.shape(), constant.data()));
        }
      }
      Node node;
      node.schema = step.schema;
      node.attributes = step.attributes;
      Value output;
      node.outputs = {&output};
      made.push_back(valueOf(node, operands));
    }
    return made.back();
  }

  const Node& node_;
  std::vector<Operand> inputs_;
};

OpPlace PlainOp::lastPlace;

std::unique_ptr<OpKernel> createPlain(const OpRequest& request) { return std::make_unique<PlainOp>(request); }

const void* lastWeights = nullptr;

Ref<Prepared> noteWeights(const Node&, std::span<const Tensor* const> constants) {
  lastWeights = constants[1] ? constants[1]->data() : nullptr;
  return nullptr;
}

constexpr Implementation kPlain[] = {{"plain", nullptr, createPlain}};
constexpr OpRow kRows[] = {{"", "Add", kPlain},
                           {"", "Mul", kPlain},
                           {"", "Clip", kPlain},
                           {"", "Erf", kPlain},
                           {"", "MatMul", kPlain, noteWeights},
                           {kMaxDomain, "MatMul", kPlain, noteWeights},
                           {"", "Sum", kPlain},
                           {"", "Transpose", kPlain},
                           {kMaxDomain, "Elementwise", kPlain}};
constexpr std::span<const OpRow> kFamilies[] = {kRows};

class Lowered final : public Prepared {};

class PlainLibrary final : public OperatorLibrary {
 public:
  PlainLibrary() : OperatorLibrary("plain", kFamilies) {}

  bool canFuse(const Node& node) const override { return !node.is("Erf"); }
  size_t maxFusedInputs() const override { return 4; }
  Ref<Prepared> lower(const Expression& expression) const override {
    longest = std::max(longest, expression.steps.size());
    return expression.steps.size() <= maxSteps ? makeRef<Lowered>() : nullptr;
  }

  bool packsUnaligned(const Node&, std::span<const Tensor* const>) const override { return packsAnything; }

  bool packsAnything = false;
  size_t maxSteps = 8;
  mutable size_t longest = 0;
};

// (x * 2 + y) clipped at 4 from above, times itself.
Ref<Graph> chain() {
  Builder b;
  Value *x = b.input({3, 5}), *y = b.input({5});
  Value* sum = b.op("Add", {b.op("Mul", {x, b.scalar(2)}), y});
  Value* clipped = b.op("Clip", {sum, nullptr, b.scalar(4)});
  b.output(b.op("Mul", {clipped, clipped}));
  return b.graph;
}

std::vector<Ref<Tensor>> inputsOf(uint32_t seed) {
  Random random(seed);
  return {randomTensor({3, 5}, random), randomTensor({5}, random)};
}

TEST(OperatorLibrary, CompilerPlannerAndExecutorUseTheTargetsOwn) {
  const PlainLibrary library;
  Ref<Graph> graph = chain();
  const std::vector<Ref<Tensor>> inputs = inputsOf(1), expected = interpret(*chain(), inputs);
  compile(*graph, CompileOptions(library));
  EXPECT_EQ(operatorsOf(*graph), "max.Elementwise") << dump(*graph);
  EXPECT_EQ(library.longest, 4u);
  const Node& fused = *graph->nodes().front();
  EXPECT_TRUE(dynamic_cast<const Lowered*>(fused.prepared.get()));
  ASSERT_TRUE(bool(fused.expression));
  EXPECT_EQ(fused.expression->inputs.size(), 2u);
  EXPECT_EQ(fused.expression->constants.size(), 2u);

  RunSettings settings(1);
  settings.operators = &library;
  PlainOp::lastPlace = {};
  const Outputs results = run(PlannedProgram(graph, settings), inputs);
  EXPECT_EQ(std::memcmp(results[0].data(), expected[0]->data(), expected[0]->bytes()), 0);
  EXPECT_EQ(PlainOp::lastPlace.device, settings.device.get());
  EXPECT_EQ(PlainOp::lastPlace.stream, &settings.device->defaultStream());
}

TEST(OperatorLibrary, WhatTheTargetCannotLowerStaysAsItIs) {
  PlainLibrary library;
  library.maxSteps = 3;
  Ref<Graph> graph = chain();
  compile(*graph, CompileOptions(library));
  EXPECT_EQ(operatorsOf(*graph), "Add Clip Mul*2") << dump(*graph);
}

TEST(OperatorLibrary, WeightsAreCopiedUnlessTheTargetPacksThemWhereTheyLie) {
  PlainLibrary library;
  Random random(3);
  const Ref<Tensor> weights = unaligned(*randomTensor({5, 4}, random));
  for (const bool packsAnything : {false, true}) {
    library.packsAnything = packsAnything;
    Builder b;
    b.output(b.op("MatMul", {b.input({3, 5}), b.graph->addConstant(weights)}));
    compile(*b.graph, CompileOptions(library));
    EXPECT_NE(lastWeights, nullptr);
    EXPECT_EQ(lastWeights == weights->data(), packsAnything);
  }
}

TEST(OperatorLibrary, MissingOperatorsNameTheTarget) {
  const PlainLibrary library;
  EXPECT_EQ(library.find("", "Conv"), nullptr);
  Builder b;
  b.output(b.op("Relu", {b.input({3})}));
  RunSettings settings(1);
  settings.operators = &library;
  Random random(2);
  try {
    run(PlannedProgram(b.graph, settings), {randomTensor({3}, random)});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED);
    EXPECT_NE(error.message().find("no plain kernel for inputs (float32)"), std::string::npos) << error.message();
  }
}

TEST(OperatorLibrary, PortablePassesLeaveNothingOfATarget) {
  const PlainLibrary library;
  CompileOptions options(library);
  options.stopForStoring = true;
  Ref<Graph> graph = chain();
  compile(*graph, options);
  EXPECT_EQ(library.longest, 0u);
  for (const Node* node : graph->nodes()) EXPECT_FALSE(node->prepared || node->expression) << dump(*graph);
  options.stopForStoring = false;
  options.resumeStored = true;
  compile(*graph, options);
  EXPECT_EQ(operatorsOf(*graph), "max.Elementwise") << dump(*graph);
}

}  // namespace
}  // namespace max::test
