// SPDX-License-Identifier: Apache-2.0
// Attributes of operators between tensors and sequences.
#pragma once

#include "graph/node_inputs.h"

namespace max::readers {

// SplitToSequence. The rank of input 0 must be known.
struct SequenceSplit {
  int axis;
  bool dropsAxis;  // only if no lengths are given
};
SequenceSplit readSequenceSplit(const NodeInputs& inputs);

// ConcatFromSequence; the rank of the elements is only known at run time.
struct SequenceJoin {
  bool isNew;  // the axis

  explicit SequenceJoin(const NodeInputs& inputs);
  int axis(int rank) const { return inputs_.axis(axis_, rank + (isNew ? 1 : 0)); }

 private:
  const NodeInputs& inputs_;
  int64_t axis_;
};

}  // namespace max::readers
