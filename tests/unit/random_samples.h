// SPDX-License-Identifier: Apache-2.0
// Random nodes for test_random_ops: a function for each family of operators makes attributes, inputs and outputs.
#pragma once

#include <algorithm>

#include "bounds.h"
#include "graph/graph.h"
#include "op_harness.h"

namespace max::test {

using DTypes = std::vector<DType>;

inline const DTypes kFloatsAndBytes{DType::Float32,  DType::Float64, DType::Float16,
                                    DType::BFloat16, DType::Int8,    DType::UInt8};
inline const DTypes kFloats{DType::Float32, DType::Float32, DType::Float64, DType::Float16, DType::BFloat16};
inline const DTypes kFloat32{DType::Float32};
inline const DTypes kBool{DType::Bool};
inline const DTypes kIntegers{DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                              DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
inline const DTypes kSigned{DType::Float32, DType::Float64, DType::Float16, DType::Int8, DType::Int32, DType::Int64};
inline const DTypes kNumbers{DType::Float32,  DType::Float32, DType::Float64, DType::Float16,
                             DType::BFloat16, DType::Int8,    DType::Int32,   DType::Int64,
                             DType::UInt8,    DType::UInt16,  DType::UInt64};
inline const DTypes kQuantized{DType::Int16,          DType::UInt16,         DType::Int4,         DType::UInt4,
                               DType::Int2,           DType::UInt2,          DType::Float8E4M3FN, DType::Float8E5M2,
                               DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ, DType::Float4E2M1FN, DType::Float6E2M3FN};
inline const DTypes kConvertible{
    DType::Float32,      DType::Float64,      DType::Float16,        DType::BFloat16,       DType::Bool,
    DType::Int8,         DType::Int32,        DType::Int64,          DType::UInt8,          DType::UInt16,
    DType::UInt64,       DType::Int4,         DType::UInt4,          DType::Int2,           DType::UInt2,
    DType::Float8E4M3FN, DType::Float8E5M2,   DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ, DType::Float8E8M0FNU,
    DType::Float4E2M1FN, DType::Float6E2M3FN, DType::Float6E3M2FN};
// One of each size in bytes.
inline const DTypes kSizes{DType::UInt8, DType::Float16, DType::Float32, DType::Int64, DType::Complex128};

struct Sample {
  std::vector<Ref<Tensor>> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  uint32_t constants = 0;  // bit i: input i is constant when the kernel is made
};

class Source;

struct Row {
  const char* op;
  Sample (*make)(Source& source, const Row& row);
  const DTypes& dtypes;
  const Bounds& bounds;
  double low = -4;
  double high = 4;
  std::string_view domain = "";
  double quanta = 0;  // that integers made of inexact numbers may differ by
};

inline std::string nameOf(const Row& row) {
  std::string name = std::string(row.domain) + (row.domain.empty() ? "" : "_") + row.op;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

inline void PrintTo(const Row& row, std::ostream* stream) { *stream << nameOf(row); }

class Source {
 public:
  explicit Source(Random& random) : random_(random) {}

  Random& random() { return random_; }
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return integer(1, 100) <= percent; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(integer(0, static_cast<int64_t>(list.size()) - 1))];
  }
  // Mostly small, sometimes with an axis of 0 or of hundreds.
  int64_t dim(int64_t most = 7) { return chance(2) ? 0 : chance(4) ? integer(16, 260) : integer(1, most); }
  Shape shape(int minRank, int maxRank, int64_t most = 7) {
    Shape result;
    const int64_t rank = integer(minRank, maxRank);
    for (int i = 0; i < rank; ++i) result.push(result.count() > 400 ? integer(1, 3) : dim(most));
    return result;
  }
  Shape full(int minRank, int maxRank, int64_t most = 7) {
    Shape result = shape(minRank, maxRank, most);
    for (int i = 0; i < result.rank(); ++i) result[i] = std::max<int64_t>(result[i], 1);
    return result;
  }
  // A shape that broadcasts to `target`.
  Shape part(const Shape& target) {
    Shape result;
    for (int i = static_cast<int>(integer(0, chance(50) ? 0 : target.rank())); i < target.rank(); ++i)
      result.push(chance(30) ? 1 : target[i]);
    return result;
  }
  Ref<Tensor> tensor(DType dtype, const Shape& size, double low = -4, double high = 4) {
    if (dtype != DType::Complex128) return randomTensor(random_, dtype, size, low, high);
    Ref<Tensor> result = Tensor::allocate(dtype, size);
    for (int64_t i = 0; i < 2 * result->count(); ++i)
      static_cast<double*>(result->mutableData())[i] = uniform(random_, low, high);
    return result;
  }
  Ref<Tensor> ints(const std::vector<int64_t>& values) {
    return Tensor::copyOf(DType::Int64, {static_cast<int64_t>(values.size())}, values.data());
  }
  Ref<Tensor> number(int64_t value) { return Tensor::copyOf(DType::Int64, {}, &value); }

 private:
  Random& random_;
};

inline Sample unary(Source& source, const Row& row) {
  return {{source.tensor(source.pick(row.dtypes), source.shape(0, 4), row.low, row.high)}};
}

inline Sample withAlpha(Source& source, const Row& row) {
  Sample sample = unary(source, row);
  if (source.chance(70)) sample.attributes.set("alpha", static_cast<float>(uniform(source.random(), 0.1, 1.5)));
  return sample;
}

inline Sample hardSigmoid(Source& source, const Row& row) {
  Sample sample = withAlpha(source, row);
  if (source.chance(50)) sample.attributes.set("beta", 0.3f);
  return sample;
}

inline Sample gelu(Source& source, const Row& row) {
  Sample sample = unary(source, row);
  sample.attributes.set("approximate", std::string(source.chance(50) ? "tanh" : "none"));
  return sample;
}

// NaN and infinities among the numbers.
inline Sample specials(Source& source, const Row& row) {
  Sample sample = unary(source, row);
  Tensor& x = *sample.inputs[0];
  for (int64_t i = 0; i < x.count(); ++i)
    if (source.chance(30)) storeNumber(x.mutableData(), i, x.dtype(), source.pick<double>({NAN, INFINITY, -INFINITY}));
  return sample;
}

inline Sample binary(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.shape(0, 4);
  const Ref<Tensor> a = source.tensor(dtype, shape, row.low, row.high);
  const Ref<Tensor> b = source.tensor(dtype, source.part(shape), row.low, row.high);
  return source.chance(50) ? Sample{{a, b}} : Sample{{b, a}};
}

inline Sample prelu(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.shape(0, 4);
  return {{source.tensor(dtype, shape), source.tensor(dtype, source.part(shape))}};
}

inline Sample mod(Source& source, const Row& row) {
  Sample sample = binary(source, row);
  if (isFloat(sample.inputs[0]->dtype()) || source.chance(50)) sample.attributes.set("fmod", int64_t{1});
  return sample;
}

inline Sample pow(Source& source, const Row& row) {
  Sample sample = binary(source, row);
  Ref<Tensor>& exponent = sample.inputs[1];
  if (source.chance(40)) exponent = source.tensor(DType::Int32, exponent->shape(), 0, 3.9);
  return sample;
}

inline Sample bitShift(Source& source, const Row& row) {
  Sample sample = binary(source, row);
  sample.attributes.set("direction", std::string(source.chance(50) ? "LEFT" : "RIGHT"));
  return sample;
}

inline Sample cast(Source& source, const Row& row) {
  // Negative numbers have no meaning in unsigned types.
  Sample sample{{source.tensor(source.pick(row.dtypes), source.shape(0, 4), 0, 100)}};
  sample.attributes.set("to", onnxFromDType(source.pick(row.dtypes)));
  if (source.chance(30)) sample.attributes.set("saturate", int64_t{0});
  if (source.chance(30)) sample.attributes.set("round_mode", source.pick<std::string>({"up", "down", "nearest"}));
  return sample;
}

inline Sample castLike(Source& source, const Row& row) {
  Sample sample{{source.tensor(source.pick(row.dtypes), source.shape(0, 4), 0, 100)}};
  sample.inputs.push_back(source.tensor(source.pick(row.dtypes), {1}));
  return sample;
}

inline Sample clip(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  Sample sample{{source.tensor(dtype, source.shape(0, 4), -20, 20)}};
  sample.inputs.push_back(source.chance(70) ? source.tensor(dtype, {}, -10, 2) : nullptr);
  sample.inputs.push_back(source.chance(70) ? source.tensor(dtype, {}, 3, 10) : nullptr);
  return sample;
}

inline Sample where(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.shape(0, 4);
  std::vector<Shape> shapes{shape, source.part(shape), source.part(shape)};
  std::shuffle(shapes.begin(), shapes.end(), source.random());
  return {{source.tensor(DType::Bool, shapes[0]), source.tensor(dtype, shapes[1]), source.tensor(dtype, shapes[2])}};
}

inline Sample variadic(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.shape(0, 4);
  Sample sample{{source.tensor(dtype, shape)}};
  for (int64_t i = source.integer(0, 3); i > 0; --i) sample.inputs.push_back(source.tensor(dtype, source.part(shape)));
  std::shuffle(sample.inputs.begin(), sample.inputs.end(), source.random());
  return sample;
}

// Matrices [.., m, k] and [.., k, n], sometimes vectors; the batch dimensions broadcast.
inline Sample matMul(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t m = source.dim(20), k = source.dim(40), n = source.dim(40);
  Shape batch = source.shape(0, 2, 3), a, b;
  if (source.chance(50)) batch = {};
  if (source.chance(50)) a = source.part(batch);
  if (a.rank() == 0 || source.chance(50)) b = source.part(batch);
  if (a.rank() > 0 || source.chance(85)) a.push(m);
  a.push(k);
  b.push(k);
  if (b.rank() > 1 || source.chance(85)) b.push(n);
  Sample sample{{source.tensor(dtype, a, -2, 2), source.tensor(dtype, b, -2, 2)}};
  if (source.chance(50)) sample.constants = 0b10;
  return sample;
}

inline Sample gemm(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t m = source.dim(20), k = source.dim(40), n = source.dim(40);
  const bool transA = source.chance(40), transB = source.chance(40);
  Sample sample{{source.tensor(dtype, transA ? Shape{k, m} : Shape{m, k}, -2, 2),
                 source.tensor(dtype, transB ? Shape{n, k} : Shape{k, n}, -2, 2)}};
  if (source.chance(70)) sample.inputs.push_back(source.tensor(dtype, source.part({m, n})));
  sample.attributes.set("transA", int64_t{transA});
  sample.attributes.set("transB", int64_t{transB});
  if (source.chance(30) && isFloat(dtype)) sample.attributes.set("alpha", 0.5f);
  if (source.chance(30) && isFloat(dtype)) sample.attributes.set("beta", 2.0f);
  if (source.chance(50)) sample.constants = source.chance(50) ? 0b110 : 0b10;
  return sample;
}

inline void setActivation(Source& source, Sample& sample) {
  const std::string name = source.pick<std::string>({"", "", "", "Relu", "LeakyRelu", "Clip", "Sigmoid", "HardSigmoid",
                                                     "HardSwish", "Silu", "Gelu", "GeluTanh", "Tanh"});
  if (name.empty()) return;
  sample.attributes.set("activation", name);
  sample.attributes.set("activation_alpha", name == "Clip" ? -0.5f : 0.2f);
  sample.attributes.set("activation_beta", name == "Clip" ? 1.5f : 0.5f);
}

inline Sample fusedMatMul(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t m = source.dim(20), k = source.dim(40), n = source.dim(40);
  const bool transA = source.chance(30), transB = source.chance(30);
  Shape batch = source.chance(50) ? Shape() : source.shape(0, 2, 3), a = batch, b = source.part(batch), out = batch;
  if (source.chance(50)) b = {};
  for (const int64_t dim : {transA ? k : m, transA ? m : k}) a.push(dim);
  for (const int64_t dim : {transB ? n : k, transB ? k : n}) b.push(dim);
  for (const int64_t dim : {m, n}) out.push(dim);
  Sample sample{{source.tensor(dtype, a, -1, 1), source.tensor(dtype, b, -1, 1)}};
  const bool hasBiases = out.rank() > 2 && source.chance(40);  // one for each matrix along the first axis
  sample.inputs.push_back(source.chance(60) ? source.tensor(dtype, hasBiases ? Shape{out[0], n} : Shape{n}) : nullptr);
  sample.inputs.push_back(source.chance(40) ? source.tensor(dtype, out) : nullptr);
  sample.attributes.set("transA", int64_t{transA});
  sample.attributes.set("transB", int64_t{transB});
  if (source.chance(40)) sample.attributes.set("alpha", 0.5f);
  setActivation(source, sample);
  if (source.chance(50)) sample.constants = source.chance(50) ? 0b110 : 0b10;
  return sample;
}

using Ints = std::vector<int64_t>;

// A window that fits into `sizes` at least once.
struct RandomWindow {
  Ints kernel, strides, dilations, pads;

  RandomWindow(Source& source, const Ints& sizes, bool dilated) {
    const size_t rank = sizes.size();
    pads.resize(2 * rank);
    for (size_t i = 0; i < rank; ++i) {
      kernel.push_back(source.integer(1, std::min<int64_t>(sizes[i], source.chance(20) ? 5 : 3)));
      strides.push_back(source.integer(1, 2));
      const bool fits = (kernel[i] - 1) * 2 + 1 <= sizes[i];
      dilations.push_back(dilated && fits && source.chance(30) ? 2 : 1);
      for (const size_t side : {i, i + rank}) pads[side] = source.chance(40) ? source.integer(0, kernel[i] - 1) : 0;
    }
  }
  int64_t outputSize(size_t i, int64_t size) const {
    return (size + pads[i] + pads[i + kernel.size()] - (kernel[i] - 1) * dilations[i] - 1) / strides[i] + 1;
  }
  void set(Attributes& attributes) const {
    attributes.set("strides", strides);
    attributes.set("dilations", dilations);
    attributes.set("pads", pads);
  }
};

inline Shape channelsLast(int64_t batch, const Ints& spatial, int64_t channels) {
  Shape shape{batch};
  for (const int64_t size : spatial) shape.push(size);
  shape.push(channels);
  return shape;
}

inline Ints spatialSizes(Source& source) {
  Ints sizes(static_cast<size_t>(source.chance(60) ? 2 : source.integer(1, 3)));
  for (int64_t& size : sizes) size = source.integer(1, sizes.size() == 3 ? 5 : 11);
  return sizes;
}

// Of a group: one filter for each channel, as many as channels, of which a vector holds some groups, or any number.
struct RandomGroups {
  int64_t groups, channels, filters;

  explicit RandomGroups(Source& source) {
    if (source.chance(30)) {
      groups = source.integer(1, 40);
      channels = 1;
      filters = source.pick<int64_t>({1, 1, 1, 3});
    } else if (source.chance(15)) {
      channels = filters = source.pick<int64_t>({2, 3, 4, 8});
      groups = source.integer(2, 70 / channels);
    } else {
      groups = source.chance(70) ? 1 : source.integer(2, 4);
      channels = source.chance(20) ? source.integer(1, 4) : source.integer(1, 20);
      filters = source.integer(1, 20);
    }
  }
};

inline Sample fusedConv(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  const RandomGroups of(source);
  const int64_t group = of.groups, channels = group * of.channels, outputs = group * of.filters;
  const int64_t batch = source.integer(1, 2);
  Shape weights{outputs, channels / group};
  Ints outputSizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    weights.push(window.kernel[i]);
    outputSizes.push_back(window.outputSize(i, sizes[i]));
  }
  Sample sample{
      {source.tensor(dtype, channelsLast(batch, sizes, channels), -1, 1), source.tensor(dtype, weights, -1, 1)}};
  sample.inputs.push_back(source.chance(60) ? source.tensor(dtype, {outputs}) : nullptr);
  sample.inputs.push_back(source.chance(30) ? source.tensor(dtype, channelsLast(batch, outputSizes, outputs))
                                            : nullptr);
  window.set(sample.attributes);
  sample.attributes.set("group", group);
  setActivation(source, sample);
  sample.constants = source.chance(75) ? 0b110 : 0;
  return sample;
}

// The same with channels first, as ONNX has it: no residual, no activation.
inline Sample conv(Source& source, const Row& row) {
  Sample sample = fusedConv(source, row);
  const Shape last = sample.inputs[0]->shape();
  Shape first{last[0], last.back()};
  for (int i = 1; i + 1 < last.rank(); ++i) first.push(last[i]);
  sample.inputs[0] = sample.inputs[0]->reshaped(first);
  sample.inputs.resize(3);
  for (const char* name : {"activation", "activation_alpha", "activation_beta"}) sample.attributes.erase(name);
  return sample;
}

inline Sample fusedPool(Source& source, const Row& row) {
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  Sample sample{{source.tensor(source.pick(row.dtypes), channelsLast(source.integer(1, 2), sizes, source.dim(40)))}};
  window.set(sample.attributes);
  sample.attributes.set("kernel_shape", window.kernel);
  sample.attributes.set("ceil_mode", source.integer(0, 1));
  if (std::string_view(row.op) == "AveragePool") sample.attributes.set("count_include_pad", source.integer(0, 1));
  return sample;
}

inline Sample globalPool(Source& source, const Row& row) {
  return {{source.tensor(source.pick(row.dtypes), source.full(3, 5, 5))}};
}

// [B, H, S, D] in a random layout, which goes to the attribute.
inline Ref<Tensor> heads(Source& source, Sample& sample, const char* attribute, DType dtype, const Shape& bhsd) {
  const std::string layout = source.pick<std::string>({"BHSD", "BSHD", "BHDS"});
  Shape shape;
  for (const char axis : layout) shape.push(bhsd[static_cast<int>(std::string("BHSD").find(axis))]);
  sample.attributes.set(attribute, layout);
  return source.tensor(dtype, shape, -2, 2);
}

// Hides the keys of one side, for all or for each query another number of them.
inline Ref<Tensor> hidingMask(Source& source, int64_t queries, int64_t keys) {
  Ref<Tensor> mask = source.tensor(DType::Float32, {1, 1, source.chance(50) ? 1 : queries, keys});
  const int64_t cut = source.integer(0, keys);
  const bool after = source.chance(50);
  for (int64_t i = 0; i < mask->count(); ++i)
    if ((i % keys >= cut + i / keys) == after) static_cast<float*>(mask->mutableData())[i] = -INFINITY;
  return mask;
}

inline Sample attention(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t b = source.integer(1, 2), h = source.integer(1, 3),
                s = source.chance(30) ? source.integer(1, 4) : source.integer(1, 40),
                t = source.chance(10) ? source.integer(380, 900) : source.integer(1, 70);
  const int64_t d = source.integer(1, 40), dv = source.chance(50) ? d : source.integer(1, 40);
  Sample sample;
  sample.inputs = {heads(source, sample, "layout_q", dtype, {b, h, s, d}),
                   heads(source, sample, "layout_k", dtype, {b, h, t, d}),
                   heads(source, sample, "layout_v", dtype, {b, h, t, dv}),
                   source.chance(50) ? source.tensor(dtype, source.part({b, h, s, t})) : nullptr,
                   source.chance(30) ? source.tensor(dtype, {h}) : nullptr};
  if (dtype == DType::Float32 && source.chance(40)) sample.inputs[3] = hidingMask(source, s, t);
  sample.attributes.set("zero_masked", int64_t{1});
  sample.attributes.set("layout_out", source.pick<std::string>({"BHSD", "BSHD", "BHDS"}));
  sample.attributes.set("scale", 0.3f);
  return sample;
}

int64_t randomAxis(Source& source, int rank) { return source.integer(-rank, rank - 1); }

// A random subset of the axes, some counted from the end.
inline Ints randomAxes(Source& source, int rank) {
  Ints axes;
  for (int axis = 0; axis < rank; ++axis)
    if (source.chance(40)) axes.push_back(source.chance(30) ? axis - rank : axis);
  std::shuffle(axes.begin(), axes.end(), source.random());
  return axes;
}

inline Sample reduce(Source& source, const Row& row) {
  const Shape shape = source.full(0, 5);
  Sample sample{{source.tensor(source.pick(row.dtypes), shape, row.low, row.high)}};
  if (source.chance(80)) sample.inputs.push_back(source.ints(randomAxes(source, shape.rank())));
  sample.attributes.set("keepdims", source.integer(0, 1));
  if (source.chance(30)) sample.attributes.set("noop_with_empty_axes", int64_t{1});
  sample.constants = 0b10;
  return sample;
}

inline Sample arg(Source& source, const Row& row) {
  const Shape shape = source.full(1, 4);
  Sample sample{{source.tensor(source.pick(row.dtypes), shape)}};
  sample.attributes.set("axis", randomAxis(source, shape.rank()));
  sample.attributes.set("keepdims", source.integer(0, 1));
  sample.attributes.set("select_last_index", source.integer(0, 1));
  return sample;
}

inline Sample topK(Source& source, const Row& row) {
  // Few different values, so that there are ties.
  const Shape shape = source.full(1, 4, 12);
  Sample sample{{source.tensor(source.pick(row.dtypes), shape, -9, 9)}};
  if (!isFloat(sample.inputs[0]->dtype())) sample.inputs[0] = source.tensor(DType::Int32, shape, -5, 5);
  const int64_t axis = randomAxis(source, shape.rank());
  const int64_t size = shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)];
  sample.inputs.push_back(source.ints({source.integer(source.chance(5) ? 0 : 1, size)}));
  sample.attributes.set("axis", axis);
  sample.attributes.set("largest", source.integer(0, 1));
  sample.outputs = 2;
  sample.constants = 0b10;
  return sample;
}

inline Sample cumSum(Source& source, const Row& row) {
  const Shape shape = source.full(1, 4);
  Sample sample{{source.tensor(source.pick(row.dtypes), shape), source.number(randomAxis(source, shape.rank()))}};
  sample.attributes.set("exclusive", source.integer(0, 1));
  sample.attributes.set("reverse", source.integer(0, 1));
  return sample;
}

// Shape of one scale for all, one per index of an axis, or one per block.
inline Shape scaleShape(Source& source, Sample& sample) {
  const Shape& shape = sample.inputs[0]->shape();
  if (source.chance(40)) return {};
  const int64_t axis = randomAxis(source, shape.rank());
  const int at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  sample.attributes.set("axis", axis);
  if (source.chance(50)) return {shape[at]};
  const int64_t block = source.integer(1, 5);
  sample.attributes.set("block_size", block);
  Shape scales = shape;
  scales[at] = (shape[at] + block - 1) / block;
  return scales;
}

inline const std::vector<DType> kScales{DType::Float32, DType::Float32, DType::Float16, DType::BFloat16};

// True if a zero point was added, which says the quantized type.
inline bool addScales(Source& source, Sample& sample, DType quantized) {
  const Shape scales = scaleShape(source, sample);
  sample.inputs.push_back(source.tensor(source.pick(kScales), scales, 0.01, 0.1));
  if (isFloat(quantized) || source.chance(30)) return false;
  sample.inputs.push_back(source.tensor(quantized, scales, -20, 20));
  return true;
}

inline Sample quantize(Source& source, const Row& row) {
  const DType quantized = source.chance(50)
                              ? source.pick<DType>({DType::Int8, DType::UInt8, DType::Int16, DType::UInt16})
                              : source.pick(row.dtypes);
  const double most = bitsOf(quantized) == 16 ? 4000 : 9;  // beyond all integers
  Sample sample{{source.tensor(source.pick(kScales), source.full(1, 4), -most, most)}};
  if (!addScales(source, sample, quantized)) sample.attributes.set("output_dtype", onnxFromDType(quantized));
  if (source.chance(20)) sample.attributes.set("precision", onnxFromDType(source.pick(kScales)));
  if (source.chance(20)) sample.attributes.set("saturate", int64_t{0});
  return sample;
}

inline Sample dequantize(Source& source, const Row& row) {
  const DType quantized =
      source.chance(50) ? source.pick<DType>({DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32})
                        : source.pick(row.dtypes);
  Sample sample{{source.tensor(quantized, source.full(1, 4), -120, 120)}};
  addScales(source, sample, quantized);
  if (source.chance(20)) sample.attributes.set("output_dtype", onnxFromDType(source.pick(kScales)));
  return sample;
}

inline Sample dynamicQuantize(Source& source, const Row& row) {
  Sample sample = unary(source, row);
  sample.outputs = 3;
  return sample;
}

inline Sample alongAxis(Source& source, const Row& row) {
  const Shape shape = source.full(1, 4, 12);
  Sample sample{{source.tensor(source.pick(row.dtypes), shape)}};
  sample.attributes.set("axis", randomAxis(source, shape.rank()));
  return sample;
}

inline Sample lpNormalization(Source& source, const Row& row) {
  Sample sample = alongAxis(source, row);
  sample.attributes.set("p", source.integer(1, 2));
  return sample;
}

inline Sample localResponse(Source& source, const Row& row) {
  Sample sample{{source.tensor(source.pick(row.dtypes), source.full(2, 5))}};
  sample.attributes.set("size", source.integer(1, 7));
  if (source.chance(50)) sample.attributes.set("beta", 0.6f);
  if (source.chance(50)) sample.attributes.set("alpha", 0.5f);
  return sample;
}

inline Sample batchNormalization(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.full(2, 5), channels{shape[1]};
  return {{source.tensor(dtype, shape), source.tensor(dtype, channels), source.tensor(dtype, channels),
           source.tensor(dtype, channels), source.tensor(dtype, channels, 0.5, 2)}};
}

inline Sample instanceNormalization(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.full(3, 5), channels{shape[1]};
  return {{source.tensor(dtype, shape), source.tensor(dtype, channels), source.tensor(dtype, channels)}};
}

inline Sample groupNormalization(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t groups = source.integer(1, 4);
  Shape shape = source.full(3, 4);
  shape[1] = groups * source.integer(1, 4);
  const Shape channels{shape[1]};
  Sample sample{{source.tensor(dtype, shape), source.tensor(dtype, channels), source.tensor(dtype, channels)}};
  sample.attributes.set("num_groups", groups);
  return sample;
}

inline Sample layerNormalization(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.full(1, 4, 12);
  const int64_t axis = randomAxis(source, shape.rank());
  const Shape tail(shape.dims().subspan(static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)));
  Sample sample{{source.tensor(dtype, shape), source.tensor(dtype, tail)}};
  if (std::string_view(row.op) == "LayerNormalization") {
    if (source.chance(60)) sample.inputs.push_back(source.tensor(dtype, tail));
    sample.outputs = static_cast<size_t>(source.integer(1, 3));
  }
  sample.attributes.set("axis", axis);
  return sample;
}

inline Sample addLayerNormalization(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.full(2, 4, 12), tail{shape.back()};
  Sample sample{{source.tensor(dtype, shape), source.tensor(dtype, shape), source.tensor(dtype, tail)}};
  if (source.chance(60)) sample.inputs.push_back(source.tensor(dtype, tail));
  sample.outputs = static_cast<size_t>(source.integer(1, 2));
  return sample;
}

// Angles of all elements or of the first half, the same for some rows.
inline Sample rotary(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  Shape shape = source.full(1, 4);
  const int64_t rotated = 2 * source.integer(1, 70);
  const bool isPart = source.chance(30);
  shape[shape.rank() - 1] = rotated + (isPart ? source.integer(0, 40) : 0);
  Sample sample{{source.tensor(dtype, shape)}};
  sample.attributes.set("interleaved", source.integer(0, 1));
  if (isPart) sample.attributes.set("rotated", rotated);
  shape[shape.rank() - 1] = rotated;
  for (int i = 0; i < 2; ++i) {
    Shape angles = shape;
    for (int axis = 0; axis + 1 < shape.rank(); ++axis)
      if (source.chance(40)) angles[axis] = 1;
    if (source.chance(50)) angles[shape.rank() - 1] /= 2;
    sample.inputs.push_back(source.tensor(dtype, angles));
  }
  return sample;
}

// gates: 4 = LSTM, 3 = GRU, 1 = RNN
template <int64_t kGates>
inline Sample recurrent(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const bool both = source.chance(30), batchFirst = source.chance(30);
  const int64_t directions = both ? 2 : 1, steps = source.integer(1, 6), batch = source.integer(1, 3);
  const int64_t inputs = source.integer(1, 20), hidden = source.integer(1, 40);
  const Shape state = batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  Sample sample{{source.tensor(dtype, batchFirst ? Shape{batch, steps, inputs} : Shape{steps, batch, inputs}, -1, 1),
                 source.tensor(dtype, {directions, kGates * hidden, inputs}, -0.5, 0.5),
                 source.tensor(dtype, {directions, kGates * hidden, hidden}, -0.5, 0.5)}};
  sample.inputs.push_back(source.chance(70) ? source.tensor(dtype, {directions, 2 * kGates * hidden}, -1, 1) : nullptr);
  sample.inputs.push_back(nullptr);
  if (source.chance(30)) sample.inputs[4] = source.tensor(DType::Int32, {batch}, 0, static_cast<double>(steps));
  sample.inputs.push_back(source.chance(50) ? source.tensor(dtype, state, -1, 1) : nullptr);
  if (kGates == 4) sample.inputs.push_back(source.chance(50) ? source.tensor(dtype, state, -1, 1) : nullptr);
  if (kGates == 4 && source.chance(30)) sample.inputs.push_back(source.tensor(dtype, {directions, 3 * hidden}, -1, 1));
  sample.attributes.set("hidden_size", hidden);
  sample.attributes.set("layout", int64_t{batchFirst});
  sample.attributes.set("direction", std::string(both ? "bidirectional" : source.chance(50) ? "forward" : "reverse"));
  if (kGates == 3) sample.attributes.set("linear_before_reset", source.integer(0, 1));
  if (source.chance(20)) sample.attributes.set("clip", 0.7f);
  sample.outputs = kGates == 4 ? 3 : 2;
  if (source.chance(60)) sample.constants = 0b1110;
  return sample;
}

inline Sample reshape(Source& source, const Row& row) {
  const Shape shape = source.full(0, 4);
  return {{source.tensor(source.pick(row.dtypes), shape), source.ints({-1})}, {}, 1, 0b10};
}

inline Sample rebind(Source& source, const Row& row) {
  const Shape shape = source.full(0, 4);
  return {{source.tensor(source.pick(row.dtypes), shape), source.ints({shape.begin(), shape.end()})}, {}, 1, 0b10};
}

inline Sample squeeze(Source& source, const Row& row) {
  return {{source.tensor(source.pick(row.dtypes), {3, 1, 4, 1}), source.ints({1, -1})}, {}, 1, 0b10};
}

inline Sample unsqueeze(Source& source, const Row& row) {
  return {{source.tensor(source.pick(row.dtypes), source.shape(1, 3)), source.ints({0, -1})}, {}, 1, 0b10};
}

inline Sample expand(Source& source, const Row& row) {
  const Shape shape = source.full(0, 5);
  return {{source.tensor(source.pick(row.dtypes), source.part(shape)), source.ints({shape.begin(), shape.end()})},
          {},
          1,
          0b10};
}

inline Sample transpose(Source& source, const Row& row) {
  const Shape shape = source.shape(0, 6, source.chance(30) ? 20 : 5);
  Ints order;
  for (int axis = 0; axis < shape.rank(); ++axis) order.push_back(axis);
  std::shuffle(order.begin(), order.end(), source.random());
  Sample sample{{source.tensor(source.pick(row.dtypes), shape)}};
  if (!order.empty()) sample.attributes.set("perm", order);
  return sample;
}

inline Sample concat(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  Shape shape = source.shape(1, 4);
  const int64_t axis = randomAxis(source, shape.rank());
  Sample sample;
  for (int64_t i = source.integer(1, 5); i > 0; --i) {
    shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)] = source.dim();
    sample.inputs.push_back(source.tensor(dtype, shape));
  }
  sample.attributes.set("axis", axis);
  return sample;
}

inline Sample split(Source& source, const Row& row) {
  Shape shape = source.shape(1, 4);
  const int64_t axis = randomAxis(source, shape.rank());
  Ints sizes;
  for (int64_t i = source.integer(1, 4); i > 0; --i) sizes.push_back(source.dim(5));
  int64_t& whole = shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)] = 0;
  for (const int64_t size : sizes) whole += size;
  Sample sample{{source.tensor(source.pick(row.dtypes), shape), source.ints(sizes)}, {}, sizes.size(), 0b10};
  sample.attributes.set("axis", axis);
  return sample;
}

inline Sample slice(Source& source, const Row& row) {
  const Shape shape = source.full(1, 4, 12);
  Ints starts, ends, axes, steps;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (source.chance(30)) continue;
    const int64_t reach = shape[axis] + 3;
    starts.push_back(source.integer(-reach, reach));
    ends.push_back(source.chance(10) ? INT64_MAX : source.integer(-reach, reach));
    axes.push_back(source.chance(30) ? axis - shape.rank() : axis);
    steps.push_back(source.pick<int64_t>({1, 1, 2, 3, -1, -2, INT64_MAX, INT64_MIN + 1}));
  }
  return {{source.tensor(source.pick(row.dtypes), shape), source.ints(starts), source.ints(ends), source.ints(axes),
           source.ints(steps)},
          {},
          1,
          0b11110};
}

inline Sample tile(Source& source, const Row& row) {
  const Shape shape = source.shape(1, 4, 5);
  Ints repeats;
  for (int i = 0; i < shape.rank(); ++i) repeats.push_back(source.integer(source.chance(5) ? 0 : 1, 3));
  return {{source.tensor(source.pick(row.dtypes), shape), source.ints(repeats)}, {}, 1, 0b10};
}

inline Sample pad(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Shape shape = source.full(1, 4, 9);
  const std::string mode = source.pick<std::string>({"constant", "edge", "reflect", "wrap"});
  Ints pads(static_cast<size_t>(2 * shape.rank()));
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t size = shape[static_cast<int>(i) % shape.rank()];
    const int64_t most = mode == "reflect" ? size - 1 : mode == "wrap" ? size : 4;
    pads[i] =
        source.chance(30) ? 0 : source.integer(mode == "constant" && size > 2 ? -1 : 0, std::min<int64_t>(most, 4));
  }
  Sample sample{{source.tensor(dtype, shape), source.ints(pads)}, {}, 1, 0b10};
  if (source.chance(50)) sample.inputs.push_back(source.tensor(dtype, {}));
  sample.attributes.set("mode", mode);
  return sample;
}

inline Sample depthAndSpace(Source& source, const Row& row) {
  const int64_t block = source.integer(1, 3);
  const bool toSpace = std::string_view(row.op) == "DepthToSpace";
  Shape shape{source.integer(1, 2), source.integer(1, 5), source.integer(1, 9), source.integer(1, 9)};
  if (toSpace)
    shape[1] *= block * block;
  else
    shape[2] *= block, shape[3] *= block;
  Sample sample{{source.tensor(source.pick(row.dtypes), shape)}};
  sample.attributes.set("blocksize", block);
  sample.attributes.set("mode", std::string(source.chance(50) ? "DCR" : "CRD"));
  return sample;
}

inline Sample resize(Source& source, const Row& row) {
  const Shape shape = source.full(2, 4, 8);
  Ints sizes(shape.begin(), shape.end());
  for (int64_t& size : sizes)
    if (source.chance(60)) size = source.integer(1, 12);
  const DType dtype = source.pick(row.dtypes);
  if (dtype == DType::Float32 && source.chance(20)) {  // lines that are computed in parts
    std::fill(sizes.begin(), sizes.end() - 2, 1);
    sizes.back() = source.integer(2000, 5000);
  }
  Sample sample{{source.tensor(dtype, shape), nullptr, nullptr, source.ints(sizes)}, {}, 1, 0b1000};
  const std::string mode = source.pick<std::string>({"nearest", "linear", "cubic"});
  sample.attributes.set("mode", mode);
  sample.attributes.set("coordinate_transformation_mode",
                        source.pick<std::string>({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                                  "align_corners", "asymmetric"}));
  sample.attributes.set("nearest_mode",
                        source.pick<std::string>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  if (mode != "nearest") sample.attributes.set("antialias", source.integer(0, 1));
  if (mode == "cubic") sample.attributes.set("exclude_outside", source.integer(0, 1));
  return sample;
}

}  // namespace max::test
