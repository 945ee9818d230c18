// SPDX-License-Identifier: Apache-2.0
#include "graph/readers/control.h"

#include "base/error.h"

namespace max::readers {

namespace {

std::vector<int64_t> readList(const Attributes& attributes, std::string_view name, size_t count) {
  std::vector<int64_t> list = attributes.getInts(name);
  if (!list.empty() && list.size() != count)
    invalidArgument("attribute '", name, "' has ", list.size(), " numbers, needs ", count);
  list.resize(count);
  return list;
}

}  // namespace

Scan::Scan(const Attributes& attributes, size_t inputs, size_t outputs) {
  const int64_t number = attributes.getInt("num_scan_inputs", 0);
  if (number < 1 || number > static_cast<int64_t>(inputs))
    invalidArgument("attribute 'num_scan_inputs' is ", number, " for ", inputs, " inputs");
  scanned = static_cast<size_t>(number);
  states = inputs - scanned;
  if (outputs < states) invalidArgument("has ", outputs, " outputs for ", states, " states");
  stacked = outputs - states;
  inputAxes = readList(attributes, "scan_input_axes", scanned);
  inputDirections = readList(attributes, "scan_input_directions", scanned);
  outputAxes = readList(attributes, "scan_output_axes", stacked);
  outputDirections = readList(attributes, "scan_output_directions", stacked);
}

}  // namespace max::readers
