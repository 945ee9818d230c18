// SPDX-License-Identifier: Apache-2.0
// Convolutions whose products have few columns.
#include "graph/readers/windows.h"
#include "interpreter.h"

namespace max::test {
namespace {

struct Case {
  int64_t channels, filters, groups, size, stride, width;
  bool adds;  // a residual
};

using Build = std::function<void(Builder&)>;

Build networkOf(const Case& c, bool isKnown) {
  return [c, isKnown](Builder& b) {
    const int64_t pad = c.size / 2;
    Value* x = isKnown ? b.input({2, c.channels, 5, c.width}) : b.input({2, c.channels, 5, b.symbol("w")});
    Value* y = b.op("Conv", {x, b.random({c.filters, c.channels / c.groups, c.size, c.size}), b.random({c.filters})},
                    attrs({{"pads", list({pad, pad, pad, pad})},
                           {"strides", list({1, c.stride})},
                           {"kernel_shape", list({c.size, c.size})},
                           {"group", c.groups}}));
    if (c.adds) y = b.op("Add", {y, b.op("Conv", {x, b.random({c.filters, c.channels, 1, 1})})});
    b.output(b.op("Relu", {y}));
  };
}

// The filters and groups of the first convolution.
std::pair<int64_t, int64_t> convolutionOf(const Build& build) {
  Builder b;
  build(b);
  compile(*b.graph, CompileOptions());
  for (const Node* node : b.graph->nodes())
    if (node->isOwn("Conv") && node->inputs[1]->constant->shape()[2] > 1)
      return {node->inputs[1]->constant->shape()[0], readers::readGroups(node->attributes)};
  return {};
}

void check(const Case& c, int64_t filters, int64_t groups) {
  SCOPED_TRACE(concat(c.channels, " channels, ", c.filters, " filters, ", c.groups, " groups, size ", c.size));
  compileAndCompare(networkOf(c, true), {{2, c.channels, 5, c.width}}, CompileOptions());
  EXPECT_EQ(convolutionOf(networkOf(c, true)), std::make_pair(filters, groups));
}

TEST(Widen, SeveralPixelsAtOnce) {
  check({16, 3, 1, 3, 1, 12, false}, 12, 1);
  check({16, 3, 1, 3, 1, 15, true}, 15, 1);
  check({17, 1, 1, 5, 1, 28, true}, 14, 1);
  check({20, 7, 1, 9, 1, 12, false}, 14, 1);
  // Too little would be gained.
  check({16, 3, 1, 3, 1, 13, false}, 3, 1);
  check({16, 3, 1, 3, 2, 24, false}, 3, 1);
  check({16, 9, 1, 3, 1, 12, false}, 9, 1);
  check({15, 3, 1, 3, 1, 12, false}, 3, 1);
}

TEST(Widen, UnknownWidthsStay) {
  const Case c{16, 3, 1, 3, 1, 12, false};
  EXPECT_EQ(convolutionOf(networkOf(c, false)), std::make_pair(int64_t{3}, int64_t{1}));
  compileAndCompare(networkOf(c, false), {{2, 16, 5, 12}}, CompileOptions());
}

TEST(Widen, SeveralGroupsAtOnce) {
  check({32, 32, 8, 3, 1, 7, false}, 32, 2);
  check({24, 24, 12, 3, 2, 7, false}, 24, 2);
  check({24, 12, 6, 5, 1, 7, false}, 12, 1);
  check({36, 45, 9, 3, 1, 7, false}, 45, 3);
  check({70, 49, 7, 3, 1, 7, false}, 49, 7);
}

}  // namespace
}  // namespace max::test
