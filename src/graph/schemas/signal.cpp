// SPDX-License-Identifier: Apache-2.0
// Fourier transforms and mel filters.
#include "graph/readers/signal.h"

#include "graph/schemas/rules.h"
#include "graph/schemas/tables.h"

namespace max {

namespace {

Dim orUnknown(const InferContext& context, const std::optional<Dim>& dim) { return dim ? *dim : context.unknownDim(); }

// The last axis contains a number's real part, or its real and imaginary parts.
void requireParts(const InferContext& context, Dim parts) {
  if (parts.isKnown() && !parts.is(1) && !parts.is(2))
    context.fail("the last dimension is ", parts, "; it must be 1 (real) or 2 (complex)");
}

void inferDft(InferContext& context) {
  rules::requireRankAtLeast(context, 0, 2);
  rules::requireOneElement(context, 1);
  rules::requireOneElement(context, 2);
  if (!context.ranked(0)) return;
  const readers::Transform transform = readers::readTransform(context);
  SymbolicShape shape = context.dims(0);
  requireParts(context, shape.back());
  if (transform.isOneSided && shape.back().is(transform.isInverse ? 1 : 2))
    context.fail("a one-sided transform maps real numbers to complex ones, and its inverse complex to real");
  if (!transform.axis) return context.setRank(0, context.rank(0));
  const Dim length = orUnknown(context, transform.length);
  Dim& size = shape[static_cast<size_t>(*transform.axis)];
  size = transform.isOneSided && !transform.isInverse ? floorDivide(length, 2) + Dim(1) : length;
  shape.back() = transform.goesToReal() ? 1 : 2;
  context.setShape(0, std::move(shape));
}

// Frames of a signal [batch, time, parts]; exporters leave out the last axis of real ones.
void inferStft(InferContext& context) {
  if (!context.ranked(0) || context.rank(0) != 2) rules::requireRank(context, 0, 3);
  rules::requireRank(context, 2, 1);
  for (size_t i : {size_t{1}, size_t{3}}) rules::requireOneElement(context, i);
  if (!context.ranked(0)) return context.setRank(0, 4);
  const SymbolicShape& signal = context.dims(0);
  if (signal.size() == 3) requireParts(context, signal[2]);
  const readers::Frames read = readers::readFrames(context);
  const Dim step = orUnknown(context, read.step);
  Dim length = orUnknown(context, read.length);
  if (context.ranked(2)) length = rules::merge(context, length, context.dims(2)[0], "frame_length and the window");
  const Dim room = signal[1] - length;
  if (room.isKnown() && room.value() < 0)
    context.fail("frames of ", length, " are longer than the signal, ", signal[1]);
  const Dim frames = step.isKnown() ? floorDivide(room, step) + Dim(1) : context.unknownDim();
  context.setShape(0, {signal[0], frames, read.isOneSided ? floorDivide(length, 2) + Dim(1) : length, 2});
}

void inferMelWeightMatrix(InferContext& context) {
  for (size_t i = 0; i < 5; ++i) rules::requireOneElement(context, i);
  const Dim bins = orUnknown(context, readers::readOneNumber(context, 0)),
            length = orUnknown(context, readers::readOneNumber(context, 1));
  if (bins.isKnown() && bins.value() < 1) context.fail("num_mel_bins is ", bins);
  if (length.isKnown() && length.value() < 1) context.fail("dft_length is ", length);
  context.setDType(0, readers::readMelType(context));
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
