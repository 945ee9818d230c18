// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/cpu/even_grain.h"
#include "weights_harness.h"

namespace max {
namespace {

Shape inLayout(const std::string& layout, int64_t b, int64_t h, int64_t s, int64_t d) {
  Shape shape;
  for (const char axis : layout) shape.push(axis == 'B' ? b : axis == 'H' ? h : axis == 'S' ? s : d);
  return shape;
}

struct Sizes {
  int64_t batch, heads, queries, keys, size, valueSize;
  int64_t keyHeads = heads;
};

void compare(const Sizes& n, RandomTensors& random, CpuTarget target, int i) {
  const std::string layouts[] = {"BHSD", "BSHD", "BHDS"};
  const std::string q = layouts[i % 3], k = layouts[i / 3 % 3], v = layouts[i / 9 % 3], out = layouts[(i + 1) % 3];
  NodeUnderTest node("max", "Attention");
  node->attributes.set("layout_q", q);
  node->attributes.set("layout_k", k);
  node->attributes.set("layout_v", v);
  node->attributes.set("layout_out", out);
  node->attributes.set("scale", 0.3f);
  const Shape masks[] = {{n.batch, 1, 1, n.keys}, {n.queries, n.keys}, {n.batch, n.heads, n.queries, 1}, {1}};
  Tensors inputs = {random.floats(inLayout(q, n.batch, n.heads, n.queries, n.size), 3),
                    random.floats(inLayout(k, n.batch, n.keyHeads, n.keys, n.size), 3),
                    random.floats(inLayout(v, n.batch, n.keyHeads, n.keys, n.valueSize))};
  if (i % 5) inputs.push_back(random.floats(masks[i % 4], 5));
  const std::vector<Shape> outputs = {inLayout(out, n.batch, n.heads, n.queries, n.valueSize)};
  const Tensors expected = node.run(inputs, outputs, "reference");
  const Tensors actual = node.run(inputs, outputs, "attention_f32", 1 + i % 3);
  expectNear(*actual[0], *expected[0], 2e-5f,
             concat(nameOf(target), " case ", i, " ", q, " ", k, " ", v, " keys ", n.keys));
}

TEST(Attention, MatchesReferenceInAllLayouts) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(30);
    for (int i = 0; i < 54 && !testing::Test::HasFatalFailure(); ++i)
      compare({random.integer(1, 2), random.integer(1, 3), random.integer(1, 20), random.integer(1, 60),
               random.integer(1, 40), random.integer(1, 70)},
              random, target, i);
  });
}

// Many keys come in blocks whose maxima differ.
TEST(Attention, RunsOverBlocksOfKeys) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(31);
    for (int i = 0; i < 6 && !testing::Test::HasFatalFailure(); ++i)
      compare({1, 2, random.integer(1, 12), random.integer(800, 1300), 16, 24}, random, target, i);
  });
}

// Enough heads for each of up to three lanes, and heads that several queries share.
TEST(Attention, RunsHeadByHead) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(34);
    for (int i = 0; i < 6 && !testing::Test::HasFatalFailure(); ++i) {
      compare({4, 5, random.integer(5, 30), random.integer(1, 60), 16, 24}, random, target, i);
      compare({2, 24, random.integer(5, 30), random.integer(1, 60), 16, 24, 12}, random, target, i);
    }
  });
}

// Six heads of 25 tiles on two lanes: 17 chunks of nine would be 81 tiles and 69.
TEST(Attention, LanesBeginWithEqualParts) {
  EXPECT_EQ(evenGrain(150, 9, 2), 5);
  EXPECT_EQ(evenGrain(96, 6, 2), 6);
  EXPECT_EQ(evenGrain(7, 1, 2), 1);
  EXPECT_EQ(evenGrain(0, 1, 2), 1);
  for (int64_t tasks = 1; tasks < 200; ++tasks)
    for (int lanes : {2, 3, 16}) EXPECT_GE(2 * evenGrain(tasks, 9, lanes), 9);
}

TEST(Attention, EmptySizes) {
  RandomTensors random(32);
  compare({0, 2, 3, 4, 5, 6}, random, cpuTarget(), 1);
  compare({1, 2, 0, 4, 5, 6}, random, cpuTarget(), 1);
}

TEST(Attention, MaskedKeysDoNotCount) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(33);
    NodeUnderTest node("max", "Attention");
    const int64_t keys = 900, kept = 7;
    Tensors inputs = {random.floats({1, 1, 3, 8}), random.floats({1, 1, keys, 8}), random.floats({1, 1, keys, 8})};
    Ref<Tensor> mask = Tensor::allocate(DType::Float32, {1, 1, 1, keys});
    // The kept keys are the last: whole blocks before them are masked.
    for (int64_t t = 0; t < keys; ++t)
      static_cast<float*>(mask->mutableData())[t] = t < keys - kept ? -std::numeric_limits<float>::infinity() : 0;
    inputs.push_back(mask);
    const Tensors expected = node.run(inputs, {{1, 1, 3, 8}}, "reference");
    const Tensors actual = node.run(inputs, {{1, 1, 3, 8}}, "attention_f32");
    expectNear(*actual[0], *expected[0], 1e-5f, nameOf(target));
  });
}

}  // namespace
}  // namespace max
