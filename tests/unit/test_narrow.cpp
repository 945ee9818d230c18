// SPDX-License-Identifier: Apache-2.0
// Values that are bfloat16 in memory at the precision `medium`: kernels that read and write them, and which values the
// compiler chooses.
#include <algorithm>
#include <array>

#include "narrow_checks.h"
#include "ops/cpu/convolution/winograd.h"
#include "plain_words.h"

namespace max {
namespace {

TEST(Narrow, MatMul) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(90);
  for (const char* activation : {"", "Relu", "Gelu"})
    for (const int64_t depth : {2, 30, 1800}) {
      NodeUnderTest node(kMaxDomain, "MatMul");
      node->products = DType::BFloat16;
      node->attributes.set("activation", std::string(activation));
      const Shape out{2, 21, 75};
      const Tensors in = {random.floats({2, 21, depth}), random.floats({depth, 75}), random.floats({75}),
                          random.floats(out)};
      checkNode(node, in, 0b1001, out, 0b110, concat(activation, " depth ", depth));
    }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<float> middleTaps(int64_t channels) {
  std::vector<float> taps(static_cast<size_t>(3 * channels));
  for (size_t i = 1; i < taps.size(); i += 3) taps[i] = 1;
  return taps;
}

// docs/numerics.md: before they are rounded, functions are off by 2^-12 of themselves and 3e-7 of the argument.
TEST(Narrow, Functions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const std::pair<const char*, double (*)(double)> functions[] = {
      {"Sigmoid", sigmoid},
      {"Silu", [](double x) { return x * sigmoid(x); }},
      {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0., 1.); }},
      {"Gelu", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.)); }},
      {"GeluTanh", [](double x) { return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }},
      {"Tanh", [](double x) { return std::tanh(x); }}};
  std::vector<float> numbers = {0, -0.f, 1e-20f, 1e30f, -200, 200};
  for (float x = 1e-3f; x < 100; x *= 1.01f) numbers.insert(numbers.end(), {x, -x});
  const Shape column{static_cast<int64_t>(numbers.size()), 1};
  const Ref<Tensor> x = widened(*narrowed(*Tensor::copyOf(DType::Float32, column, numbers.data())));
  const std::vector<float> ones(19, 1.f);
  for (const auto& row : functions) {
    const char* name = row.first;
    const auto function = row.second;
    NodeUnderTest node(kMaxDomain, "MatMul");
    node->products = DType::BFloat16;
    node->attributes.set("activation", std::string(name));
    node->attributes.set("activation_alpha", 1.f);
    node.results = DType::BFloat16;
    const Ref<Tensor> weights = Tensor::copyOf(DType::Float32, {1, 19}, ones.data());
    const Ref<Tensor> result = node.run({x, weights}, {{column[0], 19}}, "", 1, 2)[0];
    const auto check = [&](double actual, double argument, double rounding) {
      const double wanted = function(argument), bound = rounding + 1. / 4096;
      ASSERT_LE(std::fabs(actual - wanted), std::fabs(wanted) * bound + 3e-7 * std::fabs(argument))
          << name << " of " << argument;
    };
    for (int64_t i = 0; i < result->count(); ++i)
      check(floatFromBFloat16(result->as<uint16_t>()[i]), x->as<float>()[i / 19], 1. / 256);

    // A depthwise convolution with one channel for each number.
    NodeUnderTest depthwise(kMaxDomain, "Conv");
    depthwise->products = DType::BFloat16;
    depthwise->attributes = node->attributes;
    depthwise->attributes.set("group", column[0]);
    const std::vector<float> middle = middleTaps(column[0]);
    const Ref<Tensor> taps = Tensor::copyOf(DType::Float32, {column[0], 1, 3}, middle.data());
    std::vector<float> pixels;
    for (int i = 0; i < 3; ++i) pixels.insert(pixels.end(), x->as<float>(), x->as<float>() + column[0]);
    const Ref<Tensor> image = Tensor::copyOf(DType::Float32, {1, 3, column[0]}, pixels.data());
    for (const Ref<Tensor>& each : {image, narrowed(*image)})
      for (const DType results : {DType::Float32, DType::BFloat16}) {
        depthwise.results = results;
        const bool isNarrow = results == DType::BFloat16;
        const Ref<Tensor> made = depthwise.run({each, taps}, {{1, 1, column[0]}}, "", 1, 2)[0];
        for (int64_t i = 0; i < made->count(); ++i)
          check(isNarrow ? floatFromBFloat16(made->as<uint16_t>()[i]) : made->as<float>()[i], x->as<float>()[i],
                isNarrow ? 1. / 256 : 0);
      }
  }
}

// Plain, strided and grouped ones, with and without merged taps, and those that are no products of bfloat16.
TEST(Narrow, Convolutions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(91);
  struct Case {
    int64_t channels, filters, groups, size, stride, pad;
  };
  for (const Case& c : {Case{32, 40, 1, 1, 1, 0}, Case{18, 33, 1, 3, 2, 1}, Case{3, 40, 1, 3, 2, 1},
                        Case{3, 40, 1, 5, 1, 0}, Case{6, 50, 1, 3, 1, 1}, Case{24, 20, 1, 3, 1, 0},
                        Case{24, 36, 3, 3, 2, 1}, Case{500, 20, 1, 3, 2, 1}, Case{16, 16, 1, 3, 1, 1}}) {
    NodeUnderTest node(kMaxDomain, "Conv");
    node->products = DType::BFloat16;
    node->attributes.set("pads", std::vector<int64_t>(4, c.pad));
    node->attributes.set("strides", std::vector<int64_t>(2, c.stride));
    node->attributes.set("group", c.groups);
    node->attributes.set("activation", std::string("Relu"));
    if (c.stride == 1) node->attributes.set("residual_last", int64_t{1});
    const int64_t side = (13 + 2 * c.pad - c.size) / c.stride + 1;
    const Shape out{2, side, side, c.filters};
    const Tensors in = {random.floats({2, 13, 13, c.channels}),
                        random.floats({c.filters, c.channels / c.groups, c.size, c.size}), random.floats({c.filters}),
                        random.floats(out)};
    const unsigned narrow = c.channels / c.groups % 2 ? 0b1000 : 0b1001;
    checkNode(node, in, narrow, out, 0b110, concat(c.channels, " channels, size ", c.size));
  }
}

// Filters that come with the call are rounded, too; with the channels first, what all taps read is rounded once.
TEST(Narrow, FiltersOfTheCall) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(99);
  struct Case {
    int64_t channels, filters, groups, size, stride, pad;
  };
  for (const Case& c : {Case{32, 40, 1, 1, 1, 0}, Case{18, 33, 1, 3, 2, 1}, Case{64, 20, 1, 3, 1, 0},
                        Case{48, 51, 3, 3, 1, 1}, Case{16, 16, 1, 5, 1, 2}})
    for (const bool isLast : {false, true}) {
      NodeUnderTest node(isLast ? kMaxDomain : "", "Conv");
      node->products = DType::BFloat16;
      node->attributes.set("pads", std::vector<int64_t>(4, c.pad));
      node->attributes.set("strides", std::vector<int64_t>(2, c.stride));
      node->attributes.set("group", c.groups);
      const int64_t side = (17 + 2 * c.pad - c.size) / c.stride + 1;
      const Shape out = isLast ? Shape{2, side, side, c.filters} : Shape{2, c.filters, side, side};
      const Shape in = isLast ? Shape{2, 17, 17, c.channels} : Shape{2, c.channels, 17, 17};
      const Tensors inputs = {widened(*narrowed(*random.floats(in))),
                              widened(*narrowed(*random.floats({c.filters, c.channels / c.groups, c.size, c.size}))),
                              random.floats({c.filters})};
      const Ref<Tensor> exact = node.run(inputs, {out}, "reference")[0];
      for (const int lanes : {1, 3})
        expectNear(*node.run(inputs, {out}, "conv_bf16", lanes)[0], *exact, 1e-4f,
                   concat(c.channels, " channels, size ", c.size));
    }
}

// Groups that share a vector, which may share their last one with the one before: widths below, at and above a tile's
// pixels, with and without borders.
TEST(Narrow, GroupsOfFewChannels) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(98);
  for (const int64_t channels : {2, 4, 8})
    for (const int64_t stride : {1, 2})
      for (const int64_t width : {5, 14, 33}) {
        const int64_t dilation = width > 5 && stride == 1 ? 3 : 1;
        const int64_t pad = random.integer(0, 1), all = random.integer(32 / channels, 100 / channels) * channels;
        NodeUnderTest node(kMaxDomain, "Conv");
        node->products = DType::BFloat16;
        node->attributes.set("pads", std::vector<int64_t>(4, pad));
        node->attributes.set("strides", std::vector<int64_t>(2, stride));
        node->attributes.set("dilations", std::vector<int64_t>{dilation / 2 + 1, dilation});
        node->attributes.set("group", all / channels);
        node->attributes.set("activation", std::string(width == 5 ? "" : width == 14 ? "Clip" : "Gelu"));
        node->attributes.set("activation_alpha", -0.5f);
        node->attributes.set("activation_beta", 0.5f);
        const auto side = [&](int64_t size) { return (size + 2 * pad - 3) / stride + 1; };
        const Shape out{2, side(6 - dilation / 2 * 2), side(width - 2 * (dilation - 1)), all};
        const Tensors in = {widened(*narrowed(*random.floats({2, 6, width, all}))),
                            widened(*narrowed(*random.floats({all, channels, 3, 3}))), random.floats({all})};
        const std::string what = concat(channels, " channels, stride ", stride, ", width ", width);
        const Ref<Tensor> exact = node.run(in, {out}, "reference")[0];
        expectNear(*node.run(in, {out}, "grouped_bf16", 2, 0b110)[0], *exact, 1e-4f, what);
        checkNode(node, in, 1, out, 0b110, what);
      }
}

// Convolutions of bfloat16 with one vector of filters, or a part of it, in a group; all sizes of tiles.
TEST(Narrow, GroupsOfOneVector) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(99);
  const int64_t cases[][3] = {{16, 16, 1}, {34, 9, 1}, {66, 5, 1}, {48, 48, 3}, {72, 48, 3}};
  for (const auto& [channels, filters, groups] : cases)
    for (const int64_t stride : {1, 2})
      for (const int64_t width : {3, 7, 10, 20, 37}) {
        const int64_t pad = random.integer(0, 1);
        NodeUnderTest node(kMaxDomain, "Conv");
        node->products = DType::BFloat16;
        node->attributes.set("pads", std::vector<int64_t>(4, pad));
        node->attributes.set("strides", std::vector<int64_t>(2, stride));
        node->attributes.set("group", groups);
        node->attributes.set("activation", std::string(width == 10 ? "" : width == 37 ? "Silu" : "Relu"));
        node->attributes.set("activation_alpha", 1.f);
        const auto side = [&](int64_t size, int64_t kernel) { return (size + 2 * pad - kernel) / stride + 1; };
        const Shape out{2, side(6, 3), side(width, 2), filters};
        const Ref<Tensor> weights = widened(*narrowed(*random.floats({filters, channels / groups, 3, 2})));
        const Tensors in = {widened(*narrowed(*random.floats({2, 6, width, channels}))), weights,
                            random.floats({filters})};
        const std::string what = concat(channels, " channels, stride ", stride, ", width ", width);
        const Ref<Tensor> exact = node.run(in, {out}, "reference")[0];
        expectNear(*node.run(in, {out}, "grouped_bf16", 2, 0b110)[0], *exact, 1e-4f, what);
        checkNode(node, in, 1, out, 0b110, what);
      }
}

// Vectors of pixels from planes of words: rows of many vectors, of less than one, and of several segments.
TEST(Narrow, PlanesOfWords) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(101);
  const int64_t cases[][3] = {{2, 1, 9}, {6, 3, 31}, {8, 4, 9000}, {10, 5, 70}, {16, 8, 49}, {34, 7, 130}, {42, 3, 33}};
  for (const auto& [channels, filters, width] : cases)
    for (const int64_t stride : {1, 2}) {
      const int64_t before = random.integer(0, 3), after = random.integer(0, 3);
      NodeUnderTest node(kMaxDomain, "Conv");
      node->products = DType::BFloat16;
      node->attributes.set("pads", std::vector<int64_t>{1, before, before, 0, after, after});
      node->attributes.set("strides", std::vector<int64_t>{1, 1, stride});
      node->attributes.set("activation", std::string(width == 9 ? "" : width == 31 ? "Silu" : "Clip"));
      node->attributes.set("activation_alpha", width == 31 ? 1.f : -0.5f);
      node->attributes.set("activation_beta", 0.5f);
      const Shape out{1, 3, 5 + before + after, (width + before + after) / stride - 2, filters};
      const Tensors in = {widened(*narrowed(*random.floats({1, 3, 7, width, channels}))),
                          widened(*narrowed(*random.floats({filters, channels, 2, 3, 3 * stride}))),
                          random.floats({filters})};
      const std::string what = concat(channels, " channels, stride ", stride, ", width ", width);
      const Ref<Tensor> exact = node.run(in, {out}, "reference")[0];
      expectNear(*node.run(in, {out}, "stem_bf16", 2, 0b110)[0], *exact, 1e-4f, what);
      checkNode(node, in, 1, out, 0b110, what);
    }
}

// The residual is added to what a function makes of each pixel, before that is rounded.
TEST(Narrow, ResidualsAfterFunctions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(96);
  for (const char* activation : {"Sigmoid", "Silu", "HardSwish", "Gelu", "Tanh"}) {
    NodeUnderTest node(kMaxDomain, "Conv");
    node->products = DType::BFloat16;
    node->attributes.set("activation", std::string(activation));
    node->attributes.set("activation_alpha", 1.f);
    const Shape out{2, 5, 7, 83};
    const Tensors in = {widened(*narrowed(*random.floats({2, 5, 7, 34}))), random.floats({83, 34, 1, 1}),
                        random.floats({83})};
    const Ref<Tensor> before = node.run(in, {out}, "", 1, 0b110)[0];
    const Ref<Tensor> narrowResidual = narrowed(*random.floats(out)), residual = widened(*narrowResidual);
    node->attributes.set("residual_last", int64_t{1});
    for (const DType results : {DType::Float32, DType::BFloat16})
      for (const auto& given : {residual, narrowResidual}) {
        node.results = results;
        const Ref<Tensor> result = node.run({in[0], in[1], in[2], given}, {out}, "", 2, 0b110)[0];
        node.results = DType::Float32;
        const Ref<Tensor> actual = results == DType::BFloat16 ? widened(*result) : result;
        for (int64_t i = 0; i < out.count(); ++i) {
          const float function = before->as<float>()[i], sum = function + residual->as<float>()[i];
          const float rounding = results == DType::BFloat16 ? std::fabs(sum) / 256 + std::fabs(function) / 4096 : 0;
          ASSERT_LE(std::fabs(actual->as<float>()[i] - sum), rounding + 1e-5f) << activation << ", element " << i;
        }
      }
  }
}

// Convolutions of few channels and filters are products of float32, whose results may be bfloat16.
TEST(Narrow, Stems) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(94);
  for (const char* activation : {"", "Clip", "HardSwish"})
    for (const int64_t filters : {7, 16, 24, 32}) {
      const int64_t stride = filters == 7 ? 1 : 2;
      NodeUnderTest node(kMaxDomain, "Conv");
      node->products = DType::BFloat16;
      node->attributes.set("pads", std::vector<int64_t>(4, 1));
      node->attributes.set("strides", std::vector<int64_t>(2, stride));
      node->attributes.set("activation", std::string(activation));
      node->attributes.set("activation_alpha", -0.5f);
      node->attributes.set("activation_beta", 0.5f);
      const Tensors in = {random.floats({2, 13, 41, 3}), random.floats({filters, 3, 3, 3}), random.floats({filters})};
      checkNode(node, in, 0, {2, 12 / stride + 1, 40 / stride + 1, filters}, 0b110,
                concat(activation, " ", filters, " filters"));
    }
}

TEST(Narrow, WinogradsConvolutions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(92);
  for (const char* activation : {"", "Clip", "Silu"}) {
    NodeUnderTest node(kMaxDomain, "Conv");
    node->products = DType::BFloat16;
    node->attributes.set("pads", std::vector<int64_t>(4, 1));
    node->attributes.set("activation", std::string(activation));
    node->attributes.set("activation_alpha", -0.5f);
    node->attributes.set("activation_beta", 0.5f);
    node->attributes.set("residual_last", int64_t{*activation != 'C'});
    const Shape out{1, 18, 21, 100};
    const Tensors in = {random.floats({1, 18, 21, 70}), random.floats({100, 70, 3, 3}), random.floats({100}),
                        random.floats(out)};
    for (const int side : {2, 4}) {
      const Ref<Prepared> weights = winogradWeights(*in[1], side);
      const auto run = [&](const Tensors& inputs, DType results) {
        node.results = results;
        return node.runPrepared(inputs, {out}, weights, 2)[0];
      };
      Tensors narrow = in, wide = in;
      for (const size_t i : {size_t{0}, size_t{3}}) {
        narrow[i] = narrowed(*in[i]);
        wide[i] = widened(*narrow[i]);
      }
      const Ref<Tensor> expected = run(wide, DType::Float32);
      EXPECT_EQ(std::memcmp(run(narrow, DType::Float32)->data(), expected->data(), expected->bytes()), 0) << side;
      const Ref<Tensor> results = run(narrow, DType::BFloat16), rounded = narrowed(*expected);
      if (*activation != 'S') {
        EXPECT_EQ(std::memcmp(results->data(), rounded->data(), rounded->bytes()), 0) << side;
        continue;
      }
      for (int64_t i = 0; i < out.count(); ++i) {
        const float wanted = expected->as<float>()[i], residual = wide[3]->as<float>()[i];
        ASSERT_LE(std::fabs(floatFromBFloat16(results->as<uint16_t>()[i]) - wanted),
                  std::fabs(wanted) / 256 + std::fabs(wanted - residual) / 4096 + 1e-5f)
            << side << ", element " << i;
      }
    }
  }
}

// Those whose taps do not overlap, with one and with several rows of taps; an odd number of channels stays float32.
TEST(Narrow, TransposedConvolutions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(97);
  for (const int64_t channels : {24, 33})
    for (const int64_t tapRows : {1, 2}) {
      NodeUnderTest node(kMaxDomain, "ConvTranspose");
      node->products = DType::BFloat16;
      node->attributes.set("strides", std::vector<int64_t>{tapRows, 2});
      node->attributes.set("activation", std::string("Relu"));
      const Shape out{2, 5 * tapRows, 14, 19};
      const Tensors in = {widened(*narrowed(*random.floats({2, 5, 7, channels}))),
                          widened(*narrowed(*random.floats({channels, 19, tapRows, 2}))), random.floats({19})};
      const std::string what = concat(channels, " channels, ", tapRows, " rows of taps");
      expectNear(*node.run(in, {out}, "rows_bf16", 2, 0b110)[0], *node.run(in, {out}, "reference")[0], 1e-5f, what);
      checkNode(node, in, channels % 2 ? 0 : 1, out, 0b110, what);
    }
}

struct DepthwiseCase {
  std::vector<int64_t> size;  // of the kernel
  int64_t side, channels, stride, before, after;
  const char* activation;
};

// Of one, two and three dimensions; rows of pixels that fill tiles and that do not; borders wider than the kernel; all
// channels at once and some at a time.
const DepthwiseCase kDepthwiseCases[] = {
    {{3, 3}, 9, 37, 1, 1, 1, "Relu"},      {{3, 3}, 45, 37, 1, 1, 1, "Relu"}, {{3, 3}, 14, 32, 1, 1, 1, ""},
    {{3, 3}, 3, 16, 1, 0, 0, "Silu"},      {{3, 3}, 30, 96, 2, 1, 1, "Clip"}, {{3, 3}, 16, 24, 2, 0, 1, "HardSwish"},
    {{5, 5}, 7, 64, 1, 2, 2, "Silu"},      {{5, 5}, 28, 40, 1, 2, 2, ""},     {{5, 5}, 14, 33, 2, 2, 2, "Sigmoid"},
    {{5, 5}, 40, 72, 2, 1, 2, "Gelu"},     {{7, 7}, 14, 96, 1, 3, 3, ""},     {{7, 7}, 21, 9, 1, 0, 3, "Tanh"},
    {{3, 3}, 8, 48, 1, 5, 4, "Relu"},      {{5}, 30, 40, 1, 2, 2, "Relu"},    {{3}, 30, 40, 2, 1, 1, ""},
    {{3, 3, 3}, 8, 40, 1, 1, 1, "Relu"},   {{2, 5, 3}, 8, 12, 1, 1, 2, ""},   {{2, 3}, 11, 64, 1, 1, 1, "HardSwish"},
    {{5, 5}, 14, 400, 1, 2, 2, "Silu"},    {{5, 5}, 56, 100, 1, 2, 2, ""},    {{4, 4}, 9, 40, 1, 1, 2, "Silu"},
    {{3, 3}, 9, 40, 3, 1, 1, "HardSwish"}, {{7, 1}, 16, 40, 1, 3, 3, ""},     {{3, 1}, 9, 33, 2, 1, 0, "Clip"}};

// With filters that are bfloat16 an input of this type is multiplied as if it were float32.
TEST(Narrow, DepthwiseConvolutions) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(93);
  for (const DepthwiseCase& c : kDepthwiseCases) {
    const auto rank = c.size.size();
    NodeUnderTest node(kMaxDomain, "Conv"), expand(kMaxDomain, "ExpandConv");
    std::vector<int64_t> pads(rank, c.before);
    pads.insert(pads.end(), rank, c.after);
    for (NodeUnderTest* each : {&node, &expand}) {
      (*each)->products = DType::BFloat16;
      (*each)->attributes.set("pads", pads);
      (*each)->attributes.set("strides", std::vector<int64_t>(rank, c.stride));
      (*each)->attributes.set("group", c.channels);
      (*each)->attributes.set("activation", std::string(c.activation));
      (*each)->attributes.set("activation_alpha", *c.activation == 'S' ? 1.f : -0.5f);
      (*each)->attributes.set("activation_beta", 0.5f);
    }
    Shape in = Shape::filled(static_cast<int>(rank) + 2, c.side), out = in, filters = in, one = in;
    in[0] = out[0] = 2;
    filters[0] = in[in.rank() - 1] = out[in.rank() - 1] = c.channels;
    filters[1] = 1;
    for (size_t i = 0; i < rank; ++i) {
      const int axis = static_cast<int>(i);
      filters[axis + 2] = c.size[i];
      out[axis + 1] = (c.side + c.before + c.after - c.size[i]) / c.stride + 1;
    }
    const std::string activation = c.activation;
    const float tolerance = activation.empty() || activation == "Relu" || activation == "Clip" ? 1e-5f : 1.f / 4096;
    const bool takesNarrow = c.size.back() != 4 && c.size.back() != 1 && c.stride < 3;
    const Ref<Tensor> weights = widened(*narrowed(*random.floats(filters))), bias = random.floats({c.channels});
    const std::string what = concat("size ", c.size.back(), ", side ", c.side, ", ", c.channels, " channels");
    checkNode(node, {random.floats(in), weights, bias, random.floats(out)}, takesNarrow ? 1 : 0, out, 0b110, what,
              tolerance);
    in[in.rank() - 1] = 22;
    one = filters;
    for (int i = 1; i < one.rank(); ++i) one[i] = i == 1 ? 22 : 1;
    checkNode(expand, {random.floats(in), random.floats(one), weights, bias, bias}, 1, out, 0b11110,
              concat("expansion ", what), tolerance);
  }
}

// docs/numerics.md: filters are rounded, too. An infinite number meets the taps that read it, and no others.
TEST(Narrow, FiltersOfDepthwiseConvolutionsAreRounded) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  constexpr float kWorst = 1 + 1.f / 256;
  for (const int64_t size : {3, 5, 7})
    for (const float infinity : {HUGE_VALF, -HUGE_VALF}) {
      NodeUnderTest node(kMaxDomain, "Conv");
      node->products = DType::BFloat16;
      node->attributes.set("group", int64_t{40});
      const Shape in{1, 12, 12, 40}, out{1, 13 - size, 13 - size, 40}, filters{40, 1, size, size};
      std::vector<float> x(static_cast<size_t>(in.count()), 1.f), w(static_cast<size_t>(filters.count()), kWorst);
      const auto run = [&] {
        const Ref<Tensor> input = narrowed(*Tensor::copyOf(DType::Float32, in, x.data()));
        return node.run({input, Tensor::copyOf(DType::Float32, filters, w.data())}, {out}, "", 2, 2)[0];
      };
      EXPECT_EQ(run()->as<float>()[77], static_cast<float>(size * size));
      for (const int64_t channel : {0, 39}) {
        x.assign(x.size(), 1.f);
        x[static_cast<size_t>((size * 12 + size) * 40 + channel)] = infinity;
        const Ref<Tensor> result = run();
        for (int64_t i = 0; i < result->count(); ++i) {
          const int64_t row = i / 40 / out[2], column = i / 40 % out[2];
          const bool isHit = i % 40 == channel && row >= 1 && column >= 1 && row <= size && column <= size;
          EXPECT_EQ(result->as<float>()[i], isHit ? infinity : static_cast<float>(size * size)) << size << ": " << i;
        }
      }
    }
}

TEST(Narrow, Normalisations) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(94);
  const Shape shape{5, 77};
  for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
    NodeUnderTest node("", op);
    node->products = DType::BFloat16;
    node->attributes.set("axis", int64_t{-1});
    checkNode(node, {random.floats(shape), random.floats({77})}, 0, shape, 0, op);
  }
}

void checkAttentions() {
  RandomTensors random(95);
  for (const auto& [queries, keys, size, valueSize] :
       {std::array<int64_t, 4>{9, 61, 34, 71}, {50, 384, 64, 64}, {5, 901, 8, 5}}) {
    NodeUnderTest node(kMaxDomain, "Attention");
    node->products = DType::BFloat16;
    node->attributes.set("scale", 0.3f);
    const Tensors in = {random.floats({2, 3, queries, size}), random.floats({2, 3, keys, size}),
                        random.floats({2, 3, keys, valueSize})};
    checkNode(node, in, 0b111, {2, 3, queries, valueSize}, 0, concat(keys, " keys"));
  }
  NodeUnderTest node(kMaxDomain, "Attention");
  node->products = DType::BFloat16;
  Tensors in = {random.floats({1, 2, 3, 32}), random.floats({1, 2, 50, 32}), random.floats({1, 2, 50, 32})};
  const Ref<Tensor> exact = node.run(in, {{1, 2, 3, 32}})[0];
  for (Ref<Tensor>& each : in) each = narrowed(*each);
  expectNear(*node.run(in, {{1, 2, 3, 32}})[0], *exact, 0.05f, "few queries");
}

// Also for few queries, which are float32 otherwise; and with tiles. Softmax writes words with the chip's own
// conversion.
TEST(Narrow, Attention) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  checkAttentions();
  test::withEmulatedTiles([](const test::EmulatedTables&) { checkAttentions(); });
}

// Roundings are those of numbers: to even, of NaN to NaN, of large numbers to infinity.
TEST(Narrow, Rounding) {
  forEachCpuTarget([](CpuTarget target) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> numbers = {0.f,       -0.f,     1 + 1.f / 256, 1 + 3.f / 256, -1 - 1.f / 256, 3.4e38f,
                                        -infinity, infinity, nan,           1e-30f,        12345.678f};
    const auto count = static_cast<int64_t>(numbers.size());
    Ref<Tensor> x = Tensor::allocate(DType::Float32, {1, 1, 1, count}),
                one = Tensor::allocate(DType::Float32, {count, 1, 1, 1});
    std::copy(numbers.begin(), numbers.end(), static_cast<float*>(x->mutableData()));
    std::fill_n(static_cast<float*>(one->mutableData()), count, 1.f);
    NodeUnderTest node(kMaxDomain, "Conv");
    node->products = DType::BFloat16;
    node->attributes.set("group", count);
    node.results = DType::BFloat16;
    if (!bfloat16GemmTable()) return;
    const Ref<Tensor> result = node.run({x, one}, {x->shape()}, "", 1, 2)[0];
    for (int64_t i = 0; i < count; ++i) {
      const float actual = floatFromBFloat16(result->as<uint16_t>()[i]);
      const float wanted = floatFromBFloat16(bfloat16FromFloat(numbers[static_cast<size_t>(i)]));
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(actual) : actual == wanted) << nameOf(target) << ": " << wanted;
    }
  });
}

// Convolutions whose products would fill a part of a vector: the one of four filters, and the pointwise one of eight,
// but for sums of few factors. Those in groups of four are multiplied 32 filters at a time, some of them twice.
TEST(Narrow, ConvolutionsOfFewColumnsStayFloats) {
  if (!bfloat16VectorTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.input({1, 144, 9, 9});
    const auto groups = [](int64_t count) { return test::attrs({{"group", count}}); };
    b.output(b.op("Conv", {x, b.random({4, 144, 3, 3})}));
    b.output(b.op("Conv", {x, b.random({8, 144, 1, 1})}));
    b.output(b.op("Conv", {x, b.random({144, 4, 3, 3})}, groups(36)));
    b.output(b.op("Conv", {x, b.random({8, 144, 3, 3})}));
    Value* half = b.op("Conv", {x, b.random({96, 144, 1, 1})});
    b.output(half);
    b.output(b.op("Conv", {half, b.random({8, 96, 1, 1})}));
    b.output(b.op("Conv", {half, b.random({96, 4, 3, 3})}, groups(24)));
  };
  const Shape shape{1, 144, 9, 9};
  const Network medium(build, shape, true), highest(build, shape, CompileOptions());
  for (size_t i = 0; i < 7; ++i) {
    const bool areEqual =
        std::memcmp(medium.outputs[i].data(), highest.outputs[i].data(), medium.outputs[i].bytes()) == 0;
    EXPECT_EQ(areEqual, i < 2) << i;
  }
}

// What only products read is the same number, rounded by another node.
TEST(Narrow, FactorsKeepTheirBits) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.op("Conv", {b.input({2, 32, 9, 9}), b.random({48, 32, 1, 1}), b.random({48})});
    x = b.op("Conv", {b.op("Relu", {x}), b.random({64, 48, 1, 1})});
    x = b.op("Conv", {x, b.random({64, 1, 3, 3})}, test::attrs({{"group", int64_t{64}}}));
    x = b.op("Conv", {b.op("Relu", {x}), b.random({20, 64, 1, 1})});
    b.output(x);
    x = b.op("MatMul", {b.op("Reshape", {x, b.ints({2, 20, 49})}), b.random({49, 30})});
    x = b.op("LayerNormalization", {b.op("Gelu", {x}), b.random({30})});
    x = b.op("Relu", {b.op("MatMul", {x, b.random({30, 40})})});
    b.output(b.op("MatMul", {x, b.random({40, 8})}));
  };
  const Network with(build, {2, 32, 9, 9}, true), without(build, {2, 32, 9, 9}, false);
  // Two convolutions, a normalisation and a product.
  EXPECT_EQ(with.narrowValues(), 4) << dump(*with.graph);
  EXPECT_EQ(without.narrowValues(), 0);
  for (const size_t i : {size_t{0}, size_t{1}})
    EXPECT_EQ(std::memcmp(with.outputs[i].data(), without.outputs[i].data(), with.outputs[i].bytes()), 0) << i;
}

// The precision `high` keeps values as they are: parts are made of them.
TEST(Narrow, FactorsInPartsStayFloats) {
  const auto build = [](test::Builder& b) {
    Value* x = b.op("Conv", {b.input({2, 32, 9, 9}), b.random({48, 32, 1, 1}), b.random({48})});
    x = b.op("Reshape", {b.op("Conv", {b.op("Relu", {x}), b.random({20, 48, 1, 1})}), b.ints({2, 20, 81})});
    b.output(b.op("MatMul", {b.op("Relu", {b.op("MatMul", {x, b.random({81, 40})})}), b.random({40, 8})}));
  };
  test::withEmulatedTiles([&](const test::EmulatedTables&) {
    CompileOptions highest, high;
    high.precision = MAX_PRECISION_HIGH;
    const Network floats(build, {2, 32, 9, 9}, highest), parts(build, {2, 32, 9, 9}, high);
    EXPECT_EQ(parts.narrowValues(), 0);
    const float *expected = floats.outputs[0].as<float>(), *actual = parts.outputs[0].as<float>();
    const int64_t count = floats.outputs[0].count();
    const float largest = std::fabs(
        *std::max_element(expected, expected + count, [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
    for (int64_t i = 0; i < count; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-4f * largest) << i;
    EXPECT_NE(std::memcmp(actual, expected, floats.outputs[0].bytes()), 0);
  });
}

TEST(Narrow, ViewsAreNarrowToo) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.input({2, 9, 32});
    const auto project = [&] {
      return b.op("Reshape", {b.op("MatMul", {x, b.random({32, 48})}), b.ints({2, 9, 3, 16})});
    };
    const auto heads = [&](std::vector<int64_t> perm) {
      return b.op("Transpose", {project()}, test::attrs({{"perm", test::list(std::move(perm))}}));
    };
    Value* weights = b.op("Softmax", {b.op("MatMul", {heads({0, 2, 1, 3}), heads({0, 2, 3, 1})})});
    Value* sums = b.op("Transpose", {b.op("MatMul", {weights, heads({0, 2, 1, 3})})},
                       test::attrs({{"perm", test::list({0, 2, 1, 3})}}));
    b.output(b.op("MatMul", {b.op("Reshape", {sums, b.ints({2, 9, 48})}), b.random({48, 8})}));
  };
  const Network with(build, {2, 9, 32}, true), without(build, {2, 9, 32}, false);
  // A copy of the input, three products, what attention makes of them, and a view of each.
  EXPECT_EQ(with.narrowValues(), 9) << dump(*with.graph);
  EXPECT_EQ(std::memcmp(with.outputs[0].data(), without.outputs[0].data(), with.outputs[0].bytes()), 0);
}

// Elements arrive as they leave, and the greatest of rounded numbers is the greatest number, rounded.
TEST(Narrow, ElementsAreMovedAsTheyAre) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    const auto conv = [&](Value* x, int64_t from, int64_t to, int64_t columns = 1) {
      return b.op("Relu", {b.op("Conv", {x, b.random({to, from, 1, columns})})});
    };
    Value* x = conv(b.input({2, 32, 12, 12}), 32, 72);
    const Node* parts = b.node("Split", {x, b.ints({24, 48})}, test::attrs({{"axis", int64_t{1}}}), 2);
    Value* pooled = b.op("MaxPool", {conv(parts->output(0), 24, 30)},
                         test::attrs({{"kernel_shape", test::list({3, 3})}, {"strides", test::list({2, 2})}}));
    Value* large = b.op("Resize", {pooled, nullptr, nullptr, b.ints({2, 30, 10, 10})});
    Value* cut = b.op("Slice", {conv(parts->output(1), 48, 40), b.ints({1, 2}), b.ints({11, 12}), b.ints({2, 3})});
    b.output(conv(b.op("Concat", {large, cut}, test::attrs({{"axis", int64_t{1}}})), 70, 9, 2));
  };
  const Network with(build, {2, 32, 12, 12}, true), without(build, {2, 32, 12, 12}, false);
  EXPECT_EQ(with.narrowValues(), 8) << dump(*with.graph);
  EXPECT_EQ(std::memcmp(with.outputs[0].data(), without.outputs[0].data(), with.outputs[0].bytes()), 0);
}

// One part that must be floats keeps all of them, and what else goes with these.
TEST(Narrow, PartsAreNarrowTogether) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto network = [](bool isRead) {
    return [isRead](test::Builder& b) {
      Value* x = b.input({4, 32});
      Value *a = b.op("MatMul", {x, b.random({32, 20})}), *c = b.op("MatMul", {x, b.random({32, 12})});
      if (isRead) b.output(b.op("Softmax", {c}));
      Value* joined = b.op("Concat", {a, b.op("Slice", {c, b.ints({0}), b.ints({8}), b.ints({1})})},
                           test::attrs({{"axis", int64_t{1}}}));
      b.output(b.op("MatMul", {joined, b.random({28, 5})}));
    };
  };
  EXPECT_EQ(Network(network(false), {4, 32}, true).narrowValues(), 4);
  EXPECT_EQ(Network(network(true), {4, 32}, true).narrowValues(), 0);
}

TEST(Narrow, PartsOfBothKindsBecomeFloats) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(96);
  NodeUnderTest node("", "Concat");
  node->products = DType::BFloat16;
  node->attributes.set("axis", int64_t{1});
  const Tensors in = {random.floats({3, 5, 2}), random.floats({3, 1, 2}), random.floats({3, 7, 2})};
  const Ref<Tensor> rounded = narrowed(*in[1]);
  const Ref<Tensor> expected = node.run({in[0], widened(*rounded), in[2]}, {{3, 13, 2}})[0];
  const Ref<Tensor> mixed = node.run({in[0], rounded, in[2]}, {{3, 13, 2}})[0];
  EXPECT_EQ(std::memcmp(mixed->data(), expected->data(), expected->bytes()), 0);
}

TEST(Narrow, Pools) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(97);
  for (const int64_t channels : {1, 31, 32, 77})
    forEachCpuTarget([&](CpuTarget target) {
      if (!bfloat16GemmTable()) return;
      NodeUnderTest node(kMaxDomain, "MaxPool");
      node->products = DType::BFloat16;
      node->attributes.set("kernel_shape", std::vector<int64_t>{3, 2});
      node->attributes.set("pads", std::vector<int64_t>{1, 0, 1, 1});
      const Ref<Tensor> x = narrowed(*random.floats({2, 6, 7, channels}));
      const Shape out{2, 6, 7, channels};
      node.results = DType::Float32;
      const Ref<Tensor> expected = narrowed(*node.run({widened(*x)}, {out})[0]);
      node.results = DType::BFloat16;
      EXPECT_EQ(std::memcmp(node.run({x}, {out})[0]->data(), expected->data(), expected->bytes()), 0)
          << nameOf(target) << ", " << channels << " channels";
    });
}

TEST(Narrow, OtherReadersGetFloats) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.op("MatMul", {b.input({5, 32}), b.random({32, 48})});
    b.output(b.op("MatMul", {x, b.random({48, 7})}));
    b.output(b.op("Softmax", {x}));
    Value* odd = b.op("MatMul", {x, b.random({48, 21})});
    b.output(b.op("MatMul", {odd, b.random({21, 7})}));
  };
  EXPECT_EQ(Network(build, {5, 32}, true).narrowValues(), 0);
  // At `highest` nothing is.
  const auto plain = [](test::Builder& b) {
    Value* x = b.op("MatMul", {b.input({5, 32}), b.random({32, 48})});
    b.output(b.op("MatMul", {x, b.random({48, 7})}));
  };
  EXPECT_EQ(Network(plain, {5, 32}, true).narrowValues(), 1);
  EXPECT_EQ(Network(plain, {5, 32}, CompileOptions()).narrowValues(), 0);
}

TEST(Narrow, ElementwiseOperators) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(98);
  const Shape shape{3, 5, 70};
  for (const char* op : {"Mul", "Add"}) {
    NodeUnderTest node("", op);
    node->products = DType::BFloat16;
    checkNode(node, {random.floats(shape), random.floats({70})}, 0, shape, 0, op);
    node.results = DType::BFloat16;
    const Tensors in = {random.floats(shape), random.floats(shape)};
    const Ref<Tensor> fast = node.run(in, {shape}, "elementwise")[0];
    node.results = DType::Float32;
    const Ref<Tensor> expected = narrowed(*node.run(in, {shape})[0]);
    EXPECT_EQ(std::memcmp(fast->data(), expected->data(), expected->bytes()), 0) << op;
  }
}

// Results of elementwise operators, fused and single ones, are rounded by the program that computes them.
TEST(Narrow, ElementwiseResults) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  for (const bool isFused : {false, true}) {
    const auto build = [&](test::Builder& b) {
      const auto conv = [&](Value* x, int64_t to) { return b.op("Conv", {x, b.random({to, 32, 1, 1})}); };
      Value* x = conv(b.input({2, 32, 7, 7}), 32);
      Value* scaled = b.op("Mul", {x, b.op("Sigmoid", {conv(x, 32)})});
      if (isFused) scaled = b.op("Add", {b.op("Exp", {scaled}), x});
      b.output(conv(scaled, 40));
    };
    const Network with(build, {2, 32, 7, 7}, true), without(build, {2, 32, 7, 7}, false);
    EXPECT_EQ(with.narrowValues(), 1) << dump(*with.graph);
    EXPECT_EQ(std::memcmp(with.outputs[0].data(), without.outputs[0].data(), with.outputs[0].bytes()), 0) << isFused;
  }
}

// Interpolated pixels are rounded by the last of the passes over the axes, also where there is none.
TEST(Narrow, InterpolatedPixels) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(99);
  for (const Shape& out : {Shape{1, 12, 700, 3}, Shape{1, 3, 7, 3}, Shape{1, 6, 7, 3}, Shape{1, 6, 9, 550}}) {
    NodeUnderTest node("", "Resize");
    node->products = DType::BFloat16;
    node->attributes.set("mode", std::string("linear"));
    std::vector<int64_t> sizes;
    for (int i = 0; i < 4; ++i) sizes.push_back(out[i]);
    const Tensors in = {random.floats({1, 6, 7, 3}), nullptr, nullptr, Tensor::copyOf(DType::Int64, {4}, sizes.data())};
    node.results = DType::BFloat16;
    const Ref<Tensor> actual = node.run(in, {out}, "interpolate_f32", 2, 0b1000)[0];
    node.results = DType::Float32;
    const Ref<Tensor> expected = narrowed(*node.run(in, {out}, "interpolate_f32", 2, 0b1000)[0]);
    EXPECT_EQ(std::memcmp(actual->data(), expected->data(), expected->bytes()), 0) << out.count();
  }
  const auto build = [](test::Builder& b) {
    const auto conv = [&](Value* x, int64_t to, int64_t columns = 1) {
      return b.op("Conv", {x, b.random({to, 32, 1, columns})});
    };
    Value* x = conv(b.input({2, 32, 6, 6}), 32);
    const auto grown = [&](int64_t side) {
      return b.op("Resize", {conv(x, 16), nullptr, nullptr, b.ints({2, 16, side, side})},
                  test::attrs({{"mode", std::string("linear")}}));
    };
    b.output(conv(b.op("Concat", {grown(6), grown(6)}, test::attrs({{"axis", int64_t{1}}})), 9));
    b.output(conv(b.op("Concat", {grown(9), grown(9)}, test::attrs({{"axis", int64_t{1}}})), 9, 2));
  };
  const Network with(build, {2, 32, 6, 6}, true), without(build, {2, 32, 6, 6}, false);
  EXPECT_EQ(with.narrowValues(), 7) << dump(*with.graph);
  for (const size_t i : {size_t{0}, size_t{1}})
    EXPECT_EQ(std::memcmp(with.outputs[i].data(), without.outputs[i].data(), with.outputs[i].bytes()), 0) << i;
}

// What others read stays floats; products that would round each element several times share a rounded copy.
TEST(Narrow, WindowsReadACopy) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto network = [](int64_t size) {
    return [size](test::Builder& b) {
      const auto conv = [&](Value* x, int64_t dilation) {
        return b.op("Conv", {x, b.random({24, 32, size, size})},
                    test::attrs({{"dilations", test::list({dilation, dilation})},
                                 {"pads", test::list(std::vector<int64_t>(4, dilation * (size / 2)))}}));
      };
      Value* x = b.op("Sigmoid", {b.input({2, 32, 9, 9})});
      b.output(b.op("ReduceMean", {x, b.ints({2, 3})}));
      for (const int64_t dilation : {2, 8}) b.output(conv(x, dilation));
    };
  };
  const auto copies = [](const Network& of) {
    int count = 0;
    for (const Node* node : of.graph->nodes()) count += node->is("Cast");
    return count;
  };
  for (const int64_t size : {1, 3}) {
    const Network with(network(size), {2, 32, 9, 9}, true), without(network(size), {2, 32, 9, 9}, false);
    EXPECT_EQ(copies(with), size == 3) << dump(*with.graph);
    EXPECT_EQ(with.narrowValues(), size == 3);
    EXPECT_EQ(copies(without), 0);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(std::memcmp(with.outputs[i].data(), without.outputs[i].data(), with.outputs[i].bytes()), 0) << i;
  }
}

// A residual loses at most half a unit of its last place.
TEST(Narrow, ResidualsAreRoundedOnce) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const auto build = [](test::Builder& b) {
    Value* x = b.op("Relu", {b.op("Conv", {b.input({1, 16, 12, 12}), b.random({32, 16, 1, 1})})});
    Value* y = b.op("Relu", {b.op("Conv", {x, b.random({32, 32, 1, 1})})});
    b.output(b.op("Relu", {b.op("Add", {b.op("Conv", {y, b.random({32, 32, 1, 1})}), x})}));
  };
  const Network with(build, {1, 16, 12, 12}, true), without(build, {1, 16, 12, 12}, false);
  EXPECT_EQ(with.narrowValues(), 2) << dump(*with.graph);
  for (int64_t i = 0; i < with.outputs[0].count(); ++i)
    ASSERT_NEAR(with.outputs[0].as<float>()[i], without.outputs[0].as<float>()[i], 0.1) << i;
}

}  // namespace
}  // namespace max
