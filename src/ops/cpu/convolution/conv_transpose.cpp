// SPDX-License-Identifier: Apache-2.0
// ConvTranspose of float32: a matrix product computes what every input pixel adds to the output,
// for all taps and filters; lines of the output then gather their parts. Both steps use channels last, as the
// compiler's max.ConvTranspose does.
#include "ops/cpu/convolution/conv_transpose.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/add_lines.h"
#include "ops/cpu/convolution/channels_first.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/narrow.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kBandBytes = 3 << 20;  // of products computed before they are gathered
constexpr int64_t kFloatsPerPage = 1024;
constexpr int64_t kLinePixels = 256;       // of output pixels that one task gathers, at most
constexpr int64_t kTransposeGrain = 8192;  // elements

int64_t floatBytes(int64_t count) { return alignUp(checkedMultiply<int64_t>(sizeof(float), count)); }

// Weights [channels, filters of a group, taps..] as [channels][taps][filters].
void putFiltersLast(const float* weights, const Shape& shape, float* ordered) {
  transposeMatrices(weights, shape[0], shape[1], shape.product(2, shape.rank()), ordered);
}

// Group `group` of ordered weights; `columns`: taps and filters.
PackSource sourceOf(const float* ordered, int64_t group, int64_t depth, int64_t columns) {
  return {ordered + group * depth * columns, columns, 1, 1, depth, columns};
}

Ref<PackedWeights> packTransposed(const Tensor& weights, int64_t groups, int lanes) {
  const GemmTable& table = gemmTable();
  const Shape& shape = weights.shape();
  const int64_t depth = shape[0] / groups, columns = shape.product(1, shape.rank());
  auto packed = makeRef<PackedWeights>(table, groups, depth, columns);
  const Ref<Tensor> ordered = withFiltersLast(weights);
  for (int64_t g = 0; g < groups; ++g)
    packMatrix(table, sourceOf(ordered->as<float>(), g, depth, columns), packed->matrix(g), lanes);
  return packed;
}

Ref<PackedWeights> weightsOf(const OpRequest& request, int64_t groups) {
  auto* prepared = dynamic_cast<PackedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(gemmTable())) return Ref<PackedWeights>(prepared);
  if (!request.inputs[1].constant) return nullptr;
  return packTransposed(*request.inputs[1].constant, groups, request.lanes);
}

// A multiple of 64 bytes.
int64_t packedGroupFloats(const TransposedShape& shape) {
  return floatBytes(packedCount(gemmTable(), shape.channels / shape.groups, shape.taps() * shape.groupFilters())) / 4;
}

// The output is computed in bands along one axis: the first that is larger than 1.
struct Bands {
  size_t axis = 2;
  int64_t out, in;   // positions of the axis in a band, and input positions that these need at most
  int64_t perInput;  // input pixels for each position of the axis

  explicit Bands(const TransposedShape& geometry) {
    for (size_t i = 3; i-- > 0;)
      if (geometry.in[i] > 1 || geometry.out[i] > 1) axis = i;
    perInput = geometry.inPixels() / std::max<int64_t>(geometry.in[axis], 1);
    const int64_t columns = checkedMultiply(geometry.taps(), geometry.filters);
    const int64_t bytes = checkedMultiply<int64_t>(checkedMultiply<int64_t>(sizeof(float), columns), perInput);
    const int64_t stride = geometry.stride[axis], reach = (geometry.kernel[axis] - 1) * geometry.dilation[axis];
    const int64_t fitting = kBandBytes / std::max<int64_t>(bytes, 1) - reach / stride - 1;
    const int64_t wanted = std::max<int64_t>(fitting, 1 + reach / stride);
    out = wanted < geometry.in[axis] ? wanted * stride : std::max<int64_t>(geometry.out[axis], 1);
    in = std::min(geometry.in[axis], (out - 1 + reach) / stride + 1);
  }
};

class ConvTransposeOp final : public OpKernel {
 public:
  explicit ConvTransposeOp(const OpRequest& request)
      : isLast_(request.node.isOwn("ConvTranspose")),
        shape_(request, isLast_),
        bands_(shape_),
        columns_(shape_.taps() * shape_.filters),
        weightShape_(request.inputs[1].shape),
        packed_(weightsOf(request, shape_.groups)),
        groupStride_(packed_ ? packed_->stride() : packedGroupFloats(shape_)),
        gemm_(bands_.in * bands_.perInput, shape_.taps() * shape_.groupFilters(), 1, shape_.channels / shape_.groups,
              Epilogue(), request.lanes, groupOffsets()),
        activation_(isLast_ ? fusedActivation(request.node) : Activation()),
        hasBias_(request.has(2)),
        lanes_(std::max(request.lanes, 1)),
        imageBytes_(isLast_ ? 0 : floatBytes(checkedMultiply(shape_.inPixels(), shape_.channels))),
        productBytes_(floatBytes(checkedMultiply(bands_.in * bands_.perInput, columns_))),
        lineBytes_(isLast_ ? 0 : floatBytes(checkedMultiply(std::min(kLinePixels, shape_.out[2]), shape_.filters))),
        packedAt_(checkedAdd(checkedAdd(imageBytes_, productBytes_), checkedMultiply(lineBytes_, lanes_))),
        packedBytes_(packed_ ? 0 : bytesOfWeights()) {}

  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedAdd(packedAt_, packedBytes_)) + gemm_.scratchBytes();
  }

  void run(const OpContext& context) const override {
    if (!packed_) packWeights(context);
    for (int64_t image = 0; image < shape_.images; ++image) {
      const float* x =
          isLast_ ? context.in<float>(0) + image * shape_.inPixels() * shape_.channels : channelsLast(context, image);
      for (int64_t first = 0; first < shape_.out[bands_.axis]; first += bands_.out) runBand(context, image, x, first);
    }
  }

 private:
  // Lines of one band: its output positions, and the first input position that has products.
  struct Band {
    int64_t first, last, firstInput;
  };
  // Pixels [begin, end) of the last axis at fixed positions of the other two.
  struct Line {
    int64_t depth, row, begin, end;
  };

  WorkVector<GemmOffsets> groupOffsets() const {
    WorkVector<GemmOffsets> result(static_cast<size_t>(shape_.groups));
    for (size_t g = 0; g < result.size(); ++g) {
      const auto group = static_cast<int64_t>(g);
      result[g].a = group * (shape_.channels / shape_.groups);
      result[g].b = group * groupStride_;
      result[g].c = group * shape_.taps() * shape_.groupFilters();
    }
    return result;
  }

  // Packed, and in the order that is packed.
  int64_t bytesOfWeights() const {
    return checkedAdd(checkedMultiply<int64_t>(4, checkedMultiply(groupStride_, shape_.groups)),
                      floatBytes(weightShape_.count()));
  }

  void packWeights(const OpContext& context) const {
    auto* packed = reinterpret_cast<float*>(context.scratch + packedAt_);
    float* ordered = packed + groupStride_ * shape_.groups;
    putFiltersLast(context.in<float>(1), weightShape_, ordered);
    for (int64_t g = 0; g < shape_.groups; ++g)
      packMatrix(gemmTable(), sourceOf(ordered, g, shape_.channels / shape_.groups, columns_ / shape_.groups),
                 packed + g * groupStride_, context.lanes);
  }

  const float* channelsLast(const OpContext& context, int64_t image) const {
    const int64_t pixels = shape_.inPixels(), channels = shape_.channels, size = sizeof(float);
    const std::byte* from = context.in<std::byte>(0) + image * pixels * channels * size;
    const int64_t grain = std::max<int64_t>(16, kTransposeGrain / std::max<int64_t>(channels, 1));
    context.parallelFor(pixels, grain, [&](int64_t begin, int64_t end, int) {
      transposeTiles(size, from + begin * size, pixels * size, context.scratch + begin * channels * size,
                     channels * size, channels, end - begin);
    });
    return reinterpret_cast<const float*>(context.scratch);
  }

  void runBand(const OpContext& context, int64_t image, const float* x, int64_t first) const {
    const size_t axis = bands_.axis;
    const int64_t reach = (shape_.kernel[axis] - 1) * shape_.dilation[axis], stride = shape_.stride[axis];
    const int64_t start = std::max<int64_t>(first + shape_.before[axis] - reach, 0);
    Band band{first, std::min(first + bands_.out, shape_.out[axis]), 0};
    band.firstInput = std::min((start + stride - 1) / stride, shape_.in[axis] - bands_.in);
    auto* products = reinterpret_cast<float*>(context.scratch + imageBytes_);
    GemmOperands operands;
    operands.a = x + band.firstInput * bands_.perInput * shape_.channels;
    operands.lda = shape_.channels;
    operands.b = packed_ ? packed_->data() : reinterpret_cast<const float*>(context.scratch + packedAt_);
    operands.c = products;
    operands.ldc = columns_;
    std::byte* memory = context.scratch + imageBytes_ + productBytes_;
    gemm_.run(operands, context.scratch + packedAt_ + packedBytes_, context.lanes);
    gatherBand(context, image, band, products, memory);
  }

  void gatherBand(const OpContext& context, int64_t image, const Band& band, const float* products,
                  std::byte* memory) const {
    Spatial from{0, 0, 0}, to = shape_.out;
    from[bands_.axis] = band.first;
    to[bands_.axis] = band.last;
    const int64_t depths = to[0] - from[0], rows = to[1] - from[1], width = to[2] - from[2];
    const int64_t parts = (width + kLinePixels - 1) / kLinePixels;
    const int64_t grain = std::max<int64_t>(1, kTransposeGrain / std::max<int64_t>(width * shape_.filters, 1));
    context.parallelFor(depths * rows * parts, grain, [&](int64_t begin, int64_t end, int lane) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t start = from[2] + i % parts * kLinePixels;
        const Line line{from[0] + i / parts / rows, from[1] + i / parts % rows, start,
                        std::min(start + kLinePixels, to[2])};
        float* sums = isLast_ ? placeOf(context, image, line) : reinterpret_cast<float*>(memory + lane * lineBytes_);
        startLine(context, line, sums);
        gatherLine(line, band, products, sums);
        if (isLast_)
          applyActivation(activation_, sums, (line.end - line.begin) * shape_.filters);
        else
          storeLine(context, image, line, sums);
      }
    });
  }

  float* placeOf(const OpContext& context, int64_t image, const Line& line) const {
    const int64_t row = (image * shape_.out[0] + line.depth) * shape_.out[1] + line.row;
    return context.out<float>() + (row * shape_.out[2] + line.begin) * shape_.filters;
  }

  void startLine(const OpContext& context, const Line& line, float* sums) const {
    const int64_t filters = shape_.filters, count = line.end - line.begin;
    const float* bias = hasBias_ ? context.in<float>(2) : nullptr;
    if (!bias || filters == 1) return static_cast<void>(std::fill_n(sums, count * filters, bias ? *bias : 0.f));
    for (int64_t i = 0; i < count; ++i) std::copy_n(bias, filters, sums + i * filters);
  }

  void gatherLine(const Line& line, const Band& band, const float* products, float* sums) const {
    Spatial first{0, 0, 0};
    first[bands_.axis] = band.firstInput;
    WorkCounter work;
    for (int64_t d = 0; d < shape_.kernel[0]; ++d, work.pass(8)) {
      const int64_t depth = shape_.source(0, line.depth, d);
      for (int64_t h = 0; h < shape_.kernel[1] && depth >= 0; ++h, work.pass(8)) {
        const int64_t row = shape_.source(1, line.row, h);
        if (row < 0) continue;
        // Axes before the band's have size 1, so that the products of a band are whole rows.
        const int64_t pixel = ((depth - first[0]) * shape_.in[1] + row - first[1]) * shape_.in[2] - first[2];
        addRow(line, products + pixel * columns_, (d * shape_.kernel[1] + h) * shape_.kernel[2], sums);
      }
    }
  }

  // `row`: the products of an input row, pixel 0 first; taps from `firstTap` on are those of the last axis. Those of a
  // stride are next to each other in the products and in the output, if there are no groups or dilation.
  void addRow(const Line& line, const float* row, int64_t firstTap, float* sums) const {
    const int64_t filters = shape_.groupFilters();
    // Of a pixel; its products may be on a page of their own, which is not in any near cache.
    const int64_t steps = 4 + filters / 4 + (columns_ > kFloatsPerPage ? 32 : 0);
    const int64_t most = shape_.groups == 1 && shape_.dilation[2] == 1 ? shape_.stride[2] : 1;
    WorkCounter work;
    for (int64_t tap = 0, taps; tap < shape_.kernel[2]; tap += taps) {
      taps = std::min(most, shape_.kernel[2] - tap);
      const Pixels first = pixelsOf(line, tap), last = pixelsOf(line, tap + taps - 1);
      const Pixels all{first.begin, last.end};  // those that have all of them
      work.pass(4 + shape_.groups * (4 + std::max<int64_t>(all.end - all.begin, 0) * steps));
      addTaps(line, row, firstTap, {tap, taps}, all, sums);
      for (int64_t pixel = last.begin; pixel < std::min(all.begin, first.end); ++pixel)
        addSome(line, row, firstTap, {tap, taps}, pixel, sums);
      for (int64_t pixel = std::max({all.begin, all.end, last.begin}); pixel < first.end; ++pixel)
        addSome(line, row, firstTap, {tap, taps}, pixel, sums);
    }
  }

  struct Taps {
    int64_t first, count;
  };
  // Of a row of the input.
  struct Pixels {
    int64_t begin, end;
  };

  // Where the output of a pixel by this tap is, from its place on.
  int64_t shiftOf(int64_t tap) const { return tap * shape_.dilation[2] - shape_.before[2]; }

  // Which have this tap in a line.
  Pixels pixelsOf(const Line& line, int64_t tap) const {
    const int64_t stride = shape_.stride[2], low = line.begin - shiftOf(tap), high = line.end - 1 - shiftOf(tap);
    return {low > 0 ? (low + stride - 1) / stride : 0, high < 0 ? 0 : std::min(high / stride + 1, shape_.in[2])};
  }

  void addTaps(const Line& line, const float* row, int64_t firstTap, const Taps& taps, const Pixels& pixels,
               float* sums) const {
    if (pixels.begin >= pixels.end) return;  // there may be no products at all
    const int64_t filters = shape_.groupFilters(), perGroup = shape_.taps() * filters, stride = shape_.stride[2];
    const int64_t step = stride * shape_.filters, count = pixels.end - pixels.begin;
    for (int64_t g = 0; g < shape_.groups; ++g) {
      const float* from = row + g * perGroup + (firstTap + taps.first) * filters + pixels.begin * columns_;
      float* to = sums + g * filters + (pixels.begin * stride + shiftOf(taps.first) - line.begin) * shape_.filters;
      addRuns(to, step, from, columns_, taps.count * filters, count);
    }
  }

  // Those of a pixel's taps whose output is in the line.
  void addSome(const Line& line, const float* row, int64_t firstTap, const Taps& taps, int64_t pixel,
               float* sums) const {
    const int64_t place = pixel * shape_.stride[2] - shape_.before[2];  // of tap 0, without dilation
    const int64_t begin = std::max(taps.first, line.begin - place);
    const int64_t end = std::min(taps.first + taps.count, line.end - place);
    addTaps(line, row, firstTap, {begin, end - begin}, {pixel, pixel + 1}, sums);
  }

  // `count` runs of `floats`; the shortest in loops of a known length.
  void addRuns(float* to, int64_t toStep, const float* from, int64_t fromStep, int64_t floats, int64_t count) const {
    switch (floats) {
      case 1:
        return addShort<1>(to, toStep, from, fromStep, count);
      case 2:
        return addShort<2>(to, toStep, from, fromStep, count);
      case 3:
        return addShort<3>(to, toStep, from, fromStep, count);
      case 4:
        return addShort<4>(to, toStep, from, fromStep, count);
      case 6:
        return addShort<6>(to, toStep, from, fromStep, count);
      default:
        return lines_.add({from, fromStep, to, toStep, count, floats});
    }
  }
  template <int kFloats>
  static void addShort(float* __restrict to, int64_t toStep, const float* __restrict from, int64_t fromStep,
                       int64_t count) {
    for (int64_t i = 0; i < count; ++i, to += toStep, from += fromStep)
      for (int m = 0; m < kFloats; ++m) to[m] += from[m];
  }

  void storeLine(const OpContext& context, int64_t image, const Line& line, const float* sums) const {
    const int64_t pixels = shape_.outPixels(), filters = shape_.filters;
    const int64_t at = (line.depth * shape_.out[1] + line.row) * shape_.out[2] + line.begin;
    transposeFloats(sums, filters, context.out<float>() + image * filters * pixels + at, pixels, line.end - line.begin,
                    filters);
  }

  const LinesTable& lines_ = linesTable();
  bool isLast_;
  TransposedShape shape_;
  Bands bands_;
  int64_t columns_;
  Shape weightShape_;
  Ref<PackedWeights> packed_;  // NULL = each run packs its own
  int64_t groupStride_;        // between packed weights of groups, in floats
  Gemm gemm_;
  Activation activation_;
  bool hasBias_;
  int64_t lanes_, imageBytes_, productBytes_, lineBytes_;
  int64_t packedAt_, packedBytes_;  // in the scratch memory, after the image, products and lines
};

// Few filters for each channel's group of one: too few for a product. Positions of an output row that are a stride
// apart read neighbours of the input by the same taps, so that they are summed side by side.
class DepthwiseTransposeOp final : public OpKernel {
 public:
  explicit DepthwiseTransposeOp(const OpRequest& request) : shape_(request, false), hasBias_(request.has(2)) {
    for (size_t axis = 0; axis < 3; ++axis) taps_[axis] = tapsOf(axis);
  }

  void run(const OpContext& context) const override {
    const int64_t filters = shape_.groupFilters(), taps = shape_.taps(), rows = shape_.out[0] * shape_.out[1];
    const int64_t grain = grainOf(kTransposeGrain, {shape_.out[2], taps});
    context.parallelFor(shape_.images * shape_.filters * rows, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t plane = i / rows, filter = plane % shape_.filters;
        const Row row{context.in<float>(0) + plane / filters * shape_.inPixels(),
                      context.in<float>(1) + filter * taps,
                      hasBias_ ? context.in<float>(2)[filter] : 0.f,
                      placeOf(0, i % rows / shape_.out[1]),
                      placeOf(1, i % shape_.out[1]),
                      context.out<float>() + i * shape_.out[2]};
        for (int64_t phase = 0; phase < std::min(shape_.stride[2], shape_.out[2]); ++phase) addPhase(row, phase);
      }
    });
  }

 private:
  // Of one axis: position = place * stride + phase reads input place + offset, if there is one.
  struct Tap {
    int64_t phase, index, offset;
    bool operator<(const Tap& other) const { return phase < other.phase; }
  };
  struct Place {
    std::span<const Tap> taps;
    int64_t place;
  };
  struct Row {
    const float *x, *weights;
    float bias;
    Place depth, row;
    float* y;
  };
  // Places [first, last) of a phase, which are summed at once.
  struct Part {
    int64_t first, last;
    std::span<const Tap> taps;
  };
  static constexpr int64_t kPart = 256;

  std::vector<Tap> tapsOf(size_t axis) const {
    const int64_t stride = shape_.stride[axis];
    std::vector<Tap> taps;
    taps.reserve(static_cast<size_t>(shape_.kernel[axis]));
    WorkCounter work;
    for (int64_t index = 0; index < shape_.kernel[axis]; ++index, work.pass(4)) {
      const int64_t shift = index * shape_.dilation[axis] - shape_.before[axis];
      const int64_t phase = (shift % stride + stride) % stride;
      taps.push_back({phase, index, (phase - shift) / stride});
    }
    // With a stride of 1 they are, and millions of them take their time.
    if (!std::is_sorted(taps.begin(), taps.end())) std::stable_sort(taps.begin(), taps.end());
    return taps;
  }

  std::span<const Tap> tapsOfPhase(size_t axis, int64_t phase) const {
    const auto [begin, end] = std::equal_range(taps_[axis].begin(), taps_[axis].end(), Tap{phase, 0, 0});
    return {begin, end};
  }

  Place placeOf(size_t axis, int64_t position) const {
    return {tapsOfPhase(axis, position % shape_.stride[axis]), position / shape_.stride[axis]};
  }

  void addPhase(const Row& row, int64_t phase) const {
    const int64_t stride = shape_.stride[2], count = (shape_.out[2] - phase + stride - 1) / stride;
    float sums[kPart];
    for (int64_t first = 0; first < count; first += kPart) {
      const Part part{first, std::min(first + kPart, count), tapsOfPhase(2, phase)};
      std::fill_n(sums, part.last - first, row.bias);
      addRows(row, part, sums);
      float* y = row.y + phase + first * stride;
      for (int64_t i = 0; i < part.last - first; ++i) y[i * stride] = sums[i];
    }
  }

  void addRows(const Row& row, const Part& part, float* sums) const {
    WorkCounter work;
    for (const Tap& d : row.depth.taps) {
      const int64_t depth = row.depth.place + d.offset;
      if (work.pass(8); depth < 0 || depth >= shape_.in[0]) continue;
      for (const Tap& h : row.row.taps) {
        const int64_t from = row.row.place + h.offset;
        if (work.pass(8); from < 0 || from >= shape_.in[1]) continue;
        const float* weights = row.weights + (d.index * shape_.kernel[1] + h.index) * shape_.kernel[2];
        addTaps(row.x + (depth * shape_.in[1] + from) * shape_.in[2], weights, part, sums);
      }
    }
  }

  void addTaps(const float* x, const float* weights, const Part& part, float* sums) const {
    WorkCounter work;
    for (const Tap& tap : part.taps) {
      const int64_t begin = std::max(part.first, -tap.offset), end = std::min(part.last, shape_.in[2] - tap.offset);
      addScaled(x + begin + tap.offset, weights[tap.index], end - begin, sums + begin - part.first);
      work.pass(8 + std::max<int64_t>(end - begin, 0) / 4);
    }
  }

  static void addScaled(const float* __restrict x, float weight, int64_t count, float* __restrict sums) {
    for (int64_t i = 0; i < count; ++i) sums[i] += weight * x[i];
  }

  TransposedShape shape_;
  bool hasBias_;
  std::vector<Tap> taps_[3];  // by phase
};

bool isDepthwiseTransposed(const Shape& weights, int64_t groups) {
  constexpr int64_t kMostFilters = 4;
  return weights[0] == groups && weights[1] <= kMostFilters;
}

// Prepared weights must be accepted: the original ones may have been released.
bool isSupported(DType dtype, const Shape& weights) {
  return dtype == DType::Float32 && weights.rank() >= 3 && weights.rank() <= 5 && weights.count() > 0;
}

bool isDepthwise(const OpRequest& request) {
  return !request.node.isOwn("ConvTranspose") &&
         isDepthwiseTransposed(request.inputs[1].shape, readers::readGroups(request.node.attributes));
}

bool accepts(const OpRequest& request) {
  for (const Operand& input : request.inputs)
    if (input.present() && input.dtype != DType::Float32) return false;
  return isSupported(request.inputs[1].dtype, request.inputs[1].shape);
}

bool acceptsLast(const OpRequest& request) {
  return accepts(request) && areFloats(request) && (request.inputs[1].constant || request.node.prepared);
}

// Prepared weights are for one of the three.
bool acceptsRows(const OpRequest& request) {
  return acceptsLast(request) && hasDisjointTaps(request.node.attributes, request.inputs[1].shape);
}
bool acceptsPhases(const OpRequest& request) {
  return acceptsLast(request) && !acceptsRows(request) && takesPhases(request.node, request.inputs[1].shape);
}
bool acceptsGather(const OpRequest& request) {
  return acceptsLast(request) && !acceptsRows(request) && !acceptsPhases(request);
}

NarrowOperands narrowOperands(const Node& node) {
  const auto* packed = dynamic_cast<const PackedWeights*>(node.prepared.get());
  const bool isOfWords = packed && mayBeNarrow(node) && packed->fits(gemmTableFor(node));
  return isOfWords ? narrowProduct(node.inputs[1]->constant->shape()[0]) : NarrowOperands{};
}

bool acceptsWords(const OpRequest& request) {
  const Shape& weights = request.inputs[1].shape;
  return packsWords(request) && isSupported(request.inputs[1].dtype, weights) &&
         areFloats(request, narrowProduct(weights[0])) && hasDisjointTaps(request.node.attributes, weights);
}

std::unique_ptr<OpKernel> createFloatRows(const OpRequest& request) { return createDisjointTaps(request, gemmTable()); }
std::unique_ptr<OpKernel> createWordRows(const OpRequest& request) {
  return createDisjointTaps(request, gemmTableFor(request.node));
}

std::unique_ptr<OpKernel> create(const OpRequest& request) {
  if (isDepthwise(request)) return std::make_unique<DepthwiseTransposeOp>(request);
  return std::make_unique<ConvTransposeOp>(request);
}

// Constant weights that are packed; NULL if there are none.
const Tensor* packedWeights(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor* weights = constants.size() > 1 ? constants[1] : nullptr;
  if (!weights || !isSupported(weights->dtype(), weights->shape())) return nullptr;
  const bool isOwn = node.isOwn("ConvTranspose");
  return isOwn || !isDepthwiseTransposed(weights->shape(), readers::readGroups(node.attributes)) ? weights : nullptr;
}

Ref<Prepared> prepare(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor* weights = packedWeights(node, constants);
  if (!weights) return nullptr;
  if (node.isOwn("ConvTranspose") && hasDisjointTaps(node.attributes, weights->shape()))
    return prepareDisjointTaps(node, *weights);
  if (takesPhases(node, weights->shape())) return preparePhases(node, *weights);
  return packTransposed(*weights, readers::readGroups(node.attributes), defaultLanes());
}

bool acceptsPhasesOfCall(const OpRequest& request) { return accepts(request) && takesPhasesOfCall(request); }
std::unique_ptr<OpKernel> createPhasesOfCall(const OpRequest& request) {
  return createChannelsFirst(request, createPhases);
}

constexpr Implementation kConvTranspose[] = {{"phases_f32", acceptsPhasesOfCall, createPhasesOfCall},
                                             {"gather_f32", accepts, create}};
constexpr Implementation kLast[] = {{"rows_bf16", acceptsWords, createWordRows},
                                    {"rows_f32", acceptsRows, createFloatRows},
                                    {"phases_f32", acceptsPhases, createPhases},
                                    {"gather_f32", acceptsGather, create}};
const OpRow kRows[] = {{"", "ConvTranspose", kConvTranspose, prepare},
                       {kMaxDomain, "ConvTranspose", kLast, prepare, nullptr, narrowOperands}};

}  // namespace

TransposedShape::TransposedShape(const OpRequest& request, bool isLast) {
  const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &y = request.outputs[0].shape;
  images = x[0];
  channels = isLast ? x.back() : x[1];
  filters = isLast ? y.back() : y[1];
  groups = readers::readGroups(request.node.attributes);
  const readers::Transposed reader(request.node.attributes, w.dims().subspan(2));
  const auto rank = static_cast<size_t>(x.rank() - 2);
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = 3 - rank + i;
    const int at = static_cast<int>(i) + (isLast ? 1 : 2);
    const readers::Window& window = reader.windows.axes[i];
    in[axis] = x[at];
    out[axis] = y[at];
    kernel[axis] = window.size;
    stride[axis] = window.stride;
    dilation[axis] = window.dilation;
    before[axis] = reader.padBegin(i, in[axis], out[axis]);
  }
}

std::optional<PackedForm> transposedForm(const Node& node, std::span<const Tensor* const> constants) {
  const bool isOwn = node.isOwn("ConvTranspose");
  const Tensor* weights = isOwn || node.is("ConvTranspose") ? packedWeights(node, constants) : nullptr;
  if (!weights) return std::nullopt;
  const Shape& shape = weights->shape();
  const int64_t groups = readers::readGroups(node.attributes), taps = shape.product(2, shape.rank());
  const int64_t filters = shape[1], width = shape.back();
  if (isOwn && hasDisjointTaps(node.attributes, shape))
    return PackedForm{"transposed rows", gemmTableFor(node), taps / width, shape[0], width * filters, 0, {filters}};
  if (takesPhases(node, shape)) return std::nullopt;
  return PackedForm{"transposed", gemmTable(), groups, shape[0] / groups, taps * filters, 0, {filters}};
}

Ref<Tensor> withFiltersLast(const Tensor& weights) {
  const Shape& shape = weights.shape();
  Ref<Tensor> ordered = Tensor::allocate(DType::Float32, {shape[0], shape.product(2, shape.rank()), shape[1]});
  putFiltersLast(weights.as<float>(), shape, static_cast<float*>(ordered->mutableData()));
  return ordered;
}

std::span<const OpRow> convTransposeOps() { return kRows; }

}  // namespace max
