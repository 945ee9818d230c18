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
  // How operands become instructions; the functions are in elementwise_table.cpp.
  Id (*build)(const ElementwiseRow& row, ElementwiseBuilder& builder, const Node& node, std::span<const Id> operands);
};

std::span<const ElementwiseRow> elementwiseRows();
const ElementwiseRow* findElementwiseRow(const Node& node);  // NULL if there is none
ElementwiseBuilder::Id buildElementwise(const ElementwiseRow& row, ElementwiseBuilder& builder, const Node& node,
                                        std::span<const ElementwiseBuilder::Id> operands);

}  // namespace max
