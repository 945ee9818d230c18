// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN of float32, and an LSTM with weights of bytes: one matrix product over all steps for the input;
// then each step is one product with the state, and the cell.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/activations.h"
#include "ops/cpu/matrix/matmul.h"
#include "ops/cpu/recurrent/products.h"

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
  bool replaces(size_t index) const override { return index == kW || index == kR; }
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
  if (constants.size() < 3 || !constants[kW] || !constants[kR] || constants[kW]->dtype() != DType::Float32)
    return nullptr;
  return packWeights(gemmTableFor(node), *constants[kW], *constants[kR], node.is("GRU"));
}

bool hasConstantWeights(const OpRequest& request) {
  return request.node.prepared || (request.inputs[kW].constant && request.inputs[kR].constant);
}

// NULL if they are not constant.
Ref<RecurrentWeights> weightsOf(const OpRequest& request, const GemmTable& table) {
  auto* prepared = dynamic_cast<RecurrentWeights*>(request.node.prepared.get());
  if (prepared && prepared->input->fits(table)) return Ref<RecurrentWeights>(prepared);
  if (!hasConstantWeights(request)) return nullptr;
  return packWeights(table, *request.inputs[kW].constant, *request.inputs[kR].constant, request.node.is("GRU"));
}

// Those of weights that are float32 in the model. What is not constant is packed by each call.
class FloatProducts final : public RecurrentProducts {
 public:
  FloatProducts(const OpRequest& request, const RecurrentSizes& sizes, const GemmTable& table)
      : table_(table),
        sizes_(sizes),
        weights_(weightsOf(request, table)),
        matrices_{{kW, 0, sizes.all(), sizes.inputSize, 0},
                  {kR, 0, sizes.gates == 3 ? 2 * sizes.hidden : sizes.all(), sizes.hidden, 0},
                  {kR, 2 * sizes.hidden, sizes.gates == 3 ? sizes.hidden : 0, sizes.hidden, 0}},
        input_(gemmOf(request, table, checkedMultiply(sizes.steps, sizes.batch), sizes.all(), sizes.inputSize)),
        most_(request, sizes, table, sizes.mostItems()),
        fewest_(request, sizes, table, sizes.fewestItems()) {
    sharedBytes_ = alignUp(input_.scratchBytes());
    for (Matrix& matrix : matrices_) {
      matrix.at = sharedBytes_;
      if (weights_) continue;
      const int64_t floats = packedCount(table, matrix.depth, matrix.columns);
      sharedBytes_ = checkedAdd(sharedBytes_, alignUp(checkedMultiply(sizeof(float), static_cast<size_t>(floats))));
    }
  }

  size_t scratchBytes() const override { return sharedBytes_; }
  size_t itemBytes() const override {
    size_t bytes = 0;
    for (const ItemGemms* items : {&most_, &fewest_})
      bytes = std::max({bytes, items->gates.scratchBytes(), items->candidate.scratchBytes()});
    return bytes;
  }

  void start(const OpContext& context, int64_t direction, std::byte* shared) const override {
    if (weights_) return;
    for (const Matrix& matrix : matrices_) {
      const float* rows = context.in<float>(matrix.input) + (direction * sizes_.all() + matrix.first) * matrix.depth;
      packMatrix(table_, {rows, 1, matrix.depth, 1, matrix.depth, matrix.columns},
                 reinterpret_cast<float*>(shared + matrix.at), context.lanes);
    }
  }

  void multiplyInputs(const OpContext& context, int64_t direction, const float* bias, float* out,
                      std::byte* shared) const override {
    GemmOperands operands;
    operands.a = context.in<float>(kX);
    operands.lda = sizes_.inputSize;
    operands.b = packed(kInput, direction, shared);
    operands.c = out;
    operands.ldc = sizes_.all();
    operands.bias = bias;
    input_.run(operands, shared, context.lanes);
  }

  void multiplyState(const OpContext& context, const RecurrentItems& items, StateProduct which, const float* state,
                     float* out) const override {
    const bool isGates = which == StateProduct::Gates;
    GemmOperands operands;
    operands.a = state;
    operands.lda = sizes_.hidden;
    operands.b = packed(isGates ? kGates : kCandidate, items.direction, items.shared);
    operands.c = out;
    operands.ldc = isGates ? sizes_.all() : sizes_.hidden;
    operands.fromLast = items.step % 2 != 0;
    const ItemGemms& gemms = items.count == sizes_.mostItems() ? most_ : fewest_;
    (isGates ? gemms.gates : gemms.candidate).run(operands, items.memory, context.lanes);
  }

 private:
  enum Part : size_t { kInput, kGates, kCandidate };
  struct Matrix {
    size_t input;
    int64_t first, columns, depth;  // rows of the input that become columns
    size_t at;                      // in shared memory, if it is packed there
  };
  // For a block of so many items.
  struct ItemGemms {
    Gemm gates, candidate;
    ItemGemms(const OpRequest& request, const RecurrentSizes& sizes, const GemmTable& table, int64_t items)
        : gates(stateGemm(request, sizes, table, items, sizes.gates == 3 ? 2 * sizes.hidden : sizes.all())),
          candidate(stateGemm(request, sizes, table, items, sizes.hidden)) {}
  };

  const float* packed(Part part, int64_t direction, const std::byte* shared) const {
    if (!weights_) return reinterpret_cast<const float*>(shared + matrices_[part].at);
    const PackedWeights& weights = part == kInput   ? *weights_->input
                                   : part == kGates ? *weights_->state
                                                    : *weights_->candidate;
    return weights.data() + direction * weights.stride();
  }

  // The number of items follows that of lanes.
  static Gemm stateGemm(const OpRequest& request, const RecurrentSizes& sizes, const GemmTable& table, int64_t items,
                        int64_t columns) {
    GemmTypes types(table);
    types.isPart = sizes.batch > 1;
    return gemmOf(request, types, items, columns, sizes.hidden);
  }
  static Gemm gemmOf(const OpRequest& request, const GemmTypes& types, int64_t rows, int64_t columns, int64_t depth) {
    return {rows, columns, 1, depth, Epilogue(), request.lanes, WorkVector<GemmOffsets>(1), PartialSums::Float32,
            types};
  }

  const GemmTable& table_;
  RecurrentSizes sizes_;
  Ref<RecurrentWeights> weights_;
  Matrix matrices_[3];
  Gemm input_;
  ItemGemms most_, fewest_;
  size_t sharedBytes_;
};

// Memory of one direction while it runs.
struct Run {
  RecurrentItems items;
  float* inputs;     // [steps * batch][gates * hidden]: W x and biases
  float* gates;      // [batch][gates * hidden]
  float* candidate;  // [batch][hidden], GRU
  float* h;          // [batch][hidden]
  float* c;          // [batch][hidden]
  float* bias;       // [gates * hidden]
};

class RecurrentOp : public OpKernel {
 public:
  RecurrentOp(const OpRequest& request, const readers::Recurrent& layer, const RecurrentSizes& sizes,
              std::unique_ptr<RecurrentProducts> products, std::span<const std::string_view> activations);
  void run(const OpContext& context) const override;
  size_t scratchBytes() const override { return static_cast<size_t>(sizes_.directions * directionBytes_); }

 protected:
  // Advances the state of one item by one step, once R h is in run.gates. `input` = W x and biases of the step.
  virtual void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const = 0;
  // Of a cell with a second product, and what comes before it.
  virtual bool multipliesAgain() const { return false; }
  virtual void openCell(const Run&, const float* /*input*/, int64_t /*item*/) const {}
  virtual void multiplyAgain(const OpContext&, const Run&) const {}
  // The products with the state at the start of a step.
  virtual void multiply(const OpContext& context, const Run& run) const {
    const int64_t first = run.items.first;
    multiplyState(context, run, StateProduct::Gates, run.h + first * sizes_.hidden, run.gates + first * sizes_.all());
  }
  virtual void addBiases(const float* inputBias, const float* stateBias, float* sum) const;

  const CellActivation& activation(const Run& run, size_t index) const {
    return activations_[static_cast<size_t>(run.items.direction) * activationCount_ + index];
  }
  void clip(float* x, int64_t count) const {
    for (int64_t i = 0; i < count && hasClip_; ++i) x[i] = std::clamp(x[i], -clip_, clip_);
  }
  void multiplyState(const OpContext& context, const Run& run, StateProduct which, const float* state,
                     float* out) const {
    products_->multiplyState(context, run.items, which, state, out);
  }

  RecurrentSizes sizes_;
  bool hasBias_;

 private:
  Run startRun(const OpContext& context, int64_t direction) const;
  Run prepareDirection(const OpContext& context, int64_t direction) const;
  void runItems(const OpContext& context, Run run, int64_t block) const;
  void step(const OpContext& context, const Run& run) const;
  template <class Body>
  void forItems(const OpContext& context, const Run& run, Body body) const;
  void copyState(const RecurrentItems& items, const float* from, float* to, bool isOutput) const;
  void clearTail(const OpContext& context, const RecurrentItems& items) const;
  int64_t lengthOf(const OpContext& context, int64_t item) const;
  int64_t outputOffset(int64_t step, int64_t direction, int64_t item) const;
  int64_t stateOffset(int64_t direction, int64_t item) const {
    return (batchFirst_ ? item * sizes_.directions + direction : direction * sizes_.batch + item) * sizes_.hidden;
  }
  bool isReverse(int64_t direction) const { return reverse_ || direction == 1; }

  std::unique_ptr<RecurrentProducts> products_;
  size_t activationCount_;
  std::vector<CellActivation> activations_;
  bool batchFirst_, reverse_, hasLengths_, hasInitialH_, hasInitialC_, hasClip_;
  bool hasOutput_[3];
  float clip_;
  int64_t directionBytes_, itemBytes_;
};

RecurrentOp::RecurrentOp(const OpRequest& request, const readers::Recurrent& layer, const RecurrentSizes& sizes,
                         std::unique_ptr<RecurrentProducts> products, std::span<const std::string_view> activations)
    : sizes_(sizes),
      hasBias_(request.has(kBias)),
      products_(std::move(products)),
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
  const int64_t all = sizes_.all(), batch = sizes_.batch;
  int64_t floats = wholeLines(checkedMultiply(checkedMultiply(sizes_.steps, batch), all));
  floats =
      checkedAdd(floats, 2 * wholeLines(all * std::max<int64_t>(batch, 1)) + 3 * wholeLines(batch * sizes_.hidden));
  itemBytes_ = static_cast<int64_t>(alignUp(products_->itemBytes()));
  directionBytes_ =
      checkedAdd(checkedMultiply<int64_t>(4, floats), static_cast<int64_t>(alignUp(products_->scratchBytes())));
  directionBytes_ = checkedAdd(directionBytes_, checkedMultiply(sizes_.blocks, itemBytes_));
}

Run RecurrentOp::startRun(const OpContext& context, int64_t direction) const {
  float* at = reinterpret_cast<float*>(context.scratch + direction * directionBytes_);
  const auto take = [&at](int64_t floats) {
    float* block = at;
    at += wholeLines(floats);
    return block;
  };
  const int64_t all = sizes_.all();
  Run run{};
  run.items.direction = direction;
  run.inputs = take(sizes_.steps * sizes_.batch * all);
  run.gates = take(sizes_.batch * all);
  run.candidate = take(sizes_.batch * sizes_.hidden);
  run.h = take(sizes_.batch * sizes_.hidden);
  run.c = take(sizes_.batch * sizes_.hidden);
  run.bias = take(all);
  run.items.memory = reinterpret_cast<std::byte*>(at);
  run.items.shared = run.items.memory + sizes_.blocks * itemBytes_;
  return run;
}

void RecurrentOp::run(const OpContext& context) const {
  const int64_t directions = sizes_.directions;
  if (sizes_.blocks > 1) {
    for (int64_t direction = 0; direction < directions; ++direction) prepareDirection(context, direction);
    return context.parallelFor(directions * sizes_.blocks, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t task = begin; task < end; ++task)
        runItems(context, startRun(context, task % directions), task / directions);
    });
  }
  parallelFor(directions > 1 ? std::min(context.lanes, 2) : 1, directions, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t direction = begin; direction < end; ++direction)
      runItems(context, prepareDirection(context, direction), 0);
  });
}

int64_t RecurrentOp::lengthOf(const OpContext& context, int64_t item) const {
  if (!hasLengths_) return sizes_.steps;
  const int64_t length = context.in<int32_t>(kLengths)[item];
  require(length >= 0 && length <= sizes_.steps, MAX_STATUS_OUT_OF_RANGE, "Sequence length ", length, " is not in [0, ",
          sizes_.steps, "]");
  return length;
}

int64_t RecurrentOp::outputOffset(int64_t step, int64_t direction, int64_t item) const {
  return (batchFirst_ ? (item * sizes_.steps + step) * sizes_.directions + direction
                      : (step * sizes_.directions + direction) * sizes_.batch + item) *
         sizes_.hidden;
}

void RecurrentOp::addBiases(const float* inputBias, const float* stateBias, float* sum) const {
  for (int64_t i = 0; i < sizes_.all(); ++i) sum[i] = inputBias[i] + stateBias[i];
}

// The part of all inputs in the gates.
Run RecurrentOp::prepareDirection(const OpContext& context, int64_t direction) const {
  const Run run = startRun(context, direction);
  const int64_t all = sizes_.all();
  if (hasBias_) {
    const float* bias = context.in<float>(kBias) + direction * 2 * all;
    addBiases(bias, bias + all, run.bias);
  }
  products_->start(context, direction, run.items.shared);
  products_->multiplyInputs(context, direction, hasBias_ ? run.bias : nullptr, run.inputs, run.items.shared);
  return run;
}

void RecurrentOp::runItems(const OpContext& context, Run run, int64_t block) const {
  RecurrentItems& items = run.items;
  items.first = sizes_.firstItem(block);
  items.count = sizes_.firstItem(block + 1) - items.first;
  items.memory += block * itemBytes_;
  copyState(items, hasInitialH_ ? context.in<float>(kInitialH) : nullptr, run.h, false);
  copyState(items, hasInitialC_ ? context.in<float>(kInitialC) : nullptr, run.c, false);
  int64_t longest = 0;
  for (int64_t i = 0; i < items.count; ++i) longest = std::max(longest, lengthOf(context, items.first + i));
  for (; items.step < longest; ++items.step, passWork(sizes_.all() * items.count)) step(context, run);
  clearTail(context, items);
  if (hasOutput_[1]) copyState(items, run.h, context.out<float>(1), true);
  if (hasOutput_[2]) copyState(items, run.c, context.out<float>(2), true);
}

// Between the states of a direction and the tensor of all; NULL = zeros.
void RecurrentOp::copyState(const RecurrentItems& items, const float* from, float* to, bool isOutput) const {
  for (int64_t item = items.first; item < items.first + items.count; ++item) {
    const int64_t outer = stateOffset(items.direction, item), inner = item * sizes_.hidden;
    float* target = to + (isOutput ? outer : inner);
    if (from)
      std::copy_n(from + (isOutput ? inner : outer), sizes_.hidden, target);
    else
      std::fill_n(target, sizes_.hidden, 0.f);
  }
}

// Outputs after the end of a sequence are zero.
void RecurrentOp::clearTail(const OpContext& context, const RecurrentItems& items) const {
  if (!hasLengths_ || !hasOutput_[0]) return;
  WorkCounter work;
  for (int64_t item = items.first; item < items.first + items.count; ++item)
    for (int64_t i = lengthOf(context, item); i < sizes_.steps; ++i, work.pass(8 + sizes_.hidden))
      std::fill_n(context.out<float>() + outputOffset(i, items.direction, item), sizes_.hidden, 0.f);
}

// Calls body(item, its step in the sequence, its inputs' part) for items whose sequence has this step.
template <class Body>
void RecurrentOp::forItems(const OpContext& context, const Run& run, Body body) const {
  const RecurrentItems& items = run.items;
  const int64_t all = sizes_.all();
  WorkCounter work;
  for (int64_t item = items.first; item < items.first + items.count; ++item, work.pass(16 + 4 * all)) {
    const int64_t length = lengthOf(context, item);
    if (items.step >= length) continue;
    const int64_t at = isReverse(items.direction) ? length - 1 - items.step : items.step;
    body(item, at, run.inputs + (batchFirst_ ? item * sizes_.steps + at : at * sizes_.batch + item) * all);
  }
}

void RecurrentOp::step(const OpContext& context, const Run& run) const {
  multiply(context, run);
  if (multipliesAgain()) {
    forItems(context, run, [&](int64_t item, int64_t, const float* input) { openCell(run, input, item); });
    multiplyAgain(context, run);
  }
  forItems(context, run, [&](int64_t item, int64_t at, const float* input) {
    cell(context, run, input, item);
    if (hasOutput_[0])
      std::copy_n(run.h + item * sizes_.hidden, sizes_.hidden,
                  context.out<float>() + outputOffset(at, run.items.direction, item));
  });
}

constexpr std::string_view kLstmDefaults[] = {"Sigmoid", "Tanh", "Tanh"};
constexpr std::string_view kGruDefaults[] = {"Sigmoid", "Tanh"};
constexpr std::string_view kRnnDefaults[] = {"Tanh"};

// Whether the loops of RecurrentTable do for these functions.
bool isUsual(const Node& node, const readers::Recurrent& layer, std::span<const std::string_view> defaults) {
  const std::vector<readers::CellFunction> functions = layer.activations(node.attributes, defaults);
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name != defaults[i % defaults.size()]) return false;
  return !layer.clip;
}

// Gates in the order input, output, forget, cell.
class LstmOp : public RecurrentOp {
 public:
  static constexpr int64_t kGates = 4;
  LstmOp(const OpRequest& request, const readers::Recurrent& layer, const RecurrentSizes& sizes,
         std::unique_ptr<RecurrentProducts> products)
      : RecurrentOp(request, layer, sizes, std::move(products), kLstmDefaults),
        table_(recurrentTable()),
        couples_(layer.couplesGates),
        hasPeepholes_(request.has(kPeepholes)),
        isUsual_(!couples_ && !hasPeepholes_ && isUsual(request.node, layer, kLstmDefaults)) {}

 private:
  void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const override {
    const int64_t n = sizes_.hidden;
    float* gates = run.gates + item * 4 * n;
    float* c = run.c + item * n;
    float* h = run.h + item * n;
    if (isUsual_) return table_.lstmCell(gates, input, c, h, n);
    float *in = gates, *out = gates + n, *forget = gates + 2 * n, *update = gates + 3 * n;
    const float* peepholes = hasPeepholes_ ? context.in<float>(kPeepholes) + run.items.direction * 3 * n : nullptr;
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

  const RecurrentTable& table_;
  bool couples_, hasPeepholes_, isUsual_;
};

// Gates in the order update, reset, candidate. The candidate's product with the state is apart.
class GruOp : public RecurrentOp {
 public:
  static constexpr int64_t kGates = 3;
  GruOp(const OpRequest& request, const readers::Recurrent& layer, const RecurrentSizes& sizes,
        std::unique_ptr<RecurrentProducts> products)
      : RecurrentOp(request, layer, sizes, std::move(products), kGruDefaults),
        table_(recurrentTable()),
        linear_(layer.resetsLate),
        isUsual_(isUsual(request.node, layer, kGruDefaults)) {}

 private:
  // The candidate's state bias is inside the reset when the product comes first.
  void addBiases(const float* inputBias, const float* stateBias, float* sum) const override {
    for (int64_t i = 0; i < 3 * sizes_.hidden; ++i)
      sum[i] = inputBias[i] + (linear_ && i >= 2 * sizes_.hidden ? 0.f : stateBias[i]);
  }

  void multiply(const OpContext& context, const Run& run) const override {
    RecurrentOp::multiply(context, run);
    if (linear_) multiplyCandidates(context, run, run.h);
  }
  bool multipliesAgain() const override { return !linear_; }
  // The state after the reset lies where other layers have c.
  void openCell(const Run& run, const float* input, int64_t item) const override {
    const int64_t n = sizes_.hidden;
    const float* h = run.h + item * n;
    float* left = run.c + item * n;
    if (isUsual_) return table_.gruReset(run.gates + item * 3 * n, input, h, left, n);
    const float* reset = openGates(run, input, item) + n;
    for (int64_t i = 0; i < n; ++i) left[i] = reset[i] * h[i];
  }
  void multiplyAgain(const OpContext& context, const Run& run) const override {
    multiplyCandidates(context, run, run.c);
  }
  void multiplyCandidates(const OpContext& context, const Run& run, const float* states) const {
    const int64_t at = run.items.first * sizes_.hidden;
    multiplyState(context, run, StateProduct::Candidate, states + at, run.candidate + at);
  }

  float* openGates(const Run& run, const float* input, int64_t item) const {
    const int64_t n = sizes_.hidden;
    float* gates = run.gates + item * 3 * n;
    for (int64_t i = 0; i < 2 * n; ++i) gates[i] += input[i];
    clip(gates, 2 * n);
    activation(run, 0).apply(gates, 2 * n);
    return gates;
  }

  void cell(const OpContext& context, const Run& run, const float* input, int64_t item) const override {
    const int64_t n = sizes_.hidden;
    float* h = run.h + item * n;
    const float* product = run.candidate + item * n;
    const float* bias = linear_ && hasBias_ ? context.in<float>(kBias) + (run.items.direction * 6 + 5) * n : nullptr;
    if (isUsual_) return table_.gruCell(run.gates + item * 3 * n, input, product, bias, linear_, h, n);
    float* gates = linear_ ? openGates(run, input, item) : run.gates + item * 3 * n;
    const float *update = gates, *reset = gates + n;
    float* candidate = gates + 2 * n;
    if (linear_) {
      for (int64_t i = 0; i < n; ++i)
        candidate[i] = input[2 * n + i] + reset[i] * (product[i] + (bias ? bias[i] : 0.f));
    } else {
      for (int64_t i = 0; i < n; ++i) candidate[i] = input[2 * n + i] + product[i];
    }
    clip(candidate, n);
    activation(run, 1).apply(candidate, n);
    for (int64_t i = 0; i < n; ++i) h[i] = candidate[i] + update[i] * (h[i] - candidate[i]);
  }

  const RecurrentTable& table_;
  bool linear_, isUsual_;
};

class RnnOp : public RecurrentOp {
 public:
  static constexpr int64_t kGates = 1;
  RnnOp(const OpRequest& request, const readers::Recurrent& layer, const RecurrentSizes& sizes,
        std::unique_ptr<RecurrentProducts> products)
      : RecurrentOp(request, layer, sizes, std::move(products), kRnnDefaults) {}

 private:
  void cell(const OpContext&, const Run& run, const float* input, int64_t item) const override {
    const float* gate = run.gates + item * sizes_.hidden;
    float* h = run.h + item * sizes_.hidden;
    for (int64_t i = 0; i < sizes_.hidden; ++i) h[i] = gate[i] + input[i];
    clip(h, sizes_.hidden);
    activation(run, 0).apply(h, sizes_.hidden);
  }
};

bool acceptsLayer(const OpRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.has(i) && request.inputs[i].dtype != (i == kLengths ? DType::Int32 : DType::Float32)) return false;
  return true;
}

std::unique_ptr<RecurrentProducts> floatProducts(const OpRequest& request, const RecurrentSizes& sizes,
                                                 const GemmTable& table) {
  return std::make_unique<FloatProducts>(request, sizes, table);
}

template <class Layer>
std::unique_ptr<OpKernel> createWith(const OpRequest& request, const GemmTable& table) {
  const readers::Recurrent layer(request.node.attributes);
  const RecurrentSizes sizes(request, layer, Layer::kGates, 4 * table.parts / table.wordElements);
  return std::make_unique<Layer>(request, layer, sizes, floatProducts(request, sizes, table));
}

template <class Layer>
std::unique_ptr<OpKernel> createLayer(const OpRequest& request) {
  return createWith<Layer>(request, gemmTable());
}

bool acceptsWordsLayer(const OpRequest& request) {
  return gemmTableFor(request.node).wordElements == 2 && hasConstantWeights(request) && acceptsLayer(request);
}

template <class Layer>
std::unique_ptr<OpKernel> createWordsLayer(const OpRequest& request) {
  return createWith<Layer>(request, gemmTableFor(request.node));
}

std::unique_ptr<OpKernel> createBytesLayer(const OpRequest& request) {
  const readers::Recurrent layer(request.node.attributes);
  const RecurrentSizes sizes(request, layer, LstmOp::kGates, 1);
  return std::make_unique<LstmOp>(request, layer, sizes, byteProducts(request, sizes));
}

template <class Layer>
constexpr Implementation kLayer[] = {{"recurrent_bf16", acceptsWordsLayer, createWordsLayer<Layer>},
                                     {"recurrent_f32", acceptsLayer, createLayer<Layer>}};

constexpr Implementation kBytesLayer[] = {{"recurrent_int8", nullptr, createBytesLayer}};

const OpRow kRows[] = {
    {"", "LSTM", kLayer<LstmOp>, prepareLayer},
    {"", "GRU", kLayer<GruOp>, prepareLayer},
    {"", "RNN", kLayer<RnnOp>, prepareLayer},
    {kMaxDomain, "DynamicQuantizeLSTM", kBytesLayer, prepareByteWeights},
};

}  // namespace

// Threads that share the items meet only at the end, but each reads all of R in each step, which has to lie in the
// second cache; otherwise threads share the columns of each product.
static int64_t blocksOf(const RecurrentSizes& sizes, int64_t weightBytes, int lanes) {
  constexpr int64_t kCachedBytes = 512 << 10;
  if (sizes.directions >= lanes || sizes.all() > kCachedBytes / std::max<int64_t>(sizes.hidden, 1) / weightBytes)
    return 1;
  return std::clamp<int64_t>((lanes + sizes.directions - 1) / sizes.directions, 1, std::max<int64_t>(sizes.batch, 1));
}

RecurrentSizes::RecurrentSizes(const OpRequest& request, const readers::Recurrent& layer, int64_t gateCount,
                               int64_t weightBytes)
    : gates(gateCount),
      steps(request.inputs[kX].shape[layer.isBatchFirst ? 1 : 0]),
      batch(request.inputs[kX].shape[layer.isBatchFirst ? 0 : 1]),
      inputSize(request.inputs[kX].shape[2]),
      hidden(std::min(request.inputs[kR].shape[1], request.inputs[kR].shape[2])),  // the other is that of all gates
      directions(request.inputs[kW].shape[0]),
      blocks(blocksOf(*this, weightBytes, request.lanes)) {}

std::span<const OpRow> recurrentOps() { return kRows; }

}  // namespace max
