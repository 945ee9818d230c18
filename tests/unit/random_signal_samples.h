// SPDX-License-Identifier: Apache-2.0
// Random nodes for test_random_ops: images read between their pixels, signals, sequence models with a state.
#pragma once

#include "random_samples.h"

namespace max::test {

inline Ref<Tensor> channelsFirst(Source& source, DType dtype, int64_t batch, int64_t channels, const Ints& spatial) {
  Shape shape{batch, channels};
  for (const int64_t size : spatial) shape.push(size);
  return source.tensor(dtype, shape, -2, 2);
}

inline Sample gridSample(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Ints sizes = spatialSizes(source);
  const int64_t batch = source.integer(1, 2), rank = static_cast<int64_t>(sizes.size());
  Shape grid{batch};
  for (int64_t i = 0; i < rank; ++i) grid.push(source.chance(20) ? source.integer(10, 20) : source.integer(1, 5));
  grid.push(rank);
  const double reach = source.chance(20) ? 9 : 1.3;
  Sample sample{{channelsFirst(source, dtype, batch, source.integer(1, source.chance(20) ? 40 : 5), sizes),
                 source.tensor(isFloat(dtype) ? dtype : DType::Float32, grid, -reach, reach)}};
  if (source.chance(20)) storeNumber(sample.inputs[1]->mutableData(), 0, sample.inputs[1]->dtype(), NAN);
  sample.attributes.set("mode", source.pick<std::string>({"linear", "cubic", "nearest"}));
  sample.attributes.set("padding_mode", source.pick<std::string>({"zeros", "border", "reflection"}));
  sample.attributes.set("align_corners", source.integer(0, 1));
  return sample;
}

inline Sample roiAlign(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t batch = source.integer(1, 3), regions = source.integer(1, 4);
  Sample sample{{source.tensor(dtype, {batch, source.integer(1, 40), source.integer(1, 20), source.integer(1, 20)}),
                 source.tensor(dtype, {regions, 4}, -3, source.chance(10) ? 1e9 : 25)}};
  std::vector<int64_t> images;
  for (int64_t i = 0; i < regions; ++i) images.push_back(source.integer(0, batch - 1));
  sample.inputs.push_back(source.ints(images));
  sample.attributes.set("mode", source.pick<std::string>({"avg", "avg", "max"}));
  sample.attributes.set("output_height", source.integer(1, 7));
  sample.attributes.set("output_width", source.integer(1, 7));
  sample.attributes.set("sampling_ratio", source.integer(0, 3));
  sample.attributes.set("spatial_scale", source.pick<float>({1, 0.5f, 0.7f}));
  if (source.chance(40)) sample.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return sample;
}

inline Sample deformConv(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  const int64_t group = source.chance(60) ? 1 : 2, offsetGroups = source.chance(60) ? 1 : 2;
  const int64_t channels = 2 * source.integer(1, 4), filters = group * source.integer(1, 9);
  const int64_t batch = source.integer(1, 2), rank = static_cast<int64_t>(sizes.size());
  Shape weights{filters, channels / group};
  Ints output;
  int64_t taps = offsetGroups;
  for (size_t i = 0; i < sizes.size(); ++i) {
    weights.push(window.kernel[i]);
    output.push_back(window.outputSize(i, sizes[i]));
    taps *= window.kernel[i];
  }
  Sample sample{{channelsFirst(source, dtype, batch, channels, sizes), source.tensor(dtype, weights, -1, 1),
                 channelsFirst(source, dtype, batch, taps * rank, output)}};
  sample.inputs.push_back(source.chance(50) ? source.tensor(dtype, {filters}) : nullptr);
  sample.inputs.push_back(source.chance(50) ? channelsFirst(source, dtype, batch, taps, output) : nullptr);
  window.set(sample.attributes);
  sample.attributes.set("group", group);
  sample.attributes.set("offset_group", offsetGroups);
  if (source.chance(70)) sample.constants = 0b10;
  return sample;
}

inline Sample convTranspose(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  const int64_t group = source.chance(60) ? 1 : source.integer(2, 3);
  const int64_t channels = group * (source.chance(30) ? 1 : source.integer(1, 20)), filters = source.integer(1, 20);
  Shape weights{channels, filters};
  for (const int64_t size : window.kernel) weights.push(size);
  Sample sample{
      {channelsFirst(source, dtype, source.integer(1, 2), channels, sizes), source.tensor(dtype, weights, -1, 1)}};
  sample.inputs.push_back(source.chance(60) ? source.tensor(dtype, {filters * group}) : nullptr);
  window.set(sample.attributes);
  sample.attributes.set("group", group);
  if (source.chance(30)) {
    Ints extra;
    for (const int64_t stride : window.strides) extra.push_back(source.integer(0, stride - 1));
    sample.attributes.set("output_padding", extra);
  }
  if (source.chance(30)) {
    sample.attributes.erase("pads");
    sample.attributes.set("auto_pad", source.pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  }
  if (source.chance(70)) sample.constants = 0b10;
  return sample;
}

// A filter for each channel or for each of a few in a group, with taps for every place within a stride.
inline Sample phasedTranspose(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const Ints sizes = spatialSizes(source);
  const size_t rank = sizes.size();
  const int64_t inGroup = source.pick<int64_t>({1, 1, 2, 3, 4, 8});
  const int64_t groups = source.integer(2, source.chance(30) ? 70 / inGroup : 20), channels = groups * inGroup;
  Ints strides, pads(2 * rank), extra;
  Shape weights{channels, inGroup};
  for (size_t i = 0; i < rank; ++i) {
    strides.push_back(source.integer(1, 3));
    weights.push(strides[i] + source.integer(0, source.chance(20) ? 6 : 3));
    pads[i] = source.integer(0, weights[static_cast<int>(i) + 2] - 1);
    pads[i + rank] = source.integer(0, weights[static_cast<int>(i) + 2] - 1 - pads[i]);
    extra.push_back(source.integer(0, strides[i] - 1));
  }
  Sample sample{
      {channelsFirst(source, dtype, source.integer(1, 2), channels, sizes), source.tensor(dtype, weights, -1, 1)}};
  sample.inputs.push_back(source.chance(60) ? source.tensor(dtype, {channels}) : nullptr);
  sample.attributes.set("group", groups);
  sample.attributes.set("strides", strides);
  sample.attributes.set("output_padding", extra);
  if (source.chance(80))
    sample.attributes.set("pads", pads);
  else
    sample.attributes.set("auto_pad", source.pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  sample.constants = 0b10;
  return sample;
}

// The compiler's: channels last, with an activation; often as many taps as the stride.
inline Sample fusedConvTranspose(Source& source, const Row& row) {
  const bool isPhased = source.chance(50);
  Sample sample = isPhased ? phasedTranspose(source, row) : convTranspose(source, row);
  const Shape first = sample.inputs[0]->shape();
  Shape last{first[0]};
  for (int i = 2; i < first.rank(); ++i) last.push(first[i]);
  last.push(first[1]);
  sample.inputs[0] = sample.inputs[0]->reshaped(last);
  setActivation(source, sample);
  if (isPhased || source.chance(50)) return sample;
  const Shape& weights = sample.inputs[1]->shape();
  for (const char* name : {"auto_pad", "dilations", "output_padding", "pads"}) sample.attributes.erase(name);
  sample.attributes.set("strides", Ints(weights.begin() + 2, weights.end()));
  return sample;
}

// A pointwise product before a depthwise convolution. Some images are large enough to be computed in strips.
inline Sample expandConv(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const bool isLarge = source.chance(15);
  const Ints sizes = isLarge ? Ints{source.integer(24, 40), source.integer(24, 40)} : spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  const int64_t channels = source.integer(1, 20), filters = isLarge ? source.integer(80, 120) : source.integer(1, 40);
  const int64_t batch = source.integer(1, isLarge ? 4 : 2);
  Shape expand{filters, channels}, weights{filters, 1};
  for (const int64_t size : window.kernel) expand.push(1), weights.push(size);
  Sample sample{{source.tensor(dtype, channelsLast(batch, sizes, channels), -1, 1), source.tensor(dtype, expand, -1, 1),
                 source.tensor(dtype, weights, -1, 1), source.chance(60) ? source.tensor(dtype, {filters}) : nullptr}};
  sample.inputs.push_back(source.chance(60) ? source.tensor(dtype, {filters}) : nullptr);
  window.set(sample.attributes);
  sample.attributes.set("group", filters);
  setActivation(source, sample);
  const std::string name = source.pick<std::string>({"", "Relu", "Silu", "HardSwish"});
  if (!name.empty()) sample.attributes.set("expand_activation", name);
  sample.constants = source.chance(85) ? 0b110 : 0;
  return sample;
}

inline const DTypes kPooled{DType::Float32, DType::Float64, DType::Int8, DType::UInt8};

inline Sample maxPool(Source& source, const Row& row) {
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  const DType dtype = source.pick(row.dtypes);
  Sample sample{{channelsFirst(source, dtype, source.integer(1, 2), source.integer(1, 5), sizes)}};
  sample.outputs = source.chance(50) ? 2 : 1;
  Tensor& x = *sample.inputs[0];
  if (isFloat(dtype) && sample.outputs == 2 && source.chance(30))
    storeNumber(x.mutableData(), source.integer(0, x.count() - 1), dtype, NAN);
  window.set(sample.attributes);
  sample.attributes.set("kernel_shape", window.kernel);
  sample.attributes.set("ceil_mode", source.integer(0, 1));
  sample.attributes.set("storage_order", source.integer(0, 1));
  if (source.chance(30)) {
    sample.attributes.erase("pads");
    sample.attributes.set("auto_pad", source.pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  }
  return sample;
}

// Of planes.
inline Sample averagePool(Source& source, const Row& row) {
  Sample sample = maxPool(source, row);
  sample.outputs = 1;
  sample.attributes.erase("storage_order");
  sample.attributes.set("count_include_pad", source.integer(0, 1));
  Tensor& x = *sample.inputs[0];
  for (int64_t i = 0; i < x.count(); ++i)
    if (std::isnan(numberAt(x, i))) storeNumber(x.mutableData(), i, x.dtype(), 1);
  return sample;
}

// Several axes, mostly those of an image's pixels.
// In whole numbers: of two numbers that are almost the same, the difference over the deviation would be that of
// roundings.
inline Sample meanVariance(Source& source, const Row& row) {
  Sample sample{{source.tensor(source.pick(row.dtypes), source.full(4, 4), row.low, row.high)}};
  Tensor& x = *sample.inputs[0];
  for (int64_t i = 0; i < x.count(); ++i) storeNumber(x.mutableData(), i, x.dtype(), std::round(numberAt(x, i)));
  if (source.chance(30)) sample.attributes.set("axes", randomAxes(source, 4));
  if (source.chance(30)) sample.attributes.set("axes", Ints{2, -1});
  return sample;
}

inline Sample columns(Source& source, const Row& row) {
  const Ints sizes = spatialSizes(source);
  const RandomWindow window(source, sizes, true);
  int64_t taps = 1, positions = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    taps *= window.kernel[i];
    positions *= window.outputSize(i, sizes[i]);
  }
  const Shape shape{source.integer(1, 2), taps * source.integer(1, 4), positions};
  Sample sample{{source.tensor(source.pick(row.dtypes), shape), source.ints(sizes), source.ints(window.kernel)}};
  window.set(sample.attributes);
  sample.constants = 0b110;
  return sample;
}

inline int64_t transformSize(Source& source) {
  return source.chance(30) ? source.pick<int64_t>({1, 2, 64, 37, 74, 128, 400, 101}) : source.integer(1, 40);
}

inline Sample dft(Source& source, const Row& row) {
  const bool inverse = source.chance(50), oneSided = source.chance(50);
  Shape shape = source.full(1, 3, 4);
  const int axis = static_cast<int>(source.integer(0, shape.rank() - 1));
  shape[axis] = transformSize(source);
  if (inverse && oneSided && shape[axis] == 1) shape[axis] = 2;
  shape.push(oneSided ? (inverse ? 2 : 1) : source.integer(1, 2));
  Sample sample{{source.tensor(source.pick(row.dtypes), shape)}};
  sample.inputs.push_back(source.chance(40) ? source.number(transformSize(source)) : nullptr);
  sample.inputs.push_back(source.number(source.chance(50) ? axis : axis - shape.rank()));
  sample.attributes.set("inverse", int64_t{inverse});
  sample.attributes.set("onesided", int64_t{oneSided});
  sample.constants = 0b110;
  return sample;
}

inline Sample stft(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t length = transformSize(source), time = length + source.integer(0, 60);
  Shape signal{source.integer(1, 2), time, source.integer(1, 2)};
  if (source.chance(25)) signal = Shape{signal[0], time};
  Sample sample{{source.tensor(dtype, signal)}};
  sample.inputs.push_back(source.number(source.integer(1, 9)));
  const bool hasWindow = source.chance(60);
  sample.inputs.push_back(hasWindow ? source.tensor(dtype, {length}) : nullptr);
  sample.inputs.push_back(!hasWindow || source.chance(50) ? source.number(length) : nullptr);
  sample.attributes.set("onesided", source.integer(0, 1));
  sample.constants = 0b1010;
  return sample;
}

inline Sample linearAttention(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t heads = source.integer(1, 3), queryHeads = heads * source.integer(1, 3);
  const int64_t batch = source.integer(1, 2), steps = source.integer(1, 9);
  const int64_t depth = source.integer(1, 20), width = source.integer(1, 40);
  const std::string rule = source.pick<std::string>({"linear", "gated", "delta", "gated_delta"});
  Sample sample{{source.tensor(dtype, {batch, steps, queryHeads * depth}, -1, 1),
                 source.tensor(dtype, {batch, steps, heads * depth}, -0.3, 0.3),
                 source.tensor(dtype, {batch, steps, heads * width}, -1, 1)}};
  sample.inputs.resize(6);
  if (source.chance(50)) sample.inputs[3] = source.tensor(dtype, {batch, heads, depth, width}, -1, 1);
  if (rule.starts_with("gated"))
    sample.inputs[4] = source.tensor(dtype, {batch, steps, source.chance(50) ? heads : heads * depth}, -1, 0);
  if (rule.ends_with("delta"))
    sample.inputs[5] = source.tensor(dtype, {batch, steps, source.chance(50) ? heads : 1}, 0, 1);
  sample.attributes.set("update_rule", rule);
  sample.attributes.set("q_num_heads", queryHeads);
  sample.attributes.set("kv_num_heads", heads);
  if (source.chance(30)) sample.attributes.set("scale", 0.5f);
  sample.outputs = 2;
  return sample;
}

inline Sample causalConv(Source& source, const Row& row) {
  const DType dtype = source.pick(row.dtypes);
  const int64_t batch = source.integer(1, 2), channels = source.integer(1, 9), taps = source.integer(1, 6);
  Sample sample{{source.tensor(dtype, {batch, channels, source.chance(30) ? 1 : source.integer(1, 50)}),
                 source.tensor(dtype, {channels, 1, taps})}};
  sample.inputs.push_back(source.chance(50) ? source.tensor(dtype, {channels}) : nullptr);
  sample.inputs.push_back(source.chance(50) ? source.tensor(dtype, {batch, channels, taps - 1}) : nullptr);
  sample.attributes.set("activation", source.pick<std::string>({"none", "silu", "swish"}));
  sample.outputs = 2;
  return sample;
}

}  // namespace max::test
