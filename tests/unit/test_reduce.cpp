// SPDX-License-Identifier: Apache-2.0
#include "op_harness.h"

namespace max {
namespace {

using namespace test;

constexpr const char* kReductions[] = {"ReduceSum", "ReduceMean", "ReduceMax",       "ReduceMin",    "ReduceProd",
                                       "ReduceL1",  "ReduceL2",   "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"};

Shape reducedShape(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape result = shape;
  for (int64_t axis : axes) result[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)] = 1;
  return result;
}

Ref<Tensor> axesTensor(const std::vector<int64_t>& axes) {
  return Tensor::copyOf(DType::Int64, {static_cast<int64_t>(axes.size())}, axes.data());
}

void check(const char* op, const Ref<Tensor>& x, const std::vector<int64_t>& axes, int lanes) {
  LooseNode node(op);
  const std::vector<OutputType> type = {{x->dtype(), reducedShape(x->shape(), axes)}};
  const KernelRun expected = runOp(node.node(), {x, axesTensor(axes)}, type, "reference", 1, true);
  const KernelRun actual = runOp(node.node(), {x, axesTensor(axes)}, type, "reduce", lanes, true);
  expectClose(*actual.outputs[0], *expected.outputs[0], x->dtype() == DType::Float64 ? 1e-11 : 1e-4,
              concat(op, " ", x->dtype(), x->shape(), " over ", reducedShape(x->shape(), axes)));
}

// All subsets of the axes of some shapes.
TEST(Reduce, AgreesWithReferenceOverAllAxes) {
  forEachTarget([] {
    Random random(1);
    for (const Shape& shape : {Shape{5}, Shape{3, 70}, Shape{70, 3}, Shape{2, 5, 33}, Shape{3, 1, 4, 17},
                               Shape{2, 3, 4, 5}, Shape{7, 2, 3, 2, 2}})
      for (unsigned subset = 1; subset < 1u << shape.rank(); ++subset) {
        std::vector<int64_t> axes;
        for (int i = 0; i < shape.rank(); ++i)
          if (subset >> i & 1) axes.push_back(i % 2 ? i : i - shape.rank());
        for (const char* op : kReductions) {
          const bool logarithm = std::string_view(op) == "ReduceLogSum";
          check(op, randomTensor(random, DType::Float32, shape, logarithm ? 0.1 : -1.2, 1.5), axes, 1 + subset % 3);
        }
      }
  });
}

TEST(Reduce, IntegersAndDoubles) {
  Random random(2);
  for (DType dtype : {DType::Int32, DType::Int64, DType::Int8, DType::UInt8, DType::Float64})
    for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceL1", "ReduceSumSquare"})
      for (const std::vector<int64_t>& axes : {std::vector<int64_t>{0}, {1}, {2}, {0, 2}, {0, 1, 2}})
        check(op, randomTensor(random, dtype, {2, 3, 4}, -4, 4), axes, 1);
  for (const char* op : {"ReduceMax", "ReduceMin"}) check(op, randomTensor(random, DType::Bool, {4, 9}), {1}, 1);
}

template <class Function>
void visitNumber(DType dtype, const Function& function) {
  if (dtype == DType::Float32) function(float{});
  if (dtype == DType::Float64) function(double{});
  if (dtype == DType::Int32) function(int32_t{});
  if (dtype == DType::Int64) function(int64_t{});
}

// Any bits, so that sums and products wrap.
Ref<Tensor> randomIntegers(Random& random, DType dtype, const Shape& shape) {
  const auto x = Tensor::allocate(dtype, shape);
  auto* words = static_cast<uint32_t*>(x->mutableData());
  for (size_t i = 0; i < x->bytes() / sizeof *words; ++i) words[i] = static_cast<uint32_t>(random());
  return x;
}

// Rows and columns that fill vectors, and what is left of both.
TEST(Reduce, WideIntegersAndDoubles) {
  forEachTarget([] {
    Random random(6);
    for (const DType dtype : {DType::Int32, DType::Int64, DType::Float64})
      for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2",
                             "ReduceSumSquare"})
        for (const Shape& shape : {Shape{5, 301}, Shape{301, 5}, Shape{3, 40, 77}, Shape{9, 17}})
          for (int axis = 0; axis < shape.rank(); ++axis) {
            const bool isFloat = dtype == DType::Float64;
            const auto x =
                isFloat ? randomTensor(random, dtype, shape, 0.9, 1.1) : randomIntegers(random, dtype, shape);
            LooseNode node(op);
            const std::vector<OutputType> type = {{dtype, reducedShape(shape, {axis})}};
            const std::vector<Ref<Tensor>> inputs{x, axesTensor({axis})};
            const KernelRun expected = runOp(node.node(), inputs, type, "reference", 1, true);
            const KernelRun actual = runOp(node.node(), inputs, type, "reduce", 1 + axis, true);
            const std::string what = concat(op, dtype, shape, " axis ", axis);
            expectClose(*actual.outputs[0], *expected.outputs[0], isFloat ? 1e-12 : 0, what);
            if (isFloat || std::string_view(op) == "ReduceL2") continue;
            EXPECT_EQ(std::memcmp(actual.outputs[0]->data(), expected.outputs[0]->data(), expected.outputs[0]->bytes()),
                      0)
                << what;
          }
    for (const DType dtype : {DType::Int32, DType::Int64, DType::Float64})
      for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin"})
        check(op, randomTensor(random, dtype, {70003}, -9, 9), {0}, 3);
  });
}

// Also to -0.
void roundToIntegers(Tensor& tensor) {
  if (tensor.dtype() != DType::Float32) return;
  auto* values = static_cast<float*>(tensor.mutableData());
  for (int64_t i = 0; i < tensor.count(); ++i) values[i] = std::round(values[i]);
}

// Lines of many blocks, of few to nearly all elements; with many ties, signed zeros and rising or falling order.
TEST(TopK, AgreesWithReferenceOnLongLines) {
  Random random(7);
  for (DType dtype : {DType::Float32, DType::Int32, DType::Float64})
    for (const double range : {2.0, 1e6})
      for (const Shape& shape : {Shape{3, 1000}, Shape{1000, 3}, Shape{2, 37}})
        for (const int64_t kept : {1, 5, 36})
          for (const int64_t largest : {0, 1}) {
            LooseNode node("TopK");
            const int64_t axis = shape[0] == 1000 ? 0 : 1;
            node.node().attributes.set("axis", axis);
            node.node().attributes.set("largest", largest);
            const auto x = randomTensor(random, dtype, shape, -range, range);
            roundToIntegers(*x);
            Shape top = shape;
            top[static_cast<int>(axis)] = kept;
            const std::vector<OutputType> types = {{dtype, top}, {DType::Int64, top}};
            const KernelRun expected = runOp(node.node(), {x, axesTensor({kept})}, types, "reference", 1, true);
            const KernelRun actual = runOp(node.node(), {x, axesTensor({kept})}, types, "typed", 2, true);
            for (size_t i = 0; i < 2; ++i)
              expectClose(*actual.outputs[i], *expected.outputs[i], 0, concat(dtype, shape, " best ", kept));
          }
}

// Rows of a few elements, of which many become columns.
TEST(Reduce, TinyRows) {
  forEachTarget([] {
    Random random(8);
    for (const Shape& shape : {Shape{600, 1}, Shape{600, 2}, Shape{17, 3}, Shape{601, 3}, Shape{300, 2, 4},
                               Shape{257, 5}, Shape{300, 7}, Shape{300, 8}})
      for (const int lanes : {1, 3}) {
        for (const char* op : kReductions)
          check(op, randomTensor(random, DType::Float32, shape, 0.1, 1.5), {shape.rank() - 1}, lanes);
        for (const DType dtype : {DType::UInt8, DType::Int32, DType::Int64, DType::Float64})
          for (const char* op : {"ReduceSum", "ReduceMax", "ReduceL1"})
            check(op, randomTensor(random, dtype, shape, 0, 9), {shape.rank() - 1}, lanes);
      }
  });
}

TEST(Reduce, LargeOnManyLanes) {
  Random random(3);
  const auto flat = randomTensor(random, DType::Float32, {400003}, -1, 2), wide = flat->reshaped({1, 400003});
  const auto tall = randomTensor(random, DType::Float32, {3000, 130}, -1, 2);
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2", "ReduceLogSumExp"})
    for (int lanes : {1, 2, 4}) {
      check(op, flat, {0}, lanes);
      check(op, wide, {1}, lanes);
      check(op, tall, {0}, lanes);
      check(op, tall, {1}, lanes);
      check(op, tall, {0, 1}, lanes);
    }
}

TEST(Reduce, NanAndInfinities) {
  forEachTarget([] {
    for (int64_t size : {5, 100}) {
      auto x = Tensor::allocate(DType::Float32, {size}, true);
      float* values = static_cast<float*>(x->mutableData());
      values[3] = NAN;
      for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"}) {
        LooseNode node(op);
        const auto run = runOp(node.node(), {x}, {{DType::Float32, {1}}}, "reduce");
        EXPECT_TRUE(std::isnan(run.outputs[0]->as<float>()[0])) << op;
      }
      for (int64_t i = 0; i < size; ++i) values[i] = -HUGE_VALF;
      LooseNode node("ReduceLogSumExp");
      const auto run = runOp(node.node(), {x}, {{DType::Float32, {1}}}, "reduce");
      EXPECT_EQ(run.outputs[0]->as<float>()[0], -HUGE_VALF);
    }
  });
}

TEST(Reduce, NanOfDoubles) {
  forEachTarget([] {
    for (const Shape& shape : {Shape{9, 10}, Shape{2, 300}})
      for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"})
        for (const int axis : {0, 1})
          for (int64_t at = 0; at < shape.count(); at += 7) {
            auto x = Tensor::allocate(DType::Float64, shape, true);
            static_cast<double*>(x->mutableData())[at] = NAN;
            LooseNode node(op);
            const Shape reduced = reducedShape(shape, {axis});
            const auto run =
                runOp(node.node(), {x, axesTensor({axis})}, {{DType::Float64, reduced}}, "reduce", 1, true);
            const int64_t place = axis == 0 ? at % shape[1] : at / shape[1];
            for (int64_t i = 0; i < reduced.count(); ++i)
              EXPECT_EQ(std::isnan(run.outputs[0]->as<double>()[i]), i == place) << concat(op, shape, " at ", at);
          }
  });
}

TEST(Reduce, GlobalPools) {
  forEachTarget([] {
    Random random(4);
    const auto x = randomTensor(random, DType::Float32, {2, 5, 7, 9});
    for (const char* op : {"GlobalMaxPool", "GlobalAveragePool"}) {
      LooseNode node(op);
      const auto expected = runOp(node.node(), {x}, {{DType::Float32, {2, 5, 1, 1}}}, "reference");
      const auto actual = runOp(node.node(), {x}, {{DType::Float32, {2, 5, 1, 1}}}, "reduce");
      expectClose(*actual.outputs[0], *expected.outputs[0], 1e-5, op);
    }
  });
}

// Few different values, so that there are ties, and the least one that the type has.
template <class T>
void makeTies(Tensor& tensor) {
  auto* values = static_cast<T*>(tensor.mutableData());
  for (int64_t i = 0; i < tensor.count(); ++i) {
    values[i] = static_cast<T>(std::round(static_cast<double>(values[i])));
    if (i % 67 == 50) values[i] = std::numeric_limits<T>::lowest();
  }
}

TEST(Reduce, ArgMaxAndArgMin) {
  const auto isServed = [](DType dtype) { return dtype == DType::Float32 || sizeOf(dtype) == 1; };
  forEachTarget([&] {
    Random random(5);
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const DType dtype : {DType::Float32, DType::Float64, DType::Int8, DType::UInt8, DType::Int32, DType::UInt32,
                                DType::Int64, DType::UInt64})
        for (const Shape& shape :
             {Shape{9}, Shape{3, 100}, Shape{100, 3}, Shape{530, 7}, Shape{2, 5, 33}, Shape{2, 301}, Shape{300, 67}})
          for (int axis = 0; axis < shape.rank(); ++axis)
            for (int64_t last : {0, 1}) {
              const auto x = randomTensor(random, dtype, shape, isSigned(dtype) ? -3 : 0, 3);
              visitNumber(dtype, [&]<class T>(T) { makeTies<T>(*x); });
              LooseNode node(op, with({{"axis", int64_t{axis}}, {"select_last_index", last}}));
              const std::vector<OutputType> type = {{DType::Int64, reducedShape(shape, {axis})}};
              const auto expected = runOp(node.node(), {x}, type, "reference");
              const auto actual = runOp(node.node(), {x}, type, isServed(dtype) ? "arg" : "", 2);
              expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(op, dtype, shape, " axis ", axis));
            }
  });
}

// Rows are counted in bytes, a part of a column at a time; too long ones are searched in another way.
TEST(Reduce, ArgMaxAndArgMinOfLongColumnsOfBytes) {
  forEachTarget([] {
    for (const auto& [op, other, wanted] : {std::tuple{"ArgMax", 7, 9}, {"ArgMin", 7, 5}})
      for (const DType dtype : {DType::UInt8, DType::Int8})
        for (const int64_t rows : {129, 300, 14401})
          for (int64_t last : {0, 1}) {
            const int64_t columns = 67;
            const auto x = Tensor::allocate(dtype, {rows, columns});
            auto* bytes = static_cast<int8_t*>(x->mutableData());
            std::fill_n(bytes, rows * columns, static_cast<int8_t>(other));
            const auto places = Tensor::allocate(DType::Int64, {columns});
            for (int64_t i = 0; i < columns; ++i) {
              const int64_t place = (i * 37 + 120) % rows;
              static_cast<int64_t*>(places->mutableData())[i] = place;
              bytes[place * columns + i] = static_cast<int8_t>(wanted);
            }
            LooseNode node(op, with({{"axis", int64_t{0}}, {"keepdims", int64_t{0}}, {"select_last_index", last}}));
            const auto actual = runOp(node.node(), {x}, {{DType::Int64, {columns}}}, rows > 14400 ? "" : "arg");
            expectClose(*actual.outputs[0], *places, 0, concat(op, dtype, rows, " rows"));
          }
  });
}

// Several sums at a time, and columns in blocks.
TEST(CumSum, OfLongLinesAndManyColumns) {
  Random random(5);
  for (const Shape& shape : {Shape{3, 1003}, Shape{1, 4098}, Shape{7, 1}, Shape{9, 2500}, Shape{2, 3, 1025}})
    for (const DType dtype : {DType::Float32, DType::Float64, DType::Int32, DType::Int64})
      for (int axis = 0; axis < shape.rank(); ++axis)
        for (const int64_t flags : {0, 1, 2, 3}) {
          LooseNode node("CumSum", with({{"exclusive", flags % 2}, {"reverse", flags / 2}}));
          const auto x = randomTensor(random, dtype, shape, -9, 9);
          const auto at = Tensor::of<int64_t>(DType::Int64, {}, {axis});
          const auto expected = runOp(node.node(), {x, at}, {{dtype, shape}}, "reference");
          for (const int lanes : {1, 3}) {
            const auto actual = runOp(node.node(), {x, at}, {{dtype, shape}}, "typed", lanes);
            expectClose(*actual.outputs[0], *expected.outputs[0], dtype == DType::Float32 ? 1e-4 : 1e-12,
                        max::concat(shape, ", axis ", axis, ", flags ", flags));
          }
        }
  LooseNode node("CumSum");
  const auto zeros = Tensor::of<float>(DType::Float32, {2}, {-0.f, -0.f});
  const auto sums = runOp(node.node(), {zeros, Tensor::of<int64_t>(DType::Int64, {}, {0})}, {{DType::Float32, {2}}});
  EXPECT_TRUE(std::signbit(sums.outputs[0]->as<float>()[0]));
}

}  // namespace
}  // namespace max
