// SPDX-License-Identifier: Apache-2.0
// Integer results are defined for all operands, and the same in every implementation and on every CPU target.
#include <limits>
#include <vector>

#include "op_harness.h"
#include "plain_words.h"

namespace max::test {
namespace {

const std::vector<DType> kIntegerTypes{DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                                       DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};

using Wide = __int128;

struct Range {
  Wide low, high;
};

Range rangeOf(DType dtype) {
  const Wide size = Wide{1} << bitsOf(dtype);
  return isSigned(dtype) ? Range{-size / 2, size / 2 - 1} : Range{0, size - 1};
}

// The value modulo two to the width.
Wide wrapped(DType dtype, Wide value) {
  const Range range = rangeOf(dtype);
  const Wide size = range.high - range.low + 1;
  const Wide rest = (value - range.low) % size;
  return range.low + (rest < 0 ? rest + size : rest);
}

Ref<Tensor> tensorOf(DType dtype, const std::vector<Wide>& values) {
  auto tensor = Tensor::allocate(dtype, {static_cast<int64_t>(values.size())});
  const size_t size = sizeOf(dtype);
  for (size_t i = 0; i < values.size(); ++i)  // little endian: a narrow integer is the first bytes of a wide one
    std::memcpy(static_cast<char*>(tensor->mutableData()) + i * size, &values[i], size);
  return tensor;
}

Wide valueAt(const Tensor& tensor, int64_t i) {
  const size_t size = sizeOf(tensor.dtype());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.as<char>() + static_cast<size_t>(i) * size, size);
  return wrapped(tensor.dtype(), static_cast<Wide>(bits));
}

// Modulo two to the 128th, as products of 64-bit numbers need.
Wide times(Wide a, Wide b) {
  return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}

// The ends of the range and what lies around zero.
std::vector<Wide> edgesOf(DType dtype) {
  const Range range = rangeOf(dtype);
  std::vector<Wide> values{range.low, range.low + 1, 0, 1, 2, 3, 7, range.high / 2, range.high - 1, range.high};
  if (range.low < 0) values.insert(values.end(), {-1, -2, -3, -7});
  return values;
}

struct Pairs {
  std::vector<Wide> left, right;
};

Pairs allPairs(DType dtype) {
  Pairs pairs;
  for (Wide a : edgesOf(dtype))
    for (Wide b : edgesOf(dtype)) {
      pairs.left.push_back(a);
      pairs.right.push_back(b);
    }
  return pairs;
}

using Operation = Wide (*)(DType dtype, Wide a, Wide b);

// Runs all implementations on all targets.
void expectEverywhere(const char* op, const Attributes& attributes, const std::vector<Ref<Tensor>>& inputs, DType dtype,
                      const std::vector<Wide>& expected) {
  LooseNode node(op, attributes);
  const OutputType type{dtype, {static_cast<int64_t>(expected.size())}};
  for (const Implementation& candidate : cpuOperators().find("", op)->implementations)
    forEachTarget([&] {
      KernelRun run;
      try {
        run = runOp(node.node(), inputs, {type}, candidate.name);
      } catch (const Error& error) {
        ASSERT_EQ(error.status(), MAX_STATUS_UNIMPLEMENTED) << error.message();  // not for this type
        return;
      }
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(valueAt(*run.outputs[0], static_cast<int64_t>(i)) == expected[i])
            << op << " " << nameOf(dtype) << " " << candidate.name << ": element " << i << " is "
            << static_cast<int64_t>(valueAt(*run.outputs[0], static_cast<int64_t>(i))) << ", not "
            << static_cast<int64_t>(expected[i]);
    });
}

void expectBinary(const char* op, const Attributes& attributes, Operation operation) {
  for (DType dtype : kIntegerTypes) {
    const Pairs pairs = allPairs(dtype);
    std::vector<Wide> expected;
    for (size_t i = 0; i < pairs.left.size(); ++i)
      expected.push_back(wrapped(dtype, operation(dtype, pairs.left[i], pairs.right[i])));
    expectEverywhere(op, attributes, {tensorOf(dtype, pairs.left), tensorOf(dtype, pairs.right)}, dtype, expected);
    // The divisor as one repeated value.
    for (Wide b : edgesOf(dtype)) {
      expected.clear();
      for (Wide a : edgesOf(dtype)) expected.push_back(wrapped(dtype, operation(dtype, a, b)));
      expectEverywhere(op, attributes, {tensorOf(dtype, edgesOf(dtype)), tensorOf(dtype, {b})}, dtype, expected);
    }
  }
}

void expectUnary(const char* op, Wide (*operation)(Wide)) {
  for (DType dtype : kIntegerTypes) {
    std::vector<Wide> expected;
    for (Wide a : edgesOf(dtype)) expected.push_back(wrapped(dtype, operation(a)));
    expectEverywhere(op, {}, {tensorOf(dtype, edgesOf(dtype))}, dtype, expected);
  }
}

Wide flooredRemainder(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

TEST(Integers, ArithmeticWraps) {
  expectBinary("Add", {}, [](DType, Wide a, Wide b) { return a + b; });
  expectBinary("Sub", {}, [](DType, Wide a, Wide b) { return a - b; });
  expectBinary("Mul", {}, [](DType, Wide a, Wide b) { return times(a, b); });
  expectUnary("Neg", [](Wide a) { return -a; });
  expectUnary("Abs", [](Wide a) { return a < 0 ? -a : a; });
}

// Of magnitudes up to e^most, and multiples of the divisor with what is next to them.
Pairs randomPairs(DType dtype, double most) {
  Random random(17);
  const Range range = rangeOf(dtype);
  const auto number = [&] {
    const auto size = static_cast<Wide>(std::exp(uniform(random, 0, most)));
    return range.low < 0 && uniform(random, 0, 1) < 0.5 ? wrapped(dtype, -size) : wrapped(dtype, size);
  };
  Pairs pairs;
  for (int i = 0; i < 1500; ++i) {
    const Wide divisor = number();
    const Wide dividend = i % 2 ? number() : wrapped(dtype, times(divisor, number() % 1000) + i / 2 % 3 - 1);
    pairs.left.push_back(dividend);
    pairs.right.push_back(divisor);
  }
  return pairs;
}

Pairs pairsOfBytes(DType dtype) {
  const Range range = rangeOf(dtype);
  Pairs pairs;
  for (Wide a = range.low; a <= range.high; ++a)
    for (Wide b = range.low; b <= range.high; ++b) {
      pairs.left.push_back(a);
      pairs.right.push_back(b);
    }
  return pairs;
}

// In bytes, of which all pairs are computed.
void expectOfBytes(const Attributes& attributes, const char* op, Operation operation) {
  for (const DType dtype : {DType::Int8, DType::UInt8}) {
    const Pairs pairs = pairsOfBytes(dtype);
    std::vector<Wide> expected;
    for (size_t i = 0; i < pairs.left.size(); ++i)
      expected.push_back(wrapped(dtype, operation(dtype, pairs.left[i], pairs.right[i])));
    expectEverywhere(op, attributes, {tensorOf(dtype, pairs.left), tensorOf(dtype, pairs.right)}, dtype, expected);
  }
}

void expectOfRandomPairs(const Attributes& attributes, const char* op, Operation operation) {
  for (size_t row = 0; row < 3 * kIntegerTypes.size(); ++row) {
    const DType dtype = kIntegerTypes[row / 3];
    const Pairs pairs = randomPairs(dtype, row % 3 == 0 ? 7 : row % 3 == 1 ? 15 : 44);  // short ones alone, too
    std::vector<Wide> expected;
    for (size_t i = 0; i < pairs.left.size(); ++i)
      expected.push_back(wrapped(dtype, operation(dtype, pairs.left[i], pairs.right[i])));
    expectEverywhere(op, attributes, {tensorOf(dtype, pairs.left), tensorOf(dtype, pairs.right)}, dtype, expected);
    // One divisor for all.
    for (size_t k = 0; k < 8; ++k) {
      const Wide divisor = pairs.right[k];
      for (size_t i = 0; i < pairs.left.size(); ++i)
        expected[i] = wrapped(dtype, operation(dtype, pairs.left[i], divisor));
      expectEverywhere(op, attributes, {tensorOf(dtype, pairs.left), tensorOf(dtype, {divisor})}, dtype, expected);
    }
  }
}

TEST(Integers, DivisionOfAllMagnitudes) {
  expectOfRandomPairs({}, "Div", [](DType, Wide a, Wide b) { return b == 0 ? 0 : a / b; });
  expectOfRandomPairs({}, "Mod", [](DType, Wide a, Wide b) { return flooredRemainder(a, b); });
  expectOfRandomPairs(with({{"fmod", int64_t{1}}}), "Mod", [](DType, Wide a, Wide b) { return b == 0 ? 0 : a % b; });
}

TEST(Integers, DivisionOfAllBytes) {
  expectOfBytes({}, "Div", [](DType, Wide a, Wide b) { return b == 0 ? 0 : a / b; });
  expectOfBytes({}, "Mod", [](DType, Wide a, Wide b) { return flooredRemainder(a, b); });
  expectOfBytes(with({{"fmod", int64_t{1}}}), "Mod", [](DType, Wide a, Wide b) { return b == 0 ? 0 : a % b; });
}

TEST(Integers, DivisionIsDefined) {
  expectBinary("Div", {}, [](DType, Wide a, Wide b) { return b == 0 ? 0 : a / b; });
  expectBinary("Mod", {}, [](DType, Wide a, Wide b) { return flooredRemainder(a, b); });
  expectBinary("Mod", with({{"fmod", int64_t{1}}}), [](DType, Wide a, Wide b) { return b == 0 ? 0 : a % b; });
}

bool isOut(DType dtype, Wide shift) { return shift < 0 || shift >= static_cast<Wide>(bitsOf(dtype)); }

TEST(Integers, ShiftsByMoreThanTheWidth) {
  expectBinary("BitShift", with({{"direction", std::string("LEFT")}}),
               [](DType dtype, Wide a, Wide b) { return isOut(dtype, b) ? 0 : times(a, Wide{1} << b); });
  expectBinary("BitShift", with({{"direction", std::string("RIGHT")}}),
               [](DType dtype, Wide a, Wide b) { return isOut(dtype, b) ? (a < 0 ? Wide{-1} : Wide{0}) : a >> b; });
}

TEST(Integers, ComparisonsAndExtremes) {
  expectBinary("Max", {}, [](DType, Wide a, Wide b) { return a > b ? a : b; });
  expectBinary("Min", {}, [](DType, Wide a, Wide b) { return a < b ? a : b; });
  expectBinary("BitwiseAnd", {}, [](DType, Wide a, Wide b) { return a & b; });
  expectBinary("BitwiseXor", {}, [](DType, Wide a, Wide b) { return a ^ b; });
}

TEST(Integers, NarrowingDropsBits) {
  for (DType from : kIntegerTypes)
    for (DType to : kIntegerTypes) {
      std::vector<Wide> expected;
      for (Wide a : edgesOf(from)) expected.push_back(wrapped(to, a));
      expectEverywhere("Cast", with({{"to", onnxFromDType(to)}}), {tensorOf(from, edgesOf(from))}, to, expected);
    }
}

TEST(Integers, FloatsThatDoNotFitBecomeTheNearestLimit) {
  const double values[] = {NAN,   INFINITY, -INFINITY, 1e30, -1e30, 0.9,   -0.9,
                           127.5, -128.5,   3e9,       -3e9, 1e19,  -1e19, 2e19};
  for (DType from : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16})
    for (DType to : kIntegerTypes) {
      const auto x = Tensor::allocate(from, {std::size(values)});
      std::vector<Wide> expected;
      for (int64_t i = 0; i < x->count(); ++i) {
        storeNumber(x->mutableData(), i, from, values[i]);
        const double stored = numberAt(*x, i);
        const Range range = rangeOf(to);
        if (std::isnan(stored))
          expected.push_back(0);
        else if (stored >= static_cast<double>(range.high))
          expected.push_back(range.high);
        else
          expected.push_back(stored <= static_cast<double>(range.low) ? range.low : static_cast<Wide>(stored));
      }
      expectEverywhere("Cast", with({{"to", onnxFromDType(to)}}), {x}, to, expected);
    }
}

TEST(Integers, SumsAndProductsOfManyWrap) {
  for (DType dtype : kIntegerTypes) {
    const std::vector<Wide> edges = edgesOf(dtype);
    Wide sum = 0, product = 1, running = 0;
    std::vector<Wide> sums;
    for (Wide a : edges) {
      sum = wrapped(dtype, sum + a);
      product = wrapped(dtype, times(product, a));
      running = wrapped(dtype, running + a);
      sums.push_back(running);
    }
    const auto x = tensorOf(dtype, edges);
    const auto axes = Tensor::of<int64_t>(DType::Int64, {1}, {0});
    expectEverywhere("ReduceSum", {}, {x, axes}, dtype, {sum});
    expectEverywhere("ReduceProd", {}, {x, axes}, dtype, {product});
    expectEverywhere("CumSum", {}, {x, Tensor::of<int64_t>(DType::Int64, {}, {0})}, dtype, sums);
  }
}

// Matrix products of integers: the low bits of the exact sum.
TEST(Integers, MatrixProductsWrap) {
  for (DType dtype : kIntegerTypes) {
    const std::vector<Wide> edges = edgesOf(dtype);
    Wide sum = 0;
    for (Wide a : edges) sum = wrapped(dtype, sum + wrapped(dtype, times(a, a)));
    const auto x = tensorOf(dtype, edges);
    expectEverywhere("MatMul", {}, {x->reshaped({1, x->count()}), x->reshaped({x->count(), 1})}, dtype, {sum});
  }
}

// Products of bytes with zero points of both factors, for all of a matrix or for each row and column.
TEST(Integers, ProductsOfBytesAreExact) {
  const auto check = [] {
    Random random(1);
    uint32_t count = 0;
    for (const DType a : {DType::UInt8, DType::Int8})
      for (const DType b : {DType::UInt8, DType::Int8})
        for (const int64_t columns : {1, 4, 33, 64, 81, 196})
          for (const int64_t depth : {1, 16, 49, 130}) {
            const int64_t rows = 1 + 13 * (count++ % 3);
            const auto bytes = [&](DType dtype, const Shape& shape) {
              return randomTensor(random, dtype, shape, dtype == DType::Int8 ? -128 : 0,
                                  dtype == DType::Int8 ? 127 : 255);
            };
            const auto scale = [&](double number) { return randomTensor(random, DType::Float32, {}, number, number); };
            const Ref<Tensor> x = bytes(a, {2, rows, depth}), y = bytes(b, {2, depth, columns});
            const Ref<Tensor> xZero = bytes(a, {}), yZero = bytes(b, {});
            const auto compare = [&](std::string_view op, const std::vector<Ref<Tensor>>& inputs, DType result) {
              LooseNode node(op, Attributes());
              const Shape& left = inputs[0]->shape();
              const std::vector<OutputType> outputs{
                  {result, left.rank() == 3 ? Shape{2, rows, columns} : Shape{rows, columns}}};
              const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
              const Ref<Tensor> actual = runOp(node.node(), inputs, outputs, "gemm_int8").outputs[0];
              expectClose(*actual, *expected, 0, concat(op, " ", rows, " x ", depth, " x ", columns));
            };
            compare("QLinearMatMul", {x, scale(0.02), xZero, y, scale(0.01), yZero, scale(0.4), bytes(a, {})}, a);
            compare("MatMulInteger", {x, y, xZero, yZero}, DType::Int32);
            compare("MatMulInteger",
                    {bytes(a, {rows, depth}), bytes(b, {depth, columns}), bytes(a, {rows}), bytes(b, {columns})},
                    DType::Int32);
          }
  };
  forEachTarget(check);
  withEmulatedTiles([&](const EmulatedTables&) { check(); });
}

// Quotients next to half an integer round as division says, whatever computes them.
TEST(Integers, QuotientsRoundToNearest) {
  Random random(1);
  forEachTarget([&] {
    for (const DType dtype : {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16})
      for (const double power : {-130., -30., -4., 0., 30., 110.}) {
        const Ref<Tensor> scale = randomTensor(random, DType::Float32, {}, std::exp2(power), std::exp2(power + 1));
        const Ref<Tensor> x = randomTensor(random, DType::Float32, {3, 333}, -300, 300);
        auto* numbers = static_cast<float*>(x->mutableData());
        for (int64_t i = 0; i < x->count(); ++i) {
          const float tie = (std::floor(numbers[i]) + 0.5f) * *scale->as<float>();
          numbers[i] = i % 3 == 0 ? tie : std::nextafter(tie, i % 3 == 1 ? -INFINITY : INFINITY);
        }
        LooseNode node("QuantizeLinear", Attributes());
        const std::vector<Ref<Tensor>> inputs{x, scale, randomTensor(random, dtype, {}, 0, 100)};
        const std::vector<OutputType> outputs{{dtype, x->shape()}};
        const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
        expectClose(*runOp(node.node(), inputs, outputs, "f32").outputs[0], *expected, 0, concat("2^", power));
      }
  });
}

// With scales along an axis: runs of equal ones of any length, and elements with a scale each.
TEST(Integers, EachRunHasItsScale) {
  Random random(2);
  forEachTarget([&] {
    for (const DType dtype : {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16})
      for (const int64_t run : {1, 16, 17, 31, 32, 33, 63, 64, 100}) {
        const int64_t size = run == 1 ? 300 : 5;
        Attributes attributes;
        attributes.set("axis", int64_t{1});
        LooseNode node("QuantizeLinear", attributes);
        const Ref<Tensor> scale = randomTensor(random, DType::Float32, {size}, 0.01, 2);
        const std::vector<Ref<Tensor>> inputs{randomTensor(random, DType::Float32, {7, size, run}, -300, 300), scale,
                                              randomTensor(random, dtype, {size}, 0, 100)};
        const std::vector<OutputType> outputs{{dtype, {7, size, run}}};
        const Ref<Tensor> expected = runOp(node.node(), inputs, outputs, "reference").outputs[0];
        const char* name = run == 1 ? "tiles" : "f32";
        expectClose(*runOp(node.node(), inputs, outputs, name).outputs[0], *expected, 0, concat("runs of ", run));
      }
  });
}

// Each byte finds its own entry of a table, wherever it lies in a vector and however many follow.
TEST(Integers, TablesMapEachByte) {
  Random random(1);
  const Ref<Tensor> table = randomTensor(random, DType::UInt8, {256}, 0, 255.9);
  forEachTarget([&] {
    for (const int64_t count : {1, 31, 32, 63, 64, 65, 100, 256 * 3 + 7}) {
      const Ref<Tensor> x = Tensor::allocate(DType::UInt8, {count});
      auto* bytes = static_cast<uint8_t*>(x->mutableData());
      for (int64_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 3);
      LooseNode node(kMaxDomain, "MapBytes", Attributes());
      const Ref<Tensor> y = runOp(node.node(), {x, table}, {{DType::UInt8, {count}}}, "bytes").outputs[0];
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(y->as<uint8_t>()[i], table->as<uint8_t>()[bytes[i]]) << "byte " << i << " of " << count;
    }
  });
}

}  // namespace
}  // namespace max::test
