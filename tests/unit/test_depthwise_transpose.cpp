// SPDX-License-Identifier: Apache-2.0
// ConvTranspose whose groups have one channel and a few filters, or whose weights come with the call.
#include "op_harness.h"
#include "ops/cpu/convolution/conv_grouped.h"

namespace max::test {
namespace {

struct Case {
  std::vector<int64_t> in, kernel, strides, dilations, pads, extra;  // pads: begins, then ends
};

Shape outputOf(const Case& test, int64_t images, int64_t filters) {
  Shape out{images, filters};
  const size_t rank = test.in.size();
  for (size_t i = 0; i < rank; ++i)
    out.push((test.in[i] - 1) * test.strides[i] + (test.kernel[i] - 1) * test.dilations[i] + 1 - test.pads[i] -
             test.pads[i + rank] + test.extra[i]);
  return out;
}

const Case kCases[] = {
    {{9}, {4}, {2}, {1}, {1, 1}, {0}},
    {{700}, {5}, {2}, {3}, {4, 0}, {1}},
    {{6}, {2}, {5}, {1}, {0, 0}, {3}},
    {{3}, {7}, {3}, {2}, {6, 5}, {0}},
    {{8, 33}, {4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0, 0}},
    {{5, 300}, {3, 3}, {1, 1}, {2, 2}, {2, 0, 1, 2}, {0, 0}},
    {{7, 6}, {3, 5}, {3, 2}, {1, 3}, {0, 3, 2, 7}, {2, 1}},
    {{3, 4, 5}, {2, 3, 4}, {2, 1, 3}, {1, 2, 1}, {0, 1, 2, 1, 1, 0}, {1, 0, 2}},
    {{300}, {9}, {3}, {1}, {3, 2}, {1}},
    {{4, 200}, {4, 16}, {2, 8}, {1, 1}, {1, 4, 1, 5}, {0, 2}},
    {{5, 2}, {3, 11}, {2, 4}, {1, 1}, {1, 9, 0, 3}, {0, 0}},
    // Strides of as many pixels as a line of the output has, and more.
    {{6}, {1024}, {256}, {1}, {384, 380}, {0}},
    {{3}, {1300}, {600}, {1}, {17, 900}, {5}},
};

// `filters`: of a group. No weights are known before the call.
void compare(Random& random, const Case& test, int64_t channels, int64_t groups, int64_t filters, bool hasBias) {
  Shape x{2, channels}, w{channels, filters};
  for (size_t i = 0; i < test.in.size(); ++i) {
    x.push(test.in[i]);
    w.push(test.kernel[i]);
  }
  Attributes attributes;
  attributes.set("group", groups);
  attributes.set("strides", test.strides);
  attributes.set("dilations", test.dilations);
  attributes.set("pads", test.pads);
  attributes.set("output_padding", test.extra);
  LooseNode node("ConvTranspose", attributes);
  std::vector<Ref<Tensor>> inputs = {randomTensor(random, DType::Float32, x), randomTensor(random, DType::Float32, w)};
  if (hasBias) inputs.push_back(randomTensor(random, DType::Float32, {groups * filters}));
  const std::vector<OutputType> type = {{DType::Float32, outputOf(test, 2, groups * filters)}};
  const KernelRun expected = runOp(node.node(), inputs, type, "reference");
  for (const int lanes : {1, 3}) {
    const KernelRun actual = runOp(node.node(), inputs, type, "gather_f32", lanes);
    expectClose(*actual.outputs[0], *expected.outputs[0], 1e-5, concat(x, " ", w, " on ", lanes));
  }
}

TEST(DepthwiseTranspose, AgreesWithReference) {
  Random random(31);
  for (const Case& test : kCases)
    for (const int64_t filters : {1, 3})
      for (const bool hasBias : {false, true}) compare(random, test, 4, 4, filters, hasBias);
}

TEST(ConvTranspose, TakesWeightsOfTheCall) {
  Random random(32);
  for (const Case& test : kCases)
    for (const int64_t filters : {1, 2, 3, 5, 16})
      for (const int64_t groups : {1, 3}) compare(random, test, 6, groups, filters, groups == 1);
}

struct Phased {
  int64_t images, height, width, channels, groups, kernel, stride, pad;
};

// Channels last, a stride and an activation along both axes.
void comparePhases(Random& random, const Phased& test, const char* activation) {
  Attributes attributes;
  attributes.set("group", test.groups);
  attributes.set("strides", std::vector<int64_t>{test.stride, test.stride});
  attributes.set("pads", std::vector<int64_t>(4, test.pad));
  attributes.set("activation", std::string(activation));
  LooseNode node("max", "ConvTranspose", attributes);
  const std::vector<Ref<Tensor>> inputs = {
      randomTensor(random, DType::Float32, {test.images, test.height, test.width, test.channels}),
      randomTensor(random, DType::Float32, {test.channels, test.channels / test.groups, test.kernel, test.kernel}),
      randomTensor(random, DType::Float32, {test.channels})};
  const auto side = [&](int64_t in) { return (in - 1) * test.stride + test.kernel - 2 * test.pad; };
  const std::vector<OutputType> type = {
      {DType::Float32, {test.images, side(test.height), side(test.width), test.channels}}};
  const KernelRun expected = runOp(node.node(), inputs, type, "reference");
  for (const int lanes : {1, 3}) {
    const KernelRun actual = runOp(node.node(), inputs, type, "phases_f32", lanes, true);
    expectClose(*actual.outputs[0], *expected.outputs[0], 1e-4, concat(inputs[0]->shape(), " on ", lanes));
  }
}

// Places of the output within a stride are depthwise convolutions. Some images are blocks of rows, some results go past
// the caches.
TEST(DepthwiseTranspose, TakesPhasesOfTheOutput) {
  Random random(33);
  for (const Phased& test :
       {Phased{2, 9, 11, 40, 40, 4, 2, 1}, Phased{1, 70, 90, 64, 64, 3, 2, 1}, Phased{1, 75, 81, 20, 20, 4, 2, 0},
        Phased{3, 7, 5, 33, 33, 16, 8, 4}, Phased{1, 20, 24, 16, 16, 5, 1, 2}, Phased{1, 6, 8, 100, 100, 2, 2, 0},
        Phased{1, 1, 40, 128, 128, 7, 3, 2}, Phased{1, 200, 180, 32, 32, 4, 2, 1}})
    comparePhases(random, test, test.stride == 3 ? "HardSwish" : "Relu");
}

// Or convolutions in groups of which a vector holds some.
TEST(ConvTranspose, TakesPhasesOfGroups) {
  if (groupedTable().lanes < 8) GTEST_SKIP() << "vectors hold no groups";
  Random random(34);
  for (const Phased& test :
       {Phased{2, 9, 11, 40, 20, 4, 2, 1}, Phased{1, 40, 29, 64, 16, 3, 2, 1}, Phased{1, 15, 17, 24, 12, 4, 2, 0},
        Phased{3, 7, 5, 36, 9, 6, 3, 4}, Phased{1, 20, 24, 16, 4, 5, 1, 2}, Phased{2, 9, 11, 48, 16, 4, 2, 1}})
    for (const char* activation : {"", "Relu", "Tanh"}) comparePhases(random, test, activation);
}

// Both with filters that come with the call, and channels second.
TEST(ConvTranspose, TakesPhasesOfFiltersOfTheCall) {
  Random random(36);
  for (const Phased& test : {Phased{2, 9, 11, 40, 40, 4, 2, 1}, Phased{1, 75, 81, 20, 20, 5, 2, 0},
                             Phased{2, 9, 11, 40, 20, 4, 2, 1}, Phased{3, 7, 5, 64, 8, 6, 3, 4}}) {
    if (test.groups < test.channels && groupedTable().lanes <= test.channels / test.groups) continue;
    const Attributes attributes = with({{"group", test.groups},
                                        {"strides", std::vector<int64_t>{test.stride, test.stride}},
                                        {"pads", std::vector<int64_t>(4, test.pad)}});
    LooseNode node("ConvTranspose", attributes);
    const std::vector<Ref<Tensor>> inputs = {
        randomTensor(random, DType::Float32, {test.images, test.channels, test.height, test.width}),
        randomTensor(random, DType::Float32, {test.channels, test.channels / test.groups, test.kernel, test.kernel}),
        randomTensor(random, DType::Float32, {test.channels})};
    const auto side = [&](int64_t in) { return (in - 1) * test.stride + test.kernel - 2 * test.pad; };
    const std::vector<OutputType> type = {
        {DType::Float32, {test.images, test.channels, side(test.height), side(test.width)}}};
    const KernelRun expected = runOp(node.node(), inputs, type, "reference");
    for (const int lanes : {1, 3}) {
      const KernelRun actual = runOp(node.node(), inputs, type, "phases_f32", lanes);
      expectClose(*actual.outputs[0], *expected.outputs[0], 1e-4, concat(inputs[1]->shape(), " on ", lanes));
    }
  }
}

// Or products of rows of pixels, where filters fill vectors.
TEST(ConvTranspose, TakesPhasesOfProducts) {
  Random random(35);
  for (const Phased& test : {Phased{2, 9, 11, 32, 1, 4, 2, 1}, Phased{1, 12, 9, 64, 2, 3, 2, 1},
                             Phased{1, 5, 30, 96, 3, 5, 3, 2}, Phased{2, 7, 6, 48, 1, 2, 2, 1}})
    for (const char* activation : {"", "Relu", "Tanh"}) comparePhases(random, test, activation);
}

}  // namespace
}  // namespace max::test
