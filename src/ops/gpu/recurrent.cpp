// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: first one product with the inputs of all steps. Then, of few hidden units, a block for each
// direction and sequence goes through all steps; of many, each step is a launch, or two, whose warps share the units.
#include "graph/readers/recurrent.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/product_source.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

using enum readers::RecurrentInput;

constexpr size_t kMostFunctions = 6;  // three for each direction

constexpr int64_t kSmallHidden = 128;    // whose weights one block goes through in about the time of a launch
constexpr int64_t kMostLaunches = 2048;  // of one layer
constexpr int64_t kTile = 64, kWarps = kRowThreads / 32;

constexpr const char* kRecurrent = R"(
struct Layout {
  long long steps, batch, inputs, hidden, directions, isBatchFirst, isReverse;
  long long starts, first, past, phases;  // what a launch does: sets states, these steps, 1 = what precedes cells, 2 = cells
  float clip, alphas[6], betas[6];
};

// With all biases but that of a product which its own gate scales.
extern "C" __global__ void __launch_bounds__(128)
    gpu_gates(const Layout layout, const Element* x, const Element* w BIAS, Sum* gates) {
  const long long perStep = GATES * layout.hidden, rows = layout.steps * layout.batch;
  const long long rowTiles = (rows + 63) / 64, tiles = rowTiles * ((perStep + 63) / 64);
  for (long long number = blockIdx.x; number < layout.directions * tiles; number += gridDim.x) {
    const long long direction = number / tiles, row0 = number % rowTiles * 64, column0 = number % tiles / rowTiles * 64;
    MatrixSource<Element, 64, 128, true> left(x, row0, rows, layout.inputs, 0, layout.inputs);
    MatrixSource<Element, 64, 128, true> right(w + direction * perStep * layout.inputs, column0, perStep, layout.inputs, 0,
                                               layout.inputs);
    const int kDepth = 64 / (int)sizeof(Element);
    const long long steps = (layout.inputs + kDepth - 1) / kDepth;
    multiplyTile<64, 64, 128, 2, 1>(left, right, steps, [&](int r, int c, const Sum (&sums)[1]) {
      Sum sum = sums[0];
      const long long at = row0 + r, row = column0 + c;
      if (at >= rows || row >= perStep) return;
      const long long item = layout.isBatchFirst ? at / layout.steps : at % layout.batch;
      const long long step = layout.isBatchFirst ? at % layout.steps : at / layout.batch;
      ADD_BIAS
      gates[((direction * layout.steps + step) * layout.batch + item) * perStep + row] = sum;
    });
  }
}

FUNCTIONS
static inline __device__ Sum clipped(const Layout& layout, Sum x) {
  return x > (Sum)layout.clip ? (Sum)layout.clip : x < -(Sum)layout.clip ? -(Sum)layout.clip : x;
}
// The product of a row of the weights, whose elements a warp's lanes share.
static inline __device__ Sum fromState(const Layout& layout, const Element* r, const Sum* state, long long row) {
  Sum sum = 0;
  for (long long k = threadIdx.x % 32; k < layout.hidden; k += 32) sum += (Sum)r[row * layout.hidden + k] * state[k];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
}

// States: h twice, for the step and the one before it, and two more lists. A warp has a unit at a time.
extern "C" __global__ void __launch_bounds__(128)
    gpu_recurrent(const Layout layout, const Element* r PARAMETERS, Sum* gates) {
  const long long hidden = layout.hidden, perStep = GATES * hidden;
  const long long direction = blockIdx.x / layout.batch, item = blockIdx.x % layout.batch;
  const long long at = (layout.isBatchFirst ? item * layout.directions + direction : direction * layout.batch + item) * hidden;
  const long long firstUnit = blockIdx.y * 4 + threadIdx.x / 32, apart = gridDim.y * 4;
  const bool isFirstLane = threadIdx.x % 32 == 0;
  Sum* states = gates + layout.directions * layout.steps * layout.batch * perStep + blockIdx.x * 4 * hidden;
  Sum *more = states + 2 * hidden, *other = states + 3 * hidden;
  const Element* weights = r + direction * perStep * hidden;
  long long length = LENGTH;
  length = length < 0 ? 0 : length > layout.steps ? layout.steps : length;
  if (layout.starts)
    for (long long unit = threadIdx.x; unit < hidden; unit += 128) {
      states[unit] = FIRST_H;
      more[unit] = FIRST_C;
      if (layout.steps > 0) continue;
      const Sum last = states[unit], lastCell = more[unit];
      (void)last, (void)lastCell;
      STORE_LAST
    }
  for (long long i = layout.first; i < layout.past; ++i) {
    __syncthreads();
    const bool isReverse = layout.isReverse || direction == 1, isPast = i >= length;
    const long long step = isPast ? i : isReverse ? length - 1 - i : i;
    const Sum *h = states + i % 2 * hidden, *given = gates + ((direction * layout.steps + step) * layout.batch + item) * perStep;
    Sum* next = states + (i + 1) % 2 * hidden;
    BEFORE
    for (long long unit = firstUnit; unit < hidden; unit += apart) {
      if (isPast) {
        if (isFirstLane) next[unit] = h[unit];
      } else {
        PRODUCTS
        if (isFirstLane) {
          CELL
        }
      }
      if (isFirstLane) {
        STORE_STEP
        if (i + 1 == layout.steps) {
          const Sum last = next[unit], lastCell = more[unit];
          (void)last, (void)lastCell;
          STORE_LAST
        }
      }
    }
  }
}
)";

// Gates i, o, f, c.
constexpr const char* kLstmProducts = R"(
        const Sum input0 = fromState(layout, weights, h, unit), output0 = fromState(layout, weights, h, hidden + unit);
        const Sum forget0 = COUPLES ? 0 : fromState(layout, weights, h, 2 * hidden + unit);
        const Sum made0 = fromState(layout, weights, h, 3 * hidden + unit);
)";
constexpr const char* kLstmCell = R"(
          const Sum cell = more[unit];
          const Sum input = function0(layout, direction, clipped(layout, given[unit] + input0 + PEEP0));
          const Sum forget = COUPLES ? 1 - input : function0(layout, direction, clipped(layout, given[2 * hidden + unit] +
              forget0 + PEEP2));
          const Sum made = function1(layout, direction, clipped(layout, given[3 * hidden + unit] + made0));
          const Sum changed = forget * cell + input * made;
          const Sum output = function0(layout, direction, clipped(layout, given[hidden + unit] + output0 + PEEP1_CHANGED));
          more[unit] = changed;
          next[unit] = output * function2(layout, direction, changed);
)";

// Gates z, r, h. What an early reset gate leaves is needed by all units.
constexpr const char* kGruBefore = R"(
    if (!RESETS_LATE) {
      for (long long unit = firstUnit; layout.phases & 1 && !isPast && unit < hidden; unit += apart) {
        const Sum reset0 = fromState(layout, weights, h, hidden + unit);
        if (isFirstLane)
          other[unit] = h[unit] * function0(layout, direction, clipped(layout, given[hidden + unit] + reset0));
      }
      if (!(layout.phases & 2)) continue;
      __syncthreads();
    }
)";
constexpr const char* kGruProducts = R"(
        const Sum update0 = fromState(layout, weights, h, unit);
        const Sum reset0 = RESETS_LATE ? fromState(layout, weights, h, hidden + unit) : 0;
        const Sum made0 = fromState(layout, weights, RESETS_LATE ? h : other, 2 * hidden + unit) + STATE_BIAS;
)";
constexpr const char* kGruCell = R"(
          const Sum update = function0(layout, direction, clipped(layout, given[unit] + update0));
          const Sum state = RESETS_LATE ?
              made0 * function0(layout, direction, clipped(layout, given[hidden + unit] + reset0)) : made0;
          const Sum candidate = function1(layout, direction, clipped(layout, given[2 * hidden + unit] + state));
          next[unit] = (1 - update) * candidate + update * h[unit];
)";

constexpr const char* kRnnProducts = "const Sum sum0 = fromState(layout, weights, h, unit);";
constexpr const char* kRnnCell = "next[unit] = function0(layout, direction, clipped(layout, given[unit] + sum0));";

struct RecurrentLayout {
  int64_t steps, batch, inputs, hidden, directions, isBatchFirst, isReverse;
  int64_t starts, first, past, phases;
  float clip, alphas[kMostFunctions], betas[kMostFunctions];
};

struct CellRow {
  std::string_view op;
  int64_t gates;
  std::vector<std::string_view> functions;
  const char *before, *products, *cell;
};
const CellRow& rowOf(const Node& node) {
  static const CellRow kCells[] = {{"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, "", kLstmProducts, kLstmCell},
                                   {"GRU", 3, {"Sigmoid", "Tanh"}, kGruBefore, kGruProducts, kGruCell},
                                   {"RNN", 1, {"Tanh"}, "", kRnnProducts, kRnnCell}};
  return *std::ranges::find(kCells, node.op(), &CellRow::op);
}

std::vector<readers::CellFunction> functionsOf(const Node& node) {
  return readers::Recurrent(node.attributes).activations(node.attributes, rowOf(node).functions);
}

RecurrentLayout layoutOf(const OpRequest& request) {
  const readers::Recurrent reader(request.node.attributes);
  const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape, &r = request.inputs[2].shape;
  RecurrentLayout layout{x[reader.isBatchFirst ? 1 : 0],
                         x[reader.isBatchFirst ? 0 : 1],
                         x[2],
                         r[2],
                         w[0],
                         reader.isBatchFirst,
                         reader.isReverse,
                         1,
                         0,
                         x[reader.isBatchFirst ? 1 : 0],
                         3,
                         reader.clip.value_or(INFINITY),
                         {},
                         {}};
  size_t i = 0;
  for (const readers::CellFunction& function : functionsOf(request.node)) {
    layout.alphas[i] = function.alpha;
    layout.betas[i++] = function.beta;
  }
  return layout;
}

// The steps of a launch, in blocks of so many for each direction and sequence.
void addSteps(SeveralOps& ops, const OpRequest& request, const RecurrentLayout& layout, int64_t blocks) {
  LaunchOp& steps = ops.add(0);
  steps.addFirst(layout);
  for (const size_t input : {2, 3, 4, 5, 6, 7})
    if (request.has(input)) steps.addInput(input);
  for (size_t output = 0; output < request.outputs.size(); ++output)
    if (request.outputs[output].present()) steps.addOutput(output);
  steps.addOutput(LaunchOp::kScratch);
  steps.setGrid(layout.directions * layout.batch, blocks, 1, kRowThreads);
}

std::unique_ptr<OpKernel> createRecurrent(const Placed& placed, const OpRequest& request) {
  RecurrentLayout layout = layoutOf(request);
  const int64_t perStep = rowOf(request.node).gates * layout.hidden, sequences = layout.directions * layout.batch;
  const int64_t rows = layout.steps * layout.batch;
  const int64_t sumBytes = request.inputs[0].dtype == DType::Float64 ? sizeof(double) : sizeof(float);
  auto ops = std::make_unique<SeveralOps>(
      placed, static_cast<size_t>(sequences * (layout.steps * perStep + 4 * layout.hidden) * sumBytes));
  LaunchOp& inputs = ops->add(1);
  inputs.addFirst(layout);
  for (const size_t input : {0, 1, 3})
    if (request.has(input)) inputs.addInput(input);
  inputs.addOutput(LaunchOp::kScratch);
  const int64_t tiles = ((rows + kTile - 1) / kTile) * ((perStep + kTile - 1) / kTile) * layout.directions;
  inputs.setGrid(std::clamp<int64_t>(tiles, 1, 65536), 1, 1, kRowThreads);
  const bool hasPhases = request.node.is("GRU") && !readers::Recurrent(request.node.attributes).resetsLate;
  if (layout.hidden <= kSmallHidden || layout.steps * (hasPhases ? 2 : 1) > kMostLaunches) {
    addSteps(*ops, request, layout, 1);
    return ops;
  }
  layout.past = 0;
  addSteps(*ops, request, layout, 1);
  layout.starts = 0;
  const int64_t blocks = std::min<int64_t>((layout.hidden + kWarps - 1) / kWarps, 65535);
  for (const int64_t steps = layoutOf(request).steps; layout.first < steps; ++layout.first) {
    layout.past = layout.first + 1;
    for (const int64_t phases : {1, 2}) {
      if (phases == 1 && !hasPhases) continue;
      layout.phases = phases;
      addSteps(*ops, request, layout, blocks);
    }
  }
  return ops;
}

// Of all directions; empty if one is unknown.
std::string activationsSource(const std::vector<readers::CellFunction>& functions) {
  std::string text;
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::string source = activationSource(functions[i].name, concat("activation", i));
    if (source.empty()) return "";
    text += source;
  }
  return text;
}

// functionN of a cell, in both directions.
std::string functionsSource(size_t count, size_t ofCell) {
  std::string text;
  const auto call = [](size_t k) {
    return concat("activation", k, "(x, layout.alphas[", k, "], layout.betas[", k, "])");
  };
  for (size_t i = 0; i < ofCell; ++i)
    text += concat("static inline __device__ Sum function", i, "(const Layout& layout, long long direction, Sum x) {\n",
                   "  return ", count > ofCell ? concat("direction == 1 ? ", call(ofCell + i), " : ") : "", call(i),
                   ";\n}\n");
  return text;
}

std::string cellSource(const char* text, const Node& node, const readers::Recurrent& reader) {
  const auto peephole = [&](int p, const char* cell) {
    return node.input(kPeepholes) ? concat("(Sum)peepholes[(direction * 3 + ", p, ") * hidden + unit] * ", cell) : "0";
  };
  return filledIn(text,
                  {{"PEEP0", peephole(0, "cell")},
                   {"PEEP1_CHANGED", peephole(1, "changed")},
                   {"PEEP2", peephole(2, "cell")},
                   {"COUPLES", reader.couplesGates ? "true" : "false"},
                   {"RESETS_LATE", reader.resetsLate ? "true" : "false"},
                   {"STATE_BIAS", node.input(kBias) ? "(Sum)bias[direction * 6 * hidden + 5 * hidden + unit]" : "0"}});
}

struct Parameter {
  size_t input;
  const char* text;
};
constexpr Parameter kInputs[] = {{kBias, ", const Element* bias"},
                                 {kLengths, ", const int* lengths"},
                                 {kInitialH, ", const Element* firstH"},
                                 {kInitialC, ", const Element* firstC"},
                                 {kPeepholes, ", const Element* peepholes"}};
constexpr const char* kOutputs[] = {", Element* y", ", Element* lastH", ", Element* lastC"};
constexpr const char* kStores[] = {
    "y[(layout.isBatchFirst ? (item * layout.steps + step) * layout.directions + direction : (step * layout.directions "
    "+ "
    "direction) * layout.batch + item) * hidden + unit] = (Element)(isPast ? (Sum)0 : next[unit]);",
    "lastH[at + unit] = (Element)last;\n", "lastC[at + unit] = (Element)lastCell;\n"};

std::string sourceFor(const Node& node, const std::vector<readers::CellFunction>& functions) {
  const readers::Recurrent reader(node.attributes);
  const bool isGru = node.is("GRU"), hasBias = node.input(kBias);
  std::string parameters, last;
  for (const Parameter& parameter : kInputs)
    if (node.input(parameter.input)) parameters += parameter.text;
  for (size_t i = 0; i < std::size(kOutputs); ++i) {
    if (!node.output(i)) continue;
    parameters += kOutputs[i];
    if (i > 0) last += kStores[i];
  }
  const std::string bias = concat("sum += (Sum)bias[direction * 2 * perStep + row]",
                                  isGru ? " + (row < 2 * layout.hidden ? (Sum)bias[direction * 2 * perStep + perStep + "
                                          "row] : (Sum)0);"
                                        : " + (Sum)bias[direction * 2 * perStep + perStep + row];");
  return filledIn(kRecurrent, {{"FUNCTIONS", functionsSource(functions.size(), rowOf(node).functions.size())},
                               {"GATES", std::to_string(rowOf(node).gates)},
                               {"ADD_BIAS", hasBias ? bias : ""},
                               {"BIAS", hasBias ? ", const Element* bias" : ""},
                               {"PARAMETERS", parameters},
                               {"LENGTH", node.input(kLengths) ? "lengths[item]" : "layout.steps"},
                               {"FIRST_H", node.input(kInitialH) ? "(Sum)firstH[at + unit]" : "0"},
                               {"FIRST_C", node.input(kInitialC) ? "(Sum)firstC[at + unit]" : "0"},
                               {"BEFORE", cellSource(rowOf(node).before, node, reader)},
                               {"PRODUCTS", cellSource(rowOf(node).products, node, reader)},
                               {"CELL", cellSource(rowOf(node).cell, node, reader)},
                               {"STORE_STEP", node.output(0) ? kStores[0] : ""},
                               {"STORE_LAST", last}});
}

Ref<Placed> placeRecurrent(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  const std::vector<readers::CellFunction> functions = functionsOf(node);
  const std::string activations = activationsSource(functions);
  if (activations.empty()) return nullptr;
  return placedAs(concat(kernelFunctions(), activations, productFunctions(dtype), sourceFor(node, functions)),
                  {"gpu_recurrent", "gpu_gates"}, createRecurrent);
}

constexpr PlaceRow kRows[] = {{"", "LSTM", placeRecurrent}, {"", "GRU", placeRecurrent}, {"", "RNN", placeRecurrent}};

}  // namespace

std::span<const PlaceRow> gpuRecurrent() { return kRows; }

}  // namespace max
