// SPDX-License-Identifier: Apache-2.0
// Which ONNX operators are elementwise, and their instructions: one row each.
#pragma once

#include <span>
#include <string_view>

#include "ops/cpu/elementwise/elementwise.h"

namespace max {

struct ElementwiseRow {
  using Id = ElementwiseBuilder::Id;
  std::string_view name;
  ElementOp op;
  // How operands become instructions; the functions are in table.cpp.
  Id (*build)(const ElementwiseRow& row, ElementwiseBuilder& builder, const Attributes& attributes,
              std::span<const Id> operands);
};

std::span<const ElementwiseRow> elementwiseRows();
// NULL if there is none; also of operators that only join programs of others.
const ElementwiseRow* findElementwiseRow(const OpSchema& schema);

}  // namespace max
