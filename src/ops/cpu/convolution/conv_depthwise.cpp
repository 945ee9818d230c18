// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: every channel has one filter. Vectors run along channels.
#include <algorithm>
#include <array>

#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/conv.h"
#include "ops/cpu/narrow.h"
#include "ops/cpu/streamed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/conv_depthwise.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/narrow-inl.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
#if HWY_TARGET == HWY_AVX3
constexpr bool kHasNarrow = true;
#else
constexpr bool kHasNarrow = false;  // no product of bfloat16, which make and read such values
#endif
constexpr int kTile = 4;           // pixels
constexpr int64_t kAhead = 16;     // pixels that are prefetched
constexpr int64_t kLongTaps = 32;  // more are worth counting for each pixel (base/interrupt_point.h)

// What happens to sums: a copy, which stores do not change.
struct Results {
  V low, high;
  const float* residual;
  float* out;
  uint16_t* narrow;
  int64_t channels;
  bool isStreamed;
  explicit Results(const DepthwiseRow& row)
      : low(hn::Set(D(), row.low)),
        high(hn::Set(D(), row.high)),
        residual(row.residual),
        out(row.out),
        narrow(row.narrow),
        channels(row.channels),
        isStreamed(row.isStreamed) {}
};

// Residual and limits of one vector of one pixel, then the store.
HWY_INLINE void finish(const Results& row, V sum, int64_t pixel, int64_t c, int64_t count) {
  const D d;
  const int64_t at = pixel * row.channels + c;
  if (row.residual) sum = hn::Add(sum, loadFirst(d, row.residual + at, count));
  sum = hn::Min(row.high, hn::Max(row.low, sum));
  if (row.narrow)
    storeNarrow(sum, row.narrow + at, count);
  else if (row.isStreamed)
    hn::Stream(sum, d, row.out + at);
  else
    storeFirst(d, sum, row.out + at, count);
}

template <class T>
HWY_INLINE const T* rowOf(const DepthwiseRow& row, int64_t r) {
  return static_cast<const T*>(row.x[r]);
}

HWY_INLINE V initial(const DepthwiseRow& row, int64_t c, int64_t count) {
  const D d;
  return row.bias ? loadFirst(d, row.bias + c, count) : hn::Zero(d);
}

// One pixel whose kernel row reaches from tap `first` to `last`. T: an element of the input.
template <class T>
void edgePixel(const DepthwiseRow& row, int64_t pixel, int64_t first, int64_t last) {
  const D d;
  const Results results(row);
  const int64_t start = pixel * row.stride - row.before;
  for (int64_t c = 0; c < row.channels; c += kLanes) {
    const int64_t count = std::min(kLanes, row.channels - c);
    V sum = initial(row, c, count);
    for (int64_t r = 0; r < row.rows; ++r)
      for (int64_t w = first; w < last; ++w)
        sum = hn::MulAdd(loadWide(rowOf<T>(row, r) + (start + w * row.dilation) * row.channels + c, count),
                         loadFirst(d, row.weights[r] + w * row.channels + c, count), sum);
    finish(results, sum, pixel, c, count);
  }
  if (last - first > kLongTaps) passWork((last - first) * row.rows * row.channels / kLanes);
}

// One vector of channels of kPixels pixels. Input vectors that neighbouring pixels share are loaded once. kEdge: the
// first and last of them may lie outside the row.
template <class T, int kWidth, int kStride, int kPixels, bool kEdge>
HWY_INLINE void tileVector(const DepthwiseRow& row, const Results& kept, int64_t pixel, int64_t c, int64_t count) {
  const D d;
  constexpr int kInputs = (kPixels - 1) * kStride + kWidth;
  const int64_t step = row.channels, column = pixel * kStride - row.before, start = column * step + c;
  const int64_t first = kEdge ? -column : 0, last = kEdge ? row.inWidth - column : kInputs;
  V sum[kPixels];
  sum[0] = initial(row, c, count);
  MAX_UNROLL for (int p = 1; p < kPixels; ++p) sum[p] = sum[0];
  for (int64_t r = 0; r < row.rows; ++r) {
    const T* x = rowOf<T>(row, r) + start;
    const float* weights = row.weights[r] + c;
    V in[kInputs];
    MAX_UNROLL for (int i = 0; i < kInputs; ++i) {
      if (kEdge && (i < first || i >= last))
        in[i] = hn::Zero(d);
      else
        in[i] = loadWide(x + i * step, count);
    }
    MAX_UNROLL for (int w = 0; w < kWidth; ++w) {
      const V weight = loadFirst(d, weights + w * step, count);
      MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[p] = hn::MulAdd(in[p * kStride + w], weight, sum[p]);
    }
  }
  // Wide kernels have no registers for it meanwhile.
  const Results results = kWidth > 3 ? Results(row) : kept;
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) finish(results, sum[p], pixel + p, c, count);
}

// The same for any kernel width, stride and dilation.
template <class T, int kPixels>
HWY_INLINE void anyVector(const DepthwiseRow& row, const Results& results, int64_t pixel, int64_t c, int64_t count) {
  const D d;
  const int64_t start = (pixel * row.stride - row.before) * row.channels + c;
  V sum[kPixels];
  sum[0] = initial(row, c, count);
  MAX_UNROLL for (int p = 1; p < kPixels; ++p) sum[p] = sum[0];
  for (int64_t r = 0; r < row.rows; ++r)
    for (int64_t w = 0; w < row.kernelWidth; ++w) {
      const V weight = loadFirst(d, row.weights[r] + w * row.channels + c, count);
      const T* x = rowOf<T>(row, r) + start + w * row.dilation * row.channels;
      MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[p] =
          hn::MulAdd(loadWide(x + p * row.stride * row.channels, count), weight, sum[p]);
    }
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) finish(results, sum[p], pixel + p, c, count);
}

// The last channels take the way of the edges: another copy for them would be large.
template <class T, int kWidth, int kStride, bool kEdge>
void tile(const DepthwiseRow& row, int64_t pixel) {
  const Results results(row);
  int64_t c = 0;
  if constexpr (!kEdge)
    for (; c + kLanes <= row.channels; c += kLanes)
      tileVector<T, kWidth, kStride, kTile, false>(row, results, pixel, c, kLanes);
  for (; c < row.channels; c += kLanes)
    tileVector<T, kWidth, kStride, kTile, true>(row, results, pixel, c, std::min(kLanes, row.channels - c));
}

template <class T, int kPixels>
void anyTile(const DepthwiseRow& row, int64_t pixel) {
  const Results results(row);
  for (int64_t c = 0; c < row.channels; c += kLanes)
    anyVector<T, kPixels>(row, results, pixel, c, std::min(kLanes, row.channels - c));
}

// What the last kernel row reads of some pixels, which no other row has read before.
template <class T>
HWY_INLINE void prefetch(const DepthwiseRow& row, int64_t pixel, int64_t count) {
  constexpr int64_t kLine = 64 / sizeof(T);
  const T* x = rowOf<T>(row, row.rows - 1) + pixel * row.stride * row.channels;
  for (int64_t i = 0; i < count * row.stride * row.channels; i += kLine) __builtin_prefetch(x + i, 0, 3);
}

// The output pixels of a row: those in [begin, end) have all their taps inside the input.
struct Inside {
  int64_t begin, end;
  explicit Inside(const DepthwiseRow& row) {
    begin = std::min((row.before + row.stride - 1) / row.stride, row.outWidth);
    const int64_t room = row.inWidth + row.before - (row.kernelWidth - 1) * row.dilation - 1;
    end = std::clamp<int64_t>(room < 0 ? 0 : room / row.stride + 1, begin, row.outWidth);
  }
};

template <class T>
void edgePixels(const DepthwiseRow& row, int64_t begin, int64_t end) {
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const int64_t start = pixel * row.stride - row.before;
    const int64_t first = start < 0 ? (-start + row.dilation - 1) / row.dilation : 0;
    const int64_t fit = row.inWidth - 1 - start;
    const int64_t last = fit < 0 ? 0 : std::min(row.kernelWidth, fit / row.dilation + 1);
    edgePixel<T>(row, pixel, first, last);
  }
}

int64_t stepsOf(const DepthwiseRow& row) { return row.rows * row.kernelWidth * (row.channels / kLanes + 1); }

// Any kernel.
template <class T>
void runAny(const DepthwiseRow& row) {
  const Inside inside(row);
  WorkCounter work;
  edgePixels<T>(row, 0, inside.begin);
  int64_t pixel = inside.begin;
  for (; pixel + kTile <= inside.end; pixel += kTile, work.pass(2 * stepsOf(row))) {
    if (row.isFar && row.rows > 0) prefetch<T>(row, pixel + kAhead, kTile);
    anyTile<T, kTile>(row, pixel);
  }
  for (; pixel < inside.end; ++pixel, work.pass(stepsOf(row))) anyTile<T, 1>(row, pixel);
  edgePixels<T>(row, inside.end, row.outWidth);
}

// The last tile overlaps the one before it.
template <class T, int kWidth, int kStride>
void runTiles(const DepthwiseRow& row) {
  if (row.outWidth < kTile) return edgePixels<T>(row, 0, row.outWidth);
  const Inside inside(row);
  WorkCounter work;
  for (int64_t next = 0; next < row.outWidth; next += kTile, work.pass(2 * stepsOf(row))) {
    const int64_t pixel = std::min(next, row.outWidth - kTile);
    if (row.isFar && row.rows > 0) prefetch<T>(row, pixel + kAhead, kTile);
    if (pixel >= inside.begin && pixel + kTile <= inside.end)
      tile<T, kWidth, kStride, false>(row, pixel);
    else
      tile<T, kWidth, kStride, true>(row, pixel);
  }
}

struct Kernel {
  int64_t width, stride;
  void (*run)(const DepthwiseRow& row);
};
template <class T>
constexpr Kernel kKernels[] = {{3, 1, runTiles<T, 3, 1>},
                               {3, 2, runTiles<T, 3, 2>},
#if HWY_TARGET <= HWY_AVX2  // the better, the smaller; others have too few registers for wide kernels
                               {5, 1, runTiles<T, 5, 1>},
                               {5, 2, runTiles<T, 5, 2>},
                               {7, 1, runTiles<T, 7, 1>}
#endif
};

template <class T>
void runRowOf(const DepthwiseRow& row) {
  for (const Kernel& kernel : kKernels<T>)
    if (row.dilation == 1 && row.kernelWidth == kernel.width && row.stride == kernel.stride) return kernel.run(row);
  runAny<T>(row);
}

void runRow(const DepthwiseRow& row) {
  if constexpr (kHasNarrow)
    if (row.isNarrow) return runRowOf<uint16_t>(row);
  runRowOf<float>(row);
}

}  // namespace

extern const DepthwiseFunction kDepthwise;
constexpr DepthwiseFunction kDepthwise = runRow;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/cache_control.h>

namespace max {

namespace {

constexpr int64_t kMaxKernelRows = 64;

Ref<DepthwiseWeights> weightsOf(const OpRequest& request) {
  if (auto* prepared = dynamic_cast<DepthwiseWeights*>(request.node.prepared.get()))
    return Ref<DepthwiseWeights>(prepared);
  return makeRef<DepthwiseWeights>(*request.inputs[1].constant);
}

constexpr int64_t kNearElements = 256 << 10;

bool isFar(const ConvShape& shape) {
  return shape.images * shape.in[0] * shape.in[1] * shape.in[2] * shape.channels > kNearElements;
}

class DepthwiseOp : public OpKernel {
 public:
  DepthwiseOp(const OpRequest& request, const ConvShape& shape)
      : shape_(shape),
        readsNarrow_(isNarrow(request.inputs[0])),
        rows_(request.node, shape, weightsOf(request), readsNarrow_, isFar(shape)),
        hasBias_(request.has(2)),
        hasResidual_(request.has(3)),
        writesNarrow_(isNarrow(request.outputs[0])) {
    const double work =
        static_cast<double>(shape.images * shape.pixels()) * static_cast<double>(shape.taps() * shape.channels);
    isSmall_ = work < 100e3;
  }

  void run(const OpContext& context) const override {
    const int64_t rows = shape_.images * shape_.out[0] * shape_.out[1];
    const int lanes = isSmall_ ? 1 : context.lanes;
    parallelFor(lanes, rows, std::max<int64_t>(1, rows / (lanes * 16)), [&](int64_t begin, int64_t end, int) {
      const int64_t steps = shape_.taps() * shape_.out[2] * shape_.channels / 4;
      for (int64_t row = begin; row < end; ++row) {
        runRow(context, row);
        passWork(steps);
      }
    });
  }

 private:
  void runRow(const OpContext& context, int64_t index) const {
    const int64_t image = index / shape_.out[1] / shape_.out[0], rowElements = shape_.in[2] * shape_.channels;
    const int64_t at = index * shape_.out[2] * shape_.channels;
    const int64_t size = readsNarrow_ ? sizeof(uint16_t) : sizeof(float);
    const auto input = [&](int64_t d, int64_t h) -> const void* {
      return context.in<std::byte>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * rowElements * size;
    };
    const float* bias = hasBias_ ? context.in<float>(2) : nullptr;
    const float* residual = hasResidual_ ? context.in<float>(3) + at : nullptr;
    if (writesNarrow_)
      rows_.run(index, input, bias, residual, context.out<uint16_t>() + at);
    else
      rows_.run(index, input, bias, residual, context.out<float>() + at);
  }

  ConvShape shape_;
  bool readsNarrow_;
  DepthwiseRows rows_;
  bool hasBias_, hasResidual_, writesNarrow_, isSmall_;
};

}  // namespace

DepthwiseWeights::DepthwiseWeights(const Tensor& weights) : values_(Tensor::allocate(DType::Float32, weights.shape())) {
  const int64_t channels = weights.shape()[0], taps = weights.shape().product(2, weights.shape().rank());
  auto* to = static_cast<float*>(values_->mutableData());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) to[t * channels + c] = weights.as<float>()[c * taps + t];
}

DepthwiseRows::DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow,
                             bool isFar)
    : shape_(shape),
      weights_(std::move(weights)),
      readsNarrow_(readsNarrow),
      isFar_(isFar),
      outBytes_(shape.images * shape.pixels() * shape.channels * static_cast<int64_t>(sizeof(float))),
      activation_(fusedActivation(node)),
      function_(depthwiseFunction()) {}

void DepthwiseRows::run(int64_t index, FunctionRef<const void*(int64_t d, int64_t h)> input, const float* bias,
                        const float* residual, float* out, uint16_t* narrow) const {
  const int64_t h = index % shape_.out[1], d = index / shape_.out[1] % shape_.out[0];
  const int64_t pixelBytes = shape_.channels * static_cast<int64_t>(sizeof(float));
  const void* x[kMaxKernelRows];
  const float* weights[kMaxKernelRows];
  DepthwiseRow row{x,
                   weights,
                   0,
                   shape_.channels,
                   shape_.in[2],
                   shape_.out[2],
                   shape_.kernel[2],
                   shape_.stride[2],
                   shape_.dilation[2],
                   shape_.before[2],
                   bias,
                   residual,
                   out,
                   narrow,
                   readsNarrow_,
                   isFar_,
                   !narrow && !activation_.function && isStreamed(out, outBytes_, pixelBytes, nullptr),
                   activation_.low,
                   activation_.high};
  for (int64_t kd = 0; kd < shape_.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < shape_.kernel[1]; ++kh) {
      const int64_t id = d * shape_.stride[0] - shape_.before[0] + kd * shape_.dilation[0];
      const int64_t ih = h * shape_.stride[1] - shape_.before[1] + kh * shape_.dilation[1];
      if (id < 0 || id >= shape_.in[0] || ih < 0 || ih >= shape_.in[1]) continue;
      x[row.rows] = input(id, ih);
      weights[row.rows++] = weights_->data() + (kd * shape_.kernel[1] + kh) * shape_.kernel[2] * shape_.channels;
    }
  function_(row);
  if (row.isStreamed) hwy::FlushStream();
  if (activation_.function) applyActivation(activation_, out, shape_.out[2] * shape_.channels);
}

DepthwiseFunction depthwiseFunction() { return MAX_CHOOSE_TARGET(kDepthwise); }

bool isDepthwise(const Shape& weights, int64_t groups) {
  return groups > 1 && groups == weights[0] && weights[1] == 1 &&
         weights.product(2, weights.rank() - 1) <= kMaxKernelRows;
}

bool depthwiseTakesNarrow(const Node& node, const Shape& weights) {
  const readers::Window window = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes.back();
  return window.size == 3 && window.stride == 1 && window.dilation == 1;
}

std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape) {
  return std::make_unique<DepthwiseOp>(request, shape);
}

Ref<Prepared> prepareDepthwise(const Tensor& weights) { return makeRef<DepthwiseWeights>(weights); }

}  // namespace max
#endif
