// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/cpu/convolution/conv_few.h"
#include "ops/cpu/convolution/conv_grouped.h"
#include "ops/cpu/convolution/conv_stem.h"
#include "weights_harness.h"

namespace max {
namespace {

struct ConvCase {
  int rank = 2;
  int64_t images = 1, channels = 1, filters = 1, groups = 1;
  std::vector<int64_t> in, kernel, strides, dilations, pads;

  Shape output() const {
    Shape shape{images};
    for (int i = 0; i < rank; ++i) {
      const size_t s = static_cast<size_t>(i), e = s + static_cast<size_t>(rank);
      shape.push((in[s] + pads[s] + pads[e] - dilations[s] * (kernel[s] - 1) - 1) / strides[s] + 1);
    }
    shape.push(filters);
    return shape;
  }
  Shape input() const {
    Shape shape{images};
    for (int64_t dim : in) shape.push(dim);
    shape.push(channels);
    return shape;
  }
  Shape weights() const {
    Shape shape{filters, channels / groups};
    for (int64_t dim : kernel) shape.push(dim);
    return shape;
  }
  std::string describe() const {
    std::string text = concat("in ", input(), " W ", weights(), " group ", groups, " strides/dilations/pads");
    for (const auto* list : {&strides, &dilations, &pads}) {
      text += " /";
      for (int64_t value : *list) text += concat(" ", value);
    }
    return text;
  }
};

ConvCase randomCase(RandomTensors& random, int kind) {
  ConvCase c;
  c.rank = static_cast<int>(random.integer(1, 3));
  c.images = random.integer(1, 2);
  for (int i = 0; i < c.rank; ++i) {
    const int64_t kernel = kind == 0 ? 1 : random.integer(1, 5);
    c.kernel.push_back(kernel);
    c.strides.push_back(random.integer(1, 3));
    c.dilations.push_back(random.chance(0.7) ? 1 : 2);
    c.in.push_back((kernel - 1) * c.dilations.back() + random.integer(1, c.rank == 3 ? 5 : 12));
  }
  const bool padded = kind != 0 && random.chance(0.6);
  for (int i = 0; i < 2 * c.rank; ++i) c.pads.push_back(padded ? random.integer(0, 3) : 0);
  if (kind == 2) {
    c.groups = c.channels = c.filters = random.integer(2, 70);
  } else {
    c.groups = kind == 3 ? random.integer(2, 4) : 1;
    c.channels = c.groups * random.integer(1, 20);
    c.filters = c.groups * random.integer(1, 70);
  }
  return c;
}

void compare(const ConvCase& c, RandomTensors& random, CpuTarget target, int i,
             const char* implementation = "conv_f32") {
  const bool takesResidual = std::string_view(implementation) == "conv_f32";

  const char* activations[] = {"", "Relu", "Clip", "HardSwish", "Silu", "LeakyRelu"};
  NodeUnderTest node("max", "Conv");
  node->attributes.set("group", c.groups);
  node->attributes.set("strides", c.strides);
  node->attributes.set("dilations", c.dilations);
  node->attributes.set("pads", c.pads);
  node->attributes.set("activation", std::string(activations[random.integer(0, 5)]));
  node->attributes.set("activation_alpha", -0.5f);
  node->attributes.set("activation_beta", 0.5f);
  if (c.groups == 1 && random.chance(0.5)) node->attributes.set("residual_last", int64_t{1});
  const Tensors inputs = {random.floats(c.input()), random.floats(c.weights()),
                          random.chance(0.7) ? random.floats({c.filters}) : nullptr,
                          takesResidual && random.chance(0.3) ? random.floats(c.output()) : nullptr};
  const Tensors expected = node.run(inputs, {c.output()}, "reference");
  const Tensors actual = node.run(inputs, {c.output()}, implementation, 1 + i % 3, 2);
  expectNear(*actual[0], *expected[0], 3e-5f, concat(nameOf(target), " case ", i, " ", c.describe()));
  const std::string_view name(implementation);
  if (name != "few_f32" && (name != "grouped_f32" || c.channels / c.groups > 8)) return;
  const Tensors ofCall = node.run(inputs, {c.output()}, implementation, 1 + i % 3);
  expectNear(*ofCall[0], *expected[0], 3e-5f, concat(nameOf(target), " case ", i, " ", c.describe(), " of the call"));
}

void compareRandomCases(int kind, int count) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(static_cast<uint32_t>(10 + kind));
    for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i) {
      ConvCase c = randomCase(random, kind);
      compare(c, random, target, i);
    }
  });
}

TEST(Conv, PointwiseMatchesReference) { compareRandomCases(0, 40); }
TEST(Conv, DenseMatchesReference) { compareRandomCases(1, 80); }
TEST(Conv, DepthwiseMatchesReference) { compareRandomCases(2, 80); }
TEST(Conv, GroupedMatchesReference) { compareRandomCases(3, 40); }

// Kernels for few channels: widths below, at and above a tile's pixels, filters of one vector to several blocks.
TEST(Conv, StemsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(25);
    int i = 0;
    for (int64_t kernel : {1, 3, 6, 7})
      for (int64_t stride : {1, 2, 4})
        for (int64_t width : {7, 14, 33, 61}) {
          if (testing::Test::HasFatalFailure()) return;
          const int64_t channels = random.integer(1, 4), filters = random.integer(1, 90);
          std::vector<int64_t> pads;
          for (int p = 0; p < 4; ++p) pads.push_back(random.chance(0.3) ? 0 : random.integer(0, kernel));
          ConvCase c{2,           random.integer(1, 2), channels,         filters, 1,
                     {11, width}, {kernel, kernel},     {stride, stride}, {1, 1},  pads};
          compare(c, random, target, i++, "stem_f32");
        }
    const ConvCase outside{2, 1, 3, 5, 1, {2, 1}, {3, 3}, {1, 2}, {1, 1}, {4, 5, 4, 6}};
    compare(outside, random, target, i, "stem_f32");
  });
}

// Rows of all lengths that are divided differently into tiles, and of several parts whose filters come together.
TEST(Conv, StemsOfAllWidthsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(26);
    for (int64_t width = 1; width < 60 && !testing::Test::HasFatalFailure(); ++width)
      compare({1, 1, 3, width % 2 == 0 ? 16 : 40, 1, {width}, {1}, {1}, {1}, {0, 0}}, random, target, 1, "stem_f32");
    compare({1, 1, 2, 70, 1, {700}, {5}, {2}, {1}, {1, 3}}, random, target, 1, "stem_f32");
  });
}

TEST(Conv, StemsOfVideosMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(26);
    int i = 0;
    for (int64_t frames : {1, 2, 5})
      for (int64_t kernel : {1, 3, 7})
        for (int64_t stride : {1, 2}) {
          if (testing::Test::HasFatalFailure()) return;
          std::vector<int64_t> pads;
          for (int p = 0; p < 6; ++p) pads.push_back(random.chance(0.3) ? 0 : random.integer(0, kernel));
          ConvCase c{3,
                     random.integer(1, 2),
                     random.integer(1, 3),
                     random.integer(1, 40),
                     1,
                     {7, 9, 23},
                     {frames, kernel, kernel},
                     {stride, stride, 2},
                     {1, 1, 1},
                     pads};
          compare(c, random, target, i++, "stem_f32");
        }
  });
}

// Windows that are one pixel wide, such as those of positions in lambda layers; with more rows, products are used.
TEST(Conv, StemsOfManyKernelRowsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(31);
    const ConvCase c{3, 2, 1, 16, 1, {12, 7, 21}, {9, 9, 1}, {1, 1, 1}, {1, 1, 1}, {4, 4, 0, 4, 4, 0}};
    compare(c, random, target, 0, "stem_f32");
    const ConvCase most{2, 1, 2, 19, 1, {140, 5}, {128, 2}, {1, 1}, {1, 1}, {0, 1, 0, 0}};
    compare(most, random, target, 1, "stem_f32");
    const ConvCase more{2, 1, 2, 19, 1, {140, 5}, {129, 2}, {1, 1}, {1, 1}, {0, 1, 0, 0}};
    compare(more, random, target, 2, "conv_f32");
  });
}

// Of more taps than filters that fill vectors may have.
TEST(Conv, PlanesOfManyTapsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    if (stemTable().mostOfPlanes == 0) return;
    RandomTensors random(33);
    const ConvCase c{2, 1, 3, stemTable().mostOfPlanes, 1, {19, 40}, {17, 17}, {1, 1}, {1, 1}, {8, 8, 8, 8}};
    compare(c, random, target, 0, "stem_f32");
  });
}

// Vectors of pixels, from planes of the input; rows of many vectors, of less than one, and of several segments.
TEST(Conv, FewFiltersOfFewChannelsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(32);
    const StemTable& table = stemTable();
    int i = 0;
    for (int64_t filters = 1; filters <= table.mostOfPlanes; ++filters)
      for (int64_t stride : {1, 2, 3})
        for (int64_t width : {9, 130}) {
          if (testing::Test::HasFatalFailure()) return;
          const int64_t channels = random.integer(1, 12), kernel = 3 * stride;
          std::vector<int64_t> pads;
          for (int p = 0; p < 6; ++p) pads.push_back(random.chance(0.3) ? 0 : random.integer(0, kernel));
          pads[2] = std::max<int64_t>(pads[2], kernel - width);
          ConvCase c{3, 2, channels, filters, 1, {3, 4, width}, {2, 3, kernel}, {1, 2, stride}, {1, 1, 1}, pads};
          NodeUnderTest node("max", "Conv");
          node->attributes.set("strides", c.strides);
          EXPECT_GT(stemTableFor(*node, c.weights()).overread, 0) << c.describe();
          compare(c, random, target, i++, "stem_f32");
        }
    const ConvCase outside{2, 1, 3, 2, 1, {2, 1}, {3, 3}, {1, 1}, {1, 1}, {4, 5, 4, 6}};
    const ConvCase isLong{1, 1, 3, 2, 1, {9000}, {9}, {1}, {1}, {4, 3}};
    if (table.mostOfPlanes > 0) compare(isLong, random, target, 2, "stem_f32");
    if (table.mostOfPlanes > 0) compare(outside, random, target, i, "stem_f32");
  });
}

// Elements that few pixels read are not worth a copy.
TEST(Conv, PlanesAreForWindowsThatOverlap) {
  const StemTable& table = stemTable();
  if (table.mostOfPlanes == 0) GTEST_SKIP() << "these vectors are too short";
  const auto hasPlanes = [](const Shape& weights, std::vector<int64_t> strides) {
    NodeUnderTest node("max", "Conv");
    node->attributes.set("strides", std::move(strides));
    return stemTableFor(*node, weights).overread > 0;
  };
  const int64_t most = table.mostOfPlanes;
  EXPECT_TRUE(hasPlanes({most, 3, 3, 3}, {1, 1}));
  EXPECT_FALSE(hasPlanes({most + 1, 3, 3, 3}, {1, 1}));
  EXPECT_FALSE(hasPlanes({most, 16, 3, 3}, {1, 1}));
  EXPECT_FALSE(hasPlanes({most, 3, 3, 3}, {2, 2}));
  EXPECT_TRUE(hasPlanes({most, 3, 5, 7, 7}, {1, 2, 2}));
  EXPECT_TRUE(hasPlanes({most, 1, 3}, {1}));
  EXPECT_FALSE(hasPlanes({most, 1, 1, 1}, {1, 1}));
  EXPECT_FALSE(hasPlanes({most, 8, 3, 1, 1}, {1, 1, 1}));
}

// Of bfloat16, more channels are, but for those of which float32 has no planes and half a vector of words would be
// empty.
TEST(Conv, PlanesOfWordsAreForEvenChannels) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto hasWords = [](const Shape& weights) {
    NodeUnderTest node("max", "Conv");
    node->products = DType::BFloat16;
    return stemTableFor(*node, weights).elements == 2;
  };
  EXPECT_TRUE(hasWords({8, 2, 3, 3}));
  EXPECT_TRUE(hasWords({2, 14, 3, 3}));
  EXPECT_TRUE(hasWords({3, 64, 3, 3}));
  EXPECT_FALSE(hasWords({8, 3, 3, 3}));
  EXPECT_FALSE(hasWords({9, 8, 3, 3}));
  EXPECT_FALSE(hasWords({8, 66, 3, 3}));
  EXPECT_FALSE(hasWords({2, 16, 3, 3}));
  EXPECT_FALSE(hasWords({8, 16, 1, 1}));
}

// Rows of one to many segments, of one vector of filters and of few channels.
TEST(Conv, LongRowsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(29);
    for (int64_t width : {63, 640, 9000})
      for (int64_t stride : {1, 2})
        for (int64_t pad : {0, 3}) {
          if (testing::Test::HasFatalFailure()) return;
          const int64_t lanes = stemTable().lanes;
          const ConvCase fewChannels{1, 1, 2, 21, 1, {width}, {7}, {stride}, {1}, {pad, pad}};
          compare(fewChannels, random, target, 2, "stem_f32");
          const ConvCase fewFilters{1, 1, 24, 3, 1, {width}, {5}, {stride}, {1}, {pad, pad}};
          compare(fewFilters, random, target, 2, "few_f32");
          const ConvCase oneVector{2, 1, 19, lanes, 1, {3, width / 3}, {3, 5}, {1, stride}, {1, 1}, {1, pad, 1, pad}};
          if (lanes > kMostFewFilters) compare(oneVector, random, target, 2, "stem_f32");
        }
  });
}

// Groups of which a vector holds several, the last of them perhaps some again: widths below, at and above a tile's
// pixels. Taps may lie apart.
TEST(Conv, FewInGroupsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(27);
    int i = 0;
    for (int64_t channels : {2, 3, 4, 8})
      for (int rank : {1, 2, 3})
        for (int64_t width : {5, 14, 33}) {
          if (testing::Test::HasFatalFailure() || channels >= groupedTable().lanes) return;
          const int64_t fewest = std::max<int64_t>(groupedTable().lanes / channels, 2);
          const int64_t groups = random.integer(fewest, 3 * fewest), count = groups * channels;
          const size_t axes = static_cast<size_t>(rank);
          ConvCase c{rank, 2, count, count, groups, {}, {}, {}, std::vector<int64_t>(axes, 1), {}};
          c.in.assign(axes, 6);
          c.in.back() = width;
          for (int axis = 0; axis < rank; ++axis) c.kernel.push_back(random.integer(1, 5));
          for (int axis = std::max(rank - 2, 0); axis < rank && i % 2 == 1; ++axis) {
            const size_t at = static_cast<size_t>(axis);
            c.dilations[at] = std::min(random.integer(1, 4), (c.in[at] - 1) / std::max<int64_t>(c.kernel[at] - 1, 1));
          }
          for (int axis = 0; axis < rank; ++axis) c.strides.push_back(random.integer(1, 2));
          for (int pad = 0; pad < 2 * rank; ++pad) c.pads.push_back(random.chance(0.3) ? 0 : random.integer(0, 3));
          compare(c, random, target, i++, "grouped_f32");
        }
  });
}

// Groups of one vector of filters: widths below, at and above tiles of pixels.
TEST(Conv, VectorsInGroupsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(28);
    int i = 0;
    for (int64_t channels : {3, 16})
      for (int64_t width : {3, 7, 9, 14, 33}) {
        const int64_t lanes = groupedTable().lanes, groups = random.integer(2, 3), stride = random.integer(1, 2);
        if (testing::Test::HasFatalFailure() || lanes < 16) return;
        const ConvCase c{2,          2,      groups * channels, groups * lanes, groups,
                         {6, width}, {3, 3}, {stride, stride},  {1, 1},         {1, 1, 1, 1}};
        compare(c, random, target, i++, "grouped_f32");
      }
  });
}

// Up to two blocks of filters; channels below, at and above whole vectors.
TEST(Conv, FewFiltersMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(28);
    for (int64_t filters = 1; filters <= 8; ++filters)
      for (int rank : {1, 2, 3})
        for (int64_t channels : {16, 23, 64}) {
          if (testing::Test::HasFatalFailure()) return;
          const size_t axes = static_cast<size_t>(rank);
          ConvCase c{rank, 2, channels, filters, 1, {}, {}, {}, std::vector<int64_t>(axes, 1), {}};
          for (int axis = 0; axis < rank; ++axis) c.in.push_back(random.integer(5, 9));
          for (int axis = 0; axis < rank; ++axis) c.kernel.push_back(random.integer(1, 5));
          for (int axis = 0; axis < rank; ++axis) c.strides.push_back(random.integer(1, 2));
          for (int pad = 0; pad < 2 * rank; ++pad) c.pads.push_back(random.chance(0.3) ? 0 : random.integer(0, 3));
          compare(c, random, target, static_cast<int>(filters), "few_f32");
        }
    // Long sums of more filters.
    for (const int64_t filters : {9, 12})
      for (const int64_t stride : {1, 2}) {
        const ConvCase c{2, 1, 33, filters, 1, {7, 11}, {5, 5}, {1, stride}, {1, 1}, {2, 2, 2, 2}};
        compare(c, random, target, 2, "few_f32");
      }
  });
}

// What finds a template in an image: the channels are first, and the template comes with the call.
TEST(Conv, TemplatesMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(33);
    for (const int64_t filters : {1, 3, 10})
      for (const int64_t pad : {0, 2}) {
        NodeUnderTest node("", "Conv");
        node->attributes.set("pads", std::vector<int64_t>(4, pad));
        const Tensors inputs = {random.floats({2, 40, 9, 12}), random.floats({filters, 40, 4, 5}),
                                random.floats({filters})};
        const Shape out = {2, filters, 6 + 2 * pad, 8 + 2 * pad};
        const Tensors expected = node.run(inputs, {out}, "reference");
        expectNear(*node.run(inputs, {out}, "few_f32", 2)[0], *expected[0], 3e-5f, concat(nameOf(target), filters));
      }
  });
}

// Several filters for each channel that come with the call.
TEST(Conv, MultipliedChannelsMatchReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(34);
    for (const int64_t times : {2, 3, 8})
      for (const int64_t channels : {3, 20})
        for (const int64_t stride : {1, 2}) {
          NodeUnderTest node("", "Conv");
          node->attributes.set("group", channels);
          node->attributes.set("strides", std::vector<int64_t>{1, stride});
          node->attributes.set("pads", std::vector<int64_t>{1, 0, 1, 2});
          const Tensors inputs = {random.floats({2, channels, 9, 12}), random.floats({channels * times, 1, 3, 5}),
                                  stride == 1 ? random.floats({channels * times}) : nullptr};
          const Shape out = {2, channels * times, 9, 9 / stride + 1};
          const Tensors expected = node.run(inputs, {out}, "reference");
          for (const int lanes : {1, 3})
            expectNear(*node.run(inputs, {out}, "multiplied_f32", lanes)[0], *expected[0], 3e-5f,
                       concat(nameOf(target), times));
        }
  });
}

TEST(Conv, DepthwiseKernelsOfAllCommonSizes) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(20);
    int i = 0;
    for (int64_t kernel : {1, 3, 5, 7})
      for (int64_t stride : {1, 2, 3})
        for (int64_t size : {1, 2, 3, 7, 14, 17}) {
          if (testing::Test::HasFatalFailure()) return;
          const int64_t pad = kernel / 2;
          ConvCase c{2, 1, 24, 24, 24, {size, size}, {kernel, kernel}, {stride, stride}, {1, 1}, {pad, pad, pad, pad}};
          compare(c, random, target, i++);
        }
  });
}

// Rows below, at and above the pixels of tiles, whose kernels reach over one edge or both.
TEST(Conv, DepthwiseKernelsOfManyTaps) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(30);
    int i = 0;
    for (int64_t kernel : {9, 13, 51})
      for (int64_t dilation : {1, 3})
        for (int64_t stride : {1, 2})
          for (int64_t width : {1, 5, 13, 14, 15, 29, 61, 200}) {
            if (testing::Test::HasFatalFailure()) return;
            const int64_t pad = dilation * (kernel - 1) / 2;
            const ConvCase c{1, 1, 35, 35, 35, {width}, {kernel}, {stride}, {dilation}, {pad, pad + 1}};
            compare(c, random, target, i++);
          }
  });
}

// Such kernels go down the columns of an image, also of each frame. They may have borders beside them.
TEST(Conv, DepthwiseKernelsOfOneColumn) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(32);
    int i = 0;
    for (int64_t kernel : {2, 3, 4, 7, 21})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 3})
          for (int64_t width : {1, 9, 40}) {
            if (testing::Test::HasFatalFailure()) return;
            const int64_t height = dilation * kernel + 8, pad = dilation * (kernel - 1) / 2;
            ConvCase c{2,
                       2,
                       35,
                       35,
                       35,
                       {height, width},
                       {kernel, 1},
                       {stride, 1 + i % 3},
                       {dilation, 2},
                       {pad, 1, pad + 1, 2}};
            compare(c, random, target, i++);
            c = {3,
                 2,
                 20,
                 20,
                 20,
                 {3, height, 7},
                 {1, kernel, 1},
                 {1 + i % 2, stride, 1},
                 {1, dilation, 1},
                 {0, pad, 0, 1, pad, 0}};
            compare(c, random, target, i++);
          }
  });
}

// One row for several lanes, which compute columns of it; also of bfloat16, with a function in memory of each lane.
TEST(Conv, DepthwiseSignalsAreCutIntoColumns) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(31);
    for (const char* activation : {"", "Silu"})
      for (int64_t kernel : {3, 5, 31})
        for (int64_t stride : {1, 2, 3})
          for (int64_t dilation : {1, 2}) {
            ConvCase c{1, 1, 150, 150, 150, {700}, {kernel}, {stride}, {dilation}, {kernel / 2, kernel}};
            NodeUnderTest node("max", "Conv");
            node->attributes.set("group", c.groups);
            node->attributes.set("strides", c.strides);
            node->attributes.set("dilations", c.dilations);
            node->attributes.set("pads", c.pads);
            node->attributes.set("activation", std::string(activation));
            node->attributes.set("activation_alpha", 1.f);
            const Tensors inputs = {random.floats(c.input()), random.floats(c.weights()), random.floats({150})};
            const Tensors alone = node.run(inputs, {c.output()}, "conv_f32", 1, 2);
            const Tensors together = node.run(inputs, {c.output()}, "conv_f32", 4, 2);
            ASSERT_EQ(std::memcmp(alone[0]->data(), together[0]->data(), alone[0]->bytes()), 0) << c.describe();
            const Tensors expected = node.run(inputs, {c.output()}, "reference");
            expectNear(*together[0], *expected[0], 3e-5f, concat(nameOf(target), " ", c.describe()));
            if (target < CpuTarget::Avx512Bf16) continue;
            node->products = DType::BFloat16;
            node.results = DType::BFloat16;
            const Tensors one = node.run(inputs, {c.output()}, "", 1, 2),
                          four = node.run(inputs, {c.output()}, "", 4, 2);
            ASSERT_EQ(std::memcmp(one[0]->data(), four[0]->data(), one[0]->bytes()), 0) << c.describe();
          }
  });
}

// Images with more rows than a band has, with more channels than are computed together, and that no near cache holds.
TEST(Conv, DepthwiseBandsMatchReference) {
  struct Image {
    int64_t height, width, channels, kernel, stride;
  };
  constexpr Image kImages[] = {{1100, 5, 24, 3, 1}, {1123, 5, 17, 5, 2}, {261, 3, 40, 7, 1},  {20, 20, 500, 5, 1},
                               {15, 16, 333, 7, 1}, {41, 40, 200, 3, 1}, {63, 61, 100, 3, 2}, {40, 45, 164, 4, 1}};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(22);
    for (const Image& image : kImages) {
      if (testing::Test::HasFatalFailure()) return;
      const int64_t pad = image.kernel / 2;
      const ConvCase c{2,
                       2,
                       image.channels,
                       image.channels,
                       image.channels,
                       {image.height, image.width},
                       {image.kernel, image.kernel},
                       {image.stride, image.stride},
                       {1, 1},
                       {pad, pad, pad, pad}};
      for (int i = 0; i < 3; ++i) compare(c, random, target, i);
    }
  });
}

// Sums that are no numbers stay so, whatever the limits of the results.
TEST(Conv, FewFiltersKeepWhatIsNoNumber) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(37);
    for (const char* activation : {"", "Clip"})
      for (int64_t filters : {1, 3, 4, 7}) {
        NodeUnderTest node("max", "Conv");
        node->attributes.set("activation", std::string(activation));
        node->attributes.set("activation_alpha", -0.5f);
        node->attributes.set("activation_beta", 0.5f);
        const Ref<Tensor> x = random.floats({1, 1, 9, 24});
        static_cast<float*>(x->mutableData())[5 * 24 + 3] = std::numeric_limits<float>::quiet_NaN();
        const Tensors result =
            node.run({x, random.floats({filters, 24, 1, 1}), nullptr, nullptr}, {{1, 1, 9, filters}}, "few_f32", 1, 2);
        for (int64_t i = 0; i < 9 * filters; ++i)
          ASSERT_EQ(std::isnan(result[0]->as<float>()[i]), i / filters == 5) << nameOf(target) << " " << i;
      }
  });
}

// Rows and columns that lie a dilation apart are computed together, where there are enough of them; also those of an
// image that no near cache holds, and of pixels that are too far from each other.
TEST(Conv, DepthwiseDilationsMatchReference) {
  struct Image {
    int64_t height, width, channels, kernel, dilation;
  };
  constexpr Image kImages[] = {{9, 14, 24, 3, 2},  {40, 29, 17, 5, 4},  {23, 64, 40, 7, 3},   {30, 33, 64, 3, 12},
                               {5, 6, 32, 3, 6},   {700, 15, 18, 3, 2}, {130, 129, 20, 3, 2}, {31, 61, 9, 4, 5},
                               {24, 27, 48, 9, 3}, {11, 43, 500, 3, 3}, {300, 50, 30, 5, 7}};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(35);
    for (const Image& image : kImages)
      for (int64_t across : {image.dilation, int64_t{1}}) {
        const int64_t n = image.channels, reach = (image.kernel - 1) * image.dilation, pad = reach / 2;
        const ConvCase c{2,
                         2,
                         n,
                         n,
                         n,
                         {image.height + reach % 2, image.width},
                         {image.kernel, image.kernel},
                         {1, 1},
                         {image.dilation, across},
                         {pad, pad, reach - pad, image.kernel}};
        for (int i = 0; i < 3 && !testing::Test::HasFatalFailure(); ++i) compare(c, random, target, i);
      }
  });
}

// Bands that go from frame to frame, more frames than a band has, and others that go downwards.
TEST(Conv, DepthwiseFramesMatchReference) {
  struct Video {
    std::vector<int64_t> in, kernel, strides, dilations;
    int64_t channels;
  };
  const Video videos[] = {
      {{13, 12, 20}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 54}, {{9, 11, 30}, {3, 3, 3}, {1, 2, 2}, {1, 1, 1}, 38},
      {{11, 6, 9}, {5, 1, 1}, {1, 1, 1}, {1, 1, 1}, 24},   {{12, 7, 17}, {3, 1, 3}, {1, 1, 1}, {1, 1, 1}, 20},
      {{11, 5, 18}, {3, 3, 3}, {2, 2, 1}, {1, 1, 1}, 7},   {{13, 5, 8}, {3, 3, 3}, {1, 1, 1}, {2, 1, 1}, 16},
      {{130, 3, 8}, {5, 3, 3}, {1, 1, 1}, {1, 2, 1}, 33},  {{1, 9, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 40},
      {{300, 5, 9}, {3, 3, 3}, {99, 1, 1}, {1, 1, 1}, 18}, {{1, 801, 9}, {1, 3, 3}, {1, 400, 1}, {1, 1, 1}, 17},
      {{14, 40, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, 150}};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(33);
    for (const Video& video : videos) {
      std::vector<int64_t> pads;
      for (int side = 0; side < 2; ++side)
        for (const int64_t kernel : video.kernel) pads.push_back(kernel / 2);
      const int64_t n = video.channels;
      const ConvCase c{3, 2, n, n, n, video.in, video.kernel, video.strides, video.dilations, pads};
      for (int i = 0; i < 4 && !testing::Test::HasFatalFailure(); ++i) compare(c, random, target, i);
    }
  });
}

// Images that no near cache holds are computed in strips: one, several, and several of a tile of many channels.
TEST(Conv, DepthwiseStripsOfLargeImages) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(22);
    const struct {
      int64_t channels, height, width, kernel, stride;
    } cases[] = {
        {32, 96, 96, 3, 1}, {24, 21, 600, 3, 1}, {600, 15, 33, 3, 1}, {80, 27, 131, 5, 2}, {48, 33, 177, 3, 2}};
    for (const auto& one : cases) {
      const int64_t n = one.channels, pad = one.kernel / 2;
      const ConvCase c{2,
                       1,
                       n,
                       n,
                       n,
                       {one.height, one.width},
                       {one.kernel, one.kernel},
                       {one.stride, one.stride},
                       {1, 1},
                       {pad, pad, pad, pad}};
      for (int i = 0; i < 4 && !testing::Test::HasFatalFailure(); ++i) compare(c, random, target, i);
    }
  });
}

// Results of eight images are stored past the caches, those of one are not.
TEST(Conv, DepthwiseStreamsLargeResults) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(21);
    NodeUnderTest node("max", "Conv");
    node->attributes.set("group", int64_t{32});
    node->attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
    const Shape one{1, 128, 130, 32}, all{8, 128, 130, 32};
    const Ref<Tensor> x = random.floats(one), weights = random.floats({32, 1, 3, 3});
    const Ref<Tensor> images = Tensor::allocate(DType::Float32, all);
    for (size_t i = 0; i < 8; ++i)
      std::memcpy(static_cast<std::byte*>(images->mutableData()) + i * x->bytes(), x->data(), x->bytes());
    const Tensors expected = node.run({x, weights}, {one}, "conv_f32", 1, 2);
    const Tensors actual = node.run({images, weights}, {all}, "conv_f32", 2, 2);
    for (size_t i = 0; i < 8; ++i)
      ASSERT_EQ(std::memcmp(actual[0]->as<std::byte>() + i * x->bytes(), expected[0]->data(), x->bytes()), 0)
          << nameOf(target) << " image " << i;
  });
}

Shape channelsFirst(const Shape& shape) {
  Shape result{shape[0], shape.back()};
  for (int i = 1; i + 1 < shape.rank(); ++i) result.push(shape[i]);
  return result;
}

// ONNX's own Conv, which the compiler leaves where it does not know the rank.
TEST(Conv, ChannelsFirstMatchesReference) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(23);
    for (int i = 0; i < 40 && !testing::Test::HasFatalFailure(); ++i) {
      const ConvCase c = randomCase(random, i % 4);
      NodeUnderTest node("", "Conv");
      node->attributes.set("group", c.groups);
      node->attributes.set("strides", c.strides);
      node->attributes.set("dilations", c.dilations);
      node->attributes.set("pads", c.pads);
      const Tensors inputs = {random.floats(channelsFirst(c.input())), random.floats(c.weights()),
                              random.chance(0.7) ? random.floats({c.filters}) : nullptr};
      const std::vector<Shape> outputs = {channelsFirst(c.output())};
      const Tensors expected = node.run(inputs, outputs, "reference");
      // Filters are known with the plan, or with the call.
      for (const unsigned constants : {2u, 0u}) {
        const Tensors actual = node.run(inputs, outputs, "conv_f32", 1 + i % 3, constants);
        expectNear(*actual[0], *expected[0], 3e-5f, concat(nameOf(target), " case ", i, " ", c.describe()));
      }
    }
  });
}

TEST(Conv, EmptyBatches) {
  RandomTensors random(21);
  ConvCase c{2, 0, 3, 8, 1, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  compare(c, random, cpuTarget(), 0);
  ConvCase depthwise{2, 0, 8, 8, 8, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  compare(depthwise, random, cpuTarget(), 0);
}

TEST(Conv, PaddingWiderThanTheImage) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(22);
    ConvCase dense{2, 1, 20, 5, 1, {2, 1}, {3, 3}, {1, 2}, {1, 1}, {4, 5, 4, 6}};
    compare(dense, random, target, 0);
    ConvCase depthwise{2, 1, 20, 20, 20, {2, 1}, {3, 3}, {1, 2}, {1, 1}, {4, 5, 4, 6}};
    compare(depthwise, random, target, 1);
  });
}

// Pixels that lie a page apart are copied; tiles of the border have none.
TEST(Conv, ChannelsOfWholePages) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(25);
    int i = 0;
    for (int64_t groups : {1, 2})
      for (int64_t pad : {0, 9}) {
        if (testing::Test::HasFatalFailure()) return;
        const std::vector<int64_t> pads(4, pad);
        ConvCase c{2, 2, groups * 1024, groups * 256, groups, {6, 5}, {1, 1}, {1, 1}, {1, 1}, pads};
        compare(c, random, target, i++);
      }
  });
}

// Taps that lie in the border for a whole tile of pixels are left out.
TEST(Conv, DilationsWiderThanTheImage) {
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(24);
    int i = 0;
    for (int64_t dilation : {3, 6, 9, 13})
      for (int64_t groups : {1, 2})
        for (int64_t channels : {16, 40}) {
          if (testing::Test::HasFatalFailure()) return;
          const std::vector<int64_t> pads(4, dilation);
          ConvCase c{2,      2,      groups * channels,    groups * 24, groups, {13, 11},
                     {3, 3}, {1, 1}, {dilation, dilation}, pads};
          compare(c, random, target, i++);
        }
  });
}

}  // namespace
}  // namespace max
