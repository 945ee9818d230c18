// SPDX-License-Identifier: Apache-2.0
#include "ops/work.h"

#include <algorithm>
#include <iterator>

#include "base/object.h"
#include "graph/readers/attention.h"
#include "graph/readers/image.h"
#include "graph/readers/matrix.h"
#include "graph/readers/normalization.h"
#include "graph/readers/string.h"
#include "graph/readers/windows.h"
#include "graph/schema.h"

namespace max {

namespace {

// A number of operations; it saturates.
class Work {
 public:
  Work(uint64_t count) : count_(count) {}
  uint64_t count() const { return count_; }

  friend Work operator*(Work a, Work b) {
    uint64_t product;
    return __builtin_mul_overflow(a.count_, b.count_, &product) ? UINT64_MAX : product;
  }
  friend Work operator+(Work a, Work b) {
    uint64_t sum;
    return __builtin_add_overflow(a.count_, b.count_, &sum) ? UINT64_MAX : sum;
  }

 private:
  uint64_t count_;
};

Work positive(int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 1)); }

// The input of a rule: operands may be missing.
struct View {
  const Node& node;
  std::span<const Operand> inputs, outputs;

  Work dim(size_t input, int axis) const {
    if (input >= inputs.size()) return 1;
    const Shape& shape = inputs[input].shape;
    if (axis < 0) axis += shape.rank();
    return axis >= 0 && axis < shape.rank() ? positive(shape[axis]) : 1;
  }
  Work largest(size_t input) const {
    int64_t most = 1;
    if (input < inputs.size())
      for (int64_t each : inputs[input].shape) most = std::max(most, each);
    return positive(most);
  }
  static Work elements(const Operand& operand) {
    if (!operand.present()) return 0;
    Work product = 1;
    for (int64_t each : operand.shape) product = product * Work(static_cast<uint64_t>(std::max<int64_t>(each, 0)));
    return product;
  }
  Work in(size_t i) const { return i < inputs.size() ? elements(inputs[i]) : 0; }
  Work out(size_t i = 0) const { return i < outputs.size() ? elements(outputs[i]) : 0; }
  Work all() const {
    Work sum = 1;
    for (const Operand& each : inputs) sum = sum + elements(each);
    for (const Operand& each : outputs) sum = sum + elements(each);
    return sum;
  }
};

using Rule = Work (*)(const View&);

Work windows(const View& view) {
  Work taps = 1;
  for (int64_t size : readers::readKernelShape(view.node.attributes)) taps = taps * positive(size);
  return view.out() * taps;
}

// Each element of the result uses all weights of its channel.
template <size_t W>
Work convolution(const View& view) {
  return view.out() * Work(view.in(W).count() / view.dim(W, 0).count());
}
Work expandedConvolution(const View& view) {
  return view.in(0) * view.dim(1, 0) + view.out() * Work(view.in(2).count() / view.dim(2, 0).count());
}
Work transposedConvolution(const View& view) { return view.in(0) * Work(view.in(1).count() / view.dim(1, 0).count()); }

Work matrixProduct(const View& view) {
  return view.out() * view.dim(0, readers::Product(view.node.attributes).transposesA ? -2 : -1);
}
Work quantisedProduct(const View& view) {
  const readers::PackedProduct product(view.node.attributes);
  return view.out() * view.dim(0, -1) + positive(product.columns) * positive(product.depth);
}
Work attention(const View& view) {
  return (view.in(0) + view.out()) * view.dim(1, readers::Attention(view.node.attributes).keys.positions);
}
Work rotary(const View& view) { return view.out() * 2; }
Work linearAttention(const View& view) { return (view.in(0) + view.in(1) + view.in(2)) * view.largest(2); }
Work recurrence(const View& view) { return view.dim(0, 0) * view.dim(0, 1) * (view.in(1) + view.in(2)); }
Work matrices(const View& view) { return view.in(0) * view.dim(0, -1); }

Work crossChannels(const View& view) {
  return view.out() * positive(readers::LocalResponse(view.node.attributes).size);
}
Work regions(const View& view) { return view.out() * view.dim(0, -1) * view.dim(0, -2); }
Work alignedRegions(const View& view) {
  const int64_t samples = readers::AlignedRegions(view.node.attributes).samples;
  return samples > 0 ? view.out() * positive(samples) * positive(samples) : regions(view);
}
Work boxes(const View& view) { return view.in(1) * view.dim(0, 1) + view.in(0); }

// Sorting, transforms, samples of several elements, chains of operators.
template <uint64_t Factor>
Work several(const View& view) {
  return view.all() * Work(Factor);
}

// Tables in attributes, which each element may search completely.
Work tables(const View& view) {
  uint64_t entries = 1;
  for (const auto& [name, attribute] : view.node.attributes.entries()) {
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute)) entries += numbers->size();
    if (const auto* numbers = std::get_if<std::vector<float>>(&attribute)) entries += numbers->size();
    if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute)) entries += texts->size();
    if (const auto* tensor = std::get_if<Ref<Tensor>>(&attribute); tensor && *tensor)
      entries += static_cast<uint64_t>((*tensor)->count());
  }
  return view.all() * Work(entries);
}
Work gramTables(const View& view) {
  const readers::GramSearch search(view.node.attributes);
  return tables(view) * positive(search.most) * positive(search.skips);
}

struct Row {
  std::string_view domain, op;
  Rule rule;  // NULL = unknown
};

// All other operators do a little work for each element that they read or write.
constexpr Row kRows[] = {
    {"", "MaxPool", windows},
    {"", "AveragePool", windows},
    {"", "LpPool", windows},
    {kMaxDomain, "MaxPool", windows},
    {kMaxDomain, "AveragePool", windows},
    {"", "LRN", crossChannels},
    {"", "Conv", convolution<1>},
    {"", "ConvInteger", convolution<1>},
    {"", "QLinearConv", convolution<3>},
    {"", "DeformConv", convolution<1>},
    {"", "CausalConvWithState", convolution<1>},
    {kMaxDomain, "Conv", convolution<1>},
    {kMaxDomain, "ConvInteger", convolution<1>},
    {kMaxDomain, "QLinearConv", convolution<3>},
    {"", "ConvTranspose", transposedConvolution},
    {kMaxDomain, "ConvTranspose", transposedConvolution},
    {kMaxDomain, "ExpandConv", expandedConvolution},
    {"", "MatMul", matrixProduct},
    {"", "Gemm", matrixProduct},
    {"", "MatMulInteger", matrixProduct},
    {"", "QLinearMatMul", matrixProduct},
    {kMaxDomain, "MatMul", matrixProduct},
    {kMaxDomain, "SelectedMatMul", matrixProduct},
    {kMaxDomain, "MatMulInteger", matrixProduct},
    {kMaxDomain, "MatMulNBits", quantisedProduct},
    {kMaxDomain, "Attention", attention},
    {kMaxDomain, "Rotary", rotary},
    {"", "LinearAttention", linearAttention},
    {"", "RNN", recurrence},
    {"", "GRU", recurrence},
    {"", "LSTM", recurrence},
    {kMaxDomain, "DynamicQuantizeLSTM", recurrence},
    {"", "Det", matrices},
    {kMaxDomain, "Inverse", matrices},
    {"", "MaxRoiPool", regions},
    {"", "RoiAlign", alignedRegions},
    {"", "NonMaxSuppression", boxes},
    {"", "Resize", several<256>},
    {"", "GridSample", several<64>},
    {"", "TopK", several<64>},
    {"", "Unique", several<64>},
    {"", "DFT", several<64>},
    {"", "STFT", several<64>},
    {kMaxDomain, "Elementwise", several<64>},
    {"", "TfIdfVectorizer", gramTables},
    {"", "ImageDecoder", nullptr},
    {"", "If", nullptr},
    {"", "Loop", nullptr},
    {"", "Scan", nullptr},
    {"", "SequenceMap", nullptr},
    {"com.microsoft", "MoE", nullptr},
    {"com.microsoft", "QMoE", nullptr},
};

constexpr Rule kProducts[] = {convolution<1>,      convolution<3>, transposedConvolution,
                              expandedConvolution, matrixProduct,  quantisedProduct,
                              attention,           recurrence};

constexpr std::string_view kSelections[] = {"Gather", "GatherElements", "GatherND", "Slice", "Compress"};

bool holdsPointer(const Operand& operand) { return operand.present() && holdsPointers(operand.dtype); }

Rule ruleOf(const Node& node) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& each) { return each.domain == node.domain() && each.op == node.op(); });
  if (row != std::end(kRows)) return row->rule;
  // The work of extensions is only known to the program that loads them.
  return node.domain() == "ai.onnx.ml" ? tables : several<1>;
}

}  // namespace

std::optional<uint64_t> estimateWork(const Node& node, std::span<const Operand> inputs,
                                     std::span<const Operand> outputs) {
  // Texts and objects can be of any length.
  if (std::any_of(inputs.begin(), inputs.end(), holdsPointer)) return std::nullopt;
  if (std::any_of(outputs.begin(), outputs.end(), holdsPointer)) return std::nullopt;
  const Rule rule = ruleOf(node);
  if (!rule) return std::nullopt;
  const View view{node, inputs, outputs};
  return (rule(view) + view.all()).count();
}

uint64_t countMultiplications(const Node& node, std::span<const Operand> inputs, std::span<const Operand> outputs) {
  const Rule rule = ruleOf(node);
  const bool isProduct = std::find(std::begin(kProducts), std::end(kProducts), rule) != std::end(kProducts);
  return isProduct ? rule({node, inputs, outputs}).count() : 0;
}

uint64_t countBytes(const Node& node, std::span<const Operand> inputs, std::span<const Operand> outputs) {
  uint64_t read = 0, written = 0;
  for (const Operand& output : outputs)
    if (output.present()) written += bytesFor(output.dtype, output.shape.count());
  const bool selects = node.domain().empty() &&
                       std::find(std::begin(kSelections), std::end(kSelections), node.op()) != std::end(kSelections);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present()) continue;
    const uint64_t bytes = bytesFor(inputs[i].dtype, inputs[i].shape.count());
    read += i == 0 && selects ? std::min(bytes, written) : bytes;
  }
  return read + written;
}

}  // namespace max
