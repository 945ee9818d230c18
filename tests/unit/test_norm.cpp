// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "op_harness.h"

namespace max {
namespace {

using namespace test;

void check(Node& node, const std::vector<Ref<Tensor>>& inputs, const std::vector<OutputType>& outputs, int lanes = 1,
           bool inPlace = false) {
  const KernelRun expected = runOp(node, inputs, outputs, "reference");
  const KernelRun actual = runOp(node, inputs, outputs, "norm", lanes, false, inPlace);
  for (size_t i = 0; i < outputs.size(); ++i)
    expectClose(*actual.outputs[i], *expected.outputs[i], 2e-5, concat(node.op(), " ", inputs[0]->shape()));
}

const Shape kShapes[] = {{1, 1}, {3, 7}, {5, 64}, {2, 3, 768}, {4, 17, 33}, {200, 19}, {1, 20000}};

Ref<Tensor> random32(Random& random, const Shape& shape, double low = -3, double high = 5) {
  return randomTensor(random, DType::Float32, shape, low, high);
}

TEST(Norm, LayerNormalization) {
  forEachTarget([] {
    Random random(1);
    for (const Shape& shape : kShapes) {
      LooseNode node("LayerNormalization", with({{"epsilon", 1e-3f}}));
      const Shape row{shape.back()};
      const auto x = random32(random, shape), scale = random32(random, row), bias = random32(random, row);
      Shape statistics = shape;
      statistics[shape.rank() - 1] = 1;
      check(node.node(), {x, scale, bias}, {{DType::Float32, shape}}, 3, true);
      check(node.node(), {x, scale},
            {{DType::Float32, shape}, {DType::Float32, statistics}, {DType::Float32, statistics}});
    }
    LooseNode node("LayerNormalization", with({{"axis", int64_t{1}}}));
    const auto x = random32(random, {3, 4, 5}), scale = random32(random, {4, 5});
    check(node.node(), {x, scale}, {{DType::Float32, {3, 4, 5}}});
  });
}

// Short rows are taken together; what becomes of one does not depend on the others.
TEST(Norm, ShortRowsAreIndependent) {
  forEachTarget([] {
    Random random(8);
    for (const int64_t size : {1, 30, 32, 256}) {
      LooseNode node("LayerNormalization", with({{"epsilon", 1e-3f}}));
      const auto x = random32(random, {11, size}), scale = random32(random, {size});
      const KernelRun all = runOp(node.node(), {x, scale}, {{DType::Float32, {11, size}}}, "norm", 2);
      for (int64_t row = 0; row < 11; ++row) {
        const float* from = x->as<float>() + row * size;
        const Ref<Tensor> one = Tensor::copyOf(DType::Float32, {1, size}, from);
        const KernelRun alone = runOp(node.node(), {one, scale}, {{DType::Float32, {1, size}}}, "norm");
        const float* together = all.outputs[0]->as<float>() + row * size;
        ASSERT_EQ(std::memcmp(together, alone.outputs[0]->data(), alone.outputs[0]->bytes()), 0) << size << " " << row;
      }
    }
  });
}

TEST(Norm, AddLayerNormalization) {
  forEachTarget([] {
    Random random(2);
    for (const Shape& shape : kShapes) {
      LooseNode node(kMaxDomain, "AddLayerNormalization", with({{"axis", int64_t{-1}}, {"epsilon", 1e-4f}}));
      const Shape row{shape.back()};
      const auto x = random32(random, shape), r = random32(random, shape);
      const auto scale = random32(random, row), bias = random32(random, row);
      check(node.node(), {x, r, scale, bias}, {{DType::Float32, shape}}, 2, true);
      check(node.node(), {x, r, scale}, {{DType::Float32, shape}, {DType::Float32, shape}}, 1, true);
    }
  });
}

// More than ops/cpu/streamed.h asks for.
TEST(Norm, LargeResultsPassTheCaches) {
  forEachTarget([] {
    Random random(7);
    const Shape shape{4400, 1008}, row{1008};
    LooseNode plain("LayerNormalization"), sum(kMaxDomain, "AddLayerNormalization");
    const auto x = random32(random, shape), scale = random32(random, row), bias = random32(random, row);
    check(plain.node(), {x, scale, bias}, {{DType::Float32, shape}}, 2);
    check(sum.node(), {x, x, scale, bias}, {{DType::Float32, shape}, {DType::Float32, shape}}, 2);
  });
}

TEST(Norm, RmsAndLpNormalization) {
  forEachTarget([] {
    Random random(3);
    for (const Shape& shape : kShapes) {
      LooseNode rms("RMSNormalization"), l1("LpNormalization", with({{"p", int64_t{1}}})), l2("LpNormalization");
      const auto x = random32(random, shape), scale = random32(random, {shape.back()});
      check(rms.node(), {x, scale}, {{DType::Float32, shape}}, 2);
      check(l1.node(), {x}, {{DType::Float32, shape}}, 1, true);
      check(l2.node(), {x}, {{DType::Float32, shape}}, 2);
    }
  });
}

TEST(Norm, GroupAndInstanceNormalization) {
  forEachTarget([] {
    Random random(4);
    for (const Shape& shape : {Shape{2, 6, 5, 7}, Shape{1, 12, 100}, Shape{3, 6, 1}}) {
      const auto x = random32(random, shape), scale = random32(random, {shape[1]}), bias = random32(random, {shape[1]});
      LooseNode group("GroupNormalization", with({{"num_groups", int64_t{3}}})), instance("InstanceNormalization");
      check(group.node(), {x, scale, bias}, {{DType::Float32, shape}}, 2, true);
      check(instance.node(), {x, scale, bias}, {{DType::Float32, shape}});
    }
  });
}

TEST(Norm, LocalResponses) {
  forEachTarget([] {
    Random random(8);
    for (const Shape& shape : {Shape{2, 6, 5, 7}, Shape{1, 40, 300}, Shape{3, 1, 1}, Shape{2, 9}, Shape{0, 3, 4}})
      for (const int64_t size : {1, 2, 5, 50})
        for (const float beta : {0.75f, 0.6f}) {
          LooseNode node("LRN", with({{"size", size}, {"alpha", 0.5f}, {"beta", beta}, {"bias", 1.5f}}));
          check(node.node(), {random32(random, shape)}, {{DType::Float32, shape}});
        }
  });
}

TEST(Norm, ZeroRowsOfLpNormalizationStayZero) {
  LooseNode node("LpNormalization");
  const KernelRun run =
      runOp(node.node(), {Tensor::allocate(DType::Float32, {2, 3}, true)}, {{DType::Float32, {2, 3}}});
  for (float value : run.outputs[0]->values<float>()) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace max
