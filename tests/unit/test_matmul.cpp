// SPDX-License-Identifier: Apache-2.0
#include "base/half.h"
#include "ops/cpu/matrix/gemm.h"
#include "ops/cpu/matrix/matmul.h"
#include "weights_harness.h"

namespace max {
namespace {

int64_t randomSize(RandomTensors& random) {
  const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 31, 33, 48, 49, 64, 65, 97, 130};
  return sizes[random.integer(0, 15)];
}

// How one kernel run is described when it fails.
std::string describe(CpuTarget target, const Shape& a, const Shape& b, int lanes, unsigned constants) {
  return concat(nameOf(target), " ", a, " x ", b, " lanes ", lanes, constants ? " constant" : "");
}

void compare(NodeUnderTest& node, const Tensors& inputs, const Shape& out, CpuTarget target, int lanes,
             unsigned constants, float tolerance = 2e-5f) {
  const Tensors expected = node.run(inputs, {out}, "reference");
  const Tensors actual = node.run(inputs, {out}, "gemm_f32", lanes, constants);
  expectNear(*actual[0], *expected[0], tolerance,
             describe(target, inputs[0]->shape(), inputs[1]->shape(), lanes, constants));
}

TEST(MatMul, MatchesReferenceOnRandomShapes) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(1);
    NodeUnderTest node("", "MatMul");
    for (int i = 0; i < 120; ++i) {
      const int64_t m = randomSize(random), k = random.integer(0, 400), n = randomSize(random);
      const Tensors inputs = {random.floats({m, k}), random.floats({k, n})};
      compare(node, inputs, {m, n}, target, 1 + i % 4, i % 3 ? 2u : 0u);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(SelectedMatMul, MatrixOutOfRangeIsAnError) {
  RandomTensors random(4);
  NodeUnderTest node(kMaxDomain, "SelectedMatMul");
  for (const int64_t index : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN})
    for (const unsigned constants : {0u, 2u}) {
      const Tensors inputs = {random.floats({40, 5}), random.floats({3, 5, 6}),
                              Tensor::copyOf(DType::Int64, Shape(), &index)};
      try {
        node.run(inputs, {{40, 6}}, "gemm_f32", 1, constants);
        ADD_FAILURE() << "matrix " << index;
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), MAX_STATUS_OUT_OF_RANGE);
      }
    }
}

TEST(MatMul, BroadcastsBatches) {
  struct Case {
    Shape a, b, out;
  };
  const Case cases[] = {
      {{3, 5, 7}, {7, 9}, {3, 5, 9}},
      {{5, 7}, {3, 7, 9}, {3, 5, 9}},
      {{2, 1, 40, 70}, {3, 70, 50}, {2, 3, 40, 50}},
      {{2, 3, 40, 70}, {2, 3, 70, 50}, {2, 3, 40, 50}},
      {{1, 3, 2, 7}, {4, 1, 7, 20}, {4, 3, 2, 20}},
      {{7}, {7, 9}, {9}},
      {{5, 7}, {7}, {5}},
      {{7}, {7}, {}},
      {{2, 5, 7}, {7}, {2, 5}},
      {{7}, {2, 7, 3}, {2, 3}},
      {{0, 7}, {7, 3}, {0, 3}},
      {{2, 0, 7}, {2, 7, 3}, {2, 0, 3}},
      {{3, 0}, {0, 20}, {3, 20}},
      {{3, 4}, {4, 0}, {3, 0}},
      {{0, 3, 4}, {0, 4, 5}, {0, 3, 5}},
      {{0, 20, 4}, {0, 4, 5}, {0, 20, 5}},
  };
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(2);
    NodeUnderTest node("", "MatMul");
    for (const Case& c : cases)
      for (unsigned constants : {0u, 2u}) {
        compare(node, {random.floats(c.a), random.floats(c.b)}, c.out, target, 2, constants);
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

// Rows that lie a page apart are copied, if there are enough of them.
TEST(MatMul, RowsOfWholePages) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(3);
    NodeUnderTest node("", "MatMul");
    for (const int64_t batch : {1, 3})
      for (const int64_t rows : {5, 9, 290})
        for (const int64_t columns : {200, 300}) {
          const Tensors inputs = {random.floats({batch, rows, 1024}), random.floats({batch, 1024, columns})};
          for (const int lanes : {1, 2}) compare(node, inputs, {batch, rows, columns}, target, lanes, 2u, 1e-4f);
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(Gemm, MatchesReferenceWithAllFormsOfC) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(3);
    for (int i = 0; i < 100; ++i) {
      const int64_t m = randomSize(random), k = random.integer(1, 100), n = randomSize(random);
      const bool transA = random.chance(0.3), transB = random.chance(0.5);
      NodeUnderTest node("", "Gemm");
      node->attributes.set("transA", int64_t{transA});
      node->attributes.set("transB", int64_t{transB});
      node->attributes.set("alpha", random.chance(0.5) ? 1.f : 0.5f);
      node->attributes.set("beta", random.chance(0.5) ? 1.f : 2.f);
      const Shape forms[] = {{n}, {1, n}, {m, n}, {m, 1}, {1}, {}};
      Tensors inputs = {random.floats(transA ? Shape{k, m} : Shape{m, k}),
                        random.floats(transB ? Shape{n, k} : Shape{k, n})};
      if (i % 7) inputs.push_back(random.floats(forms[i % 7 - 1]));
      compare(node, inputs, {m, n}, target, 1 + i % 3, i % 2 ? 2u : 0u);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(FusedMatMul, MatchesReferenceWithEpilogues) {
  const char* activations[] = {"",          "Relu", "LeakyRelu", "Clip",     "Sigmoid", "HardSigmoid",
                               "HardSwish", "Silu", "Gelu",      "GeluTanh", "Tanh"};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(4);
    for (int i = 0; i < 110; ++i) {
      const int64_t m = i % 5 ? randomSize(random) : 1, k = random.integer(1, 300), n = randomSize(random);
      const bool transA = random.chance(0.2), transB = random.chance(0.4);
      NodeUnderTest node("max", "MatMul");
      node->attributes.set("transA", int64_t{transA});
      node->attributes.set("transB", int64_t{transB});
      node->attributes.set("alpha", random.chance(0.5) ? 1.f : 0.125f);
      node->attributes.set("activation", std::string(activations[i % 11]));
      node->attributes.set("activation_alpha", 0.1f);
      node->attributes.set("activation_beta", 0.4f);
      const int64_t batch = random.integer(1, 3);
      Shape weights = transB ? Shape{n, k} : Shape{k, n};
      if (i % 4 == 3) weights.insert(0, batch);
      const Tensors inputs = {random.floats(transA ? Shape{batch, k, m} : Shape{batch, m, k}), random.floats(weights),
                              random.chance(0.5) ? random.floats(i % 2 ? Shape{batch, n} : Shape{n}) : nullptr,
                              random.chance(0.5) ? random.floats({batch, m, n}) : nullptr};
      compare(node, inputs, {batch, m, n}, target, 1 + i % 4, i % 2 ? 2u : 0u);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// Sums of a few products, of enough rows for a kernel of their own and of fewer.
TEST(FusedMatMul, ShortSumsMatchReference) {
  const char* activations[] = {"", "Relu", "Clip", "Silu"};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(5);
    for (int i = 0; i < 80 && !testing::Test::HasFatalFailure(); ++i) {
      const int64_t m = random.integer(i % 5 ? 9 : 1, 300), k = i % 11, n = random.integer(1, 130), batch = 1 + i % 3;
      NodeUnderTest node("max", "MatMul");
      node->attributes.set("activation", std::string(activations[i % 4]));
      node->attributes.set("activation_alpha", -0.2f);
      node->attributes.set("activation_beta", 0.4f);
      const Tensors inputs = {random.floats({batch, m, k}), random.floats(i % 2 ? Shape{batch, k, n} : Shape{k, n}),
                              i % 3 ? random.floats({n}) : nullptr, i % 7 ? nullptr : random.floats({batch, m, n})};
      compare(node, inputs, {batch, m, n}, target, 1 + i % 4, i % 4 < 2 ? 2u : 0u);
    }
  });
}

// A second matrix that comes with the call: a large one for one row, one of a few columns, and small ones, of which the
// last reads no further than it has elements.
TEST(FusedMatMul, MatricesGivenWithTheCallMatchReference) {
  const int64_t sizes[][4] = {{1, 1, 300, 701}, {3, 1, 150, 700}, {1, 1, 2000, 129}, {2, 1, 30, 5000},
                              {1, 2, 4096, 2},  {2, 150, 65, 4},  {1, 300, 100, 3},  {5, 9, 70, 2},
                              {5, 49, 32, 49},  {7, 49, 49, 33},  {3, 20, 8, 5},     {40, 1, 3, 3},
                              {9, 70, 64, 65},  {3, 255, 90, 90}, {2, 257, 20, 70}};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(7);
    int i = 0;
    for (const auto& [batch, m, k, n] : sizes) {
      NodeUnderTest node("max", "MatMul");
      node->attributes.set("activation", std::string(++i % 2 ? "Relu" : ""));
      const Tensors inputs = {random.floats({batch, m, k}), random.floats({batch, k, n}),
                              i % 3 ? random.floats({n}) : nullptr, i % 4 ? nullptr : random.floats({batch, m, n})};
      for (const int lanes : {1, 3}) compare(node, inputs, {batch, m, n}, target, lanes, 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// Weights of a few columns, in both orders, with all that finishes a row; of rows that are a multiple of four and not.
TEST(FusedMatMul, FewColumnsMatchReference) {
  const char* activations[] = {"", "Relu", "Silu"};
  forEachCpuTarget([&](CpuTarget target) {
    RandomTensors random(8);
    for (int i = 0; i < 64 && !testing::Test::HasFatalFailure(); ++i) {
      const int64_t m = i % 4 ? random.integer(1, 140) : i / 4 + 1, n = 1 + i % 9;
      const int64_t k = i % 13 ? random.integer(64, 900) : random.integer(12300, 13000);  // in one part and several
      const bool transA = i % 7 == 0, transB = i % 2 == 0;
      NodeUnderTest node("max", "MatMul");
      node->attributes.set("transA", int64_t{transA});
      node->attributes.set("transB", int64_t{transB});
      node->attributes.set("alpha", i % 5 ? 1.f : 0.25f);
      node->attributes.set("activation", std::string(activations[i % 3]));
      const int64_t batch = 1 + i % 2;
      const bool isShared = i % 8 < 6;
      Shape weights = transB ? Shape{n, k} : Shape{k, n};
      if (!isShared) weights.insert(0, batch);
      const Tensors inputs = {random.floats(transA ? Shape{batch, k, m} : Shape{batch, m, k}), random.floats(weights),
                              i % 3 ? random.floats({n}) : nullptr, i % 4 ? nullptr : random.floats({batch, m, n})};
      compare(node, inputs, {batch, m, n}, target, 1 + i % 3, i % 5 ? 2u : 0u, k > 900 ? 1e-4f : 2e-5f);
    }
  });
}

TEST(MatMul, ColumnsAreMultipliedWithoutACopy) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(6);
    NodeUnderTest node("", "MatMul");
    for (const auto& [rows, depth] : {std::pair<int64_t, int64_t>{5, 33}, {70, 3}, {71, 16}, {130, 33}, {66, 100}}) {
      const Tensors inputs = {random.floats({64, rows, depth}), random.floats({64, depth, 1})};
      compare(node, inputs, {64, rows, 1}, target, 3, 0);
      const std::vector<Operand> in = {{DType::Float32, inputs[0]->shape(), nullptr},
                                       {DType::Float32, inputs[1]->shape(), nullptr}};
      const std::vector<Operand> out = {{DType::Float32, {64, rows, 1}, nullptr}};
      const auto columnBytes = static_cast<size_t>(64 * depth) * sizeof(float);
      EXPECT_LT(cpuOperators().create({*node, in, out, 1}, "gemm_f32")->scratchBytes(), columnBytes) << rows;
      const std::vector<const Tensor*> known = {nullptr, inputs[1].get()};
      EXPECT_EQ(cpuOperators().find("", "MatMul")->prepare(*node, known), nullptr);
      compare(node, inputs, {64, rows, 1}, target, 3, 2);
    }
  });
}

// As those of a model of that type, which became floats.
Ref<Tensor> roundedTo(DType dtype, Ref<Tensor> tensor) {
  auto* values = static_cast<float*>(tensor->mutableData());
  for (int64_t i = 0; i < tensor->count(); ++i)
    values[i] = dtype == DType::Float16 ? floatFromHalf(halfFromFloat(values[i]))
                                        : floatFromBFloat16(bfloat16FromFloat(values[i]));
  return tensor;
}

size_t packedBytes(NodeUnderTest& node, const Tensor& weights) {
  const std::vector<const Tensor*> known = {nullptr, &weights};
  return cpuOperators().find("max", "MatMul")->prepare(*node, known)->bytes();
}

// Of all sums of few rows and many, in one part and several, and with what finishes them.
TEST(FusedMatMul, WeightsOfHalfTheSizeAreKeptSo) {
  forEachCpuTarget([](CpuTarget target) {
    const bool isConverted = halfTypes()[0].widen != nullptr;
    RandomTensors random(8);
    for (const DType dtype : {DType::Float16, DType::BFloat16})
      for (const int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 40, 300}) {
        const int64_t k = random.integer(300, 700), n = random.integer(240, 400);
        const bool transB = random.chance(0.5);
        NodeUnderTest node("max", "MatMul");
        node->attributes.set("transB", int64_t{transB});
        node->attributes.set("alpha", random.chance(0.5) ? 1.f : 0.125f);
        if (random.chance(0.5)) node->attributes.set("activation", std::string("Silu"));
        const Ref<Tensor> weights = roundedTo(dtype, random.floats(transB ? Shape{n, k} : Shape{k, n}, 0.1f));
        Tensors inputs = {random.floats({m, k}), weights};
        if (random.chance(0.7)) inputs.push_back(random.floats({n}));
        if (inputs.size() == 3 && random.chance(0.5)) inputs.push_back(random.floats({m, n}));
        for (const int lanes : {1, 3}) compare(node, inputs, {m, n}, target, lanes, 2u);
        const size_t bytes = packedBytes(node, *weights);
        static_cast<float*>(weights->mutableData())[weights->count() - 1] = 0x1.000002p-3f;
        EXPECT_EQ(packedBytes(node, *weights), isConverted ? 2 * bytes : bytes) << "one that needs a float";
        compare(node, inputs, {m, n}, target, 2, 2u);
        if (testing::Test::HasFailure()) return;
      }
  });
}

TEST(FusedMatMul, WeightsOfManyRowsAreFloats) {
  const size_t times = halfTypes()[0].widen ? 2 : 1;
  RandomTensors random(10);
  const Ref<Tensor> weights = roundedTo(DType::Float16, random.floats({300, 256}));
  Value a;
  const auto bytesWith = [&](const SymbolicShape& shape) {
    NodeUnderTest node("max", "MatMul");
    a.type = TensorType::of(DType::Float32, shape);
    node->inputs.push_back(&a);
    return packedBytes(node, *weights);
  };
  DimTable dims;
  const Dim batch = dims.symbol("batch");
  EXPECT_EQ(bytesWith({17, 300}), times * bytesWith({16, 300}));
  EXPECT_EQ(bytesWith({batch, 17, 300}), times * bytesWith({batch, 300}));
}

// The same bytes as from floats, for few rows and for many, whose weights are packed as floats.
TEST(FusedMatMul, WeightsOfHalfTheSizeArePackedAsTheyAre) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(11);
    for (const HalfType& half : halfTypes())
      for (const int64_t m : {1, 300})
        for (const bool transB : {false, true})
          for (const Shape& shape : {Shape{300, 256}, Shape{257, 301}, Shape{2, 190, 211}}) {
            NodeUnderTest node("max", "MatMul");
            node->attributes.set("transB", int64_t{transB});
            Value a;
            a.type = TensorType::of(DType::Float32, SymbolicShape{m, 300});
            node->inputs.push_back(&a);
            const Ref<Tensor> floats = roundedTo(half.dtype, random.floats(shape));
            if (half.dtype == DType::BFloat16) static_cast<float*>(floats->mutableData())[0] = 0x1p99f;  // no float16
            const Ref<Tensor> narrow = Tensor::allocate(half.dtype, shape);
            for (int64_t i = 0; i < narrow->count(); ++i)
              static_cast<uint16_t*>(narrow->mutableData())[i] = half.dtype == DType::Float16
                                                                     ? halfFromFloat(floats->as<float>()[i])
                                                                     : bfloat16FromFloat(floats->as<float>()[i]);
            const auto pack = [&](const Tensor& weights) {
              const std::vector<const Tensor*> known = {nullptr, &weights};
              return cpuOperators().find("max", "MatMul")->prepare(*node, known);
            };
            const Ref<Prepared> expected = pack(*floats), actual = pack(*narrow);
            ASSERT_EQ(actual != nullptr, half.widen != nullptr) << nameOf(target);
            if (!actual) continue;
            const auto &one = static_cast<const PackedWeights&>(*actual),
                       &other = static_cast<const PackedWeights&>(*expected);
            ASSERT_EQ(one.dtype(), other.dtype());
            ASSERT_EQ(one.bytes(), other.bytes());
            EXPECT_EQ(0, std::memcmp(one.data(), other.data(), one.bytes()))
                << concat(nameOf(target), " ", m, " ", shape);
          }
  });
}

// Every number that a float16 can be, a row of the weights at a time; a batch has matrices of its own.
TEST(MatMul, WeightsOfHalfTheSizeAreExact) {
  forEachCpuTarget([](CpuTarget target) {
    RandomTensors random(9);
    NodeUnderTest node("", "MatMul");
    Ref<Tensor> weights = Tensor::allocate(DType::Float32, {2, 256, 256});
    for (int64_t i = 0; i < weights->count(); ++i)
      static_cast<float*>(weights->mutableData())[i] =
          floatFromHalf(static_cast<uint16_t>((i & 0x7c00) == 0x7c00 ? 1 : i));
    for (const int64_t m : {1, 3, 9, 30}) {
      Ref<Tensor> a = Tensor::allocate(DType::Float32, {2, m, 256});
      for (int64_t i = 0; i < a->count(); ++i) static_cast<float*>(a->mutableData())[i] = i % 256 == i / 256 % m;
      const Tensors expected = node.run({a, weights}, {{2, m, 256}}, "gemm_f32", 1, 0);
      const Tensors actual = node.run({a, weights}, {{2, m, 256}}, "gemm_f32", 2, 2u);
      EXPECT_EQ(0, std::memcmp(actual[0]->data(), expected[0]->data(), expected[0]->bytes()))
          << nameOf(target) << " " << m;
    }
  });
}

// Weights packed for one target must not be used with another.
TEST(MatMul, PackedWeightsOfAnotherTargetAreNotUsed) {
  RandomTensors random(5);
  NodeUnderTest node("", "MatMul");
  const Tensors inputs = {random.floats({9, 20}), random.floats({20, 70})};
  const std::vector<const Tensor*> known = {nullptr, inputs[1].get()};
  const Tensors expected = node.run(inputs, {{9, 70}}, "reference");
  const CpuTarget before = cpuTarget();
  setCpuTargetForTest(CpuTarget::Baseline);
  const Ref<Prepared> packed = cpuOperators().find("", "MatMul")->prepare(*node, known);
  setCpuTargetForTest(before);
  node->prepared = packed;
  const std::vector<Operand> in = {{DType::Float32, {9, 20}, nullptr}, {DType::Float32, {20, 70}, inputs[1].get()}};
  const std::vector<Operand> out = {{DType::Float32, {9, 70}, nullptr}};
  const std::unique_ptr<OpKernel> kernel = cpuOperators().create({*node, in, out, 1}, "gemm_f32");
  Ref<Tensor> result = Tensor::allocate(DType::Float32, {9, 70});
  const void* sources[] = {inputs[0]->data(), inputs[1]->data()};
  void* targets[] = {result->mutableData()};
  const Ref<Storage> scratch = allocateStorage(kernel->scratchBytes());
  kernel->run({sources, targets, static_cast<std::byte*>(scratch->data()), 1});
  expectNear(*result, *expected[0], 1e-5f, "after the target changed");
}

}  // namespace
}  // namespace max
