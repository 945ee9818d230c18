// SPDX-License-Identifier: Apache-2.0
// Random nodes for test_random_ops: products and convolutions of 8-bit integers.
#pragma once

#include "graph/readers/windows.h"
#include "random_samples.h"

namespace max::test {

inline Ref<Tensor> bytes(Source& source, const Shape& shape) {
  const DType dtype = source.pick<DType>({DType::Int8, DType::UInt8});
  return source.tensor(dtype, shape, dtype == DType::Int8 ? -128 : 0, dtype == DType::Int8 ? 127.9 : 255.9);
}

inline Ref<Tensor> zeroPoint(Source& source, DType dtype, const Shape& shape) {
  const bool isSigned = dtype == DType::Int8;
  return source.tensor(dtype, shape, isSigned ? -128 : 0, isSigned ? 127.9 : 255.9);
}

inline Sample mapBytes(Source& source, const Row&) {
  return {{bytes(source, source.shape(0, 4)), bytes(source, {256})}};
}

// Scales of zero are what files may hold: no numbers differ, or all are out of range.
inline Sample quantizedSoftmax(Source& source, const Row&) {
  const Ref<Tensor> x = bytes(source, source.full(1, 4, source.chance(20) ? 300 : 20));
  const DType result = source.pick<DType>({DType::Int8, DType::UInt8});
  const auto scale = [&](double least, double most) {
    const double low = source.chance(10) ? 0 : least;
    return source.tensor(DType::Float32, {}, low, low == 0 ? 0 : most);
  };
  return {{x, scale(0.001, 0.2), zeroPoint(source, x->dtype(), {}), scale(0.001, 0.02), zeroPoint(source, result, {})}};
}

inline Sample integerConv(Source& source, const Row& row) {
  Sample sample = conv(source, row);
  sample.inputs = {bytes(source, sample.inputs[0]->shape()), bytes(source, sample.inputs[1]->shape())};
  if (source.chance(60)) {
    sample.inputs.push_back(zeroPoint(source, sample.inputs[0]->dtype(), {}));
    const int64_t filters = sample.inputs[1]->shape()[0];
    if (source.chance(60))
      sample.inputs.push_back(
          zeroPoint(source, sample.inputs[1]->dtype(), source.chance(50) ? Shape{filters} : Shape{}));
  }
  sample.constants = 0;
  return sample;
}

inline Sample quantizedConv(Source& source, const Row& row) {
  Sample sample = conv(source, row);
  const Ref<Tensor> x = bytes(source, sample.inputs[0]->shape()), w = bytes(source, sample.inputs[1]->shape());
  const int64_t count = w->shape()[0];
  const Shape filters = source.chance(50) ? Shape{count} : Shape{};
  const DType result = source.pick<DType>({DType::Int8, DType::UInt8});
  const auto scale = [&](const Shape& shape) { return source.tensor(DType::Float32, shape, 0.01, 0.05); };
  const Ref<Tensor> xZero = zeroPoint(source, x->dtype(), {}), wZero = zeroPoint(source, w->dtype(), filters);
  sample.inputs = {x, scale({}), xZero, w, scale(filters), wZero, scale({}), zeroPoint(source, result, {})};
  if (source.chance(50)) sample.inputs.push_back(source.tensor(DType::Int32, {count}, -1000, 1000));
  sample.constants = 0;
  return sample;
}

// The same operators with channels last, as the compiler has them; also as plain products, without spatial axes.
inline Sample lastChannels(Source& source, Sample sample, size_t weights, size_t zeros) {
  const Shape first = sample.inputs[0]->shape();
  Shape last{first[0]};
  for (int i = 2; i < first.rank(); ++i) last.push(first[i]);
  last.push(first[1]);
  sample.inputs[0] = sample.inputs[0]->reshaped(last);
  sample.constants = source.chance(85) ? 1u << weights | 1u << zeros : 0;
  return sample;
}

inline Sample fusedIntegerConv(Source& source, const Row& row) {
  Sample sample = lastChannels(source, integerConv(source, row), 1, 3);
  if (source.chance(50)) return sample;
  const Shape filters{sample.inputs[1]->shape()[0]};
  sample.inputs.resize(4);
  sample.inputs.push_back(source.tensor(DType::Float32, source.chance(50) ? Shape() : filters, 0.01, 0.05));
  if (source.chance(60)) sample.inputs.push_back(source.tensor(DType::Float32, filters, -3, 3));
  if (source.chance(50)) sample.constants |= 1u << 2 | 1u << 4 | 1u << 5;
  return sample;
}

inline Sample fusedQuantizedConv(Source& source, const Row& row) {
  Sample sample = lastChannels(source, quantizedConv(source, row), 3, 5);
  if (source.chance(20)) {
    const int64_t channels = source.integer(1, 90), filters = source.integer(1, 150);
    sample.inputs[0] = bytes(source, {source.integer(1, 70), channels});
    const Ref<Tensor> w = bytes(source, {filters, channels});
    sample.inputs[3] = w;
    sample.inputs[4] = source.tensor(DType::Float32, {filters}, 0.001, 0.01);
    sample.inputs[5] = zeroPoint(source, w->dtype(), {});
    sample.inputs[2] = zeroPoint(source, sample.inputs[0]->dtype(), {});
    sample.inputs.resize(8);
    sample.attributes = {};
  }
  // Square kernels of one channel each.
  if (source.chance(20)) {
    const int64_t channels = source.integer(1, 100), side = source.pick<int64_t>({3, 5, 7}), pad = side / 2;
    const DType dtype = source.pick<DType>({DType::Int8, DType::UInt8});
    sample.inputs[0] = bytes(source, {source.integer(1, 2), source.integer(1, 9), source.integer(1, 40), channels});
    sample.inputs[2] = zeroPoint(source, sample.inputs[0]->dtype(), {});
    sample.inputs[3] = source.tensor(DType::Int8, {channels, 1, side, side}, -128, 127.9);
    sample.inputs[4] = source.tensor(DType::Float32, {channels}, 0.001, 0.01);
    sample.inputs[5] = source.tensor(DType::Int8, {}, 0, 0);
    sample.inputs[7] = zeroPoint(source, dtype, {});
    sample.inputs.resize(8);
    if (source.chance(50)) sample.inputs.push_back(source.tensor(DType::Int32, {channels}, -1000, 1000));
    sample.attributes = {};
    sample.attributes.set("group", channels);
    sample.attributes.set("pads", Ints{pad, pad, pad, pad});
  }
  // Few filters, whose products are made in another way.
  if (source.chance(20)) {
    const int64_t channels = source.integer(16, 64), filters = source.integer(1, 4), taps = source.integer(1, 3);
    sample.inputs[0] = source.tensor(DType::UInt8, {source.integer(1, 2), source.integer(3, 9), channels}, 0, 255.9);
    sample.inputs[2] = zeroPoint(source, DType::UInt8, {});
    sample.inputs[3] = source.tensor(DType::Int8, {filters, channels, taps}, -128, 127.9);
    sample.inputs[4] = source.tensor(DType::Float32, {filters}, 0.001, 0.01);
    sample.inputs[5] = source.tensor(DType::Int8, {}, 0, 0);
    sample.inputs.resize(8);
    if (source.chance(50)) sample.inputs.push_back(source.tensor(DType::Int32, {filters}, -1000, 1000));
    sample.attributes = {};
    if (source.chance(50)) sample.attributes.set("pads", Ints{source.integer(0, 2), source.integer(0, 2)});
  }
  // Products that exceed 32 bits, and factors that are known before.
  if (source.chance(20)) sample.inputs[6] = source.tensor(DType::Float32, {}, 1e-9, 1e-3);
  if (source.chance(50)) sample.constants |= 0b111110110;
  if (source.chance(30)) {
    sample.attributes.set("low", source.integer(-140, 20));
    sample.attributes.set("high", source.integer(10, 260));
  }
  if (source.chance(50)) return sample;
  const auto scale = [&] { return source.tensor(DType::Float32, {}, 0.01, 0.05); };
  if (source.chance(50) && readers::readGroups(sample.attributes) == 1) {
    const Shape filters{sample.inputs[3]->shape()[0]};
    sample.inputs.resize(12);
    sample.inputs.insert(sample.inputs.end(),
                         {scale(), zeroPoint(source, source.pick<DType>({DType::Int8, DType::UInt8}), {}),
                          source.tensor(DType::Float32, filters, -3, 3)});
    if (source.chance(50)) sample.inputs.push_back(source.tensor(DType::Float32, filters, -2, 2));
    if (sample.constants & 1 << 4) sample.constants |= 0b1111 << 12;
    return sample;
  }
  Shape output{sample.inputs[0]->shape()[0]};
  const Shape& weights = sample.inputs[3]->shape();
  const readers::Windows windows = readers::readWindows(sample.attributes, weights.dims().subspan(2));
  for (size_t i = 0; i < windows.axes.size(); ++i) {
    const readers::Window& window = windows.axes[i];
    const int64_t room = sample.inputs[0]->shape()[static_cast<int>(i) + 1] + window.padBegin + window.padEnd;
    output.push((room - window.extent()) / window.stride + 1);
  }
  output.push(weights[0]);
  const Ref<Tensor> residual = bytes(source, output);
  sample.inputs.resize(9);
  sample.inputs.insert(sample.inputs.end(), {residual, scale(), zeroPoint(source, residual->dtype(), {}), scale(),
                                             zeroPoint(source, source.pick<DType>({DType::Int8, DType::UInt8}), {})});
  return sample;
}

// Bytes in the shapes of a product, and for some a zero point for each row or column.
inline Sample integerMatMul(Source& source, const Row& row) {
  const Sample shapes = matMul(source, row);
  Sample sample{{bytes(source, shapes.inputs[0]->shape()), bytes(source, shapes.inputs[1]->shape())}};
  sample.constants = shapes.constants;
  const Shape &a = sample.inputs[0]->shape(), &b = sample.inputs[1]->shape();
  const bool each = a.rank() == 2 && b.rank() == 2 && a[0] > 0 && b[1] > 0 && source.chance(30);
  if (source.chance(60)) {
    sample.inputs.push_back(zeroPoint(source, sample.inputs[0]->dtype(), each ? Shape{a[0]} : Shape{}));
    if (source.chance(60))
      sample.inputs.push_back(zeroPoint(source, sample.inputs[1]->dtype(), each ? Shape{b[1]} : Shape{}));
  }
  return sample;
}

inline Sample scaledMatMul(Source& source, const Row& row) {
  Sample sample = integerMatMul(source, row);
  sample.inputs.resize(5);
  const Shape& b = sample.inputs[1]->shape();
  const Shape columns = b.rank() < 2 ? Shape{1} : Shape{b.back()};
  for (size_t i : {2, 3})
    if (sample.inputs[i] && sample.inputs[i]->count() != 1)
      sample.inputs[i] = zeroPoint(source, sample.inputs[i - 2]->dtype(), {});
  const bool hasOne = source.chance(50) || columns.count() == 0;  // a scale has elements
  sample.inputs[4] = source.tensor(DType::Float32, hasOne ? Shape() : columns, 0.01, 0.05);
  if (source.chance(60)) sample.inputs.push_back(source.tensor(DType::Float32, columns, -3, 3));
  return sample;
}

inline Sample quantizedMatMul(Source& source, const Row& row) {
  const Sample shapes = matMul(source, row);
  const Ref<Tensor> a = bytes(source, shapes.inputs[0]->shape()), b = bytes(source, shapes.inputs[1]->shape());
  const bool each = b->shape().rank() == 2 && b->shape()[1] > 0 && source.chance(40);
  const Shape columns = each ? Shape{b->shape()[1]} : Shape{};
  const DType result = source.pick<DType>({DType::Int8, DType::UInt8});
  const auto scale = [&](const Shape& shape) { return source.tensor(DType::Float32, shape, 0.01, 0.05); };
  Sample sample{{a, scale({}), zeroPoint(source, a->dtype(), {}), b, scale(columns),
                 zeroPoint(source, b->dtype(), columns), scale({}), zeroPoint(source, result, {})}};
  if (shapes.constants) sample.constants = 0b101000;
  return sample;
}

}  // namespace max::test
