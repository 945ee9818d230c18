// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/activation.h"

#include "base/error.h"

namespace max {

namespace {

struct Row {
  std::string_view name;
  const char* code;
};
constexpr Row kRows[] = {
    {"", "x"},
    {"Affine", "x * (T)alpha + (T)beta"},
    {"Clip", "opClip(x, (T)alpha, (T)beta)"},
    {"Elu", "opElu(x, alpha, beta)"},
    {"Gelu", "opGelu(x)"},
    {"GeluTanh", "opGeluTanh(x)"},
    {"HardSigmoid", "opHardSigmoid(x, alpha, beta)"},
    {"HardSwish", "opHardSwish(x)"},
    {"LeakyRelu", "opLeakyRelu(x, alpha, beta)"},
    {"Relu", "opRelu(x)"},
    {"ScaledTanh", "(T)alpha * opTanh((T)beta * x)"},
    {"Sigmoid", "opSigmoid(x)"},
    {"Silu", "opSwish(x, 1.0f, 0.0f)"},
    {"Softplus", "opSoftplus(x)"},
    {"Softsign", "opSoftsign(x)"},
    {"Tanh", "opTanh(x)"},
    {"ThresholdedRelu", "opThresholdedRelu(x, alpha, beta)"},
};

}  // namespace

std::string activationSource(std::string_view activation, std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == activation)
      return concat("template <class T>\nMAX_DEVICE T ", name, "(T x, float alpha, float beta) {\n  return ", row.code,
                    ";\n}\n");
  return "";
}

Addends::Addends(const Node& node, size_t bias, size_t residual) {
  const auto take = [&](const char* name) {
    parameters += concat(", const Element* ", name);
    given += concat(", ", name);
  };
  if (node.input(bias)) {
    take("bias");
    before += "sum += (Sum)bias[filter];\n";
  }
  if (!node.input(residual)) return;
  take("residual");
  if (readers::addsResidualLast(node.attributes))
    after = "+ (Sum)residual[i]";
  else
    before += "sum += (Sum)residual[i];\n";
}

}  // namespace max
