// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution, whose weights say which tiles it uses.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/cpu/convolution/winograd.h"
#include "weights_harness.h"

namespace max {
namespace {

struct Case {
  int side;
  int64_t images, height, width, channels, filters;
  std::vector<int64_t> pads;  // top, left, bottom, right

  Shape input() const { return {images, height, width, channels}; }
  Shape weights() const { return {filters, channels, 3, 3}; }
  Shape output() const { return {images, height + pads[0] + pads[2] - 2, width + pads[1] + pads[3] - 2, filters}; }
};

class ConvNode : public NodeUnderTest {
 public:
  explicit ConvNode(const Case& c) : NodeUnderTest("max", "Conv"), case_(c) { (*this)->attributes.set("pads", c.pads); }
  Ref<Tensor> winograd(const Tensors& inputs, int lanes = 1) {
    return runPrepared(inputs, {case_.output()}, winogradWeights(*inputs[1], case_.side), lanes)[0];
  }
  Ref<Tensor> reference(const Tensors& inputs) { return run(inputs, {case_.output()}, "reference")[0]; }

 private:
  const Case& case_;
};

Case randomCase(RandomTensors& random, int side) {
  Case c{side,
         random.integer(0, 3),
         random.integer(1, 19),
         random.integer(1, 19),
         random.integer(1, 70),
         random.integer(1, 110),
         {}};
  for (int i = 0; i < 4; ++i) c.pads.push_back(random.integer(0, 3));
  if (c.height + c.pads[0] + c.pads[2] < 3) c.pads[0] = 2;
  if (c.width + c.pads[1] + c.pads[3] < 3) c.pads[1] = 2;
  return c;
}

TEST(Winograd, MatchesReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(30);
    const char* activations[] = {"", "Relu", "Clip", "HardSwish", "Silu"};
    for (int i = 0; i < 80 && !testing::Test::HasFatalFailure(); ++i) {
      const Case c = randomCase(random, i % 2 ? 4 : 2);
      ConvNode node(c);
      node->attributes.set("activation", std::string(activations[random.integer(0, 4)]));
      node->attributes.set("activation_alpha", -0.5f);
      node->attributes.set("activation_beta", 0.5f);
      if (random.chance(0.5)) node->attributes.set("residual_last", int64_t{1});
      const Tensors inputs = {random.floats(c.input()), random.floats(c.weights()),
                              random.chance(0.7) ? random.floats({c.filters}) : nullptr,
                              random.chance(0.3) ? random.floats(c.output()) : nullptr};
      expectNear(*node.winograd(inputs, 1 + i % 3), *node.reference(inputs), 1e-4f,
                 concat(nameOf(target), " case ", i, " tiles of ", c.side, " input ", c.input(), " W ", c.weights()));
    }
  });
}

// Three spatial dimensions: tiles read the frames of the filters, some of which see nothing but the border.
TEST(Winograd, FramesMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(38);
    for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
      const int64_t taps = random.integer(1, 4), dilation = random.integer(1, 2), stride = random.integer(1, 3);
      const int64_t before = random.integer(0, 4), after = random.integer(0, 4), reach = (taps - 1) * dilation + 1;
      const int64_t frames = std::max(random.integer(1, 7), reach - before - after);
      const int64_t height = random.integer(1, 12), width = random.integer(1, 12);
      const int64_t channels = random.integer(1, 40), filters = random.integer(1, 60), images = random.integer(1, 2);
      const Shape output{images, (frames + before + after - reach) / stride + 1, height + 1, width, filters};
      const Tensors inputs = {random.floats({images, frames, height, width, channels}),
                              random.floats({filters, channels, taps, 3, 3}),
                              random.chance(0.7) ? random.floats({filters}) : nullptr,
                              random.chance(0.3) ? random.floats(output) : nullptr};
      NodeUnderTest node("max", "Conv");
      node->attributes.set("pads", std::vector<int64_t>{before, 2, 1, after, 1, 1});
      node->attributes.set("strides", std::vector<int64_t>{stride, 1, 1});
      node->attributes.set("dilations", std::vector<int64_t>{dilation, 1, 1});
      node->attributes.set("activation", std::string(i % 3 ? "Relu" : "Silu"));
      const int side = i % 2 ? 4 : 2;
      const Ref<Tensor> result = node.runPrepared(inputs, {output}, winogradWeights(*inputs[1], side), 1 + i % 3)[0];
      expectNear(*result, *node.run(inputs, {output}, "reference")[0], 1e-4f,
                 concat(nameOf(target), " case ", i, " tiles of ", side, " input ", inputs[0]->shape(), " W ",
                        inputs[1]->shape()));
    }
  });
}

// Products longer than a micro-kernel's part, several blocks of tiles, several panels.
TEST(Winograd, ManyChannelsAndTiles) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(31);
    for (const Case& c : {Case{4, 1, 5, 5, 1601, 9, {1, 1, 1, 1}}, Case{2, 1, 5, 5, 1601, 9, {1, 1, 1, 1}},
                          Case{4, 1, 50, 37, 18, 130, {1, 1, 1, 1}}, Case{2, 1, 50, 37, 18, 130, {0, 1, 2, 1}},
                          Case{4, 1, 27, 30, 400, 96, {1, 1, 1, 1}}}) {  // the last one has large blocks
      ConvNode node(c);
      const Tensors inputs = {random.floats(c.input()), random.floats(c.weights())};
      expectNear(*node.winograd(inputs, 2), *node.reference(inputs), 4e-4f, nameOf(target));
    }
  });
}

// ONNX's own Conv, where the compiler left the channels first.
TEST(Winograd, ChannelsFirst) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(36);
    NodeUnderTest node("", "Conv");
    node->attributes.set("pads", std::vector<int64_t>{1, 0, 1, 2});
    const Tensors inputs = {random.floats({2, 33, 11, 10}), random.floats({35, 33, 3, 3}), random.floats({35})};
    const std::vector<Shape> outputs = {{2, 35, 11, 10}};
    const Tensors expected = node.run(inputs, outputs, "reference");
    expectNear(*node.run(inputs, outputs, "conv_f32", 2, 2)[0], *expected[0], 1e-4f, nameOf(target));
    EXPECT_GT(node->prepared->bytes(), 2 * inputs[1]->bytes());
  });
}

TEST(Winograd, FiltersLieAnywhere) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(39);
    for (int i = 0; i < 20; ++i) {
      const Shape shape{random.integer(1, 140), random.integer(1, 20), 3, 3};
      const Ref<Tensor> weights = random.floats(shape);
      for (const int side : {2, 4}) {
        const Ref<Prepared> one = winogradWeights(*weights, side), other = winogradWeights(*unaligned(*weights), side);
        EXPECT_EQ(std::memcmp(packedWinograd(*one)->data(), packedWinograd(*other)->data(), one->bytes()), 0)
            << concat(nameOf(target), " tiles of ", side, " W ", shape);
      }
    }
  });
}

// As those of products; the others are aligned before they are packed.
TEST(Winograd, WeightsArePackedWhereTheyLie) {
  RandomTensors random(40);
  const auto isPacked = [](NodeUnderTest node, const Ref<Tensor>& weights) {
    const Tensor* constants[] = {nullptr, weights.get()};
    return cpuOperators().packsUnaligned(*node, constants);
  };
  EXPECT_TRUE(isPacked({"max", "Conv"}, random.floats({64, 64, 3, 3})));
  EXPECT_TRUE(isPacked({"", "MatMul"}, random.floats({64, 64})));
  EXPECT_FALSE(isPacked({"", "ConvTranspose"}, random.floats({64, 64, 2, 2})));
}

TEST(Winograd, SameBitsOnAnyNumberOfThreads) {
  forEachCpuTarget([&](CpuTarget) {
    RandomTensors random(32);
    for (const int side : {2, 4})
      for (const int64_t size : {3, 14, 33}) {
        const Case c{side, 1, size, size, 48, 200, {1, 1, 1, 1}};
        ConvNode node(c);
        const Tensors inputs = {random.floats(c.input()), random.floats(c.weights()), random.floats({c.filters})};
        const Ref<Tensor> one = node.winograd(inputs);
        for (const int lanes : {2, 3, 7})
          EXPECT_EQ(std::memcmp(one->data(), node.winograd(inputs, lanes)->data(), one->bytes()), 0) << lanes;
      }
  });
}

// The largest difference, relative to the largest input times the sum of a filter's magnitudes.
double largestError(const Tensor& actual, const Tensor& expected, const Tensor& x, const Tensor& w) {
  double most = 0, largest = 0;
  const int64_t filters = w.shape()[0], taps = w.count() / filters;
  for (int64_t i = 0; i < x.count(); ++i) largest = std::max(largest, std::abs(double{x.as<float>()[i]}));
  std::vector<double> sums(filters);
  for (int64_t i = 0; i < w.count(); ++i) sums[i / taps] += std::abs(double{w.as<float>()[i]});
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double difference = std::abs(double{actual.as<float>()[i]} - double{expected.as<float>()[i]});
    most = std::max(most, difference / (largest * sums[i % filters]));
  }
  return most;
}

// docs/numerics.md states these bounds.
TEST(Winograd, ErrorsAreBounded) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(33);
    for (const int side : {2, 4})
      for (const int64_t channels : {1, 16, 200}) {
        const Case c{side, 1, 12, 12, channels, 24, {1, 1, 1, 1}};
        ConvNode node(c);
        for (int kind = 0; kind < 3; ++kind) {
          Tensors inputs = {random.floats(c.input()), random.floats(c.weights())};
          auto* x = static_cast<float*>(inputs[0]->mutableData());
          // Signs alone, and numbers of one sign, are worse than numbers around zero.
          for (int64_t i = 0; i < inputs[0]->count() && kind > 0; ++i)
            x[i] = kind == 1 ? std::copysign(0.9f, x[i]) : std::abs(x[i]);
          const double error = largestError(*node.winograd(inputs), *node.reference(inputs), *inputs[0], *inputs[1]);
          EXPECT_LE(error, side == 2 ? 5e-7 : 2e-6) << nameOf(target) << ", tiles of " << side << ", " << channels;
        }
      }
  });
}

// What is not a number reaches the tiles that read it, and no others.
TEST(Winograd, NumbersThatAreNotFiniteStayInTheirTiles) {
  forEachCpuTarget([&](CpuTarget) {
    RandomTensors random(34);
    for (const int side : {2, 4})
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const Case c{side, 1, 16, 16, 3, 5, {1, 1, 1, 1}};
        ConvNode node(c);
        const Tensors inputs = {random.floats(c.input()), random.floats(c.weights())};
        const Ref<Tensor> finite = node.winograd(inputs);
        static_cast<float*>(inputs[0]->mutableData())[(8 * 16 + 8) * 3] = bad;
        const Ref<Tensor> result = node.winograd(inputs);
        for (int64_t i = 0; i < result->count(); ++i) {
          const int64_t row = i / c.filters / 16, column = i / c.filters % 16;
          const float value = result->as<float>()[i];
          const int64_t distance = std::max(std::abs(row - 8), std::abs(column - 8));
          EXPECT_FALSE(distance <= 1 && std::isfinite(value)) << row << " " << column;
          EXPECT_TRUE(distance <= side || value == finite->as<float>()[i]) << row << " " << column;
        }
      }
  });
}

size_t preparedBytes(const Shape& weights, const std::function<void(Attributes&)>& change = {},
                     DType products = DType::Float32) {
  NodeUnderTest node("max", "Conv");
  if (change) change(node->attributes);
  node->products = products;
  RandomTensors random(35);
  const Ref<Tensor> tensor = random.floats(weights);
  const std::vector<const Tensor*> constants = {nullptr, tensor.get()};
  return cpuOperators().find("max", "Conv")->prepare(*node, constants)->bytes();
}

// Four times as many bytes say that the weights are for Winograd.
TEST(Winograd, IsChosenForPlainConvolutionsOfManyChannels) {
  const size_t direct = 64 * 64 * 9 * sizeof(float);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3}), 4 * direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3}, [](Attributes& a) { a.set("strides", std::vector<int64_t>{2, 1}); }), direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3},
                          [](Attributes& a) {
                            a.set("dilations", std::vector<int64_t>{1, 2});
                          }),
            direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3}, [](Attributes& a) { a.set("group", int64_t{2}); }), direct);
  EXPECT_EQ(preparedBytes({64, 64, 1, 3, 3}), 4 * direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3, 3}), 4 * 3 * direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3, 3},
                          [](Attributes& a) {
                            a.set("strides", std::vector<int64_t>{2, 1, 1});
                          }),
            4 * 3 * direct);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3, 3},
                          [](Attributes& a) {
                            a.set("strides", std::vector<int64_t>{1, 1, 2});
                          }),
            3 * direct);
  EXPECT_EQ(preparedBytes({64, 4, 3, 3}), direct / 16);
  EXPECT_EQ(preparedBytes({64, 64, 1, 9}), direct);
  EXPECT_EQ(preparedBytes({64, 64, 9}), direct);
}

// Tiles of 4 x 4 take more memory, which filters of many bytes are worth for large images only.
TEST(Winograd, LargeFiltersHaveSmallTilesInSmallImages) {
  const auto bytesFor = [](const Shape& weights, int64_t side) {
    Value output;
    output.type = TensorType::of(DType::Float32, {Dim(1), Dim(2), Dim(side), Dim(side), Dim(weights[0])});
    NodeUnderTest node("max", "Conv");
    node->attributes.set("pads", std::vector<int64_t>(6, 1));
    node->outputs = {&output};
    const Ref<Tensor> tensor = Tensor::allocate(DType::Float32, weights, true);
    const std::vector<const Tensor*> constants = {nullptr, tensor.get()};
    return cpuOperators().find("max", "Conv")->prepare(*node, constants)->bytes();
  };
  const size_t direct = 256 * 256 * 27 * sizeof(float);
  EXPECT_EQ(bytesFor({256, 256, 3, 3, 3}, 14), direct * 16 / 9);
  EXPECT_EQ(bytesFor({256, 256, 3, 3, 3}, 28), direct * 4);
  EXPECT_EQ(bytesFor({128, 128, 3, 3, 3}, 14), direct);
}

// Products of bfloat16 are faster: fewer convolutions are worth it. Those that are stay float32.
TEST(Winograd, IsChosenInPlaceOfProductsOfBFloat16) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  EXPECT_EQ(preparedBytes({16, 16, 3, 3}), 4 * 16 * 16 * 9 * sizeof(float));
  EXPECT_EQ(preparedBytes({16, 16, 3, 3}, nullptr, DType::BFloat16), 16 * 16 * 9 * sizeof(float) / 2);
  EXPECT_EQ(preparedBytes({64, 64, 3, 3}, nullptr, DType::BFloat16), 4 * 64 * 64 * 9 * sizeof(float));
  NodeUnderTest node("max", "Conv");
  node->products = DType::BFloat16;
  RandomTensors random(37);
  const Tensors inputs = {random.floats({1, 17, 18, 64}), random.floats({64, 64, 3, 3})};
  const std::vector<Shape> output = {{1, 15, 16, 64}};
  expectNear(*node.run(inputs, output, "", 2, 2u)[0], *node.run(inputs, output, "reference")[0], 4e-4f, "float32");
}

}  // namespace
}  // namespace max
