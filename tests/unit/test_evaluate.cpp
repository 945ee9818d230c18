// SPDX-License-Identifier: Apache-2.0
// evaluate: one node on host tensors, through whatever kernel serves it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "graph/composite.h"
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
      if (apart < 0 && i % 50 == 0) box[4 * i + 3] = HUGE_VALF;
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
    static_cast<float*>(scores->mutableData())[i] = static_cast<float>(i * 31 % 100 - 50);
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

// Few scores of many are above the least one, which is not; boxes of two classes share their places.
TEST(Evaluate, NonMaxSuppressionOfLowScores) {
  for (const int64_t count : {1, 31, 32, 33, 700}) {
    const Ref<Tensor> boxes = Tensor::allocate(DType::Float32, {1, count, 4}, true);
    const Ref<Tensor> scores = Tensor::allocate(DType::Float32, {1, 2, count}, true);
    auto *box = static_cast<float*>(boxes->mutableData()), *score = static_cast<float*>(scores->mutableData());
    std::vector<int64_t> expected;
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t i = 0; i < count; ++i) {
        const auto place = static_cast<float>(i);
        const float corners[] = {place, place, place + 1, place + 1};
        std::copy_n(corners, 4, box + 4 * i);
        const bool isHigh = i % 61 == 30 + c || (c == 1 && i == count - 1);
        score[c * count + i] = isHigh ? 0.5f : i % 5 == 0 ? 0.3f : i % 7 == 0 ? NAN : -1.f;
        if (isHigh) expected.insert(expected.end(), {0, c, i});
      }
    const Ref<Tensor> kept =
        run("NonMaxSuppression", {boxes, scores, integers({1}, {count}), floats({1}, {0.5f}), floats({1}, {0.3f})})[0];
    ASSERT_EQ(kept->count(), static_cast<int64_t>(expected.size())) << count;
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(kept->as<int64_t>()[i], expected[i]) << count;
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

template <class T>
void checkNonZero(DType dtype, std::initializer_list<T> kinds, std::initializer_list<bool> areZero) {
  const Shape shape{3, 5, 700};  // rows of more than one part
  std::vector<T> x;
  std::vector<std::vector<int64_t>> expected(3);
  for (int64_t i = 0; i < shape.count(); ++i) {
    const auto kind = static_cast<size_t>((i * 7919 >> 3) % static_cast<int64_t>(kinds.size()));
    x.push_back(kinds.begin()[kind]);
    if (areZero.begin()[kind]) continue;
    for (const auto& [axis, place] : {std::pair(0, i / 3500), std::pair(1, i / 700 % 5), std::pair(2, i % 700)})
      expected[static_cast<size_t>(axis)].push_back(place);
  }
  const Ref<Tensor> result = run("NonZero", {Tensor::copyOf(dtype, shape, x.data())})[0];
  const auto count = static_cast<int64_t>(expected[0].size());
  ASSERT_EQ(result->shape(), (Shape{3, count})) << concat(dtype);
  for (size_t axis = 0; axis < 3; ++axis)
    EXPECT_TRUE(std::equal(expected[axis].begin(), expected[axis].end(),
                           result->as<int64_t>() + static_cast<int64_t>(axis) * count))
        << concat(dtype);
}

TEST(Evaluate, NonZeroTakesBothZerosAsSuch) {
  checkNonZero<float>(DType::Float32, {0.f, -0.f, 1e-40f, NAN, -2.f}, {true, true, false, false, false});
  checkNonZero<double>(DType::Float64, {0, -0.0, 1e-310, NAN}, {true, true, false, false});
  checkNonZero<uint16_t>(DType::Float16, {0, 0x8000, 0x3c00}, {true, true, false});
  checkNonZero<uint16_t>(DType::UInt16, {0, 0x8000, 0x100}, {true, false, false});
  checkNonZero<int64_t>(DType::Int64, {0, INT64_MIN, int64_t{1} << 40}, {true, false, false});
  checkNonZero<int8_t>(DType::Int8, {0, -128, 1}, {true, false, false});
  EXPECT_EQ(run("NonZero", {floats({}, {2})})[0]->shape(), (Shape{1, 1}));
  EXPECT_EQ(run("NonZero", {floats({2, 0}, {})})[0]->shape(), (Shape{2, 0}));
}

template <class T>
void checkUnique(DType dtype, std::vector<T> kinds) {
  std::vector<T> x;
  for (size_t i = 0; i < 999; ++i) x.push_back(kinds[i * 7919 / 3 % kinds.size()]);
  const std::vector<Ref<Tensor>> results = run("Unique", {Tensor::copyOf(dtype, {999}, x.data())}, {}, 4);
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  ASSERT_EQ(results[0]->count(), static_cast<int64_t>(kinds.size())) << concat(dtype);
  for (size_t k = 0; k < kinds.size(); ++k) {
    EXPECT_EQ(results[0]->as<T>()[k], kinds[k]);
    EXPECT_EQ(results[1]->as<int64_t>()[k], std::find(x.begin(), x.end(), kinds[k]) - x.begin());
    EXPECT_EQ(results[3]->as<int64_t>()[k], std::count(x.begin(), x.end(), kinds[k]));
  }
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(kinds[static_cast<size_t>(results[2]->as<int64_t>()[i])], x[i]);
}

TEST(Evaluate, UniqueSortsNumbersOfAllTypes) {
  checkUnique<int64_t>(DType::Int64, {3, -1, INT64_MIN, INT64_MAX, 0, 255, 256, -256, int64_t{1} << 40});
  checkUnique<uint64_t>(DType::UInt64, {3, UINT64_MAX, 0, uint64_t{1} << 63, 256});
  checkUnique<float>(DType::Float32, {0.f, -0.f, 1.f, -1.f, 1e-40f, -HUGE_VALF, HUGE_VALF, 3e38f, -2.5f});
  checkUnique<double>(DType::Float64, {0.0, -1.0, 1e-310, -HUGE_VAL, HUGE_VAL, 3e300});
  checkUnique<uint8_t>(DType::UInt8, {255, 7, 0, 128});
  checkUnique<int8_t>(DType::Int8, {5});
}

TEST(Evaluate, CompressTakesSlicesOfAnySize) {
  const Ref<Tensor> data = floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Ref<Tensor> ends = Tensor::of<uint8_t>(DType::Bool, {3}, {1, 0, 1}),
                    none = Tensor::of<uint8_t>(DType::Bool, {1}, {0});
  const auto along = [](int64_t axis) { return attributesOf({{"axis", axis}}); };
  expectFloats(run("Compress", {data, ends}, along(1))[0], {2, 2, 2}, {1, 2, 5, 6, 7, 8, 11, 12});
  expectFloats(run("Compress", {data, ends})[0], {2}, {1, 3});
  expectFloats(run("Compress", {data, none}, along(2))[0], {2, 3, 0}, {});
  expectFloats(run("Compress", {data, Tensor::of<uint8_t>(DType::Bool, {2}, {0, 1})}, along(2))[0], {2, 3, 1},
               {2, 4, 6, 8, 10, 12});
  const Ref<Tensor> bytes = Tensor::of<uint8_t>(DType::UInt8, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Ref<Tensor> chosen = run("Compress", {bytes, ends}, along(1))[0];
  ASSERT_EQ(chosen->shape(), Shape({2, 2}));
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(chosen->as<uint8_t>()[i], (std::array{1, 3, 4, 6})[static_cast<size_t>(i)]);
}

TEST(Evaluate, HalfPrecisionGoesThroughTheReferenceKernels) {
  const Ref<Tensor> half = Tensor::of<uint16_t>(DType::Float16, {2}, {0x3c00, 0xc000});  // 1, -2
  const Ref<Tensor> result = run("Softmax", {half})[0];
  EXPECT_EQ(result->dtype(), DType::Float16);
  EXPECT_EQ(result->as<uint16_t>()[0], 0x3b9f);  // 0.9526
}

}  // namespace
}  // namespace max
