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
constexpr int kTile = 4;           // pixels of any kernel
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
#if HWY_TARGET == HWY_AVX3  // others have no products of bfloat16, which read such results
  if (row.narrow) return storeNarrow(sum, row.narrow + at, count);
#endif
  if (row.isStreamed)
    hn::Stream(sum, d, row.out + at);
  else
    storeFirst(d, sum, row.out + at, count);
}

HWY_INLINE const float* rowOf(const DepthwiseRow& row, int64_t r) { return static_cast<const float*>(row.x[r]); }

HWY_INLINE V initial(const DepthwiseRow& row, int64_t c, int64_t count) {
  const D d;
  return row.bias ? loadFirst(d, row.bias + c, count) : hn::Zero(d);
}

// One pixel whose kernel row reaches from tap `first` to `last`.
void edgePixel(const DepthwiseRow& row, int64_t pixel, int64_t first, int64_t last) {
  const D d;
  const Results results(row);
  const int64_t start = pixel * row.stride - row.before;
  for (int64_t c = row.first; c < row.last; c += kLanes) {
    const int64_t count = std::min(kLanes, row.last - c);
    V sum = initial(row, c, count);
    for (int64_t r = 0; r < row.rows; ++r)
      for (int64_t w = first; w < last; ++w)
        sum = hn::MulAdd(loadFirst(d, rowOf(row, r) + (start + w * row.dilation) * row.channels + c, count),
                         loadFirst(d, row.weights[r] + w * row.channels + c, count), sum);
    finish(results, sum, pixel, c, count);
  }
  if (last - first > kLongTaps) passWork((last - first) * row.rows * (row.last - row.first) / kLanes);
}

// Pixels whose sums are in registers beside what they read of a row; 32 registers hold more.
template <int kWidth, int kStride>
constexpr int kTilePixels = kLanes < 16                   ? 4
                            : kWidth == 5 && kStride == 2 ? 6
                                                          : 7;

HWY_ALIGN constexpr float kNothing[hn::MaxLanes(D())] = {};

// One vector of channels of a tile. Each vector of the input is loaded once. kEdge: some columns may lie outside the
// row, some pixels past its end.
template <int kWidth, int kStride, bool kEdge, bool kFull>
HWY_INLINE void tileVector(const DepthwiseRow& row, const Results& kept, int64_t pixel, int64_t c, int64_t count) {
  const D d;
  constexpr int kPixels = kTilePixels<kWidth, kStride>, kInputs = (kPixels - 1) * kStride + kWidth;
  const int64_t step = row.channels, column = pixel * kStride - row.before;
  const auto load = [&](const float* from) HWY_ATTR { return kFull ? hn::LoadU(d, from) : loadFirst(d, from, count); };
  V sum[kPixels];
  sum[0] = initial(row, c, count);
  MAX_UNROLL for (int p = 1; p < kPixels; ++p) sum[p] = sum[0];
  for (int64_t r = 0; r < row.rows; ++r) {
    const float* x = rowOf(row, r) + column * step + c;
    V in[kInputs];
    MAX_UNROLL for (int i = 0; i < kInputs; ++i, x += step) {
      const bool isOutside = kEdge && static_cast<uint64_t>(column + i) >= static_cast<uint64_t>(row.inWidth);
      in[i] = load(isOutside ? kNothing : x);
    }
    MAX_UNROLL for (int w = 0; w < kWidth; ++w) {
      const V tap = load(row.weights[r] + w * step + c);
      MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[p] = hn::MulAdd(in[p * kStride + w], tap, sum[p]);
    }
  }
  // Wide kernels have no registers for it meanwhile.
  const Results results = kWidth > 3 ? Results(row) : kept;
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) if (!kEdge || pixel + p < row.outWidth)
      finish(results, sum[p], pixel + p, c, count);
}

// The same for any kernel width, stride and dilation.
template <int kPixels>
HWY_INLINE void anyVector(const DepthwiseRow& row, const Results& results, int64_t pixel, int64_t c, int64_t count) {
  const D d;
  const int64_t start = (pixel * row.stride - row.before) * row.channels + c;
  V sum[kPixels];
  sum[0] = initial(row, c, count);
  MAX_UNROLL for (int p = 1; p < kPixels; ++p) sum[p] = sum[0];
  for (int64_t r = 0; r < row.rows; ++r)
    for (int64_t w = 0; w < row.kernelWidth; ++w) {
      const V weight = loadFirst(d, row.weights[r] + w * row.channels + c, count);
      const float* x = rowOf(row, r) + start + w * row.dilation * row.channels;
      MAX_UNROLL for (int p = 0; p < kPixels; ++p) sum[p] =
          hn::MulAdd(loadFirst(d, x + p * row.stride * row.channels, count), weight, sum[p]);
    }
  MAX_UNROLL for (int p = 0; p < kPixels; ++p) finish(results, sum[p], pixel + p, c, count);
}

// What a kernel row at `x`, which no other has read before, reads of the pixels that come after some.
template <class T>
struct Ahead {
  const T* x;  // NULL = it is near
  int64_t channels;
  Ahead(const DepthwiseRow& row, const T* from, int64_t pixel)
      : x(row.isFar && from ? from + (pixel + kAhead) * row.stride * row.channels : nullptr), channels(row.channels) {}

  template <int kCount>
  HWY_INLINE void prefetch(int64_t c) const {
    if (!x) return;
    MAX_UNROLL for (int i = 0; i < kCount; ++i) __builtin_prefetch(x + i * channels + c, 0, 3);
  }
};

// The last channels take the way of the edges: another copy for them would be large.
template <int kWidth, int kStride, bool kEdge>
void tile(const DepthwiseRow& row, int64_t pixel) {
  const Results results(row);
  const Ahead ahead(row, row.rows ? rowOf(row, row.rows - 1) : nullptr, pixel);
  int64_t c = row.first;
  for (; c + kLanes <= row.last; c += kLanes) {
    ahead.template prefetch<kTilePixels<kWidth, kStride> * kStride>(c);
    tileVector<kWidth, kStride, kEdge, true>(row, results, pixel, c, kLanes);
  }
  if (c < row.last) tileVector<kWidth, kStride, true, false>(row, results, pixel, c, row.last - c);
}

template <int kPixels>
void anyTile(const DepthwiseRow& row, int64_t pixel) {
  const Results results(row);
  const Ahead ahead(row, row.rows ? rowOf(row, row.rows - 1) : nullptr, pixel);
  for (int64_t c = row.first; c < row.last; c += kLanes) {
    for (int64_t i = 0; i < row.stride; ++i) ahead.template prefetch<kPixels>(c + i * kPixels * row.channels);
    anyVector<kPixels>(row, results, pixel, c, std::min(kLanes, row.last - c));
  }
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

void edgePixels(const DepthwiseRow& row, int64_t begin, int64_t end) {
  for (int64_t pixel = begin; pixel < end; ++pixel) {
    const int64_t start = pixel * row.stride - row.before;
    const int64_t first = start < 0 ? (-start + row.dilation - 1) / row.dilation : 0;
    const int64_t fit = row.inWidth - 1 - start;
    const int64_t last = fit < 0 ? 0 : std::min(row.kernelWidth, fit / row.dilation + 1);
    edgePixel(row, pixel, first, last);
  }
}

int64_t stepsOf(const DepthwiseRow& row) { return row.rows * row.kernelWidth * ((row.last - row.first) / kLanes + 1); }

// Any kernel.
void runAny(const DepthwiseRow& row) {
  const Inside inside(row);
  WorkCounter work;
  edgePixels(row, 0, inside.begin);
  int64_t pixel = inside.begin;
  for (; pixel + kTile <= inside.end; pixel += kTile, work.pass(2 * stepsOf(row))) anyTile<kTile>(row, pixel);
  for (; pixel < inside.end; ++pixel, work.pass(stepsOf(row))) anyTile<1>(row, pixel);
  edgePixels(row, inside.end, row.outWidth);
}

template <int kWidth, int kStride>
void runTiles(const DepthwiseRow& row) {
  constexpr int kPixels = kTilePixels<kWidth, kStride>;
  const Inside inside(row);
  WorkCounter work;
  for (int64_t pixel = 0; pixel < row.outWidth; pixel += kPixels, work.pass(3 * stepsOf(row))) {
    if (pixel >= inside.begin && pixel + kPixels <= inside.end)
      tile<kWidth, kStride, false>(row, pixel);
    else
      tile<kWidth, kStride, true>(row, pixel);
  }
}

struct Kernel {
  int64_t width, stride;
  void (*run)(const DepthwiseRow& row);
};
constexpr Kernel kKernels[] = {{3, 1, runTiles<3, 1>},
                               {3, 2, runTiles<3, 2>},
#if HWY_TARGET <= HWY_AVX2  // the better, the smaller; others have too few registers for wide kernels
                               {5, 1, runTiles<5, 1>},
                               {5, 2, runTiles<5, 2>},
                               {7, 1, runTiles<7, 1>}
#endif
};

void runRow(const DepthwiseRow& row) {
  for (const Kernel& kernel : kKernels)
    if (row.dilation == 1 && row.kernelWidth == kernel.width && row.stride == kernel.stride) return kernel.run(row);
  runAny(row);
}

}  // namespace

extern const DepthwiseFunction kDepthwise;
constexpr DepthwiseFunction kDepthwise = runRow;

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#include "ops/cpu/convolution/depthwise_bf16-inl.h"

#if HWY_ONCE
#include <hwy/cache_control.h>

#include "base/align.h"
#include "base/half.h"

namespace max {

namespace {

constexpr int64_t kMaxKernelRows = 64;
constexpr int64_t kWordLanes = 16;  // of a vector of words
constexpr int64_t kTallRows = 5;
constexpr int64_t kBlockBytes = 24 << 10;  // of what a row of the output reads, for a first cache

// Of rows of bfloat16; NULL if cpuTarget() has no products of them.
DepthwiseFunction wordFunction() {
#if HWY_TARGETS & HWY_AVX3
  if (cpuTarget() >= CpuTarget::Avx512Bf16) return N_AVX3::kDepthwiseWords;
#endif
  return nullptr;
}

Ref<DepthwiseWeights> weightsOf(const OpRequest& request) {
  if (auto* prepared = dynamic_cast<DepthwiseWeights*>(request.node.prepared.get()))
    return Ref<DepthwiseWeights>(prepared);
  return makeRef<DepthwiseWeights>(*request.inputs[1].constant, isNarrow(request.inputs[0]));
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
        rows_(request.node, shape, weightsOf(request), readsNarrow_, isNarrow(request.outputs[0]), isFar(shape)),
        hasBias_(request.has(2)),
        hasResidual_(request.has(3)) {
    const double work =
        static_cast<double>(shape.images * shape.pixels()) * static_cast<double>(shape.taps() * shape.channels);
    lanes_ = work < 100e3 ? 1 : std::max(request.lanes, 1);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply(rows_.scratchBytes(), lanes_)); }

  void run(const OpContext& context) const override {
    const int64_t rows = shape_.images * shape_.out[0] * shape_.out[1];
    const int lanes = std::min(lanes_, context.lanes);
    const int64_t rowBytes = shape_.in[2] * shape_.channels * (readsNarrow_ ? 2 : 4);
    const auto input = [&](int64_t image, int64_t d, int64_t h) -> const void* {
      return context.in<std::byte>(0) + ((image * shape_.in[0] + d) * shape_.in[1] + h) * rowBytes;
    };
    const DepthwiseRows::Operands operands{hasBias_ ? context.in<float>(2) : nullptr,
                                           hasResidual_ ? context.in<float>(3) : nullptr, context.out<std::byte>()};
    parallelFor(lanes, rows, rows_.grain(rows, lanes), [&](int64_t begin, int64_t end, int lane) {
      rows_.run(begin, end, input, operands, context.scratch + lane * rows_.scratchBytes());
    });
  }

 private:
  ConvShape shape_;
  bool readsNarrow_;
  DepthwiseRows rows_;
  bool hasBias_, hasResidual_;
  int lanes_;
};

}  // namespace

DepthwiseWeights::DepthwiseWeights(const Tensor& weights, bool hasWords)
    : channels_(weights.shape()[0]), width_(weights.shape().back()) {
  const Shape& shape = weights.shape();
  const int64_t taps = shape.product(2, shape.rank()), rows = taps / std::max<int64_t>(width_, 1);
  values_ = Tensor::allocate(DType::Float32, shape);
  auto* to = static_cast<float*>(values_->mutableData());
  for (int64_t c = 0; c < channels_; ++c)
    for (int64_t t = 0; t < taps; ++t) to[t * channels_ + c] = weights.as<float>()[c * taps + t];
  if (!hasWords) return;
  words_ = Tensor::allocate(DType::UInt32, Shape({2 * rows, checkedMultiply(width_, alignUp(channels_, kWordLanes))}));
  auto* words = static_cast<uint32_t*>(words_->mutableData());
  std::fill_n(words, words_->count(), 0u);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t w = 0; w < width_; ++w)
      for (int64_t c = 0; c < channels_; ++c) {
        const float* tap = weights.as<float>() + c * taps + r * width_ + w;
        const uint32_t above = bfloat16FromFloat(*tap);
        const uint32_t below = r + 1 < rows ? bfloat16FromFloat(tap[width_]) : 0;
        words[2 * r * words_->shape()[1] + placeOf(w, c)] = above | below << 16;
        words[(2 * r + 1) * words_->shape()[1] + placeOf(w, c)] = above;
      }
}

// Two vectors of 32 channels have four of each eight; the last channels are in order.
int64_t DepthwiseWeights::placeOf(int64_t tap, int64_t c) const {
  constexpr int64_t kPair = 2 * kWordLanes;
  if (c / kPair * kPair + kPair > channels_)
    return c / kWordLanes * kWordLanes * width_ + tap * kWordLanes + c % kWordLanes;
  const int64_t vector = c / 4 % 2, lane = c % kPair / 8 * 4 + c % 4;
  return c / kPair * kPair * width_ + (2 * tap + vector) * kWordLanes + lane;
}

const float* DepthwiseWeights::words(int64_t row, bool isPair) const {
  const auto* words = reinterpret_cast<const float*>(words_->data());
  return words + (2 * row + (isPair ? 0 : 1)) * words_->shape()[1];
}

DepthwiseRows::DepthwiseRows(const Node& node, const ConvShape& shape, Ref<DepthwiseWeights> weights, bool readsNarrow,
                             bool writesNarrow, bool isFar)
    : shape_(shape),
      weights_(std::move(weights)),
      readsNarrow_(readsNarrow),
      writesNarrow_(writesNarrow),
      isFar_(isFar),
      outBytes_(shape.images * shape.pixels() * shape.channels * static_cast<int64_t>(sizeof(float))),
      activation_(fusedActivation(node)),
      roundedFunction_(activation_.function ? gemmTableFor(node).narrowFunction : nullptr),
      function_(readsNarrow ? wordFunction() : MAX_CHOOSE_TARGET(kDepthwise)),
      blockChannels_(shape.channels) {
  // Rows of a tall kernel read most of their input again and again: some channels of it at a time stay in the first
  // cache. A lower one is better off with all channels in the order of memory.
  const int64_t kernelRows = shape.taps() / shape.kernel[2];
  const bool takesAll = activation_.function && !roundedFunction_;
  if (takesAll || kernelRows < kTallRows) return;
  const int64_t bytes = kernelRows * shape.in[2] * shape.channels * (readsNarrow ? 2 : 4);
  const int64_t blocks = std::max<int64_t>(bytes / kBlockBytes, 1);
  blockChannels_ = alignUp((shape.channels + blocks - 1) / blocks, 2 * kWordLanes);
}

int64_t DepthwiseRows::scratchBytes() const {
  return activation_.function && writesNarrow_ ? alignUp(checkedMultiply<int64_t>(4, shape_.out[2] * shape_.channels))
                                               : 0;
}

// Rows with some channels at a time are better off together.
int64_t DepthwiseRows::grain(int64_t rows, int lanes) const {
  const int64_t parts = lanes * (blockChannels_ < shape_.channels ? 4 : 16);
  return std::max<int64_t>(1, rows / parts);
}

int64_t DepthwiseRows::findRows(int64_t index, Input input, const void** x, int64_t* kernelRows) const {
  const int64_t h = index % shape_.out[1], d = index / shape_.out[1] % shape_.out[0];
  const int64_t image = index / shape_.out[1] / shape_.out[0];
  int64_t count = 0;
  for (int64_t kd = 0; kd < shape_.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < shape_.kernel[1]; ++kh) {
      const int64_t id = d * shape_.stride[0] - shape_.before[0] + kd * shape_.dilation[0];
      const int64_t ih = h * shape_.stride[1] - shape_.before[1] + kh * shape_.dilation[1];
      if (id < 0 || id >= shape_.in[0] || ih < 0 || ih >= shape_.in[1]) continue;
      x[count] = input(image, id, ih);
      kernelRows[count++] = kd * shape_.kernel[1] + kh;
    }
  return count;
}

void DepthwiseRows::run(int64_t begin, int64_t end, Input input, const Operands& operands, std::byte* scratch) const {
  const int64_t block = end - begin > 1 ? blockChannels_ : shape_.channels;
  for (int64_t first = 0; first < shape_.channels; first += block) {
    const int64_t last = std::min(first + block, shape_.channels);
    for (int64_t row = begin; row < end; ++row) {
      runRow(row, input, operands, first, last, scratch);
      passWork(shape_.taps() * shape_.out[2] * (last - first) / 4);
    }
  }
}

void DepthwiseRows::runRow(int64_t index, Input input, const Operands& operands, int64_t first, int64_t last,
                           std::byte* scratch) const {
  const int64_t at = index * shape_.out[2] * shape_.channels;
  const int64_t pixelBytes = shape_.channels * static_cast<int64_t>(sizeof(float));
  const void *found[kMaxKernelRows], *x[2 * kMaxKernelRows];
  const float* weights[kMaxKernelRows];
  int64_t kernelRows[kMaxKernelRows];
  auto* narrow = writesNarrow_ ? reinterpret_cast<uint16_t*>(operands.output) + at : nullptr;
  float* out = reinterpret_cast<float*>(writesNarrow_ ? scratch : operands.output) + (writesNarrow_ ? 0 : at);
  const int64_t rows = findRows(index, input, found, kernelRows);
  DepthwiseRow row{x,
                   weights,
                   0,
                   shape_.channels,
                   first,
                   last,
                   shape_.in[2],
                   shape_.out[2],
                   shape_.kernel[2],
                   shape_.stride[2],
                   shape_.dilation[2],
                   shape_.before[2],
                   operands.bias,
                   operands.residual ? operands.residual + at : nullptr,
                   out,
                   activation_.function ? nullptr : narrow,
                   isFar_,
                   !narrow && !activation_.function && isStreamed(out, outBytes_, pixelBytes, nullptr),
                   activation_.low,
                   activation_.high};
  for (int64_t i = 0; i < rows; ++i, ++row.rows) {
    if (!readsNarrow_) {
      x[i] = found[i];
      weights[i] = weights_->row(kernelRows[i]);
      continue;
    }
    const bool isPair = i + 1 < rows && kernelRows[i + 1] == kernelRows[i] + 1;
    x[2 * row.rows] = found[i];
    x[2 * row.rows + 1] = isPair ? found[i + 1] : nullptr;
    weights[row.rows] = weights_->words(kernelRows[i], isPair);
    i += isPair ? 1 : 0;
  }
  function_(row);
  if (row.isStreamed) hwy::FlushStream();
  if (activation_.function) applyFunction(row, narrow);
}

void DepthwiseRows::applyFunction(const DepthwiseRow& row, uint16_t* narrow) const {
  if (!roundedFunction_) return applyActivation(activation_, row.out, row.outWidth * row.channels);
  RoundedRows rows{row.out + row.first,
                   row.channels,
                   row.outWidth,
                   row.last - row.first,
                   narrow ? narrow + row.first : nullptr,
                   row.channels,
                   {},
                   0};
  if (rows.count == row.channels) {
    rows.count *= rows.rows;
    rows.rows = 1;
  }
  roundedFunction_(activation_, rows);
}

bool isDepthwise(const Shape& weights, int64_t groups) {
  return groups > 1 && groups == weights[0] && weights[1] == 1 &&
         weights.product(2, weights.rank() - 1) <= kMaxKernelRows;
}

bool depthwiseTakesNarrow(const Node& node, const Shape& weights) {
  const readers::Window window = readers::readWindows(node.attributes, weights.dims().subspan(2)).axes.back();
  const bool isKnown = window.stride == 1   ? window.size == 3 || window.size == 5 || window.size == 7
                       : window.stride == 2 ? window.size == 3 || window.size == 5
                                            : false;
  return isKnown && window.dilation == 1 && mayBeNarrow(node) && wordFunction();
}

std::unique_ptr<OpKernel> createDepthwise(const OpRequest& request, const ConvShape& shape) {
  return std::make_unique<DepthwiseOp>(request, shape);
}

Ref<Prepared> prepareDepthwise(const Node& node, const Tensor& weights) {
  return makeRef<DepthwiseWeights>(weights, depthwiseTakesNarrow(node, weights.shape()));
}

}  // namespace max
#endif
