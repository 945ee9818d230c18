// SPDX-License-Identifier: Apache-2.0
// Random operators: reproducible with a seed on every CPU target, of the right distribution, new at each run without.
#include <algorithm>
#include <map>

#include "op_harness.h"
#include "ops/cpu/generator/random.h"

namespace max::test {
namespace {

Ref<Tensor> draw(const char* op, const Attributes& attributes, const std::vector<Ref<Tensor>>& inputs,
                 const OutputType& type, int lanes = 1) {
  LooseNode node(op, attributes);
  return runOp(node.node(), inputs, {type}, {}, lanes).outputs[0];
}

bool sameBytes(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

struct Statistics {
  double mean = 0, variance = 0, least = 1e30, most = -1e30;

  explicit Statistics(const Tensor& tensor) {
    const double count = static_cast<double>(tensor.count());
    for (int64_t i = 0; i < tensor.count(); ++i) mean += numberAt(tensor, i) / count;
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const double value = numberAt(tensor, i);
      variance += (value - mean) * (value - mean) / count;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
};

// Published results of Philox 4x32-10: counters and keys of zeros and of ones.
TEST(RandomSequence, KnownAnswers) {
  EXPECT_EQ(RandomSequence(0, 0).block(0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(RandomSequence(~uint64_t{0}, ~uint64_t{0}).block(~uint64_t{0}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomKernels, SeededIsTheSameEverywhere) {
  for (const char* op : {"RandomNormal", "RandomUniform"})
    for (DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16}) {
      const OutputType type{dtype, {3, 1001}};
      const Attributes attributes = with({{"seed", 7.5f}});
      const Ref<Tensor> expected = draw(op, attributes, {}, type);
      forEachTarget([&] {
        for (int lanes = 1; lanes <= 3; ++lanes)
          EXPECT_TRUE(sameBytes(*draw(op, attributes, {}, type, lanes), *expected)) << op << " " << nameOf(dtype);
      });
      EXPECT_FALSE(sameBytes(*draw(op, with({{"seed", 7.25f}}), {}, type), *expected));
    }
}

// Numbers that must never change: users with a stored seed rely on them.
TEST(RandomKernels, SeededIsForever) {
  const Ref<Tensor> uniform = draw("RandomUniform", with({{"seed", 1.f}}), {}, {DType::Float32, {4}});
  const Ref<Tensor> normal = draw("RandomNormal", with({{"seed", 1.f}}), {}, {DType::Float32, {4}});
  constexpr float kUniform[] = {0x1.cc479ap-3f, 0x1.b2b682p-2f, 0x1.16e686p-2f, 0x1.2bfd8cp-1f};
  constexpr float kNormal[] = {-0x1.45036p-1f, 0x1.4da7dep-2f, -0x1.5e39b4p-1f, -0x1.a3b8d6p-2f};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(uniform->as<float>()[i], kUniform[i]);
    EXPECT_EQ(normal->as<float>()[i], kNormal[i]);
  }
}

TEST(RandomKernels, UnseededIsNewAtEachRun) {
  const OutputType type{DType::Float32, {64}};
  EXPECT_FALSE(sameBytes(*draw("RandomNormal", {}, {}, type), *draw("RandomNormal", {}, {}, type)));
}

TEST(RandomKernels, Distributions) {
  const OutputType type{DType::Float32, {200000}};
  const Statistics uniform(*draw("RandomUniform", with({{"low", -1.f}, {"high", 3.f}, {"seed", 3.f}}), {}, type));
  EXPECT_NEAR(uniform.mean, 1, 0.01);
  EXPECT_NEAR(uniform.variance, 16. / 12, 0.02);
  EXPECT_GE(uniform.least, -1);
  EXPECT_LE(uniform.most, 3);
  const Statistics normal(*draw("RandomNormal", with({{"mean", 5.f}, {"scale", 2.f}, {"seed", 3.f}}), {}, type));
  EXPECT_NEAR(normal.mean, 5, 0.03);
  EXPECT_NEAR(normal.variance, 4, 0.06);
  EXPECT_GT(normal.most, 12);
  EXPECT_LT(normal.least, -2);
}

TEST(RandomKernels, NormalsFollowTheirDensity) {
  const Ref<Tensor> numbers = draw("RandomNormal", with({{"seed", 9.f}}), {}, {DType::Float64, {400000}});
  constexpr double kEdges[] = {-2, -1, -0.5, 0, 0.5, 1, 2};
  for (double edge : kEdges) {
    int64_t below = 0;
    for (int64_t i = 0; i < numbers->count(); ++i) below += numbers->as<double>()[i] < edge;
    EXPECT_NEAR(static_cast<double>(below) / 400000, 0.5 * std::erfc(-edge / std::sqrt(2)), 0.004) << edge;
  }
}

TEST(RandomKernels, BernoulliFollowsItsProbabilities) {
  const auto probabilities = Tensor::allocate(DType::Float32, {40000});
  auto* p = static_cast<float*>(probabilities->mutableData());
  for (int64_t i = 0; i < 40000; ++i) p[i] = i < 10000 ? 0.f : i < 20000 ? 1.f : i < 30000 ? 0.25f : NAN;
  const Ref<Tensor> drawn = draw("Bernoulli", with({{"seed", 4.f}}), {probabilities}, {DType::Int8, {40000}});
  int64_t ones[4] = {};
  for (int64_t i = 0; i < 40000; ++i) ones[i / 10000] += drawn->as<int8_t>()[i];
  EXPECT_EQ(ones[0], 0);
  EXPECT_EQ(ones[1], 10000);
  EXPECT_NEAR(static_cast<double>(ones[2]), 2500, 200);
  EXPECT_EQ(ones[3], 0) << "NaN is not a probability";
}

TEST(RandomKernels, MultinomialFollowsItsWeights) {
  const float logits[] = {0, std::log(2.f), -INFINITY, std::log(5.f), NAN, 0, 0, 0, INFINITY, 0};
  const auto input = Tensor::copyOf(DType::Float32, {2, 5}, logits);
  const Ref<Tensor> drawn =
      draw("Multinomial", with({{"seed", 4.f}, {"sample_size", int64_t{40000}}}), {input}, {DType::Int64, {2, 40000}});
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < 40000; ++i) ++counts[drawn->as<int64_t>()[i]];
  EXPECT_NEAR(static_cast<double>(counts[0]), 5000, 400);
  EXPECT_NEAR(static_cast<double>(counts[1]), 10000, 500);
  EXPECT_NEAR(static_cast<double>(counts[3]), 25000, 600);
  EXPECT_EQ(counts.size(), 3u) << "classes without weight were drawn";
  for (int64_t i = 40000; i < 80000; ++i) ASSERT_EQ(drawn->as<int64_t>()[i], 3) << "all weight is on class 3";
}

KernelRun dropout(const Ref<Tensor>& x, float ratio, bool training) {
  LooseNode node("Dropout", with({{"seed", int64_t{5}}}));
  const auto flag = Tensor::of<uint8_t>(DType::Bool, {}, {static_cast<uint8_t>(training)});
  return runOp(node.node(), {x, Tensor::of<float>(DType::Float32, {}, {ratio}), flag},
               {{x->dtype(), x->shape()}, {DType::Bool, x->shape()}});
}

TEST(RandomKernels, DropoutScalesWhatStays) {
  Random random(1);
  const Ref<Tensor> x = randomTensor(random, DType::Float32, {100, 100}, 1, 2);
  const KernelRun run = dropout(x, 0.25f, true);
  int64_t kept = 0;
  for (int64_t i = 0; i < x->count(); ++i) {
    const bool stays = run.outputs[1]->as<uint8_t>()[i] != 0;
    kept += stays;
    const float expected = stays ? x->as<float>()[i] / 0.75f : 0;
    ASSERT_NEAR(run.outputs[0]->as<float>()[i], expected, 1e-6);
  }
  EXPECT_NEAR(static_cast<double>(kept), 7500, 250);
}

TEST(RandomKernels, DropoutKeepsAllOutsideOfTraining) {
  Random random(1);
  const Ref<Tensor> x = randomTensor(random, DType::Float16, {7, 9});
  for (const KernelRun& run : {dropout(x, 0.5f, false), dropout(x, 0.f, true)}) {
    EXPECT_TRUE(sameBytes(*run.outputs[0], *x));
    for (int64_t i = 0; i < x->count(); ++i) EXPECT_EQ(run.outputs[1]->as<uint8_t>()[i], 1);
  }
}

TEST(RandomKernels, DropoutRefusesOtherRatios) {
  Random random(1);
  const Ref<Tensor> x = randomTensor(random, DType::Float32, {3});
  for (float ratio : {1.f, -0.5f, NAN}) EXPECT_THROW(dropout(x, ratio, true), Error) << ratio;
}

}  // namespace
}  // namespace max::test
