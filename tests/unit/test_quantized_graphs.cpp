// SPDX-License-Identifier: Apache-2.0
// The pass "quantize" and what later passes make of it: operators between DequantizeLinear and QuantizeLinear work on
// 8-bit integers, and results differ from those of the graph as written by at most one step.
#include <algorithm>
#include <array>

#include "interpreter.h"

namespace max::test {
namespace {

constexpr float kStep = 0.05f;  // of the results below

// A quantised graph under construction.
struct QuantizedBuilder {
  Builder& b;
  DType dtype = DType::UInt8;
  double zero = 131;

  Value* number(DType type, double value) {
    Ref<Tensor> tensor = Tensor::allocate(type, Shape());
    if (type == DType::Int8)
      *static_cast<int8_t*>(tensor->mutableData()) = static_cast<int8_t>(value);
    else
      *static_cast<uint8_t*>(tensor->mutableData()) = static_cast<uint8_t>(value);
    return b.graph->addConstant(tensor);
  }
  Value* quantize(Value* value, float scale = kStep) {
    return b.op("QuantizeLinear", {value, b.scalar(scale), number(dtype, zero)});
  }
  Value* dequantize(Value* value, float scale = kStep) {
    return b.op("DequantizeLinear", {value, b.scalar(scale), number(dtype, zero)});
  }
  Value* both(Value* value, float scale = kStep) { return dequantize(quantize(value, scale), scale); }
  Value* input(const SymbolicShape& dims) { return both(b.input(dims), 0.02f); }

  // Weights in int8 with a scale for each index of `axis`, -1 = one for all.
  Value* weights(const Shape& shape, int axis, DType type = DType::Int8) {
    Ref<Tensor> values = Tensor::allocate(type, shape);
    for (int64_t i = 0; i < values->count(); ++i)
      static_cast<uint8_t*>(values->mutableData())[i] = static_cast<uint8_t>(i * 37 + i / 7);
    Value* constant = b.graph->addConstant(values);
    if (axis < 0)
      return b.op("DequantizeLinear", {constant, b.scalar(0.002f), number(type, type == DType::Int8 ? 0 : 119)});
    return b.op("DequantizeLinear", {constant, b.random({shape[axis]}, 0.001f, 0.003f)},
                attrs({{"axis", int64_t{axis}}}));
  }
  Value* bias(int64_t count) { return b.random({count}); }

  // Numbers of any type, which none of them takes for NaN.
  Value* numbers(DType type, const Shape& shape) {
    Ref<Tensor> values = Tensor::allocate(type, shape);
    for (size_t i = 0; i < values->bytes(); ++i)
      static_cast<uint8_t*>(values->mutableData())[i] = static_cast<uint8_t>(i * 37 + i / 7) & 0x77;
    return b.graph->addConstant(values);
  }
  // With one scale for all.
  Value* dequantized(DType type, const Shape& shape, float scale) {
    return b.op("DequantizeLinear", {numbers(type, shape), b.scalar(scale)});
  }
};

Attributes padded() { return attrs({{"pads", list({1, 1, 1, 1})}}); }

// Returns the operators. Numbers differ by at most so many steps.
std::string run(const std::function<void(QuantizedBuilder&)>& build, const std::vector<Shape>& shapes, int steps = 1) {
  const auto write = [&](Builder& b) {
    QuantizedBuilder quantized{b};
    build(quantized);
  };
  Compiled result;
  compileAndRun(result, write, shapes, withoutFusion(), -2, 2);
  for (size_t i = 0; i < result.actual.size(); ++i) {
    SCOPED_TRACE(dump(*result.graph.graph));
    EXPECT_EQ(concat(result.actual[i]->shape()), concat(result.expected[i]->shape()));
    double most = 0;
    for (int64_t k = 0; k < result.actual[i]->count(); ++k)
      most = std::max<double>(most, std::fabs(result.actual[i]->as<float>()[k] - result.expected[i]->as<float>()[k]));
    EXPECT_LE(most, (steps + 0.01) * kStep);
  }
  return operatorsOf(*result.graph.graph);
}

// With real results, which differ by no step.
std::string runReal(const std::function<void(QuantizedBuilder&)>& build, const std::vector<Shape>& shapes,
                    const CompileOptions& options = withoutFusion()) {
  const auto write = [&](Builder& b) {
    QuantizedBuilder quantized{b};
    build(quantized);
  };
  return compileAndCompare(write, shapes, options);
}

TEST(QuantizedGraphs, ConvolutionsWorkOnIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const int axis : {0, -1})
      for (const int64_t channels : {3, 16}) {
        const auto build = [&](QuantizedBuilder& q) {
          q.dtype = dtype;
          q.zero = dtype == DType::UInt8 ? 131 : 3;
          Value* x = q.input({q.b.symbol("N"), channels, 7, 9});
          Value* y = q.b.op("Conv", {x, q.weights({20, channels, 3, 3}, axis), q.bias(20)}, padded());
          q.b.output(q.both(y));
        };
        EXPECT_EQ(run(build, {{2, channels, 7, 9}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv");
      }
}

// A ConvTranspose is a convolution whose filters are those of each phase of the output.
TEST(QuantizedGraphs, TransposedConvolutionsWorkOnIntegers) {
  struct Geometry {
    std::vector<int64_t> kernel, strides, pads, extra;
  };
  const Geometry geometries[] = {{{2, 2}, {2, 2}, {0, 0, 0, 0}, {0, 0}},
                                 {{3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
                                 {{4, 4}, {2, 2}, {1, 1, 1, 1}, {0, 0}},
                                 {{2, 5}, {2, 3}, {0, 1, 1, 1}, {1, 0}},
                                 {{3}, {3}, {0, 0}, {0}},
                                 {{7}, {2}, {3, 3}, {1}},
                                 {{5}, {2}, {0, 4}, {1}},
                                 {{2}, {3}, {1, 0}, {2}},  // a phase without taps
                                 {{2, 2}, {3, 2}, {1, 0, 0, 0}, {2, 0}},
                                 {{2, 3, 2}, {2, 1, 2}, {0, 1, 0, 0, 1, 0}, {0, 0, 0}}};
  for (const Geometry& geometry : geometries)
    for (const int axis : {1, -1})
      for (const bool relu : {false, true}) {
        Shape input{2, 5}, weights{5, 6};
        for (size_t i = 0; i < geometry.kernel.size(); ++i) {
          input.push(4 + static_cast<int64_t>(i));
          weights.push(geometry.kernel[i]);
        }
        const auto build = [&](QuantizedBuilder& q) {
          SymbolicShape dims = symbolic(input);
          dims[0] = q.b.symbol("N");
          // Weights of uint8 have a zero point.
          Value* w = q.weights(weights, axis, axis < 0 ? DType::UInt8 : DType::Int8);
          Value* y = q.b.op(
              "ConvTranspose", {q.input(dims), w, q.bias(6)},
              attrs({{"strides", geometry.strides}, {"pads", geometry.pads}, {"output_padding", geometry.extra}}));
          q.b.output(q.both(relu ? q.b.op("Relu", {y}) : y));
        };
        const std::string operators = run(build, {input});
        EXPECT_NE(operators.find("max.QLinearConv"), std::string::npos) << operators;
        EXPECT_EQ(operators.find("ConvTranspose"), std::string::npos) << operators;
      }
}

void expectTransposed(const std::function<void(QuantizedBuilder&)>& build, const Shape& shape, bool onIntegers) {
  const std::string operators = run(build, {shape});
  EXPECT_EQ(operators.find("QLinearConv") != std::string::npos, onIntegers) << operators;
  EXPECT_EQ(operators.find("ConvTranspose") == std::string::npos, onIntegers) << operators;
}

Attributes doubling() { return attrs({{"strides", list({2, 2})}}); }

// Scales, zero points and bias of each filter serve each phase, and taps that one lacks mean zero.
TEST(QuantizedGraphs, PhasesTakeParametersOfFilters) {
  for (const DType type : {DType::UInt8, DType::Int8})
    for (const int64_t filters : {1, 6})
      for (const DType biasType : {DType::Int32, DType::Int8, DType::Int4})
        for (const int64_t images : {0, 2}) {
          const auto build = [&](QuantizedBuilder& q) {
            const Attributes axis = attrs({{"axis", int64_t{1}}});
            Value* w = q.b.op("DequantizeLinear",
                              {q.numbers(type, {5, filters, 3, 3}), q.b.random({filters}, 0.001f, 0.003f),
                               q.numbers(type, {filters})},
                              axis);
            Value* bias =
                q.b.op("DequantizeLinear", {q.numbers(biasType, {filters}), q.b.random({filters}, 0.01f, 0.1f)},
                       attrs({{"axis", int64_t{0}}}));
            if (biasType == DType::Int32) bias = q.dequantized(biasType, {filters}, 1e-9f);
            Value* x = q.input({q.b.symbol("N"), 5, 4, 3});
            q.b.output(q.both(q.b.op(
                "ConvTranspose", {x, w, bias},
                attrs({{"strides", list({2, 2})}, {"pads", list({1, 1, 1, 1})}, {"output_padding", list({1, 1})}}))));
          };
          expectTransposed(build, {images, 5, 4, 3}, true);
        }
}

// One of the sizes of images may come at run time.
TEST(QuantizedGraphs, TransposedConvolutionsOfUnknownSizes) {
  for (const int unknown : {1, 2}) {
    const auto build = [&](QuantizedBuilder& q) {
      Value* x = q.input({q.b.symbol("N"), 5, unknown == 2 ? q.b.symbol("H") : Dim(4), q.b.symbol("W")});
      q.b.output(q.both(q.b.op("ConvTranspose", {x, q.weights({5, 6, 2, 2}, 1)}, doubling())));
    };
    for (const int64_t images : {0, 2}) expectTransposed(build, {images, 5, 4, 3}, unknown == 1);
  }
}

// Those whose output is not as many times as large, or of which most products would be with zeros, stay as they are.
TEST(QuantizedGraphs, OtherTransposedConvolutionsStay) {
  const Attributes others[] = {
      attrs({{"strides", list({2, 2})}}),
      attrs({{"strides", list({9, 9})}, {"pads", list({0, 0, 0, 0})}, {"output_padding", list({6, 6})}}),
      attrs({{"strides", list({3, 3})}, {"dilations", list({2, 2})}, {"pads", list({1, 1, 1, 1})}}),
      attrs({{"strides", list({3, 3})}, {"output_shape", list({12, 15})}}),
      attrs({{"strides", list({3, 3})}, {"auto_pad", std::string("SAME_UPPER")}})};
  for (const Attributes& attributes : others) {
    const auto build = [&](QuantizedBuilder& q) {
      q.b.output(q.both(q.b.op("ConvTranspose", {q.input({1, 5, 4, 5}), q.weights({5, 6, 3, 3}, -1)}, attributes)));
    };
    expectTransposed(build, {1, 5, 4, 5}, false);
  }
  const auto grouped = [](QuantizedBuilder& q) {
    Attributes attributes = doubling();
    attributes.set("group", int64_t{2});
    q.b.output(q.both(q.b.op("ConvTranspose", {q.input({1, 4, 4, 5}), q.weights({4, 3, 2, 2}, 1)}, attributes)));
  };
  expectTransposed(grouped, {1, 4, 4, 5}, false);
}

// Those without strides are convolutions of float32.
TEST(QuantizedGraphs, TransposedConvolutionsWithoutStridesAreConvolutions) {
  const Attributes dilated = attrs({{"dilations", list({2, 2})}, {"pads", list({1, 1, 1, 1})}});
  const auto build = [&](QuantizedBuilder& q) {
    q.b.output(q.both(q.b.op("ConvTranspose", {q.input({1, 5, 4, 5}), q.weights({5, 6, 3, 3}, -1)}, dilated)));
  };
  const std::string operators = run(build, {{1, 5, 4, 5}});
  EXPECT_NE(operators.find("max.Conv"), std::string::npos) << operators;
  EXPECT_EQ(operators.find("ConvTranspose"), std::string::npos) << operators;
  EXPECT_EQ(operators.find("QLinearConv"), std::string::npos) << operators;
}

// Filters of other types than bytes, and a bias that sums of integers cannot hold.
TEST(QuantizedGraphs, TransposedConvolutionsOfOtherNumbersStay) {
  for (const DType type : {DType::Int4, DType::UInt4, DType::Float8E4M3FN, DType::Float8E5M2, DType::Int16})
    for (const int64_t filters : {400, 401}) {
      // So many that bytes in the place of packed elements do not fit by chance; an even or odd number.
      const Shape shape{41, filters, 3, 3};
      const auto build = [&](QuantizedBuilder& q) {
        Value* w = q.b.op("DequantizeLinear", {q.numbers(type, shape), q.b.scalar(1e-3f), q.numbers(type, Shape())});
        q.b.output(q.both(q.b.op("ConvTranspose", {q.input({1, 41, 4, 3}), w}, attrs({{"strides", list({3, 3})}}))));
      };
      expectTransposed(build, {1, 41, 4, 3}, false);
    }
  const auto large = [](QuantizedBuilder& q) {
    Value* bias = q.b.random({6}, 1e6f, 2e6f);
    q.b.output(q.both(q.b.op("ConvTranspose", {q.input({1, 5, 4, 3}), q.weights({5, 6, 2, 2}, 1), bias}, doubling())));
  };
  expectTransposed(large, {1, 5, 4, 3}, false);
}

// A matrix of few bits in blocks, as tools for language models write it, is not widened: with and without zero points,
// as a transposed one, and where the last block is not whole.
TEST(QuantizedGraphs, BlocksKeepTheirBits) {
  for (const DType type : {DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int2, DType::UInt2})
    for (const bool isTransposed : {false, true})
      for (const int64_t depth : {64, 72})
        for (const bool hasZeros : {false, true}) {
          const auto build = [&](QuantizedBuilder& q) {
            const Shape whole = isTransposed ? Shape{33, depth} : Shape{depth, 33};
            const Shape each = isTransposed ? Shape{33, (depth + 15) / 16} : Shape{(depth + 15) / 16, 33};
            std::vector<Value*> inputs{q.numbers(type, whole), q.b.random(each, 0.001f, 0.003f)};
            if (hasZeros) inputs.push_back(q.numbers(type, each));
            Value* w = q.b.op("DequantizeLinear", std::move(inputs),
                              attrs({{"axis", int64_t{isTransposed}}, {"block_size", int64_t{16}}}));
            if (isTransposed) w = q.b.op("Transpose", {w});
            q.b.output(q.b.op("MatMul", {q.b.input({3, depth}), w}));
          };
          EXPECT_EQ(runReal(build, {{3, depth}}), "max.MatMulNBits")
              << nameOf(type) << isTransposed << depth << hasZeros;
        }
}

// The operators of a product with 512 x 512 numbers in blocks.
std::string productOfBlocks(MaxPrecision precision, int64_t axis, int64_t block) {
  constexpr int64_t kSide = 512;
  CompileOptions options = withoutFusion();
  options.precision = precision;
  Builder b;
  Value* numbers = QuantizedBuilder{b}.numbers(DType::Int4, {kSide, kSide});
  Value* scales = b.random(axis == 1 ? Shape{kSide, kSide / block} : Shape{kSide / block, kSide});
  Value* w = b.op("DequantizeLinear", {numbers, scales}, attrs({{"axis", axis}, {"block_size", block}}));
  b.output(b.op("MatMul", {b.input({3, kSide}), w}));
  compile(*b.graph, options);
  return operatorsOf(*b.graph);
}

// Blocks along the columns, and where products of rounded numbers are faster: bytes take blocks of up to 256.
TEST(QuantizedGraphs, OtherBlocksAreWidened) {
  EXPECT_EQ(productOfBlocks(MAX_PRECISION_HIGHEST, 0, 512), "max.MatMulNBits");
  EXPECT_EQ(productOfBlocks(MAX_PRECISION_HIGHEST, 1, 16), "max.MatMul");
  EXPECT_EQ(productOfBlocks(MAX_PRECISION_HIGH, 0, 16), "max.MatMul");
  EXPECT_EQ(productOfBlocks(MAX_PRECISION_MEDIUM, 0, 256), "max.MatMulNBits");
  EXPECT_EQ(productOfBlocks(MAX_PRECISION_MEDIUM, 0, 512), "max.MatMul");
}

TEST(QuantizedGraphs, GroupsOfFourFiltersWorkOnChannelsLast) {
  const auto build = [&](QuantizedBuilder& q) {
    Value* x = q.input({1, 16, 7, 9});
    Attributes attributes = padded();
    attributes.set("group", int64_t{4});
    q.b.output(q.both(q.b.op("Conv", {x, q.weights({16, 4, 3, 3}, 0), q.bias(16)}, attributes)));
  };
  EXPECT_EQ(run(build, {{1, 16, 7, 9}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv");
}

TEST(QuantizedGraphs, FewFiltersForEachChannelAreDepthwise) {
  for (const int64_t times : {2, 3}) {
    const auto build = [&](QuantizedBuilder& q) {
      Value* x = q.input({1, 16, 7, 9});
      Attributes attributes = padded();
      attributes.set("group", int64_t{16});
      attributes.set("strides", list({2, 2}));
      q.b.output(q.both(q.b.op("Conv", {x, q.weights({16 * times, 1, 3, 3}, 0), q.bias(16 * times)}, attributes)));
    };
    EXPECT_EQ(run(build, {{1, 16, 7, 9}}),
              "DequantizeLinear Expand QuantizeLinear Reshape Transpose*2 Unsqueeze max.QLinearConv");
  }
}

TEST(QuantizedGraphs, ActivationsBecomeLimits) {
  for (const char* op : {"Relu", "Clip"}) {
    const auto build = [&](QuantizedBuilder& q) {
      Value* x = q.input({1, 16, 5, 5});
      Value* y = q.b.op("Conv", {x, q.weights({8, 16, 1, 1}, 0)});
      std::vector<Value*> inputs{y};
      if (std::string_view(op) == "Clip") inputs.insert(inputs.end(), {q.b.scalar(0.f), q.b.scalar(1.5f)});
      q.b.output(q.both(q.b.op(op, inputs)));
    };
    EXPECT_EQ(run(build, {{1, 16, 5, 5}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv") << op;
  }
}

TEST(QuantizedGraphs, ResidualsJoinConvolutions) {
  for (const bool relu : {false, true}) {
    const auto build = [&](QuantizedBuilder& q) {
      Value* x = q.both(q.b.op("Conv", {q.input({1, 8, 6, 5}), q.weights({16, 8, 1, 1}, 0)}));
      Value* y = q.both(q.b.op("Conv", {x, q.weights({16, 16, 3, 3}, 0), q.bias(16)}, padded()), 0.03f);
      Value* sum = q.b.op("Add", {x, y});
      q.b.output(q.both(relu ? q.b.op("Relu", {sum}) : sum));
    };
    EXPECT_EQ(run(build, {{1, 8, 6, 5}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv*2") << relu;
  }
}

TEST(QuantizedGraphs, ProductsWorkOnIntegers) {
  const auto gemm = [](QuantizedBuilder& q) {
    Value* y = q.b.op("Gemm", {q.input({5, 70}), q.weights({33, 70}, 0), q.bias(33)}, attrs({{"transB", int64_t{1}}}));
    q.b.output(q.both(y));
  };
  EXPECT_EQ(run(gemm, {{5, 70}}), "DequantizeLinear QuantizeLinear max.QLinearConv");
  const auto product = [](QuantizedBuilder& q) {
    Value* x = q.input({2, q.b.symbol("L"), 24});
    q.b.output(q.both(q.b.op("MatMul", {x, q.weights({24, 33}, 1, DType::UInt8)})));
    q.b.output(q.both(q.b.op("MatMul", {x, q.weights({24, 5}, -1, DType::UInt8)})));
  };
  EXPECT_EQ(run(product, {{2, 7, 24}}), "DequantizeLinear*2 QuantizeLinear max.QLinearConv*2");
}

TEST(QuantizedGraphs, NumbersOfColumnsJoinProducts) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const bool relu : {false, true})
      for (const int64_t columns : {3, 70}) {
        const auto build = [&](QuantizedBuilder& q) {
          q.dtype = dtype;
          q.zero = dtype == DType::UInt8 ? 131 : 3;
          Value* x = q.input({2, q.b.symbol("L"), 24});
          Value* y = q.both(q.b.op("MatMul", {x, q.weights({24, columns}, 1)}), 0.04f);
          Value* sum = q.b.op("Add", {q.bias(columns), y});
          q.b.output(q.both(relu ? q.b.op("Relu", {sum}) : sum));
        };
        EXPECT_EQ(run(build, {{2, 7, 24}}), "DequantizeLinear QuantizeLinear max.QLinearConv");
      }
}

// A normalisation of the columns, which follows a product as a matrix, is done to the sums.
TEST(QuantizedGraphs, NormalisationsJoinProducts) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const bool relu : {false, true}) {
      const auto build = [&](QuantizedBuilder& q) {
        q.dtype = dtype;
        q.zero = dtype == DType::UInt8 ? 131 : 3;
        Value* y = q.both(q.b.op("MatMul", {q.input({2, 7, 24}), q.weights({24, 70}, 1)}), 0.04f);
        Value* matrix = q.both(q.b.op("Reshape", {y, q.b.ints({14, 70})}), 0.04f);
        Value* scale = q.b.random({70}, -1.5f, 1.5f);
        Value* norm =
            q.b.op("BatchNormalization", {matrix, scale, q.bias(70), q.bias(70), q.b.random({70}, 0.5f, 2.f)});
        q.b.output(q.both(relu ? q.b.op("Relu", {norm}) : norm));
      };
      EXPECT_EQ(run(build, {{2, 7, 24}}), "DequantizeLinear QuantizeLinear Reshape max.QLinearConv") << relu;
    }
}

TEST(QuantizedGraphs, FactorsOfFiltersJoinConvolutions) {
  for (const int64_t filters : {3, 40})
    for (const bool hasShift : {false, true}) {
      const auto build = [&](QuantizedBuilder& q) {
        Value* x = q.input({1, 16, 5, 6});
        Value* y = q.both(q.b.op("Conv", {x, q.weights({filters, 16, 3, 3}, 0)}, padded()), 0.04f);
        Value* product = q.b.op("Mul", {q.b.random({filters, 1, 1}, -1.5f, 1.5f), y});
        q.b.output(q.both(hasShift ? q.b.op("Add", {product, q.b.random({filters, 1, 1})}) : product));
      };
      EXPECT_EQ(run(build, {{1, 16, 5, 6}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv") << hasShift;
    }
  // The vector lies along the rows of what was reshaped.
  const auto other = [](QuantizedBuilder& q) {
    Value* y = q.both(q.b.op("MatMul", {q.input({6, 24}), q.weights({24, 10}, 1)}), 0.04f);
    Value* turned = q.both(q.b.op("Reshape", {y, q.b.ints({10, 6})}), 0.04f);
    q.b.output(q.both(q.b.op("Mul", {turned, q.b.random({6})})));
  };
  EXPECT_NE(run(other, {{6, 24}}).find(" Mul "), std::string::npos);
}

// What was multiplied by zeros is not computed, whatever follows.
TEST(QuantizedGraphs, ProductsWithZerosVanish) {
  for (const bool isScalar : {false, true})
    for (const bool isLeft : {false, true})
      for (const bool isQuantized : {false, true}) {
        const auto build = [&](QuantizedBuilder& q) {
          Value* x = q.input({1, 16, 5, 6});
          Value* y = q.b.op("Conv", {x, q.weights({16, 16, 3, 3}, 0)}, padded());
          if (isQuantized) y = q.both(y, 0.04f);
          Value* zeros = isScalar ? q.b.scalar(0.f) : q.b.random({16, 1, 1}, 0.f, 0.f);
          Value* product = isLeft ? q.b.op("Mul", {zeros, y}) : q.b.op("Mul", {y, zeros});
          q.b.output(q.both(q.b.op("Add", {x, q.both(product)})));
        };
        const bool isComputed = run(build, {{1, 16, 5, 6}}).find("Conv") != std::string::npos;
        EXPECT_EQ(isComputed, !isQuantized) << isScalar << isLeft;
      }
}

// Of real results and of scales the sign of a zero may matter, and sizes that are not known have no constant.
TEST(QuantizedGraphs, OtherProductsWithZerosStay) {
  const auto real = [](QuantizedBuilder& q) { q.b.output(q.b.op("Mul", {q.input({3, 6}), q.b.scalar(0.f)})); };
  EXPECT_NE(runReal(real, {{3, 6}}).find("Mul"), std::string::npos);
  const auto open = [](QuantizedBuilder& q) {
    Value* x = q.input({q.b.symbol("N"), 6});
    q.b.output(q.both(q.b.op("Mul", {x, q.b.random({6}, 0.f, 0.f)})));
  };
  EXPECT_NE(run(open, {{3, 6}}).find("Mul"), std::string::npos);
  const auto scale = [](QuantizedBuilder& q) {
    Value *x = q.b.input({3, 6}), *product = q.b.op("Mul", {q.input(SymbolicShape()), q.b.scalar(0.f)});
    q.b.output(q.dequantize(q.b.op("QuantizeLinear", {x, product, q.number(q.dtype, q.zero)})));
  };
  EXPECT_EQ(run(scale, {{3, 6}, Shape()}), "DequantizeLinear*2 Mul QuantizeLinear*2");
}

TEST(QuantizedGraphs, ProductsOfTensorsWorkOnIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8}) {
    const auto build = [&](QuantizedBuilder& q) {
      q.dtype = dtype;
      q.zero = dtype == DType::UInt8 ? 131 : 3;
      Value *x = q.input({3, q.b.symbol("L"), 18}), *y = q.input({3, q.b.symbol("L"), 18});
      Value* turned = q.both(q.b.op("Transpose", {y}, attrs({{"perm", list({0, 2, 1})}})), 0.02f);
      q.b.output(q.both(q.b.op("MatMul", {x, turned})));
    };
    EXPECT_EQ(run(build, {{3, 70, 18}, {3, 70, 18}}), "DequantizeLinear QLinearMatMul QuantizeLinear*2 Transpose");
  }
}

TEST(QuantizedGraphs, MovedElementsStayIntegers) {
  const auto build = [](QuantizedBuilder& q) {
    Value* x = q.both(q.b.input({1, 4, 6, 6}));
    Attributes pool = padded();
    pool.set("kernel_shape", list({3, 3}));
    Value* greatest = q.both(q.b.op("MaxPool", {x}, pool));
    Value* joined = q.both(q.b.op("Concat", {x, greatest}, attrs({{"axis", int64_t{1}}})));
    q.b.output(q.both(q.b.op("Flatten", {joined})));
  };
  EXPECT_EQ(run(build, {{1, 4, 6, 6}}, 0), "Concat DequantizeLinear QuantizeLinear Reshape Transpose*2 max.MaxPool");
}

// Parts of other scales than their joint get it by a table.
TEST(QuantizedGraphs, PartsOfOtherScalesJoinAsIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8}) {
    const auto build = [&](QuantizedBuilder& q) {
      q.dtype = dtype;
      q.zero = dtype == DType::UInt8 ? 131 : 3;
      Value *a = q.input({4, 70}), *b = q.both(q.b.input({4, 20}));
      q.b.output(q.both(q.b.op("Concat", {a, b}, attrs({{"axis", int64_t{1}}}))));
    };
    EXPECT_EQ(run(build, {{4, 70}, {4, 20}}, 0), "Concat DequantizeLinear QuantizeLinear*2 max.MapBytes");
  }
}

TEST(QuantizedGraphs, SoftmaxReadsAndWritesIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const int64_t size : {1, 7, 40, 131}) {
      const auto build = [&](QuantizedBuilder& q) {
        q.dtype = dtype;
        q.zero = dtype == DType::UInt8 ? 131 : 3;
        Value* y =
            q.b.op("Softmax", {q.both(q.b.input({3, q.b.symbol("L"), size}), 0.02f)}, attrs({{"axis", int64_t{2}}}));
        q.b.output(q.both(y, 0.007f));
      };
      EXPECT_EQ(runReal(build, {{3, 20, size}}, CompileOptions()),
                "DequantizeLinear QuantizeLinear max.QLinearSoftmax");
    }
  const auto otherAxis = [](QuantizedBuilder& q) {
    q.b.output(q.both(q.b.op("Softmax", {q.input({4, 9})}, attrs({{"axis", int64_t{0}}}))));
  };
  EXPECT_EQ(runReal(otherAxis, {{4, 9}}, CompileOptions()).find("QLinearSoftmax"), std::string::npos);
}

// Parts and moved elements stay integers until something needs the numbers.
TEST(QuantizedGraphs, PartsStayIntegers) {
  const auto build = [](QuantizedBuilder& q) {
    Node* split = q.b.node("Split", {q.input({6, 8}), q.b.ints({2, 4})}, {}, 2);
    q.b.output(q.both(split->outputs[0], 0.02f));
    q.b.output(q.b.op("Softmax", {q.b.op("Transpose", {split->outputs[1]}, attrs({{"perm", list({1, 0})}}))},
                      attrs({{"axis", int64_t{0}}})));
  };
  EXPECT_EQ(runReal(build, {{6, 8}}), "DequantizeLinear*2 QuantizeLinear Softmax Split Transpose");
}

TEST(QuantizedGraphs, ExtremesAreThoseOfIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const int64_t axis : {1, 2}) {
      const auto build = [&](QuantizedBuilder& q) {
        q.dtype = dtype;
        q.zero = dtype == DType::UInt8 ? 131 : 3;
        const Attributes attributes = attrs({{"keepdims", int64_t{0}}});
        q.b.output(q.b.op("ReduceMax", {q.both(q.b.input({2, 40, 50})), q.b.ints({axis})}, attributes));
        q.b.output(q.both(q.b.op("ReduceMin", {q.input({2, 40, 50}), q.b.ints({axis})}, attributes), 0.02f));
      };
      EXPECT_EQ(runReal(build, {{2, 40, 50}, {2, 40, 50}}),
                "DequantizeLinear*2 QuantizeLinear*2 ReduceMax ReduceMin Squeeze*2");
    }
}

// A layout is restored before bytes become numbers.
TEST(QuantizedGraphs, BytesAreTransposed) {
  const auto write = [](Builder& b) {
    QuantizedBuilder q{b};
    Value* y = q.both(b.op("Conv", {q.input({1, 16, 7, 9}), q.weights({20, 16, 3, 3}, 0)}, padded()));
    b.output(b.op("PRelu", {y, b.scalar(0.25f)}));
  };
  Compiled result;
  compileAndRun(result, write, {{1, 16, 7, 9}}, withoutFusion(), -2, 2);
  for (const Node* node : result.graph.graph->nodes())
    EXPECT_TRUE(!node->is("Transpose") || node->output()->type.dtype == DType::UInt8) << dump(*result.graph.graph);
}

TEST(QuantizedGraphs, FunctionsBecomeTables) {
  for (const DType dtype : {DType::UInt8, DType::Int8}) {
    // As exporters write Gelu, with each result quantised.
    const auto gelu = [&](QuantizedBuilder& q) {
      q.dtype = dtype;
      q.zero = dtype == DType::UInt8 ? 131 : 3;
      Value* x = q.input({q.b.symbol("N"), 70});
      Value* halves = q.both(q.b.op("Div", {x, q.b.scalar(1.41421356f)}), 0.011f);
      Value* sum = q.both(q.b.op("Add", {q.both(q.b.op("Erf", {halves}), 0.008f), q.b.scalar(1.f)}), 0.016f);
      Value* product = q.b.op("Mul", {q.both(q.b.op("Mul", {x, sum}), 0.03f), q.b.scalar(0.5f)});
      q.b.output(q.both(product));
    };
    EXPECT_EQ(run(gelu, {{9, 70}}, 0), "DequantizeLinear QuantizeLinear max.MapBytes");
    const auto half = [&](QuantizedBuilder& q) {
      q.dtype = dtype;
      q.zero = dtype == DType::UInt8 ? 131 : 3;
      Value* x = q.both(q.b.input({4, 70}), 2 * kStep);
      q.b.output(q.both(q.b.op("Mul", {x, q.b.scalar(0.5f)})));
    };
    EXPECT_EQ(run(half, {{4, 70}}, 0), "DequantizeLinear QuantizeLinear");
    const auto unlike = [&](QuantizedBuilder& q) {
      Value *a = q.input({4, 70}), *b = q.input({4, 70});
      q.b.output(q.both(q.b.op("Mul", {a, q.b.op("Sigmoid", {b})})));
    };
    EXPECT_EQ(run(unlike, {{4, 70}, {4, 70}}).find("max.MapBytes"), std::string::npos);
  }
}

// Chains read and write integers of 8 or 16 bits, with the same results as operator by operator.
TEST(QuantizedGraphs, ChainsReadAndWriteIntegers) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 70}, Shape{2, 3, 1111}}) {
      const auto build = [&](QuantizedBuilder& q) {
        q.dtype = dtype;
        q.zero = dtype == DType::UInt8 ? 131 : 3;
        const SymbolicShape dims(shape.dims().begin(), shape.dims().end());
        Value *a = q.both(q.b.input(dims), 0.02f), *b = q.both(q.b.input(dims), 0.03f);
        Value* sum = q.both(q.b.op("Add", {a, b}));
        // Read by two chains and by another operator, each of which dequantises it.
        q.b.output(q.both(q.b.op("Mul", {sum, a})));
        q.b.output(q.both(q.b.op("Sub", {sum, b}), 0.04f));
        q.b.output(q.b.op("Softmax", {sum}, attrs({{"axis", int64_t{-1}}})));
      };
      const std::string operators = runReal(build, {shape, shape}, CompileOptions());
      EXPECT_EQ(operators, "DequantizeLinear QuantizeLinear*2 Softmax max.Elementwise*3") << concat(shape);
    }
}

// Scales of both operands and of the sum: every fourth sum lies between two results, sums end beyond the range, and
// products of which many sums lie in the middle are rounded.
TEST(QuantizedGraphs, SumsOfIntegersAreRoundedAsWritten) {
  for (const DType dtype : {DType::UInt8, DType::Int8})
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 70}, Shape{2, 3, 1111}})
      for (const auto [first, second, scale] : {std::array{0.015625f, 0.03125f, 0.03125f},
                                                {0.015625f, 0.03125f, 0.04f},
                                                {0.015625f, 0.03125f, 0.005f},
                                                {0.0237686f / 2, 0.0237686f / 4, 0.0237686f}}) {
        const auto build = [&, first = first, second = second, scale = scale](QuantizedBuilder& q) {
          q.dtype = dtype;
          q.zero = dtype == DType::UInt8 ? 131 : 3;
          const SymbolicShape dims(shape.dims().begin(), shape.dims().end());
          Value *a = q.both(q.b.input(dims), first), *b = q.both(q.b.input(dims), second);
          q.b.output(q.both(q.b.op("Add", {a, b}), scale));
          Value* c = q.both(q.b.input({1, dims.back()}), 0.015625f);
          q.b.output(q.both(q.b.op("Add", {c, b}), scale));
        };
        const std::string operators = runReal(build, {shape, shape, {1, shape.back()}}, CompileOptions());
        EXPECT_NE(operators.find("max.Elementwise"), std::string::npos) << operators;
      }
}

// Many numbers that are added to bytes stay bytes; neutral ones are not added.
TEST(QuantizedGraphs, AddedConstantsStayIntegers) {
  for (const bool isNeutral : {false, true}) {
    const auto write = [&](Builder& b) {
      QuantizedBuilder q{b};
      Ref<Tensor> zeros = Tensor::allocate(DType::UInt8, {4, 40, 40});
      std::fill_n(static_cast<uint8_t*>(zeros->mutableData()), zeros->count(), uint8_t{0});
      Value* x = q.both(b.input({1, 4, 40, 40}), 0.03125f);
      for (const float scale : {0.03125f, 0.0625f}) {
        Value* added = isNeutral ? b.op("DequantizeLinear", {b.graph->addConstant(zeros), b.scalar(0.01f)})
                                 : q.dequantized(DType::UInt8, {4, 40, 40}, scale / 2);
        b.output(q.both(b.op("Add", {x, added}), scale));
      }
    };
    Compiled result;
    compileAndRun(result, write, {{1, 4, 40, 40}}, CompileOptions(), -2, 2);
    EXPECT_EQ(operatorsOf(*result.graph.graph),
              isNeutral ? "DequantizeLinear*2 QuantizeLinear max.MapBytes" : "QuantizeLinear max.Elementwise*2");
    for (const Node* node : result.graph.graph->nodes())
      for (const Value* input : node->inputs)
        EXPECT_TRUE(!input || !input->constant || input->constant->bytes() <= 6400) << dump(*result.graph.graph);
    for (size_t i = 0; i < result.actual.size(); ++i)
      for (int64_t k = 0; k < result.actual[i]->count(); ++k)
        ASSERT_EQ(result.actual[i]->as<float>()[k], result.expected[i]->as<float>()[k]) << k;
  }
}

TEST(QuantizedGraphs, TablesKeepTheLayout) {
  const auto build = [](QuantizedBuilder& q) {
    Value* x = q.both(q.b.op("Conv", {q.input({1, 16, 6, 5}), q.weights({16, 16, 1, 1}, 0)}));
    Value* y = q.both(q.b.op("HardSwish", {x}));
    q.b.output(q.both(q.b.op("Conv", {y, q.weights({16, 16, 3, 3}, 0), q.bias(16)}, padded())));
  };
  EXPECT_EQ(run(build, {{1, 16, 6, 5}}), "DequantizeLinear QuantizeLinear Transpose*2 max.MapBytes max.QLinearConv*2");
}

TEST(QuantizedGraphs, OtherScalesBecomeTables) {
  const auto build = [](QuantizedBuilder& q) {
    Value* x = q.both(q.b.input({2, 8}), 0.03f);
    q.b.output(q.both(q.b.op("Flatten", {x})));
  };
  EXPECT_EQ(run(build, {{2, 8}}), "DequantizeLinear QuantizeLinear max.MapBytes");
}

// A product that is also needed as it is, in float32, is not computed twice.
TEST(QuantizedGraphs, ResultsWithOtherReadersStay) {
  const auto build = [](QuantizedBuilder& q) {
    Value* y = q.b.op("MatMul", {q.input({2, 8}), q.weights({8, 8}, 1)});
    q.b.output(y);
    q.b.output(q.both(y));
  };
  EXPECT_EQ(run(build, {{2, 8}}), "DequantizeLinear QuantizeLinear*2 max.MatMulInteger");
}

// Products that no QuantizeLinear follows make real numbers of their sums.
TEST(QuantizedGraphs, ResultsMayBeReal) {
  const auto conv = [](QuantizedBuilder& q) {
    Value* x = q.input({q.b.symbol("N"), 16, 7, 9});
    Value* y = q.b.op("Conv", {x, q.weights({20, 16, 3, 3}, 0), q.bias(20)}, padded());
    q.b.output(q.b.op("Sigmoid", {q.b.op("Conv", {x, q.weights({4, 16, 1, 1}, -1, DType::UInt8)})}));
    q.b.output(q.b.op("Add", {y, q.b.input({1, 20, 7, 9})}));
  };
  EXPECT_EQ(runReal(conv, {{2, 16, 7, 9}, {1, 20, 7, 9}}), "Add QuantizeLinear Sigmoid Transpose*3 max.ConvInteger*2");
  const auto gemm = [](QuantizedBuilder& q) {
    Value* x = q.input({5, 70});
    q.b.output(q.b.op("Gemm", {x, q.weights({33, 70}, 0), q.bias(33)}, attrs({{"transB", int64_t{1}}})));
    q.b.output(q.b.op("Gemm", {x, q.weights({70, 9}, -1)}));
  };
  EXPECT_EQ(runReal(gemm, {{5, 70}}), "QuantizeLinear max.MatMulInteger*2");
  const auto product = [](QuantizedBuilder& q) {
    Value *x = q.input({2, q.b.symbol("L"), 24}), *y = q.both(q.b.input({2, 24, 6}), 0.03f);
    q.b.output(q.b.op("Add", {q.b.op("MatMul", {x, q.weights({24, 33}, 1)}), q.bias(33)}));
    q.b.output(q.b.op("MatMul", {x, y}));
  };
  EXPECT_EQ(runReal(product, {{2, 7, 24}, {2, 24, 6}}), "QuantizeLinear*2 max.MatMulInteger*2");
}

// A factor for each filter needs one group: depthwise convolutions with real results stay as they are.
TEST(QuantizedGraphs, RealDepthwiseResultsStay) {
  const auto build = [](QuantizedBuilder& q) {
    Value* x = q.input({1, 16, 7, 9});
    q.b.output(q.b.op("Conv", {x, q.weights({16, 1, 3, 3}, 0)}, attrs({{"group", int64_t{16}}})));
  };
  EXPECT_EQ(runReal(build, {{1, 16, 7, 9}}), "DequantizeLinear QuantizeLinear Transpose*2 max.Conv");
}

// Values of int8 that only DequantizeLinears read become uint8.
TEST(QuantizedGraphs, SignsAreDropped) {
  const auto build = [](Builder& b) {
    QuantizedBuilder q{b, DType::Int8, -7};
    Value* x = q.input({1, 16, 5, 5});
    q.b.output(q.both(q.b.op("Conv", {x, q.weights({8, 16, 3, 3}, 0)})));
    q.b.output(q.quantize(x));
  };
  Compiled result;
  compileAndRun(result, build, {{1, 16, 5, 5}}, withoutFusion(), -4, 4);
  for (size_t i = 0; i < result.actual.size(); ++i) expectClose(*result.actual[i], *result.expected[i], kStep);
  std::vector<DType> types;
  for (const Node* node : result.graph.graph->nodes())
    if (node->is("QuantizeLinear") || node->isOwn("QLinearConv")) types.push_back(node->output()->type.dtype);
  EXPECT_EQ(types, (std::vector<DType>{DType::UInt8, DType::UInt8}));
}

// Exporters store some weights as real numbers, which they quantise in the graph.
TEST(QuantizedGraphs, WeightsAreQuantisedBefore) {
  const auto build = [](QuantizedBuilder& q) {
    Value* x = q.input({1, 16, 5, 5});
    Value* w = q.b.op("QuantizeLinear", {q.b.random({8, 16, 3, 3}), q.b.scalar(0.01f), q.number(DType::Int8, 0)});
    w = q.b.op("DequantizeLinear", {w, q.b.scalar(0.01f), q.number(DType::Int8, 0)});
    q.b.output(q.both(q.b.op("Conv", {x, w})));
  };
  EXPECT_EQ(run(build, {{1, 16, 5, 5}}), "DequantizeLinear QuantizeLinear Transpose*2 max.QLinearConv");
}

// A QuantizeLinear for each reader of a value counts as one.
TEST(QuantizedGraphs, ValuesAreQuantisedOnce) {
  const auto build = [](QuantizedBuilder& q) {
    Value* y = q.b.op("Conv", {q.input({1, 16, 5, 5}), q.weights({16, 16, 1, 1}, 0)});
    q.b.output(q.both(q.b.op("Conv", {q.both(y), q.weights({16, 16, 1, 1}, 0)})));
    q.b.output(q.both(q.b.op("MaxPool", {q.both(y)}, attrs({{"kernel_shape", list({2, 2})}}))));
  };
  EXPECT_EQ(run(build, {{1, 16, 5, 5}}, 2),
            "DequantizeLinear*2 QuantizeLinear Transpose*3 max.MaxPool max.QLinearConv*2");
}

// Weights with known contents never become real numbers: packed, they take one byte, or two where the processor has no
// products of bytes.
TEST(QuantizedGraphs, WeightsStayIntegers) {
  Builder b;
  QuantizedBuilder q{b};
  b.output(q.both(b.op("Conv", {q.input({1, 64, 8, 8}), q.weights({64, 64, 3, 3}, 0)}, padded())));
  compile(*b.graph, {});
  size_t bytes = 0;
  for (const Node* node : b.graph->nodes()) {
    if (node->prepared) bytes += node->prepared->bytes();
    for (const Value* input : node->inputs)
      if (input && input->constant && input->constant->hasContents()) bytes += input->constant->bytes();
  }
  constexpr size_t kWeights = 64 * 64 * 9;
  EXPECT_GE(bytes, kWeights);
  EXPECT_LE(bytes, 3 * kWeights + 4096);  // with the model's own, and sums of columns
}

TEST(QuantizedGraphs, DynamicProductsScaleAndAddThemselves) {
  const auto build = [](Builder& b) {
    QuantizedBuilder q{b};
    Node* x = b.node("DynamicQuantizeLinear", {b.input({2, b.symbol("L"), 24})}, {}, 3);
    Ref<Tensor> weights = Tensor::allocate(DType::Int8, {24, 70});
    for (int64_t i = 0; i < weights->count(); ++i)
      static_cast<int8_t*>(weights->mutableData())[i] = static_cast<int8_t>(i * 37);
    Value* sums =
        b.op("MatMulInteger", {x->output(0), b.graph->addConstant(weights), x->output(2), q.number(DType::Int8, 3)});
    Value* scale = b.op("Mul", {x->output(1), b.scalar(0.01f)});
    Value* reals = b.op("Cast", {sums}, attrs({{"to", int64_t{1}}}));
    b.output(b.op("Add", {q.bias(70), b.op("Mul", {reals, scale})}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 7, 24}}), "DynamicQuantizeLinear Mul max.MatMulInteger");
}

TEST(QuantizedGraphs, DynamicConvolutionsAreChannelsLast) {
  const auto build = [](Builder& b) {
    QuantizedBuilder q{b};
    Node* x = b.node("DynamicQuantizeLinear", {b.input({2, 8, 6, 7})}, {}, 3);
    Value* w = q.weights({20, 8, 3, 3}, -1, DType::UInt8)->producer->input(0);
    Value* sums = b.op("ConvInteger", {x->output(0), w, x->output(2), q.number(DType::UInt8, 119)}, padded());
    Value* real = b.op("Cast", {sums}, attrs({{"to", int64_t{1}}}));
    b.output(b.op("Mul", {real, x->output(1)}));
  };
  EXPECT_EQ(compileAndCompare(build, {{2, 8, 6, 7}}), "DynamicQuantizeLinear Transpose*2 max.ConvInteger");
}

}  // namespace
}  // namespace max::test
