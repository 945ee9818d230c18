// SPDX-License-Identifier: Apache-2.0
#include "weights_harness.h"

namespace max {
namespace {

struct Layer {
  const char* op;
  int64_t gates;
  std::vector<std::string> activations;  // of one direction
};

const Layer kLayers[] = {
    {"LSTM", 4, {}},
    {"GRU", 3, {}},
    {"RNN", 1, {}},
    {"LSTM", 4, {"HardSigmoid", "ScaledTanh", "Softsign"}},
    {"GRU", 3, {"Affine", "Elu"}},
    {"RNN", 1, {"LeakyRelu"}},
    {"LSTM", 4, {"Sigmoid", "Relu", "ThresholdedRelu"}},
    {"GRU", 3, {"Sigmoid", "Softplus"}},
};

Ref<Tensor> randomLengths(RandomTensors& random, int64_t batch, int64_t steps) {
  Ref<Tensor> lengths = Tensor::allocate(DType::Int32, {batch});
  for (int64_t i = 0; i < batch; ++i)
    static_cast<int32_t*>(lengths->mutableData())[i] = static_cast<int32_t>(random.integer(0, steps));
  return lengths;
}

void compare(const Layer& layer, RandomTensors& random, CpuTarget target, int i) {
  const int64_t steps = random.integer(0, 5), batch = random.integer(1, 9), inputs = random.integer(1, 30);
  const int64_t hidden = random.integer(1, 70), directions = random.integer(1, 2);
  const bool batchFirst = random.chance(0.3), isLstm = layer.gates == 4;
  NodeUnderTest node("", layer.op);
  node->attributes.set("hidden_size", hidden);
  node->attributes.set("layout", int64_t{batchFirst});
  node->attributes.set("direction", std::string(directions == 2      ? "bidirectional"
                                                : random.chance(0.5) ? "forward"
                                                                     : "reverse"));
  node->attributes.set("linear_before_reset", int64_t{random.chance(0.5)});
  if (random.chance(0.3)) node->attributes.set("clip", 0.4f);
  if (random.chance(0.3)) node->attributes.set("input_forget", int64_t{1});
  std::vector<std::string> activations;
  for (int64_t d = 0; d < directions; ++d)
    activations.insert(activations.end(), layer.activations.begin(), layer.activations.end());
  if (!activations.empty()) {
    node->attributes.set("activations", activations);
    node->attributes.set("activation_alpha", std::vector<float>{0.3f, 1.2f});
    node->attributes.set("activation_beta", std::vector<float>{0.4f});
  }
  const Shape state = batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const auto maybe = [&](const Shape& shape) { return random.chance(0.6) ? random.floats(shape) : nullptr; };
  Tensors in = {random.floats(batchFirst ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs}),
                random.floats({directions, layer.gates * hidden, inputs}, 0.5f),
                random.floats({directions, layer.gates * hidden, hidden}, 0.1f),  // Affine gates let states grow
                maybe({directions, 2 * layer.gates * hidden}),
                random.chance(0.4) ? randomLengths(random, batch, steps) : nullptr,
                maybe(state)};
  if (isLstm) in.push_back(maybe(state));
  if (isLstm) in.push_back(maybe({directions, 3 * hidden}));
  std::vector<Shape> out = {
      batchFirst ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden}, state};
  if (isLstm) out.push_back(state);
  const Tensors expected = node.run(in, out, "reference");
  const Tensors actual = node.run(in, out, "recurrent_f32", 1 + i % 3, 6);
  for (size_t o = 0; o < out.size(); ++o)
    expectNear(*actual[o], *expected[o], 5e-5f,
               concat(nameOf(target), " case ", i, " ", layer.op, " steps ", steps, " batch ", batch, " hidden ",
                      hidden, " directions ", directions, " output ", o));
}

TEST(Recurrent, MatchesReference) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(40);
    for (int i = 0; i < 120 && !testing::Test::HasFatalFailure(); ++i) compare(kLayers[i % 8], random, target, i);
  });
}

// The products of a step are then cut into tasks for several threads.
TEST(Recurrent, ManyItemsAtOnce) {
  RandomTensors random(43);
  for (const bool linear : {false, true}) {
    NodeUnderTest node("", "GRU");
    node->attributes.set("hidden_size", int64_t{40});
    node->attributes.set("linear_before_reset", int64_t{linear});
    const Tensors in = {random.floats({2, 300, 30}), random.floats({1, 120, 30}, 0.5f),
                        random.floats({1, 120, 40}, 0.2f)};
    const std::vector<Shape> out = {{2, 1, 300, 40}, {1, 300, 40}};
    const Tensors expected = node.run(in, out, "reference");
    for (int lanes : {1, 2, 4}) {
      const Tensors actual = node.run(in, out, "recurrent_f32", lanes, 6);
      expectNear(*actual[0], *expected[0], 5e-5f, concat("lanes ", lanes));
    }
  }
}

TEST(Recurrent, RefusesLengthsThatDoNotFit) {
  RandomTensors random(41);
  NodeUnderTest node("", "RNN");
  node->attributes.set("hidden_size", int64_t{2});
  const Tensors in = {random.floats({3, 1, 4}), random.floats({1, 2, 4}), random.floats({1, 2, 2}), nullptr,
                      Tensor::of<int32_t>(DType::Int32, {1}, {4})};
  EXPECT_THROW(node.run(in, {{3, 1, 1, 2}, {1, 1, 2}}, "recurrent_f32", 1, 6), Error);
}

TEST(Recurrent, RefusesUnknownActivations) {
  RandomTensors random(42);
  NodeUnderTest node("", "RNN");
  node->attributes.set("activations", std::vector<std::string>{"Cosine"});
  const Tensors in = {random.floats({3, 1, 4}), random.floats({1, 2, 4}), random.floats({1, 2, 2})};
  EXPECT_THROW(node.run(in, {{3, 1, 1, 2}, {1, 1, 2}}, "recurrent_f32", 1, 6), Error);
}

}  // namespace
}  // namespace max
