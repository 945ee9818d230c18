// SPDX-License-Identifier: Apache-2.0
#include "loader/model_loader.h"

#include <errno.h>
#include <sys/stat.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "base/load_budget.h"
#include "device/host_tensor.h"
#include "device/weights.h"
#include "graph/schema.h"
#include "loader/loading.h"
#include "onnx/outline.h"
#include "ops/device_operators.h"

namespace max {

namespace {

// What lies in a folder instead of a model.
std::string contentsOf(const std::string& folder) {
  struct stat status;
  if (stat((folder + "/saved_model.pb").c_str(), &status) == 0)
    return "; it contains a TensorFlow model; tf2onnx converts it to ONNX";
  std::error_code error;
  std::string first;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if ((name.ends_with(".onnx") || name.ends_with(".maxc")) && (first.empty() || name < first)) first = name;
  }
  return first.empty() ? "" : concat("; there is '", first, "'");
}

// The file that a path means: itself, or model.onnx or model.maxc in a folder.
std::string findModelFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      fail(MAX_STATUS_NOT_FOUND, "No model at '", path, "': there is no such file or folder");
    failErrno(error, "Cannot open model", path);
  }
  if (!S_ISDIR(status.st_mode)) return path;
  const std::string folder = path.back() == '/' ? path.substr(0, path.size() - 1) : path;
  for (const char* name : {"/model.onnx", "/model.maxc"})
    if (std::string inside = folder + name; stat(inside.c_str(), &status) == 0) return inside;
  fail(MAX_STATUS_NOT_FOUND, "Folder '", path, "' contains no model: neither model.onnx nor model.maxc",
       contentsOf(path));
}

Ref<MaxModelInfo> reportOf(const ModelInfo& info) {
  Ref<MaxModelInfo> report = makeRef<MaxModelInfo>();
  report->irVersion = info.irVersion;
  report->producer = info.producer;
  report->parameters = info.parameters;
  report->opsets = info.opsets;
  report->operators.assign(info.operators.begin(), info.operators.end());
  for (const UnsupportedNode& node : info.unsupported)
    report->unsupported.push_back(
        {node.name, displayName(node.domain == "ai.onnx" ? "" : node.domain, node.op), node.version});
  for (const auto& [name, type] : info.weights) report->weights.emplace_back(name, type);
  return report;
}

// Those of the options before those of their file.
WeightTable weightsOf(const MaxModelLoadOptions& options) {
  const auto count = static_cast<size_t>(options.weightCount);
  WeightTable table = tableOf({options.weightNames, count}, {options.weights, count});
  if (!options.weightsPath) return table;
  const Ref<MaxWeights> file = MaxWeights::load(options.weightsPath);
  for (const MaxWeights::Entry& entry : file->entries())
    table.entries.try_emplace(entry.name, WeightTable::Entry{hostTensor(*entry.buffer)});
  return table;
}

TensorType outputType(const Graph& graph, size_t index, const std::vector<TensorType>& declared) {
  TensorType type = graph.outputs()[index]->type;
  if (index < declared.size()) {
    // What may be an optional or what it would hold is what the model says.
    const DType known = declared[index].dtype;
    if (type.dtype == DType::Optional && known != DType::Invalid) type = declared[index];
    if (type.dtype == DType::Invalid && isObject(known)) type = declared[index];
    if (type.dtype == DType::Invalid) type.dtype = known;
    if (!type.ranked && declared[index].ranked) type = TensorType::of(type.dtype, declared[index].dims);
    takeNames(type, declared[index]);
  }
  return type;
}

// Texts that tell of dimensions may be long, and there is one for each input and output.
void addInfo(std::vector<TensorInfo>& list, MemoryCharge& charge, std::string_view name, const TensorType& type) {
  const TensorInfo& added = list.emplace_back(name, type);
  charge.add(sizeof(TensorInfo) + name.size() + 2 * added.typeName().size());
}

// The wanted one, or the next higher one that the target has.
MaxPrecision precisionOf(const LoadRequest& request) {
  const MaxPrecision wanted = request.options.precision;
  const MaxDevice& device = request.session.mainDevice();
  const DeviceOperators* accelerator = deviceOperators(device);
  return accelerator ? accelerator->precisionFor(device, wanted) : cpuOperators().precisionFor(wanted);
}

// From a source to a model, in the order in which things are known.
class Loader {
 public:
  Loader(const LoadRequest& request, Ref<const GraphSource> source) : request_(request), source_(std::move(source)) {}

  // Models with this key share what is compiled, if their weights lie in mapped files.
  void shareAs(const GraphKey& key) { key_ = key; }
  // The source will not be there later.
  void forgetSource(const char* why) { forgotten_ = why; }

  Ref<MaxModel> run() {
    auto origin = makeRef<ModelOrigin>();
    origin->weights = weightsOf(request_.options);
    if (key_ && origin->weights.entries.empty()) origin->shared = SharedGraph::find(*key_);
    if (!origin->shared) origin->shared = make(origin->weights);
    if (forgotten_)
      origin->missingSource = forgotten_;
    else
      origin->source = origin->shared->parts().source;
    return modelOf(std::move(origin));
  }

 private:
  Ref<SharedGraph> make(WeightTable& weights) const {
    const SourceBudget budget(*source_);
    ImportedModel imported = source_->import(weights);
    if (request_.options.ignoreUnknownWeights)
      std::erase_if(weights.entries, [](const auto& entry) { return !entry.second.used; });
    requireUsed(weights, *source_, *imported.graph);
    const Ref<SharedGraph> related = key_ ? SharedGraph::findRelated(*key_) : nullptr;
    auto made = makeRef<SharedGraph>(partsOf(imported, weights, related.get()));
    if (!key_ || !isMapped(imported)) return made;
    // Another thread may have been faster.
    if (weights.entries.empty())
      if (Ref<SharedGraph> other = SharedGraph::find(*key_)) return other;
    made->enter();
    return made;
  }

  SharedGraph::Parts partsOf(ImportedModel& imported, const WeightTable& weights, const SharedGraph* related) const {
    Graph& graph = *imported.graph;
    require(!graph.outputs().empty(), MAX_STATUS_FAILED_PRECONDITION, "Graph '", graph.name(), "' has no outputs");
    requireContents(graph);
    requireDevices(graph, request_.session);
    SharedGraph::Parts parts;
    if (key_) parts.key = *key_;
    for (const auto& [path, storage] : imported.externalFiles) parts.externalFiles.emplace_back(path, *storage->file());
    parts.hasOwnWeights = weights.entries.empty();
    parts.source = source_;
    parts.info = reportOf(imported.info);
    MemoryCharge charge;
    for (const Value* input : graph.inputs()) addInfo(parts.info->inputs, charge, input->name, input->type);
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      addInfo(parts.info->outputs, charge, graph.outputNames()[i], outputType(graph, i, imported.declaredOutputs));
    compileFor(request_.session, precisionOf(request_), *source_, related, imported);
    parts.graph = imported.graph;
    return parts;
  }

  bool isMapped(const ImportedModel& imported) const { return source_->isMapped() || !imported.externalFiles.empty(); }

  Ref<MaxModel> modelOf(Ref<ModelOrigin> origin) const {
    const SharedGraph::Parts& made = origin->shared->parts();
    MaxModel::Parts parts;
    parts.graph = made.graph;
    parts.info = made.info;
    parts.original = source_->builtGraph();
    parts.source = std::move(origin);
    parts.precision = precisionOf(request_);
    auto model = makeRef<MaxModel>(Ref<MaxSession>(&request_.session), std::move(parts));
    model->makeReady();
    return model;
  }

  const LoadRequest& request_;
  Ref<const GraphSource> source_;
  std::optional<GraphKey> key_;
  const char* forgotten_ = nullptr;
};

}  // namespace

namespace {

// In whatever folder the process is later.
FileSource::Options optionsFor(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path);
  return {path, whole.parent_path().string(), false, false};
}

Ref<const GraphSource> sourceOf(File file, const FileSource::Options& options) {
  if (file.size() <= kMapThreshold) {
    std::string path = std::filesystem::absolute(file.path()).string();
    return makeRef<RereadSource>(std::move(file), std::move(path), options);
  }
  return makeRef<FileSource>(MappedFile::share(file), options);
}

}  // namespace

Ref<MaxModel> loadModel(const LoadRequest& request, const std::string& path) {
  File file = File::openForRead(findModelFile(path));
  const GraphKey key{file.identity(), file.path(), precisionOf(request), Ref<MaxDevice>(&request.session.mainDevice())};
  const bool isLarge = key.file.size > kMapThreshold, copies = request.options.copyWeights != 0;
  FileSource::Options options = optionsFor(key.path);
  options.copyFile = options.copyExternal = copies;
  Loader loader(request, sourceOf(std::move(file), options));
  if (copies && isLarge) loader.forgetSource("they were copied from a file that may have changed");
  if (!copies) loader.shareAs(key);
  return loader.run();
}

Ref<MaxModel> loadModel(const LoadRequest& request, const void* data, size_t size) {
  const bool isLarge = size > kMapThreshold;
  const Ref<Storage> bytes = isLarge ? borrowedStorage(data, size) : copiedStorage(data, size);
  FileSource::Options options;
  options.name = "model in memory";
  options.copyFile = isLarge;  // weight by weight, so that each can go when it is packed
  Loader loader(request, makeRef<FileSource>(bytes, options));
  if (isLarge) loader.forgetSource("the model was loaded from memory, which is not kept");
  return loader.run();
}

Ref<MaxModel> compileModel(const LoadRequest& request, const Graph& graph) {
  return Loader(request, makeRef<BuiltSource>(graph)).run();
}

Ref<MaxModelInfo> inspectModel(const std::string& path) {
  const File file = File::openForRead(findModelFile(path));
  const auto source = makeRef<FileSource>(loadFile(file), optionsFor(file.path()));
  Ref<MaxModelInfo> report = reportOf(source->inspect());
  const ModelOutline outline = outlineOnnx(source->onnxFile());
  for (const auto& [tensor, type] : outline.inputs) report->inputs.emplace_back(tensor, type);
  for (const auto& [tensor, type] : outline.outputs) report->outputs.emplace_back(tensor, type);
  report->drawing = drawOnnx(source->onnxFile());
  return report;
}

}  // namespace max
