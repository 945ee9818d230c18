// SPDX-License-Identifier: Apache-2.0
// Sequence models with a state: LinearAttention, CausalConvWithState.
#include <algorithm>

#include "base/error.h"
#include "graph/readers/attention.h"
#include "ops/gpu/launch.h"
#include "ops/gpu/source.h"
#include "ops/gpu/types.h"

namespace max {

namespace {

// A thread for each column of a head's state, which no other column needs.
constexpr const char* kLinearAttention = R"(
struct Layout {
  long long count, batch, steps, queryHeads, heads, depth, width, gates, rates;  // gates and rates of a step
  float scale;
};

extern "C" __global__ void gpu_linear_attention(const Layout layout, const Element* q, const Element* k,
                                                const Element* v PARAMETERS, Sum* states) {
  const long long depth = layout.depth, width = layout.width, shared = layout.queryHeads / layout.heads;
  EACH(i, layout.count) {
    const long long j = i % width, h = i / width % layout.heads, item = i / width / layout.heads;
    const long long first = (item * layout.heads + h) * depth * width + j;
    Sum* state = states + first;
    for (long long d = 0; d < depth; ++d) state[d * width] = PAST;
    for (long long step = 0; step < layout.steps; ++step) {
      const long long token = item * layout.steps + step;
      const Element *key = k + (token * layout.heads + h) * depth, *queries = q + token * layout.queryHeads * depth;
      Sum value = (Sum)v[(token * layout.heads + h) * width + j];
      DECAY
      CORRECT
      for (long long d = 0; d < depth; ++d) state[d * width] += (Sum)key[d] * value;
      STORE_STEP
    }
    STORE_STATE
  }
}
)";

constexpr const char* kDecay = R"(
      for (long long d = 0; d < depth; ++d)
        state[d * width] *= exp((Sum)gates[token * layout.gates + (layout.gates == layout.heads ? h : h * depth + d)]);
)";
constexpr const char* kCorrect = R"(
      Sum read = 0;
      for (long long d = 0; d < depth; ++d) read += (Sum)key[d] * state[d * width];
      value = (Sum)rates[token * layout.rates + (layout.rates == 1 ? 0 : h)] * (value - read);
)";
constexpr const char* kStoreStep = R"(
      for (long long n = h * shared; n < (h + 1) * shared; ++n) {
        Sum sum = 0;
        for (long long d = 0; d < depth; ++d) sum += (Sum)queries[n * depth + d] * state[d * width];
        y[(token * layout.queryHeads + n) * width + j] = (Element)((Sum)layout.scale * sum);
      }
)";

struct LinearLayout {
  int64_t count, batch, steps, queryHeads, heads, depth, width, gates, rates;
  float scale;
};

std::unique_ptr<OpKernel> createLinearAttention(const Placed& placed, const OpRequest& request) {
  const readers::LinearAttention reader(request.node.attributes);
  const Shape &q = request.inputs[0].shape, &v = request.inputs[2].shape;
  const int64_t depth = q[2] / reader.queryHeads, width = v[2] / reader.heads, count = q[0] * reader.heads * width;
  const auto perStep = [&](size_t input) { return request.has(input) ? request.inputs[input].shape[2] : 0; };
  auto op = launchOf(placed, request);
  op->addFirst(LinearLayout{count, q[0], q[1], reader.queryHeads, reader.heads, depth, width, perStep(4), perStep(5),
                            static_cast<float>(reader.scale(depth))});
  op->useScratch(static_cast<size_t>(count * depth) * sizeof(float));
  op->coverElements(count);
  return op;
}

bool haveTypes(const Node& node) {
  const auto has = [](const Value* value) {
    return !value ||
           (isFloat(value->type.dtype) && value->type.dtype != DType::Float64 && kernelType(value->type.dtype).element);
  };
  return std::ranges::all_of(node.inputs, has) && std::ranges::all_of(node.outputs, has);
}

Ref<Placed> placeLinearAttention(const Node& node) {
  if (!haveTypes(node)) return nullptr;
  const DType dtype = node.input(0)->type.dtype;
  const Value *past = node.input(3), *gates = node.input(4), *rates = node.input(5), *y = node.output(0),
              *present = node.output(1);
  const auto pointer = [](const Value* value, const char* name, const char* qualifier) {
    return value ? concat(", ", qualifier, kernelType(value->type.dtype).element, "* ", name) : std::string();
  };
  const std::string parameters =
      concat(pointer(past, "past", "const "), pointer(gates, "gates", "const "), pointer(rates, "rates", "const "),
             pointer(y, "y", ""), pointer(present, "present", ""));
  const std::string storeState = present
                                     ? concat("for (long long d = 0; d < depth; ++d) present[first + d * width] = (",
                                              kernelType(present->type.dtype).element, ")state[d * width];")
                                     : std::string();
  return placedAs(
      typesSource(dtype) + filledIn(kLinearAttention, {{"PARAMETERS", parameters},
                                                       {"PAST", past ? "(Sum)past[first + d * width]" : "0"},
                                                       {"DECAY", gates ? kDecay : ""},
                                                       {"CORRECT", rates ? kCorrect : ""},
                                                       {"STORE_STEP", y ? kStoreStep : ""},
                                                       {"STORE_STATE", storeState}}),
      {"gpu_linear_attention"}, createLinearAttention);
}

// Lines begin with what is carried from the past; what they end with is carried on.
constexpr const char* kCausalConv = R"(
extern "C" __global__ void gpu_causal_conv(const Element* x, const Element* w PARAMETERS, long long count,
                                           long long channels, long long length, long long taps) {
  const long long carried = taps - 1;
  EACH(i, count) {
    const long long row = i / (length + carried), at = i % (length + carried), channel = row % channels;
    (void)channel;
#define LINE(i) ((i) < carried ? PAST : (Sum)x[row * length + (i) - carried])
    if (at < length) {
      Sum sum = START;
      for (long long k = 0; k < taps; ++k) sum += (Sum)w[channel * taps + k] * LINE(at + k);
      STORE_RESULT
    } else {
      STORE_PRESENT
    }
  }
}
)";

std::unique_ptr<OpKernel> createCausalConv(const Placed& placed, const OpRequest& request) {
  const Shape& x = request.inputs[0].shape;
  const int64_t taps = request.inputs[1].shape[2];
  return elementLaunch(placed, request, x[0] * x[1] * (x[2] + taps - 1), x[1], x[2], taps);
}

Ref<Placed> placeCausalConv(const Node& node) {
  if (!haveTypes(node)) return nullptr;
  const bool hasBias = node.input(2), hasPast = node.input(3), hasResult = node.output(0), hasPresent = node.output(1);
  const bool isSilu = readers::readActivatesSilu(node.attributes);
  return placedAs(
      typesSource(node.input(0)->type.dtype) +
          filledIn(
              kCausalConv,
              {{"PARAMETERS", concat(hasBias ? ", const Element* bias" : "", hasPast ? ", const Element* past" : "",
                                     hasResult ? ", Element* y" : "", hasPresent ? ", Element* present" : "")},
               {"PAST", hasPast ? "(Sum)past[row * carried + (i)]" : "(Sum)0"},
               {"START", hasBias ? "(Sum)bias[channel]" : "0"},
               {"STORE_RESULT", !hasResult ? "(void)sum;"
                                : isSilu   ? "y[row * length + at] = (Element)(sum / (1 + exp(-sum)));"
                                           : "y[row * length + at] = (Element)sum;"},
               {"STORE_PRESENT", hasPresent ? "present[row * carried + at - length] = (Element)LINE(at);" : ""}}),
      {"gpu_causal_conv"}, createCausalConv);
}

constexpr PlaceRow kRows[] = {{"", "LinearAttention", placeLinearAttention},
                              {"", "CausalConvWithState", placeCausalConv}};

}  // namespace

std::span<const PlaceRow> gpuStates() { return kRows; }

}  // namespace max
