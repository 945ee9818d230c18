// SPDX-License-Identifier: Apache-2.0
#include "onnx/import.h"

#include "base/file_format.h"
#include "graph/tensor_info.h"
#include "onnx/graph_builder.h"
#include "onnx/inspector.h"

namespace max {

namespace onnx {

namespace {

Bytes bytesOf(const Storage& file) { return {static_cast<const char*>(file.data()), file.size()}; }

// Returns if the file's format is unknown.
void failFormat(const Storage& file) {
  const Bytes bytes = bytesOf(file);
  const std::string format = describeFormat(bytes.substr(0, kFormatBytes), bytes.size(), FileFormat::Onnx);
  if (!format.empty()) fail(MAX_STATUS_DATA_LOSS, "Not an ONNX model: ", format);
}

ModelProto readModel(const Storage& file) {
  require(file.size() > 0, MAX_STATUS_DATA_LOSS, "The file is empty");
  ModelProto model;
  try {
    model = parseModel(bytesOf(file));
  } catch (const Error&) {
    failFormat(file);
    fail(MAX_STATUS_DATA_LOSS, "Not an ONNX model, or truncated (", file.size(), " bytes)");
  }
  if (!model.hasGraph) failFormat(file);
  require(model.hasGraph && !model.opsets.empty(), MAX_STATUS_DATA_LOSS, "Not an ONNX model: it contains no ",
          model.hasGraph ? "operator set" : "graph", " (", file.size(), " bytes)");
  return model;
}

void checkOpsets(const Opsets& opsets) {
  for (const auto& [domain, version] : opsets)
    if (domain.empty() && (version < 1 || version > kMaxOpset))
      fail(MAX_STATUS_UNIMPLEMENTED, "Opset ", version, " of ai.onnx is not supported (", kOldestOpset, " to ",
           kMaxOpset, " are)");
}

// Errors from lower layers name the node or tensor; the source is added here, once.
template <class Function>
auto withSource(const ImportOptions& options, Function function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.status(), concat(options.source, ": ", error.message()));
  }
}

ImportedModel build(const Ref<Storage>& file, const ModelProto& model, const Functions& functions,
                    const ImportOptions& options) {
  ImportedModel imported;
  GraphBuilder::Shared shared{model, functions, options, TensorReader(file, options), ExpansionBudget(file->size())};
  const GraphProto proto = parseGraph(model.graph);
  imported.graph = makeRef<Graph>(std::string(proto.name));
  GraphBuilder builder(shared, *imported.graph, nullptr);
  builder.build(proto);
  imported.declaredOutputs = builder.declaredOutputs();
  for (const auto& [location, storage] : shared.tensors.externalFiles())
    imported.externalFiles.emplace_back(location, storage);
  return imported;
}

}  // namespace
}  // namespace onnx

std::string displayName(std::string_view domain, std::string_view op) {
  return domain.empty() ? std::string(op) : concat(domain, ".", op);
}

void failWeightType(std::string_view name, const Tensor& given, const TensorType& expected) {
  const std::string problem = TensorInfo(name, expected).mismatch(given.dtype(), given.shape().dims());
  invalidArgument("Weight '", name, "': ", problem, "; given ", given.dtype(), given.shape(), ", the model has ",
                  expected);
}

void takeNames(TensorType& type, const TensorType& declared) {
  if (!type.ranked || !declared.ranked || type.rank() != declared.rank()) return;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (type.dims[i].isAnonymous() && !declared.dims[i].symbolName().empty()) type.dims[i] = declared.dims[i];
}

ModelInfo inspectOnnx(const Ref<Storage>& file, const ImportOptions& options) {
  return onnx::withSource(options, [&] {
    const onnx::ModelProto model = onnx::readModel(*file);
    const onnx::Functions functions(model);
    return onnx::Inspector(model, functions, options).run();
  });
}

ImportedModel importOnnx(const Ref<Storage>& file, const ImportOptions& options) {
  return onnx::withSource(options, [&] {
    const onnx::ModelProto model = onnx::readModel(*file);
    const onnx::Functions functions(model);
    ModelInfo info = onnx::Inspector(model, functions, options).run();
    onnx::checkOpsets(model.opsets);
    if (!info.unsupported.empty()) fail(MAX_STATUS_UNIMPLEMENTED, onnx::listUnsupported(info.unsupported));
    ImportedModel imported = onnx::build(file, model, functions, options);
    imported.info = std::move(info);
    if (options.compiledData)
      for (const onnx::Bytes kernel : model.kernels) imported.kernels.push_back(onnx::parseKernel(kernel));
    return imported;
  });
}

}  // namespace max
