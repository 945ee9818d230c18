// SPDX-License-Identifier: Apache-2.0
// What operators that consist of a few strided copies copy, whatever does it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/cpu/movement/movement.h"

namespace max {

// Part of an input goes to part of an output; offsets and strides in elements.
struct Piece {
  size_t input = 0;
  size_t output = 0;
  int64_t sourceOffset = 0;
  int64_t targetOffset = 0;
  Shape shape;
  Shape sourceStrides;
  Shape targetStrides;
};

using PiecesFunction = std::vector<Piece> (*)(const MovementCall& call);

struct PiecesRow {
  std::string_view op;
  PiecesFunction pieces;
  size_t firstPlacing;  // the first input whose contents say where data goes
};

std::span<const PiecesRow> piecesRows();

}  // namespace max
