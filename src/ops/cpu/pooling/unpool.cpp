// SPDX-License-Identifier: Apache-2.0
// MaxUnpool, TensorScatter and Col2Im: elements go to places that other tensors name.
#include <algorithm>
#include <cstring>

#include "base/interrupt_point.h"
#include "graph/readers/indexing.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/column_axis.h"
#include "ops/cpu/element.h"
#include "ops/cpu/grain.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

// The shape that the window attributes give; the output may have room behind it.
Shape unpooledShape(const OpRequest& request) {
  Shape shape = request.inputs[0].shape;
  const readers::Pool pool(request.node.attributes, static_cast<size_t>(shape.rank() - 2));
  for (int i = 2; i < shape.rank(); ++i) {
    const readers::Window& window = pool.windows.axes[static_cast<size_t>(i - 2)];
    shape[i] = window.stride * (shape[i] - 1) + window.size - window.padBegin - window.padEnd;
  }
  return shape;
}

class MaxUnpoolOp final : public OpKernel {
 public:
  explicit MaxUnpoolOp(const OpRequest& request)
      : node_(request.node),
        unpooled_(unpooledShape(request)),
        strides_(contiguousStrides(request.outputs[0].shape)),
        inside_(contiguousStrides(unpooled_)),
        count_(request.inputs[0].shape.count()),
        places_(unpooled_.count()),
        bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        outputBytes_(static_cast<size_t>(request.outputs[0].shape.count() * bytes_)),
        isExact_(unpooled_ == request.outputs[0].shape) {
    const Shape& output = request.outputs[0].shape;
    for (int i = 0; i < output.rank(); ++i)
      require(unpooled_[i] <= output[i], MAX_STATUS_INVALID_ARGUMENT, node_.description(), ": output_shape ", output,
              " is smaller than the unpooled size, ", unpooled_);
  }

  void run(const OpContext& context) const override {
    const auto* x = context.in<std::byte>(0);
    const auto* indices = context.in<int64_t>(1);
    auto* y = context.out<std::byte>();
    clearBytes(y, outputBytes_);
    visitElementBytes(bytes_, [&](auto size) {
      WorkCounter work;
      for (int64_t i = 0; i < count_; ++i, work.pass(4)) copyElement(size, y + target(indices[i]) * size, x + i * size);
    });
  }

 private:
  // Of the output, in elements.
  int64_t target(int64_t index) const {
    if (index < 0 || index >= places_) [[unlikely]]
      fail(MAX_STATUS_OUT_OF_RANGE, node_.description(), ": index ", index, " is not in [0, ", places_, ")");
    if (isExact_) return index;
    int64_t offset = 0;
    for (int i = 0; i < unpooled_.rank(); ++i) offset += index / inside_[i] % unpooled_[i] * strides_[i];
    return offset;
  }

  const Node& node_;
  Shape unpooled_, strides_, inside_;
  int64_t count_, places_, bytes_;
  size_t outputBytes_;
  bool isExact_;
};

// Caches [batch, before.., rows, inner]; an update replaces some rows of each.
class TensorScatterOp final : public OpKernel {
 public:
  explicit TensorScatterOp(const OpRequest& request) : node_(request.node), hasIndices_(request.has(2)) {
    const Shape& cache = request.inputs[0].shape;
    const auto [axis, isCircular] = readers::readTensorScatter(*RequestInputs(request));
    isCircular_ = isCircular;
    rows_ = cache[axis];
    updateRows_ = request.inputs[1].shape[axis];
    blocks_ = cache.product(0, axis);
    blocksPerItem_ = cache.product(1, axis);
    rowBytes_ = cache.product(axis + 1, cache.rank()) * static_cast<int64_t>(sizeOf(request.inputs[0].dtype));
  }
  int inPlaceInput() const override { return 0; }

  void run(const OpContext& context) const override {
    const auto* cache = context.in<std::byte>(0);
    const auto* update = context.in<std::byte>(1);
    auto* out = context.out<std::byte>();
    const int64_t blockBytes = rows_ * rowBytes_;
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(blockBytes, 1));
    context.parallelFor(blocks_, grain, [&](int64_t begin, int64_t end, int) {
      if (out != cache && blockBytes > 0)
        copyBytes(out + begin * blockBytes, cache + begin * blockBytes,
                  static_cast<size_t>((end - begin) * blockBytes));
      for (int64_t block = begin; block < end; ++block)
        replace(out + block * blockBytes, update + block * updateRows_ * rowBytes_,
                hasIndices_ ? context.in<int64_t>(2)[block / blocksPerItem_] : 0);
    });
  }

 private:
  void replace(std::byte* block, const std::byte* update, int64_t first) const {
    if (updateRows_ == 0 || rowBytes_ == 0) return;
    if (isCircular_)
      first = (first % rows_ + rows_) % rows_;
    else if (first < 0 || first > rows_ - updateRows_) [[unlikely]]
      fail(MAX_STATUS_OUT_OF_RANGE, node_.description(), ": write index ", first, " leaves no room for ", updateRows_,
           " of ", rows_, " rows");
    const int64_t before = std::min(updateRows_, rows_ - first);
    copyBytes(block + first * rowBytes_, update, static_cast<size_t>(before * rowBytes_));
    if (before < updateRows_)
      copyBytes(block, update + before * rowBytes_, static_cast<size_t>((updateRows_ - before) * rowBytes_));
  }

  const Node& node_;
  bool hasIndices_, isCircular_;
  int64_t rows_, updateRows_, blocks_, blocksPerItem_, rowBytes_;
};

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
        for (int64_t tap = 0; tap < taps; ++tap, work.pass(16))
          addTap(context.in<T>(0) + (plane * taps + tap) * columns_, tap, image);
      }
    });
  }

 private:
  void addTap(const T* columns, int64_t tap, T* image) const {
    forEachColumnLine(axes_, tap, [&](int64_t line, int64_t place, int64_t w) {
      const ColumnAxis& axis = axes_[2];
      const int64_t begin = axis.begin(w), end = axis.end(w);
      const T* from = columns + line;
      T* to = image + place + axis.shift(w);
      if (axis.stride == 1)
        for (int64_t i = begin; i < end; ++i) to[i] += from[i];
      else
        for (int64_t i = begin; i < end; ++i) to[i * axis.stride] += from[i];
    });
  }

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

template <class K>
inline constexpr Implementation kCopy[] = {
    {"copy", hasByteElements,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "MaxUnpool", kCopy<MaxUnpoolOp>},
    {"", "TensorScatter", kCopy<TensorScatterOp>},
    {"", "Col2Im", kCol2Im},
};

}  // namespace

std::span<const OpRow> unpoolOps() { return kRows; }

}  // namespace max
