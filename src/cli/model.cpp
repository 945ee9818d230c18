// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <chrono>
#include <cstring>
#include <functional>

#include "output.h"

namespace max::cli {
namespace {

// The C API describes inputs and outputs, of models and of files, by families of functions.
template <class Handle>
struct PortApi {
  MaxStatus (*count)(const Handle*, int32_t*);
  MaxStatus (*name)(const Handle*, int32_t, const char**);
  MaxStatus (*kind)(const Handle*, int32_t, MaxValueKind*);
  MaxStatus (*dtype)(const Handle*, int32_t, MaxDType*);
  MaxStatus (*rank)(const Handle*, int32_t, int32_t*);
  MaxStatus (*shape)(const Handle*, int32_t, const int64_t**);
  MaxStatus (*dimensionName)(const Handle*, int32_t, int32_t, const char**);
};

#define MAX_PORT_API(prefix) \
  { prefix##Count, prefix##Name, prefix##Kind, prefix##DType, prefix##Rank, prefix##Shape, prefix##DimensionName }
constexpr PortApi<MaxModel> kInputApi = MAX_PORT_API(maxModelGetInput);
constexpr PortApi<MaxModel> kOutputApi = MAX_PORT_API(maxModelGetOutput);
constexpr PortApi<MaxModelInfo> kFileInputApi = MAX_PORT_API(maxModelInfoGetInput);
constexpr PortApi<MaxModelInfo> kFileOutputApi = MAX_PORT_API(maxModelInfoGetOutput);
#undef MAX_PORT_API

template <class Handle>
void readShape(const Handle* model, const PortApi<Handle>& api, int32_t index, Port& port) {
  int32_t rank = 0;
  check(api.rank(model, index, &rank));
  port.ranked = rank != MAX_RANK_DYNAMIC;
  if (!port.ranked) return;
  const int64_t* shape = nullptr;
  check(api.shape(model, index, &shape));
  for (int32_t i = 0; i < rank; ++i) {
    const char* symbol = nullptr;
    check(api.dimensionName(model, index, i, &symbol));
    port.shape.push_back(shape[i]);
    port.symbols.emplace_back(symbol ? symbol : "");
  }
}

template <class Handle>
std::vector<Port> readPorts(const Handle* model, const PortApi<Handle>& api) {
  int32_t count = 0;
  check(api.count(model, &count));
  std::vector<Port> ports(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    Port& port = ports[static_cast<size_t>(i)];
    const char* name = nullptr;
    check(api.name(model, i, &name));
    port.name = name;
    check(api.kind(model, i, &port.kind));
    check(api.dtype(model, i, &port.dtype));
    readShape(model, api, i, port);
  }
  return ports;
}

struct PrecisionRow {
  const char* name;
  MaxPrecision value;
};

constexpr PrecisionRow kPrecisions[] = {
    {"highest", MAX_PRECISION_HIGHEST}, {"high", MAX_PRECISION_HIGH}, {"medium", MAX_PRECISION_MEDIUM}};

MaxPrecision precisionFromName(const std::string& name) {
  for (const PrecisionRow& row : kPrecisions)
    if (name == row.name) return row.value;
  throw UsageError("--precision: \"" + name + "\" is not highest, high or medium");
}

std::string precisionOf(const Model& model) {
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  check(maxModelGetPrecision(model, &precision));
  for (const PrecisionRow& row : kPrecisions)
    if (precision == row.value) return row.name;
  return "unknown";
}

// Weights of a file, as the load options take them.
struct Weights {
  Owned<MaxWeights, maxWeightsRelease> file;
  std::vector<const char*> names;
  std::vector<MaxBuffer*> buffers;

  explicit Weights(const std::string& path) {
    if (path.empty()) return;
    int32_t count = 0;
    check(maxWeightsLoad(path.c_str(), file.out()));
    check(maxWeightsGetCount(file, &count));
    names.resize(static_cast<size_t>(count));
    buffers.resize(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) {
      check(maxWeightsGetName(file, i, &names[static_cast<size_t>(i)]));
      check(maxWeightsGetBuffer(file, i, &buffers[static_cast<size_t>(i)]));
    }
  }
};

using LoadFunction = std::function<void(const MaxSession*, const MaxModelLoadOptions*, MaxModel**)>;

OpenModel openWith(const ModelOptions& options, const LoadFunction& load) {
  OpenModel open;
  MaxModelLoadOptions loadOptions = MAX_MODEL_LOAD_OPTIONS_INIT;
  loadOptions.precision = precisionFromName(options.precision);
  open.device = openDevice(options.device);
  const Weights weights(options.weights);
  loadOptions.weightNames = weights.names.data();
  loadOptions.weights = weights.buffers.data();
  loadOptions.weightCount = static_cast<int32_t>(weights.names.size());

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
  sessionOptions.numThreads = options.threads;
  check(maxSessionCreate(&sessionOptions, open.session.out()));
  load(open.session, &loadOptions, open.model.out());
  open.loadMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();

  check(maxSessionGetNumThreads(open.session, &open.threads));
  open.precision = precisionOf(open.model);
  open.inputs = readPorts<MaxModel>(open.model, kInputApi);
  open.outputs = readPorts<MaxModel>(open.model, kOutputApi);
  return open;
}

}  // namespace

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

std::vector<Port> readInputs(const MaxModelInfo* info) { return readPorts(info, kFileInputApi); }
std::vector<Port> readOutputs(const MaxModelInfo* info) { return readPorts(info, kFileOutputApi); }

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
  for (int64_t i = 0; i < elementCount(array.shape); ++i) {
    const char* text = nullptr;
    size_t length = 0;
    check(maxBufferGetString(buffer, i, &text, &length));
    array.strings.emplace_back(text, length);
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
  int32_t rank = 0;
  const int64_t* shape = nullptr;
  const void* data = nullptr;
  check(maxBufferGetDType(local, &array.dtype));
  check(maxBufferGetRank(local, &rank));
  check(maxBufferGetShape(local, &shape));
  array.shape.assign(shape, shape + rank);
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
