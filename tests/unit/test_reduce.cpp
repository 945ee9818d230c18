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

TEST(Reduce, ArgMaxAndArgMin) {
  forEachTarget([] {
    Random random(5);
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const Shape& shape : {Shape{9}, Shape{3, 100}, Shape{100, 3}, Shape{530, 7}, Shape{2, 5, 33}})
        for (int axis = 0; axis < shape.rank(); ++axis)
          for (int64_t last : {0, 1}) {
            auto x = randomTensor(random, DType::Float32, shape, -3, 3);
            // Few different values, so that there are ties.
            for (int64_t i = 0; i < x->count(); ++i) {
              float& value = static_cast<float*>(x->mutableData())[i];
              value = std::round(value);
            }
            LooseNode node(op, with({{"axis", int64_t{axis}}, {"select_last_index", last}}));
            const std::vector<OutputType> type = {{DType::Int64, reducedShape(shape, {axis})}};
            const auto expected = runOp(node.node(), {x}, type, "reference");
            const auto actual = runOp(node.node(), {x}, type, "arg", 2);
            expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(op, shape, " axis ", axis));
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
