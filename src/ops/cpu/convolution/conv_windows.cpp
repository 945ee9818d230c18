// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/conv_windows.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"

namespace max {

namespace {

constexpr int64_t kMostEven = 4, kMostOdd = 15;  // channels; an even number of more makes whole words

class WindowOp final : public OpKernel {
 public:
  explicit WindowOp(const OpRequest& request)
      : table_(*bfloat16VectorTable()),
        shape_(request.node, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape),
        weights_(static_cast<WindowWeights*>(request.node.prepared.get())),
        words_(shape_, weights_->order()),
        panels_(table_.lanes, table_.panelVectors, shape_.filters),
        epilogue_{1, fusedActivation(request.node)},
        hasBias_(request.has(2)),
        readsNarrow_(isNarrow(request.inputs[0])),
        size_(isNarrow(request.outputs[0]) ? sizeof(uint16_t) : sizeof(float)),
        lanes_(std::max(request.lanes, 1)) {
    sumsAt_ = checkedAdd(words_.scratchBytes(), alignUp(table_.tileRows * shape_.filters * kFloat));
    laneBytes_ = sumsAt_ + alignUp(table_.tileRows * table_.panelVectors * table_.lanes * kFloat);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(checkedMultiply<int64_t>(laneBytes_, lanes_)); }

  void run(const OpContext& context) const override {
    const WindowWords::Source source{context.inputs[0], readsNarrow_, 0, 0};
    const int64_t steps = shape_.out[2] * panels_.paddedColumns() / table_.lanes * (words_.words() + 8);
    words_.forEach(context, source, laneBytes_, steps,
                   [&](const WindowWords::Row& row, WindowWords::Lane& lane, std::byte* memory) {
                     runRow(context, row, lane, memory);
                   });
  }

 private:
  static constexpr int64_t kFloat = sizeof(float), kTilesAtOnce = 7;

  // All tiles are whole: the last one overlaps the one before it, and a row that is shorter goes through memory.
  void runRow(const OpContext& context, const WindowWords::Row& row, WindowWords::Lane& lane, std::byte* memory) const {
    static_assert(kMaxTileRows <= WindowWords::kFewestPixels);
    const int64_t tileRows = table_.tileRows, stride = shape_.filters * size_;
    const int64_t tiles = std::max<int64_t>((row.count + tileRows - 1) / tileRows, 1);
    const int64_t parts = (tiles + kTilesAtOnce - 1) / kTilesAtOnce;
    std::byte* result = static_cast<std::byte*>(context.outputs[0]) + row.begin * stride;
    std::byte* out = row.count < tileRows ? memory + words_.scratchBytes() : result;
    GemmTile tile = newTile(row);
    for (int64_t part = 0; part < parts; ++part) {
      lane.prepareNext(part, parts);
      for (int64_t panel = 0; panel < panels_.count; ++panel) {
        startPanel(context, panel, tile);
        for (int64_t i = part * tiles / parts; i < (part + 1) * tiles / parts; ++i) {
          const int64_t pixel = std::clamp<int64_t>(row.count - tileRows, 0, i * tileRows);
          std::byte* to = out + pixel * stride + panels_.begin(panel) * size_;
          tile.rows = reinterpret_cast<const float* const*>(row.pixels + pixel);
          tile.narrow = size_ == kFloat ? nullptr : reinterpret_cast<uint16_t*>(to);
          tile.c = reinterpret_cast<float*>(tile.narrow ? memory + sumsAt_ : to);
          table_.tile(tileRows, tile.columns)(tile);
        }
      }
    }
    if (out != result) std::memcpy(result, out, static_cast<size_t>(row.count * stride));
  }

  GemmTile newTile(const WindowWords::Row& row) const {
    GemmTile tile{};
    tile.taps = 1;
    tile.depth = words_.words();
    tile.offsets = row.offsets;
    tile.finish = true;
    tile.epilogue = &epilogue_;
    tile.ldn = shape_.filters;
    return tile;
  }

  void startPanel(const OpContext& context, int64_t panel, GemmTile& tile) const {
    const int64_t column = panels_.begin(panel), width = panels_.width(panel);
    tile.columns = std::min(width, shape_.filters - column);
    tile.bStride = width;
    tile.b = weights_->data() + column * words_.words();
    tile.bias = hasBias_ ? context.in<float>(2) + column : nullptr;
    tile.ldc = size_ == kFloat ? shape_.filters : width;
  }

  const GemmTable& table_;
  ConvShape shape_;
  Ref<WindowWeights> weights_;
  WindowWords words_;
  Panels panels_;
  Epilogue epilogue_;
  bool hasBias_, readsNarrow_;
  int64_t size_;  // of an element of the output
  int lanes_;
  int64_t sumsAt_ = 0, laneBytes_ = 0;
};

}  // namespace

WindowWeights::WindowWeights(const Node& node, const Tensor& weights)
    : order_(WindowOrder::of(node.attributes, weights.shape(), 2)) {
  const Shape& shape = weights.shape();
  const int64_t filters = shape[0], channels = shape[1], count = shape.product(1, shape.rank());
  const int64_t depth = 2 * order_.words();
  const Ref<Tensor> ordered = Tensor::allocate(DType::Float32, Shape({filters, depth}));
  auto* to = static_cast<float*>(ordered->mutableData());
  const float* from = weights.as<float>();
  for (int64_t filter = 0; filter < filters; ++filter, from += count)
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t element = order_.element(i / 2, i % 2);
      *to++ = element < 0 ? 0.f : from[element % channels * (count / channels) + element / channels];
    }
  const GemmTable& table = *bfloat16VectorTable();
  packed_ = makeRef<PackedWeights>(table, 1, depth, filters);
  packMatrix(table, {ordered->as<float>(), 1, depth, 1, depth, filters}, packed_->matrix(0), 1);
}

bool hasWindows(const Node& node, const Tensor& weights) {
  const int64_t channels = weights.shape()[1];
  if (!node.isOwn("Conv") || node.input(3) || channels > (channels % 2 ? kMostOdd : kMostEven)) return false;
  if (!mayBeNarrow(node) || gemmTableFor(node).vectors || !bfloat16VectorTable()) return false;
  // What lies behind a row may be infinite, and zero times that is no number.
  return hasWindowWords(node.attributes, weights.shape(), 2) &&
         !WindowOrder::of(node.attributes, weights.shape(), 2).endsBehindRows();
}

NarrowOperands narrowWindows(const Shape& weights) {
  return {weights[1] % 2 == 0 ? operandBit(0) : 0, operandBit(0), false, 1};
}

bool acceptsWindows(const OpRequest& request) {
  return dynamic_cast<const WindowWeights*>(request.node.prepared.get()) && bfloat16VectorTable() && !request.has(3) &&
         areFloats(request, narrowWindows(request.inputs[1].shape));
}

std::unique_ptr<OpKernel> createWindows(const OpRequest& request) { return std::make_unique<WindowOp>(request); }

}  // namespace max
