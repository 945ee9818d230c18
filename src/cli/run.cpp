// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "model.h"
#include "npy.h"
#include "output.h"
#include "values.h"

namespace max::cli {
namespace {

constexpr int64_t kShownValues = 8;

// Every character outside [A-Za-z0-9._-] becomes "_".
std::string fileName(const std::string& output) {
  std::string name = output;
  for (char& c : name) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!plain && c != '.' && c != '_' && c != '-') c = '_';
  }
  return name + ".npy";
}

std::string statisticsText(const Array& array) {
  const int64_t count = elementCount(array.shape);
  if (count == 0) return "empty";
  if (array.dtype == MAX_DTYPE_STRING) return std::to_string(count) + (count == 1 ? " string" : " strings");
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0, squares = 0;
  int64_t strange = 0;  // NaN and infinities are counted separately
  for (int64_t i = 0; i < count; ++i) {
    const double value = elementAt(array, i);
    if (!std::isfinite(value)) {
      ++strange;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
    squares += value * value;
  }
  const auto finite = static_cast<double>(count - strange);
  if (finite == 0) return "no finite values";
  const double mean = sum / finite;
  const double variance = std::max(0.0, squares / finite - mean * mean);
  return format("min %.6g  max %.6g  mean %.6g  std %.6g", low, high, mean, std::sqrt(variance)) +
         (strange ? "  not finite " + std::to_string(strange) : "");
}

std::string firstValues(const Array& array) {
  const int64_t count = elementCount(array.shape);
  std::string text = "[";
  for (int64_t i = 0; i < std::min(count, kShownValues); ++i) text += (i ? ", " : "") + elementText(array, i);
  return text + (count > kShownValues ? ", ...]" : "]");
}

void printOutput(const std::string& name, const Array& array) {
  printLine(name + "  " + maxDTypeGetName(array.dtype) + " " + shapeText(array.shape));
  printLine("  " + statisticsText(array));
  printLine("  " + firstValues(array));
}

void makeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Failure("UNAVAILABLE", "Folder \"" + path + "\" cannot be created: " + error.message());
}

// Prints the output, writes its file, and gives its description.
Json showOutput(const RunOptions& options, const std::string& name, const MaxValue* value) {
  MaxValueKind kind = MAX_VALUE_KIND_TENSOR;
  check(maxValueGetKind(value, &kind));
  Json file;
  if (kind != MAX_VALUE_KIND_TENSOR) {
    if (!options.json) printLine(name + "  " + kindName(kind));
    if (!options.json) printLine("  " + valueText(value));
    return {{"name", name}, {"dtype", nullptr},       {"shape", nullptr},
            {"file", file}, {"kind", kindName(kind)}, {"value", valueJson(value)}};
  }
  MaxBuffer* buffer = nullptr;
  check(maxValueGetBuffer(value, &buffer));
  const Array array = toArray(buffer);
  if (!options.outputDir.empty()) {
    file = (std::filesystem::path(options.outputDir) / fileName(name)).string();
    writeNpy(file, array);
  }
  if (!options.json) printOutput(name, array);
  return {{"name", name}, {"dtype", maxDTypeGetName(array.dtype)}, {"shape", array.shape}, {"file", file}};
}

}  // namespace

void runModel(const RunOptions& options) {
  const OpenModel open = openModel(options);
  const std::vector<Buffer> inputs = makeInputs(open, options);
  const std::vector<Value> outputs = executeValues(open, inputs);
  if (!options.outputDir.empty()) makeFolder(options.outputDir);

  Json list = Json::array();
  for (size_t i = 0; i < outputs.size(); ++i) list.push_back(showOutput(options, open.outputs[i].name, outputs[i]));
  if (options.json) printJson({{"outputs", list}});
}

}  // namespace max::cli
