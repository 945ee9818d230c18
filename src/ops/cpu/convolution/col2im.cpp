// SPDX-License-Identifier: Apache-2.0
// Col2Im: columns add up where their taps lie in images.
#include <algorithm>
#include <type_traits>

#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/add_lines.h"
#include "ops/cpu/convolution/column_axis.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

// Sums columns [planes * taps, positions] where their taps lie in images of up to three axes.
template <class T>
class Col2ImOp final : public OpKernel {
 public:
  explicit Col2ImOp(const OpRequest& request)
      : planes_(request.outputs[0].shape.product(0, 2)), columns_(request.inputs[0].shape[2]) {
    const std::vector<int64_t> block = MovementCall(request, nullptr).integers(2);
    const readers::Windows windows = readers::readWindows(request.node.attributes, block);
    for (size_t i = 0, at = 3 - block.size(); i < block.size(); ++i, ++at) {
      const readers::Window& window = windows.axes[i];
      ColumnAxis& axis = axes_[at];
      axis.size = request.outputs[0].shape[static_cast<int>(i) + 2];
      axis.taps = window.size;
      axis.stride = window.stride;
      axis.dilation = window.dilation;
      axis.before = window.padBegin;
      axis.positions = (axis.size + window.padBegin + window.padEnd - window.extent()) / axis.stride + 1;
    }
    const int64_t positions = axes_[0].positions * axes_[1].positions * axes_[2].positions;
    require(positions == columns_, MAX_STATUS_INVALID_ARGUMENT, request.node.description(), ": ", columns_,
            " columns for ", positions, " positions");
  }

  void run(const OpContext& context) const override {
    const int64_t size = axes_[0].size * axes_[1].size * axes_[2].size;
    const int64_t taps = axes_[0].taps * axes_[1].taps * axes_[2].taps;
    const int64_t grain = grainOf(kGrainBytes, {taps, columns_});
    context.parallelFor(planes_, grain, [&](int64_t begin, int64_t end, int) {
      WorkCounter work;
      for (int64_t plane = begin; plane < end; ++plane) {
        T* image = context.out<T>() + plane * size;
        fillParts(image, size, T{0});
        for (int64_t tap = 0, count; tap < taps; tap += count, work.pass(16)) {
          count = joins(tap) ? 2 : 1;
          const T* columns = context.in<T>(0) + (plane * taps + tap) * columns_;
          count == 2 ? addTwoTaps(columns, tap, image) : addTap(columns, tap, image);
        }
      }
    });
  }

 private:
  // Whether this tap and the next one are neighbours in a row, and fill it together. Doubles are not worth the code.
  bool joins(int64_t tap) const {
    if (std::is_same_v<T, double>) return false;
    const ColumnAxis& axis = axes_[2];
    return axis.stride == 2 && axis.dilation == 1 && tap % axis.taps + 1 < axis.taps;
  }

  void addTap(const T* columns, int64_t tap, T* image) const {
    const ColumnAxis& axis = axes_[2];
    const int64_t place = tap % axis.taps, begin = axis.begin(place), end = axis.end(place), shift = axis.shift(place);
    if constexpr (std::is_same_v<T, float>)
      if (axis.stride == 1) return addRows(columns + begin, end - begin, tap, image + begin + shift);
    forEachColumnLine(axes_, tap, [&](int64_t line, int64_t at) {
      addLine(columns + line + begin, end - begin, axis.stride, image + at + begin * axis.stride + shift);
    });
  }

  // Of positions in a row, `count` of each.
  void addRows(const float* columns, int64_t count, int64_t tap, float* image) const {
    const ColumnAxis &depth = axes_[0], &row = axes_[1];
    const int64_t h = tap / axes_[2].taps % row.taps, d = tap / axes_[2].taps / row.taps;
    const int64_t begin = row.begin(h), rows = row.end(h) - begin, first = begin * row.stride + row.shift(h);
    for (int64_t i = depth.begin(d); i < depth.end(d) && rows > 0 && count > 0; ++i) {
      const int64_t slice = (i * depth.stride + depth.shift(d)) * row.size;
      table_.add({columns + (i * row.positions + begin) * axes_[2].positions, axes_[2].positions,
                  image + (slice + first) * axes_[2].size, row.stride * axes_[2].size, rows, count});
      passWork(rows * (8 + count / 4));
    }
  }

  void addTwoTaps(const T* columns, int64_t tap, T* image) const {
    const ColumnAxis& axis = axes_[2];
    const int64_t place = tap % axis.taps, shift = axis.shift(place);
    const int64_t begins[] = {axis.begin(place), axis.begin(place + 1)},
                  ends[] = {axis.end(place), axis.end(place + 1)};
    const int64_t begin = std::max(begins[0], begins[1]), end = std::max(std::min(ends[0], ends[1]), begin);
    forEachColumnLine(axes_, tap, [&](int64_t line, int64_t at) {
      const T *first = columns + line, *second = first + columns_;
      T* to = image + at + shift;
      for (int64_t i = begins[0]; i < std::min(begin, ends[0]); ++i) to[2 * i] += first[i];
      for (int64_t i = begins[1]; i < std::min(begin, ends[1]); ++i) to[2 * i + 1] += second[i];
      addPairs(first + begin, second + begin, end - begin, to + 2 * begin);
      for (int64_t i = end; i < ends[0]; ++i) to[2 * i] += first[i];
      for (int64_t i = end; i < ends[1]; ++i) to[2 * i + 1] += second[i];
    });
  }

  static void addLine(const T* __restrict from, int64_t count, int64_t stride, T* __restrict to) {
    if (stride == 1)
      for (int64_t i = 0; i < count; ++i) to[i] += from[i];
    else
      for (int64_t i = 0; i < count; ++i) to[i * stride] += from[i];
  }

  static void addPairs(const T* __restrict first, const T* __restrict second, int64_t count, T* __restrict to) {
    for (int64_t i = 0; i < count; ++i) {
      to[2 * i] += first[i];
      to[2 * i + 1] += second[i];
    }
  }

  const LinesTable& table_ = linesTable();
  int64_t planes_, columns_;
  ColumnAxis axes_[3];
};

template <DType kDType>
bool acceptsColumns(const OpRequest& request) {
  return request.inputs[0].dtype == kDType && request.outputs[0].shape.rank() <= 5 && request.inputs[2].constant;
}

template <class T>
std::unique_ptr<OpKernel> createCol2Im(const OpRequest& request) {
  return std::make_unique<Col2ImOp<T>>(request);
}

constexpr Implementation kCol2Im[] = {{"columns_f32", acceptsColumns<DType::Float32>, createCol2Im<float>},
                                      {"columns_f64", acceptsColumns<DType::Float64>, createCol2Im<double>}};

const OpRow kRows[] = {
    {"", "Col2Im", kCol2Im},
};

}  // namespace

std::span<const OpRow> col2ImOps() { return kRows; }

}  // namespace max
