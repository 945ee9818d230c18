// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, and what speech models put behind them.
#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

// The one number in an input; an unknown dimension if its contents are not known.
Dim numberOf(const InferContext& context, size_t input) {
  rules::requireOneElement(context, input);
  const auto elements = context.elements(input);
  return elements && elements->size() == 1 ? (*elements)[0] : context.unknownDim();
}

void requirePositive(const InferContext& context, Dim value, const char* what) {
  if (value.isKnown() && value.value() < 1) context.fail(what, " is ", value);
}

// The last axis holds a number's real part, or its real and imaginary parts.
void requireParts(const InferContext& context, Dim parts) {
  if (parts.isKnown() && !parts.is(1) && !parts.is(2))
    context.fail("the last dimension is ", parts, "; 1 (real) and 2 (complex) are possible");
}

struct Transform {
  bool isInverse, isOneSided;
};

// The number of values along the transformed axis on both sides.
Dim transformLength(const InferContext& context, Dim size, Transform transform) {
  if (context.has(1)) return numberOf(context, 1);
  return transform.isInverse && transform.isOneSided ? Dim(2) * (size - Dim(1)) : size;
}

void inferDft(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  rules::requireOneElement(context, 1);
  rules::requireOneElement(context, 2);
  if (!context.ranked(0)) return;
  const Transform transform{context.attributes().getInt("inverse", 0) != 0,
                            context.attributes().getInt("onesided", 0) != 0};
  SymbolicShape shape = context.dims(0);
  requireParts(context, shape.back());
  if (transform.isOneSided && shape.back().is(transform.isInverse ? 1 : 2))
    context.fail("a one-sided transform goes from real numbers to complex ones, its inverse back");
  const auto given = context.has(2) ? context.integers(2) : std::vector<int64_t>{-2};
  if (!given || given->size() != 1) return context.setRank(0, context.rank(0));
  const int axis = context.axis((*given)[0], context.rank(0));
  if (axis == context.rank(0) - 1) context.fail("axis ", (*given)[0], " holds the parts of the complex numbers");
  Dim& size = shape[static_cast<size_t>(axis)];
  const Dim length = transformLength(context, size, transform);
  requirePositive(context, length, "the length of the transform");
  size = transform.isOneSided && !transform.isInverse ? floorDivide(length, 2) + Dim(1) : length;
  shape.back() = transform.isOneSided && transform.isInverse ? 1 : 2;
  context.setShape(0, std::move(shape));
}

// Frames of a signal [batch, time, parts].
void inferStft(InferContext& context) {
  rules::requireRank(context, 0, 3);
  rules::requireRank(context, 2, 1);
  const Dim step = numberOf(context, 1);
  requirePositive(context, step, "frame_step");
  if (!context.ranked(0)) return context.setRank(0, 4);
  const SymbolicShape& signal = context.dims(0);
  requireParts(context, signal[2]);
  Dim length = context.has(3) ? numberOf(context, 3) : context.has(2) ? context.unknownDim() : signal[1];
  if (context.ranked(2)) length = rules::merge(context, length, context.dims(2)[0], "frame_length and the window");
  requirePositive(context, length, "frame_length");
  const Dim room = signal[1] - length;
  if (room.isKnown() && room.value() < 0)
    context.fail("frames of ", length, " are longer than the signal, ", signal[1]);
  const Dim frames = step.isKnown() ? floorDivide(room, step) + Dim(1) : context.unknownDim();
  const bool isOneSided = context.attributes().getInt("onesided", 1) != 0;
  context.setShape(0, {signal[0], frames, isOneSided ? floorDivide(length, 2) + Dim(1) : length, 2});
}

void inferMelWeightMatrix(InferContext& context) {
  for (size_t i = 0; i < 5; ++i) rules::requireOneElement(context, i);
  const Dim bins = numberOf(context, 0), length = numberOf(context, 1);
  requirePositive(context, bins, "num_mel_bins");
  requirePositive(context, length, "dft_length");
  const DType dtype = rules::dtypeAttribute(context, "output_datatype", DType::Float32);
  if (bitsOf(dtype) < 8 || (!isFloat(dtype) && !isInteger(dtype)))
    context.fail("attribute 'output_datatype' is ", dtype);
  context.setDType(0, dtype);
  context.setShape(0, {floorDivide(length, 2) + Dim(1), bins});
}

const OpSchema kSchemas[] = {
    {"", "DFT", 1, 3, 1, 1, "T,index,int64->T; T=float", inferDft, 0, 1u << 1 | 1u << 2, "inverse=i onesided=i"},
    {"", "STFT", 2, 4, 1, 1, "T,I,T,I->T; T=float; I=index", inferStft, 0, 1u << 1 | 1u << 3, "onesided=i"},
    {"", "MelWeightMatrix", 5, 5, 1, 1, "I,I,I,F,F->*; I=index; F=float", inferMelWeightMatrix, 0, 1u << 0 | 1u << 1,
     "output_datatype=i"},
};

}  // namespace

std::span<const OpSchema> signalSchemas() { return kSchemas; }

}  // namespace max
