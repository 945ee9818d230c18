// SPDX-License-Identifier: Apache-2.0
// max.MaxPool and max.AveragePool: channels last, up to three spatial axes, float32; MaxPool also of bytes. MaxPool
// with indices, or of other types: channels first; without indices, see pool_rows.cpp.
#include "ops/cpu/pooling/pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "base/work_vector.h"
#include "graph/readers/windows.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/narrow.h"
#include "ops/cpu/pooling/pool_axis.h"
#include "ops/cpu/pooling/pool_rows.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;  // reads worth a thread

template <class T, bool kAverage>
class PoolOp final : public OpKernel {
 public:
  explicit PoolOp(const OpRequest& request)
      : table_(poolTable()),
        batch_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape.back()),
        inStep_(channels_),
        outStep_(channels_) {
    const readers::Pool pool = poolOf(request);
    includePads_ = pool.includesPads;
    readPoolAxes(request, pool, 1, axes_);
    grain_ = grainOf(kElementsPerPart, {axes_[2].output, channels_, pool.windows.taps()});
    mostPixels_ = grainOf(kElementsPerPart, {channels_, pool.windows.taps()});
  }

  void run(const OpContext& context) const override {
    context.parallelFor(batch_ * axes_[0].output * axes_[1].output, grain_, [&](int64_t begin, int64_t end, int) {
      for (int64_t line = begin; line < end; ++line) runLine(context, line);
    });
  }
  bool takesPitch(OperandPlace place) const override { return place.number == 0; }
  void setPitch(OperandPlace place, size_t bytes) override {
    (place.side == OperandPlace::Input ? inStep_ : outStep_) = static_cast<int64_t>(bytes / sizeof(T));
  }

 private:
  // The output pixels along the last spatial axis.
  void runLine(const OpContext& context, int64_t line) const {
    const int64_t slice = quotient(line, axes_[1].output), row = line - slice * axes_[1].output;
    const int64_t image = quotient(slice, axes_[0].output), plane = slice - image * axes_[0].output;
    const int64_t lineSize = axes_[2].input * inStep_, planeSize = axes_[1].input * lineSize;
    const T* x = context.in<T>(0) + image * axes_[0].input * planeSize;
    T* y = context.out<T>() + line * axes_[2].output * outStep_;
    const int64_t sizes[3] = {planeSize, lineSize, inStep_};
    int64_t position[3] = {plane, row, 0};
    WorkCounter work;
    for (int64_t count; position[2] < axes_[2].output; position[2] += count, y += count * outStep_) {
      count = runFrom(position[2]);
      pixels(x, sizes, position, count, y);
      work.pass(16 + count * channels_);
    }
  }

  // How many pixels from this one on have windows of one size, a number of them that is soon computed.
  int64_t runFrom(int64_t column) const {
    const PoolAxis& axis = axes_[2];
    if (axis.start(column) < 0) return 1;
    return std::clamp<int64_t>(axis.insideEnd() - column, 1, mostPixels_);
  }

  void pixels(const T* x, const int64_t (&sizes)[3], const int64_t (&position)[3], int64_t count, T* y) const {
    PoolWindow window{{}, {}, count, axes_[2].stride * inStep_, outStep_};
    int64_t seen = 1, offset = 0, channels = channels_;
    double padded = 1;
    for (int i = 0; i < 3; ++i) {
      const PoolAxis& axis = axes_[i];
      window.count[i] = axis.seen(position[i]);
      window.stride[i] = axis.dilation * sizes[i];
      offset += (axis.start(position[i]) + axis.firstTap(position[i], 0) * axis.dilation) * sizes[i];
      seen *= window.count[i];
      if (includePads_) padded *= static_cast<double>(axis.seenWithPads(position[i]));
    }
    const T* from = seen > 0 ? x + offset : y;  // an image without pixels has no address; nothing is read
    if (seen * channels_ > kElementsPerPart / 4) passWork(seen * channels_);
    // They see all channels of a row in order.
    if (axes_[2].stride == 1 && inStep_ == channels_ && outStep_ == channels_)
      channels *= std::exchange(window.outputs, 1);
    if constexpr (kAverage) {
      const auto taps = static_cast<float>(includePads_ ? padded : static_cast<double>(seen));
      table_.sum(from, window, channels, taps > 0 ? 1 / taps : 0, y);
    } else {
      greatest(from, window, channels, y);
    }
  }

  void greatest(const float* x, const PoolWindow& window, int64_t channels, float* y) const {
    table_.greatest(x, window, channels, y);
  }
  void greatest(const uint16_t* x, const PoolWindow& window, int64_t channels, uint16_t* y) const {
    table_.greatestNarrow(x, window, channels, y);
  }
  void greatest(const int8_t* x, const PoolWindow& window, int64_t channels, int8_t* y) const {
    table_.greatestInt8(x, window, channels, y);
  }
  void greatest(const uint8_t* x, const PoolWindow& window, int64_t channels, uint8_t* y) const {
    table_.greatestUInt8(x, window, channels, y);
  }

  const PoolTable& table_;
  bool includePads_ = false;
  int64_t batch_, channels_, grain_ = 1, mostPixels_ = 1;
  int64_t inStep_, outStep_;  // elements from one pixel to the next
  PoolAxis axes_[3];
};

// The taps of a window inside the image: positions of the input.
struct Span {
  int64_t first, count, step;
};

WorkVector<Span> spansOf(const PoolAxis& axis) {
  WorkVector<Span> spans;
  WorkCounter work;
  for (int64_t i = 0; i < axis.output; ++i, work.pass(4))
    spans.push_back({axis.start(i) + axis.firstTap(i, 0) * axis.dilation, axis.seen(i), axis.dilation});
  return spans;
}

// ONNX's MaxPool, channels first, for all its types: if indices are requested, or elements are not float32.
template <class T>
class PlaneMaxPoolOp final : public OpKernel {
 public:
  explicit PlaneMaxPoolOp(const OpRequest& request)
      : planes_(request.inputs[0].shape.product(0, 2)),
        hasValues_(request.outputs[0].present()),
        hasIndices_(request.outputs.size() > 1 && request.outputs[1].present()) {
    const readers::Pool pool = poolOf(request);
    isColumnMajor_ = pool.isColumnMajor;
    readPoolAxes(request, pool, 2, axes_);
    grain_ = grainOf(kElementsPerPart, {axes_[0].output, axes_[1].output, axes_[2].output, pool.windows.taps()});
    if (planes_ == 0) return;
    for (size_t i = 0; i < 3; ++i) spans_[i] = spansOf(axes_[i]);
  }

  void run(const OpContext& context) const override {
    const int64_t size = axes_[0].output * axes_[1].output * axes_[2].output;
    context.parallelFor(planes_, grain_, [&](int64_t begin, int64_t end, int) {
      for (int64_t plane = begin; plane < end; ++plane) runPlane(context, plane, plane * size);
    });
  }

 private:
  void runPlane(const OpContext& context, int64_t plane, int64_t out) const {
    const int64_t inputSize = axes_[0].input * axes_[1].input * axes_[2].input;
    const T* x = context.in<T>(0) + plane * inputSize;
    WorkCounter work;
    const Output output{hasValues_ ? context.out<T>(0) : nullptr, hasIndices_ ? context.out<int64_t>(1) : nullptr,
                        plane * inputSize};
    for (const Span& depths : spans_[0])
      for (const Span& rows : spans_[1]) {
        const bool isSeen = depths.count > 0 && rows.count > 0;
        for (int64_t column = 0; column < axes_[2].output;) {
          const int64_t many = isSeen ? std::min(axes_[2].insideEnd() - column, kColumns) : 0;
          if (many >= kWorthAVector && axes_[2].start(column) >= 0) {
            greatestOfMany(x, depths, rows, column, many, output, out);
            column += many;
            out += many;
            continue;
          }
          const Span& columns = spans_[2][static_cast<size_t>(column++)];
          work.pass(8 + rows.count * columns.count);
          T best;
          const int64_t at = greatest(x, depths, rows, columns, best);
          store(output, out++, best, at);
        }
      }
  }

  // Where one plane's results go; elements of the input before it.
  struct Output {
    T* values;
    int64_t* indices;
    int64_t before;
  };
  static constexpr int64_t kColumns = 64, kWorthAVector = 8;

  void store(const Output& output, int64_t at, T best, int64_t place) const {
    if (output.values) output.values[at] = best;
    if (output.indices) output.indices[at] = output.before + indexOf(place);
  }

  // Neighbours in a row of the output, all of whose taps are inside: a tap of all of them after the other, in the order
  // in which one of them sees its taps.
  void greatestOfMany(const T* x, const Span& depths, const Span& rows, int64_t column, int64_t many,
                      const Output& output, int64_t at) const {
    const PoolAxis& axis = axes_[2];
    T best[kColumns];
    int32_t tapOfBest[kColumns];
    std::fill_n(best, many, lowest());
    std::fill_n(tapOfBest, many, 0);
    int32_t tap = 0;
    WorkCounter work;
    for (int64_t i = 0; i < depths.count; ++i)
      for (int64_t j = 0; j < rows.count; ++j) {
        const T* row = x + placeOf(depths, rows, i, j) + axis.start(column);
        for (int64_t k = 0; k < axis.kernel; ++k, ++tap, work.pass(many / 2))
          takeGreater(row + k * axis.dilation, axis.stride, many, tap, best, tapOfBest);
      }
    for (int64_t c = 0; c < many; ++c) {
      const int64_t k = tapOfBest[c] % axis.kernel, row = tapOfBest[c] / axis.kernel;
      const int64_t first = placeOf(depths, rows, row / rows.count, row % rows.count);
      store(output, at + c, best[c], first + axis.start(column + c) + k * axis.dilation);
    }
  }

  static void takeGreater(const T* x, int64_t stride, int64_t count, int32_t tap, T* __restrict best,
                          int32_t* __restrict tapOfBest) {
    const auto take = [=](int64_t c, T value) {
      const bool isBetter = (value > best[c]) | (value != value);
      best[c] = isBetter ? value : best[c];
      tapOfBest[c] = isBetter ? tap : tapOfBest[c];
    };
    if (stride == 1)
      for (int64_t c = 0; c < count; ++c) take(c, x[c]);
    else if (stride == 2)
      for (int64_t c = 0; c < count; ++c) take(c, x[2 * c]);
    else
      for (int64_t c = 0; c < count; ++c) take(c, x[stride * c]);
  }

  static constexpr T lowest() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }

  // The first element of a row that a window sees.
  int64_t placeOf(const Span& depths, const Span& rows, int64_t i, int64_t j) const {
    const int64_t row = (depths.first + i * depths.step) * axes_[1].input + rows.first + j * rows.step;
    return row * axes_[2].input;
  }

  // The index of the first greatest element; the last NaN counts as greatest.
  int64_t greatest(const T* x, const Span& depths, const Span& rows, const Span& columns, T& best) const {
    best = lowest();
    const bool isEmpty = depths.count == 0 || rows.count == 0 || columns.count == 0;
    int64_t place = isEmpty ? 0 : (depths.first * axes_[1].input + rows.first) * axes_[2].input + columns.first;
    WorkCounter work;
    for (int64_t i = 0; i < depths.count; ++i)
      for (int64_t j = 0; j < rows.count; ++j, work.pass(columns.count)) {
        const int64_t first = placeOf(depths, rows, i, j) + columns.first;
        for (int64_t k = 0; k < columns.count; ++k) {
          const T value = x[first + k * columns.step];
          // Branchless: comparisons are hard to predict.
          const bool isBetter = (value > best) | (value != value);
          best = isBetter ? value : best;
          place = isBetter ? first + k * columns.step : place;
        }
      }
    return place;
  }

  // Row-major, or with the spatial axes in column-major order. Windows of padding only give the first element, which an
  // empty plane does not have.
  int64_t indexOf(int64_t place) const {
    if (!isColumnMajor_ || place == 0) return place;
    const int64_t w = place % axes_[2].input, h = place / axes_[2].input % axes_[1].input;
    const int64_t d = place / axes_[2].input / axes_[1].input;
    return d + axes_[0].input * (h + axes_[1].input * w);
  }

  int64_t planes_, grain_ = 1;
  bool hasValues_, hasIndices_, isColumnMajor_ = false;
  PoolAxis axes_[3];
  WorkVector<Span> spans_[3];
};

template <DType kDType>
bool acceptsPlanes(const OpRequest& request) {
  return request.inputs[0].dtype == kDType && request.inputs[0].shape.rank() >= 3 &&
         request.inputs[0].shape.rank() <= 5;
}

template <class T>
std::unique_ptr<OpKernel> createPlanes(const OpRequest& request) {
  return std::make_unique<PlaneMaxPoolOp<T>>(request);
}

template <DType kDType>
bool accepts(const OpRequest& request) {
  return request.inputs[0].dtype == kDType && request.outputs.size() == 1 && request.outputs[0].dtype == kDType &&
         request.inputs[0].shape.rank() >= 3 && request.inputs[0].shape.rank() <= 5;
}

bool acceptsNarrow(const OpRequest& request) { return mayBeNarrow(request.node) && accepts<DType::BFloat16>(request); }

template <class T, bool kAverage>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<PoolOp<T, kAverage>>(request);
}

constexpr Implementation kMaxPool[] = {
    {"pool", accepts<DType::Float32>, create<float, false>},
    {"pool_bf16", acceptsNarrow, create<uint16_t, false>},
    {"pool", accepts<DType::Int8>, create<int8_t, false>},
    {"pool", accepts<DType::UInt8>, create<uint8_t, false>},
};
constexpr Implementation kAveragePool[] = {{"pool", accepts<DType::Float32>, create<float, true>}};
constexpr Implementation kPlaneMaxPool[] = {
    {"rows_f32", acceptsPoolRows, createMaxPoolRows},
    {"planes", acceptsPlanes<DType::Float32>, createPlanes<float>},
    {"planes", acceptsPlanes<DType::Float64>, createPlanes<double>},
    {"planes", acceptsPlanes<DType::Int8>, createPlanes<int8_t>},
    {"planes", acceptsPlanes<DType::UInt8>, createPlanes<uint8_t>},
};
constexpr Implementation kPlaneAveragePool[] = {{"rows_f32", acceptsPoolRows, createAveragePoolRows}};
NarrowOperands narrowOperands(const Node& node) { return narrowTogether(node, 1); }

constexpr OpRow kRows[] = {{kMaxDomain, "MaxPool", kMaxPool, nullptr, nullptr, narrowOperands},
                           {kMaxDomain, "AveragePool", kAveragePool},
                           {"", "MaxPool", kPlaneMaxPool},
                           {"", "AveragePool", kPlaneAveragePool}};

}  // namespace

readers::Pool poolOf(const OpRequest& request) {
  return {request.node.attributes, static_cast<size_t>(request.inputs[0].shape.rank() - 2)};
}

void readPoolAxes(const OpRequest& request, const readers::Pool& pool, int first, PoolAxis (&axes)[3]) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[request.outputs[0].present() ? 0 : 1].shape;
  const auto rank = static_cast<size_t>(x.rank() - 2), at = static_cast<size_t>(first);
  const std::vector<readers::Window> windows =
      pool.windows.between(x.dims().subspan(at, rank), y.dims().subspan(at, rank));
  for (size_t i = 0; i < rank; ++i) {
    const readers::Window& window = windows[i];
    const int k = first + static_cast<int>(i);
    axes[3 - rank + i] = {x[k], y[k], window.size, window.stride, window.dilation, window.padBegin, window.padEnd};
  }
}

std::span<const OpRow> poolOps() { return kRows; }

}  // namespace max
