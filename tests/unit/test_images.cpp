// SPDX-License-Identifier: Apache-2.0
// ImageDecoder on small files, and what operators on images and caches refuse.
#include <functional>

#include "base/error.h"
#include "graph/graph.h"
#include "op_harness.h"
#include "weights_harness.h"

namespace max {
namespace {

using test::with;
using Ints = std::vector<int64_t>;

Ref<Tensor> ints(const Ints& values) {
  return Tensor::copyOf(DType::Int64, {static_cast<int64_t>(values.size())}, values.data());
}

Ref<Tensor> floats(const Shape& shape, float value = 1) {
  Ref<Tensor> tensor = Tensor::allocate(DType::Float32, shape);
  std::fill_n(static_cast<float*>(tensor->mutableData()), tensor->count(), value);
  return tensor;
}

std::vector<Ref<Tensor>> run(std::string_view op, const std::vector<Ref<Tensor>>& inputs, Attributes attributes = {}) {
  const auto graph = makeRef<Graph>("test");
  std::vector<Value*> values;
  std::vector<const Tensor*> tensors;
  for (const Ref<Tensor>& input : inputs) {
    values.push_back(input ? graph->addConstant(input) : nullptr);
    tensors.push_back(input.get());
  }
  return evaluate(*graph->addNode("", op, values, std::move(attributes), 1, "n"), tensors);
}

void expectError(std::string_view op, const std::vector<Ref<Tensor>>& inputs, Attributes attributes,
                 const std::string& part) {
  try {
    run(op, inputs, std::move(attributes));
    ADD_FAILURE() << op << " took it: " << part;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("'n'"), std::string::npos) << error.message();
  }
}

Ref<Tensor> file(const std::string& bytes) {
  return Tensor::copyOf(DType::UInt8, {static_cast<int64_t>(bytes.size())}, bytes.data());
}

// Shape and pixels, as text.
std::string decoded(const std::string& bytes, const std::string& format = "RGB") {
  const Ref<Tensor> image = run("ImageDecoder", {file(bytes)}, with({{"pixel_format", format}}))[0];
  std::string text = concat(image->shape(), ":");
  for (int64_t i = 0; i < image->count(); ++i) text += concat(" ", int{image->as<uint8_t>()[i]});
  return text;
}

std::string littleEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(i < 4 ? value >> (8 * i) & 255 : 0);
  return text;
}

std::string bitmap(int32_t width, int32_t height, uint32_t bits, const std::string& palette,
                   const std::string& content) {
  const uint32_t start = 54 + static_cast<uint32_t>(palette.size());
  return "BM" + littleEndian(0, 8) + littleEndian(start, 4) + littleEndian(40, 4) +
         littleEndian(static_cast<uint32_t>(width), 4) + littleEndian(static_cast<uint32_t>(height), 4) +
         littleEndian(1, 2) + littleEndian(bits, 2) + littleEndian(0, 24) + palette + content;
}

TEST(ImageDecoder, ReadsPortableMaps) {
  EXPECT_EQ(decoded("P6 1 2 255\n\1\2\3\4\5\6"), "[2, 1, 3]: 1 2 3 4 5 6");
  EXPECT_EQ(decoded("P6 1 2 255\n\1\2\3\4\5\6", "BGR"), "[2, 1, 3]: 3 2 1 6 5 4");
  EXPECT_EQ(decoded("P5 2 1 255\n\7\11", "Grayscale"), "[1, 2, 1]: 7 9");
  EXPECT_EQ(decoded("P4 3 1\n\240"), "[1, 3, 3]: 0 0 0 255 255 255 0 0 0");
  EXPECT_EQ(decoded("P1 # a comment\n3 1\n1 01"), "[1, 3, 3]: 0 0 0 255 255 255 0 0 0");
  EXPECT_EQ(decoded("P2\n1 1\n15\n3\n"), "[1, 1, 3]: 51 51 51");
  EXPECT_EQ(decoded("P3 1 1 255 9 8 7"), "[1, 1, 3]: 9 8 7");
}

TEST(ImageDecoder, ReadsBitmaps) {
  const std::string rows("\1\2\3\0\4\5\6\0", 8);  // the lower row first, blue first, padded
  EXPECT_EQ(decoded(bitmap(1, 2, 24, "", rows)), "[2, 1, 3]: 6 5 4 3 2 1");
  EXPECT_EQ(decoded(bitmap(1, -2, 24, "", rows)), "[2, 1, 3]: 3 2 1 6 5 4");
  EXPECT_EQ(decoded(bitmap(1, 1, 32, "", "\1\2\3\4")), "[1, 1, 3]: 3 2 1");
  EXPECT_EQ(decoded(bitmap(2, 1, 8, std::string("\1\2\3\0\4\5\6\0", 8), std::string("\1\0\0\0", 4))),
            "[1, 2, 3]: 6 5 4 3 2 1");
}

TEST(ImageDecoder, BrokenFilesGiveEmptyImages) {
  const std::string empty = "[0, 0, 3]:";
  for (const std::string& bytes :
       {std::string(), std::string("P6"), std::string("P6 1 1 255\n\1\2"), std::string("P6 0 1 255\n"),
        std::string("P6 99999999 99999999 255\n"), std::string("P5 1 1 0\n\1"), std::string("P3 1 1 255 1 2"),
        std::string("BM"), bitmap(1, 2, 24, "", "\1\2\3"), bitmap(1 << 20, 1 << 20, 24, "", "\1\2\3\4"),
        bitmap(-1, 1, 24, "", "\1\2\3\4"), bitmap(1, INT32_MIN, 24, "", "\1\2\3\4"), bitmap(1, 1, 4, "", "\1\2\3\4"),
        bitmap(1, 1, 8, "", "\1\2\3\4"), std::string("something else")})
    EXPECT_EQ(decoded(bytes), empty) << bytes;
  const std::string whole = bitmap(2, 1, 8, std::string("\1\2\3\0\4\5\6\0", 8), std::string("\1\0\0\0", 4));
  for (size_t size = 0; size + 2 < whole.size(); ++size) EXPECT_EQ(decoded(whole.substr(0, size)), empty) << size;
}

TEST(ImageDecoder, NamesFormatsThatItLacks) {
  expectError("ImageDecoder", {file("\x89PNG\r\n")}, {}, "format PNG");
  expectError("ImageDecoder", {file("\xff\xd8\xff\xe0")}, {}, "format JPEG");
  expectError("ImageDecoder", {file("P6")}, with({{"pixel_format", std::string("CMYK")}}), "'pixel_format' is 'CMYK'");
}

TEST(Images, RefuseNonsense) {
  const auto image = floats({1, 2, 4, 4});
  expectError("GridSample", {image, floats({1, 2, 2, 3})}, {}, "coordinates of the grid");
  expectError("GridSample", {image, floats({2, 2, 2, 2})}, {}, "batches");
  expectError("GridSample", {floats({1, 2, 0, 4}), floats({1, 2, 2, 2})}, {}, "no pixels");
  expectError("GridSample", {image, floats({1, 2, 2, 2})}, with({{"mode", std::string("best")}}), "'mode' is 'best'");
  expectError("RoiAlign", {image, floats({1, 4}), ints({1})}, {}, "batch index 1");
  expectError("RoiAlign", {image, floats({1, 4}), ints({0})}, with({{"sampling_ratio", int64_t{INT32_MAX}}}),
              "'sampling_ratio'");
  expectError("RoiAlign", {image, floats({1, 4}), ints({0})}, with({{"output_height", int64_t{0}}}), "'output_height'");
  expectError("MaxUnpool", {floats({1, 1, 2, 2}), ints({0, 1, 2, 3})->reshaped({1, 1, 2, 2})},
              with({{"kernel_shape", Ints{2}}}), "'kernel_shape'");
  for (const int64_t index : {int64_t{-1}, int64_t{9}, INT64_MAX})
    expectError("MaxUnpool", {floats({1, 1, 2, 2}), ints({0, 1, 2, index})->reshaped({1, 1, 2, 2})},
                with({{"kernel_shape", Ints{2, 2}}}), concat("index ", index));
  expectError("MaxUnpool", {floats({1, 1, 1, 1}), ints({0})->reshaped({1, 1, 1, 1}), ints({1, 1, 1, 1})},
              with({{"kernel_shape", Ints{2, 2}}}), "smaller");
  expectError("Col2Im", {floats({1, 5, 4}), ints({3, 3}), ints({2, 2})}, {}, "blocks of 4");
  expectError("Col2Im", {floats({1, 4, 5}), ints({3, 3}), ints({2, 2})}, {}, "positions of the block");
  expectError("Det", {floats({2, 3})}, {}, "rows and columns");
}

TEST(Images, RegionsAndCoordinatesMayBeAnything) {
  const auto image = floats({1, 1, 4, 4});
  for (const float wild : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f}) {
    for (const char* mode : {"avg", "max"}) {
      const auto y = run("RoiAlign", {image, floats({1, 4}, wild), ints({0})}, with({{"mode", std::string(mode)}}))[0];
      EXPECT_EQ(y->as<float>()[0], 0) << wild;
    }
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const char* mode : {"nearest", "linear", "cubic"}) {
        const auto y = run("GridSample", {image, floats({1, 1, 1, 2}, wild)},
                           with({{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}}))[0];
        EXPECT_NEAR(y->as<float>()[0], std::string_view(padding) == "zeros" ? 0 : 1, 1e-6) << wild << mode << padding;
      }
  }
}

template <class T>
Ref<Tensor> waves(DType dtype, const Shape& shape, double step, double size) {
  Ref<Tensor> tensor = Tensor::allocate(dtype, shape);
  for (int64_t i = 0; i < tensor->count(); ++i)
    static_cast<T*>(tensor->mutableData())[i] = static_cast<T>(static_cast<float>(size * std::sin(step * i)));
  return tensor;
}

// Several pixels at once, inside the image, at its border and outside, as in the arithmetic of double.
TEST(Images, SampledPlanes) {
  for (const int64_t count : {1, 15, 16, 300})
    for (const int64_t alignsCorners : {0, 1}) {
      const Attributes attributes = with({{"mode", std::string("linear")}, {"align_corners", alignsCorners}});
      const Shape image{2, 3, 5, 7}, grid{2, 1, count, 2};
      const auto expected =
          run("GridSample", {waves<double>(DType::Float64, image, 1, 1), waves<double>(DType::Float64, grid, 0.7, 1.5)},
              attributes)[0];
      forEachCpuTarget([&](CpuTarget target) {
        const auto y =
            run("GridSample", {waves<float>(DType::Float32, image, 1, 1), waves<float>(DType::Float32, grid, 0.7, 1.5)},
                attributes)[0];
        for (int64_t i = 0; i < y->count(); ++i)
          ASSERT_NEAR(y->as<float>()[i], expected->as<double>()[i], 1e-5) << nameOf(target) << ", result " << i;
      });
    }
  // Taps outside the image do not read it.
  const auto infinite = floats({1, 1, 4, 4}, INFINITY);
  EXPECT_EQ(run("GridSample", {infinite, floats({1, 1, 1, 2}, -5)}, with({{"mode", std::string("linear")}}))[0]
                ->as<float>()[0],
            0);
}

// Exporters leave out the last axis of real signals.
TEST(Signals, MayLackTheAxisOfParts) {
  const std::vector<float> samples = {1, -2, 3, 0.5f, 4, -1, 2, 7, 1, 3, -5, 6};
  const auto framesOf = [&](const Shape& shape) {
    return run("STFT", {Tensor::copyOf(DType::Float32, shape, samples.data()), ints({2}), floats({4}, 0.5f)})[0];
  };
  const Ref<Tensor> plain = framesOf({2, 6}), withParts = framesOf({2, 6, 1});
  ASSERT_EQ(plain->shape(), (Shape{2, 2, 3, 2}));
  ASSERT_EQ(withParts->shape(), plain->shape());
  for (int64_t i = 0; i < plain->count(); ++i) EXPECT_EQ(plain->as<float>()[i], withParts->as<float>()[i]) << i;
}

TEST(Signals, RefuseNonsense) {
  const auto signal = floats({1, 8, 1});
  expectError("DFT", {floats({1, 8, 3})}, {}, "last dimension is 3");
  expectError("DFT", {signal, nullptr, ints({2})}, {}, "holds the parts");
  expectError("DFT", {signal, nullptr, ints({7})}, {}, "axis 7");
  expectError("DFT", {signal, ints({0})}, {}, "length of the transform is 0");
  expectError("DFT", {floats({1, 8, 2})}, with({{"onesided", int64_t{1}}}), "real numbers");
  expectError("STFT", {signal, ints({0})}, {}, "frame_step is 0");
  expectError("STFT", {signal, ints({1}), nullptr, ints({9})}, {}, "longer than the signal");
  expectError("STFT", {signal, ints({1}), floats({4}), ints({5})}, {}, "the window");
  const Ref<Tensor> rate = ints({16000});
  expectError("MelWeightMatrix", {ints({0}), ints({16}), rate, floats({1}, 0), floats({1}, 8000)}, {}, "num_mel_bins");
  expectError("MelWeightMatrix", {ints({8}), ints({16}), rate, floats({1}, 0), floats({1}, 1e9f)}, {}, "mel bands");
  expectError("MelWeightMatrix", {ints({8}), ints({16}), ints({0}), floats({1}, 0), floats({1}, 8e3f)}, {},
              "mel bands");
}

TEST(Caches, RefuseNonsense) {
  const auto cache = floats({2, 4, 3});
  expectError("TensorScatter", {cache, floats({2, 2, 3}), ints({0, 3})}, {}, "write index 3");
  expectError("TensorScatter", {cache, floats({2, 2, 3}), ints({0, -1})}, {}, "write index -1");
  expectError("TensorScatter", {cache, floats({2, 5, 3})}, {}, "does not fit");
  expectError("TensorScatter", {cache, floats({2, 2, 3})}, with({{"axis", int64_t{0}}}), "axis 0");
  const auto y = run("TensorScatter", {cache, floats({2, 2, 3}, 5), ints({INT64_MAX, INT64_MIN})},
                     with({{"mode", std::string("circular")}}))[0];
  EXPECT_EQ(y->as<float>()[9], 5);  // INT64_MAX is 3 of 4: the update wraps around
  EXPECT_EQ(y->as<float>()[0], 5);
  EXPECT_EQ(y->as<float>()[3], 1);
  const auto heads = with({{"q_num_heads", int64_t{3}}, {"kv_num_heads", int64_t{2}}});
  expectError("LinearAttention", {floats({1, 2, 6}), floats({1, 2, 6}), floats({1, 2, 6})}, heads, "evenly");
  const auto gated = with({{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}});
  expectError("LinearAttention", {floats({1, 2, 6}), floats({1, 2, 6}), floats({1, 2, 6})}, gated, "needs decay");
  expectError("CausalConvWithState", {floats({1, 3, 4}), floats({2, 1, 2})}, {}, "needs [3, 1");
}

}  // namespace
}  // namespace max
