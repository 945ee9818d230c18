// SPDX-License-Identifier: Apache-2.0
// RoiAlign by averages: the samples of a bin are on a grid, so that their sum is a product of row and column weights.
#include <algorithm>
#include <limits>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "ops/cpu/image/roi_axis.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kChannelsPerTask = 32;

void requireImage(const Node& node, int64_t image, int64_t images) {
  if (image < 0 || image >= images)
    fail(MAX_STATUS_OUT_OF_RANGE, node.description(), ": batch index ", image, " is not in [0, ", images, ")");
}

// The weights of an axis's pixels in each bin. Bins do not overlap, so there are few weights in total.
template <class T>
struct BinWeights {
  int64_t bins, pixels;
  int64_t* ranges;  // of each bin: its first pixel, one past the last, and where its weights are
  T* weights;

  // Takes its memory from `memory`.
  BinWeights(std::byte*& memory, int64_t bins_, int64_t pixels_) : bins(bins_), pixels(pixels_) {
    ranges = reinterpret_cast<int64_t*>(memory);
    weights = reinterpret_cast<T*>(ranges + 3 * bins);
    memory += bytes(bins, pixels);
  }
  static int64_t capacity(int64_t bins, int64_t pixels) { return checkedAdd(pixels, 3 * bins + 2); }
  static int64_t bytes(int64_t bins, int64_t pixels) {
    const int64_t all = checkedMultiply<int64_t>(capacity(bins, pixels), sizeof(T));
    return alignUp(checkedAdd(all, 3 * bins * static_cast<int64_t>(sizeof(int64_t))));
  }

  void fill(const RoiAxis& axis) {
    const int64_t room = capacity(bins, pixels);
    int64_t used = 0;
    WorkCounter work;
    for (int64_t bin = 0; bin < bins; ++bin, work.pass(64)) {
      int64_t from = pixels, to = 0;
      axis.forEachSample(bin, [&](int64_t low, int64_t high, double, double) {
        from = std::min(from, low);
        to = std::max(to, high + 1);
      });
      if (from >= to || to - from > room - used) from = to = 0;
      ranges[3 * bin] = from;
      ranges[3 * bin + 1] = to;
      ranges[3 * bin + 2] = used;
      const int64_t base = used - from;
      std::fill_n(weights + used, to - from, T{0});
      used += to - from;
      if (from == to) continue;
      axis.forEachSample(bin, [&](int64_t low, int64_t high, double a, double b) {
        weights[base + low] += static_cast<T>(a);
        weights[base + high] += static_cast<T>(b);
      });
    }
  }
  int64_t first(int64_t bin) const { return ranges[3 * bin]; }
  int64_t last(int64_t bin) const { return ranges[3 * bin + 1]; }
  // Weight of pixel `first(bin)`.
  const T* weightsOf(int64_t bin) const { return weights + ranges[3 * bin + 2]; }
  // The pixels that any bin reads.
  int64_t begin() const {
    int64_t result = pixels;
    for (int64_t bin = 0; bin < bins; ++bin)
      if (first(bin) < last(bin)) result = std::min(result, first(bin));
    return result;
  }
  int64_t end() const {
    int64_t result = 0;
    for (int64_t bin = 0; bin < bins; ++bin) result = std::max(result, last(bin));
    return result;
  }
};

template <class T>
class RoiAlignOp final : public OpKernel {
 public:
  explicit RoiAlignOp(const OpRequest& request)
      : node_(request.node),
        rule_(request.node.attributes),
        x_(request.inputs[0].shape),
        y_(request.outputs[0].shape),
        lanes_(std::max(request.lanes, 1)),
        laneBytes_(checkedAdd(checkedAdd(BinWeights<T>::bytes(y_[2], x_[2]), BinWeights<T>::bytes(y_[3], x_[3])),
                              alignUp(x_[3] * static_cast<int64_t>(sizeof(T))))) {
    checkedMultiply<int64_t>(laneBytes_, lanes_);
  }
  size_t scratchBytes() const override { return static_cast<size_t>(lanes_ * laneBytes_); }

  void run(const OpContext& context) const override {
    const int64_t parts = (x_[1] + kChannelsPerTask - 1) / kChannelsPerTask;
    context.parallelFor(y_[0] * parts, 1, [&](int64_t begin, int64_t end, int lane) {
      for (int64_t i = begin; i < end; ++i)
        runPart(context, i / parts, i % parts * kChannelsPerTask, context.scratch + lane * laneBytes_);
    });
  }

 private:
  void runPart(const OpContext& context, int64_t region, int64_t firstChannel, std::byte* memory) const {
    const int64_t image = context.in<int64_t>(2)[region];
    requireImage(node_, image, x_[0]);
    const T* box = context.in<T>(1) + region * 4;
    BinWeights<T> rows(memory, y_[2], x_[2]), columns(memory, y_[3], x_[3]);
    const RoiAxis vertical(rule_, static_cast<double>(box[1]), static_cast<double>(box[3]), y_[2], x_[2]);
    const RoiAxis horizontal(rule_, static_cast<double>(box[0]), static_cast<double>(box[2]), y_[3], x_[3]);
    rows.fill(vertical);
    columns.fill(horizontal);
    const double samples = static_cast<double>(vertical.samples()) * static_cast<double>(horizontal.samples());
    const T factor = static_cast<T>(1 / std::max(samples, 1.0));
    T* line = reinterpret_cast<T*>(memory);
    for (int64_t c = firstChannel; c < std::min(firstChannel + kChannelsPerTask, x_[1]); ++c)
      pool(context.in<T>(0) + (image * x_[1] + c) * x_[2] * x_[3], rows, columns, factor, line,
           context.out<T>() + (region * x_[1] + c) * y_[2] * y_[3]);
  }

  // Rows of pixels are summed to one line for each row of bins, then each bin sums its part of the line.
  void pool(const T* x, const BinWeights<T>& rows, const BinWeights<T>& columns, T factor, T* line, T* y) const {
    const int64_t begin = columns.begin(), end = columns.end(), width = x_[3];
    WorkCounter work;
    for (int64_t row = 0; row < rows.bins; ++row) {
      work.pass(8 + std::max<int64_t>(end - begin, 0));
      for (int64_t i = begin; i < end; ++i) line[i] = 0;
      const T* rowWeights = rows.weightsOf(row);
      for (int64_t k = rows.first(row); k < rows.last(row); ++k) {
        const T weight = *rowWeights++;
        const T* pixels = x + k * width;
        for (int64_t i = begin; i < end; ++i) line[i] += weight * pixels[i];
        work.pass(4 + end - begin);
      }
      for (int64_t column = 0; column < columns.bins; ++column) {
        const T* weights = columns.weightsOf(column);
        T sum = 0;
        for (int64_t i = columns.first(column); i < columns.last(column); ++i) sum += *weights++ * line[i];
        *y++ = sum * factor;
        work.pass(4 + columns.last(column) - columns.first(column));
      }
    }
  }

  const Node& node_;
  readers::AlignedRegions rule_;
  Shape x_, y_;
  int lanes_;
  int64_t laneBytes_;
};

// RoiAlign by maxima: of the weighted pixels that the samples of a bin read, as the operator is defined.
template <class T>
class RoiMaxOp final : public OpKernel {
 public:
  explicit RoiMaxOp(const OpRequest& request)
      : node_(request.node),
        rule_(request.node.attributes),
        x_(request.inputs[0].shape),
        y_(request.outputs[0].shape) {}

  void run(const OpContext& context) const override {
    const int64_t parts = (x_[1] + kChannelsPerTask - 1) / kChannelsPerTask;
    context.parallelFor(y_[0] * parts, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) runPart(context, i / parts, i % parts * kChannelsPerTask);
    });
  }

 private:
  void runPart(const OpContext& context, int64_t region, int64_t firstChannel) const {
    const int64_t image = context.in<int64_t>(2)[region], size = x_[2] * x_[3], bins = y_[2] * y_[3];
    requireImage(node_, image, x_[0]);
    const T* box = context.in<T>(1) + region * 4;
    const RoiAxis rows(rule_, static_cast<double>(box[1]), static_cast<double>(box[3]), y_[2], x_[2]);
    const RoiAxis columns(rule_, static_cast<double>(box[0]), static_cast<double>(box[2]), y_[3], x_[3]);
    const int64_t channels = std::min(kChannelsPerTask, x_[1] - firstChannel);
    const T* x = context.in<T>(0) + (image * x_[1] + firstChannel) * size;
    T* y = context.out<T>() + (region * x_[1] + firstChannel) * bins;
    for (int64_t row = 0; row < y_[2]; ++row)
      for (int64_t column = 0; column < y_[3]; ++column, ++y) poolBin(x, rows, row, columns, column, channels, y);
  }

  // One bin of some channels.
  void poolBin(const T* x, const RoiAxis& rows, int64_t row, const RoiAxis& columns, int64_t column, int64_t channels,
               T* y) const {
    const int64_t width = x_[3], size = x_[2] * width, bins = y_[2] * y_[3];
    T greatest[kChannelsPerTask];
    bool isEmpty = true;
    std::fill_n(greatest, kChannelsPerTask, -std::numeric_limits<T>::infinity());
    WorkCounter work;
    rows.forEachSample(row, [&](int64_t top, int64_t bottom, double a, double b) {
      columns.forEachSample(column, [&](int64_t left, int64_t right, double c, double d) {
        work.pass(8 + 8 * channels);
        const int64_t places[] = {top * width + left, top * width + right, bottom * width + left,
                                  bottom * width + right};
        const T weights[] = {static_cast<T>(a * c), static_cast<T>(a * d), static_cast<T>(b * c),
                             static_cast<T>(b * d)};
        isEmpty = false;
        for (int64_t k = 0; k < channels; ++k)
          for (int i = 0; i < 4; ++i) greatest[k] = std::max(greatest[k], weights[i] * x[k * size + places[i]]);
      });
    });
    for (int64_t k = 0; k < channels; ++k) y[k * bins] = isEmpty ? T{0} : greatest[k];
  }

  const Node& node_;
  readers::AlignedRegions rule_;
  Shape x_, y_;
};

template <DType kDType>
bool accepts(const OpRequest& request) {
  return request.inputs[0].dtype == kDType;
}

template <class T>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  if (readers::AlignedRegions(request.node.attributes).takesMax) return std::make_unique<RoiMaxOp<T>>(request);
  return std::make_unique<RoiAlignOp<T>>(request);
}

constexpr Implementation kRoiAlign[] = {
    {"roi_f32", accepts<DType::Float32>, create<float>},
    {"roi_f64", accepts<DType::Float64>, create<double>},
};
constexpr OpRow kRows[] = {{"", "RoiAlign", kRoiAlign}};

}  // namespace

std::span<const OpRow> roiAlignOps() { return kRows; }

}  // namespace max
