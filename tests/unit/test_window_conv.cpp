// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels as products of bfloat16, against sums of the rounded numbers.
#include <array>

#include "base/half.h"
#include "ops/cpu/convolution/window_words.h"
#include "ops/cpu/matrix/gemm.h"
#include "weights_harness.h"

namespace max {
namespace {

float rounded(float value) { return floatFromBFloat16(bfloat16FromFloat(value)); }

// Of an image with rows and columns.
struct Case {
  int64_t images, height, width, channels, filters, kernel, stride, before, after;

  int64_t out(int64_t in) const { return (in + before + after - kernel) / stride + 1; }
  Shape input() const { return {images, height, width, channels}; }
  Shape weights() const { return {filters, channels, kernel, kernel}; }
  Shape output() const { return {images, out(height), out(width), filters}; }
};

float sumOf(const Case& c, const Tensor& x, const Tensor& w, const Tensor& bias, const std::array<int64_t, 4>& at) {
  double sum = static_cast<double>(bias.as<float>()[at[3]]);
  for (int64_t r = 0; r < c.kernel; ++r)
    for (int64_t s = 0; s < c.kernel; ++s) {
      const int64_t h = at[1] * c.stride - c.before + r, v = at[2] * c.stride - c.before + s;
      if (h < 0 || h >= c.height || v < 0 || v >= c.width) continue;
      for (int64_t i = 0; i < c.channels; ++i) {
        const float pixel = x.as<float>()[((at[0] * c.height + h) * c.width + v) * c.channels + i];
        const float weight = w.as<float>()[((at[3] * c.channels + i) * c.kernel + r) * c.kernel + s];
        sum += static_cast<double>(rounded(pixel)) * static_cast<double>(rounded(weight));
      }
    }
  return static_cast<float>(sum);
}

Ref<Tensor> expectedOf(const Case& c, const Tensors& in) {
  Ref<Tensor> result = Tensor::allocate(DType::Float32, c.output());
  auto* to = static_cast<float*>(result->mutableData());
  for (int64_t image = 0; image < c.images; ++image)
    for (int64_t h = 0; h < c.out(c.height); ++h)
      for (int64_t v = 0; v < c.out(c.width); ++v)
        for (int64_t m = 0; m < c.filters; ++m) *to++ = sumOf(c, *in[0], *in[1], *in[2], {image, h, v, m});
  return result;
}

Ref<Tensor> narrowed(const Tensor& tensor) {
  Ref<Tensor> result = Tensor::allocate(DType::BFloat16, tensor.shape());
  for (int64_t i = 0; i < tensor.count(); ++i)
    static_cast<uint16_t*>(result->mutableData())[i] = bfloat16FromFloat(tensor.as<float>()[i]);
  return result;
}

float relu(float x) { return std::max(x, 0.f); }
float silu(float x) { return x / (1 + std::exp(-x)); }
float same(float x) { return x; }

void check(const Case& c, uint32_t seed) {
  SCOPED_TRACE(concat("case ", seed, ": input ", c.input(), " W ", c.weights()));
  RandomTensors random(seed);
  NodeUnderTest node(kMaxDomain, "Conv");
  node->products = DType::BFloat16;
  node->attributes.set("strides", std::vector<int64_t>{c.stride, c.stride});
  node->attributes.set("pads", std::vector<int64_t>{c.before, c.before, c.after, c.after});
  const std::pair<const char*, float (*)(float)> activations[] = {{"", same}, {"Relu", relu}, {"Silu", silu}};
  const auto& [name, function] = activations[seed % 3];
  node->attributes.set("activation", std::string(name));
  node->attributes.set("activation_alpha", 1.f);
  const Tensors in{random.floats(c.input()), random.floats(c.weights()), random.floats({c.filters})};
  const Ref<Tensor> expected = expectedOf(c, in);
  // Pixels are too near, or too far, to gather what ends in half a word.
  const bool isOther = WindowOrder::of(node->attributes, c.weights(), 2).endsBehindRows();
  for (const bool readsNarrow : {false, true})
    for (const bool writesNarrow : {false, true}) {
      if (readsNarrow && c.channels % 2 != 0) continue;
      Tensors given = in;
      if (readsNarrow) given[0] = narrowed(*in[0]);
      node.results = writesNarrow ? DType::BFloat16 : DType::Float32;
      const Ref<Tensor> result =
          node.run(given, {c.output()}, isOther ? "" : "windows_bf16", 1 + static_cast<int>(seed % 2), 0b110)[0];
      const double bound = writesNarrow ? 1. / 256 + 1. / 4096 : 1e-5;
      for (int64_t i = 0; i < result->count(); ++i) {
        const float actual = writesNarrow ? floatFromBFloat16(result->as<uint16_t>()[i]) : result->as<float>()[i];
        const float wanted = function(expected->as<float>()[i]);
        ASSERT_LE(std::fabs(actual - wanted), std::fabs(wanted) * bound + 3e-5) << "element " << i;
      }
    }
}

TEST(WindowConv, Shapes) {
  if (!bfloat16VectorTable() || gemmTable().lanes != 16) GTEST_SKIP() << "this machine has no products of bfloat16";
  uint32_t seed = 1;
  for (const int64_t channels : {1, 2, 3, 4, 5})
    for (const int64_t kernel : {3, 4, 6, 7})
      for (const int64_t stride : {1, 2, 3, 9}) {
        constexpr int64_t kFilters[] = {33, 40, 64, 70, 48, 100};
        const int64_t before = seed % 4, after = seed % 3;
        check({1 + seed % 2, kernel + seed % 7, kernel + 3 * (seed % 11), channels, kFilters[seed % 6], kernel, stride,
               before, after},
              seed);
        ++seed;
      }
  // Few filters whose windows are large, and long rows.
  check({1, 12, 40, 3, 16, 7, 2, 3, 3}, 300);
  for (const uint32_t relu : {304u, 307u}) check({2, 15, 41, 3, 9 + relu % 24, 3, 2, 1, 0}, relu);
  check({1, 12, 40, 4, 9, 6, 2, 2, 2}, 301);
  check({1, 7, 2000, 3, 20, 7, 2, 3, 3}, 302);
  check({1, 7, 2000, 3, 20, 7, 2, 3, 3}, 305);
}

}  // namespace
}  // namespace max
