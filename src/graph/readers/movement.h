// SPDX-License-Identifier: Apache-2.0
// Attributes and inputs of nodes that move elements, for shape rules, fast and reference kernels. The rank of input 0
// must be known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/node_inputs.h"

namespace max::readers {

// Transpose: the input axis for each output axis.
std::vector<int> readPermutation(const NodeInputs& inputs);
std::vector<int64_t> readOrder(const Attributes& attributes);  // as written; empty = reversed

// Concat of inputs of this rank.
int readConcatAxis(const NodeInputs& inputs, int rank);

struct Split {
  int axis;
  std::vector<Dim> sizes;  // of the outputs; empty = unknown
};
Split readSplit(const NodeInputs& inputs, size_t outputCount);

// One axis of a Slice. The end is exclusive.
struct SlicedAxis {
  int axis;
  std::optional<Dim> start, end, step;  // if known; a known step is not 0
};
// nullopt if the axes are unknown.
std::optional<std::vector<SlicedAxis>> readSlice(const NodeInputs& inputs);

// Rebind: names for unnamed dimensions (empty = none), and the error message.
struct Promise {
  std::vector<std::string> names;
  std::string message;
};
Promise readPromise(const Attributes& attributes);

// Reshape: 0 is a size and does not copy one.
bool readKeepsZeros(const Attributes& attributes);

// Tile: a number per axis; nullopt if unknown.
std::optional<std::vector<Dim>> readRepeats(const NodeInputs& inputs);

enum class PadMode { Constant, Edge, Reflect, Wrap };
PadMode readPadMode(const Attributes& attributes);

// Pad: padding before and after each input axis; negative numbers crop.
struct Padding {
  PadMode mode;
  std::vector<Dim> before, after;
};
// nullopt if pads or axes are unknown.
std::optional<Padding> readPadding(const NodeInputs& inputs);

// DepthToSpace, SpaceToDepth.
struct Blocks {
  int64_t size;
  bool isColumnFirst;  // "CRD"
};
Blocks readBlocks(const NodeInputs& inputs);

// ReverseSequence: one of the axes is 0, the other is 1.
struct Reversal {
  int batchAxis, timeAxis;
};
Reversal readReversal(const NodeInputs& inputs);

}  // namespace max::readers
