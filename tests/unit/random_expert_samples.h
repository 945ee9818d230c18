// SPDX-License-Identifier: Apache-2.0
// Random nodes for test_random_ops: mixtures of experts, and tables that are quantised block by block.
#pragma once

#include "random_samples.h"

namespace max::test {

inline const DTypes kHalves{DType::Float32, DType::Float32, DType::Float16, DType::BFloat16};

// A tensor that is there more often than not.
inline Ref<Tensor> perhaps(Source& source, DType dtype, const Shape& shape, double low = -1, double high = 1) {
  return source.chance(60) ? source.tensor(dtype, shape, low, high) : nullptr;
}

struct ExpertShape {
  int64_t tokens, experts, hidden, inner, columns;
  bool isThree;  // there is a third layer
};

inline ExpertShape expertShape(Source& source, Sample& sample, int64_t unit) {
  const auto kind = source.pick<std::string>({"relu", "gelu", "silu", "identity", "swiglu"});
  const int64_t fusion = source.integer(0, 2);
  const bool isFused = kind == "swiglu" && fusion != 0;
  ExpertShape shape{source.chance(50) ? source.integer(0, 12) : source.integer(1, 300),
                    source.integer(1, 5),
                    unit * source.integer(1, 5),
                    unit * source.integer(1, 5),
                    0,
                    kind == "swiglu" ? !isFused : source.chance(30)};
  if (source.chance(5)) shape.hidden *= 20;  // more than one piece of a panel
  shape.columns = shape.inner * (isFused ? 2 : 1);
  sample.attributes.set("activation_type", kind);
  sample.attributes.set("swiglu_fusion", fusion);
  if (source.chance(50)) sample.attributes.set("swiglu_limit", 0.7f);
  if (source.chance(50)) sample.attributes.set("activation_beta", 1.f);
  if (source.chance(50)) sample.attributes.set("activation_alpha", 1.7f);
  sample.attributes.set("normalize_routing_weights", source.integer(0, 1));
  sample.attributes.set("k", source.integer(1, shape.experts));
  return shape;
}

// One of several matrices, as of an expert.
inline Sample selectedMatMul(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t m = source.dim(20), k = source.dim(40), n = source.chance(20) ? 1 : source.dim(40);
  const int64_t matrices = source.integer(1, 4);
  const bool transB = source.chance(50);
  Shape a = source.chance(50) ? Shape() : source.shape(0, 2, 3);
  for (const int64_t dim : {m, k}) a.push(dim);
  Ref<Tensor> b = source.tensor(dtype, transB ? Shape{matrices, n, k} : Shape{matrices, k, n}, -1, 1);
  const int64_t index = source.integer(-matrices, matrices - 1);
  Sample sample{{source.tensor(dtype, a, -1, 1), std::move(b), Tensor::copyOf(DType::Int64, Shape(), &index)}};
  sample.attributes.set("transB", int64_t{transB});
  if (source.chance(60)) sample.constants = 0b10;
  return sample;
}

inline Sample experts(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  Sample sample;
  const ExpertShape s = expertShape(source, sample, source.chance(50) ? 1 : 7);
  const auto number = [&](const Shape& shape) { return source.tensor(dtype, shape, -1, 1); };
  sample.inputs = {number({s.tokens, s.hidden}),
                   number({s.tokens, s.experts}),
                   number({s.experts, s.columns, s.hidden}),
                   perhaps(source, dtype, {s.experts, s.columns}),
                   number({s.experts, s.hidden, s.inner}),
                   perhaps(source, dtype, {s.experts, s.hidden}),
                   s.isThree ? number({s.experts, s.inner, s.hidden}) : nullptr,
                   s.isThree ? perhaps(source, dtype, {s.experts, s.inner}) : nullptr,
                   source.chance(30) ? source.tensor(dtype, {s.tokens, s.experts}, 0.1, 1) : nullptr};
  sample.constants = source.chance(70) ? 0b1010100 : 0;
  return sample;
}

// Weights, scales, bias and zero points of a layer of max.QMoE.
inline void addLayer(Source& source, Sample& sample, size_t weights, size_t zeros, const Shape& shape, int64_t bits,
                     int64_t block) {
  const int64_t experts = shape[0], columns = shape[1], depth = shape[2], blocks = block ? depth / block : 1;
  const auto bytes = [&](int64_t count) { return (count * bits + 7) / 8; };
  const Shape scales = block ? Shape{experts, columns, blocks} : Shape{experts, columns};
  sample.inputs[weights] = source.tensor(DType::UInt8, {experts, columns, depth * bits / 8}, 0, 255);
  sample.inputs[weights + 1] = source.tensor(DType::Float32, scales, 0.001, 0.02);
  sample.inputs[weights + 2] = perhaps(source, DType::Float32, {experts, columns});
  const Shape points = block ? Shape{experts, columns, bytes(blocks)} : Shape{experts, bytes(columns)};
  if (source.chance(50)) sample.inputs[zeros] = source.tensor(DType::UInt8, points, 0, 255);
}

inline Sample quantizedExperts(Source& source, const Row&) {
  Sample sample;
  const int64_t block = source.chance(50) ? source.pick<int64_t>({16, 32}) : 0;
  const ExpertShape s = expertShape(source, sample, block ? block : source.pick<int64_t>({4, 8, 12, 16}));
  const int64_t bits[] = {source.pick<int64_t>({2, 4, 8}), source.pick<int64_t>({2, 4, 8}), 4};
  if (block) sample.attributes.set("block_size", block);
  sample.attributes.set("fc1_expert_weight_bits", bits[0]);
  sample.attributes.set("fc2_expert_weight_bits", bits[1]);
  sample.inputs.resize(15);
  sample.inputs[0] = source.tensor(DType::Float32, {s.tokens, s.hidden}, -1, 1);
  sample.inputs[1] = source.tensor(DType::Float32, {s.tokens, s.experts}, -1, 1);
  addLayer(source, sample, 2, 11, {s.experts, s.columns, s.hidden}, bits[0], block);
  addLayer(source, sample, 5, 12, {s.experts, s.hidden, s.inner}, bits[1], block);
  if (s.isThree) addLayer(source, sample, 8, 13, {s.experts, s.inner, s.hidden}, bits[2], block);
  if (source.chance(30)) sample.inputs[14] = source.tensor(DType::Float32, {s.tokens, s.experts}, 0.1, 1);
  return sample;
}

// Bytes that hold two, four or one numbers each, or numbers of a type of up to 8 bits.
inline Sample gatherBlocks(Source& source, const Row&) {
  const DType dtype = source.pick<DType>(
      {DType::UInt8, DType::UInt8, DType::Int4, DType::UInt4, DType::Float8E4M3FN, DType::Float4E2M1FN});
  const bool isByte = dtype == DType::UInt8;
  const int64_t bits = source.pick<int64_t>({2, 4, 8}), perByte = isByte ? 8 / bits : 1;
  Shape shape = source.full(isByte ? 2 : 1, 3, 30);
  const int rank = shape.rank(), gathered = isByte ? 0 : static_cast<int>(source.integer(0, rank - 1));
  const int axis = static_cast<int>(source.integer(isByte ? 1 : 0, rank - 1));
  Shape scales = shape;
  scales[rank - 1] *= perByte;
  const bool whole = isFloat(dtype) && source.chance(30);
  scales[axis] = whole ? 1 : (scales[axis] + 15) / 16;
  Shape zeros = scales;
  if (isByte) zeros[rank - 1] = (zeros[rank - 1] * bits + 7) / 8;
  if (isFloat(dtype) && source.chance(30))
    for (int i = 0; i < rank; ++i)
      if (i != axis) scales[i] = 1;
  Sample sample;
  const int64_t size = shape[gathered];
  const double low = isFloat(dtype) ? -6 : dtype == DType::Int4 ? -8 : 0, high = isByte ? 255 : low < 0 ? 6 : 15;
  const DType real = source.pick(kHalves);
  sample.inputs = {
      source.tensor(dtype, shape, low, high),
      source.tensor(DType::Int64, source.shape(0, 2), static_cast<double>(-size - 3), static_cast<double>(size + 3)),
      source.tensor(real, scales, 0.1, 1),
      isFloat(dtype) || source.chance(50) ? nullptr : source.tensor(dtype, zeros, low, high)};
  sample.attributes.set("bits", bits);
  sample.attributes.set("block_size", int64_t{whole ? 0 : 16});
  sample.attributes.set("gather_axis", static_cast<int64_t>(gathered));
  sample.attributes.set("quantize_axis", static_cast<int64_t>(source.chance(50) ? axis : axis - rank));
  return sample;
}

}  // namespace max::test
