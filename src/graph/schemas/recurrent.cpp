// SPDX-License-Identifier: Apache-2.0
// Recurrent layers.
#include "graph/readers/recurrent.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// W is [directions, gates * hidden, input], R is [directions, gates * hidden, hidden]; or `gateAxis` is the last one.
Dim hiddenSize(const InferContext& context, const readers::Recurrent& layer, int64_t gates, size_t gateAxis) {
  Dim hidden = layer.hidden ? Dim(*layer.hidden) : context.unknownDim();
  if (context.ranked(2)) hidden = rules::merge(context, hidden, context.dims(2)[3 - gateAxis], "the hidden sizes");
  for (size_t i : {size_t{1}, size_t{2}})
    if (context.ranked(i) && hidden.isKnown())
      rules::requireEqual(context, context.dims(i)[gateAxis], Dim(gates) * hidden, "rows of the weights and gates");
  return hidden;
}

void requireShape(const InferContext& context, size_t input, const SymbolicShape& shape, const char* what) {
  rules::requireRank(context, input, static_cast<int>(shape.size()));
  if (!context.ranked(input)) return;
  for (size_t i = 0; i < shape.size(); ++i) rules::requireEqual(context, context.dims(input)[i], shape[i], what);
}

void inferLayer(InferContext& context, int64_t gates, size_t gateAxis) {
  for (size_t i : {size_t{0}, size_t{1}, size_t{2}}) rules::requireRank(context, i, 3);
  const readers::Recurrent layer(context.attributes());
  const int64_t functions = gates == 1 ? 1 : gates - 1;  // three of an LSTM's gates share one
  layer.requireActivations(context.attributes(), static_cast<size_t>(functions));
  const int64_t count = layer.directions;
  for (size_t i : {size_t{1}, size_t{2}})
    if (context.ranked(i)) rules::requireEqual(context, context.dims(i)[0], count, "directions and weights");
  if (context.ranked(0) && context.ranked(1))
    rules::requireEqual(context, context.dims(0)[2], context.dims(1)[3 - gateAxis], "the input sizes");
  const Dim hidden = hiddenSize(context, layer, gates, gateAxis);
  const bool batchFirst = layer.isBatchFirst;
  const bool known = context.ranked(0);
  const Dim steps = known ? context.dims(0)[batchFirst ? 1 : 0] : context.unknownDim();
  const Dim batch = known ? context.dims(0)[batchFirst ? 0 : 1] : context.unknownDim();
  const SymbolicShape all =
      batchFirst ? SymbolicShape{batch, steps, count, hidden} : SymbolicShape{steps, count, batch, hidden};
  const SymbolicShape last = batchFirst ? SymbolicShape{batch, count, hidden} : SymbolicShape{count, batch, hidden};
  requireShape(context, 3, {count, Dim(2 * gates) * hidden}, "the bias and the hidden size");
  requireShape(context, 4, {batch}, "sequence_lens and the batch");
  for (size_t i : {size_t{5}, size_t{6}}) requireShape(context, i, last, "the initial state and the layer");
  requireShape(context, 7, {count, Dim(3) * hidden}, "the peepholes and the hidden size");
  context.setShape(0, all);
  context.setShape(1, last);
  context.setShape(2, last);
}

template <int64_t gates>
void inferRecurrent(InferContext& context) {
  inferLayer(context, gates, 1);
}

// After an LSTM's inputs: scales and zero points of W and R, [directions] or [directions, 4 * hidden].
void inferQuantizedLstm(InferContext& context) {
  inferLayer(context, 4, 2);
  for (size_t i : {size_t{8}, size_t{10}})
    if (!context.has(i)) context.fail("input ", i, ", a scale, is required");
  for (size_t i = 8; i < 12; ++i) {
    if (!context.ranked(i)) continue;
    const SymbolicShape& dims = context.dims(i);
    if (dims.size() != 1 && dims.size() != 2)
      context.fail("input ", i, " has ", dims.size(), " dimensions, not 1 or 2");
    if (context.ranked(1)) rules::requireEqual(context, dims[0], context.dims(1)[0], "directions and scales");
    if (dims.size() == 2 && context.ranked(2))
      rules::requireEqual(context, dims[1], context.dims(2)[2], "columns of the weights and scales");
  }
}

#define MAX_ACTIVATIONS                                                                                               \
  "activation_alpha=F activation_beta=F activations=S{Relu,Tanh,Sigmoid,Affine,LeakyRelu,ThresholdedRelu,ScaledTanh," \
  "HardSigmoid,Elu,Softsign,Softplus} "

const OpSchema kSchemas[] = {
    {"", "LSTM", 3, 8, 0, 3, "T,T,T,T,int32,T,T,T->T,T,T; T=float", inferRecurrent<4>, 0, 0,
     MAX_ACTIVATIONS "clip=f direction=s{forward,reverse,bidirectional} hidden_size=i[1..] input_forget=i layout=i"},
    {"", "GRU", 3, 6, 0, 2, "T,T,T,T,int32,T->T,T; T=float", inferRecurrent<3>, 0, 0,
     MAX_ACTIVATIONS "clip=f direction=s{forward,reverse,bidirectional} hidden_size=i[1..] layout=i "
                     "linear_before_reset=i"},
    {"", "RNN", 3, 6, 0, 2, "T,T,T,T,int32,T->T,T; T=float", inferRecurrent<1>, 0, 0,
     MAX_ACTIVATIONS "clip=f direction=s{forward,reverse,bidirectional} hidden_size=i[1..] layout=i"},
    // W is [directions, input, 4 * hidden], R is [directions, hidden, 4 * hidden]. X, and each item's state in each
    // step, are quantised as DynamicQuantizeLinear does it.
    {kMaxDomain, "DynamicQuantizeLSTM", 3, 12, 0, 3,
     "float32,B,B,float32,int32,float32,float32,float32,float32,B,float32,B->float32,float32,float32; B=int8|uint8",
     inferQuantizedLstm, 0, 0,
     MAX_ACTIVATIONS "clip=f direction=s{forward,reverse,bidirectional} hidden_size=i[1..] "
                     "input_forget=i layout=i"},
};

#undef MAX_ACTIVATIONS

}  // namespace

std::span<const OpSchema> recurrentSchemas() { return kSchemas; }

}  // namespace max
