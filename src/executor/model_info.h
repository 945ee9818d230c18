// SPDX-License-Identifier: Apache-2.0
// What a model's file or graph contained, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "base/ref.h"
#include "graph/tensor_info.h"
#include "max/model_info.h"

struct MaxModelInfo : max::HandleOf<MaxModelInfo> {
 public:
  struct Unsupported {
    std::string node;
    std::string op;
    int64_t version = 0;
  };

  int64_t irVersion = 0;
  std::string producer;
  int64_t parameters = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<std::pair<std::string, int64_t>> operators;  // sorted by name
  std::vector<Unsupported> unsupported;
  std::vector<max::TensorInfo> inputs, outputs, weights;
  std::string drawing;  // in the DOT language; empty unless requested for a file
};
