// SPDX-License-Identifier: Apache-2.0
#include "examples.h"

#include <iterator>

#include "device/api_names.h"

namespace max::cli {

std::string deviceExamples() {
  std::string text = "cpu, gpu:0";
  for (const ApiName& row : kApiNames)
    text += (&row == std::end(kApiNames) - 1 ? " or " : ", ") + std::string(row.api) + ":0";
  return text;
}

std::string targetExamples() {
  std::string text;
  for (const ApiName& row : kApiNames) text += (text.empty() ? "" : ", ") + std::string(row.api) + ":" + row.chip;
  return text;
}

}  // namespace max::cli
