// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/signal.h"

#include "graph/readers/types.h"

namespace max::readers {

namespace {

void requirePositive(const NodeInputs& inputs, const std::optional<Dim>& value, const char* what) {
  if (value && value->isKnown() && value->value() < 1) inputs.fail(what, " is ", *value);
}

// For the transform along an axis of this size.
std::optional<Dim> lengthOf(const NodeInputs& inputs, const Transform& transform) {
  if (inputs.has(1)) return readOneNumber(inputs, 1);
  if (!transform.axis) return std::nullopt;
  const Dim size = inputs.dims(0)[static_cast<size_t>(*transform.axis)];
  return transform.goesToReal() ? Dim(2) * (size - Dim(1)) : size;
}

}  // namespace

std::optional<Dim> readOneNumber(const NodeInputs& inputs, size_t input) {
  const auto elements = inputs.has(input) ? inputs.elements(input) : std::nullopt;
  return elements && elements->size() == 1 ? std::optional((*elements)[0]) : std::nullopt;
}

Transform readTransform(const NodeInputs& inputs) {
  Transform transform{inputs.flag("inverse", false), inputs.flag("onesided", false), std::nullopt, std::nullopt};
  const auto given = inputs.has(2) ? inputs.integers(2) : std::vector<int64_t>{-2};
  if (given && given->size() == 1) {
    transform.axis = inputs.axis((*given)[0], inputs.rank(0));
    if (*transform.axis == inputs.rank(0) - 1)
      inputs.fail("axis ", (*given)[0], " holds the parts of the complex numbers");
  }
  transform.length = lengthOf(inputs, transform);
  if (transform.axis) requirePositive(inputs, transform.length, "the length of the transform");
  return transform;
}

Frames readFrames(const NodeInputs& inputs) {
  Frames frames{inputs.flag("onesided", true), readOneNumber(inputs, 1), std::nullopt};
  requirePositive(inputs, frames.step, "frame_step");
  if (inputs.has(3))
    frames.length = readOneNumber(inputs, 3);
  else if (!inputs.has(2))
    frames.length = inputs.dims(0)[1];
  const bool isKnown = frames.length && frames.length->isKnown();
  if (!isKnown && inputs.ranked(2) && inputs.dims(2)[0].isKnown()) frames.length = inputs.dims(2)[0];
  requirePositive(inputs, frames.length, "frame_length");
  return frames;
}

DType readMelType(const NodeInputs& inputs) {
  const DType dtype = readType(inputs.attributes(), "output_datatype", DType::Float32);
  if (bitsOf(dtype) < 8 || (!isFloat(dtype) && !isInteger(dtype)))
    inputs.fail("attribute 'output_datatype' is ", dtype);
  return dtype;
}

}  // namespace max::readers
