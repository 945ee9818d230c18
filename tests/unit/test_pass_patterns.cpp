// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

namespace max::test {
namespace {

Value* mean(Builder& b, Value* x, int64_t axis) { return b.op("ReduceMean", {x, b.ints({axis})}); }

TEST(LayerNorm, PyTorchForm) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("batch"), b.symbol("sequence"), 16});
    Value* centred = b.op("Sub", {x, mean(b, x, -1)});
    Value* variance = mean(b, b.op("Pow", {centred, b.scalar(2)}), -1);
    Value* root = b.op("Sqrt", {b.op("Add", {variance, b.scalar(1e-5f)})});
    Value* y = b.op("Mul", {b.op("Div", {centred, root}), b.random({16})});
    b.output(b.op("Add", {y, b.random({16})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 16}}), "LayerNormalization");
}

TEST(LayerNorm, JaxForm) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("batch"), 16});
    const Attributes drop = attrs({{"keepdims", int64_t{0}}});
    Value* average = b.op("Mul", {b.op("ReduceSum", {x, b.ints({1})}, drop), b.scalar(1.0f / 16)});
    Value* squares = b.op("Mul", {b.op("ReduceSum", {b.op("Mul", {x, x}), b.ints({1})}, drop), b.scalar(1.0f / 16)});
    Value* variance = b.op("Max", {b.scalar(0), b.op("Sub", {squares, b.op("Mul", {average, average})})});
    Value* shape = b.ints({-1, 1});
    Value* root = b.op("Sqrt", {b.op("Add", {b.op("Reshape", {variance, shape}), b.scalar(1e-6f)})});
    Value* factor = b.op("Mul", {b.op("Reciprocal", {root}), b.random({1, 16})});
    Value* centred = b.op("Sub", {x, b.op("Reshape", {average, shape})});
    b.output(b.op("Add", {b.op("Mul", {centred, factor}), b.random({1, 16})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 16}}, withoutFusion(), 1e-3), "LayerNormalization");
}

TEST(LayerNorm, OtherAxisStays) {
  const auto build = [](Builder& b) {
    Value* x = b.input({2, 6, 5});
    Value* centred = b.op("Sub", {x, mean(b, x, 1)});
    Value* root = b.op("Sqrt", {b.op("Add", {mean(b, b.op("Mul", {centred, centred}), 1), b.scalar(1e-5f)})});
    b.output(b.op("Div", {centred, root}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6, 5}}), "Add Div Mul ReduceMean ReduceSumSquare Sqrt Sub");
}

// Of an image's channels, beside a convolution: scale and bias have dimensions of 1 behind theirs.
TEST(LayerNorm, ChannelsOfImages) {
  for (const bool dividesLast : {false, true})
    for (const int64_t wide : {1, 5}) {  // a scale of each column is none of the normalisation's
      const auto build = [=](Builder& b) {
        Value* x = b.op("Relu", {b.input({b.symbol("n"), 6, 4, 5})});
        Value* centred = b.op("Sub", {x, mean(b, x, 1)});
        Value* root = b.op("Sqrt", {b.op("Add", {mean(b, b.op("Mul", {centred, centred}), 1), b.scalar(1e-5f)})});
        Value* y = dividesLast ? b.op("Div", {centred, root}) : b.op("Mul", {centred, b.op("Reciprocal", {root})});
        y = b.op("Add", {b.op("Mul", {y, b.random({1, 6, 1, wide})}), b.random({6, 1, 1})});
        b.output(b.op("Conv", {y, b.random({8, 6, 3, 3})}));
      };
      const std::string left = compileAndCompare(build, {{2, 6, 4, 5}}, withoutFusion(), 1e-4);
      EXPECT_EQ(left.find("LayerNormalization") != std::string::npos, wide == 1) << left;
      EXPECT_EQ(left.find("ReduceMean") == std::string::npos, wide == 1) << left;
      EXPECT_NE(left.find("Transpose*2 "), std::string::npos) << left;
    }
}

TEST(LayerNorm, BelowDroppedDimensions) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Squeeze", {b.op("ReduceMax", {b.input({b.symbol("n"), 7, 16}), b.ints({1})}), b.ints({1})});
    Value* centred = b.op("Sub", {x, mean(b, x, 1)});
    Value* root = b.op("Sqrt", {b.op("Add", {mean(b, b.op("Mul", {centred, centred}), 1), b.scalar(1e-5f)})});
    Value* y = b.op("Mul", {b.op("Div", {centred, root}), b.random({1, 16})});
    b.output(b.op("Relu", {b.op("MatMul", {b.op("Add", {y, b.random({1, 16})}), b.random({16, 4})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 7, 16}}), "LayerNormalization ReduceMax Reshape max.MatMul");
}

// BatchNormalization in training mode, of x with weights; what it makes beside its result is read or not.
auto trainingNorm(Shape shape, bool readsMean) {
  return [=](Builder& b) {
    const int64_t channels = shape[1];
    SymbolicShape dims;
    for (const int64_t size : shape.dims()) dims.emplace_back(size);
    Node* norm =
        b.node("BatchNormalization",
               {b.input(dims), b.random({channels}), b.random({channels}), b.random({channels}), b.random({channels})},
               attrs({{"training_mode", int64_t{1}}, {"epsilon", 1e-3f}}), 3);
    b.output(norm->output(0));
    if (readsMean) b.output(norm->output(1));
  };
}

TEST(InstanceNorm, BatchNormalizationOfOneSampleByItsOwnStatistics) {
  EXPECT_EQ(compileAndCompare(trainingNorm({1, 5, 37}, false), {{1, 5, 37}}), "InstanceNormalization");
  EXPECT_EQ(compileAndCompare(trainingNorm({1, 4, 6, 7}, false), {{1, 4, 6, 7}}), "InstanceNormalization");
}

TEST(InstanceNorm, OtherBatchNormalizationsStay) {
  EXPECT_EQ(compileAndCompare(trainingNorm({2, 5, 37}, false), {{2, 5, 37}}), "BatchNormalization");
  EXPECT_EQ(compileAndCompare(trainingNorm({1, 5}, false), {{1, 5}}), "BatchNormalization");
  EXPECT_EQ(compileAndCompare(trainingNorm({1, 5, 37}, true), {{1, 5, 37}}), "BatchNormalization");
}

TEST(LayerNorm, JaxFormBelowDroppedDimensions) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Squeeze", {b.op("GlobalMaxPool", {b.input({b.symbol("n"), 16, 7})}), b.ints({2})});
    const Attributes drop = attrs({{"keepdims", int64_t{0}}});
    Value* average = b.op("Mul", {b.op("ReduceSum", {x, b.ints({1})}, drop), b.scalar(1.0f / 16)});
    Value* squares = b.op("Mul", {b.op("ReduceSum", {b.op("Mul", {x, x}), b.ints({1})}, drop), b.scalar(1.0f / 16)});
    Value* variance = b.op("Max", {b.scalar(0), b.op("Sub", {squares, b.op("Mul", {average, average})})});
    Value* root = b.op("Sqrt", {b.op("Add", {b.op("Reshape", {variance, b.ints({-1, 1})}), b.scalar(1e-6f)})});
    Value* factor = b.op("Mul", {b.op("Reciprocal", {root}), b.random({1, 16})});
    Value* centred = b.op("Sub", {x, b.op("Reshape", {average, b.ints({-1, 1})})});
    b.output(b.op("Add", {b.op("Mul", {centred, factor}), b.random({1, 16})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 16, 7}}, withoutFusion(), 1e-3), "LayerNormalization ReduceMax Squeeze");
}

TEST(Gather, OneHotProductAndItsActivation) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Cast", {b.op("Mul", {b.input({b.symbol("n"), 40, 1}), b.scalar(8)})}, attrs({{"to", int64_t{6}}}));
    std::vector<int32_t> numbers(12);
    for (int32_t i = 0; i < 12; ++i) numbers[static_cast<size_t>(i)] = i;
    Value* range = b.graph->addConstant(Tensor::copyOf(DType::Int32, {1, 1, 12}, numbers.data()));
    Value* oneHot = b.op("Cast", {b.op("Equal", {x, range})}, attrs({{"to", int64_t{1}}}));
    b.output(b.op("Sigmoid", {b.op("Add", {b.op("MatMul", {oneHot, b.random({12, 5})}), b.random({1, 1, 5})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 40, 1}}), "Cast Clip Gather Mul Squeeze");
}

// A list of n indices, repeated as PyTorch's exporters do it: as many columns as `like` has.
Value* repeatedIndices(Builder& b, Value* like) {
  Value* list = b.op("Cast", {b.input({b.symbol("n")})}, attrs({{"to", int64_t{7}}}));
  return b.op("Expand", {b.op("Unsqueeze", {list, b.ints({1})}), b.op("Shape", {like})});
}

TEST(Indices, RepeatedOnesScatterSlices) {
  const auto build = [](Builder& b) {
    Value *data = b.input({b.symbol("m"), 5}), *updates = b.input({b.symbol("n"), 5});
    for (const char* reduction : {"add", "max", "none"})
      b.output(b.op("ScatterElements", {data, repeatedIndices(b, updates), updates},
                    attrs({{"reduction", std::string(reduction)}, {"axis", int64_t{-2}}})));
  };
  const std::string left = compileAndCompare(build, {{4, 5}, {7, 5}, {7}, {7}, {7}}, withoutFusion(), 1e-4, 0, 4);
  EXPECT_EQ(left, "Cast*3 ScatterND*3 Unsqueeze*3");
}

TEST(Indices, RepeatedOnesGatherSlices) {
  const auto build = [](Builder& b) {
    Value *data = b.input({b.symbol("n"), 5}), *like = b.input({b.symbol("n"), 5});
    b.output(b.op("GatherElements", {data, repeatedIndices(b, like)}));
    Value* list = b.op("Cast", {b.input({7})}, attrs({{"to", int64_t{7}}}));
    Value* tiled = b.op("Tile", {b.op("Reshape", {list, b.ints({1, 7, 1})}), b.ints({3, 1, 4})});
    b.output(b.op("GatherElements", {b.random({3, 6, 4}), tiled}, attrs({{"axis", int64_t{1}}})));
  };
  const std::string left = compileAndCompare(build, {{7, 5}, {7, 5}, {7}, {7}}, withoutFusion(), 1e-4, 0, 6);
  EXPECT_EQ(left, "Cast*2 Gather*2");
}

// Parts of slices, and indices that an Expand repeats along the axis, too.
TEST(Indices, OthersStay) {
  const auto build = [](Builder& b) {
    Value* data = b.input({b.symbol("n"), 6});
    Value* list = b.op("Cast", {b.input({4, 1})}, attrs({{"to", int64_t{7}}}));
    b.output(b.op("GatherElements", {data, b.op("Expand", {list, b.ints({4, 5})})}));
    b.output(b.op("GatherElements", {data, b.op("Expand", {list, b.ints({4, 6})})}, attrs({{"axis", int64_t{1}}})));
    Value* one = b.op("Cast", {b.input({1, 1})}, attrs({{"to", int64_t{7}}}));
    b.output(b.op("ScatterElements", {data, b.op("Expand", {one, b.ints({3, 6})}), b.random({3, 6})},
                  attrs({{"reduction", std::string("add")}})));
    Value* rows = b.op("Cast", {b.input({4, 1, 3})}, attrs({{"to", int64_t{7}}}));
    b.output(b.op("GatherElements", {b.random({4, 2, 3}), b.op("Expand", {rows, b.ints({4, 2, 3})})}));
  };
  const std::string left = compileAndCompare(build, {{4, 6}, {4, 1}, {1, 1}, {4, 1, 3}}, withoutFusion(), 1e-4, 0, 4);
  EXPECT_EQ(left, "Cast*3 Expand*4 GatherElements*3 ScatterElements");
}

TEST(RmsNorm, WithScale) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8});
    Value* root = b.op("Sqrt", {b.op("Add", {mean(b, b.op("Mul", {x, x}), -1), b.scalar(1e-5f)})});
    Value* y = b.op("Mul", {x, b.op("Reciprocal", {root})});
    b.output(b.op("Mul", {y, b.random({8})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 8}}), "RMSNormalization");
}

TEST(Gelu, ErfForms) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8});
    Value* inner = b.op("Add", {b.op("Erf", {b.op("Div", {x, b.scalar(1.41421356f)})}), b.scalar(1)});
    b.output(b.op("Mul", {b.op("Mul", {x, inner}), b.scalar(0.5f)}));
    b.output(b.op("Mul", {b.op("Mul", {x, b.scalar(0.5f)}), inner}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 8}}), "Gelu*2");
}

TEST(Gelu, TanhForms) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8});
    Value* cube = b.op("Mul", {x, b.op("Mul", {x, b.op("Mul", {b.scalar(0.044715f), x})})});
    Value* t = b.op("Tanh", {b.op("Mul", {b.scalar(0.7978846f), b.op("Add", {x, cube})})});
    b.output(b.op("Mul", {x, b.op("Mul", {b.scalar(0.5f), b.op("Add", {b.scalar(1), t})})}));
    Value* pow = b.op("Mul", {b.op("Pow", {x, b.scalar(3)}), b.scalar(0.044715f)});
    Value* u = b.op("Tanh", {b.op("Mul", {b.op("Add", {x, pow}), b.scalar(0.79788456f)})});
    b.output(b.op("Mul", {b.op("Mul", {b.scalar(0.5f), x}), b.op("Add", {u, b.scalar(1)})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 8}}), "Gelu*2");
}

TEST(Gelu, OtherConstantsStay) {
  const auto build = [](Builder& b) {
    Value* x = b.input({8});
    Value* inner = b.op("Add", {b.op("Erf", {b.op("Mul", {x, b.scalar(0.5f)})}), b.scalar(1)});
    b.output(b.op("Mul", {b.op("Mul", {x, inner}), b.scalar(0.5f)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{8}}).find("Gelu"), std::string::npos);
}

TEST(Activation, Swishes) {
  const auto build = [](Builder& b) {
    Value* x = b.input({9});
    b.output(b.op("Mul", {b.op("Sigmoid", {x}), x}));
    b.output(b.op("Mul", {x, b.op("HardSigmoid", {x}, attrs({{"alpha", 1.0f / 6}, {"beta", 0.5f}}))}));
    Value* clip = b.op("Clip", {b.op("Add", {x, b.scalar(3)}), b.scalar(0), b.scalar(6)});
    b.output(b.op("Div", {b.op("Mul", {x, clip}), b.scalar(6)}));
    b.output(b.op("Mul", {x, b.op("Div", {clip, b.scalar(6)})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{9}}, withoutFusion(), 1e-4, -5, 5), "HardSwish*3 Swish");
}

TEST(Activation, WrittenOutSoftmax) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8});
    Value* shifted = b.op("Sub", {x, b.op("ReduceMax", {x, b.ints({1})})});
    Value* e = b.op("Exp", {shifted});
    b.output(b.op("Div", {e, b.op("ReduceSum", {e, b.ints({-1})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 8}}), "Softmax");
}

TEST(MatMulPass, TransposesScaleBiasResidualActivation) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 5, 4});
    Value* y = b.input({b.symbol("n"), 3, 4});
    Value* t = b.op("Transpose", {y}, attrs({{"perm", list({0, 2, 1})}}));
    Value* scores = b.op("Div", {b.op("MatMul", {x, t}), b.scalar(2)});
    Value* sum = b.op("Add", {b.op("Add", {b.random({3}), scores}), b.input({b.symbol("n"), 5, 3})});
    b.output(b.op("LeakyRelu", {sum}, attrs({{"alpha", 0.1f}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 5, 4}, {2, 3, 4}, {2, 5, 3}}), "max.MatMul");
}

TEST(MatMulPass, GemmWithItsAttributes) {
  const auto build = [](Builder& b) {
    Value* x = b.input({4, b.symbol("n")});
    b.output(b.op("Gemm", {x, b.random({3, 4}), b.random({3})},
                  attrs({{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}, {"beta", 2.0f}})));
    b.output(b.op("Relu", {b.op("Gemm", {x, b.random({4, 3})}, attrs({{"transA", int64_t{1}}}))}));
    b.output(b.op("Gemm", {x, b.random({4, 3}), b.input({b.symbol("n"), 3})}, attrs({{"transA", int64_t{1}}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{4, 5}, {5, 3}}), "max.MatMul*3");
}

TEST(MatMulPass, RowReshapesVanish) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 5, 4});
    Value* rows = b.op("Reshape", {x, b.ints({-1, 4})});
    Value* product = b.op("Gemm", {rows, b.random({4, 3}), b.random({3})});
    Value* shape = b.op("Concat", {b.op("Slice", {b.op("Shape", {x}), b.ints({0}), b.ints({2})}), b.ints({3})},
                        attrs({{"axis", int64_t{0}}}));
    b.output(b.op("Relu", {b.op("Reshape", {product, shape})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 5, 4}}), "max.MatMul");
}

TEST(MatMulPass, ProductWithSeveralReadersKeepsItsResult) {
  const auto build = [](Builder& b) {
    Value* product = b.op("MatMul", {b.input({3, 4}), b.random({4, 5})});
    b.output(b.op("Relu", {product}));
    b.output(b.op("Add", {product, b.random({5})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 4}}), "Add Relu max.MatMul");
}

TEST(ConvPass, BatchNormAndActivationFold) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 8, 8});
    Value* y = b.op("Conv", {x, b.random({4, 3, 3, 3})}, attrs({{"pads", list({1, 1, 1, 1})}}));
    y = b.op("BatchNormalization", {y, b.random({4}), b.random({4}), b.random({4}), b.random({4}, 0.5f, 2)});
    b.output(b.op("Clip", {y, b.scalar(0), b.scalar(6)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 8, 8}}), "Transpose*2 max.Conv");
}

// Convolutions of parts of a tensor that are joined again, as MixNet has them; `readers` of what is joined.
void mixedConvs(Builder& b, int readers) {
  Value* x = b.input({b.symbol("n"), 6, 8, 8});
  Node* parts = b.node("Split", {x, b.ints({2, 4})}, attrs({{"axis", int64_t{1}}}), 2);
  const auto conv = [&](size_t i, int64_t channels, int64_t size) {
    const Attributes attributes =
        attrs({{"pads", list({size / 2, size / 2, size / 2, size / 2})}, {"group", channels}});
    return b.op("Conv", {parts->output(i), b.random({channels, 1, size, size}), b.random({channels})}, attributes);
  };
  Value* joined = b.op("Concat", {conv(0, 2, 3), conv(1, 4, 5)}, attrs({{"axis", int64_t{1}}}));
  Value* y = b.op("BatchNormalization", {joined, b.random({6}), b.random({6}), b.random({6}), b.random({6}, 0.5f, 2)});
  b.output(b.op("Mul", {y, b.op("Sigmoid", {y})}));
  if (readers > 1) b.output(b.op("Neg", {joined}));
}

TEST(ConvPass, NormAndActivationOfJoinedConvolutionsFold) {
  EXPECT_EQ(compileAndCompare([](Builder& b) { mixedConvs(b, 1); }, {{2, 6, 8, 8}}),
            "Concat Split Transpose*3 max.Conv*2");
  EXPECT_EQ(compileAndCompare([](Builder& b) { mixedConvs(b, 2); }, {{2, 6, 8, 8}}),
            "Add Concat Mul Neg Split Swish Transpose*4 max.Conv*2");
}

// A pointwise convolution of what a Resize makes larger.
struct Enlarged {
  std::string mode = "linear", place = "half_pixel";
  bool bySizes = false;
  int parts = 1;  // that a Concat joins; the first and the third are made larger
  int64_t channels = 16, filters = 8, taps = 1, height = 8;
  int readers = 1;
};

std::function<void(Builder&)> enlarged(const Enlarged& test) {
  return [=](Builder& b) {
    const auto image = [&](bool isSmall) {
      if (!isSmall) return b.input({b.symbol("n"), 5, test.height, 10});
      Value* x = b.input({b.symbol("n"), test.channels, 4, 5});
      Value* region = test.place == "tf_crop_and_resize" ? b.floats({0, 0, 0, 0, 1, 1, 1, 1}) : nullptr;
      Value* scales = b.floats({1, 1, static_cast<float>(test.height) / 4, 2});
      Value* sizes = test.bySizes ? b.ints({test.height, 10}) : nullptr;
      Attributes attributes = attrs({{"mode", test.mode}, {"coordinate_transformation_mode", test.place}});
      if (sizes) attributes.set("axes", list({2, 3}));
      return b.op("Resize", {x, region, sizes ? nullptr : scales, sizes}, attributes);
    };
    std::vector<Value*> parts;
    for (int i = 0; i < test.parts; ++i) parts.push_back(image(i % 2 == 0));
    Value* x = test.parts > 1 ? b.op("Concat", parts, attrs({{"axis", int64_t{1}}})) : parts[0];
    const int64_t channels = x->type.dims[1].value(), pad = test.taps / 2;
    Value* weights = b.random({test.filters, channels, test.taps, test.taps});
    b.output(b.op(
        "Relu", {b.op("Conv", {x, weights, b.random({test.filters})}, attrs({{"pads", list({pad, pad, pad, pad})}}))}));
    if (test.readers > 1) b.output(b.op("Neg", {parts[0]}));
  };
}

// The widths of all convolutions' results, in order.
std::vector<int64_t> widthsOfConvs(const std::function<void(Builder&)>& build) {
  Builder b;
  build(b);
  compile(*b.graph, withoutFusion());
  std::vector<int64_t> widths;
  for (const Node* node : b.graph->nodes())
    if (node->isOwn("Conv")) widths.push_back(node->output()->type.dims[2].value());
  std::sort(widths.begin(), widths.end());
  return widths;
}

TEST(ResizePass, PointwiseConvolutionComesFirst) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* place : {"half_pixel", "align_corners", "asymmetric"})
      for (const bool bySizes : {false, true}) {
        const auto build = enlarged({.mode = mode, .place = place, .bySizes = bySizes});
        EXPECT_EQ(widthsOfConvs(build), std::vector<int64_t>{5});
        EXPECT_EQ(compileAndCompare(build, {{2, 16, 4, 5}}, withoutFusion(), 1e-4), "Relu Resize Transpose*2 max.Conv");
      }
}

TEST(ResizePass, JoinedPartsBecomeASum) {
  const std::vector<Shape> shapes{{2, 16, 4, 5}, {2, 5, 8, 10}, {2, 16, 4, 5}, {2, 5, 8, 10}};
  for (const int count : {2, 3, 4}) {
    const auto build = enlarged({.parts = count});
    EXPECT_EQ(widthsOfConvs(build), (count > 2 ? std::vector<int64_t>{5, 5, 10} : std::vector<int64_t>{5, 10}));
    compileAndCompare(build, {shapes.begin(), shapes.begin() + count}, withoutFusion(), 1e-4);
  }
  EXPECT_EQ(compileAndCompare(enlarged({.parts = 2}), {shapes[0], shapes[1]}, withoutFusion(), 1e-4),
            "Resize Transpose*3 max.Conv*2");  // the sum and the activation are parts of a convolution
}

TEST(ResizePass, OthersStay) {
  const Enlarged others[] = {
      {.place = "tf_crop_and_resize"}, {.channels = 4}, {.filters = 40}, {.taps = 3}, {.height = 3}, {.readers = 2}};
  for (const Enlarged& test : others) {
    EXPECT_EQ(widthsOfConvs(enlarged(test)), std::vector<int64_t>{10});
    compileAndCompare(enlarged(test), {{2, test.channels, 4, 5}}, withoutFusion(), 1e-4);
  }
}

TEST(ConvPass, BatchNormElsewhereIsScaleAndShift) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 4, 5, 6});
    b.output(b.op("BatchNormalization", {x, b.random({4}), b.random({4}), b.random({4}), b.random({4}, 0.5f, 2)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 4, 5, 6}}), "Add Mul");
}

TEST(ConvPass, PadJoins) {
  const auto build = [](Builder& b) {
    Value* x = b.input({1, 2, 6, 7});
    Value* padded = b.op("Pad", {x, b.ints({0, 0, 1, 0, 0, 0, 2, 1})});
    b.output(b.op("Conv", {padded, b.random({4, 2, 3, 3})}, attrs({{"pads", list({1, 1, 1, 1})}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{1, 2, 6, 7}}), "Transpose*2 max.Conv");
}

TEST(ConvPass, InputScaleJoins) {
  const auto build = [](Builder& b) {
    Value* x = b.op("Div", {b.input({b.symbol("n"), 3, 6, 6}), b.scalar(255)});
    b.output(b.op("Conv", {x, b.random({4, 3, 3, 3}), b.random({4})}, attrs({{"pads", list({1, 1, 1, 1})}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 6, 6}}), "Transpose*2 max.Conv");
}

// The branches that RepVGG, MobileOne and FastViT train, and that exporters keep.
Value* branches(Builder& b, Value* x, int64_t depth, int64_t groups, int64_t stride) {
  const auto conv = [&](int64_t size) {
    const Attributes attributes = attrs({{"pads", list({size / 2, size / 2, size / 2, size / 2})},
                                         {"strides", list({stride, stride})},
                                         {"group", groups}});
    return b.op("Conv", {x, b.random({8, depth, size, size}), b.random({8})}, attributes);
  };
  return b.op("Add", {b.op("Add", {conv(1), conv(5)}), conv(3)});
}

TEST(ConvPass, BranchesJoin) {
  for (int64_t groups : {1, 2, 8})
    for (int64_t stride : {1, 2}) {
      const auto build = [&](Builder& b) {
        Value* x = b.input({b.symbol("n"), 8, 9, 8});
        Value* y = branches(b, x, 8 / groups, groups, stride);
        if (stride == 1)
          y = b.op("Add", {b.op("BatchNormalization",
                                {x, b.random({8}), b.random({8}), b.random({8}), b.random({8}, 0.5f, 2)}),
                           y});
        b.output(b.op("Relu", {y}));
      };
      EXPECT_EQ(compileAndCompare(build, {{2, 8, 9, 8}}), "Transpose*2 max.Conv");
    }
}

TEST(ConvPass, OtherBranchesStay) {
  // Other pixels, other groups, a result that has another reader, and an identity without a scale.
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8, 9, 8});
    const auto conv = [&](int64_t depth, int64_t size, int64_t pad, int64_t dilation) {
      const Attributes attributes = attrs(
          {{"pads", list({pad, pad, pad, pad})}, {"dilations", list({dilation, dilation})}, {"group", 8 / depth}});
      return b.op("Conv", {x, b.random({8, depth, size, size})}, attributes);
    };
    b.output(b.op("Add", {conv(8, 3, 2, 2), conv(8, 3, 1, 1)}));
    b.output(b.op("Add", {conv(4, 3, 1, 1), conv(8, 3, 1, 1)}));
    Value* read = conv(8, 1, 0, 1);
    b.output(read);
    b.output(b.op("Add", {read, conv(8, 1, 0, 1)}));
    b.output(b.op("Add", {x, conv(8, 1, 0, 1)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 8, 9, 8}}), "Add Transpose*6 max.Conv*7");
}

TEST(ConvPass, SqueezedBiasJoins) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 3, 9, 1});
    Value* y = b.op("Squeeze", {b.op("Conv", {x, b.random({4, 3, 5, 1})}), b.ints({3})});
    b.output(b.op("GlobalMaxPool", {b.op("Relu", {b.op("Add", {y, b.random({1, 4, 1})})})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 9, 1}}), "ReduceMax Reshape Transpose max.Conv");
}

// Q, K and V as PyTorch exports them: projected, split into heads, permuted.
Value* heads(Builder& b, Value* x, std::vector<int64_t> perm) {
  Value* y = b.op("Add", {b.op("MatMul", {x, b.random({16, 16})}), b.random({16})});
  return b.op("Transpose", {b.op("Reshape", {y, b.ints({0, 0, 4, 4})})}, attrs({{"perm", list(std::move(perm))}}));
}

TEST(AttentionPass, BertForm) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("batch"), b.symbol("sequence"), 16});
    Value* mask = b.input({b.symbol("batch"), 1, 1, b.symbol("sequence")});
    Value* q = heads(b, x, {0, 2, 1, 3});
    Value* k = heads(b, x, {0, 2, 3, 1});
    Value* v = heads(b, x, {0, 2, 1, 3});
    Value* scores = b.op("Div", {b.op("MatMul", {q, k}), b.scalar(2)});
    Value* p = b.op("Softmax", {b.op("Add", {scores, mask})}, attrs({{"axis", int64_t{-1}}}));
    Value* y = b.op("Transpose", {b.op("MatMul", {p, v})}, attrs({{"perm", list({0, 2, 1, 3})}}));
    b.output(b.op("Reshape", {y, b.ints({0, 0, 16})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 5, 16}, {2, 1, 1, 5}}), "Reshape*4 max.Attention max.MatMul*3");
}

TEST(AttentionPass, ScaledOperandsAndPlainLayouts) {
  const auto build = [](Builder& b) {
    Value* q = b.input({2, 3, 5, 4});
    Value* k = b.input({2, 3, 7, 4});
    Value* v = b.input({2, 3, 7, 4});
    Value* t = b.op("Transpose", {k}, attrs({{"perm", list({0, 1, 3, 2})}}));
    Value* scores = b.op("MatMul", {b.op("Mul", {q, b.scalar(0.7f)}), b.op("Mul", {t, b.scalar(0.7f)})});
    b.output(b.op("MatMul", {b.op("Softmax", {scores}), v}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 4}}), "max.Attention");
}

// Of five axes, as over windows of a sequence; the keys of all windows of a head may be the same, which stays as it is.
TEST(AttentionPass, WindowsAreBatches) {
  const auto build = [](int64_t windowsOfKeys) {
    return [windowsOfKeys](Builder& b) {
      const Dim batch = b.symbol("batch");
      Value* q = b.input({batch, 3, 6, 5, 4});
      Value* k =
          b.op("Transpose", {b.input({batch, 3, windowsOfKeys, 7, 4})}, attrs({{"perm", list({0, 1, 2, 4, 3})}}));
      Value* scores = b.op("Div", {b.op("MatMul", {q, k}), b.scalar(2)});
      Value* p = b.op("Softmax", {scores}, attrs({{"axis", int64_t{4}}}));
      b.output(b.op("MatMul", {p, b.input({batch, 3, 6, 7, 4})}));
    };
  };
  const Shape q{2, 3, 6, 5, 4}, v{2, 3, 6, 7, 4};
  EXPECT_EQ(compileAndCompare(build(6), {q, v, v}), "Reshape*4 max.Attention");
  EXPECT_EQ(compileAndCompare(build(1), {q, {2, 3, 1, 7, 4}, v}), "Softmax max.MatMul*2");
}

// A bias of positions and a mask of keys, as MPNet has them: layers share the sum.
TEST(AttentionPass, MasksAreAddedOnce) {
  const auto build = [](Builder& b) {
    Value* bias = b.input({1, 3, 5, 7});
    Value* mask = b.input({2, 1, 1, 7});
    for (int layer = 0; layer < 2; ++layer) {
      Value* scores = b.op("MatMul", {b.input({2, 3, 5, 4}), b.input({2, 3, 4, 7})});
      Value* biased = layer == 0 ? b.op("Add", {scores, bias}) : b.op("Add", {bias, scores});
      Value* p = b.op("Softmax", {b.op("Add", {biased, mask})}, attrs({{"axis", int64_t{-1}}}));
      b.output(b.op("MatMul", {p, b.input({2, 3, 7, 4})}));
    }
  };
  const Shape q{2, 3, 5, 4}, k{2, 3, 4, 7}, v{2, 3, 7, 4};
  EXPECT_EQ(compileAndCompare(build, {{1, 3, 5, 7}, {2, 1, 1, 7}, q, k, v, q, k, v}), "Add max.Attention*2");
}

// As PyTorch writes scaled_dot_product_attention with a mask and shared heads of keys: keys are transposed in three
// dimensions, and rows whose keys are all masked are guarded.
TEST(AttentionPass, PyTorchForm) {
  const auto build = [](Builder& b) {
    const Dim batch = b.symbol("batch");
    Value* q = b.input({batch, 6, 5, 4});
    const auto repeated = [&](Value* x) {
      Value* wide = b.op("Expand", {b.op("Unsqueeze", {x, b.ints({2})}), b.ints({1, 1, 3, 1, 1})});
      return b.op("Reshape", {wide, b.ints({-1, 6, 7, 4})});
    };
    Value* k = repeated(b.input({batch, 2, 7, 4}));
    Value* v = repeated(b.input({batch, 2, 7, 4}));
    Value* flat = b.op("Transpose", {b.op("Reshape", {k, b.ints({-1, 7, 4})})}, attrs({{"perm", list({0, 2, 1})}}));
    Value* t = b.op("Reshape", {flat, b.ints({-1, 6, 4, 7})});
    std::vector<float> hidden(5 * 7);
    for (size_t i = 0; i < hidden.size(); ++i)
      hidden[i] = i / 7 == 2 || i % 7 > i / 7 ? -std::numeric_limits<float>::infinity() : 0;  // no key for query 2
    Value* mask = b.graph->addConstant(Tensor::copyOf(DType::Float32, {5, 7}, hidden.data()));
    Value* scores = b.op("MatMul", {b.op("Mul", {q, b.scalar(0.7f)}), b.op("Mul", {t, b.scalar(0.7f)})});
    Value* p = b.op("Softmax", {b.op("Add", {scores, mask})}, attrs({{"axis", int64_t{-1}}}));
    b.output(b.op("MatMul", {b.op("Where", {b.op("IsNaN", {p}), b.scalar(0), p}), v}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 6, 5, 4}, {2, 2, 7, 4}, {2, 2, 7, 4}}), "max.Attention");
}

// As F.normalize is exported; without a limit, or with one whose reciprocal could overflow, divisions stay.
TEST(Norm, RowsOfOneDivisor) {
  struct Case {
    float least;
    Shape divisor;
    bool isOneDivision;
  };
  for (const Case& test :
       {Case{1e-12f, {5, 1}, true}, Case{1e-38f, {5, 1}, false}, Case{0, {5, 1}, false}, Case{1e-12f, {5, 8}, false}}) {
    const auto build = [&](Builder& b) {
      Value *x = b.input({b.symbol("batch"), 5, 8}), *norm = b.input(symbolic(test.divisor));
      b.output(b.op("Div", {x, b.op("Clip", {b.op("Abs", {norm}), b.scalar(test.least)})}));
    };
    const std::string ops = compileAndCompare(build, {{2, 5, 8}, test.divisor});
    EXPECT_EQ(ops == "Abs Clip Mul Reciprocal", test.isOneDivision) << ops;
  }
}

// As RotaryEmbedding is defined: halves of a Split share their angles.
TEST(RotaryPass, HalvesOfASplit) {
  for (const bool isTurnedBack : {false, true}) {
    const auto build = [&](Builder& b) {
      Value* x = b.input({b.symbol("batch"), 3, 5, 8});
      const auto& halves = b.node("Split", {x, b.ints({4, 4})}, attrs({{"axis", int64_t{3}}}), 2)->outputs;
      Value *cos = b.random({3, 1, 4}), *sin = b.random({3, 1, 4});
      const auto product = [&](Value* angle, size_t half) { return b.op("Mul", {angle, halves[half]}); };
      Value* first = b.op("Sub", {product(cos, 0), product(sin, 1)});
      Value* second = isTurnedBack ? b.op("Add", {product(cos, 0), product(sin, 1)})
                                   : b.op("Add", {product(cos, 1), product(sin, 0)});
      b.output(b.op("Concat", {first, second}, attrs({{"axis", int64_t{-1}}})));
    };
    const std::string ops = compileAndCompare(build, {{2, 3, 5, 8}});
    EXPECT_EQ(ops == "max.Rotary", !isTurnedBack) << ops;
  }
}

// As exporters write it: the second half changes its sign and its place. What is not that stays as it is.
TEST(RotaryPass, TurnedHalves) {
  struct Case {
    int64_t begin, angles;
    bool isRotary;
  };
  for (const Case& test : {Case{4, 8, true}, Case{5, 8, false}, Case{4, 1, false}}) {
    const auto build = [&](Builder& b) {
      Value* x = b.input({b.symbol("batch"), 5, 8});
      Value *cos = b.input({5, test.angles}), *sin = b.input({5, test.angles});
      const auto part = [&](int64_t begin, int64_t end) {
        return b.op("Slice", {x, b.ints({begin}), b.ints({end}), b.ints({-1})});
      };
      Value* second = b.op("Neg", {part(test.begin, INT64_MAX)});
      Value* turned = b.op("Concat", {second, part(0, test.begin)}, attrs({{"axis", int64_t{2}}}));
      b.output(b.op("Add", {b.op("Mul", {x, cos}), b.op("Mul", {turned, sin})}));
    };
    const std::string ops = compileAndCompare(build, {{2, 5, 8}, {5, test.angles}, {5, test.angles}});
    EXPECT_EQ(ops == "max.Rotary", test.isRotary) << ops;
  }
}

// Every second element, as exporters cut it out, with angles for each pair.
using Cut = std::function<std::array<Value*, 2>(Builder&, Value* x)>;
std::array<Value*, 2> everySecond(Builder& b, Value* x) {
  const auto from = [&](int64_t begin) {
    return b.op("Slice", {x, b.ints({begin}), b.ints({INT64_MAX}), b.ints({-1}), b.ints({2})});
  };
  return {from(0), from(1)};
}
std::array<Value*, 2> gatheredPairs(Builder& b, Value* x) {
  Value* pairs = b.op("Reshape", {x, b.ints({0, 0, 4, 2})});
  const auto at = [&](int64_t i) {
    return b.op("Gather", {pairs, b.graph->addConstant(Tensor::scalar(DType::Int64, static_cast<double>(i)))},
                attrs({{"axis", int64_t{-1}}}));
  };
  return {at(0), at(-1)};
}
std::array<Value*, 2> splitPairs(Builder& b, Value* x) {
  Value* pairs = b.op("Reshape", {x, b.ints({0, 0, 4, 2})});
  const auto& parts = b.node("Split", {pairs, b.ints({1, 1})}, attrs({{"axis", int64_t{3}}}), 2)->outputs;
  return {b.op("Squeeze", {parts[0], b.ints({-1})}), b.op("Squeeze", {parts[1], b.ints({-1})})};
}
const Cut kCuts[] = {everySecond, gatheredPairs, splitPairs};

Value* stacked(Builder& b, Value* first, Value* second) {
  const auto wide = [&](Value* part) { return b.op("Unsqueeze", {part, b.ints({-1})}); };
  Value* pairs = b.op("Concat", {wide(first), wide(second)}, attrs({{"axis", int64_t{-1}}}));
  return b.op("Reshape", {pairs, b.ints({0, 0, 8})});
}

TEST(RotaryPass, Neighbours) {
  for (const Cut& cut : kCuts)
    for (const bool isSwapped : {false, true}) {
      const auto build = [&](Builder& b) {
        auto [first, second] = cut(b, b.input({b.symbol("batch"), 5, 8}));
        if (isSwapped) std::swap(first, second);
        Value *cos = b.input({5, 4}), *sin = b.input({5, 4});
        const auto product = [&](Value* part, Value* angle) { return b.op("Mul", {part, angle}); };
        b.output(stacked(b, b.op("Sub", {product(first, cos), product(second, sin)}),
                         b.op("Add", {product(first, sin), product(second, cos)})));
      };
      const std::string ops = compileAndCompare(build, {{2, 5, 8}, {5, 4}, {5, 4}});
      EXPECT_EQ(ops.find("max.Rotary") != std::string::npos && ops.find("Mul") == std::string::npos, !isSwapped) << ops;
    }
}

TEST(RotaryPass, TurnedNeighbours) {
  for (const Cut& cut : kCuts)
    for (const bool isSwapped : {false, true}) {
      const auto build = [&](Builder& b) {
        Value *x = b.input({b.symbol("batch"), 5, 8}), *cos = b.input({5, 8}), *sin = b.input({5, 8});
        auto [first, second] = cut(b, x);
        if (isSwapped) std::swap(first, second);
        Value* turned = stacked(b, b.op("Neg", {second}), first);
        b.output(b.op("Add", {b.op("Mul", {x, cos}), b.op("Mul", {turned, sin})}));
      };
      const std::string ops = compileAndCompare(build, {{2, 5, 8}, {5, 8}, {5, 8}});
      EXPECT_EQ(ops == "max.Rotary", !isSwapped) << ops;
    }
}

// The first elements of a row; others are put behind them, if they are those that were there.
TEST(RotaryPass, PartOfARow) {
  for (const int64_t rest : {8, 6}) {
    const auto build = [&](Builder& b) {
      Value *x = b.input({b.symbol("batch"), 5, 14}), *cos = b.input({5, 8}), *sin = b.input({5, 8});
      const auto part = [&](Value* of, int64_t begin, int64_t end) {
        return b.op("Slice", {of, b.ints({begin}), b.ints({end}), b.ints({-1})});
      };
      const auto join = [&](Value* first, Value* second) {
        return b.op("Concat", {first, second}, attrs({{"axis", int64_t{-1}}}));
      };
      Value* some = part(x, 0, 8);
      Value* turned = join(b.op("Neg", {part(some, 4, 8)}), part(some, 0, 4));
      Value* rotated = b.op("Add", {b.op("Mul", {some, cos}), b.op("Mul", {turned, sin})});
      b.output(join(rotated, part(x, rest, rest + 6)));
    };
    const std::string ops = compileAndCompare(build, {{2, 5, 14}, {5, 8}, {5, 8}});
    EXPECT_EQ(ops == "max.Rotary", rest == 8) << ops;
  }
}

// Points in a plane that one angle turns are no rows of pairs.
TEST(RotaryPass, PointsOfOneAngle) {
  const auto build = [](Builder& b) {
    Value *x = b.input({3, 4, 2}), *cos = b.input({3, 1, 1}), *sin = b.input({3, 1, 1});
    const auto& parts = b.node("Split", {x, b.ints({1, 1})}, attrs({{"axis", int64_t{2}}}), 2)->outputs;
    const auto product = [&](size_t part, Value* angle) { return b.op("Mul", {parts[part], angle}); };
    b.output(b.op("Concat",
                  {b.op("Sub", {product(0, cos), product(1, sin)}), b.op("Add", {product(0, sin), product(1, cos)})},
                  attrs({{"axis", int64_t{2}}})));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 4, 2}, {3, 1, 1}, {3, 1, 1}}), "Add Concat Mul*4 Split Sub");
}

// A convolution of a few wide groups is one for each.
TEST(DividePass, WideGroups) {
  struct Case {
    int64_t groups = 2, channels = 32, side = 12, taps = 3, stride = 1;
    bool hasResidual = false, isDivided = true;
    MaxPrecision precision = MAX_PRECISION_HIGHEST;
  };
  const Case cases[] = {{},
                        {.groups = 4},
                        {.hasResidual = true},
                        {.groups = 16, .isDivided = false},
                        {.channels = 16, .isDivided = false},
                        {.side = 11, .isDivided = false},
                        {.taps = 5, .isDivided = false},
                        {.stride = 2, .isDivided = false},
                        {.isDivided = false, .precision = MAX_PRECISION_MEDIUM}};
  for (const Case& test : cases) {
    const int64_t all = test.groups * test.channels, pad = test.taps / 2, side = test.side * test.stride;
    const auto build = [&](Builder& b) {
      Value* x = b.input({b.symbol("n"), all, side, side});
      Value* y = b.op("Conv", {x, b.random({all, test.channels, test.taps, test.taps}), b.random({all})},
                      attrs({{"group", test.groups},
                             {"pads", list({pad, pad, pad, pad})},
                             {"strides", list({test.stride, test.stride})}}));
      if (test.hasResidual) y = b.op("Add", {b.op("Conv", {x, b.random({all, all, 1, 1})}), y});
      b.output(b.op("Relu", {y}));
    };
    CompileOptions options = withoutFusion();
    options.precision = test.precision;
    const std::string ops =
        compileAndCompare(build, {{2, all, side, side}}, options, test.precision == MAX_PRECISION_HIGHEST ? 1e-3 : 1);
    const std::string split = test.hasResidual ? "Split*2" : "Split";
    const std::string divided = concat("Concat ", split, " Transpose*2 max.Conv*", test.groups + test.hasResidual);
    EXPECT_EQ(ops == divided, test.isDivided) << ops;
    EXPECT_EQ(ops.find("Split") != std::string::npos, test.isDivided) << ops;
  }
}

// Of several matrices a Gather takes one out.
TEST(SelectedPass, ProductTakesOneMatrix) {
  struct Case {
    int64_t axis = 0, readers = 1;
    bool isTransposed = false, isNumber = true, isSelected = true;
  };
  const Case cases[] = {{},
                        {.isTransposed = true},
                        {.axis = 1, .isSelected = false},
                        {.readers = 2, .isSelected = false},
                        {.isNumber = false, .isSelected = false}};
  for (const Case& test : cases) {
    const auto build = [&](Builder& b) {
      Value* x = b.input({b.symbol("rows"), 6});
      Value* index =
          b.op("Cast", {b.op("ReduceMin", {x}, attrs({{"keepdims", int64_t{0}}}))}, attrs({{"to", int64_t{7}}}));
      if (!test.isNumber) index = b.op("Unsqueeze", {index, b.ints({0})});
      Value* matrix = b.op("Gather", {b.random({6, 6, 6}), index}, attrs({{"axis", test.axis}}));
      if (test.isTransposed) matrix = b.op("Transpose", {matrix}, attrs({{"perm", list({1, 0})}}));
      b.output(b.op("MatMul", {x, matrix}));
      if (test.readers > 1) b.output(b.op("Neg", {matrix}));
    };
    const std::string ops = compileAndCompare(build, {{5, 6}}, withoutFusion(), 1e-4, 0, 5);
    EXPECT_EQ(ops.find("max.SelectedMatMul") != std::string::npos, test.isSelected) << ops;
    EXPECT_EQ(ops.find("Gather") == std::string::npos, test.isSelected) << ops;
  }
}

TEST(Epilogue, SumBeforeLayerNorm) {
  const auto build = [](Builder& b) {
    Value* x = b.input({b.symbol("n"), 8});
    Value* y = b.input({b.symbol("n"), 8});
    Value* sum = b.op("Add", {x, y});
    b.output(b.op("LayerNormalization", {sum, b.random({8}), b.random({8})}));
    b.output(b.op("Tanh", {sum}));
  };
  EXPECT_EQ(compileAndCompare(build, {{3, 8}, {3, 8}}), "Tanh max.AddLayerNormalization");
}

}  // namespace
}  // namespace max::test
