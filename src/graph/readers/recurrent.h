// SPDX-License-Identifier: Apache-2.0
// What LSTM, GRU and RNN read of their attributes.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/attributes.h"

namespace max::readers {

struct Recurrent {
  int64_t directions;  // 1, or 2: forward first
  bool isReverse;      // the only direction
  bool isBatchFirst;
  std::optional<int64_t> hidden;  // at least 1
  std::optional<float> clip;      // not negative
  bool couplesGates;              // LSTM
  bool resetsLate;                // GRU: after the product with the state

  explicit Recurrent(const Attributes& attributes);
};

}  // namespace max::readers
