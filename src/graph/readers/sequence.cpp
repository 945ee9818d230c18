// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/sequence.h"

namespace max::readers {

SequenceSplit readSequenceSplit(const NodeInputs& inputs) {
  return {inputs.axisAttribute("axis", 0, inputs.rank(0)), !inputs.has(1) && !inputs.flag("keepdims", true)};
}

SequenceJoin::SequenceJoin(const NodeInputs& inputs)
    : isNew(inputs.flag("new_axis", false)), inputs_(inputs), axis_(inputs.attributes().getInt("axis", 0)) {
  if (!inputs.attributes().has("axis")) inputs.fail("attribute 'axis' is missing");
}

}  // namespace max::readers
