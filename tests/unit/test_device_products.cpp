// SPDX-License-Identifier: Apache-2.0
// Products on accelerators against exact ones, within the bounds of docs/numerics.md. The tests' environment names fake
// drivers, where the instructions of matrix units are emulated.
#include <cmath>

#include "compiler/compile.h"
#include "compiler/rewrite.h"
#include "device/device_registry.h"
#include "device_helpers.h"
#include "interpreter.h"
#include "op_harness.h"
#include "ops/gpu/gpu_operators.h"

namespace max::test {
namespace {

struct Format {
  const char* name;
  const char* api;
  DType dtype;
  MaxPrecision precision;
  double bound;           // of the error, relative to the sum of the products' magnitudes
  double rounding;        // of a result to its type
  bool isSample = false;  // runs all tests; the others need MAX_TEST_ALL for those that compile many kernels
};
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

constexpr double kSums = 1e-6;  // of float32
// Factors that are rounded to u: (1 + u)^2 - 1.
constexpr double kTf32 = 0x1p-10 + 0x1p-22 + kSums, kBfloat = 0x1p-7 + 0x1p-16 + kSums;

constexpr Format kFormats[] = {
    {"cuda_float32", "cuda", DType::Float32, MAX_PRECISION_HIGHEST, kSums, 0},
    {"cuda_tf32", "cuda", DType::Float32, MAX_PRECISION_HIGH, kTf32, 0, true},
    {"cuda_narrow", "cuda", DType::Float32, MAX_PRECISION_MEDIUM, kBfloat, 0},
    {"cuda_halves", "cuda", DType::Float16, MAX_PRECISION_HIGHEST, kSums, 0x1p-11, true},
    {"cuda_bfloats", "cuda", DType::BFloat16, MAX_PRECISION_HIGHEST, kSums, 0x1p-8},
    {"cuda_float64", "cuda", DType::Float64, MAX_PRECISION_HIGHEST, 1e-15, 0},
    {"hip_float32", "hip", DType::Float32, MAX_PRECISION_HIGHEST, kSums, 0, true},
    {"hip_narrow", "hip", DType::Float32, MAX_PRECISION_MEDIUM, kBfloat, 0},
    {"hip_halves", "hip", DType::Float16, MAX_PRECISION_HIGHEST, kSums, 0x1p-11},
    {"hip_bfloats", "hip", DType::BFloat16, MAX_PRECISION_HIGHEST, kSums, 0x1p-8, true},
};

constexpr const char* kManyKernels = "runs with MAX_TEST_ALL";

class DeviceProducts : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    if (deviceCount(GetParam().api) == 0) GTEST_SKIP() << "there is no accelerator";
    device_ = openDevice(GetParam().api, 0);
  }

  static bool takesManyKernels() { return GetParam().isSample || getenv("MAX_TEST_ALL"); }

  // Numbers of both signs and several magnitudes, none of which the instructions' formats have exactly.
  Ref<Tensor> random(const Shape& shape) {
    Ref<Tensor> tensor = randomTensor(shape, random_);
    if (GetParam().dtype == DType::Float32) return tensor;
    Builder b;
    Value* x = b.graph->addInput("x", TensorType::of(DType::Float32, symbolic(shape)));
    Node* cast = b.node("Cast", {x}, attrs({{"to", onnxFromDType(GetParam().dtype)}}), 1);
    const Tensor* pointers[] = {tensor.get()};
    return evaluate(*cast, pointers).at(0);
  }
  Value* input(Builder& b, const Ref<Tensor>& tensor) {
    return b.graph->addInput(concat("x", b.graph->inputs().size()),
                             TensorType::of(tensor->dtype(), symbolic(tensor->shape())));
  }

  // What the device computes, all of it there.
  std::vector<double> resultsOf(Builder& b, const std::vector<Ref<Tensor>>& inputs) {
    CompileOptions options;
    options.accelerator = device_.get();
    options.precision = GetParam().precision;
    b.graph->sort();
    compile(*b.graph, options);
    for (const Node* node : b.graph->nodes())
      if (isLive(*node) && !hasTrait(*node, kTraitView)) {
        EXPECT_TRUE(node->placed) << node->description();
      }
    const PlannedProgram program(b.graph, RunSettings(1, nullptr, {device_}));
    const Ref<Tensor> result = runThere(program, *device_, inputs).at(0);
    std::vector<double> values;
    for (int64_t i = 0; i < result->count(); ++i) values.push_back(numberAt(*result, i));
    return values;
  }
  // `magnitude`: the sum of the products' magnitudes.
  void expectNear(double actual, double expected, double magnitude) {
    ASSERT_NEAR(actual, expected, GetParam().bound * magnitude + GetParam().rounding * std::fabs(expected) * 1.001);
    worst_ = std::max(worst_, std::fabs(actual - expected) / magnitude);
  }

  // The numbers of a matrix, row by row; where it is stored transposed, too.
  static std::vector<double> rowsOf(const Tensor& matrix, int64_t rows, int64_t columns, bool isTransposed) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < columns; ++k)
        numbers.push_back(numberAt(matrix, isTransposed ? k * rows + i : i * columns + k));
    return numbers;
  }

  void checkGemm(int64_t rows, int64_t depth, int64_t columns, bool transposesA, bool transposesB, bool hasAddend) {
    SCOPED_TRACE(concat(rows, " x ", depth, " x ", columns, transposesA ? ", a transposed" : "",
                        transposesB ? ", b transposed" : "", hasAddend ? ", with an addend" : ""));
    const Ref<Tensor> a = random(transposesA ? Shape{depth, rows} : Shape{rows, depth});
    const Ref<Tensor> b = random(transposesB ? Shape{columns, depth} : Shape{depth, columns});
    std::vector<Ref<Tensor>> inputs = {a, b};
    if (hasAddend) inputs.push_back(random({columns}));
    Builder builder;
    std::vector<Value*> values;
    for (const Ref<Tensor>& tensor : inputs) values.push_back(input(builder, tensor));
    builder.output(
        builder.op("Gemm", values, attrs({{"transA", int64_t{transposesA}}, {"transB", int64_t{transposesB}}})));
    const std::vector<double> actual = resultsOf(builder, inputs);
    ASSERT_EQ(static_cast<int64_t>(actual.size()), rows * columns);
    const std::vector<double> left = rowsOf(*a, rows, depth, transposesA);
    const std::vector<double> right = rowsOf(*b, columns, depth, !transposesB);
    for (int64_t i = 0; i < rows && !HasFatalFailure(); ++i)
      for (int64_t j = 0; j < columns && !HasFatalFailure(); ++j) {
        const SumOfProducts sum =
            sumOfProducts(&left[static_cast<size_t>(i * depth)], &right[static_cast<size_t>(j * depth)], depth);
        const double addend = hasAddend ? numberAt(*inputs[2], j) : 0;
        expectNear(actual[static_cast<size_t>(i * columns + j)], sum.sum + addend, sum.magnitude + std::fabs(addend));
      }
  }

  // Products of one factor with several weights are one product, whose results are read in place.
  void checkGroup(const Shape& shape, int64_t columns, int weights, bool transposesB, bool hasAddend) {
    SCOPED_TRACE(concat(weights, " weights, ", shape));
    const int64_t depth = shape.back(), rows = shape.count() / depth;
    const Ref<Tensor> a = random(shape);
    Builder builder;
    Value* x = input(builder, a);
    std::vector<Ref<Tensor>> factors, addends;
    std::vector<Value*> results;
    for (int i = 0; i < weights; ++i) {
      factors.push_back(random(transposesB ? Shape{columns, depth} : Shape{depth, columns}));
      addends.push_back(random({columns}));
      std::vector<Value*> values = {x, builder.graph->addConstant(factors.back())};
      if (hasAddend) values.push_back(builder.graph->addConstant(addends.back()));
      Node* product = builder.graph->addNode(kMaxDomain, "MatMul", values,
                                             attrs({{"transB", int64_t{transposesB}}, {"alpha", 0.5f}}));
      results.push_back(product->output());
    }
    builder.output(builder.op("Concat", results, attrs({{"axis", int64_t{0}}})));
    const std::vector<double> actual = resultsOf(builder, {a});
    EXPECT_EQ(countImplementations(*builder.graph, "gpu_matmul"), 1);
    ASSERT_EQ(static_cast<int64_t>(actual.size()), weights * rows * columns);
    for (int64_t i = 0; i < weights * rows && !HasFatalFailure(); ++i)
      for (int64_t j = 0; j < columns && !HasFatalFailure(); ++j) {
        const Tensor& factor = *factors[static_cast<size_t>(i / rows)];
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const double product =
              numberAt(*a, i % rows * depth + k) * numberAt(factor, transposesB ? j * depth + k : k * columns + j) / 2;
          sum += product;
          magnitude += std::fabs(product);
        }
        const double addend = hasAddend ? numberAt(*addends[static_cast<size_t>(i / rows)], j) : 0;
        expectNear(actual[static_cast<size_t>(i * columns + j)], sum + addend, magnitude + std::fabs(addend));
      }
  }

  // Weights of few bits, in blocks with a scale each, and perhaps a zero point. They are rounded to the factors' type.
  void checkPacked(int64_t rows, int64_t depth, int64_t columns, int64_t bits, int64_t block, bool hasZeros) {
    SCOPED_TRACE(concat(rows, " x ", depth, " x ", columns, ", blocks of ", block));
    const int64_t blocks = (depth + block - 1) / block;
    const auto bytes = [&](const Shape& shape) {
      Ref<Tensor> tensor = Tensor::allocate(DType::UInt8, shape);
      for (int64_t i = 0; i < tensor->count(); ++i)
        static_cast<uint8_t*>(tensor->mutableData())[i] = static_cast<uint8_t>(random_());
      return tensor;
    };
    const auto code = [&](const Tensor& packed, int64_t row, int64_t rowBits, int64_t i) {
      const int64_t at = row * rowBits + i * bits;
      return packed.as<uint8_t>()[at / 8] >> at % 8 & ((1 << bits) - 1);
    };
    const Ref<Tensor> a = random({rows, depth}), scales = random({columns * blocks});
    const Ref<Tensor> weights = bytes({columns, blocks, block * bits / 8});
    const int64_t zeroBits = (blocks * bits + 7) / 8 * 8;
    const Ref<Tensor> zeros = bytes({columns * zeroBits / 8});
    Builder builder;
    std::vector<Value*> values = {input(builder, a), builder.graph->addConstant(weights),
                                  builder.graph->addConstant(scales)};
    if (hasZeros) values.push_back(builder.graph->addConstant(zeros));
    builder.output(builder.graph
                       ->addNode(kMaxDomain, "MatMulNBits", values,
                                 attrs({{"K", depth}, {"N", columns}, {"bits", bits}, {"block_size", block}}))
                       ->output());
    const std::vector<double> actual = resultsOf(builder, {a});
    EXPECT_EQ(countImplementations(*builder.graph, "gpu_matmul_nbits"), 1);
    for (int64_t i = 0; i < rows && !HasFatalFailure(); ++i)
      for (int64_t j = 0; j < columns && !HasFatalFailure(); ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const int zero = hasZeros ? code(*zeros, j, zeroBits, k / block) : 1 << (bits - 1);
          const double weight =
              (code(*weights, j, blocks * block * bits, k) - zero) * numberAt(*scales, j * blocks + k / block);
          sum += numberAt(*a, i * depth + k) * weight;
          magnitude += std::fabs(numberAt(*a, i * depth + k) * weight);
        }
        ASSERT_NEAR(
            actual[static_cast<size_t>(i * columns + j)], sum,
            (GetParam().bound + GetParam().rounding) * magnitude + GetParam().rounding * std::fabs(sum) * 1.001);
      }
  }

  // As float64, or its magnitude.
  static Ref<Tensor> widened(const Tensor& tensor, bool isMagnitude) {
    Ref<Tensor> wide = Tensor::allocate(DType::Float64, tensor.shape());
    for (int64_t i = 0; i < tensor.count(); ++i)
      static_cast<double*>(wide->mutableData())[i] = isMagnitude ? std::fabs(numberAt(tensor, i)) : numberAt(tensor, i);
    return wide;
  }

  // Of x with weights of this shape and a bias, then Relu.
  void checkConv(const Shape& shape, const Shape& weightShape, const std::vector<int64_t>& strides, int64_t groups = 1,
                 int64_t dilation = 1, std::string_view kernel = "gpu_conv_product") {
    SCOPED_TRACE(concat(shape, " with ", weightShape));
    const size_t axes = strides.size();
    const std::vector<Ref<Tensor>> all = {random(shape), random(weightShape), random({weightShape[0]})};
    const Attributes attributes = attrs({{"strides", list(strides)},
                                         {"pads", list(std::vector<int64_t>(2 * axes, 1))},
                                         {"dilations", list(std::vector<int64_t>(axes, dilation))},
                                         {"group", groups}});
    Builder b;
    Value* conv =
        b.op("Conv", {input(b, all[0]), b.graph->addConstant(all[1]), b.graph->addConstant(all[2])}, attributes);
    b.output(conv);
    const std::vector<double> actual = resultsOf(b, {all[0]});
    EXPECT_EQ(countImplementations(*b.graph, kernel), 1);
    std::vector<Ref<Tensor>> results;
    for (const bool isMagnitude : {false, true}) {
      Builder exact;
      std::vector<Value*> values;
      std::vector<Ref<Tensor>> tensors;
      std::vector<const Tensor*> pointers;
      for (const Ref<Tensor>& tensor : all) {
        tensors.push_back(widened(*tensor, isMagnitude));
        pointers.push_back(tensors.back().get());
        values.push_back(input(exact, tensors.back()));
      }
      results.push_back(evaluate(*exact.node("Conv", values, attributes, 1), pointers).at(0));
    }
    ASSERT_EQ(static_cast<int64_t>(actual.size()), results[0]->count());
    for (size_t i = 0; i < actual.size() && !HasFatalFailure(); ++i)
      expectNear(actual[i], results[0]->as<double>()[i], results[1]->as<double>()[i]);
  }
  // `mask`: of scores, by the key and the query; none, numbers, or whether a key counts.
  void checkAttention(int64_t heads, int64_t groups, int64_t queries, int64_t keys, int64_t size, int64_t width,
                      DType maskType) {
    SCOPED_TRACE(concat(queries, " queries, ", keys, " keys, heads of ", size, " and ", width));
    const Ref<Tensor> q = random({2, heads, queries, size}), k = random({2, groups, keys, size}),
                      v = random({2, groups, keys, width});
    std::vector<Ref<Tensor>> inputs = {q, k, v};
    if (maskType == DType::Bool) {
      inputs.push_back(Tensor::allocate(DType::Bool, {queries, keys}));
      for (int64_t i = 0; i < queries * keys; ++i)
        static_cast<uint8_t*>(inputs[3]->mutableData())[i] = i % keys <= i / keys + 20;
    } else if (maskType != DType::Invalid) {
      inputs.push_back(random({queries, keys}));
    }
    Builder builder;
    std::vector<Value*> values;
    for (const Ref<Tensor>& tensor : inputs) values.push_back(input(builder, tensor));
    const float scale = 0.3f;
    builder.output(builder.graph->addNode(kMaxDomain, "Attention", values, attrs({{"scale", scale}}))->output());
    const std::vector<double> actual = resultsOf(builder, inputs);
    ASSERT_EQ(static_cast<int64_t>(actual.size()), 2 * heads * queries * width);
    const double weightRounding = GetParam().rounding, least = GetParam().dtype == DType::Float16 ? 0x1p-25 : 0;
    for (int64_t row = 0; row < 2 * heads * queries && !HasFatalFailure(); ++row) {
      const int64_t s = row % queries, head = row / queries % heads, batch = row / queries / heads;
      const int64_t group = batch * groups + head * groups / heads;
      std::vector<double> scores(static_cast<size_t>(keys));
      double most = -INFINITY, off = 0, total = 0;  // off: the largest error of a score
      for (int64_t t = 0; t < keys; ++t) {
        double sum = 0, magnitude = 0;
        for (int64_t d = 0; d < size; ++d) {
          const double product = numberAt(*q, row * size + d) * numberAt(*k, (group * keys + t) * size + d);
          sum += product;
          magnitude += std::fabs(product);
        }
        const double added = inputs.size() > 3 ? numberAt(*inputs[3], s * keys + t) : 0;
        double& score = scores[static_cast<size_t>(t)];
        score = maskType == DType::Bool ? added != 0 ? sum * scale : -INFINITY : sum * scale + added;
        if (score == -INFINITY) continue;
        most = std::max(most, score);
        off = std::max(off, GetParam().bound * magnitude * scale + 0x1p-22 * std::fabs(score));
      }
      for (double& score : scores) total += score = std::exp(score - most);
      for (int64_t d = 0; d < width && !HasFatalFailure(); ++d) {
        double sum = 0, magnitude = 0, all = 0;
        for (int64_t t = 0; t < keys; ++t) {
          const double value = numberAt(*v, (group * keys + t) * width + d);
          sum += scores[static_cast<size_t>(t)] / total * value;
          magnitude += scores[static_cast<size_t>(t)] / total * std::fabs(value);
          all += std::fabs(value);
        }
        const double relative = std::exp(2 * off) * (1 + weightRounding) * (1 + GetParam().bound) * (1 + 1e-6) - 1;
        ASSERT_NEAR(actual[static_cast<size_t>(row * width + d)], sum,
                    relative * magnitude + least * all + GetParam().rounding * std::fabs(sum) * 1.001)
            << "row " << row << ", column " << d;
      }
    }
    EXPECT_EQ(countImplementations(*builder.graph, "gpu_attention"), 1);
  }
  static int countImplementations(const Graph& graph, std::string_view name) {
    int count = 0;
    for (const Node* node : graph.nodes())
      count += node->placed && static_cast<const Placed&>(*node->placed).kernels().front() == name;
    return count;
  }

  Ref<MaxDevice> device_;
  Random random_{5};
  double worst_ = 0;  // error, relative to the magnitudes
};

// Each form of tiles, with sizes that fill them and sizes that do not, aligned and not.
TEST_P(DeviceProducts, MatricesOfAllForms) {
  for (const bool transposesA : {false, true})
    for (const bool transposesB : {false, true}) {
      if (transposesA != transposesB && !getenv("MAX_TEST_ALL")) continue;  // each factor lies in both ways
      checkGemm(64, 64, 64, transposesA, transposesB, true);
      checkGemm(37, 45, 51, transposesA, transposesB, true);
      checkGemm(7, 40, 136, transposesA, transposesB, true);
      checkGemm(1, 80, 72, transposesA, transposesB, true);
      checkGemm(1, 33, 5, transposesA, transposesB, true);
      if (HasFatalFailure()) return;
    }
}

TEST_P(DeviceProducts, OneFactorWithSeveralWeights) {
  if (!takesManyKernels()) GTEST_SKIP() << kManyKernels;
  checkGroup({2, 5, 40}, 24, 3, false, true);
  checkGroup({3, 7}, 5, 2, false, false);
  checkGroup({2, 3, 4, 16}, 16, 2, true, true);
}

// Of all forms of tiles, in parts, and of few rows.
TEST_P(DeviceProducts, PackedWeights) {
  if (!takesManyKernels()) GTEST_SKIP() << kManyKernels;
  if (GetParam().dtype == DType::Float64) GTEST_SKIP() << "has no such products";
  checkPacked(70, 96, 40, 4, 32, true);
  checkPacked(9, 70, 150, 4, 32, true);
  checkPacked(3, 70, 11, 4, 32, true);
  checkPacked(5, 2400, 20, 4, 32, true);
  if (GetParam().dtype == DType::Float16 || getenv("MAX_TEST_ALL"))
    for (const int64_t bits : {2, 8}) checkPacked(20, 70, 30, bits, 16, false);
}

TEST_P(DeviceProducts, LargeTiles) {
  checkGemm(1100, 40, 1410, false, false, true);
  checkGemm(8300, 20, 190, true, true, true);  // half as wide
  // Factors are rounded where the precision allows it, which is what makes products fast.
  if (GetParam().dtype != DType::Float32) return;
  EXPECT_EQ(worst_ > 4 * kSums, GetParam().precision != MAX_PRECISION_HIGHEST);
}

TEST_P(DeviceProducts, LongSumsInParts) {
  checkGemm(5, 2100, 24, false, false, true);
  checkGemm(1, 3000, 9, false, true, true);
  checkGemm(70, 2500, 40, false, true, false);
}

// Filters that are read by pieces and ones that are not, groups, and sums in parts.
TEST_P(DeviceProducts, Convolutions) {
  if (!takesManyKernels()) GTEST_SKIP() << kManyKernels;
  if (GetParam().dtype == DType::Float64) GTEST_SKIP() << "has no such convolutions";
  checkConv({2, 16, 9, 7}, {24, 16, 3, 3}, {1, 1});
  checkConv({1, 3, 20, 21}, {17, 3, 7, 7}, {2, 2});
  checkConv({1, 32, 6, 6}, {70, 32, 1, 1}, {1, 2});
  checkConv({2, 12, 8, 9}, {32, 6, 3, 2}, {1, 1}, 2, 2);
  checkConv({1, 250, 4, 4}, {9, 250, 3, 3}, {1, 1});
  checkConv({2, 24, 30}, {8, 24, 5}, {3});
  checkConv({1, 8, 4, 5, 6}, {16, 8, 2, 3, 3}, {1, 2, 1});
}

TEST_P(DeviceProducts, LargeConvolution) {
  if (!takesManyKernels()) GTEST_SKIP() << kManyKernels;
  if (GetParam().dtype == DType::Float64) GTEST_SKIP() << "has no such convolutions";
  checkConv({1, 8, 100, 130}, {100, 8, 3, 3}, {1, 1});
  checkConv({1, 8, 100, 130}, {130, 8, 3, 3}, {1, 1});  // tiles that are half as wide
}

// Pieces of channels that are full or not, and lines of several results.
TEST_P(DeviceProducts, DepthwiseConvolutions) {
  const auto check = [&](const Shape& shape, const Shape& weights, const std::vector<int64_t>& strides,
                         int64_t dilation) {
    checkConv(shape, weights, strides, weights[0], dilation, "gpu_depthwise");
  };
  check({2, 16, 9, 7}, {16, 1, 3, 3}, {1, 2}, 1);
  check({1, 13, 12, 11}, {13, 1, 5, 5}, {1, 1}, 2);
  check({2, 24, 30}, {24, 1, 7}, {3}, 1);
  check({1, 8, 4, 5, 6}, {8, 1, 2, 3, 3}, {1, 2, 1}, 1);
  if (GetParam().dtype == DType::Float32) check({1, 32, 180, 190}, {32, 1, 3, 7}, {1, 1}, 1);
}

// An expansion and the depthwise convolution that alone reads it stay apart, since products want all their rows.
TEST_P(DeviceProducts, ExpansionsStayProducts) {
  if (GetParam().dtype != DType::Float32) GTEST_SKIP() << "joined for float32 alone, on the host";
  Builder b;
  const Ref<Tensor> x = random({1, 16, 6, 6});
  Value* wide = b.op("Relu", {b.op("Conv", {input(b, x), b.graph->addConstant(random({32, 16, 1, 1}))})});
  b.output(b.op("Conv", {wide, b.graph->addConstant(random({32, 1, 3, 3}))}, attrs({{"group", int64_t{32}}})));
  resultsOf(b, {x});
  EXPECT_EQ(countImplementations(*b.graph, "gpu_conv_product"), 1);
  EXPECT_EQ(countImplementations(*b.graph, "gpu_depthwise"), 1);
}

// In tiles of queries and keys that are full or not, for narrow and wide heads, and one query at a time.
TEST_P(DeviceProducts, Attention) {
  if (!takesManyKernels()) GTEST_SKIP() << kManyKernels;
  if (GetParam().dtype == DType::Float64) GTEST_SKIP() << "runs on the host";
  checkAttention(4, 2, 70, 90, 40, 40, DType::Invalid);
  checkAttention(2, 2, 128, 64, 64, 64, DType::Bool);
  checkAttention(1, 1, 33, 150, 72, 100, GetParam().dtype);
  checkAttention(2, 1, 3, 130, 30, 33, GetParam().dtype);
  checkAttention(4, 2, 1, 700, 64, 64, DType::Bool);  // in parts
  checkAttention(1, 1, 20, 70, 200, 160, DType::Invalid);
}

INSTANTIATE_TEST_SUITE_P(Formats, DeviceProducts, testing::ValuesIn(kFormats));

}  // namespace
}  // namespace max::test
