// SPDX-License-Identifier: Apache-2.0
// Convolutions of 8-bit integers with few filters: as a product, they would fill a part of a vector only. A row of the
// output is computed where the input lies; windows that leave the image are copied first, with borders.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv_quantized.h"
#include "ops/cpu/grain.h"

namespace max {

namespace {

constexpr int64_t kVectorBytes = 64;

// Filters in the order of FewFilterBytes, and their sums.
class FewFilters final : public Prepared {
 public:
  FewFilters(const Tensor& weights, size_t input) : input_(input) {
    const Shape& shape = weights.shape();
    const int64_t filters = shape[0], channels = shape[1], taps = shape.product(2, shape.rank());
    const int64_t width = shape.back(), depth = width * channels, rows = taps / width;
    const int64_t vectors = ceilDiv(depth, kVectorBytes);
    values_ = Tensor::allocate(DType::Int8, {rows * vectors * filters * kVectorBytes});
    auto* values = static_cast<int8_t*>(values_->mutableData());
    std::fill_n(values, values_->count(), int8_t{0});
    const auto* from = weights.as<int8_t>();
    WorkCounter work;
    for (int64_t filter = 0; filter < filters; ++filter)
      for (int64_t c = 0; c < channels; ++c, work.pass(taps))
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t place = tap % width * channels + c, vector = tap / width * vectors + place / kVectorBytes;
          const int8_t weight = *from++;
          values[(vector * filters + filter) * kVectorBytes + place % kVectorBytes] = weight;
          sums_[filter] += weight;
        }
  }
  size_t bytes() const override { return values_->bytes(); }
  bool replaces(size_t input) const override { return input == input_; }
  const int8_t* values() const { return values_->as<int8_t>(); }
  int32_t sum(int64_t filter) const { return sums_[filter]; }

 private:
  size_t input_;
  Ref<Tensor> values_;
  int32_t sums_[kMostFewFilterBytes] = {};
};

class QuantizedFew final : public OpKernel {
 public:
  QuantizedFew(const OpRequest& request, const ConvShape& shape, Ref<FewFilters> filters, const QuantizedInputs& inputs)
      : multiply_(fewFilterBytesFunction()),
        requantize_(integerGemmTable().requantize),
        requantizes_(inputs.requantizes()),
        operands_(request, inputs),
        shape_(shape),
        filters_(std::move(filters)),
        rows_(shape.kernel[0] * shape.kernel[1]),
        depth_(shape.kernel[2] * shape.channels),
        segments_(ceilDiv(shape.out[2], kSegmentPixels)) {
    const int64_t stride = shape.stride[2];
    inside_.begin = ceilDiv(shape.before[2], stride);
    const int64_t last = shape.in[2] - shape.kernel[2] + shape.before[2];
    inside_.end = std::max(inside_.begin, last < 0 ? 0 : last / stride + 1);
    placeScratch(std::max(request.lanes, 1));
    const std::vector<const void*> constants = operands_.constants();
    if (!constants.empty()) {
      known_.resize(ColumnParameters::kArrays * kParameters);
      loadParameters({constants.data(), nullptr, nullptr, 1}, known_.data());
      mayOverflow_ = columnParameters().mayOverflow(known_.data());
    }
    operands_.forgetConstants();
  }

  size_t scratchBytes() const override { return bytes_; }

  void run(const OpContext& context) const override {
    auto* loaded = reinterpret_cast<int32_t*>(context.scratch);
    if (known_.empty()) loadParameters(context, loaded);
    std::memset(context.scratch + zerosAt_, operands_.zero(context), static_cast<size_t>(zeroBytes()));
    RequantizedSum sum = operands_.sum(context);
    Requantization how = requantizes_ ? operands_.requantization(context, nullptr, nullptr, sum) : Requantization{};
    how.mayOverflow = mayOverflow_;
    columnParameters().apply(known_.empty() ? loaded : known_.data(), 0, how, sum);
    const int64_t lines = shape_.images * shape_.out[0] * shape_.out[1];
    const int64_t grain = grainOf(1 << 18, {std::min(shape_.out[2], kSegmentPixels), rows_, depth_, shape_.filters});
    context.parallelFor(lines * segments_, grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + lanesAt_ + static_cast<size_t>(lane) * laneBytes_;
      WorkCounter work;
      for (int64_t task = begin; task < end; ++task) {
        const int64_t line = task / segments_, segment = task % segments_;
        const Pixels pixels{shape_.out[2] * segment / segments_, shape_.out[2] * (segment + 1) / segments_};
        runSegment(context, line, pixels, memory);
        finish(context, how, (line * shape_.out[2] + pixels.begin) * shape_.filters, pixels.count() * shape_.filters,
               reinterpret_cast<int32_t*>(memory + sumsAt_));
        work.pass(pixels.count() * (16 + rows_ * (1 + depth_ / 16)));
      }
    });
  }

 private:
  static constexpr int64_t kSegmentPixels = 256, kBorderPixels = 8;
  // Parameters of filters repeat, so that vectors of sums of all filters meet them.
  static constexpr int64_t kParameters = kVectorBytes * kMostFewFilterBytes;

  // Of a row of the output.
  struct Pixels {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };
  ColumnParameters columnParameters() const { return {operands_, kParameters}; }
  int64_t lineBytes() const { return shape_.in[2] * shape_.channels; }
  // What a segment's windows read of a row of the kernel that is outside the image.
  int64_t zeroBytes() const {
    const auto isPadded = [&](size_t axis) { return shape_.before[axis] != 0 || shape_.after[axis] != 0; };
    const int64_t pixels = std::min(inside_.count(), kSegmentPixels);
    if (pixels <= 0 || !(isPadded(0) || isPadded(1))) return 0;
    return (pixels - 1) * shape_.stride[2] * shape_.channels + depth_;
  }
  // Sums whose parameters follow each other.
  int64_t period() const { return kVectorBytes * shape_.filters; }

  void placeScratch(int lanes) {
    constexpr int64_t kOverread = kVectorBytes;
    const auto words = [](int64_t count) { return alignUp(static_cast<size_t>(count) * sizeof(int32_t)); };
    zerosAt_ = words(ColumnParameters::kArrays * kParameters);
    lanesAt_ = checkedAdd(zerosAt_, alignUp(static_cast<size_t>(zeroBytes())));
    sumsAt_ = alignUp(2 * static_cast<size_t>(rows_) * sizeof(void*));
    borderSumsAt_ = sumsAt_ + words(kSegmentPixels * shape_.filters + kOverread);
    windowsAt_ = borderSumsAt_ + words(kBorderPixels * shape_.filters);
    laneBytes_ = windowsAt_ + alignUp(static_cast<size_t>(kBorderPixels * rows_ * depth_));
    bytes_ = checkedAdd(lanesAt_, checkedMultiply(laneBytes_, static_cast<size_t>(lanes)));
  }

  void loadParameters(const OpContext& context, int32_t* words) const {
    const ColumnParameters parameters = columnParameters();
    const auto zero = static_cast<uint32_t>(operands_.zero(context));
    for (int64_t filter = 0; filter < shape_.filters; ++filter) {
      const auto column = parameters.read(context, filter, zero * static_cast<uint32_t>(filters_->sum(filter)));
      for (int64_t i = filter; i < kParameters; i += shape_.filters) parameters.write(column, i, words);
    }
  }

  // The input's lines that the kernel's rows meet, for a row of the output; NULL = none.
  void findLines(const OpContext& context, int64_t row, const uint8_t** lines) const {
    const int64_t top = row % shape_.out[1] * shape_.stride[1] - shape_.before[1], slice = row / shape_.out[1];
    const int64_t front = slice % shape_.out[0] * shape_.stride[0] - shape_.before[0];
    const int64_t firstSlice = slice / shape_.out[0] * shape_.in[0];
    for (int64_t i = 0, d = front; i < shape_.kernel[0]; ++i, d += shape_.dilation[0])
      for (int64_t j = 0, h = top; j < shape_.kernel[1]; ++j, h += shape_.dilation[1]) {
        const bool exists = d >= 0 && d < shape_.in[0] && h >= 0 && h < shape_.in[1];
        *lines++ = exists ? context.in<uint8_t>(0) + ((firstSlice + d) * shape_.in[1] + h) * lineBytes() : nullptr;
      }
  }

  void runSegment(const OpContext& context, int64_t line, const Pixels& pixels, std::byte* memory) const {
    const int64_t step = shape_.stride[2] * shape_.channels;
    const Pixels inside{std::clamp(inside_.begin, pixels.begin, pixels.end),
                        std::clamp(inside_.end, pixels.begin, pixels.end)};
    auto* sums = reinterpret_cast<int32_t*>(memory + sumsAt_);
    auto** lines = reinterpret_cast<const uint8_t**>(memory);
    auto** rows = lines + rows_;
    findLines(context, line, lines);
    const auto multiply = [&](int64_t each, int64_t count, int32_t* to) {
      multiply_({rows, rows_, depth_, each, count, filters_->values(), shape_.filters, to});
    };
    if (inside.count() > 0) {
      const int64_t first = inside.begin * step - shape_.before[2] * shape_.channels;
      const auto* zeros = reinterpret_cast<const uint8_t*>(context.scratch + zerosAt_);
      for (int64_t r = 0; r < rows_; ++r) rows[r] = lines[r] ? lines[r] + first : zeros;
      multiply(step, inside.count(), sums + (inside.begin - pixels.begin) * shape_.filters);
    }
    // The pixels on both sides, some at a time.
    auto* windows = reinterpret_cast<uint8_t*>(memory + windowsAt_);
    auto* borderSums = reinterpret_cast<int32_t*>(memory + borderSumsAt_);
    const int zero = operands_.zero(context);
    const int64_t left = inside.begin - pixels.begin, count = left + pixels.end - inside.end;
    const auto pixelOf = [&](int64_t i) { return i < left ? pixels.begin + i : inside.end + i - left; };
    for (int64_t r = 0; r < rows_ && count > 0; ++r) rows[r] = windows + r * depth_;
    for (int64_t i = 0; i < count; i += kBorderPixels) {
      const int64_t some = std::min(kBorderPixels, count - i);
      for (int64_t j = 0; j < some; ++j) copyWindow(lines, zero, pixelOf(i + j), windows + j * rows_ * depth_);
      multiply(rows_ * depth_, some, borderSums);
      for (int64_t j = 0; j < some; ++j)
        std::copy_n(borderSums + j * shape_.filters, shape_.filters,
                    sums + (pixelOf(i + j) - pixels.begin) * shape_.filters);
    }
  }

  void copyWindow(const uint8_t* const* lines, int zero, int64_t pixel, uint8_t* to) const {
    const int64_t column = pixel * shape_.stride[2] - shape_.before[2], width = shape_.kernel[2];
    const int64_t begin = std::clamp<int64_t>(-column, 0, width);
    const int64_t end = std::clamp<int64_t>(shape_.in[2] - column, begin, width);
    for (int64_t r = 0; r < rows_; ++r, to += depth_) {
      std::memset(to, zero, static_cast<size_t>(depth_));
      if (lines[r])
        std::memcpy(to + begin * shape_.channels, lines[r] + (column + begin) * shape_.channels,
                    static_cast<size_t>((end - begin) * shape_.channels));
    }
  }

  // `count` sums become the results from `place` on.
  void finish(const OpContext& context, Requantization how, int64_t place, int64_t count, const int32_t* sums) const {
    for (int64_t i = 0; i < count; i += period()) {
      const int64_t some = std::min(period(), count - i);
      if (requantizes_)
        requantize_(sums + i, some, how, nullptr, context.out<uint8_t>() + place + i);
      else if (operands_.hasFactor())
        makeReals(sums + i, some, how, context.out<float>() + place + i);
      else
        for (int64_t n = 0; n < some; ++n) context.out<int32_t>()[place + i + n] = withBias(sums[i + n], how.bias[n]);
    }
  }

  static int32_t withBias(int32_t sum, int32_t bias) {
    return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(bias));
  }
  static void makeReals(const int32_t* sums, int64_t count, const Requantization& how, float* out) {
    for (int64_t n = 0; n < count; ++n)
      out[n] = static_cast<float>(withBias(sums[n], how.bias[n])) * how.factors[n] + (how.addends ? how.addends[n] : 0);
  }

  FewFilterBytesFunction multiply_;
  decltype(IntegerGemmTable::requantize) requantize_;
  bool requantizes_;
  QuantizedOperands operands_;
  ConvShape shape_;
  Ref<FewFilters> filters_;
  int64_t rows_, depth_;       // of the kernel, and bytes of each
  int64_t segments_;           // of a row of the output
  Pixels inside_{};            // whose windows are
  WorkVector<int32_t> known_;  // parameters, if they are constant
  bool mayOverflow_ = true;    // see Requantization
  // The scratch memory: parameters, zeros, and for each lane lines and rows, sums, and those of windows that are
  // copied.
  size_t zerosAt_ = 0, lanesAt_ = 0, sumsAt_ = 0, borderSumsAt_ = 0, windowsAt_ = 0, laneBytes_ = 0, bytes_ = 0;
};

}  // namespace

bool hasFewFilterBytes(const Attributes& attributes, const Tensor& weights, const Tensor* zeros) {
  constexpr int64_t kFewestBytes = 16, kMostBytes = 1 << 16;  // of a kernel row; of a filter
  const Shape& shape = weights.shape();
  if (!fewFilterBytesFunction() || shape.rank() < 3 || shape[0] > kMostFewFilterBytes) return false;
  if (weights.dtype() != DType::Int8 || readers::readGroups(attributes) != 1 || !zerosOf(zeros).areAll(0)) return false;
  if (shape[1] * shape.back() < kFewestBytes || shape.product(1, shape.rank()) > kMostBytes) return false;
  return readers::readWindows(attributes, shape.dims().subspan(2)).axes.back().dilation == 1;
}

Ref<Prepared> prepareQuantizedFew(const Tensor& weights, size_t input) { return makeRef<FewFilters>(weights, input); }

bool fitsQuantizedFew(const Prepared& filters) {
  return dynamic_cast<const FewFilters*>(&filters) && fewFilterBytesFunction();
}

std::unique_ptr<OpKernel> createQuantizedFew(const OpRequest& request, const ConvShape& shape, Ref<Prepared> filters,
                                             const QuantizedInputs& inputs) {
  return std::make_unique<QuantizedFew>(request, shape, Ref<FewFilters>(static_cast<FewFilters*>(filters.get())),
                                        inputs);
}

}  // namespace max
