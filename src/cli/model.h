// SPDX-License-Identifier: Apache-2.0
// A model for the commands: opened with the command line's options, with inputs created and outputs read.
#pragma once

#include "array.h"
#include "commands.h"
#include "handle.h"

namespace max::cli {

using Buffer = Owned<MaxBuffer, maxBufferRelease>;
using Session = Owned<MaxSession, maxSessionRelease>;
using Model = Owned<MaxModel, maxModelRelease>;
using Value = Owned<MaxValue, maxValueRelease>;

// An input or output as the model declares it.
struct Port {
  std::string name;
  MaxValueKind kind = MAX_VALUE_KIND_TENSOR;
  MaxDType dtype = MAX_DTYPE_INVALID;
  bool ranked = false;
  std::vector<int64_t> shape;        // MAX_DIMENSION_DYNAMIC if a call chooses
  std::vector<std::string> symbols;  // a dynamic dimension's name, or ""
};

struct OpenModel {
  Device device;
  Session session;
  Model model;
  std::vector<Port> inputs, outputs;
  double loadMs = 0;      // session and model
  int32_t threads = 0;    // used by the session
  std::string precision;  // of products, if the chip lacks the requested one
};

OpenModel openModel(const ModelOptions& options);
// A name for --precision, and what products of float32 are computed from then on this machine's CPU.
struct Precision {
  std::string name, factors;
};
std::vector<Precision> precisionsHere();
// As declared in the model's file.
std::vector<Port> readInputs(const MaxModelInfo* info);
std::vector<Port> readOutputs(const MaxModelInfo* info);
// With the default options.
OpenModel openModelFromMemory(const void* data, size_t size);

// One buffer per input: from --input, or random with the shape from --shape or the model.
std::vector<Buffer> makeInputs(const OpenModel& open, const ModelOptions& options);
std::vector<Buffer> execute(const OpenModel& open, const std::vector<Buffer>& inputs);
// For models with outputs that are not tensors.
std::vector<Value> executeValues(const OpenModel& open, const std::vector<Buffer>& inputs);

Buffer toBuffer(const Device& device, const Array& array);
Array toArray(MaxBuffer* buffer);

}  // namespace max::cli
