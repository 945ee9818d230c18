// SPDX-License-Identifier: Apache-2.0
// Converts convolutions and pools to channels last by adding Transposes, which the pass "transpose" then moves and
// cancels.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/interrupt_point.h"
#include "compiler/passes.h"
#include "graph/readers/normalization.h"
#include "graph/readers/transposed.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

// With all pads known; nullopt if they depend on an unknown size.
std::optional<std::vector<readers::Window>> explicitWindows(const Node& node, const readers::Windows& windows) {
  const SymbolicShape& dims = node.input(0)->type.dims;
  std::vector<int64_t> in, out;
  for (size_t i = 0; i < windows.axes.size() && windows.isSame(); ++i) {
    // With a stride of 1 the pads only depend on the window.
    const int64_t stride = windows.axes[i].stride;
    if (stride != 1 && !dims[i + 2].isKnown()) return std::nullopt;
    in.push_back(dims[i + 2].isKnown() ? dims[i + 2].value() : 1);
    out.push_back(in.back() / stride + (in.back() % stride != 0));
  }
  return windows.between(in, out);
}

// `inputs` have channels last.
bool replaceByOwn(Rewriter& rewriter, Node& node, std::string_view op, std::vector<Value*> inputs,
                  Attributes attributes) {
  Node* own = rewriter.add(kMaxDomain, op, std::move(inputs), std::move(attributes), {&node});
  Value* result = rewriter.transpose(own->output(), inverse(channelsToLast(rankOf(node.input(0)))), &node);
  return rewriter.replace(node.output(), result);
}

bool replaceByLast(Rewriter& rewriter, Node& node, std::string_view op, std::vector<Value*> inputs,
                   Attributes attributes) {
  inputs[0] = rewriter.transpose(node.input(0), channelsToLast(rankOf(node.input(0))), &node);
  return replaceByOwn(rewriter, node, op, std::move(inputs), std::move(attributes));
}

void setWindows(Attributes& attributes, const std::vector<readers::Window>& windows) {
  std::vector<int64_t> strides, dilations, pads, ends;
  for (const readers::Window& window : windows) {
    strides.push_back(window.stride);
    dilations.push_back(window.dilation);
    pads.push_back(window.padBegin);
    ends.push_back(window.padEnd);
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  attributes.set("strides", std::move(strides));
  attributes.set("pads", std::move(pads));
  attributes.set("dilations", std::move(dilations));
}

// x, channels last, with each channel `times` times.
Value* repeatChannels(Rewriter& rewriter, Value* x, int64_t times, const Node* origin) {
  const auto rank = static_cast<int64_t>(x->type.dims.size());
  std::vector<int64_t> sizes(static_cast<size_t>(rank + 1), 1), joined(static_cast<size_t>(rank), 0);
  sizes.back() = times;
  joined.back() = -1;
  Value* split = rewriter.add("", "Unsqueeze", {x, rewriter.constant({rank})}, {}, {origin})->output();
  Value* repeated = rewriter.add("", "Expand", {split, rewriter.constant(sizes)}, {}, {origin})->output();
  return rewriter.add("", "Reshape", {repeated, rewriter.constant(joined)}, {}, {origin})->output();
}

constexpr int64_t kMostRepeats = 8;

// How often each channel is repeated, so that a convolution of a few filters for each is depthwise: products would be
// narrow.
int64_t repeatsOf(const Shape& weights, int64_t groups) {
  const int64_t times = weights[0] / groups;
  return weights.rank() <= 5 && weights[1] == 1 && groups > 1 && times <= kMostRepeats ? times : 1;
}

bool lowerConv(Rewriter& rewriter, Node& node) {
  const Value* weights = node.input(1);
  if (!weights->constant || !isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  const Shape& shape = weights->constant->shape();
  if (shape.rank() != rankOf(node.input(0)) || weights->constant->count() == 0) return false;
  const auto windows = explicitWindows(node, readers::readWindows(node.attributes, shape.dims().subspan(2)));
  if (!windows) return false;
  const int64_t groups = readers::readGroups(node.attributes), times = repeatsOf(shape, groups);
  Attributes attributes;
  setWindows(attributes, *windows);
  attributes.set("group", groups * times);
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = rewriter.transpose(inputs[0], channelsToLast(shape.rank()), &node);
  if (times > 1) inputs[0] = repeatChannels(rewriter, inputs[0], times, &node);
  return replaceByOwn(rewriter, node, "Conv", std::move(inputs), std::move(attributes));
}

// Weights [channels, filters of a group, taps..] of a transposed convolution as those of a convolution, which meets the
// taps in reverse order.
Ref<Tensor> asFilters(const Tensor& weights, int64_t groups) {
  const Shape& shape = weights.shape();
  const int64_t channels = shape[0] / groups, filters = shape[1], taps = shape.product(2, shape.rank());
  Shape result = shape;
  result[0] = filters * groups;
  result[1] = channels;
  Ref<Tensor> reversed = Tensor::allocate(weights.dtype(), result);
  const size_t size = sizeOf(weights.dtype());
  const auto* from = static_cast<const std::byte*>(weights.data());
  auto* to = static_cast<std::byte*>(reversed->mutableData());
  WorkCounter work;
  for (int64_t filter = 0; filter < filters * groups; ++filter)
    for (int64_t c = 0; c < channels; ++c, work.pass(taps)) {
      const int64_t plane = (filter / filters * channels + c) * filters + filter % filters;
      for (int64_t tap = taps; tap-- > 0; to += size)
        std::memcpy(to, from + static_cast<size_t>(plane * taps + tap) * size, size);
    }
  return reversed;
}

// The windows of the convolution that a transposed one is without strides; nullopt = it has some, or crops more than it
// adds.
std::optional<std::vector<readers::Window>> reversedWindows(const readers::Transposed& reader) {
  if (reader.windows.isSame() || !reader.shape.empty()) return std::nullopt;
  std::vector<readers::Window> windows = reader.windows.axes;
  for (size_t i = 0; i < windows.size(); ++i) {
    readers::Window& window = windows[i];
    window.padBegin = window.extent() - 1 - window.padBegin;
    window.padEnd = window.extent() - 1 - window.padEnd + reader.extra[i];
    if (window.stride != 1 || window.padBegin < 0 || window.padEnd < 0) return std::nullopt;
  }
  return windows;
}

// Strides lie between pixels: those of an image of a single one may be any. As long as the kernel, they make one
// product of it, whose columns are the taps.
Attributes withoutOverlaps(const Node& node, const readers::Transposed& reader) {
  Attributes attributes = node.attributes;
  if (reader.windows.isSame()) return attributes;  // strides are those of the output's size then
  std::vector<int64_t> strides;
  for (size_t i = 0; i < reader.windows.axes.size(); ++i) {
    const Dim& dim = node.input(0)->type.dims[i + 2];
    if (!dim.isKnown() || dim.value() != 1) return attributes;
    strides.push_back(std::max(reader.windows.axes[i].extent(), reader.windows.axes[i].stride));
  }
  attributes.set("strides", strides);
  return attributes;
}

bool lowerConvTranspose(Rewriter& rewriter, Node& node) {
  const Value* weights = node.input(1);
  if (!weights->constant || !isRanked(node.input(0))) return false;
  const Shape& shape = weights->constant->shape();
  const int rank = rankOf(node.input(0));
  if (rank < 3 || rank > 5 || shape.rank() != rank || shape.count() == 0) return false;
  const int64_t groups = readers::readGroups(node.attributes);
  const Attributes attributes = withoutOverlaps(node, {node.attributes, shape.dims().subspan(2)});
  const readers::Transposed reader(attributes, shape.dims().subspan(2));
  if (const auto windows = reversedWindows(reader)) {
    Attributes reversed;
    setWindows(reversed, *windows);
    reversed.set("group", groups);
    std::vector<Value*> inputs = node.inputs;
    inputs[1] = rewriter.constant(asFilters(*weights->constant, groups));
    Node* convolution = rewriter.add("", "Conv", std::move(inputs), std::move(reversed), {&node});
    return rewriter.replace(&node, convolution->output()) && lowerConv(rewriter, *convolution);
  }
  // Few filters for each channel work on planes.
  if (groups > 1 && groups == shape[0] && !readers::isPhasedDepthwise(attributes, shape)) return false;
  return replaceByLast(rewriter, node, "ConvTranspose", node.inputs, attributes);
}

// Integer convolutions; input `w` is the weights, `zeros` their zero points.
bool lowerIntegerConv(Rewriter& rewriter, Node& node, size_t w, size_t zeros) {
  constexpr int64_t kWorthAPanel = 4, kMostDepth = 1 << 16, kMostTaps = 1 << 12;  // for kernels on this layout
  const Value *weights = node.input(w), *points = node.input(zeros);
  if (!weights->constant || (points && !points->constant) || !isRanked(node.input(0))) return false;
  const Shape& shape = weights->constant->shape();
  const int rank = rankOf(node.input(0));
  if (rank < 3 || rank > 5 || shape.rank() != rank || shape.count() == 0) return false;
  const int64_t groups = readers::readGroups(node.attributes), times = repeatsOf(shape, groups);
  const bool isDepthwise = groups > 1 && shape[1] == 1 && shape[0] == groups * times;
  if (groups > 1 && !isDepthwise && shape[0] / groups < kWorthAPanel) return false;
  if (shape.product(1, rank) > kMostDepth || shape.product(2, rank) > kMostTaps) return false;
  const auto windows = explicitWindows(node, readers::readWindows(node.attributes, shape.dims().subspan(2)));
  if (!windows) return false;
  Attributes attributes;
  setWindows(attributes, *windows);
  attributes.set("group", groups * times);
  std::vector<Value*> inputs = node.inputs;
  inputs[0] = rewriter.transpose(inputs[0], channelsToLast(rank), &node);
  if (times > 1) inputs[0] = repeatChannels(rewriter, inputs[0], times, &node);
  return replaceByOwn(rewriter, node, node.op(), std::move(inputs), std::move(attributes));
}

bool lowerConvInteger(Rewriter& rewriter, Node& node) { return lowerIntegerConv(rewriter, node, 1, 3); }
bool lowerQLinearConv(Rewriter& rewriter, Node& node) { return lowerIntegerConv(rewriter, node, 3, 5); }

// Channels-last kernels exist for float32, types computed as float32 and, for MaxPool, bytes.
bool hasKernelsForChannelsLast(const Node& pool, DType dtype) {
  const bool isByte = dtype == DType::Int8 || dtype == DType::UInt8;
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16 ||
         (isByte && pool.is("MaxPool"));
}

bool lowerPool(Rewriter& rewriter, Node& node) {
  if (!hasKernelsForChannelsLast(node, node.input(0)->type.dtype)) return false;
  if (node.output(1) || !isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  const readers::Pool pool(node.attributes, node.input(0)->type.dims.size() - 2);
  const auto windows = explicitWindows(node, pool.windows);
  if (!windows) return false;
  Attributes attributes;
  setWindows(attributes, *windows);
  attributes.set("kernel_shape", readers::readKernelShape(node.attributes));
  attributes.set("ceil_mode", int64_t{pool.roundsUp});
  if (node.is("AveragePool")) attributes.set("count_include_pad", int64_t{pool.includesPads});
  return replaceByLast(rewriter, node, node.op(), node.inputs, std::move(attributes));
}

Value* castTo(Rewriter& rewriter, DType dtype, Value* value, const Node& node) {
  if (value->type.dtype == dtype) return value;
  Attributes attributes;
  attributes.set("to", onnxFromDType(dtype));
  return rewriter.add("", "Cast", {value}, std::move(attributes), {&node})->output();
}

Value* powerOf(Rewriter& rewriter, Value* value, double exponent, const Node& node) {
  return rewriter.add("", "Pow", {value, rewriter.scalar(DType::Float32, exponent)}, {}, {&node})->output();
}

// |x|^p of the input.
Value* powersOf(Rewriter& rewriter, const Node& node, int64_t p) {
  Value* x = castTo(rewriter, DType::Float32, node.input(0), node);
  if (p == 2) return rewriter.add("", "Mul", {x, x}, {}, {&node})->output();
  Value* size = rewriter.add("", "Abs", {x}, {}, {&node})->output();
  return p == 1 ? size : powerOf(rewriter, size, static_cast<double>(p), node);
}

// The p-th root of sums replaces the output.
bool replaceByRoots(Rewriter& rewriter, Node& node, Value* sums, int64_t p) {
  Value* root = p == 1   ? sums
                : p == 2 ? rewriter.add("", "Sqrt", {sums}, {}, {&node})->output()
                         : powerOf(rewriter, sums, 1 / static_cast<double>(p), node);
  return rewriter.replace(node.output(), castTo(rewriter, node.output()->type.dtype, root, node));
}

// A pool that reads the padding, too, has as many taps everywhere if the padding reaches as far as the last window.
bool padToLastWindow(const Node& node, std::vector<readers::Window>& windows) {
  for (size_t i = 0; i < windows.size(); ++i) {
    const Dim in = node.input(0)->type.dims[i + 2], out = node.output()->type.dims[i + 2];
    if (!in.isKnown() || !out.isKnown()) return false;
    readers::Window& window = windows[i];
    const int64_t end = (out.value() - 1) * window.stride + window.extent() - window.padBegin;
    window.padEnd = std::max<int64_t>(0, end - in.value());
  }
  return true;
}

// A mean of powers times their number. (Accelerators have a kernel.)
bool lowerLpPool(Rewriter& rewriter, Node& node) {
  if (rewriter.options().accelerator || !hasKernelsForChannelsLast(node, node.input(0)->type.dtype)) return false;
  if (!isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  const readers::Pool pool(node.attributes, node.input(0)->type.dims.size() - 2);
  auto windows = explicitWindows(node, pool.windows);
  if (!windows || (pool.roundsUp && !padToLastWindow(node, *windows))) return false;
  const int64_t p = readers::readPower(node.attributes);
  const std::vector<int64_t> order = channelsToLast(rankOf(node.input(0)));
  Attributes attributes;
  attributes.set("count_include_pad", int64_t{1});
  setWindows(attributes, *windows);
  attributes.set("kernel_shape", readers::readKernelShape(node.attributes));
  Value* pixels = rewriter.transpose(powersOf(rewriter, node, p), order, &node);
  Node* means = rewriter.add(kMaxDomain, "AveragePool", {pixels}, std::move(attributes), {&node});
  Value* taps = rewriter.scalar(DType::Float32, static_cast<double>(pool.windows.taps()));
  Node* sums = rewriter.add("", "Mul", {rewriter.transpose(means->output(), inverse(order), &node), taps}, {}, {&node});
  return replaceByRoots(rewriter, node, sums->output(), p);
}

bool lowerGlobalLpPool(Rewriter& rewriter, Node& node) {
  if (rewriter.options().accelerator || !hasKernelsForChannelsLast(node, node.input(0)->type.dtype)) return false;
  if (!isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  std::vector<int64_t> axes(static_cast<size_t>(rankOf(node.input(0)) - 2));
  std::iota(axes.begin(), axes.end(), 2);
  const int64_t p = readers::readPower(node.attributes);
  Node* sums = rewriter.add("", "ReduceSum", {powersOf(rewriter, node, p), rewriter.constant(axes)}, {}, {&node});
  return replaceByRoots(rewriter, node, sums->output(), p);
}

constexpr Rule kRules[] = {
    {"", "Conv", lowerConv},
    {"", "ConvTranspose", lowerConvTranspose},
    {"", "ConvInteger", lowerConvInteger},
    {"", "QLinearConv", lowerQLinearConv},
    {"", "MaxPool", lowerPool},
    {"", "AveragePool", lowerPool},
    {"", "LpPool", lowerLpPool},
    {"", "GlobalLpPool", lowerGlobalLpPool},
};

}  // namespace

void lowerToChannelsLast(Rewriter& rewriter) { applyRules(rewriter, kRules, 1); }

}  // namespace max
