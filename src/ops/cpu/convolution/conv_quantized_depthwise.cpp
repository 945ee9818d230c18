// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of 8-bit integers add up taps, with vectors along channels.
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

// Four columns of an image at a time, whose quads two or four neighbouring output pixels share, or the rows of a square
// kernel, whose quads the pixels of two output rows share: those of a column serve all the pixels that it is a tap of.
struct SharedQuads {
  int64_t width, quads;  // taps and quads of a kernel row
  int64_t pixels = 1;    // 1 = they share none
  bool isSquare = false;

  SharedQuads(const Attributes& attributes, const Shape& weights)
      : width(weights[weights.rank() - 1]), quads(quadsOf(width)) {
    const auto windows = readers::readWindows(attributes, weights.dims().subspan(2)).axes;
    if (windows.empty() || windows.back().stride != 1 || windows.back().dilation != 1 || width == 1) return;
    const auto isPlain = [&](const readers::Window& window) {
      return window.size == width && window.stride == 1 && window.dilation == 1;
    };
    isSquare =
        DepthwiseSquare::exists(width) && windows.size() == 2 && std::all_of(windows.begin(), windows.end(), isPlain);
    if (!isSquare) pixels = width + 3 <= 4 * quads ? 4 : 2;
  }
  // That two pixels need at least.
  static int64_t quadsOf(int64_t width) { return (width + 1 + 3) / 4; }
};

// Filters of one channel each, zero points subtracted, and their sums: [pairs of taps][channels][2] in 16 bits, or, if
// all fit into 8 bits, as DepthwiseQuads says.
class DepthwiseFilters final : public Prepared {
 public:
  DepthwiseFilters(const Tensor& weights, const Tensor* zeros, size_t input, bool allowsQuads, SharedQuads shared)
      : channels_(weights.shape()[0]),
        taps_(weights.shape().product(2, weights.shape().rank())),
        input_(input),
        shared_(shared) {
    sums_ = Tensor::allocate(DType::Int32, {channels_});
    const WorkVector<int16_t> values = centred(weights, zerosOf(zeros));
    isQuads_ = allowsQuads;
    WorkCounter work;
    for (int64_t c = 0; c < channels_; ++c, work.pass(taps_)) {
      int32_t sum = 0;
      for (int64_t i = 0; i < taps_; ++i) {
        const int16_t value = values[static_cast<size_t>(c * taps_ + i)];
        sum += value;
        isQuads_ &= value == static_cast<int8_t>(value);
      }
      static_cast<int32_t*>(sums_->mutableData())[c] = sum;
    }
    if (isQuads_)
      fillQuads(values);
    else
      fillPairs(values);
  }
  size_t bytes() const override { return values_->bytes() + sums_->bytes(); }
  bool replaces(size_t input) const override { return input == input_; }
  bool isQuads() const { return isQuads_; }
  // That share columns.
  int64_t pixels() const { return isQuads_ ? shared_.pixels : 1; }
  bool isSquare() const { return isQuads_ && shared_.isSquare; }
  int64_t size() const { return shared_.width; }
  // Of taps that are computed together.
  int64_t together() const { return isQuads_ ? 4 : 2; }
  int64_t steps() const {
    if (isSquare()) return DepthwiseSquare::words(size());
    return pixels() > 1 ? taps_ / shared_.width * shared_.quads : (taps_ + together() - 1) / together();
  }
  // Tap number i of a step for one of the pixels or rows; -1 = none.
  int64_t tap(int64_t step, int64_t i, int64_t sharer = 0) const {
    if (isSquare()) {
      const auto [place, column] = DepthwiseSquare::place(size(), step, i);
      const int64_t row = place - sharer;
      return row >= 0 && row < size() && column >= 0 ? row * size() + column : -1;
    }
    if (pixels() == 1) return step * together() + i < taps_ ? step * together() + i : -1;
    const int64_t column = step % shared_.quads * 4 + i - sharer;
    return column >= 0 && column < shared_.width ? step / shared_.quads * shared_.width + column : -1;
  }
  // Kernel row and column of a tap, whichever pixel has that one; anything if none has.
  std::pair<int64_t, int64_t> place(int64_t step, int64_t i) const {
    if (pixels() > 1) return {step / shared_.quads, step % shared_.quads * 4 + i};
    const int64_t one = std::max<int64_t>(tap(step, i), 0);
    return {one / shared_.width, one % shared_.width};
  }
  template <class T>
  const T* values() const {
    return values_->as<T>();
  }
  int32_t sum(int64_t channel) const { return sums_->as<int32_t>()[channel]; }
  // Calls body(channel, place) for each channel, once or more often.
  template <class Body>
  void forEachPlace(Body body) const {
    if (!isQuads_) {
      for (int64_t c = 0; c < channels_; ++c) body(c, c);
      return;
    }
    for (int64_t c = 0, block = 0; c < channels_; ++block) {
      const ChannelBlock channels(c, channels_);
      for (int64_t place = 0; place < ChannelBlock::kPlaces; ++place)
        if (channels.channel(place) < channels_) body(channels.channel(place), block * ChannelBlock::kPlaces + place);
      c = channels.last();
    }
  }
  int64_t places() const {
    int64_t most = 0;
    forEachPlace([&](int64_t, int64_t place) { most = std::max(most, place + 1); });
    return isQuads_ ? (most + ChannelBlock::kPlaces - 1) / ChannelBlock::kPlaces * ChannelBlock::kPlaces : most;
  }

 private:
  // The weights without their zero points.
  WorkVector<int16_t> centred(const Tensor& weights, const ZeroPoints& zeros) const {
    const ZeroPoints elements{weights.data(), weights.dtype() == DType::Int8, weights.count()};
    WorkVector<int16_t> values(static_cast<size_t>(channels_ * taps_));
    WorkCounter work;
    for (int64_t c = 0, i = 0; c < channels_; ++c, work.pass(taps_))
      for (const int32_t zero = zeros[c]; i < (c + 1) * taps_; ++i)
        values[static_cast<size_t>(i)] = static_cast<int16_t>(elements[i] - zero);
    return values;
  }

  void fillPairs(const WorkVector<int16_t>& values) {
    auto* to = allocate<int16_t>(DType::Int16, steps() * channels_ * 2);
    WorkCounter work;
    for (int64_t c = 0; c < channels_; ++c, work.pass(taps_))
      for (int64_t tap = 0; tap < taps_; ++tap)
        to[(tap / 2 * channels_ + c) * 2 + tap % 2] = values[static_cast<size_t>(c * taps_ + tap)];
  }

  void fillQuads(const WorkVector<int16_t>& values) {
    const int64_t sharing = isSquare() ? DepthwiseSquare::kRows : pixels(), each = steps() * sharing;
    auto* to = allocate<int8_t>(DType::Int8, places() * each * 4);
    WorkCounter work;
    forEachPlace([&](int64_t c, int64_t place) {
      constexpr int64_t kPlaces = ChannelBlock::kPlaces;
      for (int64_t vector = 0; vector < each; ++vector)
        for (int64_t i = 0; i < 4; ++i)
          if (const int64_t from = tap(vector / sharing, i, vector % sharing); from >= 0)
            to[((place / kPlaces * each + vector) * kPlaces + place % kPlaces) * 4 + i] =
                static_cast<int8_t>(values[static_cast<size_t>(c * taps_ + from)]);
      work.pass(each * 4);
    });
  }

  template <class T>
  T* allocate(DType dtype, int64_t count) {
    values_ = Tensor::allocate(dtype, {count});
    auto* to = static_cast<T*>(values_->mutableData());
    std::fill_n(to, count, T{0});
    return to;
  }

  int64_t channels_, taps_;
  size_t input_;
  SharedQuads shared_;
  bool isQuads_;
  Ref<Tensor> values_, sums_;
};

// Runs of output pixels of one row, or of two that are computed together.
class PixelRuns {
 public:
  PixelRuns(const ConvShape& shape, int64_t together) : shape_(shape), together_(together) {
    constexpr int64_t kMostPixels = 32, kFewTaps = 64;
    most_ = shape.taps() > kFewTaps ? 4 : kMostPixels;
    runs_ = (shape.out[2] + most_ - 1) / most_;
    most_ = std::min(most_, shape.out[2]);
  }
  int64_t count() const { return shape_.images * shape_.out[0] * groupsOfImage() * runs_; }
  int64_t most() const { return most_; }      // pixels of a row of a run
  int64_t rows() const { return together_; }  // of a run, at most

  struct Run {
    int64_t row, rows, pixel, pixels;
  };
  Run operator[](int64_t number) const {
    const int64_t group = number / runs_, run = number % runs_, row = group % groupsOfImage() * together_;
    const int64_t first = shape_.out[2] * run / runs_;
    return {group / groupsOfImage() * shape_.out[1] + row, std::min(together_, shape_.out[1] - row), first,
            shape_.out[2] * (run + 1) / runs_ - first};
  }

 private:
  int64_t groupsOfImage() const { return (shape_.out[1] + together_ - 1) / together_; }

  ConvShape shape_;
  int64_t together_, runs_, most_;
};

// Rows of the input.
struct InputRows {
  ConvShape shape;
  const uint8_t* x;

  // NULL = outside of the image.
  const uint8_t* at(int64_t image, int64_t d, int64_t h) const {
    if (d < 0 || d >= shape.in[0] || h < 0 || h >= shape.in[1]) return nullptr;
    return x + ((image * shape.in[0] + d) * shape.in[1] + h) * shape.in[2] * shape.channels;
  }
};

// Pointers to the input of a run of output pixels: for each kernel row those of its columns, or, where taps share few
// columns, for each tap those of the pixels.
class TapColumns {
 public:
  TapColumns(const ConvShape& shape, int64_t mostPixels) : shape_(shape), line_(mostPixels) {
    shares_ = shape.dilation[2] == 1 && shape.stride[2] <= shape.kernel[2];
    // The last pixel reads whole quads, too.
    if (shares_) line_ = (line_ - 1) * shape.stride[2] + SharedQuads::quadsOf(shape.kernel[2]) * 4;
  }

  int64_t size() const { return shape_.kernel[0] * shape_.kernel[1] * (shares_ ? 1 : shape_.kernel[2]) * line_; }
  int64_t pixelStep() const { return shares_ ? shape_.stride[2] : 1; }
  // Where column `column` of kernel row `row` is for the first pixel.
  int64_t offset(int64_t row, int64_t column) const {
    return shares_ ? row * line_ + column : (row * shape_.kernel[2] + column) * line_;
  }

  // For the pixels of row `row` from `pixel` on. `zeros`: what pixels outside the image contain.
  void fill(const uint8_t* x, const uint8_t* zeros, int64_t row, int64_t pixel, const uint8_t** table) const {
    const int64_t h = row % shape_.out[1] * shape_.stride[1] - shape_.before[1];
    const int64_t d = row / shape_.out[1] % shape_.out[0] * shape_.stride[0] - shape_.before[0];
    const int64_t image = row / shape_.out[1] / shape_.out[0];
    const int64_t column = pixel * shape_.stride[2] - shape_.before[2];
    const InputRows rows{shape_, x};
    for (int64_t i = 0; i < shape_.kernel[0]; ++i)
      for (int64_t j = 0; j < shape_.kernel[1]; ++j) {
        const uint8_t* line = rows.at(image, d + i * shape_.dilation[0], h + j * shape_.dilation[1]);
        if (shares_) {
          fillLine(line, zeros, column, 1, table);
          table += line_;
        }
        for (int64_t k = 0; !shares_ && k < shape_.kernel[2]; ++k, table += line_)
          fillLine(line, zeros, column + k * shape_.dilation[2], shape_.stride[2], table);
      }
  }

 private:
  void fillLine(const uint8_t* line, const uint8_t* zeros, int64_t column, int64_t step, const uint8_t** table) const {
    // The part within the image.
    const auto firstFrom = [&](int64_t least) {
      return std::clamp<int64_t>((least - column + step - 1) / step, 0, line_);
    };
    const int64_t begin = line ? firstFrom(std::max<int64_t>(column, 0)) : line_;
    const int64_t end = line ? std::max(begin, firstFrom(shape_.in[2])) : line_;
    const int64_t stride = step * shape_.channels;
    std::fill_n(table, begin, zeros);
    const uint8_t* at = line ? line + (column + begin * step) * shape_.channels : nullptr;
    for (int64_t i = begin; i < end; ++i, at += stride) table[i] = at;
    std::fill(table + end, table + line_, zeros);
  }

  ConvShape shape_;
  bool shares_;
  int64_t line_;
};

class QuantizedDepthwise final : public OpKernel {
 public:
  QuantizedDepthwise(const OpRequest& request, const ConvShape& shape, Ref<DepthwiseFilters> filters,
                     const QuantizedInputs& inputs)
      : table_(integerGemmTable()),
        pairs_(depthwiseBytesFunction()),
        quads_(depthwiseQuadsFunction()),
        square_(depthwiseSquareFunction()),
        requantizes_(inputs.requantizes()),
        operands_(request, inputs),
        shape_(shape),
        runs_(shape, filters->isSquare() ? DepthwiseSquare::kRows : 1),
        columns_(shape, runs_.most()),
        filters_(std::move(filters)) {
    if (!filters_->isSquare()) findOffsets();
    const auto row = checkedMultiply(static_cast<size_t>(filters_->places()), sizeof(int32_t));
    biasAt_ = alignUp(row);
    zerosAt_ = 2 * biasAt_;
    lanesAt_ = zerosAt_ + alignUp(static_cast<size_t>(shape.channels));
    sumsAt_ = alignUp(checkedMultiply(static_cast<size_t>(columns_.size()), sizeof(void*)));
    laneBytes_ = filters_->isSquare()
                     ? static_cast<size_t>(DepthwiseSquare::memoryBytes(filters_->size(), runs_.most()))
                     : checkedAdd(sumsAt_, alignUp(row));
    bytes_ = checkedAdd(lanesAt_, checkedMultiply(laneBytes_, static_cast<size_t>(std::max(request.lanes, 1))));
    const std::vector<const void*> constants = operands_.constants();
    if (!constants.empty()) {
      known_.resize(2 * biasAt_ / sizeof(int32_t));
      loadParameters({constants.data(), nullptr, nullptr, 1}, reinterpret_cast<std::byte*>(known_.data()));
      mayOverflow_ = mayOverflow(reinterpret_cast<const float*>(known_.data()), filters_->places());
    }
    operands_.forgetConstants();
  }

  size_t scratchBytes() const override { return bytes_; }

  void run(const OpContext& context) const override {
    if (known_.empty()) loadParameters(context, context.scratch);
    const std::byte* parameters = known_.empty() ? context.scratch : reinterpret_cast<const std::byte*>(known_.data());
    const auto* factors = reinterpret_cast<const float*>(parameters);
    const auto* bias = reinterpret_cast<const int32_t*>(parameters + biasAt_);
    auto* zeros = reinterpret_cast<uint8_t*>(context.scratch + zerosAt_);
    std::memset(zeros, operands_.zero(context) ^ operands_.flip(), static_cast<size_t>(shape_.channels));
    const RequantizedSum sum = operands_.sum(context);
    Requantization how =
        requantizes_ ? operands_.requantization(context, factors, bias, sum) : Requantization{factors, 0, 0, 0, bias};
    how.mayOverflow = mayOverflow_;
    const int64_t grain = grainOf(1 << 16, {runs_.most() * runs_.rows(), shape_.channels, steps()});
    context.parallelFor(runs_.count(), grain, [&](int64_t begin, int64_t end, int lane) {
      std::byte* memory = context.scratch + lanesAt_ + static_cast<size_t>(lane) * laneBytes_;
      WorkCounter work;
      for (int64_t task = begin; task < end; ++task) {
        const PixelRuns::Run run = runs_[task];
        if (filters_->isSquare())
          runSquare(context, how, zeros, run, memory);
        else
          runPixels(context, how, zeros, run, memory);
        work.pass(columns_.size() + run.rows * run.pixels * steps() * shape_.channels / 4);
      }
    });
  }

 private:
  int64_t steps() const { return filters_->steps(); }

  // Taps without weights read any column.
  void findOffsets() {
    const int64_t together = filters_->together();
    offsets_.resize(static_cast<size_t>(checkedMultiply<int64_t>(steps(), together)));
    for (int64_t step = 0, at = 0; step < steps(); ++step)
      for (int64_t i = 0; i < together; ++i, ++at) {
        const auto [row, column] = filters_->place(step, i);
        offsets_[static_cast<size_t>(at)] = columns_.offset(row, column);
      }
  }

  // Factors, then what is added to the sums.
  void loadParameters(const OpContext& context, std::byte* memory) const {
    auto* factors = reinterpret_cast<float*>(memory);
    auto* bias = reinterpret_cast<int32_t*>(memory + biasAt_);
    const auto zero = static_cast<uint32_t>(operands_.zero(context));
    std::fill_n(factors, filters_->places(), 0.f);
    std::fill_n(bias, filters_->places(), 0);
    filters_->forEachPlace([&](int64_t c, int64_t at) {
      factors[at] = requantizes_ ? operands_.factor(context, c) : 0;
      bias[at] = static_cast<int32_t>(static_cast<uint32_t>(operands_.bias(context, c)) -
                                      zero * static_cast<uint32_t>(filters_->sum(c)));
    });
  }

  void runSquare(const OpContext& context, const Requantization& how, const uint8_t* zeros, const PixelRuns::Run& run,
                 std::byte* memory) const {
    const int64_t at = (run.row * shape_.out[2] + run.pixel) * shape_.channels;
    DepthwiseSquare square{filters_->size(),
                           {},
                           zeros,
                           run.pixel - shape_.before[2],
                           shape_.in[2],
                           run.pixels,
                           run.rows,
                           shape_.out[2] * shape_.channels,
                           filters_->values<int8_t>(),
                           shape_.channels,
                           operands_.flip(),
                           &how,
                           operands_.residual(context, at),
                           context.out<uint8_t>() + at,
                           memory};
    const InputRows rows{shape_, context.in<uint8_t>(0)};
    for (int64_t i = 0; i < DepthwiseSquare::inputRows(square.size); ++i)
      square.x[i] = rows.at(run.row / shape_.out[1], 0, run.row % shape_.out[1] - shape_.before[1] + i);
    square_(square);
  }

  void runPixels(const OpContext& context, const Requantization& how, const uint8_t* zeros, const PixelRuns::Run& run,
                 std::byte* memory) const {
    auto** columns = reinterpret_cast<const uint8_t**>(memory);
    columns_.fill(context.in<uint8_t>(0), zeros, run.row, run.pixel, columns);
    const int64_t first = run.row * shape_.out[2] + run.pixel;
    if (filters_->isQuads())
      return quads_({columns, offsets_.data(), steps(), filters_->pixels(), run.pixels, columns_.pixelStep(),
                     filters_->values<int8_t>(), shape_.channels, operands_.flip(), &how,
                     operands_.residual(context, first * shape_.channels),
                     context.out<uint8_t>() + first * shape_.channels});
    for (int64_t i = 0; i < run.pixels; ++i)
      runPairs(context, how, columns + i * columns_.pixelStep(), (first + i) * shape_.channels,
               reinterpret_cast<int32_t*>(memory + sumsAt_));
  }

  void runPairs(const OpContext& context, const Requantization& how, const uint8_t* const* columns, int64_t at,
                int32_t* sums) const {
    int32_t* target = requantizes_ ? sums : context.out<int32_t>() + at;
    pairs_({columns, offsets_.data(), steps(), filters_->values<int16_t>(), shape_.channels, operands_.flip(), target});
    if (requantizes_)
      return table_.requantize(sums, shape_.channels, how, operands_.residual(context, at),
                               context.out<uint8_t>() + at);
    for (int64_t c = 0; c < shape_.channels; ++c)
      target[c] = static_cast<int32_t>(static_cast<uint32_t>(target[c]) + static_cast<uint32_t>(how.bias[c]));
  }

  const IntegerGemmTable& table_;
  DepthwiseBytesFunction pairs_;
  DepthwiseQuadsFunction quads_;
  DepthwiseSquareFunction square_;
  bool requantizes_;
  QuantizedOperands operands_;
  ConvShape shape_;
  PixelRuns runs_;
  TapColumns columns_;
  Ref<DepthwiseFilters> filters_;
  WorkVector<int64_t> offsets_;  // among columns, of all taps
  WorkVector<int32_t> known_;    // parameters, if they are constant
  bool mayOverflow_ = true;      // see Requantization
  // The scratch memory: parameters, zeros, and for each lane columns and the sums of a pixel.
  size_t biasAt_, zerosAt_, lanesAt_, sumsAt_, laneBytes_, bytes_;
};

}  // namespace

// Four taps at once are only for results in 8 bits.
Ref<Prepared> prepareQuantizedDepthwise(const Node& node, const Tensor& weights, const Tensor* zeros,
                                        const QuantizedInputs& inputs) {
  const bool allowsQuads = inputs.requantizes() && depthwiseQuadsFunction();
  return makeRef<DepthwiseFilters>(weights, zeros, inputs.w, allowsQuads,
                                   SharedQuads(node.attributes, weights.shape()));
}

bool fitsQuantizedDepthwise(const Prepared& filters) {
  const auto* own = dynamic_cast<const DepthwiseFilters*>(&filters);
  return own && (!own->isQuads() || depthwiseQuadsFunction());
}

std::unique_ptr<OpKernel> createQuantizedDepthwise(const OpRequest& request, const ConvShape& shape,
                                                   Ref<Prepared> filters, const QuantizedInputs& inputs) {
  return std::make_unique<QuantizedDepthwise>(
      request, shape, Ref<DepthwiseFilters>(static_cast<DepthwiseFilters*>(filters.get())), inputs);
}

}  // namespace max
