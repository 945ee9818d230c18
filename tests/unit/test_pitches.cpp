// SPDX-License-Identifier: Apache-2.0
// Parts of the last axis that are views of a whole, or are made in it: kernels whose operands' rows lie apart.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "executor/run.h"
#include "executor_helpers.h"
#include "interpreter.h"
#include "op_harness.h"
#include "random_numbers.h"

namespace max::test {
namespace {

const Attributes kChannels = attrs({{"axis", int64_t{1}}});
const Attributes kWindows = attrs({{"kernel_shape", list({3, 3})}, {"pads", list({1, 1, 1, 1})}});

// Random networks that divide channels and join them again.
class RandomNetwork {
 public:
  Builder builder;

  explicit RandomNetwork(unsigned seed) : builder(seed), random_(seed) {
    for (int i = 0; i < 2; ++i) values_.push_back(builder.input({builder.symbol("n"), 24, 9, 9}));
    for (int i = 0; i < 14; ++i) add();
    for (int i = 0; i < 2; ++i) builder.output(builder.op("Neg", {pick()}));
    builder.output(values_.back());
    builder.graph->eraseDead();
    builder.graph->sort();
  }

 private:
  int64_t upTo(int64_t count) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(count)); }
  Value* pick() { return values_[values_.size() - 1 - static_cast<size_t>(upTo(std::min<int64_t>(6, size())))]; }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  static int64_t channelsOf(const Value* value) { return value->type.dims[1].value(); }

  void add() {
    switch (upTo(10)) {
      case 0:
      case 1:
        return divide();
      case 2:
      case 3:
        return values_.push_back(builder.op("Concat", {pick(), pick()}, kChannels));
      case 4:
        return addSum();
      case 5:
        return values_.push_back(builder.op(upTo(2) ? "Abs" : "Softsign", {pick()}));
      case 6:
        return values_.push_back(builder.op(upTo(2) ? "MaxPool" : "AveragePool", {pick()}, kWindows));
      case 7:
        return cutAcross();
      default:
        return values_.push_back(activated(convolved(pick())));
    }
  }

  void divide() {
    Value* x = pick();
    const int64_t first = 1 + upTo(channelsOf(x) - 1);
    Node* parts = builder.node("Split", {x, builder.ints({first, channelsOf(x) - first})}, kChannels, 2);
    for (size_t i = 0; i < 2; ++i)
      if (channelsOf(parts->output(i)) > 1) values_.push_back(parts->output(i));
  }

  // Along another axis, and joined again.
  void cutAcross() {
    const Attributes rows = attrs({{"axis", int64_t{2}}});
    Node* parts = builder.node("Split", {pick(), builder.ints({4, 5})}, rows, 2);
    values_.push_back(builder.op("Concat", {builder.op("Abs", {parts->output(1)}), parts->output(0)}, rows));
  }

  // Of a convolution, which takes the other as its residual.
  void addSum() {
    Value* x = pick();
    values_.push_back(builder.op("Add", {pointwise(pick(), channelsOf(x)), x}));
  }

  Value* pointwise(Value* x, int64_t filters) {
    return builder.op("Conv", {x, builder.random({filters, channelsOf(x), 1, 1}, -0.2f, 0.2f)});
  }

  Value* convolved(Value* x) {
    const int64_t channels = channelsOf(x), side = 3 + 2 * upTo(3), kind = upTo(4);
    if (kind == 0) return pointwise(x, 3 + upTo(33));
    if (kind == 1) x = pointwise(x, channels);  // one that joins the depthwise one
    Attributes pads = attrs({{"pads", list({side / 2, side / 2, side / 2, side / 2})}});
    const int64_t filters = upTo(2) ? 20 : 5;
    if (kind > 2) return builder.op("Conv", {x, builder.random({filters, channels, side, side}, -0.05f, 0.05f)}, pads);
    pads.set("group", channels);
    return builder.op("Conv", {x, builder.random({channels, 1, side, side}, -0.3f, 0.3f)}, pads);
  }

  Value* activated(Value* x) {
    constexpr const char* kOperators[] = {"", "", "Relu", "HardSwish", "Tanh"};
    const std::string op = kOperators[upTo(5)];
    return op.empty() ? x : builder.op(op, {x});
  }

  Random random_;
  std::vector<Value*> values_;
};

// Parts of rows that the plan's steps of an operator copy, and how many of them are not where they come from.
struct Parts {
  size_t all = 0, moved = 0;
};

void countParts(const Plan& plan, Parts& parts) {
  for (const Step& step : plan.steps)
    for (const CopiedPart& part : step.kernel->parts()) {
      if (!part.isOfRows) continue;
      Location from = plan.table[step.inputs + part.input], to = plan.table[step.outputs + part.output];
      (from.kind == Location::Arena ? from.index : from.offset) += part.inputOffset;
      (to.kind == Location::Arena ? to.index : to.offset) += part.outputOffset;
      ++parts.all;
      if (!(from == to)) ++parts.moved;
    }
}

Ref<Plan> planOf(const Ref<Graph>& graph, const std::vector<Ref<Tensor>>& inputs) {
  std::vector<TensorArg> arguments;
  for (const Ref<Tensor>& input : inputs) arguments.push_back({input->dtype(), input->shape().dims(), input->data()});
  const Ref<Program> program = makeRef<Program>(graph, 1, 0);  // kept by its plan
  return makePlan(*program, arguments);
}

// Compiled and planned, against node-by-node evaluation of what was written down.
template <class Network>
Parts runNetwork(const Network& plain, const Network& compiled, const std::vector<Ref<Tensor>>& inputs,
                 double tolerance = 2e-3, const CompileOptions& options = {}) {
  compile(*compiled.graph, options);
  const std::vector<Ref<Tensor>> expected = interpret(*plain.graph, inputs);
  const Outputs got = run(PlannedProgram(compiled.graph, 2), inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(concat(got[i].shape()), concat(expected[i]->shape()));
    for (int64_t k = 0; k < expected[i]->count(); ++k) {
      const float wanted = expected[i]->template as<float>()[k];
      if (!(std::fabs(got[i].template as<float>()[k] - wanted) < tolerance * (1 + std::fabs(wanted)))) {
        ADD_FAILURE() << "output " << i << " element " << k << ": " << got[i].template as<float>()[k] << " for "
                      << wanted;
        break;
      }
    }
  }
  Parts parts;
  countParts(*planOf(compiled.graph, inputs), parts);
  return parts;
}

// One network, written down twice, and compiled once.
Parts partsOf(const std::function<void(Builder&)>& build, const Shape& shape) {
  Builder plain, compiled;
  for (Builder* builder : {&plain, &compiled}) {
    build(*builder);
    builder->graph->sort();
  }
  Random random(5);
  return runNetwork(plain, compiled, {randomTensor(shape, random, -1, 1)});
}

Value* depthwise(Builder& b, Value* x, int64_t side) {
  const int64_t channels = x->type.dims[1].value();
  return b.op("Conv", {x, b.random({channels, 1, side, side})},
              attrs({{"group", channels}, {"pads", list({side / 2, side / 2, side / 2, side / 2})}}));
}

// Of a convolution's result.
Node* halves(Builder& b) {
  Value* x = b.op("Conv", {b.input({b.symbol("n"), 3, 9, 9}), b.random({22, 3, 3, 3})});
  return b.node("Split", {x, b.ints({7, 15})}, kChannels, 2);
}

TEST(Pitches, MixedConvolutionsCopyNothing) {
  const auto build = [](Builder& b) {
    Node* parts = halves(b);
    Value* joined = b.op("Concat", {depthwise(b, parts->output(0), 3), depthwise(b, parts->output(1), 7)}, kChannels);
    b.output(b.op("Tanh", {joined}));
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 4u);
  EXPECT_EQ(parts.moved, 0u);
}

// Of one column, between channels of others.
TEST(Pitches, ConvolutionsOfColumnsCopyNothing) {
  const auto build = [](Builder& b) {
    Node* parts = halves(b);
    const auto ofColumns = [&](Value* x, int64_t size, int64_t stride) {
      const int64_t channels = x->type.dims[1].value();
      return b.op("Conv", {x, b.random({channels, 1, size, 1})},
                  attrs({{"group", channels}, {"pads", list({1, 0, size - 2, 0})}, {"strides", list({stride, 1})}}));
    };
    Value* joined = b.op("Concat", {ofColumns(parts->output(0), 3, 2), ofColumns(parts->output(1), 7, 2)}, kChannels);
    b.output(b.op("Relu", {joined}));
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 4u);
  EXPECT_EQ(parts.moved, 0u);
}

TEST(Pitches, TransposedConvolutionsOfChannelsCopyNothing) {
  const auto transposed = [](Builder& b, Value* x, int64_t side) {
    const int64_t channels = x->type.dims[1].value();
    return b.op(
        "ConvTranspose", {x, b.random({channels, 1, side, side}), b.random({channels})},
        attrs({{"group", channels}, {"strides", list({2, 2})}, {"output_padding", list({side % 2, side % 2})}}));
  };
  const auto build = [&](Builder& b) {
    Node* parts = halves(b);
    Value* first = b.op("HardSwish", {transposed(b, parts->output(0), 3)});
    b.output(b.op("Tanh", {b.op("Concat", {first, transposed(b, parts->output(1), 4)}, kChannels)}));
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 4u);
  EXPECT_EQ(parts.moved, 0u);
}

TEST(Pitches, WhatSkipsAConvolutionIsCopiedOnce) {
  const auto build = [](Builder& b) {
    Node* parts = halves(b);
    Value* joined = b.op("Concat", {parts->output(0), depthwise(b, parts->output(1), 3)}, kChannels);
    b.output(depthwise(b, joined, 3));
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 4u);
  EXPECT_EQ(parts.moved, 1u);
}

TEST(Pitches, PartsOfPartsLieInTheOutermost) {
  const auto build = [](Builder& b) {
    Node* outer = halves(b);
    Node* inner = b.node("Split", {outer->output(1), b.ints({6, 9})}, kChannels, 2);
    Value* joined = b.op("Concat", {depthwise(b, inner->output(0), 3), depthwise(b, inner->output(1), 5)}, kChannels);
    Value* all = b.op("Concat", {joined, depthwise(b, outer->output(0), 3)}, kChannels);
    b.output(b.op("Tanh", {depthwise(b, all, 3)}));
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 8u);
  EXPECT_EQ(parts.moved, 0u);
}

TEST(Pitches, PartsThatAreReadOtherwiseAreCopied) {
  const auto build = [](Builder& b) {
    Node* parts = halves(b);
    Value* first = depthwise(b, parts->output(0), 3);
    b.output(b.op("Concat", {first, depthwise(b, parts->output(1), 5)}, kChannels));
    b.output(b.op("Softmax", {first}, kChannels));  // by a kernel for dense tensors
  };
  const Parts parts = partsOf(build, {2, 3, 9, 9});
  EXPECT_EQ(parts.all, 4u);
  EXPECT_EQ(parts.moved, 1u);

  const auto outputs = [](Builder& b) {
    Value* x = b.op("Neg", {b.input({b.symbol("n"), 9})});
    Node* halves = b.node("Split", {x, b.ints({2, 7})}, kChannels, 2);
    for (size_t i = 0; i < 2; ++i) b.output(halves->output(i));  // by the caller
  };
  EXPECT_EQ(partsOf(outputs, {4, 9}).moved, 2u);
}

// Rows of a view are others than those of its memory.
TEST(Pitches, OtherRowsAreCopied) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Neg", {b.input({b.symbol("n"), 12})});
    Value* rows = b.op("Reshape", {x, b.ints({-1, 6})});
    Node* parts = b.node("Split", {rows, b.ints({2, 4})}, kChannels, 2);
    for (size_t i = 0; i < 2; ++i) b.output(b.op("Tanh", {parts->output(i)}));
    b.output(b.op("Softmax", {x}));
  };
  const Parts parts = partsOf(build, {4, 12});
  EXPECT_EQ(parts.all, 2u);
  EXPECT_EQ(parts.moved, 2u);
}

void expectRandomNetworks(const CompileOptions& options, double tolerance) {
  Parts all;
  forEachTarget([&] {
    for (unsigned seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(seed);
      const RandomNetwork plain(seed), compiled(seed);
      Random random(seed);
      std::vector<Ref<Tensor>> inputs;
      const int64_t images = 1 + seed % 2;
      for (int i = 0; i < 2; ++i) inputs.push_back(randomTensor({images, 24, 9, 9}, random, -1, 1));
      inputs.resize(plain.builder.graph->inputs().size());
      const Parts parts = runNetwork(plain.builder, compiled.builder, inputs, tolerance, options);
      all.all += parts.all;
      all.moved += parts.moved;
      if (::testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GT(all.all, 3 * all.moved);
}

TEST(Pitches, RandomNetworksGiveWhatTheirNodesGive) { expectRandomNetworks({}, 2e-3); }

// Where the processor multiplies bfloat16, which some values then are.
TEST(Pitches, RandomNetworksOfNarrowValues) {
  CompileOptions options;
  options.precision = MAX_PRECISION_MEDIUM;
  expectRandomNetworks(options, 0.1);
}

}  // namespace
}  // namespace max::test
