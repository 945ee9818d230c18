// SPDX-License-Identifier: Apache-2.0
// What a model's file or graph held, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "max/model.h"

struct MaxModelInfo : max::Handle {
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
};
