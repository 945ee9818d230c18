// SPDX-License-Identifier: Apache-2.0
// Data movement: what the random comparison of test_random_ops.cpp does not reach, that is large
// tensors on several lanes, positions known only when running, and indices out of range.
#include <numeric>
#include <random>

#include "base/error.h"
#include "op_harness.h"
#include "ops/cpu/movement/tensor_copy.h"
#include "ops/cpu/movement/transpose_tile.h"

namespace max::test {
namespace {

Ref<Tensor> counting(const Shape& shape) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  auto* values = static_cast<float*>(tensor->mutableData());
  std::iota(values, values + tensor->count(), 0.f);
  return tensor;
}

Ref<Tensor> ints(const std::vector<int64_t>& values, Shape shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return Tensor::copyOf(DType::Int64, shape, values.data());
}

std::vector<float> floatsOf(const Tensor& tensor) { return {tensor.as<float>(), tensor.as<float>() + tensor.count()}; }

// Runs a node and returns its first output.
Ref<Tensor> runNode(std::string_view op, Attributes attributes, const std::vector<Ref<Tensor>>& inputs,
                    const Shape& output, int lanes = 1, bool constants = false, bool inPlace = false) {
  LooseNode node(op, std::move(attributes));
  return runOp(node.node(), inputs, {{inputs[0]->dtype(), output}}, {}, lanes, constants, inPlace).outputs[0];
}

template <class Body>
std::string errorOf(MaxStatus status, Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    return error.message();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(TensorCopy, TransposesLargeMatricesOnSeveralLanes) {
  // Powers of two go through a buffer; odd sizes have tails on both sides; a few rows or columns are interleaved, and
  // some more are the first ones of squares. What is behind the target stays.
  forEachTarget([] {
    for (const Shape& shape :
         {Shape{512, 1024}, Shape{301, 777}, Shape{2, 20001},  Shape{3, 20000},  Shape{4, 20003}, Shape{20001, 2},
          Shape{20000, 3},  Shape{20003, 4}, Shape{20001, 18}, Shape{17, 20003}, Shape{20001, 5}, Shape{20016, 9},
          Shape{20003, 15}, Shape{16, 7},    Shape{20001, 23}, Shape{5, 20001},  Shape{7, 20003}, Shape{15, 9001},
          Shape{23, 9001},  Shape{13, 13},   Shape{65, 70},    Shape{17, 3}})
      for (const size_t size : {1, 2, 4, 8, 16}) {
        const int64_t rows = shape[0], columns = shape[1];
        std::vector<unsigned char> source(static_cast<size_t>(rows * columns) * size), target(source.size() + 16, 171);
        for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 31 + i / 256);
        const TensorCopy copy(size, {columns, rows}, {1, columns}, {rows, 1});
        copy.run(reinterpret_cast<std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data()), 3);
        for (size_t i = source.size(); i < target.size(); ++i)
          ASSERT_EQ(target[i], 171) << rows << " x " << columns << " of " << size;
        const int64_t rowStep = rows > 70 ? 7 : 1, columnStep = columns > 70 ? 5 : 1;
        for (int64_t r = 0; r < rows; r += rowStep)
          for (int64_t c = 0; c < columns; c += columnStep)
            ASSERT_EQ(std::memcmp(&target[static_cast<size_t>(c * rows + r) * size],
                                  &source[static_cast<size_t>(r * columns + c) * size], size),
                      0)
                << r << " " << c << " of " << size;
      }
  });
}

TEST(Transpose, TakesMatricesWithoutElements) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{0, 0}, {0, 7}, {7, 0}, {0, 100}, {100, 0}})
    transposeFloats(nullptr, columns, nullptr, rows, rows, columns);
}

// Results of this size are stored past the caches, where lines of the target begin at multiples of their size.
TEST(TensorCopy, TransposesMatricesBeyondTheCaches) {
  forEachTarget([] {
    for (const Shape& shape : {Shape{2064, 2053}, Shape{2053, 2064}, Shape{64, 70000}, Shape{70000, 64}}) {
      const Ref<Tensor> data = counting(shape);
      const Ref<Tensor> out = runNode("Transpose", {}, {data}, {shape[1], shape[0]}, 2);
      for (int64_t c = 0; c < shape[1]; c += 3)
        for (int64_t r = 0; r < shape[0]; ++r)
          ASSERT_EQ(out->as<float>()[c * shape[0] + r], data->as<float>()[r * shape[1] + c]) << r << " " << c;
    }
  });
}

// Runs of whole lines, others, and targets that begin within a line.
TEST(TensorCopy, CopiesRunsBeyondTheCaches) {
  forEachTarget([] {
    for (const auto& [size, shift] : {std::pair<int64_t, int64_t>{64, 0}, {64, 4}, {72, 0}}) {
      const int64_t outer = 70, rows = 31, columns = 33;
      const Ref<Tensor> data = counting({outer, rows, columns, size});
      const Ref<Tensor> out = Tensor::allocate(DType::Float32, {data->count() + shift});
      float* target = static_cast<float*>(out->mutableData()) + shift;
      const Shape from = {rows * columns * size, size, columns * size, 1},
                  to = contiguousStrides({outer, columns, rows, size});
      TensorCopy(4, {outer, columns, rows, size}, from, to)
          .run(static_cast<const std::byte*>(data->data()), reinterpret_cast<std::byte*>(target), 2);
      for (int64_t o = 0; o < outer; o += 3)
        for (int64_t c = 0; c < columns; ++c)
          for (int64_t r = 0; r < rows; ++r)
            ASSERT_EQ(std::memcmp(target + ((o * columns + c) * rows + r) * size,
                                  data->as<float>() + ((o * rows + r) * columns + c) * size,
                                  static_cast<size_t>(size) * sizeof(float)),
                      0);
    }
  });
}

TEST(TensorCopy, CopiesLargeBlocksAndRuns) {
  const Ref<Tensor> data = counting({64, 3, 1000});
  const Attributes axis = with({{"axis", int64_t{1}}});
  const Ref<Tensor> joined = runNode("Concat", axis, {data, data}, {64, 6, 1000}, 3);
  for (const int64_t outer : {0, 33, 63})
    for (const int64_t k : {0, 2999, 3000, 5999})
      EXPECT_EQ(joined->as<float>()[outer * 6000 + k], static_cast<float>(outer * 3000 + k % 3000));
  const Ref<Tensor> same = runNode("Identity", {}, {data}, data->shape(), 3);
  EXPECT_EQ(std::memcmp(same->data(), data->data(), data->bytes()), 0);
}

TEST(TensorCopy, RepeatsRuns) {
  for (const int64_t bytes : {1, 4, 7, 9, 12, 15, 16, 24, 200, 9000})
    for (const int64_t count : {1, 2, 50, 1111}) {
      std::vector<unsigned char> source(static_cast<size_t>(3 * bytes)),
          target(source.size() * static_cast<size_t>(count));
      for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 31 + i / 256);
      const TensorCopy copy(1, {3, count, bytes}, {bytes, 0, 1}, {count * bytes, bytes, 1});
      copy.run(reinterpret_cast<std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data()), 2);
      for (int64_t i = 0; i < 3 * count; ++i)
        ASSERT_EQ(std::memcmp(&target[static_cast<size_t>(i * bytes)], &source[static_cast<size_t>(i / count * bytes)],
                              static_cast<size_t>(bytes)),
                  0)
            << i << " of " << count << " with " << bytes;
    }
}

// What lies between them stays.
TEST(TensorCopy, CopiesShortRunsThatLieApart) {
  constexpr int64_t kRuns = 21, kFrom = 40, kTo = 37;
  for (int64_t bytes = 3; bytes < kTo; ++bytes) {
    std::vector<unsigned char> source(kRuns * kFrom), target(kRuns * kTo, 255);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i % 251);
    const TensorCopy copy(1, {kRuns, bytes}, {kFrom, 1}, {kTo, 1});
    copy.run(reinterpret_cast<std::byte*>(source.data()), reinterpret_cast<std::byte*>(target.data()), 1);
    for (int64_t i = 0; i < kRuns * kTo; ++i) {
      const int64_t run = i / kTo, at = i % kTo;
      const unsigned char expected = at < bytes ? source[static_cast<size_t>(run * kFrom + at)] : 255;
      ASSERT_EQ(target[static_cast<size_t>(i)], expected) << at << " of " << bytes;
    }
  }
}

TEST(Movement, PositionsMayBeKnownOnlyWhenRunning) {
  const std::vector<Ref<Tensor>> slice{counting({5}), ints({4}), ints({0}), ints({0}), ints({-2})};
  const std::vector<Ref<Tensor>> pad{counting({3}), ints({2, 1})};
  for (const bool constants : {false, true}) {
    EXPECT_EQ(floatsOf(*runNode("Slice", {}, slice, {2}, 1, constants)), (std::vector<float>{4, 2}));
    const Attributes mode = with({{"mode", std::string("reflect")}});
    EXPECT_EQ(floatsOf(*runNode("Pad", mode, pad, {6}, 1, constants)), (std::vector<float>{2, 1, 0, 1, 2, 1}));
  }
}

TEST(Movement, PadChecksThatPadsFitTheOutput) {
  const std::string message = errorOf(MAX_STATUS_INVALID_ARGUMENT, [] {
    runNode("Pad", {}, {counting({3}), ints({1, 1})}, {4});
  });
  EXPECT_NE(message.find("pads 1 and 1 do not turn [3] into [4]"), std::string::npos) << message;
}

TEST(Gather, TakesRowsOfAnySize) {
  for (const int64_t inner : {1, 2, 3, 4, 37}) {
    const Ref<Tensor> data = counting({2, 4, inner});
    const Ref<Tensor> out = runNode("Gather", with({{"axis", int64_t{1}}}), {data, ints({3, -4, 1})}, {2, 3, inner}, 2);
    for (int64_t o = 0; o < 2; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        EXPECT_EQ(out->as<float>()[(o * 3 + 0) * inner + i], static_cast<float>((o * 4 + 3) * inner + i));
        EXPECT_EQ(out->as<float>()[(o * 3 + 1) * inner + i], static_cast<float>((o * 4 + 0) * inner + i));
      }
  }
}

// What known indices select in runs is copied run by run; single indices between them, and negative ones, are runs too.
TEST(Gather, TakesRunsOfKnownIndices) {
  std::vector<int64_t> indices;
  for (const int64_t first : {0, 3, -20, 7})
    for (int64_t i = 0; i < 16; ++i) indices.push_back(first + i);
  indices.push_back(19);
  const auto count = static_cast<int64_t>(indices.size());
  for (const int64_t inner : {1, 3, 40})
    for (const int64_t outer : {1, 500}) {
      const Ref<Tensor> data = counting({outer, 30, inner});
      const Ref<Tensor> out =
          runNode("Gather", with({{"axis", int64_t{1}}}), {data, ints(indices)}, {outer, count, inner}, 3, true);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < count; ++k) {
          const int64_t index = (indices[static_cast<size_t>(k)] + 30) % 30;
          ASSERT_EQ(out->as<float>()[(o * count + k) * inner], static_cast<float>((o * 30 + index) * inner));
          ASSERT_EQ(out->as<float>()[(o * count + k + 1) * inner - 1],
                    static_cast<float>((o * 30 + index + 1) * inner - 1));
        }
    }
}

// Likewise what known indices write in runs; of elements that are written twice the last one stays.
TEST(Scatter, WritesRunsOfKnownIndices) {
  for (const int64_t inner : {1, 2, 40}) {
    const Ref<Tensor> data = counting({4, 30, inner});
    std::vector<int64_t> indices;
    for (const int64_t row : {0, 3, -2})
      for (int64_t i = 0; i < 16; ++i) indices.insert(indices.end(), {row, (row == 3 ? 5 : -30) + i});
    for (int64_t i = 0; i < 9; ++i) indices.insert(indices.end(), {0, 10 + i});
    const auto count = static_cast<int64_t>(indices.size()) / 2;
    std::vector<float> updates;
    for (int64_t i = 0; i < count * inner; ++i) updates.push_back(static_cast<float>(-i));
    const auto run = [&](bool constants) {
      return floatsOf(
          *runNode("ScatterND", {},
                   {data, ints(indices, {count, 2}), Tensor::copyOf(DType::Float32, {count, inner}, updates.data())},
                   data->shape(), 1, constants));
    };
    const std::vector<float> result = run(true);
    EXPECT_EQ(result, run(false));
    EXPECT_EQ(result[static_cast<size_t>(10 * inner)], -static_cast<float>(48 * inner));
    EXPECT_EQ(result[static_cast<size_t>(95 * inner)], -static_cast<float>(16 * inner));
  }
}

TEST(Gather, ElementsAndTuples) {
  const Ref<Tensor> data = counting({2, 3});
  const Attributes axis1 = with({{"axis", int64_t{1}}});
  EXPECT_EQ(floatsOf(*runNode("GatherElements", axis1, {data, ints({2, 0, -1, 1}, {2, 2})}, {2, 2})),
            (std::vector<float>{2, 0, 5, 4}));
  EXPECT_EQ(floatsOf(*runNode("GatherElements", {}, {data, ints({1, 0, 1}, {1, 3})}, {1, 3})),
            (std::vector<float>{3, 1, 5}));
  EXPECT_EQ(floatsOf(*runNode("GatherND", {}, {data, ints({1, 2, 0, -1}, {2, 2})}, {2})), (std::vector<float>{5, 2}));
  EXPECT_EQ(floatsOf(*runNode("GatherND", with({{"batch_dims", int64_t{1}}}), {data, ints({2, 0}, {2, 1})}, {2})),
            (std::vector<float>{2, 3}));
}

TEST(Gather, IndicesOutOfRangeAreErrorsThatNameThem) {
  const Ref<Tensor> data = counting({2, 3});
  for (const int64_t index : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    const Attributes axis1 = with({{"axis", int64_t{1}}});
    for (const char* op : {"Gather", "GatherElements"}) {
      const std::string message = errorOf(MAX_STATUS_OUT_OF_RANGE, [&] {
        runNode(op, axis1, {data, ints({0, index}, {2, 1})},
                std::string_view(op) == "Gather" ? Shape{2, 2, 1} : Shape{2, 1});
      });
      EXPECT_NE(message.find(max::concat("index ", index, " is out of range [-3, 2] of axis 1")), std::string::npos)
          << message;
    }
    errorOf(MAX_STATUS_OUT_OF_RANGE, [&] { runNode("GatherND", {}, {data, ints({0, index}, {1, 2})}, {1}); });
    for (const bool constants : {false, true})
      errorOf(MAX_STATUS_OUT_OF_RANGE, [&] {
        runNode("ScatterND", {}, {data, ints({0, index}, {1, 2}), counting({1})}, {2, 3}, 1, constants);
      });
    errorOf(MAX_STATUS_OUT_OF_RANGE, [&] {
      runNode("ScatterElements", axis1, {data, ints({index}, {1, 1}), counting({1, 1})}, {2, 3});
    });
  }
}

TEST(Scatter, UpdatesInOrderAndInPlace) {
  const Ref<Tensor> data = counting({4});
  const Ref<Tensor> updates = Tensor::of<float>(DType::Float32, {3}, {10, 20, 30});
  for (const bool inPlace : {false, true}) {
    EXPECT_EQ(floatsOf(*runNode("ScatterElements", {}, {data, ints({1, 3, 1}), updates}, {4}, 1, false, inPlace)),
              (std::vector<float>{0, 30, 2, 20}));
    const Attributes add = with({{"reduction", std::string("add")}});
    EXPECT_EQ(floatsOf(*runNode("ScatterND", add, {data, ints({1, 3, 1}, {3, 1}), updates}, {4}, 1, false, inPlace)),
              (std::vector<float>{0, 41, 2, 23}));
  }
}

// Threads share rows of the data, or groups of rows of the indices; every update of an element comes in its place.
TEST(Scatter, DoesNotDependOnTheNumberOfThreads) {
  const int64_t rows = 37, columns = 40, count = 3000;
  Random random(5);
  std::vector<int64_t> list, elements;
  for (int64_t i = 0; i < count; ++i) list.push_back(static_cast<int64_t>(random() % rows) - (i % 2 ? rows : 0));
  for (int64_t i = 0; i < rows * count; ++i) elements.push_back(static_cast<int64_t>(random() % columns));
  const Ref<Tensor> data = counting({rows, columns});
  const auto updatesOf = [&](const Shape& shape) {
    Ref<Tensor> updates = counting(shape);
    for (int64_t i = 0; i < updates->count(); ++i) static_cast<float*>(updates->mutableData())[i] /= 7;
    return updates;
  };
  for (const char* reduction : {"none", "add", "mul", "max"}) {
    Attributes along = with({{"reduction", std::string(reduction)}});
    const auto slices = [&](int lanes) {
      return runNode("ScatterND", along, {data, ints(list, {count, 1}), updatesOf({count, columns})}, data->shape(),
                     lanes);
    };
    Attributes across = along;
    across.set("axis", int64_t{1});
    const auto single = [&](int lanes) {
      return runNode("ScatterElements", across, {data, ints(elements, {rows, count}), updatesOf({rows, count})},
                     data->shape(), lanes);
    };
    EXPECT_EQ(std::memcmp(slices(1)->data(), slices(4)->data(), data->bytes()), 0) << reduction;
    EXPECT_EQ(std::memcmp(single(1)->data(), single(4)->data(), data->bytes()), 0) << reduction;
  }
  list[count / 2] = rows;
  EXPECT_NE(
      errorOf(MAX_STATUS_OUT_OF_RANGE,
              [&] {
                runNode("ScatterND", {}, {data, ints(list, {count, 1}), updatesOf({count, columns})}, data->shape(), 4);
              })
          .find("index 37"),
      std::string::npos);
}

TEST(Scatter, ReducesHalfPrecision) {
  const auto half = [](std::vector<float> values) {
    Ref<Tensor> tensor = Tensor::allocate(DType::Float16, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i)
      static_cast<uint16_t*>(tensor->mutableData())[i] = halfFromFloat(values[i]);
    return tensor;
  };
  const Attributes largest = with({{"reduction", std::string("max")}});
  const auto result = runNode("ScatterElements", largest, {half({1, 5}), ints({0, 1}), half({2.5, 3})}, {2});
  EXPECT_EQ(numberAt(*result, 0), 2.5);
  EXPECT_EQ(numberAt(*result, 1), 5);
}

TEST(OneHot, IndicesOutsideOfTheDepthSetNothing) {
  LooseNode node("OneHot");
  const auto values = Tensor::of<float>(DType::Float32, {2}, {-1, 1});
  const auto run = runOp(node.node(), {ints({1, -1, 7, INT64_MIN}), ints({3}), values}, {{DType::Float32, {4, 3}}});
  EXPECT_EQ(floatsOf(*run.outputs[0]), (std::vector<float>{-1, 1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1}));
}

TEST(ReverseSequence, RefusesLengthsBeyondTheData) {
  const auto run = [](int64_t length) {
    return runNode("ReverseSequence", {}, {counting({3, 1}), ints({length})}, {3, 1});
  };
  EXPECT_EQ(floatsOf(*run(2)), (std::vector<float>{1, 0, 2}));
  errorOf(MAX_STATUS_OUT_OF_RANGE, [&] { run(4); });
  errorOf(MAX_STATUS_OUT_OF_RANGE, [&] { run(-1); });
}

}  // namespace
}  // namespace max::test
