// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/recurrent.h"

#include "base/error.h"

namespace max::readers {

Recurrent::Recurrent(const Attributes& attributes)
    : isBatchFirst(attributes.getInt("layout", 0) != 0),
      couplesGates(attributes.getInt("input_forget", 0) != 0),
      resetsLate(attributes.getInt("linear_before_reset", 0) != 0) {
  const std::string direction = attributes.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    invalidArgument("attribute 'direction' is '", direction, "'");
  directions = direction == "bidirectional" ? 2 : 1;
  isReverse = direction == "reverse";
  if (attributes.has("hidden_size")) hidden = attributes.getInt("hidden_size", 0);
  if (hidden && *hidden < 1) invalidArgument("attribute 'hidden_size' is ", *hidden);
  if (attributes.has("clip")) clip = attributes.getFloat("clip", 0);
  if (clip && !(*clip >= 0)) invalidArgument("attribute 'clip' is ", *clip);
}

}  // namespace max::readers
