// SPDX-License-Identifier: Apache-2.0
// Pools, channels as the graph has them: a thread for each element of the result, or a block for each image and
// channel. MaxUnpool.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/normalization.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"
#include "ops/gpu/windows.h"

namespace max {

namespace {

constexpr int64_t kMostTaps = 4096;  // files may ask for any number, far beyond the images

constexpr const char* kPool = R"(
extern "C" __global__ void gpu_pool(const Windows windows, const Element* x OUTPUTS, long long channels, float power) {
  EACH(i, windows.count) {
    const Place place = placeOf(windows, i, channels);
    const long long base = place.image * windows.xBatch + place.channel * windows.xChannel;
    Sum result = START;
    long long seen = 0, best = 0;  // pixels that count; the first one that has the maximum
    for (long long k = 0; k < windows.taps; ++k) {
      const Tap tap = tapOf(windows, place, k);
      seen += INCLUDES_PADS ? tap.isPadded : tap.isInside;
      if (!tap.isInside) continue;
      const Sum value = (Sum)x[base + tap.pixel * windows.xPixel];
      STEP
    }
    STORE
  }
}
)";

// Channels last, without indices: a thread has a piece of a pixel's channels, and looks at no tap beyond the image.
constexpr const char* kPoolPieces = R"(
extern "C" __global__ void gpu_pool_pieces(const Windows windows, const Element* x OUTPUTS, long long channels, float power) {
  const bool isWhole = channels % PIECE == 0 && isAligned(x) && isAligned(y);
  const long long pieces = (channels + PIECE - 1) / PIECE, count = pieces > 0 ? windows.count / channels * pieces : 0;
  EACH(item, count) {
    const long long pixel = item / pieces, channel = (item - pixel * pieces) * PIECE, valid = channels - channel;
    long long rest = pixel;
    long long begin[3] = {0, 0, 0}, past[3] = {1, 1, 1}, low[3] = {0, 0, 0};
    long long seen = 1;
#pragma unroll
    for (int d = 2; d >= 0; --d) {
      if (d >= windows.rank) continue;
      const long long whole = rest / windows.out[d], dilation = windows.dilation[d];
      low[d] = (rest - whole * windows.out[d]) * windows.stride[d] - windows.pad[d];
      rest = whole;
      const long long ahead = windows.in[d] - low[d], padded = ahead + windows.padEnd[d];
      begin[d] = low[d] < 0 ? (dilation - 1 - low[d]) / dilation : 0;
      past[d] = ahead > 0 ? (ahead - 1) / dilation + 1 : 0;
      if (past[d] > windows.kernel[d]) past[d] = windows.kernel[d];
      const long long all = padded > 0 ? (padded - 1) / dilation + 1 : 0;
      const long long inside = past[d] > begin[d] ? past[d] - begin[d] : 0;
      seen *= INCLUDES_PADS ? (all < windows.kernel[d] ? all : windows.kernel[d]) : inside;
    }
    const Element* from = x + rest * windows.xBatch + channel;
    Sum results[PIECE];
#pragma unroll
    for (int e = 0; e < PIECE; ++e) results[e] = START;
    bool isFirst = true;
    for (long long a = begin[0]; a < past[0]; ++a)
      for (long long b = begin[1]; b < past[1]; ++b)
#pragma unroll 3
        for (long long c = begin[2]; c < past[2]; ++c) {
          long long at = low[0] + a * windows.dilation[0];
          if (windows.rank > 1) at = at * windows.in[1] + low[1] + b * windows.dilation[1];
          if (windows.rank > 2) at = at * windows.in[2] + low[2] + c * windows.dilation[2];
          Element piece[PIECE];
          takePiece(piece, from + at * channels, valid, isWhole);
#pragma unroll
          for (int e = 0; e < PIECE; ++e) {
            const Sum value = (Sum)piece[e];
            Sum& result = results[e];
            STEP
          }
          isFirst = false;
        }
    Element piece[PIECE];
#pragma unroll
    for (int e = 0; e < PIECE; ++e) {
      const Sum result = results[e];
      piece[e] = (Element)(RESULT);
    }
    givePiece(y + pixel * channels + channel, piece, valid, isWhole);
  }
}
)";

// In the order of the image, or of its transpose.
constexpr const char* kIndex = R"(
static inline __device__ long long indexOf(const Windows& windows, long long base, long long pixel) {
  if (!COLUMN_MAJOR) return base + pixel;
  long long index = 0, strides[3], stride = 1;
  for (int d = 0; d < (int)windows.rank; ++d) {
    strides[d] = stride;
    stride *= windows.in[d];
  }
  for (int d = (int)windows.rank - 1; d >= 0; --d) {
    index += pixel % windows.in[d] * strides[d];
    pixel /= windows.in[d];
  }
  return base + index;
}
)";

struct PoolRow {
  std::string_view op;
  const char *start, *step, *result;
  bool takesIntegers = false;
};
constexpr PoolRow kPools[] = {
    {"MaxPool", "LEAST", "if (value > result || value != value || FIRST) result = value TAKEN;", "result", true},
    {"AveragePool", "(Sum)0", "result += value;", "seen > 0 ? result / (Sum)seen : (Sum)0"},
    {"LpPool", "(Sum)0", "result += pow(value < 0 ? -value : value, (Sum)power);", "pow(result, (Sum)1 / (Sum)power)"},
};

bool hasPieces(const Node& node) { return isChannelsLast(node) && node.output(0) && !node.output(1); }

std::string sourceFor(const PoolRow& row, const Node& node, const readers::Pool& pool) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const bool hasResult = node.output(0), hasIndices = node.output(1);
  const DType dtype = node.input(0)->type.dtype;
  const std::string outputs = concat(hasResult ? ", Element* y" : "", hasIndices ? ", long long* indices" : "");
  const std::string store = concat(hasResult ? concat("y[i] = (Element)(", row.result, ");\n") : std::string(),
                                   hasIndices ? "indices[i] = indexOf(windows, base, best);\n" : "");
  return concat(typesSource(dtype), limitsSource(dtype), windowSource(isChannelsLast(node), false),
                filledIn(kIndex, {{"COLUMN_MAJOR", flag(pool.isColumnMajor)}}),
                filledIn(kPool, {{"OUTPUTS", outputs},
                                 {"START", row.start},
                                 {"INCLUDES_PADS", flag(pool.includesPads)},
                                 {"STEP", row.step},
                                 {"STORE", store},
                                 {"FIRST", "seen == 1"},
                                 {"TAKEN", ", best = tap.pixel"}}),
                hasPieces(node)
                    ? filledIn(concat(pieceSource(), kPoolPieces), {{"OUTPUTS", outputs},
                                                                    {"START", row.start},
                                                                    {"INCLUDES_PADS", flag(pool.includesPads)},
                                                                    {"STEP", row.step},
                                                                    {"RESULT", row.result},
                                                                    {"FIRST", "isFirst"},
                                                                    {"TAKEN", ""}})
                    : std::string());
}

std::unique_ptr<OpKernel> createPool(const Placed& placed, const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  const Shape& y = request.outputs[request.outputs[0].present() ? 0 : 1].shape;
  const bool isLast = isChannelsLast(request.node);
  const auto in = imageAxes(x, isLast);
  const auto windows = readers::Pool(request.node.attributes, in.size()).windows.between(in, imageAxes(y, isLast));
  const auto power = static_cast<float>(readers::readPower(request.node.attributes));
  const bool isPieces = hasPieces(request.node);
  const int64_t channels = isLast ? x.back() : x[1];
  const int64_t piece = isPieces ? 16 / static_cast<int64_t>(sizeOf(request.inputs[0].dtype)) : 1;
  auto op = std::make_unique<LaunchOp>(placed, isPieces);
  op->addInput(0);
  for (size_t i = 0; i < request.outputs.size(); ++i)
    if (request.outputs[i].present()) op->addOutput(i);
  op->addValue(channels);
  op->addValue(power);
  op->addFirst(windowLayout(x, y, windows, isLast));
  op->coverElements(y.count() / std::max<int64_t>(channels, 1) * ((channels + piece - 1) / piece));
  return op;
}

Ref<Placed> placePool(const Node& node) {
  const auto& row = *std::ranges::find(kPools, node.op(), &PoolRow::op);
  const TensorType& x = node.input(0)->type;
  if (!x.ranked || x.rank() < 3 || x.rank() > 2 + kMostWindowAxes || !kernelType(x.dtype).element) return nullptr;
  if (!isFloat(x.dtype) && !row.takesIntegers) return nullptr;
  const readers::Pool pool(node.attributes, static_cast<size_t>(x.rank() - 2));
  if (pool.windows.taps() > kMostTaps) return nullptr;
  if (hasPieces(node)) return placedAs(sourceFor(row, node, pool), {"gpu_pool", "gpu_pool_pieces"}, createPool);
  return placedAs(sourceFor(row, node, pool), {"gpu_pool"}, createPool);
}

constexpr const char* kGlobalPool = R"(
extern "C" __global__ void gpu_global_pool(const Element* x, Element* y, long long images, long long pixels, float power) {
  __shared__ Sum shared[128];
  EACH_ROW(image, images) {
    Sum sum = START;
    for (long long i = threadIdx.x; i < pixels; i += 128) {
      const Sum value = (Sum)x[image * pixels + i];
      sum = Join::of(sum, MAP);
    }
    sum = joined<Join>(sum, shared);
    if (threadIdx.x == 0) y[image] = (Element)(FINISH);
  }
}
)";

struct GlobalRow {
  std::string_view op;
  const char *start, *join, *map, *finish;
};
constexpr GlobalRow kGlobals[] = {
    {"GlobalMaxPool", "-(Sum)INFINITY", "Largest", "value", "sum"},
    {"GlobalAveragePool", "(Sum)0", "Total", "value", "sum / (Sum)pixels"},
    {"GlobalLpPool", "(Sum)0", "Total", "pow(value < 0 ? -value : value, (Sum)power)", "pow(sum, (Sum)1 / (Sum)power)"},
};

std::unique_ptr<OpKernel> createGlobalPool(const Placed& placed, const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  return rowLaunch(placed, request, x.product(0, 2), x.product(2, x.rank()),
                   static_cast<float>(readers::readPower(request.node.attributes)));
}

Ref<Placed> placeGlobalPool(const Node& node) {
  const auto& row = *std::ranges::find(kGlobals, node.op(), &GlobalRow::op);
  const DType dtype = node.input(0)->type.dtype;
  if (!kernelType(dtype).element || !isFloat(dtype)) return nullptr;
  return placedAs(concat(typesSource(dtype), rowSource(), "typedef ", row.join, " Join;\n",
                         filledIn(kGlobalPool, {{"START", row.start}, {"MAP", row.map}, {"FINISH", row.finish}})),
                  {"gpu_global_pool"}, createGlobalPool);
}

// Of the elements that go to one place, the last one does.
constexpr const char* kUnpool = R"(
struct Layout {
  long long count, results, places, rank, sizes[16], strides[16];  // strides of the result, for an unpooled size
};
static inline __device__ long long targetOf(const Layout& layout, long long index) {
  if (index < 0 || index >= layout.places) return -1;
  long long at = 0;
  for (long long d = layout.rank - 1; d >= 0; --d) {
    at += index % layout.sizes[d] * layout.strides[d];
    index /= layout.sizes[d];
  }
  return at;
}
extern "C" __global__ void gpu_clear(const Layout layout, Element* y, unsigned long long* owners) {
  EACH(i, layout.results) {
    y[i] = Element();
    owners[i] = 0;
  }
}
extern "C" __global__ void gpu_claim_places(const Layout layout, const long long* indices, unsigned long long* owners) {
  EACH(i, layout.count) {
    const long long to = targetOf(layout, indices[i]);
    if (to >= 0) atomicMax(owners + to, (unsigned long long)i + 1);
  }
}
extern "C" __global__ void gpu_unpool(const Layout layout, const Element* x, const long long* indices,
                                      const unsigned long long* owners, Element* y) {
  EACH(i, layout.count) {
    const long long to = targetOf(layout, indices[i]);
    if (to >= 0 && owners[to] == (unsigned long long)i + 1) y[to] = x[i];
  }
}
)";

struct UnpoolLayout {
  int64_t count, results, places = 1, rank, sizes[kMaxRank] = {}, strides[kMaxRank] = {};

  explicit UnpoolLayout(const OpRequest& request)
      : count(request.inputs[0].shape.count()), results(request.outputs[0].shape.count()) {
    const Shape &x = request.inputs[0].shape, &y = request.outputs[0].shape, dense = contiguousStrides(y);
    const readers::Pool pool(request.node.attributes, static_cast<size_t>(x.rank() - 2));
    rank = x.rank();
    for (int d = 0; d < x.rank(); ++d) {
      sizes[d] = x[d];
      if (d >= 2) {
        const readers::Window& window = pool.windows.axes[static_cast<size_t>(d - 2)];
        sizes[d] = window.stride * (x[d] - 1) + window.size - window.padBegin - window.padEnd;
      }
      require(sizes[d] <= y[d], MAX_STATUS_INVALID_ARGUMENT, request.node.description(), ": output_shape ", y,
              " is smaller than the unpooled size");
      strides[d] = dense[d];
      places *= sizes[d];
    }
  }
};

std::unique_ptr<OpKernel> createUnpool(const Placed& placed, const OpRequest& request) {
  const UnpoolLayout layout(request);
  auto ops = std::make_unique<SeveralOps>(placed, static_cast<size_t>(layout.results) * sizeof(uint64_t));
  LaunchOp &clear = ops->add(1), &claim = ops->add(2), &store = ops->add(0);
  for (LaunchOp* op : {&clear, &claim, &store}) {
    op->addFirst(layout);
    op->coverElements(op == &clear ? layout.results : layout.count);
  }
  clear.addOutput(0);
  clear.addOutput(LaunchOp::kScratch);
  claim.addInput(1);
  claim.addOutput(LaunchOp::kScratch);
  for (const size_t input : {size_t{0}, size_t{1}, LaunchOp::kScratch}) store.addInput(input);
  store.addOutput(0);
  return ops;
}

Ref<Placed> placeUnpool(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isMovable(dtype)) return nullptr;
  return placedAs(movedSource(dtype) + kUnpool, {"gpu_unpool", "gpu_clear", "gpu_claim_places"}, createUnpool, 0b11);
}

constexpr PlaceRow kRows[] = {{"", "MaxPool", placePool},
                              {"", "AveragePool", placePool},
                              {"", "LpPool", placePool},
                              {kMaxDomain, "MaxPool", placePool},
                              {kMaxDomain, "AveragePool", placePool},
                              {"", "GlobalMaxPool", placeGlobalPool},
                              {"", "GlobalAveragePool", placeGlobalPool},
                              {"", "GlobalLpPool", placeGlobalPool},
                              {"", "MaxUnpool", placeUnpool}};

}  // namespace

std::span<const PlaceRow> gpuPools() { return kRows; }

}  // namespace max
