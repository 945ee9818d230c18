// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16: packing and tiles with the machine's kernels and, on every machine, with plain ones.
#include <array>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "ops/cpu/narrow.h"
#include "plain_words.h"
#include "weights_harness.h"

namespace max {
namespace {

using test::EmulatedTables;
using test::plainSpread;
using test::plainTable;

float rounded(float value) { return floatFromBFloat16(bfloat16FromFloat(value)); }

// Some products that share their rows' memory as the groups of a convolution do: row m reads the pixels m, m + 1, ...
// The first pixels may be a border of zeros.
struct Product {
  int64_t rows, columns, taps, depth, groups;
  int64_t border;
  std::vector<float> zeros;
  Ref<Tensor> pixels, narrowPixels, filters, bias, residual;
  Epilogue epilogue;
  PartialSums partialSums = PartialSums::Float32;
  bool narrowA, narrowC, narrowResidual;  // bfloat16 in memory

  Product(RandomTensors& random, int64_t most)
      : rows(random.integer(1, 80)),
        columns(random.integer(1, 120)),
        taps(random.chance(0.5) ? 1 : random.integer(2, 9)),
        depth(random.integer(1, most)),
        groups(random.integer(1, 3)),
        border(random.chance(0.5) ? 0 : random.integer(0, rows + taps - 1)),
        zeros(static_cast<size_t>(groups * depth)),
        pixels(random.floats({rows + taps - 1, groups * depth})),
        filters(random.floats({groups, columns, depth, taps})),
        bias(random.chance(0.5) ? random.floats({groups * columns}) : nullptr),
        residual(random.chance(0.5) ? random.floats({rows, groups * columns}) : nullptr),
        narrowA(depth % 2 == 0 && random.chance(0.7)),
        narrowC(random.chance(0.5)),
        narrowResidual(residual && random.chance(0.5)) {
    if (random.chance(0.3)) epilogue.alpha = 0.5f;
    if (random.chance(0.3)) epilogue.activation = {true, -0.1f, std::numeric_limits<float>::infinity(), nullptr, 0, 0};
    if (random.chance(0.3)) epilogue.activation.function = findFloatTileFunction(ElementOp::Abs);
    epilogue.addsResidualLast = random.chance(0.3);
    if (random.chance(0.3)) partialSums = PartialSums::Float64;
    if (narrowResidual) residual = narrowed(*residual);
    std::fill(pixelAt(0), pixelAt(border), 0.f);
    narrowPixels = narrowed(*pixels);
  }

  static void findRows(const void* source, int64_t first, int64_t count, int tileRows, const float** table) {
    const auto& self = *static_cast<const Product*>(source);
    for (int64_t tap = 0; tap < self.taps; ++tap)
      for (int64_t i = 0; i < count; ++i)
        table[tap * tileRows + i] =
            first + i + tap < self.border ? self.zeros.data() : self.firstRow() + (first + i + tap) * self.rowStep();
  }
  float* pixelAt(int64_t i) { return static_cast<float*>(pixels->mutableData()) + i * groups * depth; }

  static Ref<Tensor> narrowed(const Tensor& tensor) {
    Ref<Tensor> result = Tensor::allocate(DType::BFloat16, tensor.shape());
    for (int64_t i = 0; i < tensor.count(); ++i)
      static_cast<uint16_t*>(result->mutableData())[i] = bfloat16FromFloat(tensor.as<float>()[i]);
    return result;
  }
  const float* firstRow() const { return narrowA ? narrowPixels->as<float>() : pixels->as<float>(); }
  int64_t rowStep() const { return groups * depth / (narrowA ? 2 : 1); }

  Ref<Tensor> run(const GemmTable& table, int lanes) const {
    const int64_t stride = packedCount(table, taps * depth, columns);
    std::vector<float> packed(static_cast<size_t>(groups * stride));
    WorkVector<GemmOffsets> offsets;
    for (int64_t g = 0; g < groups; ++g) {
      packMatrix(table, {filters->as<float>() + g * columns * depth * taps, 1, depth * taps, taps, depth, columns},
                 &packed[static_cast<size_t>(g * stride)], lanes);
      offsets.push_back({g * depth / (narrowA ? 2 : 1), g * stride, 0, g * columns, g * columns, g * columns});
    }
    const Gemm gemm(rows, columns, taps, depth, epilogue, lanes, offsets, partialSums, {table, narrowA, narrowC});
    const DType type = narrowC ? DType::BFloat16 : DType::Float32;
    Ref<Tensor> result = Tensor::allocate(type, {rows, groups * columns});
    GemmOperands operands;
    operands.a = firstRow();
    operands.lda = rowStep();
    if (taps > 1) operands.rowFunction = findRows;
    operands.rowSource = this;
    operands.zeroRow = zeros.data();
    operands.b = packed.data();
    if (narrowC)
      operands.narrowC = static_cast<uint16_t*>(result->mutableData());
    else
      operands.c = static_cast<float*>(result->mutableData());
    operands.ldc = operands.ldr = groups * columns;
    operands.bias = bias ? bias->as<float>() : nullptr;
    if (narrowResidual)
      operands.narrowResidual = residual->as<uint16_t>();
    else
      operands.residual = residual ? residual->as<float>() : nullptr;
    const Ref<Storage> scratch = allocateStorage(gemm.scratchBytes());
    gemm.run(operands, static_cast<std::byte*>(scratch->data()), lanes);
    return result;
  }

  static std::vector<float> allRounded(const Tensor& tensor) {
    std::vector<float> result(tensor.as<float>(), tensor.as<float>() + tensor.count());
    for (float& value : result) value = rounded(value);
    return result;
  }

  static double numberOf(const Tensor& tensor, int64_t i) {
    return double{tensor.dtype() == DType::BFloat16 ? floatFromBFloat16(tensor.as<uint16_t>()[i])
                                                    : tensor.as<float>()[i]};
  }

  // In float64, of factors that have been rounded.
  double expected(const float* x, const float* w, int64_t m, int64_t group, int64_t n) const {
    double sum = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const float* pixel = x + ((m + tap) * groups + group) * depth;
      const float* filter = w + (group * columns + n) * depth * taps + tap;
      for (int64_t c = 0; c < depth; ++c) sum += double{pixel[c]} * double{filter[c * taps]};
    }
    const int64_t column = group * columns + n;
    sum *= double{epilogue.alpha};
    if (bias) sum += double{bias->as<float>()[column]};
    const double addend = residual ? numberOf(*residual, m * groups * columns + column) : 0;
    if (!epilogue.addsResidualLast) sum += addend;
    if (epilogue.activation.clamps) sum = std::max(sum, double{epilogue.activation.low});
    if (epilogue.activation.function) sum = std::fabs(sum);
    return epilogue.addsResidualLast ? sum + addend : sum;
  }

  void check(const GemmTable& table, int lanes, const std::string& what) const {
    const Ref<Tensor> result = run(table, lanes);
    const std::vector<float> x = allRounded(*pixels), w = allRounded(*filters);
    for (int64_t i = 0; i < result->count(); ++i) {
      const int64_t m = i / (groups * columns), column = i % (groups * columns);
      const double wanted = expected(x.data(), w.data(), m, column / columns, column % columns);
      const double bound = 5e-5 * (1 + std::fabs(wanted)) + (narrowC ? std::fabs(wanted) / 256 : 0);
      ASSERT_NEAR(numberOf(*result, i), wanted, bound)
          << what << ": row " << m << ", column " << column << " of " << rows << " x " << groups << " x " << columns
          << ", " << taps << " taps of " << depth;
    }
  }
};

void checkProducts(const GemmTable& table, const std::string& what, int count, int64_t mostDepth) {
  RandomTensors random(70);
  for (int i = 0; i < count && !testing::Test::HasFatalFailure(); ++i)
    Product(random, mostDepth).check(table, 1 + i % 3, what);
}

TEST(BFloat16Gemm, PlainTilesMultiplyRoundedFactors) {
  forEachCpuTarget([](CpuTarget target) { checkProducts(plainTable(), nameOf(target), 40, 40); });
}

// The tiles of AMX, on every machine.
TEST(BFloat16Gemm, EmulatedTilesMultiplyRoundedFactors) {
  test::withEmulatedTiles([](const EmulatedTables& tables) {
    checkProducts(tables.pairs, "short", 50, 70);
    checkProducts(tables.pairs, "long", 4, 1200);
  });
}

TEST(BFloat16Gemm, MachinesTilesMultiplyRoundedFactors) {
  const GemmTable* table = bfloat16GemmTable();
  if (!table) GTEST_SKIP() << "this machine has no products of bfloat16";
  checkProducts(*table, "short", 200, 70);
  checkProducts(*table, "long", 10, 1200);
}

TEST(BFloat16Gemm, PixelsGetAnEvenNumberOfChannels) {
  const GemmTable* table = bfloat16GemmTable();
  if (!table) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(78);
  for (int64_t channels = 1; channels < 16; ++channels)
    for (const int64_t pixels : {1, 3, 17}) {
      const Ref<Tensor> from = random.floats({pixels, channels});
      const auto count = static_cast<size_t>(pixels * (channels + channels % 2));
      std::vector<uint16_t> expected(count), actual(count + 1, 7);
      plainSpread(from->as<float>(), pixels, channels, expected.data());
      table->spread(from->as<float>(), pixels, channels, actual.data());
      EXPECT_EQ(actual[count], 7) << channels;
      actual.pop_back();
      EXPECT_EQ(actual, expected) << channels;
    }
}

TEST(BFloat16Gemm, LowerTargetsLackTheseProducts) {
  forEachCpuTarget([](CpuTarget target) {
    if (target < CpuTarget::Avx512Bf16) {
      EXPECT_EQ(bfloat16GemmTable(), nullptr) << nameOf(target);
    }
  });
}

// The implementation that runs is the one that is named.
TEST(BFloat16Gemm, OperatorsUseIt) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(71);
  const Tensors inputs = {random.floats({9, 21}), random.floats({21, 70})};
  for (const char* op : {"MatMul", "Gemm"}) {
    NodeUnderTest node("", op);
    node->products = DType::BFloat16;
    const Tensors exact = node.run(inputs, {{9, 70}}, "reference");
    for (unsigned constants : {0u, 2u}) {
      const Tensors actual = node.run(inputs, {{9, 70}}, "", 1, constants);
      const bool isEqual =
          std::memcmp(actual[0]->data(), node.run(inputs, {{9, 70}}, "gemm_f32", 1, constants)[0]->data(),
                      actual[0]->bytes()) == 0;
      EXPECT_EQ(isEqual, constants == 0u) << op << ": only weights are rounded";
      expectNear(*actual[0], *exact[0], 0.05f, op);
    }
  }
}

// docs/numerics.md: at most 2^-7 of the sum of the products' magnitudes.
constexpr double kBound = 1. / 128;

void checkBound(NodeUnderTest& node, const Tensors& inputs, const Shape& output, const char* what,
                unsigned constants = 2, double bound = kBound) {
  const auto magnitudes = [](const Tensor& tensor) {
    Ref<Tensor> result = Tensor::allocate(DType::Float32, tensor.shape());
    for (int64_t i = 0; i < tensor.count(); ++i)
      static_cast<float*>(result->mutableData())[i] = std::fabs(tensor.as<float>()[i]);
    return result;
  };
  const Tensors actual = node.run(inputs, {output}, "", 2, constants), exact = node.run(inputs, {output}, "reference");
  Tensors positive;
  for (const Ref<Tensor>& input : inputs) positive.push_back(magnitudes(*input));
  const Tensors sums = node.run(positive, {output}, "reference");
  for (int64_t i = 0; i < actual[0]->count(); ++i) {
    const double error = std::fabs(double{actual[0]->as<float>()[i]} - double{exact[0]->as<float>()[i]});
    ASSERT_LE(error, bound * double{sums[0]->as<float>()[i]}) << what << ": element " << i;
  }
}

Ref<Tensor> filled(const Shape& shape, float value) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  std::fill_n(static_cast<float*>(tensor->mutableData()), tensor->count(), value);
  return tensor;
}

// Factors of `parts` numbers. `worst`: where rounding costs most.
void checkErrors(int parts, float worst, double bound) {
  RandomTensors random(72);
  NodeUnderTest matMul("", "MatMul"), conv(kMaxDomain, "Conv");
  for (NodeUnderTest* node : {&matMul, &conv}) {
    (*node)->products = DType::BFloat16;
    (*node)->productParts = parts;
  }
  conv->attributes.set("kernel_shape", std::vector<int64_t>{3, 3});
  const auto check = [&](NodeUnderTest& node, const Tensors& inputs, const Shape& output, const char* what) {
    checkBound(node, inputs, output, what, 2, bound);
  };
  check(matMul, {filled({5, 3000}, worst), filled({3000, 40}, worst)}, {5, 40}, "worst factors");
  const Tensors result = matMul.run({filled({1, 64}, worst), filled({64, 1}, worst)}, {{1, 1}}, "", 1, 2u);
  const double exact = 64 * double{worst} * double{worst};
  EXPECT_GT(exact - double{result[0]->as<float>()[0]}, 0.94 * bound * exact);
  for (int64_t depth : {1, 7, 64, 501, 3000})
    for (int64_t columns : {9, 50})
      check(matMul, {random.floats({17, depth}), random.floats({depth, columns})}, {17, columns}, "random factors");
  check(conv, {random.floats({1, 9, 8, 33}), random.floats({20, 33, 3, 3})}, {1, 7, 6, 20}, "convolution");
  for (const int64_t channels : {1, 3, 4, 15})
    check(conv, {random.floats({2, 9, 8, channels}), random.floats({20, channels, 3, 3})}, {2, 7, 6, 20},
          "few channels");
  conv->attributes.set("group", int64_t{3});
  check(conv, {random.floats({1, 6, 9, 63}), random.floats({60, 21, 3, 3})}, {1, 4, 7, 60}, "groups");
}

constexpr float kWorst = 1 + 1.f / 256;  // halfway between two numbers

// Products without weights: both factors are rounded where many rows share what is packed of B.
void checkBothFactors() {
  RandomTensors random(96);
  struct Case {
    Shape a, b, output;
    bool transA, transB;
  };
  for (const Case& c :
       {Case{{70, 33}, {33, 90}, {70, 90}, false, false}, Case{{70, 33}, {90, 33}, {70, 90}, false, true},
        Case{{33, 70}, {90, 33}, {70, 90}, true, true}, Case{{2, 3, 65, 20}, {3, 20, 50}, {2, 3, 65, 50}, false, false},
        Case{{64, 1200}, {2, 1200, 129}, {2, 64, 129}, false, false}}) {
    NodeUnderTest node(kMaxDomain, "MatMul");
    node->products = DType::BFloat16;
    if (c.transA) node->attributes.set("transA", int64_t{1});
    if (c.transB) node->attributes.set("transB", int64_t{1});
    const Tensors inputs = {random.floats(c.a), random.floats(c.b)};
    checkBound(node, inputs, c.output, "both factors", 0);
    const Tensors made = node.run(inputs, {c.output}), one = node.run(inputs, {c.output}, "gemm_bf16");
    EXPECT_EQ(std::memcmp(made[0]->data(), one[0]->data(), made[0]->bytes()), 0) << "any number of lanes";
  }
}

TEST(BFloat16Gemm, BothFactorsAreRounded) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  checkBothFactors();
}

TEST(BFloat16Gemm, EmulatedTilesRoundBothFactors) {
  test::withEmulatedTiles([](const EmulatedTables&) {
    const int64_t before = test::EmulatedTiles::configurations();
    checkBothFactors();
    EXPECT_GT(test::EmulatedTiles::configurations(), before);
  });
}

// Packing costs more than it saves.
TEST(BFloat16Gemm, FewRowsOrColumnsWithoutWeightsStayFloats) {
  RandomTensors random(97);
  for (const auto& [rows, depth, columns] : {std::array<int64_t, 3>{63, 40, 40}, {80, 15, 40}, {80, 40, 31}}) {
    NodeUnderTest node("", "MatMul");
    node->products = DType::BFloat16;
    const Tensors inputs = {random.floats({rows, depth}), random.floats({depth, columns})};
    const Shape out{rows, columns};
    const Tensors made = node.run(inputs, {out}), floats = node.run(inputs, {out}, "gemm_f32");
    EXPECT_EQ(std::memcmp(made[0]->data(), floats[0]->data(), made[0]->bytes()), 0) << rows << " rows";
  }
}

TEST(BFloat16Gemm, ErrorsStayWithinTheirBound) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  checkErrors(1, kWorst, kBound);
}

TEST(BFloat16Gemm, ErrorsOfEmulatedTilesStayWithinTheirBound) {
  test::withEmulatedTiles([](const EmulatedTables&) {
    const int64_t before = test::EmulatedTiles::configurations();
    checkErrors(1, kWorst, kBound);
    EXPECT_GT(test::EmulatedTiles::configurations(), before);
  });
}

// The last word of a kernel row then has one element, and the next pixel's lies behind it.
TEST(BFloat16Gemm, WindowsOfOddChannelsEndWhereTheyShould) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(81);
  for (const int64_t channels : {1, 3, 5})
    for (const int64_t kernel : {2, 3, 7})
      for (const int64_t stride : {1, 2}) {
        NodeUnderTest conv(kMaxDomain, "Conv");
        conv->products = DType::BFloat16;
        conv->attributes.set("strides", std::vector<int64_t>{stride, stride});
        conv->attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
        const int64_t height = (9 + 2 - kernel) / stride + 1, width = (24 + 2 - kernel) / stride + 1;
        const Tensors in = {random.floats({2, 9, 24, channels}), random.floats({40, channels, kernel, kernel})};
        auto* x = static_cast<float*>(in[0]->mutableData());
        for (int64_t c = 0; c < channels; ++c) x[11 * channels + c] = std::numeric_limits<float>::infinity();
        const Shape out{2, height, width, 40};
        const Tensors exact = conv.run(in, {out}, "reference"), actual = conv.run(in, {out}, "", 2, 2u);
        for (int64_t i = 0; i < out.count(); ++i) {
          const float wanted = exact[0]->as<float>()[i], made = actual[0]->as<float>()[i];
          ASSERT_EQ(std::isfinite(made), std::isfinite(wanted))
              << channels << " " << kernel << " " << stride << " " << i;
          if (std::isfinite(wanted)) {
            ASSERT_NEAR(made, wanted, 0.2f) << channels << " " << kernel << " " << stride << " " << i;
          }
        }
      }
}

// docs/numerics.md: at most 2^-15 of the sum of the products' magnitudes, and what sums of float32 lose.
constexpr double kPartsBound = 1. / 32768 + 1e-6;
constexpr float kWorstInParts = 1 + 1.f / 256 - 1.f / (1 << 17) - 1.f / (1 << 23);

TEST(BFloat16Gemm, FactorsInPartsStayWithinTheirBound) {
  test::withEmulatedTiles([](const EmulatedTables&) {
    checkErrors(2, kWorstInParts, kPartsBound);
    RandomTensors random(79);
    const Tensors in = {random.floats({2, 7, 7, 21}), random.floats({90, 21, 1, 1}), random.floats({90, 1, 3, 3})};
    NodeUnderTest expand(kMaxDomain, "ExpandConv");
    expand->products = DType::BFloat16;
    expand->productParts = 2;
    expand->attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
    expand->attributes.set("group", int64_t{90});
    checkBound(expand, in, {2, 7, 7, 90}, "expansion", 6, kPartsBound);
    NodeUnderTest transposed(kMaxDomain, "ConvTranspose");
    transposed->products = DType::BFloat16;
    transposed->productParts = 2;
    transposed->attributes.set("strides", std::vector<int64_t>{2, 2});
    checkBound(transposed, {random.floats({1, 5, 7, 21}), random.floats({21, 12, 2, 2})}, {1, 10, 14, 12}, "transposed",
               2, kPartsBound);
  });
}

TEST(BFloat16Gemm, RecurrentLayersTakeFactorsInParts) {
  test::withEmulatedTiles([](const EmulatedTables&) {
    RandomTensors random(80);
    NodeUnderTest node("", "LSTM");
    node->attributes.set("hidden_size", int64_t{40});
    const Tensors in = {random.floats({7, 5, 31}), random.floats({1, 160, 31}, 0.3f),
                        random.floats({1, 160, 40}, 0.3f)};
    const std::vector<Shape> out = {{7, 1, 5, 40}, {1, 5, 40}};
    const Tensors exact = node.run(in, out, "reference"), floats = node.run(in, out, "recurrent_f32", 1, 6u);
    node->products = DType::BFloat16;
    node->productParts = 2;
    const Tensors actual = node.run(in, out, "", 2, 6u);
    expectNear(*actual[0], *exact[0], 1e-4f, "parts");
    EXPECT_NE(std::memcmp(actual[0]->data(), floats[0]->data(), actual[0]->bytes()), 0);
  });
}

// Nothing but products with weights takes parts; without tiles nothing does.
TEST(BFloat16Gemm, HighPrecisionIsThatOfTiles) {
  RandomTensors random(81);
  const Tensors in = {random.floats({1, 2, 9, 32}), random.floats({1, 2, 50, 32}), random.floats({1, 2, 50, 32})};
  const auto bytesOf = [&](int parts) {
    NodeUnderTest node(kMaxDomain, "Attention");
    if (parts > 1) node->products = DType::BFloat16;
    node->productParts = parts;
    const Tensors result = node.run(in, {{1, 2, 9, 32}});
    return std::string(result[0]->as<char>(), result[0]->bytes());
  };
  const auto precision = [] { return cpuOperators().precisionFor(MAX_PRECISION_HIGH); };
  EXPECT_EQ(precision(),
            cpuTarget() >= CpuTarget::Amx && bfloat16GemmTable() ? MAX_PRECISION_HIGH : MAX_PRECISION_HIGHEST);
  test::withEmulatedTiles([&](const EmulatedTables& tables) {
    EXPECT_EQ(precision(), MAX_PRECISION_HIGH);
    EXPECT_EQ(bytesOf(2), bytesOf(1));
    Node node;
    node.products = DType::BFloat16;
    node.productParts = 2;
    EXPECT_EQ(&gemmTableFor(node), &tables.pairsInParts);
    EXPECT_FALSE(mayBeNarrow(node));
    EXPECT_NE(tables.pairsInParts.layout(), tables.pairs.layout());
  });
}

TEST(BFloat16Gemm, SecondPartsAreWhatRoundingTakesAway) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> from = {1,       kWorst,   kWorstInParts, -kWorst, 0,        -0.f,   3.39e38f,
                                   3.4e38f, infinity, -infinity,     1e-38f,  1.23e-5f, 1e-40f, 2.5f,
                                   1e30f,   -7.77f,   0.1f,          0.3f,    -1e10f};
  const auto check = [&](const GemmTable& table) {
    std::vector<uint16_t> rests(from.size() + 1, 7), expected(from.size());
    table.narrowRest(from.data(), static_cast<int64_t>(from.size()), rests.data());
    test::plainNarrowRest(from.data(), static_cast<int64_t>(from.size()), expected.data());
    EXPECT_EQ(rests.back(), 7);
    for (size_t i = 0; i < from.size(); ++i) {
      const float rest = floatFromBFloat16(rests[i]), first = rounded(from[i]);
      EXPECT_NEAR(rest, floatFromBFloat16(expected[i]), std::numeric_limits<float>::min()) << from[i];
      if (std::isfinite(first)) {
        EXPECT_NEAR(double{first} + double{rest}, double{from[i]}, double{std::fabs(from[i])} / 65536 + 2e-38);
      } else {
        EXPECT_EQ(rest, 0) << from[i];
      }
    }
  };
  check(test::plainVectors());
  if (const GemmTable* table = bfloat16VectorTable()) check(*table);
}

// What the convolution adds up are products, rounded once more, times filters, which are rounded. Large images are
// computed in strips.
TEST(BFloat16Gemm, ExpansionsUseIt) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(75);
  const int64_t filters = 90;
  const float worst = 1 + 1.f / 256;
  constexpr double kOnceMore = (1 + kBound) * (1 + kBound / 2) * (1 + kBound / 2) - 1;
  for (const int64_t side : {7, 45})
    for (const int64_t channels : {1, 21, 64}) {
      NodeUnderTest node(kMaxDomain, "ExpandConv");
      node->products = DType::BFloat16;
      node->attributes.set("pads", std::vector<int64_t>{1, 1, 1, 1});
      node->attributes.set("group", filters);
      const Shape x{2, side, side, channels}, expand{filters, channels, 1, 1}, out{2, side, side, filters};
      const Tensors in = {random.floats(x), random.floats(expand), random.floats({filters, 1, 3, 3})};
      checkBound(node, in, out, "random factors", 6, kOnceMore);
      checkBound(node, {filled(x, worst), filled(expand, worst), filled({filters, 1, 3, 3}, worst)}, out,
                 "worst factors", 6, kOnceMore);
      const Tensors actual = node.run(in, {out}, "", 2, 6u), named = node.run(in, {out}, "strips_bf16", 1, 6u);
      EXPECT_EQ(std::memcmp(actual[0]->data(), named[0]->data(), actual[0]->bytes()), 0) << side;
      const Tensors floats = node.run(in, {out}, "strips_f32", 2, 6u);
      expectNear(*floats[0], *node.run(in, {out}, "reference")[0], 1e-4f, "float32");
      EXPECT_NE(std::memcmp(actual[0]->data(), floats[0]->data(), actual[0]->bytes()), 0) << side;
    }
}

// docs/numerics.md: scores are off by 2^-7 of their products' magnitudes, weights and values lose 2^-8 each.
void checkAttention(const Tensors& inputs, const Shape& output, float scale, const std::string& what) {
  NodeUnderTest node(kMaxDomain, "Attention");
  node->products = DType::BFloat16;
  node->attributes.set("scale", scale);
  const Tensors actual = node.run(inputs, {output}, "attention_bf16", 2),
                exact = node.run(inputs, {output}, "reference");
  const Tensors best = node.run(inputs, {output}, "", 1);
  EXPECT_EQ(std::memcmp(actual[0]->data(), best[0]->data(), best[0]->bytes()), 0) << what;
  const Shape q = inputs[0]->shape(), k = inputs[1]->shape();
  const int64_t size = q[3], keys = k[2], valueSize = output[3];
  for (int64_t row = 0; row < q[0] * q[1] * q[2]; ++row) {
    const int64_t head = row / q[2];
    std::vector<double> scores;
    double shift = 0, sum = 0;
    for (int64_t t = 0; t < keys; ++t) {
      double score = 0, magnitude = 0;
      for (int64_t d = 0; d < size; ++d) {
        const double product = double{scale} * double{inputs[0]->as<float>()[row * size + d]} *
                               double{inputs[1]->as<float>()[(head * keys + t) * size + d]};
        score += product;
        magnitude += std::fabs(product);
      }
      shift = std::max(shift, kBound * magnitude);
      sum += scores.emplace_back(std::exp(score + (inputs.size() > 3 ? double{inputs[3]->as<float>()[t]} : 0.)));
    }
    for (int64_t n = 0; n < valueSize; ++n) {
      double mean = 0;
      for (int64_t t = 0; t < keys; ++t)
        mean += scores[static_cast<size_t>(t)] / sum *
                std::fabs(double{inputs[2]->as<float>()[(head * keys + t) * valueSize + n]});
      const int64_t i = row * valueSize + n;
      const double error = std::fabs(double{actual[0]->as<float>()[i]} - double{exact[0]->as<float>()[i]});
      ASSERT_LE(error, (std::exp(2 * shift) * (1 + kBound) - 1) * mean) << what << ": element " << i;
    }
  }
}

void checkAttentions() {
  RandomTensors random(76);
  // Odd sizes, keys in several blocks, and queries of several tiles.
  for (const auto& [queries, keys, size, valueSize] :
       {std::array<int64_t, 4>{9, 1, 1, 1}, {9, 61, 33, 70}, {9, 384, 64, 64}, {75, 901, 7, 5}}) {
    const Tensors in = {random.floats({2, 3, queries, size}), random.floats({2, 3, keys, size}),
                        random.floats({2, 3, keys, valueSize})};
    checkAttention(in, {2, 3, queries, valueSize}, 0.3f, concat(keys, " keys of ", size));
  }
  // One key's weight and value lose all that rounding can take; the other's value is 0.
  const float worst = 1 + 1.f / 256;
  const Ref<Tensor> values = filled({1, 1, 2, 1}, 0), mask = filled({1, 1, 1, 2}, 0);
  static_cast<float*>(values->mutableData())[1] = worst;
  static_cast<float*>(mask->mutableData())[1] = std::log(0.49999f * worst);
  const Tensors in = {filled({1, 1, 5, 4}, 0), filled({1, 1, 2, 4}, 1), values, mask};
  checkAttention(in, {1, 1, 5, 1}, 1, "worst factors");
}

TEST(BFloat16Gemm, AttentionUsesIt) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  checkAttentions();
}

// Softmax writes words with the chip's own conversion.
TEST(BFloat16Gemm, AttentionUsesTiles) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  test::withEmulatedTiles([](const EmulatedTables&) {
    const int64_t before = test::EmulatedTiles::configurations();
    checkAttentions();
    EXPECT_GT(test::EmulatedTiles::configurations(), before);
  });
}

// Of a few queries, conversions would be most of the work; they keep float32, as attention does at `highest`.
TEST(BFloat16Gemm, AttentionOfFewQueriesStaysFloat) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(77);
  for (const int64_t queries : {4, 5}) {
    const Tensors in = {random.floats({1, 2, queries, 32}), random.floats({1, 2, 50, 32}),
                        random.floats({1, 2, 50, 32})};
    NodeUnderTest node(kMaxDomain, "Attention");
    const auto run = [&] { return node.run(in, {{1, 2, queries, 32}}); };
    const Tensors highest = run();
    node->products = DType::BFloat16;
    const bool isEqual = std::memcmp(highest[0]->data(), run()[0]->data(), highest[0]->bytes()) == 0;
    EXPECT_EQ(isEqual, queries == 4);
  }
}

// The state is rounded anew at each step.
TEST(BFloat16Gemm, RecurrentLayersUseIt) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(74);
  for (const auto& [op, gates] : {std::pair{"LSTM", 4}, std::pair{"GRU", 3}, std::pair{"RNN", 1}}) {
    const int64_t steps = 7, batch = 5, inputs = 31, hidden = 40;
    NodeUnderTest node("", op);
    node->products = DType::BFloat16;
    node->attributes.set("hidden_size", hidden);
    node->attributes.set("direction", std::string("bidirectional"));
    const Tensors in = {random.floats({steps, batch, inputs}), random.floats({2, gates * hidden, inputs}, 0.3f),
                        random.floats({2, gates * hidden, hidden}, 0.3f)};
    const std::vector<Shape> out = {{steps, 2, batch, hidden}, {2, batch, hidden}};
    const Tensors exact = node.run(in, out, "reference"), actual = node.run(in, out, "recurrent_bf16", 2, 6u);
    expectNear(*actual[0], *exact[0], 0.02f, op);
    EXPECT_EQ(std::memcmp(actual[0]->data(), node.run(in, out, "", 1, 6u)[0]->data(), actual[0]->bytes()), 0) << op;
    const Tensors floats = node.run(in, out, "recurrent_f32", 2, 6u);
    expectNear(*floats[0], *exact[0], 1e-5f, op);
    EXPECT_NE(std::memcmp(actual[0]->data(), floats[0]->data(), actual[0]->bytes()), 0) << op;
  }
}

TEST(BFloat16Gemm, LimitsOfTheType) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  NodeUnderTest node("", "MatMul");
  node->products = DType::BFloat16;
  const auto product = [&](float value, float weight) {
    return node.run({filled({2, 5}, value), filled({5, 3}, weight)}, {{2, 3}}, "", 1, 2u)[0]->as<float>()[5];
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(product(nan, 1)));
  EXPECT_TRUE(std::isnan(product(1, nan)));
  EXPECT_TRUE(std::isnan(product(infinity, 0)));
  EXPECT_EQ(product(infinity, -2), -infinity);
  EXPECT_EQ(product(3.4e38f, 1e-10f), infinity);
  EXPECT_LT(product(3.38e38f, 1e-10f), infinity);
  EXPECT_EQ(product(1.17e-38f, 1e10f), 0);
  EXPECT_GT(product(1.18e-38f, 1e10f), 0);
}

TEST(BFloat16Gemm, WeightsTakeHalfTheMemory) {
  if (!bfloat16GemmTable()) GTEST_SKIP() << "this machine has no products of bfloat16";
  RandomTensors random(73);
  const Ref<Tensor> weights = random.floats({256, 96});
  const std::vector<const Tensor*> known = {nullptr, weights.get()};
  NodeUnderTest node("", "MatMul");
  const auto bytes = [&] { return cpuOperators().find("", "MatMul")->prepare(*node, known)->bytes(); };
  EXPECT_EQ(bytes(), 256u * 96 * 4);
  node->products = DType::BFloat16;
  EXPECT_EQ(bytes(), 256u * 96 * 2);
}

}  // namespace
}  // namespace max
