// SPDX-License-Identifier: Apache-2.0
#include "op_harness.h"

namespace max {
namespace {

using namespace test;

void check(const char* op, const Ref<Tensor>& input, int64_t axis, int lanes, bool inPlace) {
  LooseNode node(op, with({{"axis", axis}}));
  const std::vector<OutputType> type = {{DType::Float32, input->shape()}};
  const KernelRun expected = runOp(node.node(), {input}, type, "reference");
  const KernelRun actual = runOp(node.node(), {input}, type, "softmax", lanes, false, inPlace);
  expectClose(*actual.outputs[0], *expected.outputs[0], 2e-6, concat(op, " axis ", axis, " of ", input->shape()));
}

TEST(Softmax, AgreesWithReferenceAlongEveryAxis) {
  forEachTarget([] {
    Random random(1);
    for (const char* op : {"Softmax", "LogSoftmax"})
      for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 16}, Shape{5, 17}, Shape{2, 1001}, Shape{4, 9, 33},
                                 Shape{2, 3, 5, 70}, Shape{7, 9}, Shape{3, 40}, Shape{9, 64}, Shape{5, 127},
                                 Shape{3, 129}, Shape{600, 3}, Shape{3, 4, 1100}, Shape{0, 4}})
        for (int axis = -1; axis < shape.rank(); ++axis)
          check(op, randomTensor(random, DType::Float32, shape, -20, 20), axis, 1 + axis % 2 * axis, axis % 2 == 0);
  });
}

TEST(Softmax, OfDoubles) {
  forEachTarget([] {
    Random random(4);
    for (const char* op : {"Softmax", "LogSoftmax"})
      for (const Shape& shape : {Shape{1}, Shape{3, 10}, Shape{2, 17}, Shape{2, 1001}, Shape{3, 9, 33}, Shape{5, 1, 8}})
        for (int axis = 0; axis < shape.rank(); ++axis) {
          const Ref<Tensor> x = randomTensor(random, DType::Float64, shape, -20, 20);
          auto* numbers = static_cast<double*>(x->mutableData());
          if (shape.count() > 20) numbers[1] = -HUGE_VAL, numbers[12] = -1000, numbers[20] = NAN;
          LooseNode node(op, with({{"axis", int64_t{axis}}}));
          const std::vector<OutputType> type = {{DType::Float64, shape}};
          const KernelRun expected = runOp(node.node(), {x}, type, "reference");
          const KernelRun actual = runOp(node.node(), {x}, type, {}, 2, false, axis == 0);
          expectClose(*actual.outputs[0], *expected.outputs[0], 2e-15, concat(op, " axis ", axis, " of ", shape));
        }
  });
}

// Threads divide the rows anywhere.
TEST(Softmax, RowsDoNotDependOnTheirNeighbours) {
  forEachTarget([] {
    Random random(3);
    for (const char* op : {"Softmax", "LogSoftmax"})
      for (const int64_t size : {2, 8, 15, 16, 30, 50, 64, 100, 128, 200}) {
        const Ref<Tensor> rows = randomTensor(random, DType::Float32, {7, size}, -5, 5);
        LooseNode node(op);
        const KernelRun all = runOp(node.node(), {rows}, {{DType::Float32, rows->shape()}}, "softmax");
        for (int64_t i = 0; i < 7; ++i) {
          const Ref<Tensor> row = Tensor::copyOf(DType::Float32, {1, size}, rows->as<float>() + i * size);
          const KernelRun one = runOp(node.node(), {row}, {{DType::Float32, {1, size}}}, "softmax", 1, false, true);
          EXPECT_EQ(std::memcmp(one.outputs[0]->data(), all.outputs[0]->as<float>() + i * size,
                                static_cast<size_t>(size) * sizeof(float)),
                    0)
              << op << ", row " << i << " of " << size;
        }
      }
  });
}

// More than ops/cpu/streamed.h asks for.
TEST(Softmax, LargeResultsPassTheCaches) {
  forEachTarget([] {
    Random random(2);
    for (const char* op : {"Softmax", "LogSoftmax"})
      check(op, randomTensor(random, DType::Float32, {1100, 4000}, -20, 20), -1, 2, false);
  });
}

TEST(Softmax, LargeAndMaskedValues) {
  forEachTarget([] {
    for (int64_t size : {4, 40}) {
      auto input = Tensor::allocate(DType::Float32, {size});
      float* x = static_cast<float*>(input->mutableData());
      for (int64_t i = 0; i < size; ++i) x[i] = i % 2 ? 1000.f : -HUGE_VALF;
      LooseNode node("Softmax");
      const KernelRun run = runOp(node.node(), {input}, {{DType::Float32, {size}}}, "softmax");
      for (int64_t i = 0; i < size; ++i)
        EXPECT_FLOAT_EQ(run.outputs[0]->as<float>()[i], i % 2 ? 2.f / static_cast<float>(size) : 0);
    }
  });
}

}  // namespace
}  // namespace max
