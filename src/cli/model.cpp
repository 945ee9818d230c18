// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>

#include "output.h"

namespace max::cli {
namespace {

Port portOf(const MaxTensorInfo& info) {
  Port port;
  port.name = info.name;
  port.kind = info.kind;
  port.dtype = info.dtype;
  port.ranked = info.rank != MAX_RANK_DYNAMIC;
  for (int32_t i = 0; i < info.rank; ++i) {
    const char* symbol = info.dimensionNames[i];
    port.shape.push_back(info.shape[i]);
    port.symbols.emplace_back(symbol ? symbol : "");
  }
  return port;
}

// Inputs or outputs of a model or a file.
template <class Handle>
std::vector<Port> readPorts(const Handle* model, MaxStatus (*getCount)(const Handle*, int32_t*),
                            MaxStatus (*get)(const Handle*, int32_t, MaxTensorInfo*)) {
  int32_t count = 0;
  check(getCount(model, &count));
  std::vector<Port> ports;
  for (int32_t i = 0; i < count; ++i) {
    MaxTensorInfo info = MAX_TENSOR_INFO_INIT;
    check(get(model, i, &info));
    ports.push_back(portOf(info));
  }
  return ports;
}

struct PrecisionRow {
  const char* name;
  MaxPrecision value;
  const char* factors;
};

constexpr PrecisionRow kPrecisions[] = {{"highest", MAX_PRECISION_HIGHEST, "float32"},
                                        {"high", MAX_PRECISION_HIGH, "bfloat16 in parts"},
                                        {"medium", MAX_PRECISION_MEDIUM, "bfloat16"}};

MaxPrecision precisionFromName(const std::string& name) {
  for (const PrecisionRow& row : kPrecisions)
    if (name == row.name) return row.value;
  throw UsageError("--precision: \"" + name + "\" is not highest, high or medium");
}

const PrecisionRow& precisionOf(const Model& model) {
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  check(maxModelGetPrecision(model, &precision));
  return *std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                       [precision](const PrecisionRow& row) { return row.value == precision; });
}

// A model that does nothing, which knows its precision all the same.
Model emptyModel(const Session& session, MaxPrecision precision) {
  Owned<MaxGraph, maxGraphRelease> graph;
  MaxGraphValue* x = nullptr;
  check(maxGraphCreate("empty", graph.out()));
  check(maxGraphAddInput(graph, "x", MAX_DTYPE_FLOAT32, 0, nullptr, nullptr, &x));
  check(maxGraphAddOutput(graph, x, "y"));
  MaxModelLoadOptions options = MAX_MODEL_LOAD_OPTIONS_INIT;
  options.precision = precision;
  Model model;
  check(maxModelCompile(session, graph, &options, model.out()));
  return model;
}

using LoadFunction = std::function<void(const MaxSession*, const MaxModelLoadOptions*, MaxModel**)>;

OpenModel openWith(const ModelOptions& options, const LoadFunction& load) {
  OpenModel open;
  MaxModelLoadOptions loadOptions = MAX_MODEL_LOAD_OPTIONS_INIT;
  loadOptions.precision = precisionFromName(options.precision);
  open.device = openDevice(options.device);
  if (!options.weights.empty()) loadOptions.weightsPath = options.weights.c_str();

  Progress progress("loading");
  if (progress.isVisible()) {
    loadOptions.progress = [](void* bar, double fraction, const char*) {
      static_cast<Progress*>(bar)->update(fraction);
    };
    loadOptions.progressUserData = &progress;
  }
  const auto start = std::chrono::steady_clock::now();
  MaxSessionOptions sessionOptions = MAX_SESSION_OPTIONS_INIT;
  MaxDevice* device = open.device;
  sessionOptions.devices = &device;
  sessionOptions.deviceCount = 1;
  sessionOptions.threadCount = options.threads;
  check(maxSessionCreate(&sessionOptions, open.session.out()));
  load(open.session, &loadOptions, open.model.out());
  open.loadMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  check(maxSessionGetThreadCount(open.session, &open.threads));
  open.precision = precisionOf(open.model).name;
  open.inputs = readPorts<MaxModel>(open.model, maxModelGetInputCount, maxModelGetInput);
  open.outputs = readPorts<MaxModel>(open.model, maxModelGetOutputCount, maxModelGetOutput);
  return open;
}

}  // namespace

std::vector<Precision> precisionsHere() {
  Session session;
  check(maxSessionCreate(nullptr, session.out()));
  std::vector<Precision> found;
  for (const PrecisionRow& row : kPrecisions)
    found.push_back({row.name, precisionOf(emptyModel(session, row.value)).factors});
  return found;
}

OpenModel openModel(const ModelOptions& options) {
  return openWith(options, [&](const MaxSession* session, const MaxModelLoadOptions* load, MaxModel** out) {
    check(maxModelLoad(session, options.model.c_str(), load, out));
  });
}

OpenModel openModelFromMemory(const void* data, size_t size) {
  return openWith({}, [&](const MaxSession* session, const MaxModelLoadOptions* load, MaxModel** out) {
    check(maxModelLoadFromMemory(session, data, size, load, out));
  });
}

std::vector<Port> readInputs(const MaxModelInfo* info) {
  return readPorts(info, maxModelInfoGetInputCount, maxModelInfoGetInput);
}

std::vector<Port> readOutputs(const MaxModelInfo* info) {
  return readPorts(info, maxModelInfoGetOutputCount, maxModelInfoGetOutput);
}

std::vector<Value> executeValues(const OpenModel& open, const std::vector<Buffer>& inputs) {
  std::vector<Value> owners(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) check(maxValueCreateTensor(inputs[i], owners[i].out()));
  const std::vector<MaxValue*> handles(owners.begin(), owners.end());
  std::vector<MaxValue*> results(open.outputs.size());
  check(maxModelExecuteValues(open.model, handles.data(), static_cast<int32_t>(handles.size()), nullptr, results.data(),
                              static_cast<int32_t>(results.size())));
  std::vector<Value> outputs;
  for (MaxValue* result : results) outputs.emplace_back(result);
  return outputs;
}

std::vector<Buffer> execute(const OpenModel& open, const std::vector<Buffer>& inputs) {
  const std::vector<MaxBuffer*> handles(inputs.begin(), inputs.end());
  std::vector<MaxBuffer*> results(open.outputs.size());
  check(maxModelExecute(open.model, handles.data(), static_cast<int32_t>(handles.size()), nullptr, results.data(),
                        static_cast<int32_t>(results.size())));
  std::vector<Buffer> outputs;
  for (MaxBuffer* result : results) outputs.emplace_back(result);
  return outputs;
}

namespace {

Buffer stringBuffer(const Device& device, const Array& array) {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& text : array.strings) {
    texts.push_back(text.data());
    lengths.push_back(text.size());
  }
  Buffer buffer;
  check(maxBufferCreateStrings(device, texts.data(), lengths.data(), static_cast<int32_t>(array.shape.size()),
                               array.shape.data(), buffer.out()));
  return buffer;
}

void readStrings(const MaxBuffer* buffer, Array& array) {
  const int64_t count = elementCount(array.shape);
  std::vector<const char*> texts(static_cast<size_t>(count));
  std::vector<size_t> lengths(static_cast<size_t>(count));
  check(maxBufferGetStrings(buffer, 0, count, texts.data(), lengths.data()));
  size_t left = kMostText;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t bytes = lengths[i] + sizeof(std::string);
    if (bytes > left)
      throw Failure("RESOURCE_EXHAUSTED", "Strings of shape " + shapeText(array.shape) + " have more than " +
                                              bytesText(kMostText) + " of text, too many for this command");
    left -= bytes;
    array.strings.emplace_back(texts[i], lengths[i]);
  }
}

}  // namespace

Buffer toBuffer(const Device& device, const Array& array) {
  if (array.dtype == MAX_DTYPE_STRING) return stringBuffer(device, array);
  Device host = openDevice("cpu");
  Buffer source, target;
  MaxBufferWrapOptions wrap = MAX_BUFFER_WRAP_OPTIONS_INIT;
  wrap.readOnly = 1;
  const auto rank = static_cast<int32_t>(array.shape.size());
  // The wrapped bytes are only read, and copied before this function returns.
  void* bytes = const_cast<std::byte*>(array.bytes.data());
  check(maxBufferWrap(host, bytes, array.dtype, rank, array.shape.data(), &wrap, source.out()));
  check(maxBufferClone(source, device, nullptr, target.out()));
  return target;
}

Array toArray(MaxBuffer* buffer) {
  Device host = openDevice("cpu");
  Buffer local;
  check(maxBufferTo(buffer, host, nullptr, local.out()));
  Array array;
  MaxBufferInfo info = MAX_BUFFER_INFO_INIT;
  const void* data = nullptr;
  check(maxBufferGetInfo(local, &info));
  array.dtype = info.dtype;
  array.shape.assign(info.shape, info.shape + info.rank);
  if (array.dtype == MAX_DTYPE_STRING) {
    readStrings(local, array);
    return array;
  }
  check(maxBufferGetData(local, &data));
  array.bytes.resize(byteCount(array.dtype, array.shape));
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), data, array.bytes.size());
  return array;
}

}  // namespace max::cli
