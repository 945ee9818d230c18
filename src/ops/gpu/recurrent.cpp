// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: the products with the inputs of all steps first, then a block for each direction and sequence,
// which goes through its steps.
#include "graph/readers/recurrent.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/gpu/activation.h"
#include "ops/gpu/elementwise_source.h"
#include "ops/gpu/row_source.h"
#include "ops/gpu/several.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

constexpr size_t kMostFunctions = 6;  // three for each direction

constexpr const char* kRecurrent = R"(
struct Layout {
  long long steps, batch, inputs, hidden, directions, isBatchFirst, isReverse;
  float clip, alphas[6], betas[6];
};

// With all biases but that of a product which its own gate scales.
extern "C" __global__ void gpu_gates(const Layout layout, const Element* x, const Element* w BIAS, Sum* gates) {
  const long long perStep = GATES * layout.hidden, perDirection = layout.steps * layout.batch * perStep;
  EACH(i, layout.directions * perDirection) {
    const long long row = i % perStep, item = i / perStep % layout.batch, step = i / perStep / layout.batch % layout.steps,
                    direction = i / perDirection;
    const Element* from =
        x + (layout.isBatchFirst ? item * layout.steps + step : step * layout.batch + item) * layout.inputs;
    const Element* with = w + (direction * perStep + row) * layout.inputs;
    Sum sum = 0;
    for (long long k = 0; k < layout.inputs; ++k) sum += (Sum)with[k] * (Sum)from[k];
    ADD_BIAS
    gates[i] = sum;
  }
}

FUNCTIONS
static inline __device__ Sum clipped(const Layout& layout, Sum x) {
  return x > (Sum)layout.clip ? (Sum)layout.clip : x < -(Sum)layout.clip ? -(Sum)layout.clip : x;
}
static inline __device__ Sum fromState(const Layout& layout, const Element* r, const Sum* state, long long row) {
  Sum sum = 0;
  for (long long k = 0; k < layout.hidden; ++k) sum += (Sum)r[row * layout.hidden + k] * state[k];
  return sum;
}

// States: h twice, for the step and the one before it, and two more lists.
extern "C" __global__ void gpu_recurrent(const Layout layout, const Element* r PARAMETERS, Sum* gates) {
  const long long hidden = layout.hidden, perStep = GATES * hidden;
  const long long direction = blockIdx.x / layout.batch, item = blockIdx.x % layout.batch;
  const long long at = (layout.isBatchFirst ? item * layout.directions + direction : direction * layout.batch + item) * hidden;
  Sum* states = gates + layout.directions * layout.steps * layout.batch * perStep + blockIdx.x * 4 * hidden;
  Sum *more = states + 2 * hidden, *other = states + 3 * hidden;
  const Element* weights = r + direction * perStep * hidden;
  long long length = LENGTH;
  length = length < 0 ? 0 : length > layout.steps ? layout.steps : length;
  for (long long unit = threadIdx.x; unit < hidden; unit += 128) {
    states[unit] = FIRST_H;
    more[unit] = FIRST_C;
  }
  for (long long i = 0; i < layout.steps; ++i) {
    __syncthreads();
    const bool isReverse = layout.isReverse || direction == 1, isPast = i >= length;
    const long long step = isPast ? i : isReverse ? length - 1 - i : i;
    const Sum *h = states + i % 2 * hidden, *given = gates + ((direction * layout.steps + step) * layout.batch + item) * perStep;
    Sum* next = states + (i + 1) % 2 * hidden;
    BEFORE
    for (long long unit = threadIdx.x; unit < hidden; unit += 128) {
      if (isPast) {
        next[unit] = h[unit];
      } else {
        CELL
      }
      STORE_STEP
    }
  }
  for (long long unit = threadIdx.x; unit < hidden; unit += 128) {
    const Sum last = states[layout.steps % 2 * hidden + unit], lastCell = more[unit];
    (void)last, (void)lastCell;
    STORE_LAST
  }
}
)";

// Gates i, o, f, c.
constexpr const char* kLstmCell = R"(
        const Sum cell = more[unit];
        const Sum input = function0(layout, direction, clipped(layout, given[unit] + fromState(layout, weights, h, unit) + PEEP0));
        const Sum forget = COUPLES ? 1 - input : function0(layout, direction, clipped(layout, given[2 * hidden + unit] +
            fromState(layout, weights, h, 2 * hidden + unit) + PEEP2));
        const Sum made = function1(layout, direction, clipped(layout, given[3 * hidden + unit] +
            fromState(layout, weights, h, 3 * hidden + unit)));
        const Sum changed = forget * cell + input * made;
        const Sum output = function0(layout, direction, clipped(layout, given[hidden + unit] +
            fromState(layout, weights, h, hidden + unit) + PEEP1_CHANGED));
        more[unit] = changed;
        next[unit] = output * function2(layout, direction, changed);
)";

// Gates z, r, h. What the reset gate leaves is needed by all units.
constexpr const char* kGruBefore = R"(
    if (!isPast)
      for (long long unit = threadIdx.x; unit < hidden; unit += 128) {
        more[unit] = function0(layout, direction, clipped(layout, given[hidden + unit] + fromState(layout, weights, h, hidden + unit)));
        other[unit] = more[unit] * h[unit];
      }
    __syncthreads();
)";
constexpr const char* kGruCell = R"(
        const Sum update = function0(layout, direction, clipped(layout, given[unit] + fromState(layout, weights, h, unit)));
        const Sum state = RESETS_LATE ? more[unit] * (fromState(layout, weights, h, 2 * hidden + unit) + STATE_BIAS)
                                      : fromState(layout, weights, other, 2 * hidden + unit) + STATE_BIAS;
        const Sum candidate = function1(layout, direction, clipped(layout, given[2 * hidden + unit] + state));
        next[unit] = (1 - update) * candidate + update * h[unit];
)";

constexpr const char* kRnnCell = R"(
        next[unit] = function0(layout, direction, clipped(layout, given[unit] + fromState(layout, weights, h, unit)));
)";

struct RecurrentLayout {
  int64_t steps, batch, inputs, hidden, directions, isBatchFirst, isReverse;
  float clip, alphas[kMostFunctions], betas[kMostFunctions];
};

struct CellRow {
  std::string_view op;
  int64_t gates;
  std::vector<std::string_view> functions;
  const char *before, *cell;
};
const CellRow& rowOf(const Node& node) {
  static const CellRow kCells[] = {{"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, "", kLstmCell},
                                   {"GRU", 3, {"Sigmoid", "Tanh"}, kGruBefore, kGruCell},
                                   {"RNN", 1, {"Tanh"}, "", kRnnCell}};
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

std::unique_ptr<OpKernel> createRecurrent(const Placed& placed, const OpRequest& request) {
  const RecurrentLayout layout = layoutOf(request);
  const int64_t gates = rowOf(request.node).gates, blocks = layout.directions * layout.batch;
  const int64_t products = blocks * layout.steps * gates * layout.hidden;
  const int64_t sumBytes = request.inputs[0].dtype == DType::Float64 ? sizeof(double) : sizeof(float);
  auto ops =
      std::make_unique<SeveralOps>(placed, static_cast<size_t>((products + blocks * 4 * layout.hidden) * sumBytes));
  LaunchOp &inputs = ops->add(1), &steps = ops->add(0);
  inputs.addFirst(layout);
  for (const size_t input : {0, 1, 3})
    if (request.has(input)) inputs.addInput(input);
  inputs.addOutput(LaunchOp::kScratch);
  inputs.coverElements(products);
  steps.addFirst(layout);
  for (const size_t input : {2, 3, 4, 5, 6, 7})
    if (request.has(input)) steps.addInput(input);
  for (size_t output = 0; output < request.outputs.size(); ++output)
    if (request.outputs[output].present()) steps.addOutput(output);
  steps.addOutput(LaunchOp::kScratch);
  steps.setGrid(blocks, 1, 1, kRowThreads);
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

std::string cellSource(const Node& node, const readers::Recurrent& reader) {
  const auto peephole = [&](int p, const char* cell) {
    return node.input(7) ? concat("(Sum)peepholes[(direction * 3 + ", p, ") * hidden + unit] * ", cell) : "0";
  };
  return filledIn(rowOf(node).cell,
                  {{"PEEP0", peephole(0, "cell")},
                   {"PEEP1_CHANGED", peephole(1, "changed")},
                   {"PEEP2", peephole(2, "cell")},
                   {"COUPLES", reader.couplesGates ? "true" : "false"},
                   {"RESETS_LATE", reader.resetsLate ? "true" : "false"},
                   {"STATE_BIAS", node.input(3) ? "(Sum)bias[direction * 6 * hidden + 5 * hidden + unit]" : "0"}});
}

struct Parameter {
  size_t input;
  const char* text;
};
constexpr Parameter kInputs[] = {{3, ", const Element* bias"},
                                 {4, ", const int* lengths"},
                                 {5, ", const Element* firstH"},
                                 {6, ", const Element* firstC"},
                                 {7, ", const Element* peepholes"}};
constexpr const char* kOutputs[] = {", Element* y", ", Element* lastH", ", Element* lastC"};
constexpr const char* kStores[] = {
    "y[(layout.isBatchFirst ? (item * layout.steps + step) * layout.directions + direction : (step * layout.directions "
    "+ "
    "direction) * layout.batch + item) * hidden + unit] = (Element)(isPast ? (Sum)0 : next[unit]);",
    "lastH[at + unit] = (Element)last;\n", "lastC[at + unit] = (Element)lastCell;\n"};

std::string sourceFor(const Node& node, const std::vector<readers::CellFunction>& functions) {
  const readers::Recurrent reader(node.attributes);
  const bool isGru = node.is("GRU"), hasBias = node.input(3);
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
                               {"LENGTH", node.input(4) ? "lengths[item]" : "layout.steps"},
                               {"FIRST_H", node.input(5) ? "(Sum)firstH[at + unit]" : "0"},
                               {"FIRST_C", node.input(6) ? "(Sum)firstC[at + unit]" : "0"},
                               {"BEFORE", rowOf(node).before},
                               {"CELL", cellSource(node, reader)},
                               {"STORE_STEP", node.output(0) ? kStores[0] : ""},
                               {"STORE_LAST", last}});
}

Ref<Placed> placeRecurrent(const Node& node) {
  const DType dtype = node.input(0)->type.dtype;
  if (!isFloat(dtype) || !kernelType(dtype).element) return nullptr;
  const std::vector<readers::CellFunction> functions = functionsOf(node);
  const std::string activations = activationsSource(functions);
  if (activations.empty()) return nullptr;
  return placedAs(concat(kernelFunctions(), typesSource(dtype), activations, sourceFor(node, functions)),
                  {"gpu_recurrent", "gpu_gates"}, createRecurrent);
}

constexpr PlaceRow kRows[] = {{"", "LSTM", placeRecurrent}, {"", "GRU", placeRecurrent}, {"", "RNN", placeRecurrent}};

}  // namespace

std::span<const PlaceRow> gpuRecurrent() { return kRows; }

}  // namespace max
