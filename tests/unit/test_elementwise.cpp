// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "op_harness.h"
#include "ops/cpu/elementwise/elementwise.h"
#include "ops/cpu/elementwise/table.h"

namespace max {
namespace {

using namespace test;

ElementwiseBuilder::Id append(ElementwiseBuilder& builder, LooseNode& node,
                              const std::vector<ElementwiseBuilder::Id>& operands) {
  return builder.append(*node.node().schema, node.node().attributes, operands);
}

constexpr DType kFloats[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16};
constexpr DType kIntegers[] = {DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                               DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
constexpr DType kAll[] = {DType::Bool,     DType::Int8,    DType::Int16,  DType::Int32,  DType::Int64,
                          DType::UInt8,    DType::UInt16,  DType::UInt32, DType::UInt64, DType::Float16,
                          DType::BFloat16, DType::Float32, DType::Float64};

// What an operator is tested on.
struct Case {
  const char* op;
  size_t inputs;
  enum Types { Floats, Numbers, Integers, Unsigned, Logical } types;
  bool comparison = false;
  double low = -4, high = 4;
  Attributes attributes = {};
};

std::vector<DType> typesOf(Case::Types types) {
  std::vector<DType> result;
  if (types == Case::Logical) return {DType::Bool};
  if (types == Case::Floats || types == Case::Numbers)
    result.insert(result.end(), std::begin(kFloats), std::end(kFloats));
  if (types == Case::Integers || types == Case::Numbers)
    result.insert(result.end(), std::begin(kIntegers), std::end(kIntegers));
  if (types == Case::Unsigned) return {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
  return result;
}

std::vector<Case> cases() {
  return {
      {"Abs", 1, Case::Numbers},
      {"Acos", 1, Case::Floats, false, -1, 1},
      {"Acosh", 1, Case::Floats, false, 1, 4},
      {"Add", 2, Case::Numbers},
      {"And", 2, Case::Logical},
      {"Asin", 1, Case::Floats, false, -1, 1},
      {"Asinh", 1, Case::Floats},
      {"Atan", 1, Case::Floats},
      {"Atanh", 1, Case::Floats, false, -0.9, 0.9},
      {"BitShift", 2, Case::Unsigned, false, 0, 8, with({{"direction", std::string("LEFT")}})},
      {"BitShift", 2, Case::Unsigned, false, 0, 8, with({{"direction", std::string("RIGHT")}})},
      {"BitwiseAnd", 2, Case::Integers, false, -100, 100},
      {"BitwiseNot", 1, Case::Integers, false, -100, 100},
      {"BitwiseOr", 2, Case::Integers, false, -100, 100},
      {"BitwiseXor", 2, Case::Integers, false, -100, 100},
      {"Ceil", 1, Case::Floats},
      {"Celu", 1, Case::Floats, false, -4, 4, with({{"alpha", 1.5f}})},
      {"Clip", 3, Case::Numbers},
      {"Cos", 1, Case::Floats, false, -40, 40},
      {"Cosh", 1, Case::Floats},
      {"Div", 2, Case::Floats, false, 0.5, 4},
      {"Div", 2, Case::Integers, false, 1, 100},
      {"Elu", 1, Case::Floats, false, -4, 4, with({{"alpha", 0.7f}})},
      {"Equal", 2, Case::Numbers, true},
      {"Erf", 1, Case::Floats},
      {"Exp", 1, Case::Floats},
      {"Floor", 1, Case::Floats},
      {"Gelu", 1, Case::Floats},
      {"Gelu", 1, Case::Floats, false, -4, 4, with({{"approximate", std::string("tanh")}})},
      {"Greater", 2, Case::Numbers, true},
      {"GreaterOrEqual", 2, Case::Numbers, true},
      {"HardSigmoid", 1, Case::Floats},
      {"HardSwish", 1, Case::Floats, false, -6, 6},
      {"LeakyRelu", 1, Case::Floats, false, -4, 4, with({{"alpha", 0.3f}})},
      {"Less", 2, Case::Numbers, true},
      {"LessOrEqual", 2, Case::Numbers, true},
      {"Log", 1, Case::Floats, false, 0.01, 50},
      {"Max", 3, Case::Numbers},
      {"Mean", 3, Case::Floats},
      {"Min", 2, Case::Numbers},
      {"Mish", 1, Case::Floats, false, -10, 30},
      {"Mod", 2, Case::Integers, false, 1, 100},
      {"Mod", 2, Case::Floats, false, 0.5, 4, with({{"fmod", int64_t{1}}})},
      {"Mul", 2, Case::Numbers},
      {"Neg", 1, Case::Numbers},
      {"Not", 1, Case::Logical},
      {"Or", 2, Case::Logical},
      {"PRelu", 2, Case::Floats},
      {"Pow", 2, Case::Floats, false, 0.5, 3},
      {"Reciprocal", 1, Case::Floats, false, 0.5, 4},
      {"Relu", 1, Case::Numbers},
      {"Round", 1, Case::Floats},
      {"Selu", 1, Case::Floats},
      {"Shrink", 1, Case::Floats, false, -2, 2, with({{"lambd", 0.5f}, {"bias", 0.25f}})},
      {"Sigmoid", 1, Case::Floats, false, -20, 20},
      {"Sign", 1, Case::Numbers},
      {"Sin", 1, Case::Floats, false, -40, 40},
      {"Sinh", 1, Case::Floats},
      {"Softplus", 1, Case::Floats, false, -30, 30},
      {"Softsign", 1, Case::Floats},
      {"Sqrt", 1, Case::Floats, false, 0, 50},
      {"Sub", 2, Case::Numbers},
      {"Sum", 3, Case::Floats},
      {"Swish", 1, Case::Floats, false, -4, 4, with({{"alpha", 1.7f}})},
      {"Tan", 1, Case::Floats, false, -1.4, 1.4},
      {"Tanh", 1, Case::Floats, false, -10, 10},
      {"ThresholdedRelu", 1, Case::Floats, false, -4, 4, with({{"alpha", 0.6f}})},
      {"Xor", 2, Case::Logical},
  };
}

void checkCase(const Case& test, DType dtype, Random& random, int lanes) {
  LooseNode node(test.op, test.attributes);
  Shape output;
  std::vector<Ref<Tensor>> inputs;
  const bool isClip = test.op == std::string_view("Clip");  // its limits are scalars
  for (const Shape& shape : randomBroadcast(random, test.inputs, output))
    inputs.push_back(randomTensor(random, dtype, isClip && !inputs.empty() ? Shape{} : shape, test.low, test.high));
  const std::vector<OutputType> type = {{test.comparison ? DType::Bool : dtype, output}};
  const bool inPlace = random() % 2, constants = random() % 2;
  const KernelRun expected = runOp(node.node(), inputs, type, "reference");
  const KernelRun actual = runOp(node.node(), inputs, type, "elementwise", lanes, constants, inPlace);
  expectClose(*actual.outputs[0], *expected.outputs[0], toleranceOf(dtype),
              concat(test.op, " ", dtype, " ", output, inPlace ? " in place" : ""));
}

TEST(Elementwise, OperatorsAgreeWithReference) {
  forEachTarget([] {
    Random random(7);
    for (const Case& test : cases())
      for (DType dtype : typesOf(test.types))
        for (int round = 0; round < 12; ++round) checkCase(test, dtype, random, 1 + round % 3);
  });
}

TEST(Elementwise, LargeTensorsOnManyLanes) {
  Random random(3);
  LooseNode add("Add"), mul("Mul");
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{300007}, {300007}},
                                                                 {{300007}, {}},
                                                                 {{700, 513}, {513}},
                                                                 {{700, 513}, {700, 1}},
                                                                 {{9000, 33}, {33}},
                                                                 {{9000, 33}, {9000, 1}},
                                                                 {{3, 64, 900}, {64, 1}},
                                                                 {{3, 5, 7, 1100}, {5, 1, 1100}},
                                                                 {{40, 3, 41, 17}, {3, 1, 17}}}) {
    const std::vector<Ref<Tensor>> inputs = {randomTensor(random, DType::Float32, a),
                                             randomTensor(random, DType::Float32, b)};
    for (Node* node : {&add.node(), &mul.node()}) {
      const auto expected = runOp(*node, inputs, {{DType::Float32, a}}, "reference");
      for (int lanes : {1, 2, 4}) {
        const auto actual = runOp(*node, inputs, {{DType::Float32, a}}, "elementwise", lanes, false, lanes == 2);
        expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, concat(a, " and ", b));
      }
    }
  }
}

// Blocks gather rows, repeat what they gathered, and find it where the block before left it.
TEST(Elementwise, BothOperandsBroadcast) {
  Random random(5);
  LooseNode add("Add");
  for (const auto& [a, b, output] :
       std::vector<std::tuple<Shape, Shape, Shape>>{{{6, 1, 50}, {1, 60, 50}, {6, 60, 50}},
                                                    {{9, 50}, {1, 50}, {9, 50}},
                                                    {{7, 150, 1}, {7, 1, 3}, {7, 150, 3}},
                                                    {{5, 45, 1}, {5, 1, 40}, {5, 45, 40}},
                                                    {{3, 1, 8, 1, 60}, {1, 6, 1, 9, 60}, {3, 6, 8, 9, 60}},
                                                    {{2, 1, 3, 1, 5}, {1, 70, 1, 9, 1}, {2, 70, 3, 9, 5}}})
    for (const DType dtype : {DType::Float32, DType::Int64, DType::UInt8, DType::Int16}) {
      const std::vector<Ref<Tensor>> inputs = {randomTensor(random, dtype, a, 0, 100),
                                               randomTensor(random, dtype, b, 0, 100)};
      const auto expected = runOp(add.node(), inputs, {{dtype, output}}, "reference");
      for (const int lanes : {1, 3}) {
        const auto actual = runOp(add.node(), inputs, {{dtype, output}}, "elementwise", lanes);
        expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(dtype, " ", a, " and ", b));
      }
    }
}

// So large that results are stored past the caches.
TEST(Elementwise, StreamedResults) {
  const auto ramp = [](const Shape& shape, int period) {
    auto tensor = Tensor::allocate(DType::Float32, shape);
    auto* values = static_cast<float*>(tensor->mutableData());
    for (int64_t i = 0; i < tensor->count(); ++i) values[i] = static_cast<float>(i % period - 40);
    return tensor;
  };
  for (const Shape& shape : {Shape{(4 << 20) + 5}, Shape{4099, 1024}, Shape{4100, 1031}}) {
    const auto x = ramp(shape, 83), y = ramp(shape, 97), r = ramp({shape.back()}, 89);
    const auto expected = Tensor::allocate(DType::Float32, shape);
    for (int64_t i = 0; i < x->count(); ++i) {
      const float u = x->as<float>()[i], sum = u * y->as<float>()[i] + r->as<float>()[i % shape.back()];
      static_cast<float*>(expected->mutableData())[i] = sum * u;
    }
    forEachTarget([&] {
      ElementwiseBuilder builder;
      LooseNode add("Add"), mul("Mul"), fused("max", "Elementwise");
      const auto a = builder.input(DType::Float32), b = builder.input(DType::Float32),
                 c = builder.input(DType::Float32);
      builder.output(append(builder, mul, {append(builder, add, {append(builder, mul, {a, b}), c}), a}));
      fused.node().prepared = builder.finish();
      const auto result = runOp(fused.node(), {x, y, r}, {{DType::Float32, shape}}, "elementwise", 2).outputs[0];
      ASSERT_EQ(std::memcmp(result->data(), expected->data(), expected->bytes()), 0) << concat(shape);
    });
  }
}

TEST(Elementwise, CastsAgreeWithReference) {
  Random random(5);
  for (DType from : kAll)
    for (DType to : kAll) {
      LooseNode node("Cast", with({{"to", onnxFromDType(to)}}));
      const auto input = randomTensor(random, from, {37}, -3.9, 100);
      const auto expected = runOp(node.node(), {input}, {{to, {37}}}, "reference");
      const auto actual = runOp(node.node(), {input}, {{to, {37}}}, "elementwise");
      // Negative numbers to unsigned types: the reference wraps or saturates, both are allowed.
      if (!isFloat(to) && !isSigned(to) && to != DType::Bool && (isFloat(from) || isSigned(from))) continue;
      expectClose(*actual.outputs[0], *expected.outputs[0], 1e-12, concat(from, " to ", to));
    }
}

// Every half and bfloat16, and floats around the values where rounding decides.
TEST(Elementwise, HalfPrecisionRoundsToNearestEven) {
  forEachTarget([] {
    for (DType dtype : {DType::Float16, DType::BFloat16}) {
      LooseNode widen("Cast", with({{"to", onnxFromDType(DType::Float32)}}));
      LooseNode narrow("Cast", with({{"to", onnxFromDType(dtype)}}));
      auto bits = Tensor::allocate(dtype, {65536});
      for (int i = 0; i < 65536; ++i) static_cast<uint16_t*>(bits->mutableData())[i] = static_cast<uint16_t>(i);
      const auto wide = runOp(widen.node(), {bits}, {{DType::Float32, {65536}}}, "elementwise").outputs[0];
      for (int i = 0; i < 65536; ++i) {
        const float expected = dtype == DType::Float16 ? floatFromHalf(static_cast<uint16_t>(i))
                                                       : floatFromBFloat16(static_cast<uint16_t>(i));
        const float value = wide->as<float>()[i];
        ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected))) << i;
      }
      auto between = Tensor::allocate(DType::Float32, {65537});
      float* x = static_cast<float*>(between->mutableData());
      for (int i = 0; i < 65537; ++i) {
        const float low = wide->as<float>()[i % 65536], high = wide->as<float>()[(i + 1) % 65536];
        x[i] = i % 3 == 0 ? low : i % 3 == 1 ? (low + high) / 2 : std::nextafter((low + high) / 2, high);
      }
      const auto rounded = runOp(narrow.node(), {between}, {{dtype, {65537}}}, "elementwise").outputs[0];
      for (int i = 0; i < 65537; ++i) {
        const uint16_t actual = rounded->as<uint16_t>()[i];
        if (std::isnan(x[i])) {
          ASSERT_TRUE(std::isnan(numberAt(*rounded, i)));
        } else {
          ASSERT_EQ(actual, dtype == DType::Float16 ? halfFromFloat(x[i]) : bfloat16FromFloat(x[i])) << x[i];
        }
      }
    }
  });
}

TEST(Elementwise, CastSaturatesAndTakesNanAsZero) {
  LooseNode node("Cast", with({{"to", onnxFromDType(DType::Int8)}}));
  const auto input = Tensor::of<float>(DType::Float32, {6}, {1e20f, -1e20f, NAN, 126.9f, -128.9f, HUGE_VALF});
  const auto run = runOp(node.node(), {input}, {{DType::Int8, {6}}}, "elementwise");
  const std::vector<int> expected = {127, -128, 0, 126, -128, 127};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(run.outputs[0]->as<int8_t>()[i], expected[static_cast<size_t>(i)]);
}

TEST(Elementwise, FloatsBecomeIntegersOfAllSizes) {
  std::vector<float> x = {NAN,
                          HUGE_VALF,
                          -HUGE_VALF,
                          2147483648.f,
                          2147483520.f,
                          -2147483648.f,
                          -2147483904.f,
                          9.3e18f,
                          9223371487098961920.f,
                          -9.3e18f,
                          -9223372036854775808.f,
                          0.9f,
                          -0.9f,
                          -1.f,
                          1e-40f};
  Random random(21);
  for (int i = 0; i < 500; ++i) x.push_back(static_cast<float>(std::exp(uniform(random, -2, 50)) * (i % 2 ? -1 : 1)));
  const Shape shape{static_cast<int64_t>(x.size())};
  const auto input = Tensor::copyOf(DType::Float32, shape, x.data());
  const auto saturated = [](float value, double low, double end) {
    return std::isnan(value) ? 0.0 : std::clamp(std::trunc(static_cast<double>(value)), low, end);
  };
  LooseNode to32("Cast", with({{"to", onnxFromDType(DType::Int32)}}));
  LooseNode to64("Cast", with({{"to", onnxFromDType(DType::Int64)}}));
  LooseNode toUnsigned("Cast", with({{"to", onnxFromDType(DType::UInt8)}}));
  LooseNode toSigned("Cast", with({{"to", onnxFromDType(DType::Int8)}}));
  LooseNode toShort("Cast", with({{"to", onnxFromDType(DType::Int16)}}));
  forEachTarget([&] {
    const auto unsignedBytes = runOp(toUnsigned.node(), {input}, {{DType::UInt8, shape}}, "elementwise").outputs[0];
    const auto signedBytes = runOp(toSigned.node(), {input}, {{DType::Int8, shape}}, "elementwise").outputs[0];
    const auto shorts = runOp(toShort.node(), {input}, {{DType::Int16, shape}}, "elementwise").outputs[0];
    const auto words = runOp(to32.node(), {input}, {{DType::Int32, shape}}, "elementwise").outputs[0];
    const auto longs = runOp(to64.node(), {input}, {{DType::Int64, shape}}, "elementwise").outputs[0];
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(unsignedBytes->as<uint8_t>()[i], static_cast<uint8_t>(saturated(x[i], 0, 255))) << x[i];
      EXPECT_EQ(signedBytes->as<int8_t>()[i], static_cast<int8_t>(saturated(x[i], -128, 127))) << x[i];
      EXPECT_EQ(shorts->as<int16_t>()[i], static_cast<int16_t>(saturated(x[i], -32768, 32767))) << x[i];
      EXPECT_EQ(words->as<int32_t>()[i], static_cast<int32_t>(saturated(x[i], -0x1p31, 0x1p31 - 1))) << x[i];
      const double exact = saturated(x[i], -0x1p63, 0x1p63);
      EXPECT_EQ(longs->as<int64_t>()[i], exact < 0x1p63 ? static_cast<int64_t>(exact) : INT64_MAX) << x[i];
    }
  });
}

// Of all sizes, and what is no number, against long double.
TEST(Elementwise, FunctionsOfDoubles) {
  struct Function {
    const char* op;
    long double (*exact)(long double);
  };
  const Function functions[] = {{"Exp", [](long double x) { return std::exp(x); }},
                                {"Log", [](long double x) { return std::log(x); }},
                                {"Tanh", [](long double x) { return std::tanh(x); }},
                                {"Sigmoid", [](long double x) { return 1 / (1 + std::exp(-x)); }},
                                {"Sin", [](long double x) { return std::sin(x); }},
                                {"Cos", [](long double x) { return std::cos(x); }}};
  std::vector<double> x = {0.,    -0.,  1.,    -1.,   1 + 1e-9, 1 - 1e-9, 5e-324, 1e-310,
                           709.7, 710., -708., -745., -800.,    1e308,    -1e308, 29999.5};
  for (const double odd : {HUGE_VAL, -HUGE_VAL, std::nan("")})
    for (int i = 0; i < 9; ++i) x.push_back(i == 4 ? odd : 0.25 * i);
  Random random(31);
  for (int i = 0; i < 3000; ++i) x.push_back(std::exp(uniform(random, -12, 9)) * (i % 2 ? 1 : -1));
  const Shape shape{static_cast<int64_t>(x.size())};
  const auto input = Tensor::copyOf(DType::Float64, shape, x.data());
  forEachTarget([&] {
    for (const Function& test : functions) {
      LooseNode node(test.op);
      const auto result = runOp(node.node(), {input}, {{DType::Float64, shape}}, "elementwise").outputs[0];
      for (size_t i = 0; i < x.size(); ++i) {
        const double y = result->as<double>()[i], exact = static_cast<double>(test.exact(x[i]));
        const bool isWave = test.op == std::string_view("Sin") || test.op == std::string_view("Cos");
        const bool isNear =
            std::fabs(y - exact) <= 1e-15 * (isWave ? 1 : std::fabs(exact)) + std::numeric_limits<double>::min();
        ASSERT_TRUE(isNear || y == exact || (std::isnan(y) && std::isnan(exact)))
            << test.op << " " << x[i] << ": " << y;
      }
    }
  });
}

TEST(Elementwise, WhereSelectsForAllTypes) {
  forEachTarget([] {
    Random random(11);
    for (DType dtype : kAll)
      for (int round = 0; round < 6; ++round) {
        LooseNode node("Where");
        Shape output;
        const auto shapes = randomBroadcast(random, 3, output);
        const std::vector<Ref<Tensor>> inputs = {randomTensor(random, DType::Bool, shapes[0]),
                                                 randomTensor(random, dtype, shapes[1]),
                                                 randomTensor(random, dtype, shapes[2])};
        const auto expected = runOp(node.node(), inputs, {{dtype, output}}, "reference");
        const auto actual = runOp(node.node(), inputs, {{dtype, output}}, "elementwise");
        expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(dtype, output));
      }
  });
}

template <class T>
std::vector<T> binary(const char* op, DType dtype, std::initializer_list<T> a, std::initializer_list<T> b,
                      Attributes attributes = {}) {
  LooseNode node(op, std::move(attributes));
  const Shape shape{static_cast<int64_t>(a.size())};
  const KernelRun run = runOp(node.node(), {Tensor::of<T>(dtype, shape, a), Tensor::of<T>(dtype, shape, b)},
                              {{dtype, shape}}, "elementwise");
  const Tensor& output = *run.outputs[0];
  const std::span<const T> values = output.values<T>();
  return {values.begin(), values.end()};
}

TEST(Elementwise, IntegerDivisionIsDefinedEverywhere) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(binary<int32_t>("Div", DType::Int32, {7, -7, 5, kMin, 0}, {2, 2, 0, -1, 0}),
            (std::vector<int32_t>{3, -3, 0, kMin, 0}));
  EXPECT_EQ(binary<int32_t>("Mod", DType::Int32, {7, -7, 7, -7, 5, kMin}, {3, 3, -3, -3, 0, -1}),
            (std::vector<int32_t>{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ(binary<int32_t>("Mod", DType::Int32, {-7, 7}, {3, -3}, with({{"fmod", int64_t{1}}})),
            (std::vector<int32_t>{-1, 1}));
  EXPECT_EQ(binary<int32_t>("Mul", DType::Int32, {kMin, 1 << 30}, {-1, 4}), (std::vector<int32_t>{kMin, 0}));
  EXPECT_EQ(binary<int16_t>("Mul", DType::Int16, {-32768, 300}, {-32768, 300}), (std::vector<int16_t>{0, 24464}));
  EXPECT_EQ(binary<int64_t>("Pow", DType::Int64, {2, -3, 2, -1}, {10, 3, -1, -3}),
            (std::vector<int64_t>{1024, -27, 0, -1}));
  EXPECT_EQ(binary<uint32_t>("BitShift", DType::UInt32, {1, 1}, {31, 32}, with({{"direction", std::string("LEFT")}})),
            (std::vector<uint32_t>{1u << 31, 0}));
}

// Of numbers up to those that vectors of float and double have, next to multiples of the divisor.
template <class T>
void checkQuotients(DType dtype, int bits) {
  Random random(17);
  std::vector<T> x, y;
  for (int i = 0; i < 20000; ++i) {
    const auto divisor = static_cast<T>(std::exp2(uniform(random, 0, bits))) * (i % 2 ? 1 : -1);
    const auto quotient = static_cast<T>(std::exp2(uniform(random, 0, bits)) / static_cast<double>(std::abs(divisor)));
    x.push_back((divisor * quotient + i / 4 % 3 - 1) * (i / 2 % 2 ? 1 : -1));
    y.push_back(divisor);
  }
  LooseNode div("Div"), mod("Mod"), rest("Mod", with({{"fmod", int64_t{1}}}));
  const Shape shape{static_cast<int64_t>(x.size())};
  const std::vector<Ref<Tensor>> inputs = {Tensor::copyOf(dtype, shape, x.data()),
                                           Tensor::copyOf(dtype, shape, y.data())};
  forEachTarget([&] {
    const auto quotients = runOp(div.node(), inputs, {{dtype, shape}}, "elementwise").outputs[0];
    const auto modulos = runOp(mod.node(), inputs, {{dtype, shape}}, "elementwise").outputs[0];
    const auto rests = runOp(rest.node(), inputs, {{dtype, shape}}, "elementwise").outputs[0];
    for (size_t i = 0; i < x.size(); ++i) {
      const T remainder = x[i] % y[i],
              modulo = remainder != 0 && (remainder < 0) != (y[i] < 0) ? remainder + y[i] : remainder;
      ASSERT_EQ(quotients->as<T>()[i], x[i] / y[i]) << x[i] << " by " << y[i];
      ASSERT_EQ(rests->as<T>()[i], remainder) << x[i] << " by " << y[i];
      ASSERT_EQ(modulos->as<T>()[i], modulo) << x[i] << " by " << y[i];
    }
  });
}

TEST(Elementwise, QuotientsOfIntegersAreExact) {
  for (const int bits : {20, 21, 30}) checkQuotients<int32_t>(DType::Int32, bits);
  for (const int bits : {46, 47, 60}) checkQuotients<int64_t>(DType::Int64, bits);
}

float unary(const char* op, float x) {
  LooseNode node(op);
  const auto run =
      runOp(node.node(), {Tensor::of<float>(DType::Float32, {1}, {x})}, {{DType::Float32, {1}}}, "elementwise");
  return run.outputs[0]->as<float>()[0];
}

TEST(Elementwise, EdgesOfFloats) {
  static constexpr float kInf = std::numeric_limits<float>::infinity();
  forEachTarget([] {
    for (const char* op : {"Relu", "Sigmoid", "Tanh", "Exp", "Log", "Erf", "Gelu", "Softplus", "Mish", "HardSwish",
                           "HardSigmoid", "Elu", "Sign", "Sin", "Floor", "Abs", "Softsign", "LeakyRelu"})
      EXPECT_TRUE(std::isnan(unary(op, NAN))) << op;
    EXPECT_EQ(unary("Exp", kInf), kInf);
    EXPECT_EQ(unary("Exp", -kInf), 0);
    EXPECT_EQ(unary("Log", 0), -kInf);
    EXPECT_EQ(unary("Log", kInf), kInf);
    EXPECT_TRUE(std::isnan(unary("Log", -1)));
    EXPECT_EQ(unary("Sigmoid", -kInf), 0);
    EXPECT_EQ(unary("Sigmoid", kInf), 1);
    EXPECT_NEAR(unary("Tanh", kInf), 1, 1e-6);
    EXPECT_NEAR(unary("Erf", -kInf), -1, 1e-6);
    EXPECT_EQ(unary("Relu", -0.f), 0);
    EXPECT_TRUE(std::signbit(unary("Neg", 0.f)));
    EXPECT_EQ(unary("Round", 2.5f), 2);
    EXPECT_EQ(unary("Round", -1.5f), -2);
    EXPECT_NEAR(unary("Sin", 1e5f), std::sin(1e5f), 1e-6);
    EXPECT_NEAR(unary("Log", 1e-40f), std::log(1e-40f), 1e-4);
    EXPECT_TRUE(std::isnan(binary<float>("Max", DType::Float32, {NAN}, {1})[0]));
    EXPECT_TRUE(std::isnan(binary<float>("Min", DType::Float32, {1}, {NAN})[0]));
  });
}

TEST(Elementwise, PowersWithOneExponent) {
  forEachTarget([] {
    Random random(9);
    LooseNode node("Pow");
    const auto x = randomTensor(random, DType::Float32, {3, 37}, 0.1, 3);
    for (const float exponent : {0.f, 1.f, 2.f, 3.f, -1.f, 0.5f, 2.5f})
      for (const bool constant : {false, true}) {
        const auto y = Tensor::of<float>(DType::Float32, {}, {exponent});
        const std::vector<OutputType> type = {{DType::Float32, x->shape()}};
        const auto expected = runOp(node.node(), {x, y}, type, "reference");
        const auto actual = runOp(node.node(), {x, y}, type, "elementwise", 1, constant);
        expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, concat(exponent));
      }
  });
}

TEST(Elementwise, PowersAreThoseOfLibm) {
  constexpr float kInf = HUGE_VALF;
  const std::vector<float> edges = {0.f,   -0.f,   1.f,    -1.f,   0.5f, 2.f,   -2.f, 3.f,   1e-42f,
                                    1e38f, -1e38f, 1e-38f, 0.999f, kInf, -kInf, NAN,  150.f, -150.f};
  std::vector<float> x, y;
  for (const float a : edges)
    for (const float b : edges) x.push_back(a), y.push_back(b);
  Random random(3);
  for (int i = 0; i < 4000; ++i) {
    x.push_back(static_cast<float>(std::exp(uniform(random, -20, 20))));
    y.push_back(static_cast<float>(uniform(random, -6, 6)));
  }
  const Shape shape{static_cast<int64_t>(x.size())};
  LooseNode node("Pow");
  forEachTarget([&] {
    const auto run = runOp(
        node.node(), {Tensor::copyOf(DType::Float32, shape, x.data()), Tensor::copyOf(DType::Float32, shape, y.data())},
        {{DType::Float32, shape}}, "elementwise");
    for (size_t i = 0; i < x.size(); ++i) {
      const float actual = run.outputs[0]->as<float>()[i], expected = std::pow(x[i], y[i]);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(actual)) << x[i] << " to the " << y[i];
      } else if (actual != expected) {
        ASSERT_LE(std::abs(actual - expected), std::max(2e-7f * std::abs(expected), 2e-45f))
            << x[i] << " to the " << y[i];
      }
    }
  });
}

// What libm gives in double, of numbers of all magnitudes between the bounds.
struct Elementary {
  const char* op;
  double (*function)(double);
  double low, high;
};

const Elementary kElementary[] = {
    {"Tan", std::tan, -1e6, 1e6},       {"Asin", std::asin, -1, 1},     {"Acos", std::acos, -1, 1},
    {"Atan", std::atan, -1e30, 1e30},   {"Sinh", std::sinh, -89, 89},   {"Cosh", std::cosh, -89, 89},
    {"Asinh", std::asinh, -1e30, 1e30}, {"Acosh", std::acosh, 1, 1e30}, {"Atanh", std::atanh, -0.9999, 0.9999},
};

std::vector<float> numbersOfAllMagnitudes(double low, double high) {
  Random random(13);
  std::vector<float> numbers{static_cast<float>(low), static_cast<float>(high)};
  for (int i = 0; i < 20000; ++i) {
    const double size = std::exp(uniform(random, -40, std::log(high)));
    numbers.push_back(static_cast<float>(std::clamp(i % 2 ? -size : size, low, high)));
  }
  return numbers;
}

TEST(Elementwise, ElementaryFunctionsKeepTheirDigits) {
  forEachTarget([] {
    for (const Elementary& row : kElementary) {
      const std::vector<float> x = numbersOfAllMagnitudes(row.low, row.high);
      const Shape shape{static_cast<int64_t>(x.size())};
      LooseNode node(row.op);
      const auto run = runOp(node.node(), {Tensor::copyOf(DType::Float32, shape, x.data())}, {{DType::Float32, shape}},
                             "elementwise");
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = row.function(x[i]), actual = run.outputs[0]->as<float>()[i];
        ASSERT_LE(std::abs(actual - expected), 6e-7 * std::abs(expected)) << row.op << " of " << x[i];
        ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << row.op << " of " << x[i];
      }
    }
  });
}

TEST(Elementwise, ElementaryFunctionsAtTheirEnds) {
  static constexpr float kInf = HUGE_VALF;
  const float edges[] = {0.f, -0.f, 1.f, -1.f, 2.f, -2.f, 0.5f, 1e-40f, 100.f, -100.f, 3.4e38f, kInf, -kInf, NAN};
  forEachTarget([&] {
    for (const Elementary& row : kElementary)
      for (const float x : edges) {
        const double exact = row.function(x);
        const float expected = static_cast<float>(exact), actual = unary(row.op, x);
        if (std::isnan(expected) || std::isinf(expected)) {
          EXPECT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == expected)
              << row.op << " of " << x << " is " << actual << ", not " << expected;
        } else {
          EXPECT_NEAR(actual, exact, 6e-7 * std::abs(exact)) << row.op << " of " << x;
          EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << row.op << " of " << x;
        }
      }
  });
}

float flooredRemainder(float x, float y) {
  const float rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

TEST(Elementwise, RemaindersAreThoseOfLibm) {
  std::vector<float> edges = {0.f,   -0.f,   1.f,    -1.f,       0.1f,       -7.f,      3.f,        1e-42f, -1e-45f,
                              1e38f, -1e38f, 1e-38f, 16777215.f, 16777216.f, HUGE_VALF, -HUGE_VALF, NAN};
  std::vector<float> x, y;
  const auto add = [&](float a, float b) {
    x.push_back(a);
    y.push_back(b);
  };
  for (const float a : edges)
    for (const float b : edges) add(a, b);
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto b = static_cast<float>(uniform(random, -8, 8));
    // Multiples, and their neighbours: where a quotient is rounded to a whole number.
    const float multiple = b * std::floor(static_cast<float>(std::exp(uniform(random, 0, 18))));
    add(static_cast<float>(uniform(random, -100, 100)), b);
    add(multiple, b);
    add(std::nextafter(multiple, 0.f), b);
  }
  const Shape shape{static_cast<int64_t>(x.size())};
  const std::vector<Ref<Tensor>> inputs = {Tensor::copyOf(DType::Float32, shape, x.data()),
                                           Tensor::copyOf(DType::Float32, shape, y.data())};
  LooseNode fmod("Mod", with({{"fmod", int64_t{1}}})), mod("Mod");
  forEachTarget([&] {
    for (LooseNode* node : {&fmod, &mod}) {
      const auto run = runOp(node->node(), inputs, {{DType::Float32, shape}}, "elementwise");
      for (size_t i = 0; i < x.size(); ++i) {
        const float expected = node == &fmod ? std::fmod(x[i], y[i]) : flooredRemainder(x[i], y[i]);
        const float actual = run.outputs[0]->as<float>()[i];
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(actual)
                                         : actual == expected && std::signbit(actual) == std::signbit(expected))
            << x[i] << " modulo " << y[i] << " is " << actual << ", not " << expected;
      }
    }
  });
}

TEST(Elementwise, InfinityTests) {
  forEachTarget([] {
    const auto input = Tensor::of<float>(DType::Float32, {5}, {HUGE_VALF, -HUGE_VALF, NAN, 0, 1});
    LooseNode both("IsInf"), negative("IsInf", with({{"detect_positive", int64_t{0}}})), nan("IsNaN");
    const auto test = [&](LooseNode& node) {
      const auto run = runOp(node.node(), {input}, {{DType::Bool, {5}}}, "elementwise");
      const auto values = run.outputs[0]->values<uint8_t>();
      return std::vector<int>(values.begin(), values.end());
    };
    EXPECT_EQ(test(both), (std::vector<int>{1, 1, 0, 0, 0}));
    EXPECT_EQ(test(negative), (std::vector<int>{0, 1, 0, 0, 0}));
    EXPECT_EQ(test(nan), (std::vector<int>{0, 0, 1, 0, 0}));
  });
}

TEST(Elementwise, EmptyTensors) {
  const std::vector<std::array<Shape, 3>> shapes = {{{{0}, {0}, {0}}},
                                                    {{{0, 3}, {3}, {0, 3}}},
                                                    {{{5, 0}, {5, 1}, {5, 0}}},
                                                    {{{2, 0, 4}, {2, 1, 1}, {2, 0, 4}}},
                                                    {{{300, 0, 300}, {300}, {300, 0, 300}}},
                                                    {{{0, 1}, {7}, {0, 7}}}};
  LooseNode add("Add"), pow("Pow");
  for (const auto& [a, b, output] : shapes)
    for (Node* node : {&add.node(), &pow.node()})
      for (int lanes : {1, 2}) {
        const auto run = runOp(*node, {Tensor::allocate(DType::Float32, a), Tensor::allocate(DType::Float32, b)},
                               {{DType::Float32, output}}, "elementwise", lanes);
        EXPECT_EQ(run.outputs[0]->count(), 0);
      }
}

TEST(Elementwise, BatchNormalizationAgreesWithReference) {
  forEachTarget([] {
    Random random(2);
    for (const Shape& shape : {Shape{2, 5, 17, 19}, Shape{3, 7}, Shape{1, 4, 300}}) {
      const Shape channels{shape[1]};
      const std::vector<Ref<Tensor>> inputs = {
          randomTensor(random, DType::Float32, shape), randomTensor(random, DType::Float32, channels),
          randomTensor(random, DType::Float32, channels), randomTensor(random, DType::Float32, channels),
          randomTensor(random, DType::Float32, channels, 0.1, 3)};
      LooseNode node("BatchNormalization");
      const auto expected = runOp(node.node(), inputs, {{DType::Float32, shape}}, "reference");
      const auto actual = runOp(node.node(), inputs, {{DType::Float32, shape}}, "elementwise", 2);
      expectClose(*actual.outputs[0], *expected.outputs[0], 1e-5, concat(shape));
    }
  });
}

// Random chains, fused and one by one.
TEST(Elementwise, ProgramsAgreeWithSingleOperators) {
  const char* const kUnary[] = {"Sigmoid", "Tanh", "Relu", "Abs", "Neg", "Softplus", "HardSwish", "Gelu"};
  const char* const kBinary[] = {"Add", "Sub", "Mul", "Max", "Min"};
  forEachTarget([&] {
    Random random(17);
    for (int round = 0; round < 60; ++round) {
      Shape output;
      const auto shapes = randomBroadcast(random, 4, output);
      const DType dtype = round % 4 == 3 ? DType::Float64 : DType::Float32;
      std::vector<Ref<Tensor>> inputs, values;
      ElementwiseBuilder builder;
      std::vector<ElementwiseBuilder::Id> ids;
      for (const Shape& shape : shapes) {
        inputs.push_back(randomTensor(random, dtype, shape));
        values.push_back(inputs.back());
        ids.push_back(builder.input(dtype));
      }
      const auto broadcastOf = [](const Shape& a, const Shape& b) {
        Shape result = a.rank() >= b.rank() ? a : b;
        const Shape& other = a.rank() >= b.rank() ? b : a;
        for (int i = 0; i < other.rank(); ++i) {
          int64_t& dim = result[result.rank() - other.rank() + i];
          if (dim == 1) dim = other[i];
        }
        return result;
      };
      const auto apply = [&](const char* op, std::initializer_list<size_t> sources) {
        LooseNode node(op);
        std::vector<Ref<Tensor>> in;
        std::vector<ElementwiseBuilder::Id> operands;
        Shape shape;
        for (size_t source : sources) {
          in.push_back(values[source]);
          operands.push_back(ids[source]);
          shape = broadcastOf(shape, values[source]->shape());
        }
        values.push_back(runOp(node.node(), in, {{dtype, shape}}, "elementwise").outputs[0]);
        ids.push_back(append(builder, node, operands));
      };
      for (int step = 0; step < 10; ++step) {
        if (random() % 2)
          apply(kUnary[random() % std::size(kUnary)], {random() % values.size()});
        else
          apply(kBinary[random() % std::size(kBinary)], {random() % values.size(), random() % values.size()});
      }
      apply("Add", {values.size() - 1, 0});  // of the full shape
      builder.output(ids.back());
      LooseNode fused(kMaxDomain, "Elementwise");
      fused.node().prepared = builder.finish();
      const auto actual = runOp(fused.node(), inputs, {{dtype, output}}, {}, 1 + round % 2, false, round % 3 == 0);
      expectClose(*actual.outputs[0], *values.back(), 1e-5, concat("round ", round, " ", output));
    }
  });
}

TEST(Elementwise, ProgramsWithConditionsCastsAndTwoOutputs) {
  forEachTarget([] {
    Random random(23);
    LooseNode less("Less"), where("Where"), toInt("Cast", with({{"to", onnxFromDType(DType::Int64)}})), mul("Mul");
    ElementwiseBuilder builder;
    const auto x = builder.input(DType::Float32), y = builder.input(DType::Float16);
    LooseNode toFloat("Cast", with({{"to", onnxFromDType(DType::Float32)}}));
    const auto wide = append(builder, toFloat, {y});
    const auto isLess = append(builder, less, {x, wide});
    const auto chosen = append(builder, where, {isLess, x, append(builder, mul, {wide, wide})});
    builder.output(chosen);
    builder.output(append(builder, toInt, {chosen}));
    LooseNode fused(kMaxDomain, "Elementwise");
    fused.node().prepared = builder.finish();
    const auto a = randomTensor(random, DType::Float32, {9, 211}), b = randomTensor(random, DType::Float16, {211});
    const auto run = runOp(fused.node(), {a, b}, {{DType::Float32, {9, 211}}, {DType::Int64, {9, 211}}});
    for (int64_t i = 0; i < a->count(); ++i) {
      const float left = a->as<float>()[i], right = static_cast<float>(numberAt(*b, i % 211));
      const float expected = left < right ? left : right * right;
      ASSERT_EQ(run.outputs[0]->as<float>()[i], expected);
      ASSERT_EQ(run.outputs[1]->as<int64_t>()[i], static_cast<int64_t>(expected));
    }
  });
}

TEST(Elementwise, TableIsSorted) {
  const auto rows = elementwiseRows();
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1].name, rows[i].name);
}

}  // namespace
}  // namespace max
