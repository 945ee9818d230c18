// SPDX-License-Identifier: Apache-2.0
// Sums of lines of floats, for each CPU target (add_lines.cpp).
#pragma once

#include <cstdint>

namespace max {

// Lines of `count` floats each, and steps from one to the next.
struct AddedLines {
  const float* from;
  int64_t fromStep;
  float* to;
  int64_t toStep;
  int64_t lines, count;
};

struct LinesTable {
  void (*add)(const AddedLines& lines);  // to += from
};

const LinesTable& linesTable();  // of the CPU target of now

}  // namespace max
