// SPDX-License-Identifier: Apache-2.0
// Rows of a few elements, whose own cost counts: padded channels, values repeated along a short last axis, slices that
// are added to data.
#include "op_harness.h"

namespace max::test {
namespace {

Ref<Tensor> ints(const std::vector<int64_t>& values, const Shape& shape) {
  return Tensor::copyOf(DType::Int64, shape, values.data());
}

TEST(ShortRows, PaddedOnAnyAxes) {
  Random random(11);
  for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Float64})
    for (const int64_t width : {1, 3, 24, 700}) {
      const Shape in{2, 3, 5, width};
      const std::vector<Ref<Tensor>> data = {randomTensor(random, dtype, in)};
      for (const std::vector<int64_t>& pads : std::vector<std::vector<int64_t>>{{0, 0, 0, 0, 0, 0, 0, 4},
                                                                                {0, 0, 0, 0, 0, 0, 0, 2000},
                                                                                {0, 0, 1, 0, 0, 0, 2, 0},
                                                                                {1, 0, 0, 0, 0, 2, 0, 0},
                                                                                {1, 2, 1, 3, 1, 0, 2, 1},
                                                                                {0, -1, -2, 1, 0, 0, 1, 0}}) {
        Shape out = in;
        for (int i = 0; i < 4; ++i) out[i] += pads[static_cast<size_t>(i)] + pads[static_cast<size_t>(i) + 4];
        LooseNode pad("Pad");
        std::vector<Ref<Tensor>> inputs = {data[0], ints(pads, {8}), randomTensor(random, dtype, {})};
        const KernelRun expected = runOp(pad.node(), inputs, {{dtype, out}}, "reference");
        for (const int lanes : {1, 3}) {
          const KernelRun actual = runOp(pad.node(), inputs, {{dtype, out}}, "indexed_copy", lanes, lanes == 1);
          expectClose(*actual.outputs[0], *expected.outputs[0], 0, concat(dtype, " ", out, " on ", lanes));
        }
      }
    }
}

// Each operand is copied to a block of its own, and the rows of the first fill more than they need.
TEST(ShortRows, ValuesRepeatedAlongTheLastAxis) {
  Random random(12);
  for (const DType dtype : {DType::UInt8, DType::Float32, DType::Float64})
    for (const int64_t width : {2, 5, 8, 15, 16, 17, 40, 70})
      for (const int64_t rows : {1, 7, 301}) {
        const Shape out{3, rows, width};
        const std::vector<std::vector<Shape>> shapes = {
            {{3, rows, 1}, {width}}, {{3, rows, 1}, {3, 1, width}}, {{rows, 1}, {3, 1, width}}};
        for (const std::vector<Shape>& pair : shapes) {
          const std::vector<Ref<Tensor>> inputs = {randomTensor(random, dtype, pair[0], 0, 9),
                                                   randomTensor(random, dtype, pair[1], 0, 9)};
          LooseNode add("Add");
          const KernelRun expected = runOp(add.node(), inputs, {{dtype, out}}, "reference");
          const KernelRun actual = runOp(add.node(), inputs, {{dtype, out}}, "elementwise", 2);
          expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, concat(dtype, " ", pair[0], " ", pair[1]));
        }
      }
}

double combined(std::string_view reduction, double old, double update) {
  return reduction == "add" ? old + update : reduction == "mul" ? old * update : update;
}

TEST(ShortRows, SlicesCombinedWithData) {
  forEachTarget([] {
    Random random(13);
    for (const DType dtype : {DType::Float32, DType::Float64, DType::Int32})
      for (const int64_t width : {1, 15, 16, 17, 67})
        for (const char* reduction : {"none", "add", "mul"}) {
          const int64_t rows = 9, count = 50;
          std::vector<int64_t> list;
          for (int64_t i = 0; i < count; ++i)
            list.push_back(static_cast<int64_t>(random() % rows) - (i % 2 ? rows : 0));
          const std::vector<Ref<Tensor>> inputs = {randomTensor(random, dtype, {rows, width}), ints(list, {count, 1}),
                                                   randomTensor(random, dtype, {count, width}, 0.5, 1.5)};
          Attributes attributes;
          attributes.set("reduction", std::string(reduction));
          LooseNode scatter("ScatterND", attributes);
          const std::vector<OutputType> type = {{dtype, {rows, width}}};
          const Ref<Tensor> expected = Tensor::copyOf(dtype, {rows, width}, inputs[0]->data());
          for (int64_t k = 0; k < count * width; ++k) {
            const int64_t row = list[static_cast<size_t>(k / width)];
            const int64_t at = (row < 0 ? row + rows : row) * width + k % width;
            const double old = numberAt(*expected, at), update = numberAt(*inputs[2], k);
            storeNumber(expected->mutableData(), at, dtype, combined(reduction, old, update));
          }
          const KernelRun actual = runOp(scatter.node(), inputs, type, "scatter", 3);
          expectClose(*actual.outputs[0], *expected, 1e-5, concat(reduction, " ", dtype, " ", width));
        }
  });
}

}  // namespace
}  // namespace max::test
