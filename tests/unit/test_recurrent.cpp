// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/quantization/quantize.h"
#include "plain_words.h"
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
  const unsigned constants = random.chance(0.7) ? 0b110 : random.chance(0.5) ? 0b10 : 0;
  const Tensors actual = node.run(in, out, "recurrent_f32", 1 + i % 3, constants);
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

// Threads share items or columns.
TEST(Recurrent, AnyNumberOfThreadsGivesTheSameBits) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(44);
    for (const Layer& layer : kLayers)
      for (const int64_t directions : {1, 2}) {
        const int64_t batch = random.integer(2, 9), hidden = random.integer(1, 80);
        NodeUnderTest node("", layer.op);
        node->attributes.set("direction", std::string(directions == 2 ? "bidirectional" : "forward"));
        const Tensors in = {random.floats({6, batch, 20}), random.floats({directions, layer.gates * hidden, 20}, 0.5f),
                            random.floats({directions, layer.gates * hidden, hidden}, 0.2f), nullptr,
                            randomLengths(random, batch, 6)};
        const std::vector<Shape> out = {{6, directions, batch, hidden}, {directions, batch, hidden}};
        const Tensors one = node.run(in, out, "recurrent_f32", 1, 6);
        for (const int lanes : {2, 3, 5}) {
          const Tensors more = node.run(in, out, "recurrent_f32", lanes, 6);
          for (size_t o = 0; o < 2; ++o)
            EXPECT_EQ(std::memcmp(one[o]->data(), more[o]->data(), one[o]->bytes()), 0)
                << nameOf(target) << " " << layer.op << " lanes " << lanes << " output " << o;
        }
      }
  });
}

Ref<Tensor> randomBytes(RandomTensors& random, DType dtype, const Shape& shape) {
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  for (int64_t i = 0; i < tensor->count(); ++i)
    static_cast<uint8_t*>(tensor->mutableData())[i] = static_cast<uint8_t>(random.integer(0, 255));
  return tensor;
}

// What is left of numbers that DynamicQuantizeLinear and DequantizeLinear pass on.
void roundToBytes(float* numbers, int64_t count) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) low = std::min(low, numbers[i]), high = std::max(high, numbers[i]);
  const float range = (high - low) / 255, scale = range == 0 ? 1 : range;
  const auto zero = static_cast<float>(quantized<uint8_t>(-low, scale, 0));
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = (static_cast<float>(quantized<uint8_t>(numbers[i], scale, zero)) - zero) * scale;
}

// A layer of bytes, and the same layer of floats.
struct ByteLayer {
  int64_t steps, batch, inputs, hidden, directions;
  Tensors in;
  Ref<Tensor> x;    // as it is multiplied
  Tensors weights;  // likewise, of one direction each: W, R, W, R

  ByteLayer(RandomTensors& random, bool withSpecials)
      : steps(random.integer(0, 5)),
        batch(random.integer(1, 9)),
        inputs(random.integer(1, 70)),
        hidden(random.integer(1, 70)),
        directions(random.integer(1, 2)) {
    const DType dtype = random.chance(0.5) ? DType::Int8 : DType::UInt8;
    const auto maybe = [&](const Shape& shape) {
      return withSpecials && random.chance(0.6) ? random.floats(shape) : nullptr;
    };
    in = {random.floats({steps, batch, inputs}),
          randomBytes(random, dtype, {directions, inputs, 4 * hidden}),
          randomBytes(random, dtype, {directions, hidden, 4 * hidden}),
          maybe({directions, 8 * hidden}),
          random.chance(0.4) ? randomLengths(random, batch, steps) : nullptr,
          maybe({directions, batch, hidden}),
          maybe({directions, batch, hidden}),
          maybe({directions, 3 * hidden})};
    for (int i = 0; i < 2; ++i) {
      const Shape scales = random.chance(0.5) ? Shape{directions} : Shape{directions, 4 * hidden};
      Ref<Tensor> scale = random.floats(scales, 0.003f);
      in.push_back(scale);
      in.push_back(random.chance(0.8) ? randomBytes(random, dtype, scales) : nullptr);
    }
    x = Tensor::copyOf(DType::Float32, in[0]->shape(), in[0]->data());
    roundToBytes(static_cast<float*>(x->mutableData()), x->count());
    for (int64_t d = 0; d < directions; ++d)
      for (const size_t i : {1, 2}) weights.push_back(floats(d, i));
  }

  Ref<Tensor> floats(int64_t direction, size_t input) const {
    const Tensor &bytes = *in[input], &scales = *in[6 + 2 * input];
    const Tensor* zeros = in[7 + 2 * input].get();
    const int64_t depth = bytes.shape()[1], columns = bytes.shape()[2];
    Ref<Tensor> result = Tensor::allocate(DType::Float32, {1, columns, depth});
    const auto byteAt = [&](const Tensor& tensor, int64_t i) {
      return static_cast<float>(tensor.dtype() == DType::Int8 ? tensor.as<int8_t>()[i] : tensor.as<uint8_t>()[i]);
    };
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t k = 0; k < depth; ++k) {
        const auto of = [&](const Tensor& tensor) {
          return tensor.shape().rank() == 1 ? direction : direction * columns + n;
        };
        const float zero = zeros ? byteAt(*zeros, of(*zeros)) : 0;
        static_cast<float*>(result->mutableData())[n * depth + k] =
            (byteAt(bytes, (direction * depth + k) * columns + n) - zero) * scales.as<float>()[of(scales)];
      }
    return result;
  }

  // Part `index` of an input, of that size; NULL if there is no such input.
  Ref<Tensor> part(const Ref<Tensor>& all, int64_t index, const Shape& shape) const {
    if (!all) return nullptr;
    return Tensor::copyOf(DType::Float32, shape, all->as<float>() + index * shape.count());
  }
};

// Each step against the reference, which gets the state that the step before has really had, as bytes.
void expectSteps(const ByteLayer& layer, const Node& node, const Tensors& actual, const std::string& what) {
  NodeUnderTest reference("", "LSTM");
  for (const auto& [name, value] : node.attributes.entries())
    if (name != "direction") reference->attributes.set(name, value);
  const int64_t hidden = layer.hidden;
  const bool isReverse = node.attributes.getString("direction", "") == "reverse";
  for (int64_t d = 0; d < layer.directions; ++d)
    for (int64_t item = 0; item < layer.batch; ++item) {
      const int64_t state = d * layer.batch + item,
                    length = layer.in[4] ? layer.in[4]->as<int32_t>()[item] : layer.steps;
      Ref<Tensor> h = layer.part(layer.in[5], state, {1, 1, hidden}),
                  c = layer.part(layer.in[6], state, {1, 1, hidden});
      for (int64_t i = 0; i < length; ++i) {
        const int64_t step = isReverse || d == 1 ? length - 1 - i : i;
        if (h) roundToBytes(static_cast<float*>(h->mutableData()), hidden);
        const auto w = static_cast<size_t>(2 * d);
        const Tensors expected =
            reference.run({layer.part(layer.x, step * layer.batch + item, {1, 1, layer.inputs}), layer.weights[w],
                           layer.weights[w + 1], layer.part(layer.in[3], d, {1, 8 * hidden}), nullptr, h, c,
                           layer.part(layer.in[7], d, {1, 3 * hidden})},
                          {{1, 1, 1, hidden}, {1, 1, hidden}, {1, 1, hidden}}, "reference");
        h = layer.part(actual[0], (step * layer.directions + d) * layer.batch + item, {1, 1, hidden});
        expectNear(*h, *expected[1], 5e-5f, concat(what, " direction ", d, " item ", item, " step ", step));
        c = expected[2];
      }
      const Ref<Tensor> lastH = layer.part(actual[1], state, {1, 1, hidden});
      if (length > 0) {
        EXPECT_EQ(std::memcmp(lastH->data(), h->data(), h->bytes()), 0) << what;
      }
      if (c) expectNear(*layer.part(actual[2], state, {1, 1, hidden}), *c, 5e-5f, concat(what, " cells"));
    }
}

void compareBytes(RandomTensors& random, const std::string& what, int i) {
  const ByteLayer layer(random, i % 2 == 0);
  NodeUnderTest node(kMaxDomain, "DynamicQuantizeLSTM");
  node->attributes.set("direction", std::string(layer.directions == 2 ? "bidirectional"
                                                : random.chance(0.5)  ? "forward"
                                                                      : "reverse"));
  if (i % 2 == 0 && random.chance(0.3)) node->attributes.set("clip", 0.4f);
  if (i % 2 == 0 && random.chance(0.3)) node->attributes.set("input_forget", int64_t{1});
  const Shape state{layer.directions, layer.batch, layer.hidden};
  const std::vector<Shape> out = {{layer.steps, layer.directions, layer.batch, layer.hidden}, state, state};
  constexpr unsigned kWeights = 0b101000000110;
  const Tensors actual = node.run(layer.in, out, "", 1 + i % 3, random.chance(0.7) ? kWeights | 0b1010 << 8 : 0);
  expectSteps(layer, *node, actual, concat(what, " case ", i));
  for (const int lanes : {1, 4}) {
    const Tensors again = node.run(layer.in, out, "", lanes, kWeights | 0b1010 << 8);
    for (size_t o = 0; o < 3; ++o)
      EXPECT_EQ(std::memcmp(actual[o]->data(), again[o]->data(), actual[o]->bytes()), 0) << what << " case " << i;
  }
}

TEST(Recurrent, BytesMatchReferenceStepByStep) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(45);
    for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) compareBytes(random, nameOf(target), i);
  });
  test::withEmulatedTiles([](const test::EmulatedTables&) {
    RandomTensors random(46);
    for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) compareBytes(random, "tiles", i);
  });
}

TEST(Recurrent, PackedBytesStayBytes) {
  if (!integerGemmTable().usesBytes) GTEST_SKIP() << "this machine has no products of bytes";
  RandomTensors random(47);
  const OpRow* row = cpuOperators().find(kMaxDomain, "DynamicQuantizeLSTM");
  const Ref<Tensor> w = randomBytes(random, DType::Int8, {1, 256, 1024}), r = w;
  std::vector<const Tensor*> constants(12);
  constants[1] = w.get();
  constants[2] = r.get();
  NodeUnderTest node(kMaxDomain, "DynamicQuantizeLSTM");
  const Ref<Prepared> prepared = row->prepare(*node, constants);
  ASSERT_TRUE(prepared);
  EXPECT_LT(prepared->bytes(), 1.05 * 2 * 256 * 1024);
  EXPECT_TRUE(prepared->replaces(1) && prepared->replaces(2));
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
