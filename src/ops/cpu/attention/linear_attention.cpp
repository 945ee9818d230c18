// SPDX-License-Identifier: Apache-2.0
// LinearAttention, head by head, and CausalConvWithState, row by row, of float32.
#include "ops/cpu/attention/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/align.h"
#include "base/checked.h"
#include "base/interrupt_point.h"
#include "graph/readers/attention.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/grain.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kElementsPerPart = 16384;  // worth a thread

int64_t wholeLines(int64_t floats) { return alignUp(floats, 16); }

bool isFloat32(const OpRequest& request) {
  const auto fits = [](const Operand& operand) { return !operand.present() || operand.dtype == DType::Float32; };
  return std::all_of(request.inputs.begin(), request.inputs.end(), fits) &&
         std::all_of(request.outputs.begin(), request.outputs.end(), fits);
}

bool hasOutput(const OpRequest& request, size_t i) {
  return i < request.outputs.size() && request.outputs[i].present();
}

class LinearAttentionOp final : public OpKernel {
 public:
  explicit LinearAttentionOp(const OpRequest& request)
      : LinearAttentionOp(request, readers::LinearAttention(request.node.attributes)) {}
  LinearAttentionOp(const OpRequest& request, const readers::LinearAttention& attention)
      : table_(linearAttentionTable()),
        queryHeads_(attention.queryHeads),
        heads_(attention.heads),
        batch_(request.inputs[0].shape[0]),
        steps_(request.inputs[0].shape[1]),
        depth_(request.inputs[0].shape[2] / queryHeads_),
        width_(request.inputs[2].shape[2] / heads_),
        decaysPerStep_(request.has(4) ? request.inputs[4].shape[2] : 0),
        ratesPerStep_(request.has(5) ? request.inputs[5].shape[2] : 0),
        scale_(static_cast<float>(attention.scale(depth_))),
        hasPast_(request.has(3)),
        hasOutput_(hasOutput(request, 0)),
        hasState_(hasOutput(request, 1)),
        lanes_(std::max(request.lanes, 1)) {
    const int64_t state = hasState_ ? 0 : checkedMultiply(depth_, width_);
    const int64_t out = hasOutput_ ? 0 : checkedMultiply(queryHeads_ / heads_, width_);
    laneFloats_ = checkedAdd(checkedAdd(wholeLines(state), wholeLines(out)), wholeLines(depth_) + wholeLines(width_));
  }
  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedMultiply<int64_t>(lanes_ * static_cast<int64_t>(sizeof(float)), laneFloats_));
  }

  void run(const OpContext& context) const override {
    context.parallelFor(batch_ * heads_, grainOf(kElementsPerPart, {steps_, depth_, width_}),
                        [&](int64_t begin, int64_t end, int lane) {
                          float* memory = reinterpret_cast<float*>(context.scratch) + lane * laneFloats_;
                          for (int64_t i = begin; i < end; ++i) runHead(context, i / heads_, i % heads_, memory);
                        });
  }

 private:
  void runHead(const OpContext& context, int64_t item, int64_t head, float* memory) const {
    const int64_t size = depth_ * width_, at = (item * heads_ + head) * size, shared = queryHeads_ / heads_;
    float* decay = memory;
    float* written = decay + wholeLines(depth_);
    float* rest = written + wholeLines(width_);
    float* state = hasState_ ? context.out<float>(1) + at : rest;
    float* unused = hasState_ ? rest : rest + wholeLines(size);
    if (hasPast_)
      std::copy_n(context.in<float>(3) + at, size, state);
    else
      std::fill_n(state, size, 0.f);
    for (int64_t step = 0; step < steps_; ++step, passWork(size * (2 + shared) + 64)) {
      const int64_t token = item * steps_ + step, query = token * queryHeads_ + head * shared;
      fillDecay(context, token, head, decay);
      table_.token({state, depth_, width_, decaysPerStep_ ? decay : nullptr,
                    context.in<float>(1) + (token * heads_ + head) * depth_,
                    context.in<float>(2) + (token * heads_ + head) * width_, ratesPerStep_ > 0,
                    rateOf(context, token, head), written, context.in<float>(0) + query * depth_, shared, scale_,
                    hasOutput_ ? context.out<float>() + query * width_ : unused});
    }
  }

  float rateOf(const OpContext& context, int64_t token, int64_t head) const {
    if (ratesPerStep_ == 0) return 1;
    return context.in<float>(5)[token * ratesPerStep_ + (ratesPerStep_ == 1 ? 0 : head)];
  }

  // One logarithm for the head, or one for each row of its state.
  void fillDecay(const OpContext& context, int64_t token, int64_t head, float* decay) const {
    if (decaysPerStep_ == 0) return;
    const float* logarithms = context.in<float>(4) + token * decaysPerStep_;
    if (decaysPerStep_ == heads_)
      std::fill_n(decay, depth_, std::exp(logarithms[head]));
    else
      for (int64_t i = 0; i < depth_; ++i) decay[i] = std::exp(logarithms[head * depth_ + i]);
  }

  const LinearAttentionTable& table_;
  int64_t queryHeads_, heads_, batch_, steps_, depth_, width_, decaysPerStep_, ratesPerStep_;
  float scale_;
  bool hasPast_, hasOutput_, hasState_;
  int64_t lanes_, laneFloats_;
};

// x [batch, channels, length]; before the first position is the past state, or zeros.
class CausalConvOp final : public OpKernel {
 public:
  explicit CausalConvOp(const OpRequest& request)
      : table_(linearAttentionTable()),
        channels_(request.inputs[0].shape[1]),
        rows_(request.inputs[0].shape[0] * channels_),
        length_(request.inputs[0].shape[2]),
        taps_(request.inputs[1].shape[2]),
        hasBias_(request.has(2)),
        hasPast_(request.has(3)),
        hasOutput_(hasOutput(request, 0)),
        hasState_(hasOutput(request, 1)),
        activation_(readers::readActivatesSilu(request.node.attributes) ? findFloatTileFunction(ElementOp::Swish)
                                                                        : nullptr),
        lanes_(std::max(request.lanes, 1)),
        headFloats_(wholeLines(checkedMultiply<int64_t>(2, taps_))) {}
  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedMultiply<int64_t>(lanes_ * static_cast<int64_t>(sizeof(float)), headFloats_));
  }

  void run(const OpContext& context) const override {
    context.parallelFor(rows_, grainOf(kElementsPerPart, {length_ + taps_, taps_}),
                        [&](int64_t begin, int64_t end, int lane) {
                          float* head = reinterpret_cast<float*>(context.scratch) + lane * headFloats_;
                          for (int64_t row = begin; row < end; ++row) runRow(context, row, head);
                        });
  }

 private:
  // `head`: the past and the first positions that depend on it.
  void runRow(const OpContext& context, int64_t row, float* head) const {
    const int64_t carried = taps_ - 1, first = std::min(carried, length_);
    const float* x = context.in<float>(0) + row * length_;
    if (hasPast_)
      std::copy_n(context.in<float>(3) + row * carried, carried, head);
    else
      std::fill_n(head, carried, 0.f);
    std::copy_n(x, first, head + carried);
    if (hasOutput_) {
      const float* weights = context.in<float>(1) + row % channels_ * taps_;
      const float bias = hasBias_ ? context.in<float>(2)[row % channels_] : 0;
      float* y = context.out<float>() + row * length_;
      table_.slide(head, weights, taps_, bias, first, y);
      table_.slide(x, weights, taps_, bias, length_ - first, y + first);
      inParts(activation_ ? length_ : 0, 4, [&](int64_t begin, int64_t end) {
        activation_({y + begin, {y + begin, nullptr, nullptr}, {1, 0, 0}, end - begin, 1, 0});
      });
    }
    if (!hasState_) return;
    float* present = context.out<float>(1) + row * carried;
    if (length_ >= carried)
      std::copy_n(x + length_ - carried, carried, present);
    else
      std::copy_n(head + length_, carried, present);
  }

  const LinearAttentionTable& table_;
  int64_t channels_, rows_, length_, taps_;
  bool hasBias_, hasPast_, hasOutput_, hasState_;
  TileFunction activation_;
  int64_t lanes_, headFloats_;
};

template <class K>
inline constexpr Implementation kFloat32[] = {
    {"recurrence_f32", isFloat32,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

constexpr OpRow kRows[] = {
    {"", "LinearAttention", kFloat32<LinearAttentionOp>},
    {"", "CausalConvWithState", kFloat32<CausalConvOp>},
};

}  // namespace

std::span<const OpRow> linearAttentionOps() { return kRows; }

}  // namespace max
