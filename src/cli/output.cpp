// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <iterator>

#include "base/printable.h"

namespace max::cli {

namespace {

void write(std::FILE* stream, const std::string& text) { std::fwrite(text.data(), 1, text.size(), stream); }

}  // namespace

void printLine(const std::string& text) { write(stdout, printable(text) + "\n"); }

void printError(const std::string& text) { write(stderr, printable(text) + "\n"); }

void printLog(const std::string& log) {
  if (!log.empty()) write(stderr, printableLines(log) + "\n");
}

void printContent(const std::string& content) {
  write(stdout, isatty(STDOUT_FILENO) == 1 ? printableLines(content) : content);
}

void printJson(const Json& value) {
  write(stdout, printableJson(value.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n");
}

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, pattern, arguments);
  std::string text(static_cast<size_t>(std::max(size, 0)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

void printTable(Table table) {
  std::vector<size_t> widths;
  for (auto& row : table) {
    for (std::string& cell : row) cell = printable(cell);
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : table) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    printLine(line);
  }
}

std::string bytesText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? format("%.0f %s", value, kUnits[unit]) : format("%.1f %s", value, kUnits[unit]);
}

Progress::Progress(std::string label) : label_(std::move(label)), visible_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (visible_ && lastPercent_ >= 0) write(stderr, "\r\033[K");
}

void Progress::update(double fraction) {
  constexpr int kWidth = 30;
  const int percent = std::clamp(static_cast<int>(fraction * 100), 0, 100);
  if (!visible_ || percent == lastPercent_) return;
  lastPercent_ = percent;
  const int filled = percent * kWidth / 100;
  const std::string bar =
      std::string(static_cast<size_t>(filled), '#') + std::string(static_cast<size_t>(kWidth - filled), '.');
  write(stderr, format("\r%s [%s] %3d %%", label_.c_str(), bar.c_str(), percent));
}

}  // namespace max::cli
