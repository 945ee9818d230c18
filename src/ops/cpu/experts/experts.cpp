// SPDX-License-Identifier: Apache-2.0
// max.MoE and max.QMoE: tokens are sorted by expert, and each expert runs once over all its tokens, some hundreds at a
// time, with the tiles of the matrix product.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/experts/expert_routing.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/matrix/matmul_nbits.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kMostRows = 256;    // of one product
constexpr int64_t kPieceDepth = 512;  // of a panel that stays in the first caches

// The matrices [experts, columns, depth] of one layer.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual size_t scratchBytes() const = 0;
  // out [count, columns] = rows [count, depth] of one expert.
  virtual void run(const OpContext& context, int64_t expert, const float* const* rows, int64_t count, float* out,
                   std::byte* scratch) const = 0;
};

struct LayerSizes {
  int64_t experts, columns, depth, mostRows;
};

// Indices of a layer's operands among the node's inputs; 0 = none.
struct LayerInputs {
  size_t weights, scales, zeros, bias;
};

class RealLayer final : public Layer {
 public:
  RealLayer(const LayerSizes& sizes, size_t input, const PackedWeights* packed, int lanes)
      : gemm_(&gemmTable()),
        s_(sizes),
        input_(input),
        packed_(packed),
        panels_(gemm_->lanes, gemm_->panelVectors, sizes.columns),
        lanes_(std::max(lanes, 1)) {}

  size_t scratchBytes() const override { return static_cast<size_t>(packed_ ? 0 : lanes_ * laneFloats()) * 4; }

  void run(const OpContext& context, int64_t expert, const float* const* rows, int64_t count, float* out,
           std::byte* scratch) const override {
    const int64_t work = std::max<int64_t>(1, s_.depth * count * panels_.width(0));
    auto* memory = reinterpret_cast<float*>(scratch);
    parallelFor(std::min(context.lanes, lanes_), panels_.count, std::max<int64_t>(1, 65536 / work),
                [&](int64_t begin, int64_t end, int index) {
                  for (int64_t panel = begin; panel < end; ++panel)
                    for (int64_t k = 0; k < s_.depth; k += kPieceDepth) {
                      const float* b = pieceOf(context, expert, panel, k, memory + index * laneFloats());
                      multiply(b, panel, k, rows, count, out);
                      passWork(depthOf(k) * (32 + count));
                    }
                });
  }

 private:
  int64_t laneFloats() const { return int64_t{gemm_->panelVectors} * gemm_->lanes * kPieceDepth; }
  int64_t depthOf(int64_t k) const { return std::min(kPieceDepth, s_.depth - k); }

  const float* pieceOf(const OpContext& context, int64_t expert, int64_t panel, int64_t k, float* memory) const {
    const int64_t column = panels_.begin(panel), width = panels_.width(panel);
    if (packed_) return packed_->data() + expert * packed_->stride() + column * s_.depth + k * width;
    const float* own = context.in<float>(input_) + (expert * s_.columns + column) * s_.depth + k;
    const int64_t columns = std::min(width, s_.columns - column), depth = depthOf(k);
    gemm_->pack({own, 1, s_.depth, 1, depth, columns}, 0, depth, memory);
    return memory;
  }

  void multiply(const float* b, int64_t panel, int64_t k, const float* const* rows, int64_t count, float* out) const {
    const int64_t column = panels_.begin(panel), width = panels_.width(panel), depth = depthOf(k);
    const int64_t columns = std::min(width, s_.columns - column);
    GemmTile tile{
        nullptr, k,       1,       depth, b, width, nullptr, s_.columns, columns, k > 0, k + depth == s_.depth,
        &plain_, nullptr, nullptr, 0,     b, 0};
    for (int64_t m = 0; m < count; m += gemm_->tileRows) {
      const int64_t some = std::min<int64_t>(gemm_->tileRows, count - m);
      tile.rows = rows + m;
      tile.c = out + m * s_.columns + column;
      gemm_->tile(some, width)(tile);
    }
  }

  const GemmTable* gemm_;
  LayerSizes s_;
  size_t input_;
  const PackedWeights* packed_;  // NULL = packed piece by piece
  Panels panels_;
  Epilogue plain_;
  int lanes_;
};

// How a layer of max.QMoE is quantised.
struct Quantisation {
  int bits;
  int64_t blockSize;  // of the product
  bool oneScale;
};

Quantisation quantisationOf(const Node& node, readers::ExpertLayer layer, int64_t depth) {
  const readers::ExpertWeights read(node.attributes, layer);
  if (read.block > 0) return {static_cast<int>(read.bits), read.block, false};
  return {static_cast<int>(read.bits), std::min<int64_t>(depth & -depth, 128), true};
}

bool isFast(const Quantisation& quantisation) { return quantisation.blockSize * quantisation.bits >= 32; }

class NBitsLayer final : public Layer {
 public:
  NBitsLayer(const LayerSizes& sizes, const LayerInputs& inputs, const Quantisation& quantisation, int lanes)
      : s_(sizes), inputs_(inputs), bits_(quantisation.bits), blocks_(1), product_(of(quantisation), lanes) {
    const int64_t blocks = sizes.depth / quantisation.blockSize;
    blocks_ = quantisation.oneScale ? 1 : blocks;
    zeroBytes_ = ((quantisation.oneScale ? sizes.columns : blocks) * bits_ + 7) / 8;
    if (!quantisation.oneScale) zeroBytes_ *= sizes.columns;
  }

  size_t scratchBytes() const override { return product_.scratchBytes(); }

  void run(const OpContext& context, int64_t expert, const float* const* rows, int64_t count, float* out,
           std::byte* scratch) const override {
    const int64_t bytes = s_.columns * s_.depth / (8 / bits_);
    const uint8_t* zeros = inputs_.zeros ? context.in<uint8_t>(inputs_.zeros) + expert * zeroBytes_ : nullptr;
    product_.run({context.in<uint8_t>(inputs_.weights) + expert * bytes,
                  context.in<float>(inputs_.scales) + expert * s_.columns * blocks_, nullptr, zeros},
                 rows, count, out, scratch, context.lanes);
  }

 private:
  NBitsProduct::Sizes of(const Quantisation& q) const {
    const int64_t blocks = s_.depth / q.blockSize;
    const int64_t zeroBits = q.oneScale ? q.bits : alignUp(blocks * q.bits, 8);
    return {q.bits, s_.depth, s_.columns, q.blockSize, q.oneScale, zeroBits, s_.mostRows};
  }

  LayerSizes s_;
  LayerInputs inputs_;
  int bits_;
  int64_t blocks_, zeroBytes_ = 0;
  NBitsProduct product_;
};

// The operand indices of the two operators.
struct OperandPlaces {
  LayerInputs layers[3];  // into the experts, out of them, the linear part beside the first
  size_t mixing;
};
constexpr OperandPlaces kReal{{{2, 0, 0, 3}, {4, 0, 0, 5}, {6, 0, 0, 7}}, 8};
constexpr OperandPlaces kQuantised{{{2, 3, 11, 4}, {5, 6, 12, 7}, {8, 9, 13, 10}}, 14};

// The packed matrices of a node's layers.
class PackedExperts final : public Prepared {
 public:
  std::array<Ref<PackedWeights>, 3> layers;  // NULL = not constant

  size_t bytes() const override {
    size_t sum = 0;
    for (const auto& layer : layers) sum += layer ? layer->bytes() : 0;
    return sum;
  }
  bool replaces(size_t input) const override {
    return input >= 2 && input <= 6 && input % 2 == 0 && layers[input / 2 - 1];
  }
  bool fits(const GemmTable& table) const {
    return std::all_of(layers.begin(), layers.end(), [&](const auto& layer) { return !layer || layer->fits(table); });
  }
};

class ExpertsOp : public OpKernel {
 public:
  ExpertsOp(const OpRequest& request, const OperandPlaces& places);
  size_t scratchBytes() const override { return bytes_; }
  void run(const OpContext& context) const override;

 private:
  // The working memory of one run: `tokens` and `shares` of the first expert, then of the second, ..
  struct Work {
    int32_t* order;  // [experts] for each lane
    int32_t* chosen;
    float* weights;
    int64_t* ends;  // of each expert's tokens
    int32_t* tokens;
    float* shares;
    const float** rows;
    float* inner;   // [rows, columns of the first layer]
    float* linear;  // [rows, inner size], where the linear part is a layer of its own
    float* outer;   // [rows, hidden size]
    float* lanes;   // [inner size] each
    std::byte* product;
  };
  Work workAt(std::byte* base, size_t* end = nullptr) const;
  void makeLayers(const OpRequest& request, const OperandPlaces& places);
  void route(const OpContext& context, const Work& work) const;
  void sortByExpert(const Work& work) const;
  void runExpert(const OpContext& context, const Work& work, int64_t expert, int64_t begin, int64_t count) const;
  void activate(const OpContext& context, const Work& work, int64_t expert, int64_t row, float* lane) const;
  void swiGlu(float* row, const float* bias, const float* linear, float* lane) const;
  void addBias(const OpContext& context, size_t layer, int64_t expert, float* row, int64_t size) const;
  const float* biasOf(const OpContext& context, size_t layer, int64_t expert, int64_t size) const {
    const size_t input = places_.layers[layer].bias;
    return hasBias_[layer] ? context.in<float>(input) + expert * size : nullptr;
  }

  OperandPlaces places_;
  readers::Experts options_;
  int64_t tokens_, experts_, hidden_, inner_, columns_, mostRows_;
  std::array<std::unique_ptr<Layer>, 3> layers_;
  std::array<bool, 3> hasBias_{};
  bool hasMixing_;
  Ref<PackedExperts> packed_;
  int lanes_;
  TileFunction function_ = nullptr;
  float functionAlpha_ = 1;
  size_t bytes_ = 0;
};

ExpertsOp::ExpertsOp(const OpRequest& request, const OperandPlaces& places)
    : places_(places),
      options_(request.node.attributes),
      tokens_(request.inputs[1].shape[0]),
      experts_(request.inputs[1].shape[1]),
      hidden_(request.inputs[0].shape.back()),
      inner_(0),
      columns_(request.inputs[places.layers[0].weights].shape[1]),
      mostRows_(std::min(tokens_, kMostRows)),
      hasMixing_(request.has(places.mixing)),
      lanes_(std::max(request.lanes, 1)) {
  inner_ = options_.isFused ? columns_ / 2 : columns_;
  for (size_t i = 0; i < 3; ++i) hasBias_[i] = request.has(places.layers[i].bias);
  if (auto* packed = dynamic_cast<PackedExperts*>(request.node.prepared.get()); packed && packed->fits(gemmTable()))
    packed_ = Ref<PackedExperts>(packed);
  makeLayers(request, places);
  const bool isGelu = options_.activation == readers::ExpertActivation::Gelu;
  functionAlpha_ = options_.activation == readers::ExpertActivation::SwiGlu ? options_.alpha : 1;
  if (options_.activation != readers::ExpertActivation::Identity &&
      options_.activation != readers::ExpertActivation::Relu)
    function_ = findFloatTileFunction(isGelu ? ElementOp::GeluTanh : ElementOp::Swish);
  workAt(nullptr, &bytes_);
}

void ExpertsOp::makeLayers(const OpRequest& request, const OperandPlaces& places) {
  for (size_t i = 0; i < 3; ++i) {
    LayerInputs inputs = places.layers[i];
    if (!request.has(inputs.weights)) continue;
    const LayerSizes sizes{experts_,
                           i == 1   ? hidden_
                           : i == 0 ? columns_
                                    : inner_,
                           i == 1 ? inner_ : hidden_, mostRows_};
    if (inputs.scales == 0) {
      const PackedWeights* packed = packed_ ? packed_->layers[i].get() : nullptr;
      layers_[i] = std::make_unique<RealLayer>(sizes, inputs.weights, packed, request.lanes);
    } else {
      if (!request.has(inputs.zeros)) inputs.zeros = 0;
      layers_[i] = std::make_unique<NBitsLayer>(
          sizes, inputs, quantisationOf(request.node, static_cast<readers::ExpertLayer>(i), sizes.depth),
          request.lanes);
    }
  }
}

ExpertsOp::Work ExpertsOp::workAt(std::byte* base, size_t* end) const {
  size_t at = 0;
  const auto take = [&](auto*& pointer, int64_t count) {
    using T = std::remove_reference_t<decltype(*pointer)>;
    pointer = base ? reinterpret_cast<T*>(base + at) : nullptr;  // without memory: only for its size
    at = alignUp(checkedAdd(at, checkedMultiply(static_cast<size_t>(count), sizeof(T))));
  };
  const int64_t pairs = checkedMultiply(tokens_, options_.chosen);
  Work work{};
  take(work.order, checkedMultiply<int64_t>(lanes_, experts_));
  take(work.chosen, pairs);
  take(work.weights, pairs);
  take(work.ends, experts_ + 1);
  take(work.tokens, pairs);
  take(work.shares, pairs);
  take(work.rows, mostRows_);
  take(work.inner, checkedMultiply(mostRows_, columns_));
  take(work.linear, layers_[2] ? checkedMultiply(mostRows_, inner_) : 0);
  take(work.outer, checkedMultiply(mostRows_, hidden_));
  take(work.lanes, checkedMultiply<int64_t>(lanes_, inner_));
  size_t product = 0;
  for (const auto& layer : layers_)
    if (layer) product = std::max(product, layer->scratchBytes());
  take(work.product, static_cast<int64_t>(product));
  if (end) *end = at;
  return work;
}

void ExpertsOp::route(const OpContext& context, const Work& work) const {
  const int64_t grain = grainOf(16384, {experts_});
  parallelFor(std::min(context.lanes, lanes_), tokens_, grain, [&](int64_t begin, int64_t end, int index) {
    for (int64_t token = begin; token < end; ++token) {
      const float* mixing = hasMixing_ ? context.in<float>(places_.mixing) + token * experts_ : nullptr;
      const int64_t at = token * options_.chosen;
      routeToken(options_, experts_, context.in<float>(1) + token * experts_, mixing, work.order + index * experts_,
                 work.chosen + at, work.weights + at);
    }
  });
}

void ExpertsOp::sortByExpert(const Work& work) const {
  const int64_t pairs = tokens_ * options_.chosen;
  std::fill_n(work.ends, experts_ + 1, 0);
  WorkCounter steps;
  for (int64_t i = 0; i < pairs; ++i, steps.pass()) ++work.ends[work.chosen[i] + 1];
  for (int64_t expert = 0; expert < experts_; ++expert) work.ends[expert + 1] += work.ends[expert];
  // ends[e] is where the next token of expert e goes and finally the end of those of e.
  for (int64_t i = 0; i < pairs; ++i, steps.pass(4)) {
    const int64_t at = work.ends[work.chosen[i]]++;
    work.tokens[at] = static_cast<int32_t>(i / options_.chosen);
    work.shares[at] = work.weights[i];
  }
}

void ExpertsOp::run(const OpContext& context) const {
  const Work work = workAt(context.scratch);
  fillParts(context.out<float>(), tokens_ * hidden_, 0.f);
  route(context, work);
  sortByExpert(work);
  for (int64_t expert = 0, begin = 0; expert < experts_; begin = work.ends[expert++])
    for (int64_t at = begin; at < work.ends[expert]; at += mostRows_)
      runExpert(context, work, expert, at, std::min(mostRows_, work.ends[expert] - at));
}

void ExpertsOp::runExpert(const OpContext& context, const Work& work, int64_t expert, int64_t begin,
                          int64_t count) const {
  const float* x = context.in<float>(0);
  for (int64_t i = 0; i < count; ++i) work.rows[i] = x + work.tokens[begin + i] * hidden_;
  layers_[0]->run(context, expert, work.rows, count, work.inner, work.product);
  if (layers_[2]) layers_[2]->run(context, expert, work.rows, count, work.linear, work.product);
  const int lanes = std::min(context.lanes, lanes_);
  parallelFor(lanes, count, grainOf(16384, {inner_}), [&](int64_t first, int64_t end, int index) {
    for (int64_t row = first; row < end; ++row, passWork(8 * inner_))
      activate(context, work, expert, row, work.lanes + index * inner_);
  });
  for (int64_t i = 0; i < count; ++i) work.rows[i] = work.inner + i * columns_;
  layers_[1]->run(context, expert, work.rows, count, work.outer, work.product);
  const float* bias = biasOf(context, 1, expert, hidden_);
  parallelFor(lanes, count, grainOf(16384, {hidden_}), [&](int64_t first, int64_t end, int) {
    for (int64_t row = first; row < end; ++row) {
      const float *from = work.outer + row * hidden_, share = work.shares[begin + row];
      float* to = context.out<float>() + work.tokens[begin + row] * hidden_;
      for (int64_t i = 0; i < hidden_; ++i) to[i] += share * (bias ? from[i] + bias[i] : from[i]);
      passWork(hidden_);
    }
  });
}

// Gate and linear part of one row, the gate comes first from then on.
void ExpertsOp::swiGlu(float* row, const float* bias, const float* linear, float* lane) const {
  const int64_t step = options_.isFused && options_.isInterleaved ? 2 : 1;
  const float* other = options_.isFused ? row + (step == 2 ? 1 : inner_) : linear;
  const float* otherBias = bias && options_.isFused ? bias + (other - row) : nullptr;
  for (int64_t i = 0; i < inner_; ++i) {
    const float gate = row[i * step] + (bias ? bias[i * step] : 0);
    const float value = other[i * step] + (otherBias ? otherBias[i * step] : 0);
    row[i] = std::min(gate, options_.limit);
    lane[i] = std::max(-options_.limit, std::min(value, options_.limit)) + options_.beta;
  }
  function_({row, {row, nullptr, nullptr}, {1, 0, 0}, inner_, functionAlpha_, 0});
  for (int64_t i = 0; i < inner_; ++i) row[i] *= lane[i];
}

void ExpertsOp::addBias(const OpContext& context, size_t layer, int64_t expert, float* row, int64_t size) const {
  const float* bias = biasOf(context, layer, expert, size);
  if (!bias) return;
  for (int64_t i = 0; i < size; ++i) row[i] += bias[i];
}

void ExpertsOp::activate(const OpContext& context, const Work& work, int64_t expert, int64_t row, float* lane) const {
  float* inner = work.inner + row * columns_;
  float* linear = layers_[2] ? work.linear + row * inner_ : nullptr;
  if (linear) addBias(context, 2, expert, linear, inner_);
  if (options_.activation == readers::ExpertActivation::SwiGlu)
    return swiGlu(inner, biasOf(context, 0, expert, columns_), linear, lane);
  addBias(context, 0, expert, inner, inner_);
  if (function_) function_({inner, {inner, nullptr, nullptr}, {1, 0, 0}, inner_, functionAlpha_, 0});
  if (options_.activation == readers::ExpertActivation::Relu)
    for (int64_t i = 0; i < inner_; ++i) inner[i] = inner[i] > 0 ? inner[i] : 0;
  if (!linear) return;
  for (int64_t i = 0; i < inner_; ++i) inner[i] *= linear[i];
}

// Real numbers are float32 and weights are not empty.
bool acceptsExperts(const OpRequest& request, const OperandPlaces& places) {
  for (const LayerInputs& layer : places.layers)
    if (request.has(layer.weights) && request.inputs[layer.weights].shape.count() == 0) return false;
  const bool scaled = places.layers[0].scales != 0;
  return request.inputs[0].dtype == DType::Float32 && request.inputs[1].shape[0] <= INT32_MAX &&
         (!scaled || request.inputs[places.layers[0].scales].dtype == DType::Float32);
}

bool acceptsReal(const OpRequest& request) { return acceptsExperts(request, kReal); }

bool acceptsQuantised(const OpRequest& request) {
  if (!acceptsExperts(request, kQuantised)) return false;
  const int64_t hidden = request.inputs[0].shape.back(), columns = request.inputs[2].shape[1];
  const int64_t inner = readers::Experts(request.node.attributes).isFused ? columns / 2 : columns;
  return isFast(quantisationOf(request.node, readers::ExpertLayer::First, hidden)) &&
         isFast(quantisationOf(request.node, readers::ExpertLayer::Second, inner)) &&
         (!request.has(8) || isFast(quantisationOf(request.node, readers::ExpertLayer::Third, hidden)));
}

template <const OperandPlaces& places>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<ExpertsOp>(request, places);
}

Ref<PackedWeights> packLayer(const Tensor* weights) {
  if (!weights || weights->dtype() != DType::Float32 || weights->shape().rank() != 3) return nullptr;
  const GemmTable& table = gemmTable();
  const int64_t experts = weights->shape()[0], columns = weights->shape()[1], depth = weights->shape()[2];
  if (weights->count() == 0 || isMostlyPadding(table, experts, depth, columns)) return nullptr;
  auto packed = makeRef<PackedWeights>(table, experts, depth, columns);
  for (int64_t i = 0; i < experts; ++i)
    packMatrix(table, {weights->as<float>() + i * columns * depth, 1, depth, 1, depth, columns}, packed->matrix(i),
               defaultLanes());
  return packed;
}

Ref<Prepared> prepareExperts(const Node&, std::span<const Tensor* const> constants) {
  auto packed = makeRef<PackedExperts>();
  for (size_t i = 0; i < 3; ++i)
    if (const size_t input = kReal.layers[i].weights; input < constants.size())
      packed->layers[i] = packLayer(constants[input]);
  return packed->bytes() ? packed : nullptr;
}

constexpr Implementation kRealExperts[] = {{"experts_f32", acceptsReal, create<kReal>}};
constexpr Implementation kQuantisedExperts[] = {{"experts_nbits", acceptsQuantised, create<kQuantised>}};

const OpRow kRows[] = {
    {kMaxDomain, "MoE", kRealExperts, prepareExperts},
    {kMaxDomain, "QMoE", kQuantisedExperts},
};

}  // namespace

std::span<const OpRow> expertOps() { return kRows; }

}  // namespace max
