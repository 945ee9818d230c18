// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

namespace max::test {
namespace {

Value* conv(Builder& b, Value* x, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1, int64_t group = 1) {
  const int64_t pad = kernel / 2;
  return b.op("Conv", {x, b.random({out, in / group, kernel, kernel}), b.random({out})},
              attrs({{"pads", list({pad, pad, pad, pad})}, {"strides", list({stride, stride})}, {"group", group}}));
}

TEST(Layout, ResidualBlockRunsChannelsLast) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 8, 8});
    Value* stem = b.op("Relu", {conv(b, x, 3, 4, 3)});
    Value* pooled = b.op("MaxPool", {stem}, attrs({{"kernel_shape", list({3, 3})}, {"strides", list({2, 2})}}));
    Value* left = conv(b, b.op("Relu", {conv(b, pooled, 4, 4, 3)}), 4, 8, 1);
    Value* sum = b.op("Relu", {b.op("Add", {left, conv(b, pooled, 4, 8, 1)})});
    Value* flat = b.op("Flatten", {b.op("GlobalAveragePool", {sum})});
    b.output(b.op("Gemm", {flat, b.random({8, 5}), b.random({5})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 8, 8}}), "ReduceMean Reshape Transpose max.Conv*4 max.MatMul max.MaxPool");
}

TEST(Layout, SqueezeAndExcite) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 3, 6, 6}), 3, 8, 3, 1);
    Value* depthwise = b.op("HardSwish", {conv(b, x, 8, 8, 5, 2, 8)});
    Value* squeezed = b.op("Relu", {conv(b, b.op("GlobalAveragePool", {depthwise}), 8, 4, 1)});
    Value* gate = b.op("HardSigmoid", {conv(b, squeezed, 4, 8, 1)});
    b.output(b.op("ReduceMean", {conv(b, b.op("Mul", {depthwise, gate}), 8, 4, 1), b.ints({2, 3})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Mul ReduceMean*2 Reshape Transpose max.Conv*5");
}

TEST(Layout, ConcatSplitPadResizeSliceFollow) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 4, 6, 6}), 4, 8, 3);
    Node* split = b.node("Split", {x}, attrs({{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}), 2);
    Value* left = b.op("Pad", {split->output(0), b.ints({0, 0, 0, 1, 0, 0, 0, -2})});
    Value* right = b.op("Slice", {split->output(1), b.ints({0, 0}), b.ints({INT64_MAX, -1}), b.ints({2, 3})});
    Value* joined = b.op("Concat", {left, right}, attrs({{"axis", int64_t{1}}}));
    b.output(conv(b, b.op("Softmax", {joined}, attrs({{"axis", int64_t{1}}})), 8, 4, 1));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 4, 6, 6}}), "Concat Pad Slice Softmax Split Transpose*2 max.Conv*2");
}

// As in the bottlenecks of detectors; a depthwise convolution adds nothing after its activation.
TEST(Layout, ResidualsJoinAfterActivations) {
  const auto build = [](Builder& b) {
    const auto silu = [&](Value* x) { return b.op("Mul", {x, b.op("Sigmoid", {x})}); };
    Value* x = silu(conv(b, b.input({b.symbol("n"), 3, 6, 6}), 3, 8, 3));
    Value* sum = b.op("Add", {x, silu(conv(b, silu(conv(b, x, 8, 8, 3)), 8, 8, 3))});
    Value* other = b.op("Add", {b.op("Relu", {conv(b, sum, 8, 8, 3)}), sum});
    Value* depthwise = b.op("Add", {b.op("Relu", {conv(b, other, 8, 8, 3, 1, 8)}), other});
    b.output(b.op("ReduceMean", {depthwise, b.ints({2, 3})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Add ReduceMean Reshape Transpose max.Conv*5");
}

TEST(Layout, ExpansionsJoinDepthwiseConvolutions) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 6, 6});
    Value* joined = b.op("Relu", {conv(b, b.op("HardSwish", {conv(b, x, 3, 8, 1)}), 8, 8, 3, 2, 8)});
    Value* read = conv(b, x, 3, 8, 1);  // twice
    Value* wide = conv(b, conv(b, x, 3, 8, 3), 8, 8, 3, 2, 8);
    b.output(b.op("Add", {joined, b.op("Sum", {wide, conv(b, read, 8, 8, 3, 2, 8)})}));
    b.output(read);
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Add Sum Transpose*3 max.Conv*4 max.ExpandConv");
}

// An instance normalisation between convolutions needs no Transposes; one of the input itself keeps its kernel.
TEST(Layout, InstanceNormalizationsFollow) {
  const auto build = [](Builder& b) {
    const auto normalise = [&](Value* x) {
      return b.op("InstanceNormalization", {x, b.random({8}), b.random({8})}, attrs({{"epsilon", 0.01f}}));
    };
    Value* x = normalise(b.input({b.symbol("n"), 8, b.symbol("h"), 7}));
    Value* y = b.op("LeakyRelu", {normalise(conv(b, x, 8, 8, 3))});
    b.output(conv(b, b.op("Add", {normalise(conv(b, y, 8, 8, 1)), y}), 8, 4, 3));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 8, 6, 7}}),
            "Add*5 Div*2 InstanceNormalization LeakyRelu Mul*4 ReduceMean*4 Sqrt*2 Sub*2 Transpose*2 max.Conv*3");
}

// So does a layer normalisation of all channels and pixels, unless its elements have a scale of their own.
TEST(Layout, LayerNormalizationsOfSignalsFollow) {
  const auto build = [](bool hasScale) {
    return [=](Builder& b) {
      Value* x = b.op("Relu", {conv(b, b.input({b.symbol("n"), 3, 6, 7}), 3, 8, 3)});
      Value* ones = b.op("ConstantOfShape", {b.ints({8, 6, 7})}, attrs({{"value", b.scalar(1)->constant}}));
      Value* y = b.op("LayerNormalization", {x, hasScale ? b.random({8, 6, 7}) : ones},
                      attrs({{"axis", int64_t{1}}, {"epsilon", 0.01f}}));
      b.output(conv(b, b.op("Add", {b.op("Mul", {y, b.random({8, 1, 1})}), b.random({8, 1, 1})}), 8, 4, 1));
    };
  };
  EXPECT_EQ(compileAndCompare(build(false), {{2, 3, 6, 7}}),
            "Add*2 Div Mul*3 ReduceMean ReduceSumSquare Sqrt Sub Transpose*2 max.Conv*2");
  EXPECT_EQ(compileAndCompare(build(true), {{2, 3, 6, 7}}), "Add LayerNormalization Mul Transpose*4 max.Conv*2");
}

// Up to eight filters for each channel: products would have as many columns.
TEST(Layout, FewFiltersForEachChannelAreDepthwise) {
  for (int64_t times : {2, 3, 8, 9}) {
    const auto build = [&](Builder& b) {
      Value* x = b.input({b.symbol("n"), 6, b.symbol("h"), 7});
      const Attributes attributes =
          attrs({{"group", int64_t{6}}, {"strides", list({2, 1})}, {"pads", list({1, 1, 1, 1})}});
      b.output(b.op("Conv", {x, b.random({6 * times, 1, 3, 3}), b.random({6 * times})}, attributes));
    };
    const std::string repeated = times <= 8 ? "Expand Reshape Transpose*2 Unsqueeze max.Conv" : "Transpose*2 max.Conv";
    EXPECT_EQ(compileAndCompare(build, {{2, 6, 9, 7}}), repeated);
  }
}

TEST(Layout, TransposedConvolutionsFollow) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 3, 6, b.symbol("w")}), 3, 4, 3);
    Value* y = b.op("ConvTranspose", {x, b.random({4, 5, 2, 2}), b.random({5})}, attrs({{"strides", list({2, 2})}}));
    Value* z = b.op("ConvTranspose", {b.op("Relu", {y}), b.random({5, 2, 4, 4})},
                    attrs({{"strides", list({2, 2})}, {"pads", list({1, 1, 1, 1})}}));
    b.output(conv(b, b.op("Sigmoid", {b.op("Add", {z, b.random({2, 1, 1})})}), 2, 3, 1));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 5}}), "Transpose*2 max.Conv*2 max.ConvTranspose*2");
}

// A filter for each channel has kernels for this layout where its taps reach every place within a stride.
TEST(Layout, DepthwiseTransposedConvolutionsFollow) {
  const auto build = [](int64_t size, int64_t filters) {
    return [=](Builder& b) {
      Value* x = conv(b, b.input({b.symbol("n"), 3, 6, b.symbol("w")}), 3, 4, 3);
      Value* y = b.op("ConvTranspose", {x, b.random({4, filters, size, size}), b.random({4 * filters})},
                      attrs({{"strides", list({2, 2})}, {"group", 4}}));
      b.output(conv(b, b.op("Relu", {y}), 4 * filters, 3, 1));
    };
  };
  EXPECT_EQ(compileAndCompare(build(3, 1), {{2, 3, 6, 5}}), "Transpose*2 max.Conv*2 max.ConvTranspose");
  EXPECT_EQ(compileAndCompare(build(1, 1), {{2, 3, 6, 5}}), "ConvTranspose Relu Transpose*4 max.Conv*2");
  EXPECT_EQ(compileAndCompare(build(3, 2), {{2, 3, 6, 5}}), "ConvTranspose Relu Transpose*4 max.Conv*2");
}

TEST(Layout, TransposedConvolutionsTakeNoResidual) {
  const auto build = [](Builder& b) {
    Value* x = b.input({2, 3, 6, 5});
    Value* y = b.op("ConvTranspose", {x, b.random({3, 4, 2, 2})}, attrs({{"strides", list({2, 2})}}));
    b.output(b.op("Add", {y, b.op("ConvTranspose", {x, b.random({3, 4, 2, 2})}, attrs({{"strides", list({2, 2})}}))}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 5}}), "Add Transpose*2 max.ConvTranspose*2");
}

TEST(Layout, ResizeFollows) {
  Builder b;
  Value* x = conv(b, b.input({2, 3, 6, 6}), 3, 4, 3);
  Value* y = b.op("Resize", {x, nullptr, nullptr, b.ints({2, 4, 12, 9})}, attrs({{"mode", std::string("nearest")}}));
  b.output(conv(b, y, 4, 2, 1));
  compile(*b.graph, withoutFusion());
  EXPECT_EQ(operatorsOf(*b.graph), "Resize Transpose*2 max.Conv*2");
}

// Pixels as rows of a product are those that a convolution makes.
TEST(Layout, PixelsBecomeRows) {
  const auto build = [](Builder& b) {
    Value* pixels = b.op("Reshape", {conv(b, b.input({2, 3, 6, 6}), 3, 4, 3), b.ints({2, 4, 36})});
    Value* rows = b.op("Transpose", {pixels}, attrs({{"perm", list({0, 2, 1})}}));
    b.output(b.op("MatMul", {rows, b.random({4, 5})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Reshape Transpose max.Conv max.MatMul");
}

TEST(Layout, ResizesToTheSameSizeVanish) {
  const auto build = [](const std::vector<float>& scales, std::vector<int64_t> sizes) {
    return [=](Builder& b) {
      Value* factors =
          scales.empty() ? nullptr : b.graph->addConstant(Tensor::copyOf(DType::Float32, {4}, scales.data()));
      Value* x = b.op("Resize", {b.input({1, 2, 6, 6}), nullptr, factors, sizes.empty() ? nullptr : b.ints(sizes)},
                      attrs({{"mode", std::string("linear")}}));
      b.output(b.op("Relu", {x}));
    };
  };
  EXPECT_EQ(compileAndCompare(build({}, {1, 2, 6, 6}), {{1, 2, 6, 6}}), "Relu");
  EXPECT_EQ(compileAndCompare(build({1, 1, 1, 1}, {}), {{1, 2, 6, 6}}), "Relu");
  EXPECT_EQ(compileAndCompare(build({1, 1, 1, 1.1f}, {}), {{1, 2, 6, 6}}), "Relu Resize");
}

// The smaller value is transposed.
TEST(Layout, TransposesGoAboveLargerResults) {
  for (const int64_t side : {3, 12}) {
    const auto build = [side](Builder& b) {
      Value* x = conv(b, b.input({2, 3, 6, 6}), 3, 4, 3);
      b.output(
          b.op("Resize", {x, nullptr, nullptr, b.ints({2, 4, side, 9})}, attrs({{"mode", std::string("linear")}})));
    };
    EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Resize Transpose*2 max.Conv");
    Builder b;
    build(b);
    compile(*b.graph, withoutFusion());
    EXPECT_EQ(b.graph->outputs()[0]->producer->op(), side == 12 ? "Resize" : "Transpose") << dump(*b.graph);
  }
}

TEST(Layout, OneAndThreeDimensions) {
  const auto build1 = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 4, 9});
    Value* y = b.op("Relu", {b.op("Conv", {x, b.random({8, 4, 3})}, attrs({{"strides", list({2})}}))});
    b.output(b.op("AveragePool", {y}, attrs({{"kernel_shape", list({2})}})));
  };
  EXPECT_EQ(compileAndCompare(build1, {{2, 4, 9}}), "Transpose*2 max.AveragePool max.Conv");
  const auto build3 = [](Builder& b) {
    Value* x = b.input({1, 2, 4, 5, 6});
    b.output(b.op("Conv", {b.op("Conv", {x, b.random({4, 2, 2, 2, 2})}), b.random({3, 4, 1, 1, 1})}));
  };
  EXPECT_EQ(compileAndCompare(build3, {{1, 2, 4, 5, 6}}), "Transpose*2 max.Conv*2");
}

TEST(Layout, AutomaticPads) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    const auto build = [mode](Builder& b) {
      Value* x = b.input({1, 2, 6, 7});
      b.output(b.op("Conv", {x, b.random({4, 2, 2, 2})},
                    attrs({{"auto_pad", std::string(mode)}, {"strides", list({2, 2})}})));
    };
    EXPECT_EQ(compileAndCompare(build, {{1, 2, 6, 7}}), "Transpose*2 max.Conv") << mode;
  }
}

TEST(Layout, SingleChannelNeedsNoTranspose) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 1, 6, 6});
    b.output(b.op("ReduceMax", {conv(b, x, 1, 4, 3), b.ints({1})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 1, 6, 6}}), "ReduceMax Reshape*2 max.Conv");
}

TEST(Layout, BroadcastOperandsMove) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 3, 5, 5}), 3, 4, 3);
    Value* gate = b.op("Reshape", {b.input({b.symbol("n"), 4}), b.ints({0, 4, 1, 1})});
    Value* y = b.op("Mul", {b.op("Sub", {x, b.random({4, 1, 1})}), gate});
    y = b.op("Where", {b.op("Greater", {y, b.scalar(0)}), y, b.random({1, 4, 5, 5})});
    b.output(conv(b, y, 4, 2, 1));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 5, 5}, {2, 4}}), "Greater Mul Reshape Sub Transpose*2 Where max.Conv*2");
}

TEST(Layout, FlattenBeforeProductPermutesItsWeights) {
  for (const bool transposed : {false, true}) {
    const auto build = [transposed](Builder& b) {
      Value* x = b.op("Flatten", {conv(b, b.input({b.symbol("n"), 3, 4, 5}), 3, 2, 3)});
      Value* w = transposed ? b.random({7, 40}) : b.random({40, 7});
      b.output(b.op("Gemm", {x, w, b.random({7})}, attrs({{"transB", int64_t(transposed)}})));
    };
    EXPECT_EQ(compileAndCompare(build, {{2, 3, 4, 5}}), "Reshape Transpose max.Conv max.MatMul");
  }
}

TEST(Layout, PatchesOfAVisionTransformer) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 3, 6, 6}), 3, 8, 3, 2);
    Value* y = b.op("Transpose", {b.op("Reshape", {x, b.ints({0, 8, -1})})}, attrs({{"perm", list({0, 2, 1})}}));
    b.output(b.op("Relu", {y}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Reshape Transpose max.Conv");
}

TEST(Layout, ChannelShuffle) {
  const auto build = [](Builder& b) {
    Value* x = conv(b, b.input({b.symbol("n"), 3, 6, 6}), 3, 8, 3);
    Value* y = b.op("Reshape", {x, b.ints({0, 2, 4, 6, 6})});
    y = b.op("Transpose", {y}, attrs({{"perm", list({0, 2, 1, 3, 4})}}));
    b.output(conv(b, b.op("Reshape", {y, b.ints({0, 8, 6, 6})}), 8, 4, 1));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Reshape*2 Transpose*4 max.Conv*2");
}

TEST(Layout, WeightsThatAreNotConstantStay) {
  const auto build = [](Builder& b) { b.output(b.op("Conv", {b.input({1, 2, 5, 5}), b.input({3, 2, 3, 3})})); };
  EXPECT_EQ(compileAndCompare(build, {{1, 2, 5, 5}, {3, 2, 3, 3}}), "Conv");
}

TEST(Layout, TensorFlowTransposesCancel) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Transpose", {b.input({b.symbol("n"), 6, 6, 3})}, attrs({{"perm", list({0, 3, 1, 2})}}));
    Value* y = b.op("Transpose", {conv(b, x, 3, 4, 3)}, attrs({{"perm", list({0, 2, 3, 1})}}));
    b.output(b.op("Add", {y, b.random({1, 1, 1, 4})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6, 6, 3}}), "max.Conv");
}

}  // namespace
}  // namespace max::test
