// SPDX-License-Identifier: Apache-2.0
// What nodes that move elements say: read once here for shape rules, fast and reference kernels. The rank of input 0
// must be known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/node_inputs.h"

namespace max::readers {

// Transpose: which axis of the input each axis of the output is.
std::vector<int> readPermutation(const NodeInputs& inputs);
std::vector<int64_t> readOrder(const Attributes& attributes);  // as it is written; empty = reversed

// Concat of inputs of this rank.
int readConcatAxis(const NodeInputs& inputs, int rank);

struct Split {
  int axis;
  std::vector<Dim> sizes;  // of the outputs; empty = not known
};
Split readSplit(const NodeInputs& inputs, size_t outputCount);

// One axis of a Slice. The end is exclusive.
struct SlicedAxis {
  int axis;
  std::optional<Dim> start, end, step;  // where they are known; a known step is not 0
};
// nullopt if the axes are not known.
std::optional<std::vector<SlicedAxis>> readSlice(const NodeInputs& inputs);

// Rebind: names for dimensions that have none, an empty one is none, and what a broken promise says.
struct Promise {
  std::vector<std::string> names;
  std::string message;
};
Promise readPromise(const Attributes& attributes);

// Reshape: 0 is a size, not what copies one.
bool readKeepsZeros(const Attributes& attributes);

// Tile: a number for each axis; nullopt if they are not known.
std::optional<std::vector<Dim>> readRepeats(const NodeInputs& inputs);

enum class PadMode { Constant, Edge, Reflect, Wrap };
PadMode readPadMode(const Attributes& attributes);

// Pad: what comes before and behind each axis of the input; negative numbers crop.
struct Padding {
  PadMode mode;
  std::vector<Dim> before, after;
};
// nullopt if pads or axes are not known.
std::optional<Padding> readPadding(const NodeInputs& inputs);

// DepthToSpace, SpaceToDepth.
struct Blocks {
  int64_t size;
  bool isColumnFirst;  // "CRD"
};
Blocks readBlocks(const NodeInputs& inputs);

// ReverseSequence: one of the axes is 0, the other one 1.
struct Reversal {
  int batchAxis, timeAxis;
};
Reversal readReversal(const NodeInputs& inputs);

}  // namespace max::readers
