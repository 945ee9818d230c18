// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/reduction.h"

namespace max::readers {

bool keepsAxes(const Attributes& attributes) { return attributes.getInt("keepdims", 1) != 0; }

std::optional<Reduction> readReduction(const NodeInputs& inputs) {
  const auto axes = inputs.axes(1, inputs.rank(0));
  if (!axes) return std::nullopt;
  Reduction result;
  result.keepsAxes = keepsAxes(inputs.attributes());
  if (axes->empty() && !inputs.flag("noop_with_empty_axes", false))
    for (int i = 0; i < inputs.rank(0); ++i) result.reduced[static_cast<size_t>(i)] = true;
  for (const int axis : *axes) result.reduced[static_cast<size_t>(axis)] = true;
  return result;
}

ArgSearch readArgSearch(const NodeInputs& inputs) {
  return {inputs.axisAttribute("axis", 0, inputs.rank(0)), keepsAxes(inputs.attributes()),
          inputs.flag("select_last_index", false)};
}

TopK readTopK(const NodeInputs& inputs) {
  TopK result{inputs.axisAttribute("axis", -1, inputs.rank(0)), inputs.flag("largest", true),
              inputs.flag("sorted", true), std::nullopt};
  const auto count = inputs.elements(1);
  if (!count) return result;
  if (count->size() != 1) inputs.fail("K has ", count->size(), " elements, needs 1");
  const Dim k = (*count)[0], size = inputs.dims(0)[static_cast<size_t>(result.axis)];
  if (k.isKnown() && k.value() < 0) inputs.fail("K is ", k);
  if (k.isKnown() && size.isKnown() && k.value() > size.value())
    inputs.fail("K is ", k, " but axis ", result.axis, " has ", size, " elements");
  result.count = k;
  return result;
}

Cumulation readCumulation(const NodeInputs& inputs) {
  Cumulation result{std::nullopt, inputs.flag("exclusive", false), inputs.flag("reverse", false)};
  const auto axis = inputs.integers(1);
  if (!axis || !inputs.ranked(0)) return result;
  if (axis->size() != 1) inputs.fail("the axis has ", axis->size(), " elements, needs 1");
  result.axis = inputs.axis((*axis)[0], inputs.rank(0));
  return result;
}

}  // namespace max::readers
