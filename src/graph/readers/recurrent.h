// SPDX-License-Identifier: Apache-2.0
// Inputs and attributes of LSTM, GRU, RNN and max.DynamicQuantizeLSTM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace max::readers {

// Inputs of a layer, by number. Those behind the peepholes are what a layer of bytes has.
enum RecurrentInput : size_t {
  kX,
  kW,
  kR,
  kBias,
  kLengths,
  kInitialH,
  kInitialC,
  kPeepholes,
  kInputScale,
  kInputZero,
  kStateScale,
  kStateZero
};

// One of a layer's activations, with its parameters.
struct CellFunction {
  std::string name;  // ONNX's
  float alpha, beta;
};

struct Recurrent {
  int64_t directions;  // 1, or 2: forward first
  bool isReverse;      // the only direction
  bool isBatchFirst;
  std::optional<int64_t> hidden;  // at least 1
  std::optional<float> clip;      // not negative
  bool couplesGates;              // LSTM
  bool resetsLate;                // GRU: after the product with the state

  explicit Recurrent(const Attributes& attributes);
  // Throws unless there are no activations or this many per direction.
  void requireActivations(const Attributes& attributes, size_t each) const;
  // Activations of all directions, in order; by default the defaults for each.
  std::vector<CellFunction> activations(const Attributes& attributes, std::span<const std::string_view> defaults) const;
};

}  // namespace max::readers
