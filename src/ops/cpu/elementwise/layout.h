// SPDX-License-Identifier: Apache-2.0
// How an elementwise kernel iterates over its output: blocks of consecutive elements, and the form of each input inside
// a block.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shape.h"
#include "ops/cpu/elementwise/ops.h"

namespace max {

// Dimensions shared by all operands, merged if every operand allows it. Inputs have stride 0 where they broadcast.
struct BroadcastDims {
  Shape dims;                  // of the output; at least one
  std::vector<Shape> strides;  // of each input, in elements
};
// `pitches`: how far apart, in elements, rows of the last axis of each input lie; 0, or none = it is dense.
BroadcastDims collapseBroadcast(const Shape& output, std::span<const Shape> inputs,
                                std::span<const int64_t> pitches = {});

// What an input is within one block.
enum class Access : uint8_t {
  Direct,    // dense
  Repeated,  // one value
  Gathered,  // anything else: copied to a tile
  Pattern,   // like Gathered, but equal for all blocks: copied once
};

struct BlockLayout {
  Shape dims;     // as in BroadcastDims
  int split = 0;  // a block spans `chunk` indices of this dimension and all of the later ones
  int64_t chunk = 1;
  int64_t inner = 1;   // elements of the dimensions after `split`
  int64_t chunks = 1;  // blocks along `split`
  int64_t blocks = 0;
  std::vector<Access> access;
  std::vector<Shape> strides;

  int64_t blockElements() const { return chunk * inner; }
};
// `limit`: maximum elements per block. `flatLimit`: the same if there is a single flat dimension, since nothing is
// copied then; 0 = `limit` applies.
BlockLayout planBlocks(const BroadcastDims& operands, int64_t limit, int64_t flatLimit);

// Copies the elements of a block that starts at `from` to `to`: `count` indices of dimension `split`. Bytes up to
// kGatherSlack past them may be written, too.
inline constexpr int64_t kGatherSlack = 64;
void gatherBlock(const BlockLayout& layout, size_t input, int64_t count, const std::byte* from, std::byte* to,
                 size_t elementSize, SplatFunction splat);

}  // namespace max
