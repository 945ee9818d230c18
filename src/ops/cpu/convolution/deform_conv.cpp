// SPDX-License-Identifier: Apache-2.0
// DeformConv of float32: channels last; the samples of all taps of some output pixels are written next to each other,
// then multiplied by the filters.
#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/image/sample_rows.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kColumnBytes = 1 << 20;  // of one block of pixels
constexpr int kAxes = 2;

int64_t floatBytes(int64_t count) { return alignUp(checkedMultiply<int64_t>(sizeof(float), count)); }

struct Geometry {
  int64_t images, channels, filters, groups, offsetGroups;
  int64_t in[kAxes], out[kAxes], kernel[kAxes], stride[kAxes], dilation[kAxes], before[kAxes];

  explicit Geometry(const OpRequest& request) {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
    images = x[0];
    channels = x[1];
    filters = y[1];
    groups = readers::readGroups(request.node.attributes);
    offsetGroups = readers::readOffsetGroups(request.node.attributes);
    const readers::Windows windows = readers::readWindows(request.node.attributes, w.dims().subspan(2));
    for (int i = 0; i < kAxes; ++i) {
      const readers::Window& window = windows.axes[static_cast<size_t>(i)];
      in[i] = x[i + 2];
      out[i] = y[i + 2];
      kernel[i] = window.size;
      stride[i] = window.stride;
      dilation[i] = window.dilation;
      before[i] = window.padBegin;
    }
  }
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t outPixels() const { return out[0] * out[1]; }
  int64_t depth() const { return channels / groups * taps(); }
};

// The pixels around a position, without those outside the image.
struct Corners {
  int64_t count = 0;
  int64_t offsets[4];
  float weights[4];

  Corners(const Geometry& shape, float y, float x, float factor) {
    const bool isInside =
        y > -1 && x > -1 && y < static_cast<float>(shape.in[0]) && x < static_cast<float>(shape.in[1]);
    if (!isInside) return;
    const float top = std::floor(y), left = std::floor(x);
    const float rows[2] = {1 - (y - top), y - top}, columns[2] = {1 - (x - left), x - left};
    for (int i = 0; i < 4; ++i) {
      const int64_t row = static_cast<int64_t>(top) + i / 2, column = static_cast<int64_t>(left) + i % 2;
      if (row < 0 || row >= shape.in[0] || column < 0 || column >= shape.in[1]) continue;
      offsets[count] = (row * shape.in[1] + column) * shape.channels;
      weights[count++] = rows[i / 2] * columns[i % 2] * factor;
    }
  }
};

Ref<PackedWeights> packFilters(const Tensor& weights, int64_t groups, int lanes) {
  const Shape& shape = weights.shape();
  const int64_t filters = shape[0] / groups, depth = shape.product(1, shape.rank()),
                taps = shape.product(2, shape.rank());
  auto packed = makeRef<PackedWeights>(gemmTable(), groups, depth, filters);
  for (int64_t g = 0; g < groups; ++g)
    packMatrix(gemmTable(), {weights.as<float>() + g * filters * depth, 1, depth, taps, depth / taps, filters},
               packed->matrix(g), lanes);
  return packed;
}

Ref<PackedWeights> weightsOf(const OpRequest& request, int64_t groups) {
  auto* prepared = dynamic_cast<PackedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(gemmTable())) return Ref<PackedWeights>(prepared);
  return packFilters(*request.inputs[1].constant, groups, request.lanes);
}

// Columns [pixel][group][tap][channel of the group], products [pixel][filter].
class DeformConvOp final : public OpKernel {
 public:
  explicit DeformConvOp(const OpRequest& request)
      : shape_(request),
        table_(sampleTable()),
        width_(shape_.groups * shape_.depth()),
        block_(std::clamp<int64_t>(kColumnBytes / floatBytes(width_), 1, std::max<int64_t>(shape_.outPixels(), 1))),
        packed_(weightsOf(request, shape_.groups)),
        gemm_(block_, shape_.filters / shape_.groups, 1, shape_.depth(), Epilogue(), request.lanes, groupOffsets()),
        hasBias_(request.has(3)),
        hasMask_(request.has(4)),
        imageBytes_(floatBytes(checkedMultiply(checkedMultiply(shape_.in[0], shape_.in[1]), shape_.channels))),
        columnBytes_(floatBytes(checkedMultiply(block_, width_))),
        productBytes_(floatBytes(checkedMultiply(block_, shape_.filters))) {}

  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedAdd(imageBytes_, columnBytes_ + productBytes_)) + gemm_.scratchBytes();
  }

  void run(const OpContext& context) const override {
    for (int64_t image = 0; image < shape_.images; ++image) {
      channelsLast(context, image);
      for (int64_t first = 0; first < shape_.outPixels(); first += block_) runBlock(context, image, first);
    }
  }

 private:
  WorkVector<GemmOffsets> groupOffsets() const {
    WorkVector<GemmOffsets> result(static_cast<size_t>(shape_.groups));
    for (size_t g = 0; g < result.size(); ++g) {
      const auto group = static_cast<int64_t>(g);
      result[g].a = group * shape_.depth();
      result[g].b = group * packed_->stride();
      result[g].c = result[g].bias = group * (shape_.filters / shape_.groups);
    }
    return result;
  }

  void channelsLast(const OpContext& context, int64_t image) const {
    const int64_t pixels = shape_.in[0] * shape_.in[1], channels = shape_.channels, size = sizeof(float);
    const std::byte* from = context.in<std::byte>(0) + image * pixels * channels * size;
    const int64_t grain = std::max<int64_t>(16, 8192 / std::max<int64_t>(channels, 1));
    context.parallelFor(pixels, grain, [&](int64_t begin, int64_t end, int) {
      transposeTiles(size, from + begin * size, pixels * size, context.scratch + begin * channels * size,
                     channels * size, channels, end - begin);
    });
  }

  // In rows that it does not need, the last block multiplies leftovers of an earlier one.
  void runBlock(const OpContext& context, int64_t image, int64_t first) const {
    const int64_t count = std::min(block_, shape_.outPixels() - first), pixels = shape_.outPixels();
    std::byte* memory = context.scratch + imageBytes_;
    auto* columns = reinterpret_cast<float*>(memory);
    auto* products = reinterpret_cast<float*>(memory + columnBytes_);
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(width_, 1));
    context.parallelFor(count, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) fillColumn(context, image, first + i, columns + i * width_);
    });
    GemmOperands operands;
    operands.a = columns;
    operands.lda = width_;
    operands.b = packed_->data();
    operands.c = products;
    operands.ldc = shape_.filters;
    operands.bias = hasBias_ ? context.in<float>(3) : nullptr;
    gemm_.run(operands, memory + columnBytes_ + productBytes_, context.lanes);
    const int64_t size = sizeof(float);
    transposeTiles(size, memory + columnBytes_, shape_.filters * size,
                   context.out<std::byte>() + (image * shape_.filters * pixels + first) * size, pixels * size, count,
                   shape_.filters);
  }

  void fillColumn(const OpContext& context, int64_t image, int64_t pixel, float* column) const {
    const int64_t taps = shape_.taps(), pixels = shape_.outPixels();
    const int64_t row = pixel / shape_.out[1], place = pixel % shape_.out[1];
    WorkCounter work;
    for (int64_t group = 0; group < shape_.offsetGroups; ++group)
      for (int64_t tap = 0; tap < taps; ++tap, work.pass(32 + shape_.channels / shape_.offsetGroups)) {
        const int64_t at = (image * shape_.offsetGroups + group) * taps + tap;
        const float* offsets = context.in<float>(2) + at * kAxes * pixels + pixel;
        const int64_t h = row * shape_.stride[0] - shape_.before[0] + tap / shape_.kernel[1] * shape_.dilation[0];
        const int64_t w = place * shape_.stride[1] - shape_.before[1] + tap % shape_.kernel[1] * shape_.dilation[1];
        const Corners corners(shape_, static_cast<float>(h) + offsets[0], static_cast<float>(w) + offsets[pixels],
                              hasMask_ ? context.in<float>(4)[at * pixels + pixel] : 1);
        sampleChannels(reinterpret_cast<const float*>(context.scratch), corners, group, tap, column);
      }
  }

  // The channels of one offset group, cut where groups of the convolution end.
  void sampleChannels(const float* x, const Corners& corners, int64_t offsetGroup, int64_t tap, float* column) const {
    const int64_t perOffsets = shape_.channels / shape_.offsetGroups, perGroup = shape_.channels / shape_.groups;
    const int64_t end = (offsetGroup + 1) * perOffsets;
    for (int64_t c = offsetGroup * perOffsets; c < end;) {
      const int64_t group = c / perGroup, count = std::min(end, (group + 1) * perGroup) - c;
      float* target = column + group * shape_.depth() + tap * perGroup + c % perGroup;
      table_.rows(x + c, corners.offsets, corners.weights, corners.count, count, target);
      c += count;
    }
  }

  Geometry shape_;
  const SampleTable& table_;
  int64_t width_, block_;
  Ref<PackedWeights> packed_;
  Gemm gemm_;
  bool hasBias_, hasMask_;
  int64_t imageBytes_, columnBytes_, productBytes_;
};

// Prepared weights must be accepted: the original ones may have been released.
bool isSupported(DType dtype, const Shape& weights) {
  return dtype == DType::Float32 && weights.rank() == 2 + kAxes && weights.count() > 0;
}

bool accepts(const OpRequest& request) {
  for (const Operand& input : request.inputs)
    if (input.present() && input.dtype != DType::Float32) return false;
  return (request.inputs[1].constant || request.node.prepared) &&
         isSupported(request.inputs[1].dtype, request.inputs[1].shape);
}

std::unique_ptr<OpKernel> create(const OpRequest& request) { return std::make_unique<DeformConvOp>(request); }

Ref<Prepared> prepare(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor* weights = constants.size() > 1 ? constants[1] : nullptr;
  if (!weights || !isSupported(weights->dtype(), weights->shape())) return nullptr;
  return packFilters(*weights, readers::readGroups(node.attributes), defaultLanes());
}

constexpr Implementation kDeformConv[] = {{"gemm_f32", accepts, create}};
const OpRow kRows[] = {{"", "DeformConv", kDeformConv, prepare}};

}  // namespace

std::span<const OpRow> deformConvOps() { return kRows; }

}  // namespace max
