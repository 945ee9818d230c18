// SPDX-License-Identifier: Apache-2.0
// From --input, --shape and --max to one buffer per input of the model.
#include <charconv>
#include <optional>

#include "model.h"
#include "npy.h"
#include "random.h"

namespace max::cli {
namespace {

std::string namesOf(const std::vector<Port>& ports) {
  std::string names;
  for (const Port& port : ports) names += (names.empty() ? "" : ", ") + port.name;
  return names.empty() ? "none" : names;
}

// NAME=VALUE options by input: the value for each input, if there is one. Names may contain '='.
std::vector<std::optional<std::string>> assign(const char* option, const std::vector<std::string>& texts,
                                               const std::vector<Port>& ports) {
  std::vector<std::optional<std::string>> values(ports.size());
  for (const std::string& text : texts) {
    size_t best = ports.size();
    for (size_t i = 0; i < ports.size(); ++i)
      if (text.rfind(ports[i].name + "=", 0) == 0 &&
          (best == ports.size() || ports[i].name.size() > ports[best].name.size()))
        best = i;
    if (best == ports.size() && text.find('=') == std::string::npos)
      throw UsageError(std::string(option) + ": \"" + text + "\" is not of the form NAME=VALUE");
    if (best == ports.size())
      throw UsageError(std::string(option) + ": the model has no input \"" + text.substr(0, text.find('=')) +
                       "\"; its inputs: " + namesOf(ports));
    values[best] = text.substr(ports[best].name.size() + 1);
  }
  return values;
}

int64_t parseNumber(const char* option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UsageError(std::string(option) + ": \"" + text + "\" is not a number of 0 or more");
  return value;
}

// "1,3,640,640"; an empty string is a scalar's shape.
std::vector<int64_t> parseShape(const std::string& text) {
  std::vector<int64_t> shape;
  for (size_t start = 0; start < text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    shape.push_back(parseNumber("--shape", text.substr(start, comma - start)));
    start = comma + 1;
  }
  return shape;
}

// Unnamed dimensions are 1, and so are named ones without a value.
std::vector<int64_t> defaultShape(const Port& port) {
  std::vector<int64_t> shape = port.shape;
  for (int64_t& dim : shape)
    if (dim < 0) dim = 1;
  return shape;
}

}  // namespace

std::vector<Buffer> makeInputs(const OpenModel& open, const ModelOptions& options) {
  const auto files = assign("--input", options.inputs, open.inputs);
  const auto shapes = assign("--shape", options.shapes, open.inputs);
  const auto maxima = assign("--max", options.maxima, open.inputs);
  Random random(0);
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < open.inputs.size(); ++i) {
    const Port& port = open.inputs[i];
    if (port.kind != MAX_VALUE_KIND_TENSOR)
      throw Failure("UNIMPLEMENTED", "Input \"" + port.name + "\" is not a tensor; this command only passes tensors");
    if (files[i]) {
      buffers.push_back(toBuffer(open.device, readNpy(*files[i], port.dtype)));
      continue;
    }
    const auto shape = shapes[i] ? parseShape(*shapes[i]) : defaultShape(port);
    const int64_t maximum = maxima[i] ? parseNumber("--max", *maxima[i]) : 1;
    buffers.push_back(toBuffer(open.device, randomArray(random, port.dtype, shape, maximum)));
  }
  return buffers;
}

}  // namespace max::cli
