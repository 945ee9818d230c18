// SPDX-License-Identifier: Apache-2.0
// The commands' output: lines, aligned tables and JSON on standard output, one error line, a progress bar on a
// terminal. A model's strings may contain anything; all printing is here, so that all of them are escaped.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace max::cli {

using Json = nlohmann::ordered_json;

// One line on standard output.
void printLine(const std::string& text);
// One line on standard error.
void printError(const std::string& text);
// The lines of a compiler's log on standard error.
void printLog(const std::string& log);
// Standard output as a file: raw bytes, unless a terminal would interpret them.
void printContent(const std::string& content);
void printJson(const Json& value);

// Like std::printf.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// Rows of cells, with columns padded to their widest cell; the first row is the heading.
using Table = std::vector<std::vector<std::string>>;
void printTable(Table table);

std::string bytesText(uint64_t bytes);

// Drawn on standard error if that is a terminal, and erased at the end.
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
