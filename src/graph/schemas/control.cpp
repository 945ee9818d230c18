// SPDX-License-Identifier: Apache-2.0
// Operators with subgraphs.
#include "graph/readers/control.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

Ref<Graph> subgraph(const InferContext& context, std::string_view name, size_t inputs, size_t outputs) {
  Ref<Graph> graph = context.attributes().getGraph(name);
  if (!graph) context.fail("attribute '", name, "' is missing");
  if (graph->inputs().size() != inputs)
    context.fail("graph '", graph->name(), "' (", name, ") has ", graph->inputs().size(), " inputs, needs ", inputs);
  if (graph->outputs().size() != outputs)
    context.fail("graph '", graph->name(), "' (", name, ") has ", graph->outputs().size(), " outputs, needs ", outputs);
  return graph;
}

// What both types have in common.
TensorType either(const InferContext& context, const TensorType& a, const TensorType& b, size_t output) {
  // An optional and its contents' type: the value may be either.
  if (a.dtype != b.dtype && (a.dtype == DType::Optional || b.dtype == DType::Optional))
    return a.dtype == DType::Optional ? a : b;
  if (a.dtype != DType::Invalid && b.dtype != DType::Invalid && a.dtype != b.dtype)
    context.fail("output ", output, " is ", a.dtype, " in one subgraph or state and ", b.dtype, " in another");
  const DType dtype = a.dtype != DType::Invalid ? a.dtype : b.dtype;
  if (isObject(dtype)) return a.inner[0] != DType::Invalid ? a : b;
  if (!a.ranked || !b.ranked || a.rank() != b.rank()) return TensorType::unranked(dtype);
  SymbolicShape shape = a.dims;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != b.dims[i]) shape[i] = context.unknownDim();
  return TensorType::of(dtype, std::move(shape));
}

void inferIf(InferContext& context) {
  rules::requireOneElement(context, 0);
  const Ref<Graph> thenBranch = subgraph(context, "then_branch", 0, context.outputCount());
  const Ref<Graph> elseBranch = subgraph(context, "else_branch", 0, context.outputCount());
  for (size_t i = 0; i < context.outputCount(); ++i)
    context.setOutput(i, either(context, thenBranch->outputs()[i]->type, elseBranch->outputs()[i]->type, i));
}

// Combines two sources of a type.
TensorType same(const InferContext& context, TensorType a, const TensorType& b, size_t output) {
  if (!a.ranked || !b.ranked) return a.ranked ? a : b;
  TensorType type = either(context, a, b, output);
  if (a.rank() != b.rank()) context.fail("state ", output, " is ", a, " before and ", b, " after an iteration");
  for (size_t i = 0; i < type.dims.size(); ++i)
    type.dims[i] = rules::merge(context, a.dims[i], b.dims[i], "a state before and after an iteration");
  return type;
}

// Dimensions that only an iteration determines are 0 without iterations.
void setStacked(InferContext& context, size_t output, const TensorType& type, Dim steps, int64_t axis) {
  if (isObject(type.dtype)) context.fail("output ", output, " would stack values of type ", type);
  if (!type.ranked) return context.setOutput(output, TensorType::unranked(type.dtype));
  SymbolicShape shape = type.dims;
  for (Dim& dim : shape)
    if (!dim.isKnown() && !steps.isAtLeast(1)) dim = context.unknownDim();
  shape.insert(shape.begin() + context.axis(axis, type.rank() + 1), steps);
  context.setOutput(output, TensorType::of(type.dtype, std::move(shape)));
}

// Inputs: trip count, condition, states. Body: (iteration, condition, states) -> (condition, states, stacked).
void inferLoop(InferContext& context) {
  if (context.inputCount() < 2) context.fail("has ", context.inputCount(), " inputs, needs at least 2");
  for (size_t i : {size_t{0}, size_t{1}}) rules::requireOneElement(context, i);
  const size_t states = context.inputCount() - 2;
  if (context.outputCount() < states) context.fail("has ", context.outputCount(), " outputs for ", states, " states");
  for (size_t i = 0; i < states; ++i)
    if (!context.has(i + 2)) context.fail("input ", i + 2, " is required");
  const Ref<Graph> body = subgraph(context, "body", states + 2, context.outputCount() + 1);
  if (const DType again = body->outputs()[0]->type.dtype; again != DType::Bool && again != DType::Invalid)
    context.fail("the body's condition must be bool, not ", again);
  // An iteration may change a shape: only dimensions that agree before and after are known.
  for (size_t i = 0; i < states; ++i)
    context.setOutput(i, either(context, context.input(i + 2).type, body->outputs()[i + 1]->type, i));
  for (size_t i = states; i < context.outputCount(); ++i)
    setStacked(context, i, body->outputs()[i + 1]->type, context.unknownDim(), 0);
}

// The number of steps is the length of the scanned inputs.
Dim scanSteps(const InferContext& context, const readers::Scan& scan) {
  Dim steps = context.unknownDim();
  for (size_t i = 0; i < scan.scanned; ++i) {
    const size_t input = scan.states + i;
    if (!context.ranked(input)) continue;
    const int axis = context.axis(scan.inputAxes[i], context.rank(input));
    steps = rules::merge(context, steps, context.dims(input)[static_cast<size_t>(axis)], "lengths of scanned inputs");
  }
  return steps;
}

void inferScan(InferContext& context) {
  const readers::Scan scan(context.attributes(), context.inputCount(), context.outputCount());
  const size_t states = scan.states;
  const Ref<Graph> body = subgraph(context, "body", context.inputCount(), context.outputCount());
  for (size_t i = 0; i < states; ++i)
    context.setOutput(i, same(context, context.input(i).type, body->outputs()[i]->type, i));
  const Dim steps = scanSteps(context, scan);
  for (size_t i = 0; i < scan.stacked; ++i)
    setStacked(context, states + i, body->outputs()[states + i]->type, steps, scan.outputAxes[i]);
}

// The body runs for each element of a sequence; tensors among the other inputs are the same each time.
void inferSequenceMap(InferContext& context) {
  const Ref<Graph> body = subgraph(context, "body", context.inputCount(), context.outputCount());
  for (size_t i = 0; i < context.outputCount(); ++i) {
    const TensorType& element = body->outputs()[i]->type;
    if (isObject(element.dtype)) context.fail("output ", i, " would be a sequence of values of type ", element);
    context.setOutput(i, TensorType::holding(DType::Sequence, element));
  }
}

const OpSchema kSchemas[] = {
    {"", "If", 1, 1, 1, 0, "bool->*...", inferIf, kTraitControlFlow, 0, "then_branch=g else_branch=g"},
    {"", "Loop", 0, 0, 1, 0, "int64,bool,value...->*...", inferLoop, kTraitControlFlow | kTraitVariadic, 0, "body=g"},
    {"", "Scan", 1, 0, 1, 0, "any...->*...", inferScan, kTraitControlFlow | kTraitVariadic, 0,
     "body=g num_scan_inputs=i[1..] scan_input_axes=I scan_input_directions=I[0..1] scan_output_axes=I "
     "scan_output_directions=I[0..1]"},
    {"", "SequenceMap", 1, 0, 1, 0, "sequence,value...->sequence...", inferSequenceMap,
     kTraitControlFlow | kTraitVariadic, 0, "body=g"},
};

}  // namespace

std::span<const OpSchema> controlSchemas() { return kSchemas; }

}  // namespace max
