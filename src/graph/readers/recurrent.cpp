// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/recurrent.h"

#include "base/error.h"
#include "graph/activations.h"

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

void Recurrent::requireActivations(const Attributes& attributes, size_t each) const {
  const size_t count = attributes.getStrings("activations").size();
  if (count != 0 && count != each * static_cast<size_t>(directions))
    invalidArgument("attribute activations has ", count, " entries");
}

std::vector<CellFunction> Recurrent::activations(const Attributes& attributes,
                                                 std::span<const std::string_view> defaults) const {
  requireActivations(attributes, defaults.size());
  std::vector<std::string> names = attributes.getStrings("activations");
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i) names.insert(names.end(), defaults.begin(), defaults.end());
  const std::vector<float> alphas = attributes.getFloats("activation_alpha");
  const std::vector<float> betas = attributes.getFloats("activation_beta");
  std::vector<CellFunction> result;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    CellFunction function{name, 0, 0};
    // The attributes list values only for activations with parameters.
    if (const ActivationInfo* info = findActivation(name, ActivationInfo::Cells)) {
      function.alpha = info->parameters > 0 && alpha < alphas.size() ? alphas[alpha++] : info->alpha;
      function.beta = info->parameters > 1 && beta < betas.size() ? betas[beta++] : info->beta;
    }
    result.push_back(function);
  }
  return result;
}

}  // namespace max::readers
