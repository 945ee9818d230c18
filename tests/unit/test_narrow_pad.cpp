// SPDX-License-Identifier: Apache-2.0
// Pad between products of bfloat16: zeros are the same bytes in both types.
#include "executor_helpers.h"
#include "interpreter.h"
#include "ops/cpu/matrix/gemm.h"

namespace max {
namespace {

struct Padded {
  int narrow = 0;
  test::Outputs outputs;

  // A Pad of channels and of borders, which two convolutions read, so that neither absorbs it.
  Padded(float fill, bool isNarrow) {
    test::Builder b;
    const auto conv = [&](Value* x, int64_t from, int64_t to) {
      return b.op("Relu", {b.op("Conv", {x, b.random({to, from, 1, 1})})});
    };
    Value* padded =
        b.op("Pad", {conv(b.input({2, 32, 7, 7}), 32, 20), b.ints({0, 0, 1, 0, 0, 4, 0, 2}), b.scalar(fill)});
    b.output(conv(padded, 24, 9));
    b.output(conv(padded, 24, 5));
    CompileOptions options;
    options.precision = MAX_PRECISION_MEDIUM;
    if (!isNarrow) options.disabledPasses = {"narrow"};
    compile(*b.graph, options);
    for (const Node* node : b.graph->nodes()) narrow += node->output()->isNarrow;
    Random random(5);
    outputs = test::run(PlannedProgram(b.graph, 2), {test::randomTensor({2, 32, 7, 7}, random)});
  }
};

TEST(NarrowPad, OfZeros) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const Padded with(0, true), without(0, false);
  EXPECT_GE(with.narrow, 2);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::memcmp(with.outputs[i].data(), without.outputs[i].data(), with.outputs[i].bytes()), 0);
}

TEST(NarrowPad, OfOtherNumbersStaysFloats) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  const Padded with(1.5f, true), without(1.5f, false);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::memcmp(with.outputs[i].data(), without.outputs[i].data(), with.outputs[i].bytes()), 0);
}

}  // namespace
}  // namespace max
