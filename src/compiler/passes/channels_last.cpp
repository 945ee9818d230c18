// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools run channels last: they get Transposes around them,
// which the pass "transpose" then moves and cancels.
#include <algorithm>
#include <numeric>

#include "compiler/passes.h"

namespace max {

namespace {

struct Window {
  std::vector<int64_t> kernel, strides, pads, dilations;
};

std::vector<int64_t> orDefault(std::vector<int64_t> values, size_t count, int64_t fallback) {
  if (values.empty()) values.assign(count, fallback);
  return values;
}

// The pads that SAME_UPPER and SAME_LOWER stand for; false if they depend on an unknown size.
bool resolveSame(const Node& node, bool upper, Window& window) {
  const size_t count = window.kernel.size();
  const SymbolicShape& dims = node.input(0)->type.dims;
  for (size_t i = 0; i < count; ++i) {
    const int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total = extent - 1;
    if (window.strides[i] != 1) {
      if (!dims[i + 2].isKnown()) return false;
      const int64_t size = dims[i + 2].value();
      const int64_t out = (size + window.strides[i] - 1) / window.strides[i];
      total = std::max<int64_t>((out - 1) * window.strides[i] + extent - size, 0);
    }
    window.pads[i] = upper ? total / 2 : total - total / 2;
    window.pads[i + count] = total - window.pads[i];
  }
  return true;
}

std::optional<Window> windowOf(const Node& node, std::vector<int64_t> kernel) {
  const size_t count = kernel.size();
  Window window{std::move(kernel), orDefault(node.attributes.getInts("strides"), count, 1),
                orDefault(node.attributes.getInts("pads"), 2 * count, 0),
                orDefault(node.attributes.getInts("dilations"), count, 1)};
  if (window.strides.size() != count || window.pads.size() != 2 * count || window.dilations.size() != count)
    return std::nullopt;
  const std::string mode = node.attributes.getString("auto_pad", "NOTSET");
  if (mode == "VALID") std::fill(window.pads.begin(), window.pads.end(), 0);
  if (mode.starts_with("SAME") && !resolveSame(node, mode == "SAME_UPPER", window)) return std::nullopt;
  return window;
}

std::vector<int64_t> toLast(int rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin() + 1, perm.end(), 2);
  perm.back() = 1;
  return perm;
}

bool replaceByLast(Rewriter& rewriter, Node& node, std::string_view op, std::vector<Value*> inputs,
                   Attributes attributes) {
  const std::vector<int64_t> perm = toLast(rankOf(node.input(0)));
  inputs[0] = rewriter.transpose(node.input(0), perm, &node);
  Node* own = rewriter.add(kMaxDomain, op, std::move(inputs), std::move(attributes), {&node});
  Value* result = rewriter.transpose(own->output(), inverse(perm), &node);
  return rewriter.replace(node.output(), result);
}

void setWindow(Attributes& attributes, const Window& window) {
  attributes.set("strides", window.strides);
  attributes.set("pads", window.pads);
  attributes.set("dilations", window.dilations);
}

bool lowerConv(Rewriter& rewriter, Node& node) {
  const Value* weights = node.input(1);
  if (!weights->constant || !isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  const Shape& shape = weights->constant->shape();
  if (shape.rank() != rankOf(node.input(0)) || weights->constant->count() == 0) return false;
  const auto window = windowOf(node, {shape.begin() + 2, shape.end()});
  if (!window) return false;
  Attributes attributes;
  setWindow(attributes, *window);
  attributes.set("group", node.attributes.getInt("group", 1));
  return replaceByLast(rewriter, node, "Conv", node.inputs, std::move(attributes));
}

// The kernels for channels last are those of float32, and of what is computed as float32.
bool hasKernelsForChannelsLast(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

bool lowerPool(Rewriter& rewriter, Node& node) {
  if (!hasKernelsForChannelsLast(node.input(0)->type.dtype)) return false;
  if (node.output(1) || !isRanked(node.input(0)) || rankOf(node.input(0)) < 3) return false;
  const auto window = windowOf(node, node.attributes.getInts("kernel_shape"));
  if (!window || window->kernel.size() + 2 != node.input(0)->type.dims.size()) return false;
  Attributes attributes;
  setWindow(attributes, *window);
  attributes.set("kernel_shape", window->kernel);
  attributes.set("ceil_mode", node.attributes.getInt("ceil_mode", 0));
  if (node.is("AveragePool")) attributes.set("count_include_pad", node.attributes.getInt("count_include_pad", 0));
  return replaceByLast(rewriter, node, node.op(), node.inputs, std::move(attributes));
}

constexpr Rule kRules[] = {
    {"", "Conv", lowerConv},
    {"", "MaxPool", lowerPool},
    {"", "AveragePool", lowerPool},
};

}  // namespace

void lowerToChannelsLast(Rewriter& rewriter) { applyRules(rewriter, kRules, 1); }

}  // namespace max
