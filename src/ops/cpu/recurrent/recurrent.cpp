// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN of float32: one matrix product over all steps for the input; then each step is one product with the
// state, and the cell.
#include "graph/readers/recurrent.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/activations.h"
#include "ops/cpu/matrix/matmul.h"

namespace max {

namespace {

int64_t wholeLines(int64_t floats) { return alignUp(floats, 16); }

// An activation by ONNX name, as up to three instructions of tile programs.
class CellActivation {
 public:
  void append(ElementOp op, float alpha = 0, float beta = 0) {
    steps_.push_back({findFloatTileFunction(op), alpha, beta});
  }
  bool empty() const { return steps_.empty(); }
  void apply(float* x, int64_t count) const {
    for (const Step& step : steps_)
      inParts(count, 4, [&](int64_t begin, int64_t end) {
        step.function({x + begin, {x + begin, nullptr, nullptr}, {1, 0, 0}, end - begin, step.alpha, step.beta});
      });
  }

 private:
  struct Step {
    TileFunction function;
    float alpha, beta;
  };
  std::vector<Step> steps_;
};

// Of a name that recurrent layers know.
CellActivation makeActivation(const readers::CellFunction& function) {
  CellActivation result;
  if (function.name == "ScaledTanh") {
    result.append(ElementOp::Scale, function.beta, 0);
    result.append(ElementOp::Tanh);
    result.append(ElementOp::Scale, function.alpha, 0);
  } else {
    result.append(activationOp(function.name).value(), function.alpha, function.beta);
  }
  return result;
}

// The activations of all directions, in order.
std::vector<CellActivation> cellActivations(const Node& node, const readers::Recurrent& layer,
                                            std::span<const std::string_view> defaults) {
  std::vector<CellActivation> result;
  for (const readers::CellFunction& function : layer.activations(node.attributes, defaults)) {
    require(findActivation(function.name, ActivationInfo::Cells), MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": unknown activation '", function.name, "'");
    result.push_back(makeActivation(function));
  }
  return result;
}

// W and R of all directions. A GRU's candidate gate has its own product, since it may come after the reset gate.
struct RecurrentWeights : Prepared {
  Ref<PackedWeights> input, state, candidate;
  size_t bytes() const override { return input->bytes() + state->bytes() + (candidate ? candidate->bytes() : 0); }
  bool replaces(size_t index) const override { return index == 1 || index == 2; }
};

Ref<PackedWeights> packGates(const GemmTable& table, const Tensor& weights, int64_t first, int64_t columns) {
  const int64_t directions = weights.shape()[0], rows = weights.shape()[1], depth = weights.shape()[2];
  auto packed = makeRef<PackedWeights>(table, directions, depth, columns);
  for (int64_t i = 0; i < directions; ++i)
    packMatrix(table, {weights.as<float>() + (i * rows + first) * depth, 1, depth, 1, depth, columns},
               packed->matrix(i), defaultLanes());
  return packed;
}

Ref<RecurrentWeights> packWeights(const GemmTable& table, const Tensor& w, const Tensor& r, bool isGru) {
  auto weights = makeRef<RecurrentWeights>();
  const int64_t rows = w.shape()[1], hidden = r.shape()[2];
  weights->input = packGates(table, w, 0, rows);
  weights->state = packGates(table, r, 0, isGru ? 2 * hidden : rows);
  if (isGru) weights->candidate = packGates(table, r, 2 * hidden, hidden);
  return weights;
}

Ref<Prepared> prepareLayer(const Node& node, std::span<const Tensor* const> constants) {
  if (constants.size() < 3 || !constants[1] || !constants[2] || constants[1]->dtype() != DType::Float32) return nullptr;
  return packWeights(gemmTableFor(node), *constants[1], *constants[2], node.is("GRU"));
}

enum Input : size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

// Memory of one direction while it runs.
struct Run {
  int64_t direction;
  float* inputs;     // [steps * batch][gates * hidden]: W x and biases
  float* gates;      // [batch][gates * hidden]
  float* candidate;  // [batch][hidden], GRU
  float* h;          // [batch][hidden]
  float* c;          // [batch][hidden]
  float* bias;       // [gates * hidden]
  std::byte* gemm;
};

class RecurrentOp : public OpKernel {
 public:
  RecurrentOp(const OpRequest& request, const readers::Recurrent& layer, const GemmTable& table, int64_t gates,
              std::span<const std::string_view> activations);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return static_cast<size_t>(directions_ * directionBytes_); }

 protected:
  // Advances the state of one item by one step, once R h is in run.gates. `input` = W x and biases of the step.
  virtual void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const = 0;
  // The products with the state at the start of a step.
  virtual void multiply(const OpContext& context, const Run& run) const {
    multiplyState(context, run, *weights_->state, stateGemm_, run.h, run.gates, gates_ * hidden_);
  }
  virtual void addBiases(const float* inputBias, const float* stateBias, float* sum) const;

  const CellActivation& activation(const Run& run, size_t index) const {
    return activations_[static_cast<size_t>(run.direction) * activationCount_ + index];
  }
  void clip(float* x, int64_t count) const {
    for (int64_t i = 0; i < count && hasClip_; ++i) x[i] = std::clamp(x[i], -clip_, clip_);
  }
  void multiplyState(const OpContext& context, const Run& run, const PackedWeights& weights, const Gemm& gemm,
                     const float* state, float* out, int64_t stride) const;

  int64_t gates_, steps_, batch_, inputSize_, hidden_, directions_;
  Ref<RecurrentWeights> weights_;
  bool hasBias_;
  Gemm inputGemm_, stateGemm_;
  Gemm candidateGemm_, oneGemm_;  // of all items, and of one; GRU

 private:
  Run startRun(const OpContext& context, int64_t direction) const;
  void runDirection(const OpContext& context, int64_t direction) const;
  void step(const OpContext& context, const Run& run, int64_t index) const;
  void copyState(const float* from, float* to, int64_t direction, bool isOutput) const;
  void clearTail(const OpContext& context, int64_t direction) const;
  int64_t lengthOf(const OpContext& context, int64_t item) const;
  int64_t outputOffset(int64_t step, int64_t direction, int64_t item) const;
  int64_t stateOffset(int64_t direction, int64_t item) const {
    return (batchFirst_ ? item * directions_ + direction : direction * batch_ + item) * hidden_;
  }
  bool isReverse(int64_t direction) const { return reverse_ || direction == 1; }

  size_t activationCount_;
  std::vector<CellActivation> activations_;
  bool batchFirst_, reverse_, hasLengths_, hasInitialH_, hasInitialC_, hasClip_;
  bool hasOutput_[3];
  float clip_;
  int64_t directionBytes_;
};

Ref<RecurrentWeights> weightsOf(const OpRequest& request, const GemmTable& table) {
  auto* prepared = dynamic_cast<RecurrentWeights*>(request.node.prepared.get());
  if (prepared && prepared->input->fits(table)) return Ref<RecurrentWeights>(prepared);
  return packWeights(table, *request.inputs[kW].constant, *request.inputs[kR].constant, request.node.is("GRU"));
}

Gemm gemmOf(const OpRequest& request, const GemmTable& table, int64_t rows, int64_t columns, int64_t depth) {
  return {rows, columns, 1, depth, Epilogue(), request.lanes, WorkVector<GemmOffsets>(1), PartialSums::Float32, table};
}

RecurrentOp::RecurrentOp(const OpRequest& request, const readers::Recurrent& layer, const GemmTable& table,
                         int64_t gates, std::span<const std::string_view> activations)
    : gates_(gates),
      steps_(request.inputs[kX].shape[layer.isBatchFirst ? 1 : 0]),
      batch_(request.inputs[kX].shape[layer.isBatchFirst ? 0 : 1]),
      inputSize_(request.inputs[kX].shape[2]),
      hidden_(request.inputs[kR].shape[2]),
      directions_(request.inputs[kW].shape[0]),
      weights_(weightsOf(request, table)),
      hasBias_(request.has(kBias)),
      inputGemm_(gemmOf(request, table, steps_ * batch_, gates * hidden_, inputSize_)),
      stateGemm_(gemmOf(request, table, batch_, gates == 3 ? 2 * hidden_ : gates * hidden_, hidden_)),
      candidateGemm_(gemmOf(request, table, batch_, hidden_, hidden_)),
      oneGemm_(gemmOf(request, table, 1, hidden_, hidden_)),
      activationCount_(activations.size()),
      activations_(cellActivations(request.node, layer, activations)),
      batchFirst_(layer.isBatchFirst),
      reverse_(layer.isReverse),
      hasLengths_(request.has(kLengths)),
      hasInitialH_(request.has(kInitialH)),
      hasInitialC_(request.has(kInitialC)),
      hasClip_(layer.clip.has_value()),
      hasOutput_{},
      clip_(layer.clip.value_or(0)) {
  for (size_t i = 0; i < 3 && i < request.outputs.size(); ++i) hasOutput_[i] = request.outputs[i].present();
  size_t gemmBytes = 0;
  for (const Gemm* gemm : {&inputGemm_, &stateGemm_, &candidateGemm_, &oneGemm_})
    gemmBytes = std::max(gemmBytes, gemm->scratchBytes());
  const int64_t all = gates_ * hidden_;
  int64_t floats = wholeLines(checkedMultiply(checkedMultiply(steps_, batch_), all));
  floats = checkedAdd(floats, 2 * wholeLines(all * std::max<int64_t>(batch_, 1)) + 3 * wholeLines(batch_ * hidden_));
  directionBytes_ = checkedAdd(checkedMultiply<int64_t>(4, floats), static_cast<int64_t>(alignUp(gemmBytes)));
}

Run RecurrentOp::startRun(const OpContext& context, int64_t direction) const {
  float* at = reinterpret_cast<float*>(context.scratch + direction * directionBytes_);
  const auto take = [&at](int64_t floats) {
    float* block = at;
    at += wholeLines(floats);
    return block;
  };
  const int64_t all = gates_ * hidden_;
  Run run{direction, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  run.inputs = take(steps_ * batch_ * all);
  run.gates = take(batch_ * all);
  run.candidate = take(batch_ * hidden_);
  run.h = take(batch_ * hidden_);
  run.c = take(batch_ * hidden_);
  run.bias = take(all);
  run.gemm = reinterpret_cast<std::byte*>(at);
  return run;
}

void RecurrentOp::run(const OpContext& context) const {
  const int lanes = directions_ > 1 ? std::min(context.lanes, 2) : 1;
  parallelFor(lanes, directions_, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t direction = begin; direction < end; ++direction) runDirection(context, direction);
  });
}

int64_t RecurrentOp::lengthOf(const OpContext& context, int64_t item) const {
  if (!hasLengths_) return steps_;
  const int64_t length = context.in<int32_t>(kLengths)[item];
  require(length >= 0 && length <= steps_, MAX_STATUS_OUT_OF_RANGE, "Sequence length ", length, " is not in [0, ",
          steps_, "]");
  return length;
}

int64_t RecurrentOp::outputOffset(int64_t step, int64_t direction, int64_t item) const {
  return (batchFirst_ ? (item * steps_ + step) * directions_ + direction
                      : (step * directions_ + direction) * batch_ + item) *
         hidden_;
}

void RecurrentOp::addBiases(const float* inputBias, const float* stateBias, float* sum) const {
  for (int64_t i = 0; i < gates_ * hidden_; ++i) sum[i] = inputBias[i] + stateBias[i];
}

void RecurrentOp::runDirection(const OpContext& context, int64_t direction) const {
  const Run run = startRun(context, direction);
  const int64_t all = gates_ * hidden_;
  if (hasBias_) {
    const float* bias = context.in<float>(kBias) + direction * 2 * all;
    addBiases(bias, bias + all, run.bias);
  }
  GemmOperands operands;
  operands.a = context.in<float>(kX);
  operands.lda = inputSize_;
  operands.b = weights_->input->data() + direction * weights_->input->stride();
  operands.c = run.inputs;
  operands.ldc = all;
  operands.bias = hasBias_ ? run.bias : nullptr;
  inputGemm_.run(operands, run.gemm, context.lanes);
  copyState(hasInitialH_ ? context.in<float>(kInitialH) : nullptr, run.h, direction, false);
  copyState(hasInitialC_ ? context.in<float>(kInitialC) : nullptr, run.c, direction, false);
  int64_t longest = 0;
  for (int64_t item = 0; item < batch_; ++item) longest = std::max(longest, lengthOf(context, item));
  for (int64_t i = 0; i < longest; ++i, passWork(gates_ * hidden_ * batch_)) step(context, run, i);
  clearTail(context, direction);
  if (hasOutput_[1]) copyState(run.h, context.out<float>(1), direction, true);
  if (hasOutput_[2]) copyState(run.c, context.out<float>(2), direction, true);
}

// Between the state of one direction and the tensor of all; NULL = zeros.
void RecurrentOp::copyState(const float* from, float* to, int64_t direction, bool isOutput) const {
  for (int64_t item = 0; item < batch_; ++item) {
    const int64_t outer = stateOffset(direction, item), inner = item * hidden_;
    float* target = to + (isOutput ? outer : inner);
    if (from)
      std::copy_n(from + (isOutput ? inner : outer), hidden_, target);
    else
      std::fill_n(target, hidden_, 0.f);
  }
}

// Outputs after the end of a sequence are zero.
void RecurrentOp::clearTail(const OpContext& context, int64_t direction) const {
  if (!hasLengths_ || !hasOutput_[0]) return;
  WorkCounter work;
  for (int64_t item = 0; item < batch_; ++item)
    for (int64_t i = lengthOf(context, item); i < steps_; ++i, work.pass(8 + hidden_))
      std::fill_n(context.out<float>() + outputOffset(i, direction, item), hidden_, 0.f);
}

void RecurrentOp::step(const OpContext& context, const Run& run, int64_t index) const {
  multiply(context, run);
  const int64_t all = gates_ * hidden_;
  WorkCounter work;
  for (int64_t item = 0; item < batch_; ++item, work.pass(16 + 4 * all)) {
    const int64_t length = lengthOf(context, item);
    if (index >= length) continue;
    const int64_t at = isReverse(run.direction) ? length - 1 - index : index;
    cell(context, run, run.inputs + (batchFirst_ ? item * steps_ + at : at * batch_ + item) * all, item);
    if (hasOutput_[0])
      std::copy_n(run.h + item * hidden_, hidden_, context.out<float>() + outputOffset(at, run.direction, item));
  }
}

void RecurrentOp::multiplyState(const OpContext& context, const Run& run, const PackedWeights& weights,
                                const Gemm& gemm, const float* state, float* out, int64_t stride) const {
  GemmOperands operands;
  operands.a = state;
  operands.lda = hidden_;
  operands.b = weights.data() + run.direction * weights.stride();
  operands.c = out;
  operands.ldc = stride;
  gemm.run(operands, run.gemm, context.lanes);
}

constexpr std::string_view kLstmDefaults[] = {"Sigmoid", "Tanh", "Tanh"};
constexpr std::string_view kGruDefaults[] = {"Sigmoid", "Tanh"};
constexpr std::string_view kRnnDefaults[] = {"Tanh"};

// Gates in the order input, output, forget, cell.
class LstmOp : public RecurrentOp {
 public:
  LstmOp(const OpRequest& request, const readers::Recurrent& layer, const GemmTable& table)
      : RecurrentOp(request, layer, table, 4, kLstmDefaults),
        couples_(layer.couplesGates),
        hasPeepholes_(request.has(kPeepholes)) {}

 private:
  void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const override {
    const int64_t n = hidden_;
    float* gates = run.gates + item * 4 * n;
    float* c = run.c + item * n;
    float* h = run.h + item * n;
    float *in = gates, *out = gates + n, *forget = gates + 2 * n, *update = gates + 3 * n;
    const float* peepholes = hasPeepholes_ ? context.in<float>(kPeepholes) + run.direction * 3 * n : nullptr;
    for (int64_t i = 0; i < 4 * n; ++i) gates[i] += input[i];
    if (peepholes) {
      for (int64_t i = 0; i < n; ++i) in[i] += peepholes[i] * c[i];
      for (int64_t i = 0; i < n; ++i) forget[i] += peepholes[2 * n + i] * c[i];
    }
    clip(in, n);
    clip(forget, 2 * n);
    activation(run, 0).apply(in, n);
    activation(run, 0).apply(forget, n);
    activation(run, 1).apply(update, n);
    for (int64_t i = 0; i < n && couples_; ++i) forget[i] = 1 - in[i];
    for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + in[i] * update[i];
    for (int64_t i = 0; i < n && peepholes; ++i) out[i] += peepholes[n + i] * c[i];
    clip(out, n);
    activation(run, 0).apply(out, n);
    std::copy_n(c, n, h);
    activation(run, 2).apply(h, n);
    for (int64_t i = 0; i < n; ++i) h[i] *= out[i];
  }

  bool couples_, hasPeepholes_;
};

// Gates in the order update, reset, candidate. The candidate's product with the state is apart.
class GruOp : public RecurrentOp {
 public:
  GruOp(const OpRequest& request, const readers::Recurrent& layer, const GemmTable& table)
      : RecurrentOp(request, layer, table, 3, kGruDefaults), linear_(layer.resetsLate) {}

 private:
  // The candidate's state bias is inside the reset when the product comes first.
  void addBiases(const float* inputBias, const float* stateBias, float* sum) const override {
    for (int64_t i = 0; i < 3 * hidden_; ++i)
      sum[i] = inputBias[i] + (linear_ && i >= 2 * hidden_ ? 0.f : stateBias[i]);
  }

  void multiply(const OpContext& context, const Run& run) const override {
    RecurrentOp::multiply(context, run);
    if (linear_) multiplyState(context, run, *weights_->candidate, candidateGemm_, run.h, run.candidate, hidden_);
  }

  void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const override {
    const int64_t n = hidden_;
    float* gates = run.gates + item * 3 * n;
    float* h = run.h + item * n;
    float* product = run.candidate + item * n;
    float *update = gates, *reset = gates + n, *candidate = gates + 2 * n;
    for (int64_t i = 0; i < 2 * n; ++i) gates[i] += input[i];
    clip(gates, 2 * n);
    activation(run, 0).apply(gates, 2 * n);
    if (linear_) {
      const float* bias = hasBias_ ? context.in<float>(kBias) + (run.direction * 6 + 5) * n : nullptr;
      for (int64_t i = 0; i < n; ++i)
        candidate[i] = input[2 * n + i] + reset[i] * (product[i] + (bias ? bias[i] : 0.f));
    } else {
      for (int64_t i = 0; i < n; ++i) reset[i] *= h[i];
      multiplyState(context, run, *weights_->candidate, oneGemm_, reset, product, n);
      for (int64_t i = 0; i < n; ++i) candidate[i] = input[2 * n + i] + product[i];
    }
    clip(candidate, n);
    activation(run, 1).apply(candidate, n);
    for (int64_t i = 0; i < n; ++i) h[i] = candidate[i] + update[i] * (h[i] - candidate[i]);
  }

  bool linear_;
};

class RnnOp : public RecurrentOp {
 public:
  RnnOp(const OpRequest& request, const readers::Recurrent& layer, const GemmTable& table)
      : RecurrentOp(request, layer, table, 1, kRnnDefaults) {}

 private:
  void cell(const OpContext&, const Run& run, const float* input, int64_t item) const override {
    const float* gate = run.gates + item * hidden_;
    float* h = run.h + item * hidden_;
    for (int64_t i = 0; i < hidden_; ++i) h[i] = gate[i] + input[i];
    clip(h, hidden_);
    activation(run, 0).apply(h, hidden_);
  }
};

bool acceptsLayer(const OpRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.has(i) && request.inputs[i].dtype != (i == kLengths ? DType::Int32 : DType::Float32)) return false;
  return request.node.prepared || (request.inputs[kW].constant && request.inputs[kR].constant);
}

template <class Layer>
std::unique_ptr<OpKernel> createLayer(const OpRequest& request) {
  return std::make_unique<Layer>(request, readers::Recurrent(request.node.attributes), gemmTable());
}

bool acceptsWordsLayer(const OpRequest& request) {
  return gemmTableFor(request.node).wordElements == 2 && acceptsLayer(request);
}

template <class Layer>
std::unique_ptr<OpKernel> createWordsLayer(const OpRequest& request) {
  return std::make_unique<Layer>(request, readers::Recurrent(request.node.attributes), gemmTableFor(request.node));
}

template <class Layer>
constexpr Implementation kLayer[] = {{"recurrent_bf16", acceptsWordsLayer, createWordsLayer<Layer>},
                                     {"recurrent_f32", acceptsLayer, createLayer<Layer>}};

const OpRow kRows[] = {
    {"", "LSTM", kLayer<LstmOp>, prepareLayer},
    {"", "GRU", kLayer<GruOp>, prepareLayer},
    {"", "RNN", kLayer<RnnOp>, prepareLayer},
};

}  // namespace

std::span<const OpRow> recurrentOps() { return kRows; }

}  // namespace max
