// SPDX-License-Identifier: Apache-2.0
// max.Conv of float32: a matrix product over output pixels, whose rows of A are
// the input pixels that each kernel tap sees.
#include "ops/cpu/convolution/conv.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/matrix.h"
#include "graph/readers/windows.h"
#include "ops/cpu/convolution/channels_first.h"
#include "ops/cpu/convolution/conv_few.h"
#include "ops/cpu/convolution/conv_grouped.h"
#include "ops/cpu/convolution/conv_multiplied.h"
#include "ops/cpu/convolution/conv_stem.h"
#include "ops/cpu/convolution/conv_windows.h"
#include "ops/cpu/convolution/winograd.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/narrow.h"

namespace max {

namespace {

// With fewer channels than this, the taps of one kernel row are one longer tap.
constexpr int64_t kChannelsWorthATap = 16;

bool canMergeTaps(const ConvShape& shape) {
  return shape.groups == 1 && shape.dilation[2] == 1 && shape.kernel[2] > 1 &&
         (!shape.isPadded() || shape.channels < kChannelsWorthATap);
}

PackSource filterSource(const float* weights, const Shape& shape, int64_t groups, int64_t group) {
  const int64_t filters = shape[0] / groups, depth = shape[1], taps = shape.product(2, shape.rank());
  return {weights + group * filters * depth * taps, 1, depth * taps, taps, depth, filters};
}

// Whether the taps of a kernel row follow each other, so that a copy with borders has them in a row.
bool joinsRows(const Attributes& attributes, const Shape& weights) {
  const readers::Window last = readers::readWindows(attributes, weights.dims().subspan(2)).axes.back();
  return last.size > 1 && last.dilation == 1;
}

// Whether a product of words reads a copy of the input, whose few channels are an even number.
bool copiesWords(const GemmTable& table, const Attributes& attributes, const Shape& weights) {
  if (!table.takesNarrow() || weights[1] >= kChannelsWorthATap || readers::readGroups(attributes) != 1) return false;
  return joinsRows(attributes, weights);
}

// With a channel of zeros more, if their number is odd.
Ref<const Tensor> withPairs(const Tensor& weights) {
  const Shape& shape = weights.shape();
  if (shape[1] % 2 == 0) return Ref<const Tensor>(&weights);
  Shape even = shape;
  ++even[1];
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, even);
  const int64_t from = shape.product(1, shape.rank()), to = even.product(1, even.rank());
  auto* values = static_cast<float*>(result->mutableData());
  for (int64_t filter = 0; filter < shape[0]; ++filter, values += to) {
    std::copy_n(weights.as<float>() + filter * from, from, values);
    std::fill(values + from, values + to, 0.f);
  }
  return result;
}

// Whether a product of words reads an odd number of channels, without any that is added.
bool readsHalves(const GemmTable& table, const Attributes& attributes, const Shape& weights) {
  return table.takesHalves && weights[1] % 2 != 0 && readers::readGroups(attributes) == 1;
}

// Of a packed filter.
int64_t packedRows(const GemmTable& table, const Attributes& attributes, const Shape& weights) {
  const int64_t channels = weights[1], width = weights.back(), taps = weights.product(2, weights.rank());
  if (readsHalves(table, attributes, weights) && joinsRows(attributes, weights))
    return checkedMultiply(taps / width, alignUp(checkedMultiply(channels, width), 2));
  const bool isEven = readsHalves(table, attributes, weights) || copiesWords(table, attributes, weights);
  return checkedMultiply(isEven ? alignUp(channels, 2) : channels, taps);
}

// Each kernel row as taps of one channel, with zero at the end if their number is odd.
Ref<const Tensor> withEvenRows(const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int last = shape.rank() - 1;
  const int64_t channels = shape[1], rows = shape.product(2, last), width = shape[last];
  Shape joined = shape;
  joined[1] = 1;
  joined[last] = alignUp(channels * width, 2);
  const Ref<Tensor> result = Tensor::allocate(DType::Float32, joined);
  auto* to = static_cast<float*>(result->mutableData());
  std::fill_n(to, result->count(), 0.f);
  const float* from = weights.as<float>();
  for (int64_t filter = 0; filter < shape[0]; ++filter, from += channels * rows * width)
    for (int64_t row = 0; row < rows; ++row, to += joined[last])
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < channels; ++c) to[x * channels + c] = from[(c * rows + row) * width + x];
  return result;
}

Ref<const Tensor> filtersInWords(const GemmTable& table, const Attributes& attributes, const Tensor& weights) {
  const bool areOdd = readsHalves(table, attributes, weights.shape());
  if (areOdd && joinsRows(attributes, weights.shape())) return withEvenRows(weights);
  if (areOdd || copiesWords(table, attributes, weights.shape())) return withPairs(weights);
  return Ref<const Tensor>(&weights);
}

Ref<PackedWeights> packFilters(const GemmTable& table, const Attributes& attributes, const Tensor& source,
                               int64_t groups, int lanes) {
  const Ref<const Tensor> filters = filtersInWords(table, attributes, source);
  const Tensor& weights = *filters;
  const Shape& shape = weights.shape();
  auto packed = makeRef<PackedWeights>(table, groups, shape.product(1, shape.rank()), shape[0] / groups);
  for (int64_t g = 0; g < groups; ++g)
    packMatrix(table, filterSource(weights.as<float>(), shape, groups, g), packed->matrix(g), lanes);
  return packed;
}

// Pixels of bfloat16 as words of two.
ConvShape inWords(ConvShape shape) {
  shape.channels = (shape.channels + 1) / 2;
  return shape;
}

// The same as bytes.
ConvShape inBytes(ConvShape shape) {
  shape.channels *= 2;
  return shape;
}

void fillWordRows(const void* source, int64_t first, int64_t count, int tileRows, const float** table) {
  ConvRows<uint8_t>::fill(source, first, count, tileRows, reinterpret_cast<const uint8_t**>(table));
}

class ConvOp : public OpKernel {
 public:
  ConvOp(const OpRequest& request, const ConvShape& shape, const GemmTable& table);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return static_cast<size_t>(gemmAt_) + gemm_.scratchBytes(); }
  bool takesPitch(OperandPlace place) const override;
  void setPitch(OperandPlace place, size_t bytes) override;

 private:
  WorkVector<GemmOffsets> groupOffsets() const;
  const float* packedWeights(const OpContext& context) const;
  const float* paddedInput(const OpContext& context) const;
  void padRow(const float* x, int64_t row, std::byte* padded) const;
  void findSource(GemmOperands& operands) const;
  int64_t pixelBytes() const { return shape_.channels * (readsHalves_ ? 1 : 4); }

  bool readsNarrow_, addsNarrow_, writesNarrow_;  // bfloat16
  bool readsHalves_, copiesWords_;
  int64_t channels_;
  ConvShape shape_;                          // of input pixels, whose channels may be words of two, or bytes
  int64_t inStep_, outStep_, residualStep_;  // from one pixel to the next
  bool merges_;                              // taps of a kernel row are one
  ConvShape inside_;                         // the shape whose rows the product reads
  ConvRows<float> rows_;
  std::optional<ConvRows<uint8_t>> halves_;  // instead, where pixels are no whole words
  Shape weightShape_;
  Ref<PackedWeights> packed_;  // NULL = each run packs its own
  int64_t groupStride_;        // stride between packed weights of groups, in floats
  Gemm gemm_;
  bool hasBias_, hasResidual_;
  std::vector<float> zeros_;
  int64_t packedAt_;  // in the scratch memory, after the padded input
  int64_t gemmAt_;    // after both
};

Ref<PackedWeights> weightsOf(const OpRequest& request, const ConvShape& shape, const GemmTable& table) {
  auto* prepared = dynamic_cast<PackedWeights*>(request.node.prepared.get());
  if (prepared && prepared->fits(table)) return Ref<PackedWeights>(prepared);
  if (!request.inputs[1].constant) return nullptr;
  return packFilters(table, request.node.attributes, *request.inputs[1].constant, shape.groups, request.lanes);
}

// A multiple of 64 bytes.
int64_t packedGroupFloats(const GemmTable& table, const Shape& weights, int64_t groups) {
  return alignUp(4 * packedCount(table, weights.product(1, weights.rank()), weights[0] / groups)) / 4;
}

Epilogue epilogueOf(const Node& node) { return {1, fusedActivation(node), readers::addsResidualLast(node.attributes)}; }

ConvOp::ConvOp(const OpRequest& request, const ConvShape& shape, const GemmTable& table)
    : readsNarrow_(isNarrow(request.inputs[0])),
      addsNarrow_(request.has(3) && isNarrow(request.inputs[3])),
      writesNarrow_(isNarrow(request.outputs[0])),
      readsHalves_(readsHalves(table, request.node.attributes, request.inputs[1].shape) &&
                   (readsNarrow_ || !shape.isPointwise())),
      copiesWords_(!readsNarrow_ &&
                   (readsHalves_ || copiesWords(table, request.node.attributes, request.inputs[1].shape))),
      channels_(shape.channels),
      shape_(readsHalves_                   ? inBytes(shape)
             : readsNarrow_ || copiesWords_ ? inWords(shape)
                                            : shape),
      inStep_(shape_.channels),
      outStep_(shape.filters),
      residualStep_(shape.filters),
      merges_(readsHalves_ ? joinsRows(request.node.attributes, request.inputs[1].shape) : canMergeTaps(shape)),
      inside_(merges_ ? withBorders(shape_) : shape_),
      rows_(merges_ ? asRowTaps(inside_) : inside_),
      weightShape_(request.inputs[1].shape),
      packed_(weightsOf(request, shape, table)),
      groupStride_(packed_ ? packed_->stride() : packedGroupFloats(table, weightShape_, shape.groups)),
      gemm_(shape.images * shape.pixels(), shape.groupFilters(),
            merges_ ? shape.taps() / shape.kernel[2] : shape.taps(),
            merges_ ? (channels_ + (copiesWords_ && !readsHalves_ && channels_ % 2)) * shape.kernel[2]
                    : shape.groupChannels(),
            epilogueOf(request.node), request.lanes, groupOffsets(), PartialSums::Float32,
            {table, readsNarrow_ || copiesWords_, writesNarrow_}),
      hasBias_(request.has(2)),
      hasResidual_(request.has(3)),
      zeros_(shape.isPadded() && !merges_ ? static_cast<size_t>(shape_.channels) : 0) {
  if (readsHalves_) halves_.emplace(merges_ ? asRowTaps(inside_) : inside_);
  const bool copies = copiesWords_ || (merges_ && shape_.isPadded());
  const int64_t pixels = checkedMultiply(checkedMultiply(inside_.in[0], inside_.in[1]), inside_.in[2]);
  const int64_t floats = checkedMultiply(checkedMultiply(shape.images, pixels), shape_.channels);
  packedAt_ = copies ? alignUp(readsHalves_ ? floats : checkedMultiply<int64_t>(4, floats)) : 0;
  const int64_t packedFloats = packed_ ? 0 : checkedMultiply(groupStride_, shape.groups);
  gemmAt_ = checkedAdd(packedAt_, checkedMultiply<int64_t>(4, packedFloats));
}

// Pixels that are copied first, or whose taps are joined, follow each other.
bool ConvOp::takesPitch(OperandPlace place) const {
  if (place.side == OperandPlace::Output || place.number == 3) return true;
  return place.number == 0 && !readsNarrow_ && !copiesWords_ && !merges_;
}

void ConvOp::setPitch(OperandPlace place, size_t bytes) {
  const auto elements = [&](bool isNarrow) { return static_cast<int64_t>(bytes / (isNarrow ? 2 : 4)); };
  if (place.side == OperandPlace::Output) {
    outStep_ = elements(writesNarrow_);
  } else if (place.number == 3) {
    residualStep_ = elements(addsNarrow_);
  } else {
    inStep_ = elements(false);
    rows_ = ConvRows<float>(inside_, inStep_);
  }
}

WorkVector<GemmOffsets> ConvOp::groupOffsets() const {
  WorkVector<GemmOffsets> result(static_cast<size_t>(shape_.groups));
  for (size_t g = 0; g < result.size(); ++g) {
    const int64_t group = static_cast<int64_t>(g);
    result[g].a = group * shape_.groupChannels();
    result[g].b = group * groupStride_;
    result[g].c = result[g].bias = result[g].residual = group * shape_.groupFilters();
  }
  return result;
}

void ConvOp::run(const OpContext& context) const {
  const ConvRows<float>::Source source{&rows_, paddedInput(context), zeros_.data()};
  GemmOperands operands;
  operands.a = source.x;
  operands.lda = inStep_;
  const ConvRows<uint8_t>::Source halves{halves_ ? &*halves_ : nullptr, reinterpret_cast<const uint8_t*>(source.x),
                                         reinterpret_cast<const uint8_t*>(zeros_.data())};
  if (readsHalves_ || !shape_.isPointwise()) {
    operands.rowFunction = readsHalves_ ? fillWordRows : ConvRows<float>::fill;
    operands.rowSource = readsHalves_ ? static_cast<const void*>(&halves) : &source;
    operands.zeroRow = zeros_.empty() ? nullptr : zeros_.data();
    findSource(operands);
  }
  operands.b = packed_ ? packed_->data() : packedWeights(context);
  if (writesNarrow_)
    operands.narrowC = context.out<uint16_t>();
  else
    operands.c = context.out<float>();
  operands.ldc = outStep_;
  operands.ldr = residualStep_;
  operands.bias = hasBias_ ? context.in<float>(2) : nullptr;
  if (addsNarrow_)
    operands.narrowResidual = context.in<uint16_t>(3);
  else
    operands.residual = hasResidual_ ? context.in<float>(3) : nullptr;
  gemm_.run(operands, context.scratch + gemmAt_, context.lanes);
}

// Rows of output pixels read as many rows of the input, one after the other, and some before they would be next.
void ConvOp::findSource(GemmOperands& operands) const {
  if (readsHalves_) return;
  const ConvShape& shape = inside_;
  const int64_t pixels[] = {shape.in[1] * shape.in[2], shape.in[2], 1};
  int64_t lead = shape.in[2] * shape.stride[1];
  for (size_t i = 0; i < 3; ++i) lead += ((shape.kernel[i] - 1) * shape.dilation[i] - shape.before[i]) * pixels[i];
  operands.sourceFloats = shape.images * shape.in[0] * pixels[0] * inStep_;
  operands.sourceLead = lead * inStep_;
}

const float* ConvOp::packedWeights(const OpContext& context) const {
  auto* packed = reinterpret_cast<float*>(context.scratch + packedAt_);
  for (int64_t g = 0; g < shape_.groups; ++g)
    packMatrix(gemm_.table(), filterSource(context.in<float>(1), weightShape_, shape_.groups, g),
               packed + g * groupStride_, context.lanes);
  return packed;
}

const float* ConvOp::paddedInput(const OpContext& context) const {
  const float* x = context.in<float>(0);
  if (packedAt_ == 0) return x;
  const int64_t rows = shape_.images * inside_.in[0] * inside_.in[1];
  const int64_t grain = std::max<int64_t>(1, (128 << 10) / std::max<int64_t>(1, inside_.in[2] * pixelBytes()));
  context.parallelFor(rows, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) padRow(x, row, context.scratch);
  });
  return reinterpret_cast<const float*>(context.scratch);
}

void ConvOp::padRow(const float* x, int64_t row, std::byte* padded) const {
  const auto border = [&](size_t i) { return shape_.before[i] - inside_.before[i]; };
  const int64_t pixel = pixelBytes(), h = row % inside_.in[1] - border(1);
  const int64_t d = row / inside_.in[1] % inside_.in[0] - border(0), image = row / inside_.in[1] / inside_.in[0];
  std::byte* to = padded + row * inside_.in[2] * pixel;
  if (h < 0 || h >= shape_.in[1] || d < 0 || d >= shape_.in[0]) {
    fillParts(to, inside_.in[2] * pixel, std::byte{0});
    return;
  }
  const int64_t width = shape_.in[2], sourceRow = (image * shape_.in[0] + d) * shape_.in[1] + h;
  const int64_t rowBytes = width * (copiesWords_ ? 4 * channels_ : pixel);
  const std::byte* from = reinterpret_cast<const std::byte*>(x) + sourceRow * rowBytes;
  const auto* floats = reinterpret_cast<const float*>(from);
  to = std::fill_n(to, border(2) * pixel, std::byte{0});
  if (!copiesWords_)
    copyBytes(to, from, static_cast<size_t>(rowBytes));
  else if (readsHalves_)
    gemm_.table().narrow(floats, width * channels_, reinterpret_cast<uint16_t*>(to));
  else
    gemm_.table().spread(floats, width, channels_, reinterpret_cast<uint16_t*>(to));
  std::fill_n(to + width * pixel, (shape_.after[2] - inside_.after[2]) * pixel, std::byte{0});
}

bool acceptsShapes(const OpRequest& request) {
  const int rank = request.inputs[0].shape.rank() - 2;
  if (rank < 1 || rank > 3) return false;
  const bool isByChannel = isDepthwise(request.inputs[1].shape, readers::readGroups(request.node.attributes));
  return !isByChannel || !readers::addsResidualLast(request.node.attributes);
}

// Of Winograd's and of depthwise convolutions.
NarrowOperands narrowFloats(const Node& node, const Shape& weights) {
  if (!mayBeNarrow(node)) return {};
  if (hasWinogradWeights(node)) return {operandBit(0) | operandBit(3), operandBit(0)};
  const bool isByChannel = dynamic_cast<const DepthwiseWeights*>(node.prepared.get());
  if (!isByChannel) return {};
  return {depthwiseTakesNarrow(node, weights) ? operandBit(0) : 0, operandBit(0)};
}

bool acceptsConv(const OpRequest& request) {
  return areFloats(request, narrowFloats(request.node, request.inputs[1].shape)) && acceptsShapes(request);
}

std::unique_ptr<OpKernel> createConv(const OpRequest& request) {
  const ConvShape shape(request.node, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  if (isDepthwise(request.inputs[1].shape, shape.groups)) return createDepthwise(request, shape);
  if (std::unique_ptr<OpKernel> winograd = createWinograd(request, shape)) return winograd;
  return std::make_unique<ConvOp>(request, shape, gemmTable());
}

NarrowOperands narrowPixels(const Node& node, const Shape& weights, double readers = 1) {
  NarrowOperands result = narrowProduct(weights[1], readers);
  if (readsHalves(gemmTableFor(node), node.attributes, weights)) result.inputs |= operandBit(0);
  return result;
}

// Whether filters of the call are rounded, too: many pixels share what is packed of them. Their channels are whole
// words.
bool roundsFilters(const OpRequest& request) {
  constexpr int64_t kFewestPixels = 48, kFewestFilters = 16;
  const Shape& weights = request.inputs[1].shape;
  if (!mayBeNarrow(request.node) || request.inputs[1].constant || request.node.prepared) return false;
  if (weights[1] % 2 != 0 || weights[1] < kChannelsWorthATap) return false;
  const int64_t filters = weights[0] / readers::readGroups(request.node.attributes);
  return filters >= kFewestFilters && request.outputs[0].shape.count() >= kFewestPixels * weights[0];
}

bool acceptsWordsConv(const OpRequest& request) {
  if (!areFloats(request, narrowPixels(request.node, request.inputs[1].shape)) || !acceptsShapes(request)) return false;
  return (packsWords(request) || roundsFilters(request)) && !hasWinogradWeights(request.node) &&
         !isDepthwise(request.inputs[1].shape, readers::readGroups(request.node.attributes));
}

// Windows that contain a pixel, on average. Those of few channels, or of an odd number, are copied first.
double windowsPerPixel(const Node& node, const Shape& weights) {
  const GemmTable& table = gemmTableFor(node);
  if (copiesWords(table, node.attributes, weights) || readsHalves(table, node.attributes, weights)) return 1;
  double windows = 1;
  for (const readers::Window& axis : readers::readWindows(node.attributes, weights.dims().subspan(2)).axes)
    windows *= static_cast<double>(axis.size) / static_cast<double>(axis.stride);
  return windows;
}

NarrowOperands narrowOperands(const Node& node) {
  if (!mayBeNarrow(node)) return {};
  if (!node.prepared) return {};
  if (dynamic_cast<const StemWeights*>(node.prepared.get())) return narrowStem(node);
  if (dynamic_cast<const WindowWeights*>(node.prepared.get())) return narrowWindows(node.inputs[1]->constant->shape());
  if (dynamic_cast<const GroupedWeights*>(node.prepared.get())) return narrowGroups(node);
  const Shape& weights = node.inputs[1]->constant->shape();
  return dynamic_cast<const PackedWeights*>(node.prepared.get())
             ? narrowPixels(node, weights, windowsPerPixel(node, weights))
             : narrowFloats(node, weights);
}

std::unique_ptr<OpKernel> createWordsConv(const OpRequest& request) {
  const ConvShape shape(request.node, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape);
  return std::make_unique<ConvOp>(request, shape, gemmTableFor(request.node));
}

bool hasPlainPadding(const Node& node, const Shape& weights) {
  return !readers::readWindows(node.attributes, weights.dims().subspan(2)).isSame();
}

template <bool (*acceptsInner)(const OpRequest& request)>
bool acceptsChannelsFirst(const OpRequest& request) {
  return areFloats(request) && acceptsInner(request) && request.inputs[1].shape.count() > 0 &&
         hasPlainPadding(request.node, request.inputs[1].shape);
}

template <CreateKernel createInner>
std::unique_ptr<OpKernel> createChannelsFirst(const OpRequest& request) {
  return max::createChannelsFirst(request, createInner, createInner == createWordsConv && roundsFilters(request));
}

// Constant filters that can be packed; NULL if there are none.
const Tensor* filtersOf(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor* weights = constants.size() > 1 ? constants[1] : nullptr;
  if (!weights || weights->dtype() != DType::Float32) return nullptr;
  if (weights->shape().rank() < 3 || weights->shape().rank() > 5 || weights->count() == 0) return nullptr;
  return hasPlainPadding(node, weights->shape()) ? weights : nullptr;
}

bool isFew(const Node& node, const Tensor& weights) {
  return node.isOwn("Conv") && hasFewFilters(node, weights.shape());
}

const GroupedTable* groupedTable(const Node& node, const Tensor& weights) {
  if (!node.isOwn("Conv") || winogradSide(node, weights) != 0) return nullptr;
  return groupedTableFor(node, weights.shape());
}

// Not those of depthwise convolutions.
std::optional<PackedForm> formOf(const Node& node, const Tensor& weights) {
  const Shape& shape = weights.shape();
  const int64_t groups = readers::readGroups(node.attributes), filters = shape[0] / groups;
  const GemmTable& table = gemmTableFor(node);
  const int64_t rows = packedRows(table, node.attributes, shape);
  if (isMostlyPadding(table, groups, rows, filters)) return std::nullopt;
  if (const int side = winogradSide(node, weights)) return winogradForm(weights, side);
  return PackedForm{"filters", table, groups, rows, filters, 0, {shape[1]}};
}

Ref<Prepared> prepareFilters(const Node& node, std::span<const Tensor* const> constants) {
  const Tensor* weights = filtersOf(node, constants);
  if (!weights) return nullptr;
  const int64_t groups = readers::readGroups(node.attributes);
  if (isDepthwise(weights->shape(), groups)) return prepareDepthwise(node, *weights);
  if (isStem(node, *weights)) return prepareStem(node, *weights);
  if (hasWindows(node, *weights)) return makeRef<WindowWeights>(node, *weights);
  if (isFew(node, *weights)) return makeRef<FewWeights>(*weights);
  if (const GroupedTable* table = groupedTable(node, *weights)) return makeRef<GroupedWeights>(*table, *weights);
  const std::optional<PackedForm> form = formOf(node, *weights);
  if (!form) return nullptr;
  if (form->winogradSide != 0) return winogradWeights(*weights, form->winogradSide);
  return packFilters(form->table, node.attributes, *weights, groups, defaultLanes());
}

constexpr Implementation kConv[] = {{"stem_f32", acceptsStem, createStem},
                                    {"stem_bf16", acceptsStemWords, createStem},
                                    {"windows_bf16", acceptsWindows, createWindows},
                                    {"grouped_bf16", acceptsGroupedWords, createGrouped},
                                    {"grouped_f32", acceptsGrouped, createGrouped},
                                    {"few_f32", acceptsFew, createFew},
                                    {"conv_bf16", acceptsWordsConv, createWordsConv},
                                    {"conv_f32", acceptsConv, createConv}};
constexpr Implementation kChannelsFirst[] = {
    {"grouped_f32", acceptsChannelsFirst<acceptsGrouped>, createChannelsFirst<createGrouped>},
    {"few_f32", acceptsChannelsFirst<acceptsFew>, createChannelsFirst<createFew>},
    {"multiplied_f32", acceptsChannelsFirst<acceptsMultiplied>, createMultiplied},
    {"conv_bf16", acceptsChannelsFirst<acceptsWordsConv>, createChannelsFirst<createWordsConv>},
    {"conv_f32", acceptsChannelsFirst<acceptsConv>, createChannelsFirst<createConv>}};
const OpRow kRows[] = {{kMaxDomain, "Conv", kConv, prepareFilters, nullptr, narrowOperands},
                       {"", "Conv", kChannelsFirst, prepareFilters}};

}  // namespace

std::optional<PackedForm> filterForm(const Node& node, std::span<const Tensor* const> constants) {
  const bool isConv = node.isOwn("Conv") || node.is("Conv");
  const Tensor* weights = isConv ? filtersOf(node, constants) : nullptr;
  if (!weights || isDepthwise(weights->shape(), readers::readGroups(node.attributes))) return std::nullopt;
  if (isStem(node, *weights) || hasWindows(node, *weights)) return std::nullopt;
  if (isFew(node, *weights) || groupedTable(node, *weights)) return std::nullopt;
  return formOf(node, *weights);
}

template <class T>
ConvRows<T>::ConvRows(const ConvShape& shape, int64_t pixelStep) : shape_(shape) {
  steps_ = {shape.in[1] * shape.in[2] * pixelStep, shape.in[2] * pixelStep, pixelStep};
  WorkCounter work;
  for (int64_t d = 0; d < shape.kernel[0]; ++d)
    for (int64_t h = 0; h < shape.kernel[1]; ++h)
      for (int64_t w = 0; w < shape.kernel[2]; ++w, work.pass(4))
        offsets_.push_back(d * shape.dilation[0] * steps_[0] + h * shape.dilation[1] * steps_[1] +
                           w * shape.dilation[2] * steps_[2]);
}

// Short of a division, which takes longer than a tile's pointers, for the axes that signals and single images lack.
static int64_t divide(int64_t value, int64_t by, int64_t& remainder) {
  const int64_t quotient = by == 1 ? value : value < by ? 0 : value / by;
  remainder = value - quotient * by;
  return quotient;
}

template <class T>
void ConvRows<T>::fill(const void* source, int64_t first, int64_t count, int tileRows, const T** table) {
  const auto& from = *static_cast<const Source*>(source);
  const Spatial& out = from.rows->shape_.out;
  Spatial at;
  int64_t image = first;
  for (size_t i = 3; i-- > 0;) image = divide(image, out[i], at[i]);
  if (from.rows->hasManyTaps()) passWork(count * static_cast<int64_t>(from.rows->offsets_.size()));
  const ConvRows& rows = *from.rows;
  for (int64_t i = 0; i < count;) {
    const int64_t run = std::min(rows.insideRun(at[2]), count - i);
    if (run > 0)
      rows.fillRun(from, image, at, run, tileRows, table + i);
    else
      rows.fillPixel(from, image, at, tileRows, table + i);
    i += std::max<int64_t>(run, 1);
    at[2] += std::max<int64_t>(run, 1);
    if (at[2] < out[2]) continue;
    at[2] = 0;
    if (++at[1] < out[1]) continue;
    at[1] = 0;
    if (++at[0] < out[0]) continue;
    at[0] = 0;
    ++image;
  }
}

// Of the first tap; it may lie outside.
template <class T>
int64_t ConvRows<T>::offsetOf(int64_t image, const Spatial& at) const {
  int64_t offset = image * shape_.in[0] * steps_[0];
  for (size_t i = 0; i < 3; ++i) offset += (at[i] * shape_.stride[i] - shape_.before[i]) * steps_[i];
  return offset;
}

// How many pixels of a row, from this column on, have no tap beside the input.
template <class T>
int64_t ConvRows<T>::insideRun(int64_t column) const {
  const int64_t start = column * shape_.stride[2] - shape_.before[2];
  const int64_t room = shape_.in[2] - 1 - (shape_.kernel[2] - 1) * shape_.dilation[2];
  if (start < 0 || start > room) return 0;
  return std::min((room - start) / shape_.stride[2] + 1, shape_.out[2] - column);
}

// Whether the input has what a tap of an axis sees.
template <class T>
bool ConvRows<T>::contains(const Spatial& at, size_t axis, int64_t tap) const {
  const int64_t position = at[axis] * shape_.stride[axis] - shape_.before[axis] + tap * shape_.dilation[axis];
  return position >= 0 && position < shape_.in[axis];
}

// function(tap, whether the input has its row, column in the kernel)
template <class T>
template <class Function>
void ConvRows<T>::forEachTap(const Spatial& at, const Function& function) const {
  int64_t tap = 0;
  for (int64_t d = 0; d < shape_.kernel[0]; ++d)
    for (int64_t h = 0; h < shape_.kernel[1]; ++h) {
      const bool rowExists = contains(at, 0, d) && contains(at, 1, h);
      for (int64_t w = 0; w < shape_.kernel[2]; ++w, ++tap) function(tap, rowExists, w);
    }
}

// Such pixels. Some kernel rows may see nothing but the border.
template <class T>
void ConvRows<T>::fillRun(const Source& source, int64_t image, const Spatial& at, int64_t count, int tileRows,
                          const T** table) const {
  const int64_t step = shape_.stride[2] * steps_[2];
  const int64_t offset = offsetOf(image, at);
  const auto isInside = [&](size_t axis) {
    return contains(at, axis, 0) && contains(at, axis, shape_.kernel[axis] - 1);
  };
  if (isInside(0) && isInside(1)) {
    const T* from = source.x + offset;
    if (count == kMaxTileRows && tileRows == kMaxTileRows) return fillWholeTiles(from, step, table);
    for (const int64_t each : offsets_) {
      const T* tap = from + each;
      for (int64_t i = 0; i < count; ++i, tap += step) table[i] = tap;
      table += tileRows;
    }
    return;
  }
  forEachTap(at, [&](int64_t tap, bool rowExists, int64_t) {
    const T* from = rowExists ? source.x + (offset + offsets_[static_cast<size_t>(tap)]) : source.zeros;
    for (int64_t i = 0; i < count; ++i, from += rowExists ? step : 0) table[tap * tileRows + i] = from;
  });
}

// The same for a number of pixels that the compiler knows.
template <class T>
void ConvRows<T>::fillWholeTiles(const T* from, int64_t step, const T** table) const {
  const T* first[kMaxTileRows];
  for (int i = 0; i < kMaxTileRows; ++i) first[i] = from + i * step;
  for (const int64_t offset : offsets_) {
    for (int i = 0; i < kMaxTileRows; ++i) table[i] = first[i] + offset;
    table += kMaxTileRows;
  }
}

template <class T>
void ConvRows<T>::fillPixel(const Source& source, int64_t image, const Spatial& at, int tileRows,
                            const T** table) const {
  const int64_t offset = offsetOf(image, at);
  forEachTap(at, [&](int64_t tap, bool rowExists, int64_t column) {
    const bool exists = rowExists && contains(at, 2, column);
    table[tap * tileRows] = exists ? source.x + (offset + offsets_[static_cast<size_t>(tap)]) : source.zeros;
  });
}

template class ConvRows<float>;
template class ConvRows<uint8_t>;

std::span<const OpRow> convOps() { return kRows; }

}  // namespace max
