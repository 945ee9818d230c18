// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/elementwise.h"

namespace max::readers {

namespace {

struct ParameterRow {
  std::string_view op, alphaName;
  float alpha;
  std::string_view betaName;
  float beta;
};
constexpr ParameterRow kParameters[] = {
    {"Celu", "alpha", 1, "", 0},
    {"Elu", "alpha", 1, "", 0},
    {"HardSigmoid", "alpha", 0.2f, "beta", 0.5f},
    {"LeakyRelu", "alpha", 0.01f, "", 0},
    {"Selu", "alpha", 1.67326319217681884765625f, "gamma", 1.05070102214813232421875f},
    {"Shrink", "lambd", 0.5f, "bias", 0},
    {"Swish", "alpha", 1, "", 0},
    {"ThresholdedRelu", "alpha", 1, "", 0},
};

float read(const Attributes& attributes, std::string_view name, float fallback) {
  return name.empty() ? 0 : attributes.getFloat(name, fallback);
}

}  // namespace

Parameters::Parameters(std::string_view op, const Attributes& attributes) : alpha(0), beta(0) {
  for (const ParameterRow& row : kParameters) {
    if (row.op != op) continue;
    alpha = read(attributes, row.alphaName, row.alpha);
    beta = read(attributes, row.betaName, row.beta);
  }
}

bool readTruncates(const Attributes& attributes) { return attributes.getInt("fmod", 0) != 0; }
bool readShiftsLeft(const Attributes& attributes) { return attributes.getString("direction", "LEFT") == "LEFT"; }
bool readIsApproximate(const Attributes& attributes) { return attributes.getString("approximate", "none") == "tanh"; }

Infinities::Infinities(const Attributes& attributes)
    : negative(attributes.getInt("detect_negative", 1) != 0), positive(attributes.getInt("detect_positive", 1) != 0) {}

SmallFloatRules readSmallFloatRules(const Attributes& attributes) {
  const std::string mode = attributes.getString("round_mode", "up");
  SmallFloatRules rules;
  rules.saturate = attributes.getInt("saturate", 1) != 0;
  rules.scaleRounding = mode == "up"     ? ScaleRounding::Up
                        : mode == "down" ? ScaleRounding::Down
                                         : ScaleRounding::Nearest;
  return rules;
}

}  // namespace max::readers
