// SPDX-License-Identifier: Apache-2.0
// max.QLinearConv at the sizes where its kernels change: blocks of channels, runs of pixels, tiles of rows.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "op_harness.h"
#include "ops/cpu/convolution/conv_borders.h"
#include "ops/cpu/convolution/conv_quantized.h"
#include "plain_words.h"

namespace max::test {
namespace {

struct Case {
  Shape input, weights;  // [N, spatial.., C], [M, C / group, kernel..]
  int64_t group = 1, stride = 1, dilation = 1, pad = 0;

  Shape output() const {
    Shape shape{input[0]};
    for (int i = 1; i + 1 < input.rank(); ++i)
      shape.push((input[i] + 2 * pad - dilation * (weights[i + 1] - 1) - 1) / stride + 1);
    shape.push(weights[0]);
    return shape;
  }
};

enum class Added { Nothing, Residual, Numbers, ScaledNumbers };

// `wide`: weights that need more than 8 bits without their zero point. With some seeds products or sums exceed 32 bits.
void expectReference(const Case& c, DType dtype, bool wide, Added added, uint32_t seed) {
  Random random(seed);
  const auto number = [&](DType type, double low, double high) { return randomTensor(random, type, {}, low, high); };
  const auto axes = static_cast<size_t>(c.input.rank() - 2);
  LooseNode node(kMaxDomain, "QLinearConv",
                 with({{"group", c.group},
                       {"strides", std::vector<int64_t>(axes, c.stride)},
                       {"dilations", std::vector<int64_t>(axes, c.dilation)},
                       {"pads", std::vector<int64_t>(2 * axes, c.pad)}}));
  const Ref<Tensor> x = randomTensor(random, dtype, c.input, dtype == DType::Int8 ? -128 : 0, 127);
  const Ref<Tensor> w = randomTensor(random, DType::Int8, c.weights, -100, 100);
  const Ref<Tensor> wZero = wide ? number(DType::Int8, 50, 60) : number(DType::Int8, 0, 0);
  std::vector<Ref<Tensor>> inputs{x,
                                  number(DType::Float32, 0.01, 0.02),
                                  number(dtype, 3, 9),
                                  w,
                                  randomTensor(random, DType::Float32, {c.weights[0]}, 0.01, 0.05),
                                  wZero,
                                  seed % 6 ? number(DType::Float32, 0.3, 0.4) : number(DType::Float32, 1e-9, 2e-9),
                                  seed % 5 ? number(dtype, 20, 90) : number(dtype, 0, 0),
                                  randomTensor(random, DType::Int32, {c.weights[0]}, -3000, 3000)};
  if (added == Added::Residual) {
    const std::vector<Ref<Tensor>> sum{
        randomTensor(random, dtype, c.output(), 0, 127), number(DType::Float32, 0.1, 0.2), number(dtype, 3, 9),
        seed % 7 ? number(DType::Float32, 0.3, 0.4) : number(DType::Float32, 1e-9, 2e-9), number(dtype, 20, 90)};
    inputs.insert(inputs.end(), sum.begin(), sum.end());
  } else if (added != Added::Nothing) {
    inputs.insert(inputs.end(), {nullptr, nullptr, nullptr, number(DType::Float32, 0.3, 0.4), number(dtype, 20, 90)});
    inputs.push_back(randomTensor(random, DType::Float32, {c.weights[0]}, -9, 9));
    if (added == Added::ScaledNumbers) inputs.push_back(randomTensor(random, DType::Float32, {c.weights[0]}, -2, 2));
  }
  const std::vector<OutputType> outputs{{dtype, c.output()}};
  const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
  for (const int lanes : {1, 2}) {
    const KernelRun run = runOp(node.node(), inputs, outputs, "conv_int8", lanes, true);
    expectClose(*run.outputs[0], *expected, 0,
                concat("input ", c.input, " W ", c.weights, " stride ", c.stride, " dilation ", c.dilation));
  }
  if (added == Added::Nothing || added == Added::Residual) return;
  // With parameters of now.
  Value input;
  input.type.dtype = dtype;
  node.node().inputs = {&input, nullptr, nullptr, nullptr, nullptr, &input};
  const std::vector<const Tensor*> constants{nullptr, nullptr, nullptr, w.get(), nullptr, wZero.get()};
  node.node().prepared = cpuOperators().find(kMaxDomain, "QLinearConv")->prepare(node.node(), constants);
  const KernelRun later = runOp(node.node(), inputs, outputs, "conv_int8", 2, false);
  expectClose(*later.outputs[0], *expected, 0, concat("parameters of now, input ", c.input, " W ", c.weights));
}
void expectReference(const Case& c, DType dtype, bool wide, bool hasResidual, uint32_t seed) {
  expectReference(c, dtype, wide, hasResidual ? Added::Residual : Added::Nothing, seed);
}

TEST(QuantizedConv, DepthwiseBlocksAndRuns) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t channels : {2, 12, 16, 20, 32, 40, 63, 64, 70, 100, 144})
      for (const int64_t kernel : {1, 2, 3, 5, 8})
        for (const int64_t stride : {1, 2}) {
          const int64_t width = 7 + 9 * (seed % 5);
          const Case c{{2, 9, width, channels}, {channels, 1, 3, kernel}, channels, stride, 1, 1};
          expectReference(c, seed % 2 ? DType::Int8 : DType::UInt8, seed % 7 == 0, seed % 5 == 0, seed);
          ++seed;
        }
  });
}

// Channels that do not fill a vector or its last block, alone and with a residual, with weights of 8 and of 9 bits.
TEST(QuantizedConv, DepthwiseFewChannels) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t channels : {1, 2, 3, 4, 8, 12, 15, 17, 20, 33, 40})
      for (const int64_t kernel : {3, 5})
        for (const int64_t stride : {1, 2})
          for (int flags = 0; flags < 8; ++flags, ++seed) {
            const Case c{{2, 8, 6 + seed % 11, channels}, {channels, 1, 3, kernel}, channels, stride, 1, 1};
            expectReference(c, flags & 1 ? DType::Int8 : DType::UInt8, flags & 2, flags & 4, seed);
          }
    // Lanes share an image, and meet between runs of pixels.
    for (const int64_t channels : {4, 12})
      for (const bool hasResidual : {false, true})
        expectReference({{1, 90, 70, channels}, {channels, 1, 3, 3}, channels, 1, 1, 1}, DType::UInt8, false,
                        hasResidual, seed++);
  });
}

// Two rows of the output at a time, two or three pixels of each: rows and pixels that are left over, with blocks of all
// widths, whose bytes have other ends than their type's where scales are tiny.
TEST(QuantizedConv, DepthwiseSquares) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t kernel : {3, 5, 7})
      for (const int64_t channels : {12, 16, 32, 64, 112})
        for (const int64_t height : {1, 2, 5})
          for (const int64_t width : {1, 2, 3, 5, 6, 11, 13, 40})
            for (const DType dtype : {DType::UInt8, DType::Int8}) {
              expectReference({{2, height, width, channels}, {channels, 1, kernel, kernel}, channels, 1, 1, kernel / 2},
                              dtype, false, seed % 4 == 0, seed);
              ++seed;
            }
    // No border, and one that some pixels see nothing but.
    for (const int64_t kernel : {3, 5, 7})
      for (const int64_t pad : {0, 8}) {
        const Case c{{1, 9, 12, 64}, {64, 1, kernel, kernel}, 64, 1, 1, pad};
        expectReference(c, DType::UInt8, false, false, seed++);
      }
  });
}

TEST(QuantizedConv, DepthwiseShapes) {
  forEachTarget([] {
    for (const Case& c :
         {Case{{1, 20, 37, 24}, {24, 1, 3, 3}, 24, 1, 2, 2}, Case{{1, 20, 37, 24}, {24, 1, 3, 3}, 24, 4},
          Case{{3, 70, 48}, {48, 1, 3}, 48, 1, 1, 1}, Case{{1, 4, 5, 34, 18}, {18, 1, 2, 3, 3}, 18},
          Case{{1, 12, 40, 16}, {16, 1, 9, 9}, 16, 1, 1, 4}, Case{{0, 5, 5, 16}, {16, 1, 3, 3}, 16}}) {
      expectReference(c, DType::UInt8, false, false, 5);
      expectReference(c, DType::Int8, false, false, 6);
    }
  });
}

TEST(QuantizedConv, TilesOfRows) {
  const auto check = [] {
    uint32_t seed = 1;
    for (const int64_t width : {1, 6, 7, 8, 13, 49, 55, 57, 64, 113})
      for (const int64_t filters : {5, 16, 24, 32, 33, 64, 81, 96}) {
        const Case c{{1, 1, width, 20}, {filters, 20, 1, 1}};
        expectReference(c, seed % 2 ? DType::Int8 : DType::UInt8, seed % 3 == 0, seed % 4 < 2, seed);
        ++seed;
      }
    // Sums of so many channels are completed while others are made.
    for (const int64_t channels : {52, 56, 84, 256, 260})
      for (const int64_t width : {14, 49, 113})
        for (const DType dtype : {DType::UInt8, DType::Int8}) {
          expectReference({{1, 1, width, channels}, {136, channels, 1, 1}}, dtype, false, false, seed);
          ++seed;
        }
    expectReference({{2, 9, 15, 16}, {40, 16, 3, 3}, 1, 1, 1, 1}, DType::UInt8, false, true, seed);
    expectReference({{1, 3, 12, 4}, {9, 4, 3, 90}, 1, 1, 1, 45}, DType::UInt8, false, false, seed);
    expectReference({{0, 3, 12, 4}, {9, 4, 3, 3}, 1, 1, 1, 1}, DType::UInt8, false, false, seed);
  };
  forEachTarget(check);
  withEmulatedTiles([&](const EmulatedTables&) {
    const int64_t before = EmulatedTiles::configurations();
    check();
    EXPECT_GT(EmulatedTiles::configurations(), before);
  });
}

// Of up to half a vector of filters, as all of them or as the last ones; odd and even numbers of words.
TEST(QuantizedConv, HalfVectors) {
  const auto check = [] {
    uint32_t seed = 1;
    for (const int64_t filters : {5, 7, 8, 72})
      for (const int64_t channels : {4, 8, 12, 36})
        for (const Added added : {Added::Nothing, Added::Residual, Added::Numbers})
          for (const bool wide : {false, true}) {
            const DType dtype = seed % 2 ? DType::UInt8 : DType::Int8;
            expectReference({{1, 1, 5 + seed % 40, channels}, {filters, channels, 1, 1}}, dtype, wide, added, seed);
            expectReference({{1, 2, 5, 16, channels}, {filters, channels, 3, 3, 3}, 1, 1, 1, 1}, dtype, wide, added,
                            seed);
            ++seed;
          }
    expectReference({{1, 9, 60, 3}, {8, 3, 3, 3}, 1, 1, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{1, 9, 60, 1}, {7, 1, 5, 5}, 1, 2, 1, 2}, DType::Int8, false, false, seed);
  };
  forEachTarget(check);
  withEmulatedTiles([&](const EmulatedTables&) { check(); });
}

// Tiles leave out taps that see nothing but the border: of whole frames, of rows, and of columns far away. Few frames
// make few tiles of which each leaves out others.
TEST(QuantizedConv, TapsOfTheBorder) {
  const auto check = [] {
    uint32_t seed = 1;
    for (const DType dtype : {DType::UInt8, DType::Int8})
      for (const bool wide : {false, true})
        for (const Case& c :
             {Case{{1, 2, 7, 14, 16}, {70, 16, 3, 3, 3}, 1, 1, 1, 1},
              Case{{2, 1, 7, 7, 20}, {9, 20, 3, 3, 3}, 1, 1, 1, 1},
              Case{{1, 3, 5, 9, 32}, {64, 16, 3, 3, 3}, 2, 2, 1, 1}, Case{{1, 40, 16}, {33, 16, 3}, 1, 1, 16, 16},
              Case{{1, 5, 30, 16}, {24, 16, 3, 3}, 1, 1, 14, 14}, Case{{3, 2, 3, 8}, {32, 8, 3, 3}, 1, 1, 1, 3},
              Case{{1, 2, 5, 7, 64}, {64, 16, 3, 3, 3}, 4, 1, 1, 1}, Case{{1, 4, 64, 4}, {32, 4, 3, 3}, 1, 1, 1, 1},
              Case{{1, 3, 40, 12}, {32, 12, 3, 3}, 1, 1, 1, 2}, Case{{1, 14, 14, 64}, {64, 64, 1, 1}, 1, 1, 1, 1}})
          for (const Added added : {Added::Nothing, Added::Residual, Added::Numbers})
            expectReference(c, dtype, wide, added, seed++);
  };
  forEachTarget(check);
  withEmulatedTiles([&](const EmulatedTables&) { check(); });
}

// What each pixel of a tile sees, tap by tap.
std::vector<bool> hiddenTaps(const ConvShape& shape, int64_t first, int64_t count) {
  std::vector<bool> hidden(static_cast<size_t>(shape.taps()), true);
  for (int64_t pixel = first; pixel < first + count; ++pixel)
    for (int64_t tap = 0; tap < shape.taps(); ++tap) {
      bool isInside = true;
      int64_t place = pixel, rest = tap;
      for (size_t axis = 3; axis-- > 0; place /= shape.out[axis], rest /= shape.kernel[axis]) {
        const int64_t at = place % shape.out[axis] * shape.stride[axis] - shape.before[axis] +
                           rest % shape.kernel[axis] * shape.dilation[axis];
        isInside = isInside && at >= 0 && at < shape.in[axis];
      }
      if (isInside) hidden[static_cast<size_t>(tap)] = false;
    }
  return hidden;
}

TEST(QuantizedConv, TapsThatTilesLeaveOut) {
  const Case cases[] = {{{2, 2, 7, 14, 4}, {4, 4, 3, 3, 3}, 1, 1, 1, 1},
                        {{1, 1, 5, 9, 4}, {4, 4, 3, 3, 3}, 1, 2, 1, 1},
                        {{1, 40, 4}, {4, 4, 3}, 1, 1, 16, 16},
                        {{1, 5, 30, 4}, {4, 4, 3, 3}, 1, 1, 14, 14}};
  for (const Case& c : cases) {
    const auto axes = static_cast<size_t>(c.input.rank() - 2);
    LooseNode node(kMaxDomain, "QLinearConv",
                   with({{"strides", std::vector<int64_t>(axes, c.stride)},
                         {"dilations", std::vector<int64_t>(axes, c.dilation)},
                         {"pads", std::vector<int64_t>(2 * axes, c.pad)}}));
    const ConvShape shape(node.node(), c.input, c.weights, c.output());
    const BorderTaps taps(shape, false);
    const auto all = static_cast<size_t>(taps.count());
    int64_t most = 0;
    for (int64_t first = 0; first + 7 <= shape.images * shape.pixels(); first += 7) {
      const std::vector<bool> expected = hiddenTaps(shape, first, 7);
      const std::unique_ptr<bool[]> found(new bool[all]);
      Spatial at = taps.placeOf(first);
      const int64_t count = std::count(expected.begin(), expected.end(), true);
      EXPECT_EQ(taps.find(at, 7, {found.get(), all}), count > 0) << first;
      EXPECT_TRUE(count == 0 || std::equal(expected.begin(), expected.end(), found.get())) << first;
      most = std::max(most, count);
    }
    EXPECT_GE(most, taps.count() / 3);
    EXPECT_GT(taps.share(7), 0.02);
  }
}

// The same as sums, with zero points of filters or without.
TEST(QuantizedConv, SumsWithoutTapsOfTheBorder) {
  forEachTarget([] {
    Random random(5);
    LooseNode node(kMaxDomain, "ConvInteger", with({{"pads", std::vector<int64_t>(6, 1)}}));
    for (const DType dtype : {DType::UInt8, DType::Int8})
      for (const int64_t zero : {0, 50}) {
        const std::vector<Ref<Tensor>> inputs{randomTensor(random, dtype, {1, 2, 7, 7, 16}, 0, 127),
                                              randomTensor(random, DType::Int8, {70, 16, 3, 3, 3}, -100, 100),
                                              randomTensor(random, dtype, {}, 3, 9),
                                              randomTensor(random, DType::Int8, {}, zero, zero)};
        const std::vector<OutputType> outputs{{DType::Int32, {1, 2, 7, 7, 70}}};
        const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
        const KernelRun run = runOp(node.node(), inputs, outputs, "conv_int8", 2, true);
        expectClose(*run.outputs[0], *expected, 0, concat("zero points ", zero));
      }
  });
}

// Numbers of the filters that results are multiplied by, and added to.
TEST(QuantizedConv, NumbersOfFilters) {
  const auto check = [] {
    uint32_t seed = 1;
    for (const Added added : {Added::Numbers, Added::ScaledNumbers})
      for (const DType dtype : {DType::UInt8, DType::Int8}) {
        for (const int64_t filters : {1, 2, 3, 4, 5, 64, 81}) {
          expectReference({{1, 1, 20, 36}, {filters, 36, 1, 1}}, dtype, false, added, seed++);
          expectReference({{2, 5, 6, 20}, {filters, 20, 3, 3}, 1, 2, 1, 1}, dtype, filters > 4, added, seed++);
        }
        expectReference({{1, 9, 20, 3}, {32, 3, 3, 3}, 1, 2, 1, 1}, dtype, false, added, seed++);
        expectReference({{1, 5, 6, 64}, {64, 8, 3, 3}, 8, 1, 1, 1}, dtype, false, added, seed++);
      }
  };
  forEachTarget(check);
  withEmulatedTiles([&](const EmulatedTables&) { check(); });
}

TEST(QuantizedConv, NarrowGroups) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t each : {4, 8, 16, 32})
      for (const int64_t channels : {32, 64, 96, 160})
        for (const int64_t stride : {1, 2}) {
          const Case c{{2, 7, 5 + seed % 6, channels}, {channels, each, 3, 3}, channels / each, stride, 1, 1};
          for (const DType dtype : {DType::UInt8, DType::Int8}) {
            expectReference(c, dtype, false, false, seed);
            expectReference(c, dtype, seed % 7 == 0, seed % 5 == 0, seed + 1);
          }
          ++seed;
        }
    // The last vector holds half of its channels, or another part.
    for (const int64_t channels : {8, 16, 24, 48, 80, 112})
      expectReference({{1, 6, 7, channels}, {channels, 8, 3, 3}, channels / 8, 1, 1, 1}, DType::UInt8, false, false,
                      ++seed);
    // More filters than channels, other numbers of channels, dilations, one axis and three.
    expectReference({{1, 7, 7, 64}, {128, 16, 3, 3}, 4, 1, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{1, 7, 7, 72}, {72, 12, 3, 3}, 6, 1, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{1, 9, 9, 64}, {64, 8, 3, 3}, 8, 1, 2, 2}, DType::UInt8, false, false, seed);
    expectReference({{1, 70, 64}, {64, 8, 5}, 8, 2, 1, 2}, DType::Int8, false, false, seed);
    expectReference({{1, 4, 5, 6, 64}, {64, 4, 2, 2, 2}, 16}, DType::UInt8, false, false, seed);
    expectReference({{0, 5, 5, 64}, {64, 4, 3, 3}, 16}, DType::UInt8, false, false, seed);
  });
}

// Few channels: what is left over of the rows of a window makes words of its own, if pixels are far enough from each
// other.
TEST(QuantizedConv, WordsOfWindows) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t channels : {1, 2, 3, 4})
      for (const int64_t kernel : {2, 3, 5, 6, 7})
        for (const int64_t stride : {1, 2, 3, 9}) {
          const int64_t filters = seed % 3 ? 64 : 7 + seed % 31, height = kernel + seed % 9,
                        width = kernel + 3 * (seed % 17);
          const Case c{
              {1 + seed % 2, height, width, channels}, {filters, channels, kernel, kernel}, 1, stride, 1, seed % 4};
          for (const DType dtype : {DType::UInt8, DType::Int8}) {
            expectReference(c, dtype, false, false, seed);
            expectReference(c, dtype, seed % 7 == 0, seed % 5 == 0, seed + 1);
            ++seed;
          }
        }
    // Long rows in segments, one axis and three, dilations, many rows, no image.
    expectReference({{1, 5, 2500, 3}, {8, 3, 7, 7}, 1, 2, 1, 3}, DType::UInt8, false, false, seed);
    expectReference({{2, 300, 3}, {40, 3, 7}, 1, 2, 1, 3}, DType::Int8, false, false, seed);
    expectReference({{2, 5, 6, 40, 3}, {32, 3, 3, 3, 3}, 1, 2, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{1, 5, 6, 40, 1}, {64, 1, 2, 3, 3}, 1, 3, 1, 1}, DType::Int8, false, false, seed);
    expectReference({{1, 20, 40, 3}, {32, 3, 3, 3}, 1, 2, 2, 2}, DType::UInt8, false, false, seed);
    expectReference({{1, 130, 9, 1}, {8, 1, 129, 3}}, DType::UInt8, false, false, seed);
    expectReference({{0, 20, 40, 3}, {32, 3, 3, 3}, 1, 2, 1, 1}, DType::UInt8, false, false, seed);
  });
}

// Few filters: rows of the kernel that do not fill vectors, fewer pixels than a tile, borders wider than the image, and
// rows in segments.
TEST(QuantizedConv, FewFilters) {
  forEachTarget([] {
    uint32_t seed = 1;
    for (const int64_t filters : {1, 2, 3, 4, 5})
      for (const int64_t channels : {16, 20, 33, 64})
        for (const int64_t kernel : {1, 2, 3, 7})
          for (const int64_t stride : {1, 2}) {
            const Case c{{1 + seed % 2, kernel + seed % 4, kernel + seed % 23, channels},
                         {filters, channels, kernel, kernel},
                         1,
                         stride,
                         1,
                         seed % (kernel + 1)};
            expectReference(c, seed % 5 ? DType::UInt8 : DType::Int8, seed % 11 == 0, seed % 13 == 0, seed);
            ++seed;
          }
    expectReference({{1, 2, 1100, 16}, {3, 16, 3, 5}, 1, 1, 1, 2}, DType::UInt8, false, false, seed);
    expectReference({{2, 530, 24}, {2, 24, 3}, 1, 2, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{2, 5, 6, 19, 32}, {2, 32, 3, 3, 3}, 1, 1, 1, 1}, DType::UInt8, false, false, seed);
    expectReference({{1, 9, 12, 32}, {4, 32, 3, 3}, 1, 1, 2, 2}, DType::UInt8, false, false, seed);
    expectReference({{1, 3, 4, 16}, {3, 16, 3, 3}, 1, 1, 1, 30}, DType::UInt8, false, false, seed);
    expectReference({{0, 9, 12, 32}, {4, 32, 3, 3}, 1, 1, 1, 1}, DType::UInt8, false, false, seed);
  });
}

// What rows outside a long image contain takes as much memory as a segment reads.
TEST(QuantizedConv, FewFiltersNeedNoWholeLine) {
  forEachTarget([] {
    if (!fewFilterBytesFunction()) return;
    Random random(1);
    const Ref<Tensor> w = randomTensor(random, DType::Int8, {3, 16, 3, 3}, -9, 9);
    const auto scratch = [&](int64_t height, int64_t pad) {
      LooseNode node(kMaxDomain, "ConvInteger", with({{"pads", std::vector<int64_t>{pad, 0, pad, 0}}}));
      const int64_t width = 1 << 16;
      const std::vector<Operand> in{{DType::UInt8, {1, height, width, 16}, nullptr},
                                    {DType::Int8, w->shape(), w.get()}};
      const std::vector<Operand> out{{DType::Int32, {1, 5, width - 2, 3}, nullptr}};
      return cpuOperators().create({node.node(), in, out, 1}, "conv_int8")->scratchBytes();
    };
    EXPECT_LT(scratch(7, 0), scratch(5, 1));
    EXPECT_LT(scratch(5, 1), size_t{1} << 16);
  });
}

// The same as sums, and as real numbers; so are those of few filters.
TEST(QuantizedConv, SumsOfWindows) {
  forEachTarget([] {
    Random random(3);
    for (const DType dtype : {DType::UInt8, DType::Int8})
      for (const int64_t width : {9, 60})
        for (const int64_t filters : {3, 24, 32, 40, 64, 100})
          for (const bool hasFactor : {false, true}) {
            const int64_t channels = filters < 4 ? 17 : 3;
            const std::vector<int64_t> twos{2, 2}, pads{3, 3, 3, 3};
            LooseNode node(kMaxDomain, "ConvInteger", with({{"strides", twos}, {"pads", pads}}));
            std::vector<Ref<Tensor>> inputs{randomTensor(random, dtype, {1, 11, width, channels}, 0, 127),
                                            randomTensor(random, DType::Int8, {filters, channels, 7, 7}, -100, 100),
                                            randomTensor(random, dtype, {}, 3, 9),
                                            randomTensor(random, DType::Int8, {}, 0, 0)};
            if (hasFactor) {
              inputs.push_back(randomTensor(random, DType::Float32, {filters}, 0.1, 0.2));
              inputs.push_back(randomTensor(random, DType::Float32, {filters}, -9, 9));
            }
            const std::vector<OutputType> outputs{
                {hasFactor ? DType::Float32 : DType::Int32, {1, 6, (width + 1) / 2, filters}}};
            const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
            const std::string what = concat(width, " pixels, ", filters, " filters");
            const KernelRun run = runOp(node.node(), inputs, outputs, "conv_int8", 2, true);
            expectClose(*run.outputs[0], *expected, hasFactor ? 1e-5 : 0, what);
            // With a scale and a zero point of now, as they are where a model quantises what it computes.
            Value x;
            x.type.dtype = dtype;
            node.node().inputs = {&x};
            const std::vector<const Tensor*> weights{nullptr, inputs[1].get(), nullptr, inputs[3].get()};
            node.node().prepared = cpuOperators().find(kMaxDomain, "ConvInteger")->prepare(node.node(), weights);
            const KernelRun later = runOp(node.node(), inputs, outputs, "conv_int8", 2, false);
            expectClose(*later.outputs[0], *expected, hasFactor ? 1e-5 : 0, what);
          }
  });
}

// Filters with one tap are packed where they lie: a load needs no memory for a copy.
TEST(QuantizedConv, PlainFiltersArePackedWithoutACopy) {
  forEachTarget([] {
    Random random(1);
    LooseNode loose(kMaxDomain, "QLinearConv");
    Node& node = loose.node();
    Value x;
    x.type.dtype = DType::UInt8;
    node.inputs = {&x};
    const Ref<Tensor> w = randomTensor(random, DType::Int8, {256, 256, 1, 1}, -9, 9);
    const std::vector<const Tensor*> constants{nullptr, nullptr, nullptr, w.get()};
    const OpRow* row = cpuOperators().find(kMaxDomain, "QLinearConv");
    const size_t bytes = row->prepare(node, constants)->bytes();
    const auto account = makeRef<MemoryAccount>("No room for a copy", bytes + w->bytes() / 2);
    ActiveCall call;
    call.memory = account.get();
    const ActiveCallScope scope(&call);
    EXPECT_NO_THROW(row->prepare(node, constants));
  });
}

}  // namespace
}  // namespace max::test
