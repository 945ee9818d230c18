// SPDX-License-Identifier: Apache-2.0
// Convolutions of bfloat16 whose pixels have an odd number of channels: words of two elements begin in the middle of
// one.
#include <limits>

#include "narrow_checks.h"
#include "plain_words.h"

namespace max {
namespace {

struct Case {
  int64_t channels;
  std::vector<int64_t> kernel, dilations;
  int64_t stride, before, after;
};

// One kernel row or several, whose taps follow each other or not; borders of one side, of both, or none.
const Case kCases[] = {
    {17, {1, 1}, {1, 1}, 1, 0, 0}, {25, {1, 1}, {1, 1}, 2, 0, 0}, {1, {1}, {1}, 1, 0, 0},
    {25, {3}, {1}, 1, 2, 0},       {25, {3}, {4}, 1, 8, 0},       {25, {3}, {64}, 1, 128, 0},
    {19, {3, 4}, {1, 1}, 1, 1, 1}, {19, {3, 3}, {2, 3}, 1, 2, 3}, {33, {3, 1}, {1, 1}, 1, 1, 0},
    {33, {2, 2}, {1, 1}, 2, 0, 0}, {5, {3, 3}, {1, 1}, 2, 1, 1},  {7, {2, 3, 2}, {1, 2, 1}, 1, 1, 1},
    {701, {2}, {1}, 1, 1, 0},      {701, {2}, {3}, 1, 0, 3},
};

struct Convolution {
  NodeUnderTest node{kMaxDomain, "Conv"};
  Tensors inputs;
  Shape output;

  Convolution(RandomTensors& random, const Case& c, int64_t filters, bool addsResidual) {
    const size_t rank = c.kernel.size();
    std::vector<int64_t> pads(rank, c.before), x{2}, w{filters, c.channels}, y{2};
    pads.insert(pads.end(), rank, c.after);
    for (size_t i = 0; i < rank; ++i) {
      x.push_back(rank == 1 ? 150 : 9 + static_cast<int64_t>(i));
      w.push_back(c.kernel[i]);
      y.push_back((x.back() + c.before + c.after - (c.kernel[i] - 1) * c.dilations[i] - 1) / c.stride + 1);
    }
    x.push_back(c.channels);
    y.push_back(filters);
    node->products = DType::BFloat16;
    node->attributes.set("pads", pads);
    node->attributes.set("strides", std::vector<int64_t>(rank, c.stride));
    node->attributes.set("dilations", c.dilations);
    node->attributes.set("activation", std::string("Relu"));
    output = Shape(y);
    inputs = {random.floats(Shape(x)), random.floats(Shape(w)), random.floats({filters})};
    if (addsResidual) inputs.push_back(random.floats(output));
  }
};

std::string nameOf(const Case& c) {
  return concat(c.channels, " channels, ", c.kernel.size(), " axes, pads ", c.before);
}

TEST(NarrowPixels, OddChannelsAreReadInPlace) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(93);
  for (const Case& c : kCases)
    for (const bool addsResidual : {false, true}) {
      // Filters of more than one panel, which are no stem.
      Convolution conv(random, c, 70, addsResidual);
      checkNode(conv.node, conv.inputs, addsResidual ? 0b1001 : 1, conv.output, 0b110, nameOf(c));
    }
}

// The last word of a pixel, or of a row of them, has one element; what lies behind it is not multiplied.
TEST(NarrowPixels, NeighboursAreNotRead) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(94);
  for (const Case& c : kCases) {
    Convolution conv(random, c, 70, false);
    const int64_t pixels = conv.inputs[0]->count() / c.channels, bad = pixels / 2;
    auto* x = static_cast<float*>(conv.inputs[0]->mutableData());
    for (int64_t i = 0; i < c.channels; ++i) x[bad * c.channels + i] = std::numeric_limits<float>::quiet_NaN();
    const Ref<Tensor> exact = conv.node.run(conv.inputs, {conv.output}, "reference")[0];
    for (const bool isNarrow : {false, true}) {
      Tensors in = conv.inputs;
      if (isNarrow) in[0] = narrowed(*in[0]);
      const Ref<Tensor> made = conv.node.run(in, {conv.output}, "", 2, 0b110)[0];
      for (int64_t i = 0; i < made->count(); ++i)
        ASSERT_EQ(std::isnan(made->as<float>()[i]), std::isnan(exact->as<float>()[i])) << nameOf(c) << ", " << i;
    }
  }
}

// Of a chain of such convolutions, as of signals, only the input and the output are floats.
TEST(NarrowPixels, ChainsStayNarrow) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.op("Conv", {b.input({2, 40, 90}), b.random({25, 40, 1})});
    for (const int64_t dilation : {1, 2, 4})
      x = b.op("Relu",
               {b.op("Conv", {x, b.random({25, 25, 3}, -0.2f, 0.2f)},
                     test::attrs({{"dilations", test::list({dilation})}, {"pads", test::list({2 * dilation, 0})}}))});
    b.output(b.op("Conv", {x, b.random({12, 25, 1})}));
  };
  const Network with(build, {2, 40, 90}, true), without(build, {2, 40, 90}, false);
  EXPECT_EQ(with.narrowValues(), 4) << dump(*with.graph);
  EXPECT_EQ(std::memcmp(with.outputs[0].data(), without.outputs[0].data(), with.outputs[0].bytes()), 0);
}

// Tiles of AMX take whole words.
TEST(NarrowPixels, TilesConvertOddChannels) {
  test::withEmulatedTiles([](const test::EmulatedTables&) {
    RandomTensors random(95);
    for (const Case& c : kCases) {
      Convolution conv(random, c, 70, false);
      checkNode(conv.node, conv.inputs, 0, conv.output, 0b110, nameOf(c));
    }
  });
}

}  // namespace
}  // namespace max
