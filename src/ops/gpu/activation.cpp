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
    {"Clip", "opClip(x, (T)alpha, (T)beta)"},
    {"Gelu", "opGelu(x)"},
    {"GeluTanh", "opGeluTanh(x)"},
    {"HardSigmoid", "opHardSigmoid(x, alpha, beta)"},
    {"HardSwish", "opHardSwish(x)"},
    {"LeakyRelu", "opLeakyRelu(x, alpha, beta)"},
    {"Relu", "opRelu(x)"},
    {"Sigmoid", "opSigmoid(x)"},
    {"Silu", "opSwish(x, 1.0f, 0.0f)"},
    {"Tanh", "opTanh(x)"},
};

}  // namespace

std::string activationSource(const readers::FusedActivation& activation, const char* name) {
  for (const Row& row : kRows)
    if (row.name == activation.name)
      return concat("template <class T>\nMAX_DEVICE T ", name, "(T x, float alpha, float beta) {\n  return ", row.code,
                    ";\n}\n");
  return "";
}

}  // namespace max
