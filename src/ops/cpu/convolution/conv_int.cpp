// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv on 8-bit integers: filters are the rows of a product; the image pixels that they read are
// gathered into its columns, a panel at a time.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/gemm_int.h"
#include "ops/families.h"
#include "ops/ref/window.h"

namespace max {

namespace {

// Which inputs the operands are; 0 = none (the first input is always the image).
struct Inputs {
  size_t w, xZero, wZero, xScale, wScale, yScale, yZero, bias;
};
constexpr Inputs kPlain{1, 2, 3, 0, 0, 0, 0, 0}, kQuantized{3, 2, 5, 1, 4, 6, 7, 8};

using Place = std::array<int64_t, 3>;  // along three axes; the first ones have size 1 if there are fewer

bool isByte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

Place placeOf(const Shape& values, int64_t missing) {
  Place place{missing, missing, missing};
  for (int i = 0; i < values.rank(); ++i) place[static_cast<size_t>(3 - values.rank() + i)] = values[i];
  return place;
}

Shape spatial(const Shape& shape) { return Shape(shape.dims().subspan(2)); }

struct Geometry {
  int64_t images, channels, filters, groups, pixels, taps, depth;
  Place in, out, kernel, stride, dilation, before;

  Geometry(const OpRequest& request, size_t w) {
    const Shape &x = request.inputs[0].shape, &weights = request.inputs[w].shape, &y = request.outputs[0].shape;
    const reference::WindowShapes window(reference::windowsOf(request.node, weights), spatial(x), spatial(y));
    images = x[0];
    channels = x[1];
    filters = weights[0];
    groups = readers::readGroups(request.node.attributes);
    in = placeOf(spatial(x), 1);
    out = placeOf(spatial(y), 1);
    kernel = placeOf(window.kernel, 1);
    stride = placeOf(window.strides, 1);
    dilation = placeOf(window.dilations, 1);
    before = placeOf(window.padsBegin, 0);
    pixels = out[0] * out[1] * out[2];
    taps = kernel[0] * kernel[1] * kernel[2];
    depth = weights[1] * taps;
  }

  // The input of output pixels [first, first + count) in `planes` channels: a row of bytes for each channel and tap.
  void gather(const uint8_t* image, int64_t planes, int64_t first, int64_t count, uint8_t fill, uint8_t* to) const {
    const Place start{first / (out[1] * out[2]), first / out[2] % out[1], first % out[2]};
    WorkCounter work;
    for (int64_t plane = 0; plane < planes; ++plane, image += in[0] * in[1] * in[2])
      for (int64_t z = 0; z < kernel[0]; ++z)
        for (int64_t y = 0; y < kernel[1]; ++y)
          for (int64_t x = 0; x < kernel[2]; ++x, to += count, work.pass(count))
            gatherTap(image, {z, y, x}, start, count, fill, to);
  }

 private:
  void gatherTap(const uint8_t* plane, const Place& tap, Place at, int64_t count, uint8_t fill, uint8_t* to) const {
    const int64_t x0 = tap[2] * dilation[2] - before[2];
    while (count > 0) {
      const int64_t run = std::min(count, out[2] - at[2]);
      const int64_t z = at[0] * stride[0] + tap[0] * dilation[0] - before[0];
      const int64_t y = at[1] * stride[1] + tap[1] * dilation[1] - before[1];
      const bool inside = z >= 0 && z < in[0] && y >= 0 && y < in[1];
      const uint8_t* line = inside ? plane + (z * in[1] + y) * in[2] : nullptr;
      gatherRun(line, at[2] * stride[2] + x0, run, fill, to);
      at[2] = 0;
      if (++at[1] == out[1]) {
        at[1] = 0;
        ++at[0];
      }
      to += run;
      count -= run;
    }
  }

  // Every stride-th element of a line from `x` on; `fill` outside the line.
  void gatherRun(const uint8_t* line, int64_t x, int64_t run, uint8_t fill, uint8_t* to) const {
    if (!line || stride[2] != 1) {
      for (int64_t i = 0; i < run; ++i, x += stride[2]) to[i] = line && x >= 0 && x < in[2] ? line[x] : fill;
      return;
    }
    const int64_t begin = std::clamp<int64_t>(-x, 0, run), end = std::clamp<int64_t>(in[2] - x, begin, run);
    std::fill_n(to, begin, fill);
    if (end > begin) std::memcpy(to + begin, line + (x + begin), static_cast<size_t>(end - begin));
    std::fill(to + end, to + run, fill);
  }
};

template <const Inputs& kInputs>
bool accepts(const OpRequest& request) {
  constexpr int64_t kMostDepth = 1 << 16;  // every lane holds a panel of them
  const Operand &x = request.inputs[0], &w = request.inputs[kInputs.w];
  if (!isByte(x.dtype) || !isByte(w.dtype) || (kInputs.yZero && !isByte(request.outputs[0].dtype))) return false;
  if (x.shape.rank() < 3 || x.shape.rank() > 5 || w.shape.rank() != x.shape.rank() || w.shape[0] == 0) return false;
  const int64_t filters = w.shape[0];
  return w.shape.product(1, w.shape.rank()) <= kMostDepth && hasCount(request, kInputs.xZero, 1) &&
         hasCount(request, kInputs.wZero, filters) && hasCount(request, kInputs.xScale, 1) &&
         hasCount(request, kInputs.wScale, filters) && hasCount(request, kInputs.yScale, 1) &&
         hasCount(request, kInputs.yZero, 1) &&
         (!kInputs.bias || !request.has(kInputs.bias) || request.inputs[kInputs.bias].shape.count() == filters);
}

template <const Inputs& kInputs>
class IntegerConv final : public OpKernel {
 public:
  explicit IntegerConv(const OpRequest& request)
      : table_(integerGemmTable()), shape_(request, kInputs.w), lanes_(std::max(request.lanes, 1)) {
    for (const Operand& input : request.inputs) inputs_.push_back({input.dtype, input.shape, nullptr});
    outputIsSigned_ = request.outputs[0].dtype == DType::Int8;
    panels_ = table_.panelsOf(shape_.pixels);
  }

  size_t scratchBytes() const override {
    const size_t lanes = checkedMultiply(static_cast<size_t>(lanes_), laneBytes());
    return checkedAdd(checkedAdd(factorBytes(), rowBytes()), lanes);
  }

  void run(const OpContext& context) const override {
    auto* factors = reinterpret_cast<float*>(context.scratch);
    if (kInputs.yZero) loadFactors(context, factors);
    PackedRows rows(table_, shape_.filters, shape_.depth, context.scratch + factorBytes());
    packRows(
        table_,
        {context.inputs[kInputs.w], isSigned(kInputs.w), zerosOf(context, kInputs.wZero), shape_.filters, shape_.depth},
        true, context.lanes, rows);
    std::byte* lanes = context.scratch + factorBytes() + rowBytes();
    const int64_t grain = grainOf(1 << 17, {shape_.filters / shape_.groups, shape_.depth, table_.panelColumns});
    context.parallelFor(shape_.images * shape_.groups * panels_, grain, [&](int64_t begin, int64_t end, int lane) {
      for (int64_t task = begin; task < end; ++task)
        multiply(context, rows, task, factors, lanes + static_cast<size_t>(lane) * laneBytes());
    });
  }

 private:
  bool isSigned(size_t input) const { return inputs_[input].dtype == DType::Int8; }
  bool has(size_t input) const { return input < inputs_.size() && inputs_[input].present(); }
  ZeroPoints zerosOf(const OpContext& context, size_t input) const {
    if (!has(input)) return {};
    return {context.inputs[input], isSigned(input), inputs_[input].shape.count()};
  }

  size_t factorBytes() const {
    return kInputs.yZero ? alignUp(static_cast<size_t>(shape_.filters) * sizeof(float)) : 0;
  }
  size_t rowBytes() const { return alignUp(PackedRows::bytes(table_, shape_.filters, shape_.depth)); }
  // Of one lane: gathered bytes, these packed, a tile of sums.
  size_t gatheredBytes() const { return alignUp(static_cast<size_t>(shape_.depth * table_.panelColumns)); }
  size_t columnBytes() const { return alignUp(PackedColumns::bytes(table_, shape_.depth, table_.panelColumns)); }
  size_t laneBytes() const { return gatheredBytes() + columnBytes() + integerTileBytes(table_); }

  void loadFactors(const OpContext& context, float* factors) const {
    float x = 1, y = 1;
    loadNumbers(inputs_[kInputs.xScale].dtype, context.inputs[kInputs.xScale], 0, 1, &x);
    loadNumbers(inputs_[kInputs.yScale].dtype, context.inputs[kInputs.yScale], 0, 1, &y);
    const int64_t count = inputs_[kInputs.wScale].shape.count();
    loadNumbers(inputs_[kInputs.wScale].dtype, context.inputs[kInputs.wScale], 0, count, factors);
    for (int64_t m = shape_.filters - 1; m >= 0; --m) factors[m] = x * factors[count == 1 ? 0 : m] / y;
  }

  void multiply(const OpContext& context, const PackedRows& rows, int64_t task, const float* factors,
                std::byte* memory) const {
    const int64_t image = task / (shape_.groups * panels_), group = task / panels_ % shape_.groups;
    const int64_t first = task % panels_ * table_.panelColumns;
    const int64_t count = std::min<int64_t>(table_.panelColumns, shape_.pixels - first);
    const PackedColumns columns = gather(context, image, group, first, count, memory);
    const int64_t filters = shape_.filters / shape_.groups, at = image * shape_.filters * shape_.pixels + first;
    IntegerResult result;
    result.stride = shape_.pixels;
    if (kInputs.yZero) {
      result.quantized = context.out<uint8_t>() + at;
      result.rowFactors = factors;
      result.rowBias = has(kInputs.bias) ? context.in<int32_t>(kInputs.bias) : nullptr;
      result.zero = zerosOf(context, kInputs.yZero)[0];
      result.low = outputIsSigned_ ? -128 : 0;
      result.high = outputIsSigned_ ? 127 : 255;
    } else {
      result.sums = context.out<int32_t>() + at;
    }
    auto* sums = reinterpret_cast<int32_t*>(memory + gatheredBytes() + columnBytes());
    multiplyPanels(table_, {rows, columns, shape_.depth, count}, {0, 1}, group * filters, (group + 1) * filters, result,
                   sums);
  }

  PackedColumns gather(const OpContext& context, int64_t image, int64_t group, int64_t first, int64_t count,
                       std::byte* memory) const {
    const int64_t perGroup = shape_.channels / shape_.groups, size = shape_.in[0] * shape_.in[1] * shape_.in[2];
    const uint8_t* from = context.in<uint8_t>(0) + (image * shape_.channels + group * perGroup) * size;
    auto* bytes = reinterpret_cast<uint8_t*>(memory);
    const ZeroPoints zeros = zerosOf(context, kInputs.xZero);
    const auto fill = static_cast<uint8_t>(zeros[0]);
    shape_.gather(from, perGroup, first, count, fill, bytes);
    PackedColumns columns(table_, shape_.depth, count, memory + gatheredBytes());
    packColumns(table_, {bytes, isSigned(0), count, 1}, zeros, shape_.depth, count, 1, columns);
    return columns;
  }

  const IntegerGemmTable& table_;
  Geometry shape_;
  int lanes_;
  std::vector<Operand> inputs_;
  bool outputIsSigned_;
  int64_t panels_;
};

// One filter for each channel, without strides along lines: adds up taps a line at a time, as int16 * int16.
template <const Inputs& kInputs>
bool acceptsDepthwise(const OpRequest& request) {
  constexpr int64_t kMostWidth = 1 << 16;  // every lane holds lines
  if (!accepts<kInputs>(request) || request.inputs[kInputs.w].shape[1] != 1) return false;
  const Geometry shape(request, kInputs.w);
  return shape.filters == shape.channels && shape.groups == shape.channels && shape.stride[2] == 1 &&
         shape.out[2] <= kMostWidth && shape.kernel[2] <= kMostWidth && shape.dilation[2] <= kMostWidth &&
         shape.kernel[2] * shape.dilation[2] <= kMostWidth;
}

template <const Inputs& kInputs>
class DepthwiseConv final : public OpKernel {
 public:
  explicit DepthwiseConv(const OpRequest& request)
      : table_(integerGemmTable()), shape_(request, kInputs.w), lanes_(std::max(request.lanes, 1)) {
    for (const Operand& input : request.inputs) inputs_.push_back({input.dtype, input.shape, nullptr});
    outputIsSigned_ = request.outputs[0].dtype == DType::Int8;
    lineWidth_ = shape_.out[2] + (shape_.kernel[2] - 1) * shape_.dilation[2];
  }

  size_t scratchBytes() const override { return checkedMultiply(static_cast<size_t>(lanes_), laneBytes()); }

  void run(const OpContext& context) const override {
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(shape_.pixels, 1));
    context.parallelFor(shape_.images * shape_.channels, grain, [&](int64_t begin, int64_t end, int lane) {
      for (int64_t plane = begin; plane < end; ++plane)
        convolve(context, plane, context.scratch + static_cast<size_t>(lane) * laneBytes());
    });
  }

 private:
  bool isSigned(size_t input) const { return inputs_[input].dtype == DType::Int8; }
  bool has(size_t input) const { return input < inputs_.size() && inputs_[input].present(); }
  ZeroPoints zerosOf(const OpContext& context, size_t input) const {
    if (!has(input)) return {};
    return {context.inputs[input], isSigned(input), inputs_[input].shape.count()};
  }
  float scaleAt(const OpContext& context, size_t input, int64_t i) const {
    float scale = 1;
    const int64_t at = inputs_[input].shape.count() == 1 ? 0 : i;
    loadNumbers(inputs_[input].dtype, context.inputs[input], at, 1, &scale);
    return scale;
  }

  // Of one lane: a padded line as int16, sums, factors.
  size_t lineBytes() const { return alignUp(static_cast<size_t>(lineWidth_) * sizeof(int16_t)); }
  size_t sumBytes() const { return alignUp(static_cast<size_t>(shape_.out[2]) * sizeof(int32_t)); }
  size_t laneBytes() const { return lineBytes() + 2 * sumBytes(); }

  void convolve(const OpContext& context, int64_t plane, std::byte* memory) const {
    auto* line = reinterpret_cast<int16_t*>(memory);
    auto* sums = reinterpret_cast<int32_t*>(memory + lineBytes());
    auto* factors = reinterpret_cast<float*>(memory + lineBytes() + sumBytes());
    const int64_t channel = plane % shape_.channels, width = shape_.out[2];
    const int32_t bias = kInputs.yZero && has(kInputs.bias) ? context.in<int32_t>(kInputs.bias)[channel] : 0;
    if (kInputs.yZero)
      std::fill_n(factors, width,
                  scaleAt(context, kInputs.xScale, 0) * scaleAt(context, kInputs.wScale, channel) /
                      scaleAt(context, kInputs.yScale, 0));
    WorkCounter work;
    for (int64_t row = 0; row < shape_.out[0] * shape_.out[1]; ++row, work.pass(16 + width)) {
      const int64_t at = plane * shape_.pixels + row * width;
      int32_t* target = kInputs.yZero ? sums : context.out<int32_t>() + at;
      std::fill_n(target, width, bias);
      addRow(context, plane, row, line, target);
      if (!kInputs.yZero) continue;
      const Requantization how{factors, zerosOf(context, kInputs.yZero)[0], outputIsSigned_ ? -128 : 0,
                               outputIsSigned_ ? 127 : 255};
      table_.requantize(sums, width, how, nullptr, context.out<uint8_t>() + at);
    }
  }

  void addRow(const OpContext& context, int64_t plane, int64_t row, int16_t* line, int32_t* sums) const {
    const int64_t channel = plane % shape_.channels;
    const ZeroPoints weights = zerosOf(context, kInputs.w);
    const int32_t zero = zerosOf(context, kInputs.wZero)[channel];
    WorkCounter work;
    for (int64_t tap = 0; tap < shape_.taps; tap += shape_.kernel[2], work.pass(8)) {
      if (!widenLine(context, plane, row, tap, line)) continue;
      work.pass(lineWidth_);
      for (int64_t x = 0; x < shape_.kernel[2]; ++x, work.pass(shape_.out[2])) {
        const auto weight = static_cast<int16_t>(weights[channel * shape_.taps + tap + x] - zero);
        addTap(line + x * shape_.dilation[2], weight, shape_.out[2], sums);
      }
    }
  }

  static void addTap(const int16_t* line, int16_t weight, int64_t count, int32_t* sums) {
    for (int64_t i = 0; i < count; ++i) {
      const int32_t product = static_cast<int32_t>(line[i]) * static_cast<int32_t>(weight);
      sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(product));
    }
  }

  // The line of the image that a row of taps reads, minus its zero point, 0 outside; false if it is entirely outside.
  bool widenLine(const OpContext& context, int64_t plane, int64_t row, int64_t tap, int16_t* line) const {
    const int64_t z = row / shape_.out[1] * shape_.stride[0] +
                      tap / (shape_.kernel[1] * shape_.kernel[2]) * shape_.dilation[0] - shape_.before[0];
    const int64_t y = row % shape_.out[1] * shape_.stride[1] +
                      tap / shape_.kernel[2] % shape_.kernel[1] * shape_.dilation[1] - shape_.before[1];
    if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1]) return false;
    const uint8_t* from = context.in<uint8_t>(0) + ((plane * shape_.in[0] + z) * shape_.in[1] + y) * shape_.in[2];
    const int64_t begin = std::clamp<int64_t>(shape_.before[2], 0, lineWidth_);
    const int64_t end = std::clamp<int64_t>(shape_.before[2] + shape_.in[2], begin, lineWidth_);
    const int32_t zero = zerosOf(context, kInputs.xZero)[0];
    std::fill_n(line, begin, int16_t{0});
    std::fill(line + end, line + lineWidth_, int16_t{0});
    from += begin - shape_.before[2];
    if (isSigned(0))
      for (int64_t i = begin; i < end; ++i) line[i] = static_cast<int16_t>(static_cast<int8_t>(from[i - begin]) - zero);
    else
      for (int64_t i = begin; i < end; ++i) line[i] = static_cast<int16_t>(from[i - begin] - zero);
    return true;
  }

  const IntegerGemmTable& table_;
  Geometry shape_;
  int lanes_;
  std::vector<Operand> inputs_;
  bool outputIsSigned_;
  int64_t lineWidth_;
};

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

template <const Inputs& kInputs>
constexpr Implementation kRow[] = {
    {"depthwise_int8", acceptsDepthwise<kInputs>, make<DepthwiseConv<kInputs>>},
    {"gemm_int8", accepts<kInputs>, make<IntegerConv<kInputs>>},
};

const OpRow kRows[] = {
    {"", "ConvInteger", kRow<kPlain>},
    {"", "QLinearConv", kRow<kQuantized>},
};

}  // namespace

std::span<const OpRow> integerConvOps() { return kRows; }

}  // namespace max
