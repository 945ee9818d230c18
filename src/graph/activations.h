// SPDX-License-Identifier: Apache-2.0
// Activations that operators name in an attribute: those of recurrent layers, with ONNX's names and defaults, and those
// that the compiler fuses into products and convolutions.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace max {

struct ActivationInfo {
  enum Users : uint8_t { Cells = 1, Epilogues = 2 };
  std::string_view name;
  uint8_t users;
  int parameters = 0;         // that attributes may set: none, alpha, alpha and beta
  float alpha = 0, beta = 0;  // otherwise

  constexpr bool isFor(Users user) const { return (users & user) != 0; }
};

inline constexpr ActivationInfo kActivations[] = {
    {"Affine", ActivationInfo::Cells, 2, 1, 0},
    {"Clip", ActivationInfo::Epilogues, 2, -std::numeric_limits<float>::infinity(),
     std::numeric_limits<float>::infinity()},
    {"Elu", ActivationInfo::Cells, 1, 1},
    {"Gelu", ActivationInfo::Epilogues},
    {"GeluTanh", ActivationInfo::Epilogues},
    {"HardSigmoid", ActivationInfo::Cells | ActivationInfo::Epilogues, 2, 0.2f, 0.5f},
    {"HardSwish", ActivationInfo::Epilogues},
    {"LeakyRelu", ActivationInfo::Cells | ActivationInfo::Epilogues, 1, 0.01f},
    {"Relu", ActivationInfo::Cells | ActivationInfo::Epilogues},
    {"ScaledTanh", ActivationInfo::Cells, 2, 1, 1},
    {"Sigmoid", ActivationInfo::Cells | ActivationInfo::Epilogues},
    {"Silu", ActivationInfo::Epilogues, 0, 1},  // Swish with this alpha
    {"Softplus", ActivationInfo::Cells},
    {"Softsign", ActivationInfo::Cells},
    {"Tanh", ActivationInfo::Cells | ActivationInfo::Epilogues},
    {"ThresholdedRelu", ActivationInfo::Cells, 1, 1},
};

// NULL if such operators have no activation of this name.
constexpr const ActivationInfo* findActivation(std::string_view name, ActivationInfo::Users user) {
  for (const ActivationInfo& info : kActivations)
    if (info.name == name && info.isFor(user)) return &info;
  return nullptr;
}

}  // namespace max
