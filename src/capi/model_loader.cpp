// SPDX-License-Identifier: Apache-2.0
#include "capi/model_loader.h"

#include <errno.h>
#include <sys/stat.h>

#include <map>
#include <utility>

#include "base/file.h"
#include "compiler/compile.h"
#include "graph/schema.h"
#include "graph/subgraphs.h"
#include "onnx/import.h"

namespace max::capi {

namespace {

bool isSupported(std::string_view domain, std::string_view op) {
  const OpSchema* schema = findSchema(domain, op);
  if (!schema) return false;
  return findKernels(domain, op) || schema->has(kTraitControlFlow) || schema->has(kTraitView) ||
         schema->has(kTraitShapeOnly);
}

// The ONNX file that a path means: itself, or model.onnx in a folder.
std::string findModelFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      fail(MAX_STATUS_NOT_FOUND, "No model at '", path, "': looked for an ONNX file of this name and for '", path,
           "/model.onnx'");
    failErrno(error, "Cannot open model", path);
  }
  if (!S_ISDIR(status.st_mode)) return path;
  const std::string inside = path + (path.back() == '/' ? "model.onnx" : "/model.onnx");
  if (stat(inside.c_str(), &status) != 0)
    fail(MAX_STATUS_NOT_FOUND, "Folder '", path, "' holds no model: looked for '", inside, "'");
  return inside;
}

ImportOptions importOptions(const std::string& file) {
  ImportOptions options;
  options.source = file;
  const size_t slash = file.rfind('/');
  options.folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  options.isSupported = &isSupported;
  return options;
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
  return report;
}

void countNodes(const Graph& graph, std::map<std::string, int64_t>& operators) {
  for (const Node* node : graph.nodes()) {
    ++operators[displayName(node->domain(), node->op())];
    forEachSubgraph(*node, [&](const Graph& subgraph) { countNodes(subgraph, operators); });
  }
}

Ref<MaxModelInfo> reportOf(const Graph& graph) {
  ModelInfo info;
  countNodes(graph, info.operators);
  return reportOf(info);
}

// Tensors that the options give in place of weights. Types are inferred again, since shapes may depend on contents.
void replaceWeights(Graph& graph, const MaxModelLoadOptions& options) {
  for (int32_t i = 0; i < options.weightCount; ++i) {
    const char* name = options.weightNames[i];
    Value* weight = graph.findValue(name);
    if (!weight || !weight->isWeight) fail(MAX_STATUS_NOT_FOUND, "The model has no weight '", name, "'");
    const MaxBuffer& buffer = *options.weights[i];
    const std::optional<Shape> shape = concrete(weight->type.dims);
    if (buffer.dtype() != weight->type.dtype || !shape || !(buffer.shape() == *shape))
      invalidArgument("Weight '", name, "': Buffer of type ", buffer.layout(), " does not match expected type ",
                      weight->type);
    weight->constant = buffer.toTensor();
  }
  if (options.weightCount > 0) graph.inferTypes();
}

void requireContents(const Graph& graph) {
  std::string missing;
  for (const Node* node : graph.nodes()) {
    for (const Value* input : node->inputs)
      if (input && input->isWeight && !input->constant)
        missing += concat(missing.empty() ? "'" : ", '", input->name, "'");
    forEachSubgraph(*node, [](const Graph& subgraph) { requireContents(subgraph); });
  }
  require(missing.empty(), MAX_STATUS_FAILED_PRECONDITION, "Weights without contents: ", missing);
}

ModelTensor outputTensor(const Graph& graph, size_t index, const std::vector<TensorType>& declared) {
  TensorType type = graph.outputs()[index]->type;
  if (index < declared.size()) {
    if (type.dtype == DType::Invalid) type.dtype = declared[index].dtype;
    if (!type.ranked && declared[index].ranked) type = declared[index];
  }
  return ModelTensor(graph.outputNames()[index], type);
}

Ref<MaxModel> finish(const LoadRequest& request, const Ref<Graph>& graph, Ref<MaxModelInfo> info,
                     const std::vector<TensorType>& declaredOutputs) {
  require(!graph->outputs().empty(), MAX_STATUS_FAILED_PRECONDITION, "Graph '", graph->name(), "' has no outputs");
  replaceWeights(*graph, request.options);
  requireContents(*graph);
  MaxModel::Parts parts;
  parts.info = std::move(info);
  for (const Value* input : graph->inputs()) parts.inputs.emplace_back(input->name, input->type);
  for (size_t i = 0; i < graph->outputs().size(); ++i)
    parts.outputs.push_back(outputTensor(*graph, i, declaredOutputs));
  CompileOptions options;
  options.lanes = request.session.lanes();
  compile(*graph, options);
  parts.graph = graph;
  return makeRef<MaxModel>(Ref<MaxSession>(&request.session), std::move(parts));
}

Ref<MaxModel> import(const LoadRequest& request, const Ref<Storage>& file, const ImportOptions& options) {
  const ImportedModel imported = importOnnx(file, options);
  return finish(request, imported.graph, reportOf(imported.info), imported.declaredOutputs);
}

}  // namespace

Ref<MaxModel> loadModel(const LoadRequest& request, const std::string& path) {
  const std::string file = findModelFile(path);
  return import(request, loadFile(file, request.options.copyWeights != 0), importOptions(file));
}

Ref<MaxModel> loadModel(const LoadRequest& request, const void* data, size_t size) {
  const Ref<Storage> copy = allocateStorage(size);
  std::copy_n(static_cast<const std::byte*>(data), size, static_cast<std::byte*>(copy->data()));
  ImportOptions options;
  options.source = "model in memory";
  options.isSupported = &isSupported;
  return import(request, copy, options);
}

Ref<MaxModel> compileModel(const LoadRequest& request, const Graph& graph) {
  return finish(request, graph.clone(), reportOf(graph), {});
}

Ref<MaxModelInfo> inspectModel(const std::string& path) {
  const std::string file = findModelFile(path);
  return reportOf(inspectOnnx(loadFile(file), importOptions(file)));
}

}  // namespace max::capi
