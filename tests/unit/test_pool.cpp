// SPDX-License-Identifier: Apache-2.0
#include "op_harness.h"

namespace max {
namespace {

using namespace test;

// Output size of a pool along one axis.
int64_t outputOf(int64_t input, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads, bool ceiling) {
  const int64_t room = input + pads - dilation * (kernel - 1) - 1;
  return (ceiling && room > 0 ? (room + stride - 1) / stride : room / stride) + 1;
}

TEST(Pool, AgreesWithReference) {
  forEachTarget([] {
    Random random(1);
    const auto pick = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int round = 0; round < 150; ++round) {
      const int rank = static_cast<int>(pick(1, 3));
      Shape x{pick(1, 2)}, y{x[0]};
      std::vector<int64_t> kernel, strides, dilations, pads(static_cast<size_t>(2 * rank));
      const bool ceiling = round % 3 == 0;
      for (int i = 0; i < rank; ++i) {
        kernel.push_back(pick(1, 3));
        strides.push_back(pick(1, 3));
        dilations.push_back(pick(1, 2));
        const int64_t reach = dilations.back() * (kernel.back() - 1);
        pads[static_cast<size_t>(i)] = std::min<int64_t>(pick(0, 1), reach);
        pads[static_cast<size_t>(i + rank)] = std::min<int64_t>(pick(0, 1), reach);
        x.push(pick(6, 9));
        y.push(outputOf(x.back(), kernel.back(), strides.back(), dilations.back(),
                        pads[static_cast<size_t>(i)] + pads[static_cast<size_t>(i + rank)], ceiling));
      }
      const int64_t channels = round % 2 ? pick(1, 8) : pick(1, 150);
      x.push(channels);
      y.push(channels);
      const auto input = randomTensor(random, DType::Float32, x);
      for (const char* op : {"MaxPool", "AveragePool"}) {
        LooseNode node(kMaxDomain, op,
                       with({{"kernel_shape", kernel},
                             {"strides", strides},
                             {"dilations", dilations},
                             {"pads", pads},
                             {"ceil_mode", int64_t{ceiling}},
                             {"count_include_pad", int64_t{round % 2}}}));
        const auto expected = runOp(node.node(), {input}, {{DType::Float32, y}}, "reference");
        const auto actual = runOp(node.node(), {input}, {{DType::Float32, y}}, "pool", 1 + round % 3);
        expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, concat(op, " ", x, " to ", y));
      }
    }
  });
}

// Rows of planes: wide ones, those of less than a vector, and windows that mostly see the padding.
TEST(Pool, RowsOfPlanesAgreeWithReference) {
  struct Case {
    std::vector<int64_t> in, kernel, strides, dilations, pads;
  };
  const Case cases[] = {
      {{57}, {3}, {1}, {1}, {1, 1}},
      {{300}, {25}, {1}, {1}, {12, 12}},
      {{101}, {5}, {2}, {1}, {0, 2}},
      {{64}, {4}, {4}, {1}, {0, 0}},
      {{20, 70}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{13, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{13, 56}, {3, 3}, {1, 1}, {2, 2}, {0, 0, 0, 0}},
      {{30, 9}, {1, 3}, {3, 3}, {1, 1}, {0, 2, 0, 1}},
      {{8, 90}, {3, 4}, {1, 2}, {2, 3}, {2, 8, 4, 3}},
      {{9, 40}, {7, 7}, {1, 5}, {1, 1}, {6, 3, 6, 6}},
      {{8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
      {{12, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
      {{17, 35}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{64, 23}, {5, 5}, {1, 1}, {2, 1}, {4, 2, 4, 2}},
      {{65, 12}, {5, 3}, {2, 1}, {1, 1}, {2, 0, 2, 2}},
      {{3, 6, 15}, {1, 4, 3}, {1, 3, 2}, {1, 1, 1}, {0, 3, 2, 0, 3, 1}},
      {{5, 9, 33}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 1, 1, 1}},
      {{4, 6, 18}, {3, 3, 3}, {1, 1, 3}, {1, 1, 1}, {1, 2, 0, 1, 0, 2}},
  };
  forEachTarget([&] {
    Random random(4);
    for (const Case& test : cases) {
      Shape x{2, 3}, y{2, 3};
      const size_t rank = test.in.size();
      for (size_t i = 0; i < rank; ++i) {
        x.push(test.in[i]);
        y.push(outputOf(test.in[i], test.kernel[i], test.strides[i], test.dilations[i],
                        test.pads[i] + test.pads[i + rank], false));
      }
      const auto input = randomTensor(random, DType::Float32, x);
      for (const char* op : {"MaxPool", "AveragePool"})
        for (const int64_t includesPads : {0, 1}) {
          LooseNode node(op, with({{"kernel_shape", test.kernel},
                                   {"strides", test.strides},
                                   {"dilations", test.dilations},
                                   {"pads", test.pads},
                                   {"count_include_pad", includesPads}}));
          const auto expected = runOp(node.node(), {input}, {{DType::Float32, y}}, "reference");
          const auto actual = runOp(node.node(), {input}, {{DType::Float32, y}}, "rows_f32", 2);
          expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, max::concat(op, " ", x, " to ", y));
        }
    }
  });
}

// With ceil_mode the only window may be larger than what is under it.
TEST(Pool, WindowsLargerThanThePaddedInput) {
  forEachTarget([] {
    Random random(2);
    for (const int64_t size : {1, 2, 3})
      for (const int64_t pad : {0, 1}) {
        const int64_t kernel = size + 2 * pad + 2, stride = 3;
        ASSERT_EQ(outputOf(size, kernel, stride, 1, 2 * pad, true), 1);
        const auto input = randomTensor(random, DType::Float32, {2, size, size, 5});
        for (const char* op : {"MaxPool", "AveragePool"})
          for (const int64_t includesPads : {0, 1}) {
            LooseNode node(kMaxDomain, op,
                           with({{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                                 {"strides", std::vector<int64_t>{stride, stride}},
                                 {"pads", std::vector<int64_t>(4, pad)},
                                 {"ceil_mode", int64_t{1}},
                                 {"count_include_pad", includesPads}}));
            const Shape y{2, 1, 1, 5};
            const auto expected = runOp(node.node(), {input}, {{DType::Float32, y}}, "reference");
            const auto actual = runOp(node.node(), {input}, {{DType::Float32, y}}, "pool");
            expectClose(*actual.outputs[0], *expected.outputs[0], 1e-6, concat(op, " of ", size, " with ", pad));
          }
      }
  });
}

// Neighbours of a row are compared together; equal elements, NaN and infinite ones decide as they do alone.
TEST(Pool, IndicesOfWideRows) {
  Random random(3);
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Int8, DType::UInt8})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t kernel : {1, 2, 3})
        for (const int64_t dilation : {1, 2}) {
          const int64_t pad = kernel / 2, width = 207;
          const auto input = randomTensor(random, dtype, {2, 3, 12, width}, -3, 3);
          for (int64_t i = 0; i < input->count(); ++i) {
            const double value = std::round(numberAt(*input, i));
            const bool isOdd = isFloat(dtype) && i % 61 == 0;
            storeNumber(input->mutableData(), i, dtype, !isOdd ? value : i % 2 ? NAN : -HUGE_VAL);
          }
          LooseNode node("MaxPool", with({{"kernel_shape", std::vector<int64_t>{kernel, kernel}},
                                          {"strides", std::vector<int64_t>{1, stride}},
                                          {"dilations", std::vector<int64_t>{1, dilation}},
                                          {"pads", std::vector<int64_t>(4, pad)}}));
          const Shape y{2, 3, outputOf(12, kernel, 1, 1, 2 * pad, false),
                        outputOf(width, kernel, stride, dilation, 2 * pad, false)};
          const std::vector<OutputType> types = {{dtype, y}, {DType::Int64, y}};
          const auto expected = runOp(node.node(), {input}, types, "reference");
          const auto actual = runOp(node.node(), {input}, types, "planes", 2);
          for (size_t i = 0; i < 2; ++i)
            expectClose(*actual.outputs[i], *expected.outputs[i], 0, max::concat(dtype, " ", stride, " ", kernel));
        }
}

}  // namespace
}  // namespace max
