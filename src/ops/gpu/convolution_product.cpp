// SPDX-License-Identifier: Apache-2.0
// The rows of the left matrix are the windows of pixels, which are read where they lie; those of the right one are the
// filters, which are stored tap by tap for this.
#include "ops/gpu/convolution_product.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "graph/readers/matrix.h"
#include "graph/readers/windows.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/product_ops.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr size_t kAxes = 3;
constexpr int64_t kMostPixels = int64_t{1} << 30;   // along an axis, with its borders
constexpr int64_t kFewDepth = 16, kFewFilters = 8;  // below them most of a tile would be empty

constexpr const char* kConvolution = R"(
struct Layout {
  long long pixels, filters, depth, channels, groups, splits, perSplit;  // filters and channels of a group
  long long xImage, xPixel, wRow;
  long long in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  float activationAlpha, activationBeta;
};

// The windows of a tile's pixels.
template <int kRows, int kThreads>
struct PixelSource {
  typedef MaxTile<Element, kRows, true> Tile;
  static const int kEach = 4 * kRows / kThreads;  // pixels of a thread
  const Layout& layout;
  const Element* base;
  const Element* image[kEach];  // NULL = no pixel
  int corner[kEach][3], tap[3];
  long long k, end, channel;  // of this thread's pieces
  bool aligned;

  inline __device__ PixelSource(const Layout& shape, const Element* x, long long first, long long begin, long long past)
      : layout(shape),
        base(x),
        k(begin + threadIdx.x % 4 * Tile::kPiece),
        end(past),
        aligned(isAligned(x, shape.xPixel) && shape.channels % Tile::kPiece == 0) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      long long rest = first + (threadIdx.x + i * kThreads) / 4;
      const bool isThere = rest < shape.pixels;
#pragma unroll
      for (int d = 2; d >= 0; --d) {
        corner[i][d] = (int)(rest % shape.out[d] * shape.stride[d] - shape.pad[d]);
        rest /= shape.out[d];
      }
      image[i] = isThere ? x + rest * shape.xImage : nullptr;
    }
    channel = k % shape.channels;
    const long long number = k / shape.channels;
    tap[2] = (int)(number % shape.kernel[2]);
    tap[1] = (int)(number / shape.kernel[2] % shape.kernel[1]);
    tap[0] = (int)(number / shape.kernel[2] / shape.kernel[1]);
  }

  static inline __device__ void advance(const Layout& layout, long long& channel, int (&tap)[3], int by) {
    for (channel += by; channel >= layout.channels; channel -= layout.channels) {
      if (++tap[2] < layout.kernel[2]) continue;
      tap[2] = 0;
      if (++tap[1] < layout.kernel[1]) continue;
      tap[1] = 0;
      ++tap[0];
    }
  }
  // Of a pixel's tap, or NULL outside of the image.
  inline __device__ const Element* at(int i, const int (&taps)[3]) const {
    long long pixel = 0;
    bool isInside = image[i];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const int place = corner[i][d] + taps[d] * (int)layout.dilation[d];
      isInside = isInside && place >= 0 && place < layout.in[d];
      pixel = pixel * layout.in[d] + place;
    }
    return isInside ? image[i] + pixel * layout.xPixel : nullptr;
  }
  inline __device__ void load(const Tile& tile) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int piece = threadIdx.x + i * kThreads;
      uint4* const to = (uint4*)tile.at(piece / 4, piece % 4 * Tile::kPiece);
      if (aligned) {
        const Element* from = k < end ? at(i, tap) : nullptr;
        maxCopyAsync(to, from ? from + channel : base, from ? 16 : 0);
        continue;
      }
      Element elements[Tile::kPiece];
      long long c = channel;
      int taps[3] = {tap[0], tap[1], tap[2]};
#pragma unroll
      for (int e = 0; e < Tile::kPiece; ++e) {
        const Element* from = k + e < end ? at(i, taps) : nullptr;
        elements[e] = from ? from[c] : Element(0.0f);
        advance(layout, c, taps, 1);
      }
      memcpy(to, elements, 16);
    }
    k += Tile::kDepth;
    advance(layout, channel, tap, Tile::kDepth);
  }
};

MAX_DEVICE void finish(const Layout& layout, Sum sum, long long pixel, long long filter ADDENDS, Element* y) {
  const long long i = pixel * layout.filters * layout.groups + filter;
  FINISH
  y[i] = (Element)(activated(sum, layout.activationAlpha, layout.activationBeta) LAST);
}

template <int kRows, int kColumns, int kThreads>
MAX_DEVICE void convolve(const Layout& layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  typedef PixelSource<kRows, kThreads> Left;
  const long long rowTiles = (layout.pixels + kRows - 1) / kRows, columnTiles = (layout.filters + kColumns - 1) / kColumns;
  const long long tiles = rowTiles * columnTiles;
  for (long long number = blockIdx.x; number < layout.groups * layout.splits * tiles; number += gridDim.x) {
    const long long split = number / tiles % layout.splits, group = number / tiles / layout.splits;
    const long long column0 = number % columnTiles * kColumns, row0 = number % tiles / columnTiles * kRows;
    const long long begin = split * layout.perSplit, past = begin + layout.perSplit;
    const long long end = past < layout.depth ? past : layout.depth;
    Left left(layout, x + group * layout.channels, row0, begin, end);
    MatrixSource<Element, kColumns, kThreads, true> right(w + group * layout.filters * layout.wRow, column0,
                                                          layout.filters, layout.wRow, begin, end);
    const long long steps = (end - begin + Left::Tile::kDepth - 1) / Left::Tile::kDepth;
    multiplyTile<kRows, kColumns, kThreads, 2>(left, right, steps, [&](int i, int j, Sum sum) {
      const long long pixel = row0 + i, filter = group * layout.filters + column0 + j;
      if (pixel >= layout.pixels || column0 + j >= layout.filters) return;
      if (layout.splits > 1)
        partial[(split * layout.pixels + pixel) * layout.filters * layout.groups + filter] = sum;
      else
        finish(layout, sum, pixel, filter GIVEN, y);
    });
  }
}

extern "C" __global__ void __launch_bounds__(128)
    gpu_conv_product(const Layout layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  convolve<64, 64, 128>(layout, x, w GIVEN, partial, y);
}
extern "C" __global__ void __launch_bounds__(256)
    gpu_conv_product_large(const Layout layout, const Element* x, const Element* w ADDENDS, Sum* partial, Element* y) {
  convolve<128, 128, 256>(layout, x, w GIVEN, partial, y);
}

// Adds the parts of sums.
extern "C" __global__ void gpu_conv_product_sum(const Layout layout, const Sum* partial ADDENDS, Element* y) {
  const long long filters = layout.filters * layout.groups, count = layout.pixels * filters;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = 0;
    for (long long split = 0; split < layout.splits; ++split) sum += partial[split * count + i];
    finish(layout, sum, i / filters, i % filters GIVEN, y);
  }
}
)";

struct ConvolutionLayout {
  int64_t pixels = 0, filters = 0, depth = 0, channels = 0, groups = 1, splits = 1, perSplit = 1;
  int64_t xImage = 0, xPixel = 0, wRow = 0;
  int64_t in[kAxes] = {1, 1, 1}, out[kAxes] = {1, 1, 1}, kernel[kAxes] = {1, 1, 1}, stride[kAxes] = {1, 1, 1},
          dilation[kAxes] = {1, 1, 1}, pad[kAxes] = {};
  float activationAlpha = 0, activationBeta = 0;
};

std::string sourceFor(const Node& node, const std::string& activation) {
  std::string addends, given, finish, last;
  if (node.input(2)) {
    addends += ", const Element* bias";
    given += ", bias";
    finish += "sum += (Sum)bias[filter];\n";
  }
  if (node.input(3)) {
    addends += ", const Element* residual";
    given += ", residual";
    if (readers::addsResidualLast(node.attributes))
      last = "+ (Sum)residual[i]";
    else
      finish += "sum += (Sum)residual[i];\n";
  }
  std::string text = kConvolution;
  replaceAll(text, " ADDENDS", addends);
  replaceAll(text, " GIVEN", given);
  replaceAll(text, "FINISH", finish);
  replaceAll(text, "LAST", last);
  return concat(kernelFunctions(), activation, productFunctions(node.input(0)->type.dtype), text);
}

class PlacedConvolutionProduct final : public Placed {
 public:
  PlacedConvolutionProduct(std::string source, DType dtype)
      : Placed(std::move(source), {"gpu_conv_product", "gpu_conv_product_large", "gpu_conv_product_sum"}),
        dtype_(dtype) {}

  Ref<Tensor> packed(size_t input, const Tensor& weights) const override {
    if (input != 1) return nullptr;
    const Shape& shape = weights.shape();
    const int64_t filters = shape[0], channels = shape[1], taps = tapsOf(shape), row = rowOf(shape);
    Ref<Tensor> packed = Tensor::allocate(dtype_, {filters, row});
    const size_t size = sizeOf(dtype_);
    std::memset(packed->mutableData(), 0, packed->bytes());
    auto* to = static_cast<std::byte*>(packed->mutableData());
    const auto* from = weights.as<std::byte>();
    for (int64_t filter = 0; filter < filters; ++filter)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t tap = 0; tap < taps; ++tap, from += size)
          std::memcpy(to + static_cast<size_t>(filter * row + tap * channels + c) * size, from, size);
    return packed;
  }

  std::unique_ptr<OpKernel> create(const OpRequest& request) const override {
    const ConvolutionLayout layout = layoutOf(request);
    const ProductPlan plan(dtype_, layout.groups, layout.pixels, layout.filters, layout.depth,
                           {ProductPlan::Form::Large});
    return productOps(*this, request, layout, plan, layout.pixels * layout.filters * layout.groups,
                      {plan.form == ProductPlan::Form::Large ? size_t{1} : size_t{0}, 2, sizeof(float)});
  }

 private:
  static int64_t tapsOf(const Shape& weights) {
    int64_t taps = 1;
    for (const int64_t size : weights.dims().subspan(2)) taps *= size;
    return taps;
  }
  // Elements of a packed filter, so that each begins at a multiple of 16 bytes.
  int64_t rowOf(const Shape& weights) const {
    const int64_t piece = 16 / static_cast<int64_t>(sizeOf(dtype_));
    return (weights[1] * tapsOf(weights) + piece - 1) / piece * piece;
  }

  ConvolutionLayout layoutOf(const OpRequest& request) const {
    const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
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
    layout.wRow = rowOf(w);
    layout.activationAlpha = activation.alpha;
    layout.activationBeta = activation.beta;
    for (size_t i = 0; i < rank; ++i) {
      const size_t d = kAxes - rank + i;
      require(windows[i].extent() + in[i] + windows[i].padBegin + windows[i].padEnd < kMostPixels,
              MAX_STATUS_UNIMPLEMENTED, "A convolution's axis of ", in[i], " pixels is too long for ",
              request.node.description(), " on an accelerator; run the model on the CPU");
      layout.in[d] = in[i];
      layout.out[d] = out[i];
      layout.kernel[d] = windows[i].size;
      layout.stride[d] = windows[i].stride;
      layout.dilation[d] = windows[i].dilation;
      layout.pad[d] = windows[i].padBegin;
    }
    return layout;
  }

  DType dtype_;
};

// Whether its tiles are filled, mostly, and its activation is known.
bool isProduct(const Node& node) {
  const Value* weights = node.input(1);
  if (!node.isOwn("Conv") || !hasTensorForms(node.input(0)->type.dtype) || !weights->constant) return false;
  const Shape& shape = weights->constant->shape();
  if (shape.rank() < 3 || shape.rank() > static_cast<int>(2 + kAxes)) return false;
  int64_t depth = 1;
  for (const int64_t size : shape.dims().subspan(1)) depth *= size;
  return shape[0] / readers::readGroups(node.attributes) >= kFewFilters && depth >= kFewDepth &&
         !activationSource(readers::FusedActivation(node.attributes)).empty();
}

// Whether all that read the weights are such products, for which alone they are stored.
bool ownsWeights(const Value& weights) {
  return !weights.isOutput() && std::all_of(weights.uses.begin(), weights.uses.end(), [&](const Use& use) {
    return use.index == 1 && use.node->graph == weights.graph && isProduct(*use.node);
  });
}

}  // namespace

Ref<Placed> placeConvolutionProduct(const Node& node) {
  if (!isProduct(node) || !node.input(1)->constant->hasContents() || !ownsWeights(*node.input(1))) return nullptr;
  const std::string activation = activationSource(readers::FusedActivation(node.attributes));
  return makeRef<PlacedConvolutionProduct>(sourceFor(node, activation), node.input(0)->type.dtype);
}

}  // namespace max
