// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. Only the types of their contents are known; shapes are known when elements are taken out.
#include "graph/readers/sequence.h"

#include "graph/readers/types.h"
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// A sequence of tensors of this type; an unknown dtype stays unknown.
void setSequence(InferContext& context, size_t output, const TensorType& element) {
  context.setOutput(output, TensorType::holding(DType::Sequence, element));
}

void requireElement(const InferContext& context, size_t sequence, size_t element) {
  const DType held = context.input(sequence).type.inner[0];
  if (held != DType::Invalid && context.dtype(element) != DType::Invalid && held != context.dtype(element))
    context.fail("input ", element, " is ", context.dtype(element), ", input ", sequence, " is a ",
                 context.input(sequence).type);
}

void inferSequenceConstruct(InferContext& context) {
  TensorType element;
  for (size_t i = 0; i < context.inputCount(); ++i)
    if (element.dtype == DType::Invalid) element.dtype = context.dtype(i);
  setSequence(context, 0, element);
}

void inferSequenceEmpty(InferContext& context) {
  setSequence(context, 0, TensorType::unranked(readers::readElementType(context.attributes(), DType::Float32)));
}

void inferSequenceAt(InferContext& context) {
  rules::requireOneElement(context, 1);
  context.setOutput(0, context.input(0).type.held());
}

void inferSequenceInsert(InferContext& context) {
  rules::requireOneElement(context, 2);
  requireElement(context, 0, 1);
  TensorType element = context.input(0).type.held();
  if (element.dtype == DType::Invalid) element.dtype = context.dtype(1);
  setSequence(context, 0, element);
}

void inferSequenceErase(InferContext& context) {
  rules::requireOneElement(context, 1);
  setSequence(context, 0, context.input(0).type.held());
}

void inferScalar(InferContext& context) { context.setShape(0, {}); }

void inferSplitToSequence(InferContext& context) {
  if (context.ranked(1) && context.rank(1) > 1)
    context.fail("split must be a scalar or a list, not of shape ", context.dims(1));
  if (context.ranked(0)) readers::readSequenceSplit(context);
  setSequence(context, 0, TensorType::unranked(context.dtype(0)));
}

void inferConcatFromSequence(InferContext& context) {
  readers::SequenceJoin{context};
  context.setOutput(0, context.input(0).type.held());
}

void inferOptional(InferContext& context) {
  context.setOutput(
      0, TensorType::holding(DType::Optional,
                             context.has(0) ? context.input(0).type : readers::readOptionalType(context.attributes())));
}

void inferOptionalGetElement(InferContext& context) {
  const TensorType& type = context.input(0).type;
  context.setOutput(0, type.dtype == DType::Optional ? type.held() : type);
}

const OpSchema kSchemas[] = {
    {"", "SequenceConstruct", 1, 0, 1, 1, "T...->sequence; T=any", inferSequenceConstruct, kTraitVariadic, 0, ""},
    {"", "SequenceEmpty", 0, 0, 1, 1, "->sequence", inferSequenceEmpty, 0, 0, "dtype=i"},
    {"", "SequenceAt", 2, 2, 1, 1, "sequence,index->*", inferSequenceAt, kTraitDataDependent, 0, ""},
    {"", "SequenceInsert", 2, 3, 1, 1, "sequence,any,index->sequence", inferSequenceInsert, 0, 0, ""},
    {"", "SequenceErase", 1, 2, 1, 1, "sequence,index->sequence", inferSequenceErase, 0, 0, ""},
    {"", "SequenceLength", 1, 1, 1, 1, "sequence->int64", inferScalar, 0, 0, ""},
    {"", "SplitToSequence", 1, 2, 1, 1, "any,index->sequence", inferSplitToSequence, 0, 0, "axis=i keepdims=i"},
    {"", "ConcatFromSequence", 1, 1, 1, 1, "sequence->*", inferConcatFromSequence, kTraitDataDependent, 0,
     "axis=i new_axis=i"},
    {"", "Optional", 0, 1, 1, 1, "any|sequence->optional", inferOptional, 0, 0, "type=I"},
    {"", "OptionalHasElement", 0, 1, 1, 1, "value->bool", inferScalar, 0, 0, ""},
    {"", "OptionalGetElement", 1, 1, 1, 1, "value->*", inferOptionalGetElement, kTraitDataDependent, 0, ""},
};

}  // namespace

std::span<const OpSchema> sequenceSchemas() { return kSchemas; }

}  // namespace max
