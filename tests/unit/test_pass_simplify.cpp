// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

namespace max::test {
namespace {

TEST(Fold, ConstantsBecomeConstants) {
  const auto build = [](Builder& b) {
    Value* sum = b.op("Add", {b.scalar(2), b.scalar(3)});
    b.output(b.op("Add", {b.input({4}), sum}));
  };
  EXPECT_EQ(compileAndCompare(build, {{4}}), "Add");
}

TEST(Fold, SmallFileMakesNoLargeTensor) {
  Builder b;
  Value* huge = b.op("ConstantOfShape", {b.ints({1 << 12, 1 << 12})});
  b.output(b.op("Add", {huge, b.input({1})}));
  compile(*b.graph, withoutFusion());
  EXPECT_EQ(operatorsOf(*b.graph), "Add ConstantOfShape");
}

TEST(Fold, FailingNodeStaysForRunTime) {
  Builder b;
  Value* gathered = b.op("Gather", {b.random({3, 2}), b.ints({7})});
  b.output(b.op("Add", {gathered, b.input({1, 2})}));
  EXPECT_NO_THROW(compile(*b.graph, withoutFusion()));
  EXPECT_EQ(operatorsOf(*b.graph), "Add Gather");
}

// PyTorch's exporter writes torch.arange as the places of ones, and a view with strides as Gather from sums of such.
TEST(Fold, PlacesOfOnesVanish) {
  const auto build = [](Builder& b) {
    Value* ones = b.op("ConstantOfShape", {b.ints({3})}, attrs({{"value", b.scalar(1)->constant}}));
    Value* places = b.op("Transpose", {b.op("NonZero", {ones})}, attrs({{"perm", std::vector<int64_t>{1, 0}}}));
    Value* numbers = b.op("Squeeze", {places, b.ints({1})});
    b.output(b.op("Gather", {b.input({5}), b.op("Add", {numbers, b.ints({1})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{5}}), "Gather");
}

TEST(Fold, ManyPlacesAreNotStored) {
  Builder b;
  Value* places = b.op("NonZero", {b.op("ConstantOfShape", {b.ints({1 << 21})})});
  b.output(b.op("Add", {places, b.input({1, 1}, DType::Int64)}));
  compile(*b.graph, withoutFusion());
  EXPECT_EQ(operatorsOf(*b.graph), "Add ConstantOfShape NonZero");
}

TEST(Fold, ShapeArithmeticVanishes) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("batch"), b.symbol("sequence"), 24});
    Value* shape = b.op("Shape", {x});
    Value* batch = b.op("Gather", {shape, b.ints({0})}, attrs({{"axis", int64_t{0}}}));
    Value* sequence = b.op("Gather", {shape, b.ints({1})}, attrs({{"axis", int64_t{0}}}));
    Value* target = b.op("Concat", {batch, sequence, b.ints({4}), b.ints({6})}, attrs({{"axis", int64_t{0}}}));
    b.output(b.op("Relu", {b.op("Reshape", {x, target})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 24}}), "Relu Reshape");
}

TEST(Movement, EmptyPartsOfAConcatVanishAlongItsAxisOnly) {
  const auto build = [](int64_t axis) {
    return [=](Builder& b) {
      Value* x = b.input({b.symbol("n"), 3});
      Value* empty = b.op("ConstantOfShape", {b.ints({0, 3})});
      b.output(b.op("Relu", {b.op("Concat", {empty, x}, attrs({{"axis", axis}}))}));
    };
  };
  EXPECT_EQ(compileAndCompare(build(0), {{2, 3}}), "Relu");
  EXPECT_EQ(compileAndCompare(build(-2), {{2, 3}}), "Relu");
  EXPECT_EQ(compileAndCompare(build(1), {{0, 3}}), "Concat Relu");
}

TEST(Inline, ConstantConditionInlinesItsBranch) {
  const auto build = [](Builder& b) {
    Value* x = b.input({3});
    Ref<Graph> thenBranch = makeRef<Graph>(*b.graph, "then");
    thenBranch->addOutput(thenBranch->addNode("", "Relu", {x})->output());
    Ref<Graph> elseBranch = makeRef<Graph>(*b.graph, "else");
    elseBranch->addOutput(elseBranch->addNode("", "Neg", {x})->output());
    const bool yes = true;
    Value* condition = b.graph->addConstant(Tensor::copyOf(DType::Bool, Shape(), &yes));
    b.output(b.op("If", {condition}, attrs({{"then_branch", thenBranch}, {"else_branch", elseBranch}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{3}}), "Relu");
}

TEST(Simplify, OperatorsWithoutEffectVanish) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 4});
    Value* y = b.op("Identity", {x});
    y = b.op("Cast", {y}, attrs({{"to", int64_t{1}}}));
    y = b.op("Mul", {y, b.scalar(1)});
    y = b.op("Add", {b.scalar(0), y});
    y = b.op("Reshape", {y, b.ints({0, 3, 4})});
    y = b.op("Transpose", {y}, attrs({{"perm", list({0, 1, 2})}}));
    y = b.op("Slice", {y, b.ints({0}), b.ints({INT64_MAX}), b.ints({1})});
    y = b.op("Pad", {y, b.ints({0, 0, 0, 0, 0, 0})});
    y = b.op("Concat", {y}, attrs({{"axis", int64_t{1}}}));
    b.output(b.op("Relu", {y}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 4}}), "Relu");
}

TEST(Simplify, DropoutVanishes) {
  Builder b;
  b.output(b.op("Relu", {b.op("Dropout", {b.input({3})})}));
  compile(*b.graph, withoutFusion());
  EXPECT_EQ(operatorsOf(*b.graph), "Relu");
}

TEST(Simplify, OutputStaysAValueOfItsOwn) {
  const auto build = [](Builder& b) {
    Value* x = b.input({3});
    b.output(b.op("Identity", {x}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3}}), "Identity");
}

TEST(Simplify, NegativeStepIsNotDropped) {
  const auto build = [](Builder& b) {
    Value* x = b.input({5});
    b.output(b.op("Slice", {x, b.ints({-1}), b.ints({INT64_MIN}), b.ints({0}), b.ints({-1})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{5}}), "Slice");
}

TEST(Simplify, TransposesJoinAndCancel) {
  const auto build = [](Builder& b) {
    Value* x = b.input({2, 3, 4});
    Value* y = b.op("Transpose", {x}, attrs({{"perm", list({1, 2, 0})}}));
    y = b.op("Transpose", {y}, attrs({{"perm", list({2, 0, 1})}}));
    b.output(b.op("Relu", {y}));
    Value* z = b.op("Transpose", {x}, attrs({{"perm", list({1, 2, 0})}}));
    b.output(b.op("Transpose", {z}, attrs({{"perm", list({1, 2, 0})}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 4}}), "Relu Transpose");
}

TEST(Simplify, ViewsJoinAndSinkBelowArithmetic) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 6, 5, 1});
    Value* y = b.op("Squeeze", {x, b.ints({3})});
    y = b.op("Add", {y, b.random({1, 6, 1})});
    y = b.op("Mul", {y, b.scalar(3)});
    y = b.op("Unsqueeze", {y, b.ints({3})});
    b.output(b.op("Relu", {y}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6, 5, 1}}), "Add Mul Relu");
}

TEST(Simplify, ReshapeSinksWithVectorOverKeptDimensions) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 6, 5});
    Value* y = b.op("Reshape", {x, b.ints({-1, 2, 3, 5})});
    y = b.op("Add", {y, b.random({5})});
    b.output(b.op("Reshape", {y, b.ints({0, 30})}));
    Value* z = b.op("Reshape", {x, b.ints({-1, 2, 3, 5})});
    b.output(b.op("Add", {z, b.random({3, 5})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6, 5}}), "Add*2 Reshape*2");
}

TEST(Simplify, ExpandBeforeBroadcastVanishes) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 6});
    Value* mean = b.op("ReduceMax", {x, b.ints({1})}, attrs({{"keepdims", int64_t{0}}}));
    Value* shape = b.op("Shape", {x});
    Value* n = b.op("Slice", {shape, b.ints({0}), b.ints({1}), b.ints({0})});
    Value* column = b.op("Concat", {n, b.ints({1})}, attrs({{"axis", int64_t{0}}}));
    Value* y = b.op("Expand", {b.op("Reshape", {mean, column}), column});
    b.output(b.op("Sub", {x, b.op("Expand", {y, shape})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6}}), "ReduceMax Sub");
}

TEST(Simplify, SumTimesReciprocalIsMean) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8, 3});
    Value* sum = b.op("ReduceSum", {x, b.ints({1})}, attrs({{"keepdims", int64_t{0}}}));
    b.output(b.op("Mul", {sum, b.scalar(0.125f)}));
    b.output(b.op("Div", {b.op("ReduceSum", {x, b.ints({2})}), b.scalar(3)}));
    b.output(b.op("Mul", {b.op("ReduceSum", {x, b.ints({2})}), b.scalar(0.3f)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 8, 3}}), "Mul ReduceMean*2 ReduceSum Squeeze");
}

TEST(Simplify, PowersAndScales) {
  const auto build = [](Builder& b) {
    Value* x = b.input({5});
    b.output(b.op("Pow", {x, b.scalar(2)}));
    b.output(b.op("Pow", {b.op("Abs", {x}), b.scalar(0.5f)}));
    b.output(b.op("Mul", {b.op("Div", {b.op("Mul", {x, b.scalar(3)}), b.scalar(4)}), b.scalar(5)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{5}}), "Abs Mul*2 Sqrt");
}

// The second Relu of a block whose first one and whose other input leave nothing below zero.
TEST(Simplify, ReluOfNoNegativesVanishes) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Relu", {b.input({4})});
    Value* block = b.op("Relu", {b.op("Add", {x, b.op("Relu", {b.op("Sub", {x, b.random({4})})})})});
    b.output(b.op("Relu", {b.op("Mul", {block, b.op("Sigmoid", {block})})}));
    b.output(b.op("Relu", {b.op("Add", {block, b.op("Tanh", {b.op("Sub", {block, b.random({4}, 9, 10)})})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{4}}), "Add*2 Relu*3 Sub*2 Swish Tanh");
}

TEST(Simplify, BadPermutationOfUnknownRankIsLeftAlone) {
  Builder b;
  Value* x = b.graph->addInput("x", TensorType::unranked(DType::Float32));
  Value* y = b.op("Transpose", {x}, attrs({{"perm", list({0, 7})}}));
  b.output(b.op("Transpose", {y}, attrs({{"perm", list({3, 3})}})));
  EXPECT_NO_THROW(compile(*b.graph, withoutFusion()));
  EXPECT_EQ(operatorsOf(*b.graph), "Transpose*2");
}

TEST(Merge, EqualNodesAndConstantsBecomeOne) {
  const auto build = [](Builder& b) {
    Value* x = b.input({5});
    Value* y = b.input({5});
    Value* a = b.op("Add", {b.op("Add", {x, y}), b.scalar(2)});
    Value* c = b.op("Add", {b.scalar(2), b.op("Add", {y, x})});
    b.output(b.op("Mul", {a, c}));
  };
  EXPECT_EQ(compileAndCompare(build, {{5}, {5}}), "Add*2 Mul");
}

// PyTorch's exporter gives each further call of a module its weights through an Identity.
TEST(Merge, IdentitiesOfOneWeightAreOneWeight) {
  const auto build = [](Builder& b) {
    Value* x = b.input({2, 80});
    Value* weight = b.random({80, 3});
    Value* again = b.op("MatMul", {x, b.op("Identity", {weight})});
    b.output(b.op("Mul", {b.op("MatMul", {x, weight}), b.op("Exp", {again})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 80}}), "Exp Mul max.MatMul");
}

TEST(Merge, RandomNodesStayApart) {
  Builder b;
  const Attributes shape = attrs({{"shape", list({3})}});
  b.output(b.op("Sub", {b.op("RandomNormal", {}, shape), b.op("RandomNormal", {}, shape)}));
  compile(*b.graph, withoutFusion());
  EXPECT_EQ(operatorsOf(*b.graph), "RandomNormal*2 Sub");
}

TEST(Compile, WithoutOptimisationNothingChanges) {
  CompileOptions options;
  options.optimise = false;
  const auto build = [](Builder& b) { b.output(b.op("Identity", {b.op("Mul", {b.input({2}), b.scalar(1)})})); };
  EXPECT_EQ(compileAndCompare(build, {{2}}, options), "Identity Mul");
}

TEST(Compile, PassesCanBeDisabledByName) {
  CompileOptions options = withoutFusion();
  options.disabledPasses.push_back("simplify");
  const auto build = [](Builder& b) { b.output(b.op("Mul", {b.input({2}), b.scalar(1)})); };
  EXPECT_EQ(compileAndCompare(build, {{2}}, options), "Mul");
}

TEST(Compile, NodesKnowTheirSources) {
  Builder b;
  Value* x = b.input({2, 4});
  Node* product = b.graph->addNode("", "MatMul", {x, b.random({4, 3})}, {}, 1, "fc");
  Node* sum = b.graph->addNode("", "Add", {product->output(), b.random({3})}, {}, 1, "fc_bias");
  b.output(sum->output());
  compile(*b.graph, withoutFusion());
  ASSERT_EQ(operatorsOf(*b.graph), "max.MatMul");
  EXPECT_EQ(b.graph->nodes()[0]->sources, (std::vector<std::string>{"fc", "fc_bias"}));
}

}  // namespace
}  // namespace max::test
