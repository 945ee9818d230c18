// SPDX-License-Identifier: Apache-2.0
// What commands write: aligned tables and JSON on standard output, a progress bar on a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace max::cli {

using Json = nlohmann::ordered_json;

void printJson(const Json& value);

// Rows of cells, columns padded to their widest cell; the first row is the heading.
using Table = std::vector<std::vector<std::string>>;
void printTable(const Table& table);

std::string bytesText(uint64_t bytes);

// Drawn on standard error while it is a terminal, erased at the end; otherwise nothing.
class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();
  void update(double fraction);
  bool isVisible() const { return visible_; }

 private:
  std::string label_;
  int lastPercent_ = -1;
  bool visible_;
};

}  // namespace max::cli
