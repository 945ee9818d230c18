// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/new_file.h"
#include "compiler/rewrite.h"
#include "executor_helpers.h"
#include "interpreter.h"

namespace max::test {
namespace {

TEST(Compiler, PassesHaveNamesAndRequiredOnesAlwaysRun) {
  bool prepares = false;
  for (const Pass& pass : passes()) {
    EXPECT_FALSE(pass.name.empty());
    EXPECT_FALSE(pass.summary.empty());
    prepares |= pass.name == "prepare" && pass.required;
  }
  EXPECT_TRUE(prepares);
}

TEST(Compiler, ProgressIsReportedAndMayEndTheCompilation) {
  Builder b;
  b.output(b.op("Relu", {b.input({3})}));
  CompileOptions options;
  int count = 0;
  options.userData = &count;
  options.onPass = [](void* data, std::string_view) { ++*static_cast<int*>(data); };
  compile(*b.graph, options);
  EXPECT_EQ(count, static_cast<int>(passes().size()));
  options.onPass = [](void*, std::string_view) { fail(MAX_STATUS_CANCELLED, "cancelled"); };
  EXPECT_THROW(compile(*b.graph, options), Error);
}

TEST(Compiler, RuleThatFailsLeavesTheGraph) {
  Builder b;
  b.output(b.op("Relu", {b.input({3})}));
  const CompileOptions options;
  Rewriter rewriter(*b.graph, options);
  const Rule rules[] = {{"", "Relu", [](Rewriter& r, Node& node) {
                           Attributes attributes;
                           attributes.set("perm", std::vector<int64_t>{0, 5});
                           return r.replace(&node,
                                            r.add("", "Transpose", {node.input(0)}, attributes, {&node})->output());
                         }}};
  EXPECT_NO_THROW(applyRules(rewriter, rules));
  EXPECT_EQ(operatorsOf(*b.graph), "Relu");
}

TEST(Compiler, FaultsOfRulesAreReported) {
  Builder b;
  b.output(b.op("Relu", {b.input({3})}));
  const CompileOptions options;
  Rewriter rewriter(*b.graph, options);
  const Rule rules[] = {{"", "Relu", [](Rewriter&, Node&) -> bool { fail(MAX_STATUS_INTERNAL, "a rule's fault"); }}};
  EXPECT_THROW(applyRules(rewriter, rules), Error);
}

TEST(Compiler, HalfTypesRunOnFloat32KernelsAndAreNotRoundedBetweenThem) {
  Builder b;
  const Attributes toHalf = attrs({{"to", int64_t{10}}});
  Value* x = b.op("Cast", {b.input({4, 6})}, toHalf);
  Value* w = b.op("Cast", {b.random({6, 6})}, toHalf);
  Value* y = b.op("MatMul", {b.op("MatMul", {x, w}), w});
  b.output(b.op("Cast", {y}, attrs({{"to", int64_t{1}}})));
  compile(*b.graph, withoutFusion());
  for (const Node* node : b.graph->nodes()) {
    if (node->isOwn("MatMul")) {
      EXPECT_EQ(node->output()->type.dtype, DType::Float32) << dump(*b.graph);
    }
  }
  EXPECT_EQ(countOperators(*b.graph)["max.MatMul"], 2);
  Random random(1);
  EXPECT_EQ(interpret(*b.graph, {randomTensor({4, 6}, random)})[0]->dtype(), DType::Float32);
}

using Ints = std::vector<int64_t>;

// Sums of powers are what pools of channels last can do.
TEST(LpPool, BecomesAMeanOfPowers) {
  struct Pooled {
    int64_t p;
    std::vector<std::pair<std::string, Attribute>> attributes;
    bool isLowered = true;
  };
  const Ints kernel{3, 2};
  const Pooled rows[] = {
      {1, {{"kernel_shape", kernel}}},
      {2, {{"kernel_shape", kernel}, {"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{2, 1}}}},
      {3, {{"kernel_shape", kernel}, {"dilations", Ints{2, 3}}}},
      {2, {{"kernel_shape", kernel}, {"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {2, {{"kernel_shape", kernel}, {"ceil_mode", int64_t{1}}, {"strides", Ints{2, 3}}, {"pads", Ints{1, 1, 1, 1}}}},
  };
  for (const Pooled& row : rows)
    for (const DType dtype : {DType::Float32, DType::Float16}) {
      const auto build = [&](Builder& b) {
        Value* x = b.input({b.symbol("n"), 5, 8, 9});
        if (dtype != DType::Float32) x = b.op("Cast", {x}, attrs({{"to", onnxFromDType(dtype)}}));
        Attributes attributes = attrs({{"p", row.p}});
        for (const auto& [name, value] : row.attributes) attributes.set(name, value);
        Value* y = b.op("LpPool", {x}, attributes);
        if (dtype != DType::Float32) y = b.op("Cast", {y}, attrs({{"to", onnxFromDType(DType::Float32)}}));
        b.output(y);
      };
      const std::string ops = compileAndCompare(build, {{2, 5, 8, 9}}, withoutFusion(), 3e-3);
      EXPECT_NE(ops.find("max.AveragePool"), std::string::npos) << ops;
    }
  // How far the last window reaches depends on the size.
  const auto unknown = [](Builder& b) {
    Value* x = b.input({1, 2, b.symbol("h"), 9});
    b.output(b.op("LpPool", {x}, attrs({{"kernel_shape", Ints{3, 3}}, {"ceil_mode", int64_t{1}}})));
  };
  EXPECT_EQ(compileAndCompare(unknown, {{1, 2, 6, 9}}), "LpPool");
}

// Between Transposes that meet no others; beside a convolution they do.
TEST(Pool, AloneWorksOnPlanes) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    const Attributes attributes =
        attrs({{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}});
    const auto alone = [&](Builder& b) { b.output(b.op(op, {b.input({2, 5, 8, 10})}, attributes)); };
    EXPECT_EQ(compileAndCompare(alone, {{2, 5, 8, 10}}), op);
    const auto inRow = [&](Builder& b) {
      b.output(b.op(op, {b.input({2, 5, 8, 10})}, attrs({{"kernel_shape", Ints{1, 3}}})));
    };
    EXPECT_NE(compileAndCompare(inRow, {{2, 5, 8, 10}}).find(concat("max.", op)), std::string::npos);
    const auto beside = [&](Builder& b) {
      Value* x = b.op("Conv", {b.input({2, 5, 8, 10}), b.random({8, 5, 3, 3})});
      b.output(b.op(op, {x}, attributes));
    };
    const std::string ops = compileAndCompare(beside, {{2, 5, 8, 10}});
    EXPECT_NE(ops.find(concat("max.", op)), std::string::npos) << ops;
  }
}

// That of an image of one pixel, whatever its strides, unless they are those of the output's size.
TEST(ConvTranspose, OfOnePixelIsAProduct) {
  struct Case {
    int64_t height;
    Attributes attributes;
    int64_t groups, stride;  // what the compiler makes of the first axis's stride
  };
  const Case cases[] = {
      {1, {}, 1, 4},
      {1, attrs({{"strides", list({2, 1})}, {"pads", list({1, 0, 1, 2})}}), 2, 4},
      {1, attrs({{"strides", list({5, 3})}, {"output_padding", list({3, 1})}}), 1, 5},
      {1, attrs({{"dilations", list({2, 3})}, {"strides", list({3, 1})}, {"output_shape", list({6, 5})}}), 3, 7},
      {1, attrs({{"strides", list({3, 2})}, {"auto_pad", std::string("SAME_UPPER")}}), 1, 3},
      {2, attrs({{"strides", list({3, 2})}}), 1, 3},
  };
  for (const Case& test : cases) {
    const auto build = [&](Builder& b) {
      Attributes attributes = test.attributes;
      attributes.set("group", test.groups);
      b.output(b.op("ConvTranspose",
                    {b.input({2, 6, test.height, 1}), b.random({6, 2, 4, 3}), b.random({2 * test.groups})},
                    attributes));
    };
    compileAndCompare(build, {{2, 6, test.height, 1}}, withoutFusion(), 1e-5);
    Builder b;
    build(b);
    compile(*b.graph, withoutFusion());
    const auto& nodes = b.graph->nodes();
    const auto node =
        std::find_if(nodes.begin(), nodes.end(), [](const Node* each) { return each->isOwn("ConvTranspose"); });
    ASSERT_NE(node, nodes.end());
    EXPECT_EQ((*node)->attributes.getInts("strides").at(0), test.stride);
  }
}

// Without strides a transposed convolution is one with the taps in reverse order, unless it crops more than it adds.
TEST(ConvTranspose, WithoutStridesIsAConvolution) {
  struct Case {
    Ints weights, dilations, pads, extra;
    int64_t groups;
    const char* op;
  };
  const Case cases[] = {
      {{6, 5, 3, 3}, {1, 1}, {1, 0, 1, 2}, {0, 0}, 1, "max.Conv"},
      {{6, 4, 2, 3}, {3, 2}, {1, 2, 0, 4}, {2, 1}, 3, "max.Conv"},
      {{6, 2, 3, 1}, {1, 1}, {0, 0, 2, 0}, {0, 0}, 6, "max.Conv"},
      {{6, 5, 3, 2}, {1, 1}, {3, 0, 0, 0}, {0, 0}, 1, "max.ConvTranspose"},
  };
  for (const Case& test : cases) {
    const auto build = [&](Builder& b) {
      Value* weights = b.random(Shape(std::span<const int64_t>(test.weights)));
      b.output(b.op("ConvTranspose", {b.input({2, 6, 7, 9}), weights, b.random({test.weights[1] * test.groups})},
                    attrs({{"group", test.groups},
                           {"dilations", test.dilations},
                           {"pads", test.pads},
                           {"output_padding", test.extra}})));
    };
    const std::string ops = compileAndCompare(build, {{2, 6, 7, 9}}, withoutFusion(), 1e-5);
    EXPECT_NE((" " + ops + " ").find(concat(" ", test.op, " ")), std::string::npos) << ops;
  }
}

TEST(LpPool, OfWholeImagesIsAReduction) {
  for (const int64_t p : {1, 2, 3}) {
    const auto build = [p](Builder& b) { b.output(b.op("GlobalLpPool", {b.input({2, 5, 8, 9})}, attrs({{"p", p}}))); };
    const std::string ops = compileAndCompare(build, {{2, 5, 8, 9}});
    EXPECT_NE(ops.find("Reduce"), std::string::npos) << ops;
  }
}

TEST(Compiler, ConvolutionsOfHalfTypesWithWeightsInTheFileRunOnFloat32Kernels) {
  Builder b;
  const Attributes toHalf = attrs({{"to", int64_t{10}}});
  Value* x = b.op("Cast", {b.input({1, 3, 8, 8})}, toHalf);
  b.output(b.op("Conv", {x, b.op("Cast", {b.random({4, 3, 3, 3})}, toHalf)}));
  compile(*b.graph, withoutFusion());
  for (const Node* node : b.graph->nodes()) {
    if (node->isOwn("Conv")) {
      EXPECT_EQ(node->output()->type.dtype, DType::Float32) << dump(*b.graph);
      EXPECT_TRUE(node->prepared) << dump(*b.graph);
    }
  }
  EXPECT_EQ(countOperators(*b.graph)["max.Conv"], 1);
}

// Steps of an unrolled loop; not the product of other rows, which may be packed in another way.
TEST(Compiler, EqualNodesShareTheirPackedWeights) {
  Builder b;
  const auto weights = [&] { return b.random({128, 128}); };
  Value *x = b.input({4, 128}), *w = weights();
  for (int step = 0; step < 3; ++step) x = b.op("Tanh", {b.op("MatMul", {x, w})});
  b.output(x);
  b.output(b.op("Tanh", {b.op("MatMul", {b.input({5, 128}), w})}));
  b.output(b.op("Tanh", {b.op("MatMul", {x, weights()})}));
  compile(*b.graph, CompileOptions());
  std::vector<const Prepared*> packed;
  for (const Node* node : b.graph->nodes())
    if (node->isOwn("MatMul")) packed.push_back(node->prepared.get());
  ASSERT_EQ(packed.size(), 5u) << dump(*b.graph);
  EXPECT_NE(packed[0], nullptr);
  EXPECT_EQ(std::count(packed.begin(), packed.end(), packed[0]), 3);
  EXPECT_EQ(std::set(packed.begin(), packed.end()).size(), 3u);
}

// Floats that count up, one byte behind the beginning of a mapped file.
Ref<Tensor> unalignedTable(const Shape& shape) {
  std::vector<float> numbers(static_cast<size_t>(shape.count()));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  char path[] = "/tmp/max-table-XXXXXX";
  close(mkstemp(path));
  writeFile(path, "x" + std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)));
  const Ref<MappedFile> file = MappedFile::share(File::openForRead(path));
  unlink(path);
  return makeRef<Tensor>(DType::Float32, shape, static_cast<const std::byte*>(file->data()) + 1, file);
}

TEST(Compiler, UnalignedTablesAreOnlyCopiedIfMoreThanGatherReadsThem) {
  const Ref<Tensor> table = unalignedTable({3000, 40});
  ASSERT_FALSE(table->isAligned());
  for (const bool isAdded : {false, true}) {
    Builder b;
    Value* rows = b.graph->addConstant(table);
    b.output(b.op("Gather", {rows, b.input({2}, DType::Int64)}));
    if (isAdded) b.output(b.op("Add", {rows, b.input({40})}));
    compile(*b.graph, withoutFusion());
    EXPECT_EQ(rows->constant->data() == table->data(), !isAdded);
    EXPECT_EQ(rows->constant->isAligned(), isAdded);
    if (isAdded) continue;
    const PlannedProgram program(b.graph, 2);
    const Outputs outputs = run(program, {ints({2}, {2999, 7})});
    for (int64_t i = 0; i < 40; ++i) {
      EXPECT_EQ(outputs[0].as<float>()[i], static_cast<float>(2999 * 40 + i));
      EXPECT_EQ(outputs[0].as<float>()[40 + i], static_cast<float>(7 * 40 + i));
    }
  }
}

TEST(Compiler, OuterNodesThatOnlyADeadBranchReadVanish) {
  const auto build = [](Builder& b) {
    Value* x = b.input({3});
    Value* unused = b.op("Exp", {x});
    Ref<Graph> thenBranch = makeRef<Graph>(*b.graph, "then");
    thenBranch->addOutput(thenBranch->addNode("", "Relu", {x})->output());
    Ref<Graph> elseBranch = makeRef<Graph>(*b.graph, "else");
    elseBranch->addOutput(elseBranch->addNode("", "Neg", {unused})->output());
    const bool yes = true;
    Value* condition = b.graph->addConstant(Tensor::copyOf(DType::Bool, Shape(), &yes));
    b.output(b.op("If", {condition}, attrs({{"then_branch", thenBranch}, {"else_branch", elseBranch}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{3}}), "Relu");
}

TEST(Compiler, WorkStaysOutsideOfBranches) {
  const auto build = [](Builder& b) {
    Value* x = b.input({3, 4});
    Value* product = b.op("MatMul", {x, b.random({4, 4})});
    Ref<Graph> thenBranch = makeRef<Graph>(*b.graph, "then");
    thenBranch->addOutput(thenBranch->addNode("", "Relu", {product})->output());
    Ref<Graph> elseBranch = makeRef<Graph>(*b.graph, "else");
    elseBranch->addOutput(elseBranch->addNode("", "Identity", {x})->output());
    Value* condition = b.op("Greater", {b.op("ReduceSum", {x}, attrs({{"keepdims", int64_t{0}}})), b.scalar(-1e9f)});
    b.output(b.op("If", {condition}, attrs({{"then_branch", thenBranch}, {"else_branch", elseBranch}})));
  };
  EXPECT_NE(compileAndCompare(build, {{3, 4}}).find("max.MatMul"), std::string::npos);
}

TEST(Compiler, SubgraphsAreOptimisedToo) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 6, 6});
    Ref<Graph> thenBranch = makeRef<Graph>(*b.graph, "then");
    Value* weights = thenBranch->addConstant(Tensor::allocate(DType::Float32, {4, 3, 3, 3}, true));
    Value* y = thenBranch->addNode("", "Conv", {x, weights})->output();
    thenBranch->addOutput(thenBranch->addNode("", "Relu", {y})->output());
    Ref<Graph> elseBranch = makeRef<Graph>(*b.graph, "else");
    elseBranch->addOutput(elseBranch->addNode("", "Sqrt", {elseBranch->addNode("", "Abs", {x})->output()})->output());
    Value* condition = b.op("Greater", {b.op("ReduceSum", {x}, attrs({{"keepdims", int64_t{0}}})), b.scalar(1e9f)});
    b.output(b.op("If", {condition}, attrs({{"then_branch", thenBranch}, {"else_branch", elseBranch}})));
  };
  compileAndCompare(build, {{2, 3, 6, 6}}, {});
  Builder b;
  build(b);
  compile(*b.graph, {});
  const Node* branch = b.graph->nodes().back();
  ASSERT_TRUE(branch->is("If"));
  EXPECT_EQ(operatorsOf(*branch->attributes.getGraph("then_branch")), "Transpose*2 max.Conv");
  EXPECT_EQ(operatorsOf(*branch->attributes.getGraph("else_branch")), "max.Elementwise");
}

}  // namespace
}  // namespace max::test
