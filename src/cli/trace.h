// SPDX-License-Identifier: Apache-2.0
// Reads the library's profiles back.
#pragma once

#include <string>
#include <vector>

namespace max::cli {

// All runs of one node.
struct TraceRow {
  std::string name, type, implementation;
  int64_t calls = 0;
  double ms = 0;                          // total, without nested events
  double multiplications = 0, bytes = 0;  // total; 0 = none, or unknown
};

struct Trace {
  double totalMs = 0;          // of the model's calls
  std::vector<TraceRow> rows;  // longest first
};

Trace readTrace(const std::string& path);

}  // namespace max::cli
