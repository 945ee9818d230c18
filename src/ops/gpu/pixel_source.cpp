// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/pixel_source.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "graph/readers/windows.h"

namespace max {

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 30;    // along an axis, with its borders
constexpr int64_t kMostElements = int64_t{1} << 30;  // of a line, of a window, and pixels
constexpr int64_t kFewDepth = 16, kFewFilters = 8;   // below them most of a tile would be empty

constexpr const char* kFields = R"(
  long long run;  // elements that lie together in a line of a window: the channels of one tap, or of all
  long long pixels, filters, depth, channels, groups, splits, perSplit;  // filters and channels of a group
  long long xImage, xPixel, wRow;
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  float activationAlpha, activationBeta;
)";

constexpr const char* kPixels = R"(
// The windows of a tile's pixels, in pieces of 16 bytes of a tile of elements To.
template <class T, int kRows, int kThreads, class To = T>
struct Pixels {
  static const int kPiece = 16 / (int)sizeof(To), kDepth = 64 / (int)sizeof(To);
  static const int kEach = 4 * kRows / kThreads;  // pixels of a thread
  const Layout& layout;
  const T* base;
  const T* line[kEach];  // of the image, where the window has its run
  int start[kEach];      // the run's first element there; far from it = outside of the image
  int image[kEach];      // its first pixel; negative = none
  int corner[kEach][3], tap[3];
  int place, left, width;  // in the run; of k from this thread's pieces on; elements of an image's line
  bool aligned;

  inline __device__ Pixels(const Layout& shape, const T* x, long long first, long long begin, long long past)
      : layout(shape),
        base(x),
        left((int)(past - begin) - (int)threadIdx.x % 4 * kPiece),
        width((int)(shape.in[2] * shape.xPixel)),
        aligned(isAligned(x, shape.xPixel) && shape.channels % kPiece == 0) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int pixel = (int)first + (int)(threadIdx.x + i * kThreads) / 4;
      int rest = pixel;
#pragma unroll
      for (int d = 2; d >= 0; --d) {
        const int size = (int)shape.out[d];
        corner[i][d] = rest % size * (int)shape.stride[d] - (int)shape.pad[d];
        rest /= size;
      }
      corner[i][2] *= (int)shape.xPixel;
      image[i] = pixel < shape.pixels ? rest * (int)(shape.in[0] * shape.in[1] * shape.in[2]) : -1;
    }
    const int k = (int)begin + (int)threadIdx.x % 4 * kPiece, number = k / (int)shape.run;
    const int lines = number / (int)shape.kernel[2];
    place = k - number * (int)shape.run;
    tap[2] = number - lines * (int)shape.kernel[2];
    tap[0] = lines / (int)shape.kernel[1];
    tap[1] = lines - tap[0] * (int)shape.kernel[1];
    findLines();
  }

  inline __device__ void findLines() {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int z = corner[i][0] + tap[0] * (int)layout.dilation[0], y = corner[i][1] + tap[1] * (int)layout.dilation[1];
      const bool isInside = (unsigned)z < (unsigned)layout.in[0] && (unsigned)y < (unsigned)layout.in[1] && image[i] >= 0;
      const int pixel = image[i] + (z * (int)layout.in[1] + y) * (int)layout.in[2];
      line[i] = isInside ? base + pixel * layout.xPixel : base;
      start[i] = isInside ? corner[i][2] + tap[2] * (int)(layout.dilation[2] * layout.xPixel) : -(1 << 30);
    }
  }
  inline __device__ void advance(int by) {
    place += by;
    if (place < layout.run) return;
    do {
      place -= (int)layout.run;
      if (++tap[2] < layout.kernel[2]) continue;
      tap[2] = 0;
      if (++tap[1] < layout.kernel[1]) continue;
      tap[1] = 0;
      ++tap[0];
    } while (place >= layout.run);
    findLines();
  }
  // Of a pixel's window, or NULL outside of the image and behind the end of k.
  inline __device__ const T* at(int i) const {
    const int x = start[i] + place;
    return (unsigned)x < (unsigned)width ? line[i] + x : nullptr;
  }
  inline __device__ void next() {
    left -= kDepth;
    advance(kDepth);
  }
};
)";

int64_t tapsOf(const Shape& weights) {
  int64_t taps = 1;
  for (const int64_t size : weights.dims().subspan(2)) taps *= size;
  return taps;
}

// Elements of a packed filter, so that each begins at a multiple of 16 bytes.
int64_t rowOf(const Shape& weights, DType dtype) {
  const int64_t piece = 16 / static_cast<int64_t>(sizeOf(dtype));
  return (weights[1] * tapsOf(weights) + piece - 1) / piece * piece;
}

}  // namespace

const char* pixelFields() { return kFields; }
const char* pixelFunctions() { return kPixels; }

Ref<Tensor> packedFilters(const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int64_t filters = shape[0], channels = shape[1], taps = tapsOf(shape), row = rowOf(shape, weights.dtype());
  Ref<Tensor> packed = Tensor::allocate(weights.dtype(), {filters, row});
  const size_t size = sizeOf(weights.dtype());
  std::memset(packed->mutableData(), 0, packed->bytes());
  auto* to = static_cast<std::byte*>(packed->mutableData());
  const auto* from = weights.as<std::byte>();
  for (int64_t filter = 0; filter < filters; ++filter)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t tap = 0; tap < taps; ++tap, from += size)
        std::memcpy(to + static_cast<size_t>(filter * row + tap * channels + c) * size, from, size);
  return packed;
}

bool fillsTiles(const Node& node, size_t weights) {
  const Value* w = node.input(weights);
  if (!w->constant || !w->constant->hasContents()) return false;
  const Shape& shape = w->constant->shape();
  if (shape.rank() < 3 || shape.rank() > static_cast<int>(2 + kPixelAxes)) return false;
  return shape[0] / readers::readGroups(node.attributes) >= kFewFilters && shape[1] * tapsOf(shape) >= kFewDepth;
}

ConvolutionLayout convolutionLayout(const OpRequest& request, const Shape& w, DType dtype) {
  const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape;
  const Attributes& attributes = request.node.attributes;
  const size_t rank = static_cast<size_t>(x.rank() - 2);
  const auto in = x.dims().subspan(1, rank), out = y.dims().subspan(1, rank);
  const std::vector<readers::Window> windows = readers::readWindows(attributes, w.dims().subspan(2)).between(in, out);
  const readers::FusedActivation activation(attributes);
  ConvolutionLayout layout;
  layout.groups = readers::readGroups(attributes);
  layout.filters = w[0] / layout.groups;
  layout.channels = w[1];
  layout.depth = layout.channels * tapsOf(w);
  layout.pixels = y.back() > 0 ? y.count() / y.back() : 0;
  layout.xPixel = x.back();
  layout.xImage = x[0] > 0 ? x.count() / x[0] : 0;
  layout.wRow = rowOf(w, dtype);
  layout.run = layout.channels;
  layout.activationAlpha = activation.alpha;
  layout.activationBeta = activation.beta;
  for (size_t i = 0; i < rank; ++i) {
    const size_t d = kPixelAxes - rank + i;
    require(windows[i].extent() + in[i] + windows[i].padBegin + windows[i].padEnd < kMostPixels,
            MAX_STATUS_UNIMPLEMENTED, "A convolution's axis of ", in[i], " pixels is too long for ",
            request.node.description(), " on an accelerator; run the model on the CPU");
    require((windows[i].extent() + in[i] + windows[i].padBegin + windows[i].padEnd) * layout.xPixel < kMostElements &&
                layout.pixels < kMostElements && layout.depth < kMostElements && x.count() / x.back() < kMostElements,
            MAX_STATUS_UNIMPLEMENTED, "Too many elements for ", request.node.description(),
            " on an accelerator; run the model on the CPU");
    layout.in[d] = in[i];
    layout.out[d] = out[i];
    layout.kernel[d] = windows[i].size;
    layout.stride[d] = windows[i].stride;
    layout.dilation[d] = windows[i].dilation;
    layout.pad[d] = windows[i].padBegin;
  }
  if (layout.groups == 1 && layout.dilation[kPixelAxes - 1] == 1) {
    layout.run *= layout.kernel[kPixelAxes - 1];
    layout.kernel[kPixelAxes - 1] = 1;
  }
  return layout;
}

}  // namespace max
