// SPDX-License-Identifier: Apache-2.0
// What operators between tensors and sequences read of their attributes.
#pragma once

#include "graph/node_inputs.h"

namespace max::readers {

// SplitToSequence. The rank of input 0 must be known.
struct SequenceSplit {
  int axis;
  bool dropsAxis;  // only where no lengths are given
};
SequenceSplit readSequenceSplit(const NodeInputs& inputs);

// ConcatFromSequence of elements of a rank that is known only when it runs.
struct SequenceJoin {
  bool isNew;  // the axis

  explicit SequenceJoin(const NodeInputs& inputs);
  int axis(int rank) const { return inputs_.axis(axis_, rank + (isNew ? 1 : 0)); }

 private:
  const NodeInputs& inputs_;
  int64_t axis_;
};

}  // namespace max::readers
