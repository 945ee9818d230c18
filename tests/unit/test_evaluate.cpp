// SPDX-License-Identifier: Apache-2.0
// evaluate: one node on host tensors, through whatever kernel serves it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/graph.h"
#include "ops/op_kernel.h"

namespace max {
namespace {

Ref<Tensor> floats(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of<float>(DType::Float32, shape, values);
}
Ref<Tensor> integers(const Shape& shape, std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(DType::Int64, shape, values);
}

// Builds a node on constants and evaluates it.
std::vector<Ref<Tensor>> run(std::string_view op, const std::vector<Ref<Tensor>>& inputs, Attributes attributes = {},
                             size_t outputs = 1, std::string_view domain = "") {
  const Ref<Graph> graph = makeRef<Graph>();
  std::vector<Value*> values;
  std::vector<const Tensor*> tensors;
  for (const Ref<Tensor>& input : inputs) {
    values.push_back(input ? graph->addConstant(input) : nullptr);
    tensors.push_back(input.get());
  }
  const Node* node = graph->addNode(domain, op, values, std::move(attributes), outputs, "n");
  return evaluate(*node, tensors);
}

void expectFloats(const Ref<Tensor>& tensor, const Shape& shape, std::initializer_list<float> expected) {
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape(), shape) << concat(tensor->shape());
  ASSERT_EQ(tensor->count(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(tensor->as<float>()[i], expected.begin()[i]) << i;
}

TEST(Evaluate, AddBroadcasts) {
  expectFloats(run("Add", {floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})})[0], {2, 3}, {11, 21, 31, 12, 22, 32});
}

TEST(Evaluate, MatMul) {
  expectFloats(run("MatMul", {floats({2, 2}, {1, 2, 3, 4}), floats({2}, {1, -1})})[0], {2}, {-1, -1});
}

// Weights of a file, from an odd address on.
TEST(Evaluate, UnalignedRowsAreAView) {
  const Ref<Storage> file = allocateStorage(64);
  auto* const bytes = static_cast<std::byte*>(file->data()) + 1;
  const float values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::memcpy(bytes, values, sizeof values);
  const auto rows = makeRef<Tensor>(DType::Float32, Shape{4, 3}, bytes, file);
  const auto slice = [](const Ref<Tensor>& from, int64_t start, int64_t end, int64_t axis) {
    return run("Slice", {from, integers({1}, {start}), integers({1}, {end}), integers({1}, {axis})})[0];
  };
  const auto expect = [](const Ref<Tensor>& found, const Shape& shape, std::initializer_list<float> expected) {
    expectFloats(found->aligned(), shape, expected);
  };
  expect(slice(rows, 1, 3, 0), {2, 3}, {3, 4, 5, 6, 7, 8});
  EXPECT_EQ(slice(rows, 1, 3, 0)->data(), bytes + 12);
  EXPECT_EQ(slice(rows, -1, 100, -2)->data(), bytes + 36);
  expect(slice(rows, -1, 100, -2), {1, 3}, {9, 10, 11});
  expect(slice(rows, -9, 1, 0), {1, 3}, {0, 1, 2});
  expect(slice(rows, 7, 9, 0), {0, 3}, {});
  expect(slice(rows, 1, 2, 1), {4, 1}, {1, 4, 7, 10});
  expect(slice(rows->reshaped({1, 4, 3}), 2, 4, 1), {1, 2, 3}, {6, 7, 8, 9, 10, 11});
}

TEST(Evaluate, ReshapeIsAView) {
  const Ref<Tensor> data = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Ref<Tensor> result = run("Reshape", {data, integers({2}, {3, -1})})[0];
  expectFloats(result, {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(result->data(), data->data());
}

// Boxes that overlap a better one by more than `most`, found by asking all.
std::vector<int64_t> keptBoxes(const float* boxes, int64_t count, float most) {
  std::vector<int64_t> kept;  // the scores fall
  const auto overlaps = [&](int64_t a, int64_t b) {
    const float *p = boxes + 4 * a, *q = boxes + 4 * b;
    const float height = std::min(p[2], q[2]) - std::max(p[0], q[0]);
    const float width = std::min(p[3], q[3]) - std::max(p[1], q[1]);
    const float both = height > 0 && width > 0 ? height * width : 0;
    const auto area = [](const float* r) { return (r[2] - r[0]) * (r[3] - r[1]); };
    return both / (area(p) + area(q) - both) > most;
  };
  for (int64_t i = 0; i < count; ++i)
    if (std::none_of(kept.begin(), kept.end(), [&](int64_t k) { return overlaps(i, k); })) kept.push_back(i);
  return kept;
}

TEST(Evaluate, NonMaxSuppressionOfSeveralClasses) {
  constexpr int64_t kCount = 600;
  for (const float apart : {0.f, 20.f, -1e4f}) {  // the classes' places
    const Ref<Tensor> boxes = Tensor::allocate(DType::Float32, {1, kCount, 4});
    const Ref<Tensor> scores = Tensor::allocate(DType::Float32, {1, 1, kCount});
    auto* box = static_cast<float*>(boxes->mutableData());
    uint32_t random = 7;
    const auto next = [&] { return static_cast<float>((random = random * 1664525 + 1013904223) >> 8) / (1 << 20); };
    for (int64_t i = 0; i < kCount; ++i) {
      const float place = static_cast<float>(i % 7) * apart, y = next() + place, x = next() + place;
      const float corners[] = {y, x, y + next() / 4, x + next() / 4};
      std::copy_n(corners, 4, box + 4 * i);
      static_cast<float*>(scores->mutableData())[i] = 1 - static_cast<float>(i) / kCount;
    }
    const Ref<Tensor> kept = run("NonMaxSuppression", {boxes, scores, integers({1}, {kCount}), floats({1}, {0.2f})})[0];
    const std::vector<int64_t> expected = keptBoxes(box, kCount, 0.2f);
    ASSERT_EQ(kept->shape(), Shape({static_cast<int64_t>(expected.size()), 3}));
    EXPECT_LT(expected.size(), size_t{kCount});
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(kept->as<int64_t>()[3 * i + 2], expected[i]) << apart;
  }
}

// A few boxes of many, some of whose scores are equal, are the first ones of all that are kept.
TEST(Evaluate, NonMaxSuppressionOfFewBoxes) {
  constexpr int64_t kCount = 3000;
  const Ref<Tensor> boxes = Tensor::allocate(DType::Float32, {1, kCount, 4});
  const Ref<Tensor> scores = Tensor::allocate(DType::Float32, {1, 1, kCount});
  auto* box = static_cast<float*>(boxes->mutableData());
  for (int64_t i = 0; i < kCount; ++i) {
    const auto place = static_cast<float>(i * 7 % 500);  // of six boxes each
    const float corners[] = {place, 0, place + 1, 1};
    std::copy_n(corners, 4, box + 4 * i);
    static_cast<float*>(scores->mutableData())[i] = static_cast<float>(i * 31 % 100);
  }
  const auto kept = [&](int64_t most) {
    return run("NonMaxSuppression", {boxes, scores, integers({1}, {most}), floats({1}, {0.2f})})[0];
  };
  const Ref<Tensor> all = kept(kCount);
  ASSERT_EQ(all->shape(), Shape({500, 3}));
  for (const int64_t most : {1, 20, 130, 400}) {
    const Ref<Tensor> few = kept(most);
    ASSERT_EQ(few->shape(), Shape({most, 3}));
    for (int64_t i = 0; i < 3 * most; ++i) EXPECT_EQ(few->as<int64_t>()[i], all->as<int64_t>()[i]) << most;
  }
}

TEST(Evaluate, SliceBackwards) {
  expectFloats(run("Slice", {floats({4}, {1, 2, 3, 4}), integers({1}, {-1}), integers({1}, {INT64_MIN}),
                             integers({1}, {0}), integers({1}, {-2})})[0],
               {2}, {4, 2});
}

TEST(Evaluate, TransposeAndConcat) {
  const Ref<Tensor> turned = run("Transpose", {floats({2, 3}, {1, 2, 3, 4, 5, 6})})[0];
  expectFloats(turned, {3, 2}, {1, 4, 2, 5, 3, 6});
  Attributes axis;
  axis.set("axis", int64_t{-1});
  expectFloats(run("Concat", {turned, floats({3, 1}, {7, 8, 9})}, axis)[0], {3, 3}, {1, 4, 7, 2, 5, 8, 3, 6, 9});
}

TEST(Evaluate, SplitSkipsUnwantedOutputs) {
  Attributes attributes;
  attributes.set("num_outputs", int64_t{2});
  const auto parts = run("Split", {floats({3}, {1, 2, 3})}, attributes, 2);
  expectFloats(parts[0], {2}, {1, 2});
  expectFloats(parts[1], {1}, {3});
}

TEST(Evaluate, ConvMatchesItsChannelsLastForm) {
  const Ref<Tensor> image = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Ref<Tensor> filter = floats({1, 1, 2, 2}, {1, 0, 0, -1});
  Attributes attributes;
  for (const char* name : {"strides", "dilations"}) attributes.set(name, std::vector<int64_t>{1, 1});
  attributes.set("pads", std::vector<int64_t>{0, 0, 0, 0});
  expectFloats(run("Conv", {image, filter}, attributes)[0], {1, 1, 2, 2}, {-4, -4, -4, -4});
  attributes.set("group", int64_t{1});
  attributes.set("activation", std::string("Relu"));
  expectFloats(run("Conv", {image->reshaped({1, 3, 3, 1}), filter}, attributes, 1, kMaxDomain)[0], {1, 2, 2, 1},
               {0, 0, 0, 0});
}

TEST(Evaluate, GatherRefusesAnIndexOutOfRange) {
  const Ref<Tensor> data = floats({3}, {1, 2, 3});
  expectFloats(run("Gather", {data, integers({2}, {-1, 0})})[0], {2}, {3, 1});
  try {
    run("Gather", {data, integers({1}, {3})});
    FAIL() << "index 3 of 3 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), MAX_STATUS_OUT_OF_RANGE);
    EXPECT_EQ(error.message(), "node 'n' (Gather): index 3 is out of range [-3, 2] of axis 0");
  }
}

TEST(Evaluate, ShapesKnownOnlyFromContentsUseTheDynamicFunction) {
  const auto result = run("NonZero", {floats({2, 2}, {0, 1, 2, 0})})[0];
  ASSERT_EQ(result->shape(), (Shape{2, 2}));
  EXPECT_EQ(std::vector<int64_t>(result->as<int64_t>(), result->as<int64_t>() + 4), (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(Evaluate, HalfPrecisionGoesThroughTheReferenceKernels) {
  const Ref<Tensor> half = Tensor::of<uint16_t>(DType::Float16, {2}, {0x3c00, 0xc000});  // 1, -2
  const Ref<Tensor> result = run("Softmax", {half})[0];
  EXPECT_EQ(result->dtype(), DType::Float16);
  EXPECT_EQ(result->as<uint16_t>()[0], 0x3b9f);  // 0.9526
}

}  // namespace
}  // namespace max
