// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"
#include "interpreter.h"

namespace max::test {
namespace {

TEST(Fusion, TreeBecomesOneProgram) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 5, 4});
    Value* y = b.input({b.symbol("n"), 5, 4});
    Value* gate = b.op("Sigmoid", {b.op("Sub", {x, b.random({4})})});
    Value* sum = b.op("Add", {b.op("Mul", {gate, y}), b.scalar(0.25f)});
    b.output(b.op("Max", {sum, b.op("Exp", {b.op("Neg", {x})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 5, 4}, {2, 5, 4}}, {}), "max.Elementwise");
}

TEST(Fusion, ValuesThatOthersReadStay) {
  const auto build = [](Builder& b) {
    Value* x = b.input({6});
    Value* y = b.op("Exp", {b.op("Neg", {x})});
    b.output(y);
    b.output(b.op("Sqrt", {b.op("Abs", {y})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{6}}, {}), "max.Elementwise*2");
}

TEST(Fusion, SmallerResultsAreNotComputedAgain) {
  const auto build = [](Builder& b) {
    Value* x = b.input({6, 5});
    Value* row = b.op("Exp", {b.op("Neg", {b.input({5})})});
    b.output(b.op("Abs", {b.op("Add", {x, row})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{6, 5}, {5}}, {}), "max.Elementwise*2");
}

TEST(Fusion, ConstantWithMoreDimensionsKeepsTheRank) {
  const auto build = [](Builder& b) {
    Value* x = b.input({5});
    b.output(b.op("Abs", {b.op("Add", {x, b.random({1, 1, 1})})}));
  };
  compileAndCompare(build, {{5}}, {});
}

TEST(Fusion, TypesChangeInsideAChain) {
  const auto build = [](Builder& b) {
    Value* x = b.input({6});
    Value* positive = b.op("Greater", {x, b.scalar(0)});
    Value* number = b.op("Cast", {positive}, attrs({{"to", int64_t{1}}}));
    b.output(b.op("Where", {positive, b.op("Mul", {number, x}), b.op("Floor", {x})}));
    b.output(b.op("Not", {b.op("Less", {b.op("Neg", {x}), b.scalar(1)})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{6}}, {}), "max.Elementwise*2");
}

TEST(Fusion, LongChainsAreCut) {
  const auto build = [](Builder& b) {
    Value* x = b.input({6});
    Value* y = x;
    for (int i = 0; i < 100; ++i) y = b.op(i % 2 ? "Abs" : "Sin", {y});
    b.output(y);
  };
  EXPECT_EQ(compileAndCompare(build, {{6}}, {}), "max.Elementwise*4");
}

Ref<Tensor> halves(const Shape& shape, float value) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float16, shape);
  std::fill_n(static_cast<uint16_t*>(tensor->mutableData()), tensor->count(), halfFromFloat(value));
  return tensor;
}

float firstOf(const Builder& b, const Ref<Tensor>& input) {
  compile(*b.graph, {});
  return floatFromHalf(interpret(*b.graph, {input})[0]->as<uint16_t>()[0]);
}

// 2048.25 is not a float16 value, and float16 sums of ones stop at 2048.
TEST(Fusion, SixteenBitNumbersAreRoundedOnceAtTheEnd) {
  Builder chain, product;
  Value* large = chain.graph->addConstant(halves({6}, 2048));
  chain.output(chain.op("Sub", {chain.op("Add", {chain.input({6}, DType::Float16), large}), large}));
  EXPECT_EQ(firstOf(chain, halves({6}, 0.25f)), 0.25f);
  Value* ones = product.graph->addConstant(halves({4096, 1}, 1));
  product.output(product.op("MatMul", {product.input({1, 4096}, DType::Float16), ones}));
  EXPECT_EQ(firstOf(product, halves({1, 4096}, 1)), 4096);
}

// Weights of products become floats, if they do, as they are packed: nothing is left of them in the graph.
TEST(Fusion, SixteenBitWeightsArePackedOneAfterTheOther) {
  for (const MaxPrecision precision : {MAX_PRECISION_HIGHEST, MAX_PRECISION_MEDIUM})
    for (const int64_t rows : {2, 40}) {
      Builder b;
      const auto weights = [&] {
        const Ref<Tensor> floats = b.random({256, 256}, -0.1f, 0.1f)->constant;
        Ref<Tensor> narrow = Tensor::allocate(DType::Float16, {256, 256});
        for (int64_t i = 0; i < narrow->count(); ++i)
          static_cast<uint16_t*>(narrow->mutableData())[i] = halfFromFloat(floats->as<float>()[i]);
        return b.graph->addConstant(narrow);
      };
      Value *x = b.input({rows, 256}, DType::Float16), *own = weights(), *shared = weights(), *table = weights();
      Value* first = b.op("MatMul", {b.op("MatMul", {x, own}), shared});
      Value* second = b.op("MatMul", {b.op("Neg", {b.op("MatMul", {first, shared})}), table});
      b.output(b.op("Add", {second, b.op("Gather", {table, b.ints({1})})}));
      const Ref<Tensor> input = halves({rows, 256}, 0.25f);
      const Ref<Tensor> expected = interpret(*b.graph, {input})[0];
      CompileOptions options;
      options.precision = precision;
      compile(*b.graph, options);
      const Ref<Tensor> actual = interpret(*b.graph, {input})[0];
      for (int64_t i = 0; i < actual->count(); ++i)
        ASSERT_NEAR(floatFromHalf(actual->as<uint16_t>()[i]), floatFromHalf(expected->as<uint16_t>()[i]),
                    precision == MAX_PRECISION_HIGHEST ? 4e-3 : 2e-2);
      std::map<const Prepared*, int> packed;
      for (const Node* node : b.graph->nodes()) {
        EXPECT_FALSE(node->is("Cast") && node->input(0)->constant) << node->description();
        if (node->op() != "MatMul") continue;
        ++packed[node->prepared.get()];
        EXPECT_FALSE(node->input(1)->constant->hasContents());
      }
      EXPECT_EQ(packed.size(), 3u) << "nodes that read the same weights share what is packed";
      EXPECT_EQ(packed.count(nullptr), 0u);
    }
}

// Random graphs of elementwise, movement, reduction and product operators.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : seed_(seed) {}

  void operator()(Builder& b) const {
    Random random(seed_);
    const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
    std::vector<Value*> values{b.input({b.symbol("n"), 4, 6}), b.input({b.symbol("n"), 4, 6})};
    for (int i = 0; i < 14; ++i) values.push_back(step(b, values[pick(values.size())], values, pick(16), pick));
    for (size_t i = values.size() - 3; i < values.size(); ++i) b.output(b.op("Identity", {values[i]}));
  }

 private:
  template <class Pick>
  static Value* step(Builder& b, Value* x, const std::vector<Value*>& values, size_t kind, const Pick& pick) {
    constexpr std::string_view kUnary[] = {"Relu", "Sigmoid", "Neg", "Tanh", "Abs"};
    constexpr std::string_view kBinary[] = {"Add", "Sub", "Mul", "Max"};
    const auto other = [&] { return values[pick(values.size())]; };
    if (kind < 4) return b.op(kUnary[pick(5)], {x});
    if (kind < 8) {
      Value* y = other();
      if (y->type.dims == x->type.dims) return b.op(kBinary[pick(4)], {x, y});
      return b.op(kBinary[pick(4)], {x, b.scalar(0.5f)});
    }
    if (kind == 8)
      return b.op("Transpose", {x},
                  attrs({{"perm", list(pick(2) ? std::vector<int64_t>{0, 2, 1} : std::vector<int64_t>{0, 1, 2})}}));
    if (kind == 9)
      return b.op("Transpose", {b.op("Transpose", {x}, attrs({{"perm", list({1, 2, 0})}}))},
                  attrs({{"perm", list({2, 0, 1})}}));
    if (kind == 10) return b.op("Softmax", {x}, attrs({{"axis", int64_t(pick(3)) - 3}}));
    if (kind == 11) return b.op("Sub", {x, b.op("ReduceMean", {x, b.ints({int64_t(pick(2)) + 1})})});
    if (kind == 12) return b.op("Squeeze", {b.op("Unsqueeze", {x, b.ints({1})}), b.ints({1})});
    if (kind == 13) {
      const int64_t columns = x->type.dims.back().value();
      return b.op("MatMul", {x, b.random({columns, columns})});
    }
    if (kind == 14) return b.op("Add", {x, b.random({x->type.dims[1].value(), 1})});
    const int64_t channels = x->type.dims[1].value();
    return b.op("Conv", {x, b.random({channels, channels, 3})}, attrs({{"pads", list({1, 1})}}));
  }

  uint32_t seed_;
};

TEST(Compile, RandomGraphsKeepTheirMeaning) {
  for (uint32_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    compileAndCompare(RandomGraph(seed), {{3, 4, 6}, {3, 4, 6}}, {}, 2e-3);
  }
}

}  // namespace
}  // namespace max::test
