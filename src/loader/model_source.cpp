// SPDX-License-Identifier: Apache-2.0
#include "loader/model_source.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/fork.h"
#include "graph/composite.h"
#include "graph/schema.h"
#include "graph/subgraphs.h"
#include "ops/operator_library.h"

namespace max {

namespace {

bool isSupported(std::string_view domain, std::string_view op) {
  const OpSchema* schema = findSchema(domain, op);
  if (!schema) return false;
  return cpuOperators().find(domain, op) || schema->has(kTraitControlFlow) || schema->sharesInput() ||
         schema->has(kTraitShapeOnly);
}

class BorrowedStorage final : public Storage {
 public:
  BorrowedStorage(const void* data, size_t size) : Storage(const_cast<void*>(data), size) {}
};

void countNodes(const Graph& graph, std::map<std::string, int64_t>& operators) {
  for (const Node* node : graph.nodes()) {
    ++operators[displayName(node->domain(), node->op())];
    forEachSubgraph(*node, [&](const Graph& subgraph) { countNodes(subgraph, operators); });
  }
}

void listWeights(const Graph& graph, ModelInfo& info) {
  for (const Value* weight : graph.weights()) {
    info.weights.emplace_back(weight->name, weight->type);
    info.parameters += concrete(weight->type.dims).value_or(Shape{0}).count();
  }
}

void bindWeight(Graph& graph, const std::string& name, const WeightTable::Entry& entry) {
  Value* weight = graph.findValue(name);
  if (!weight || !weight->isWeight) return;
  entry.used = true;
  const std::optional<Shape> shape = concrete(weight->type.dims);
  if (entry.tensor->dtype() != weight->type.dtype || !shape || !(entry.tensor->shape() == *shape))
    failWeightType(name, *entry.tensor, weight->type);
  weight->constant = entry.tensor;
}

}  // namespace

Ref<Storage> borrowedStorage(const void* data, size_t size) { return makeRef<BorrowedStorage>(data, size); }

Ref<Storage> copiedStorage(const void* data, size_t size) {
  Ref<Storage> copy = allocateStorage(size);
  std::copy_n(static_cast<const std::byte*>(data), size, static_cast<std::byte*>(copy->data()));
  return copy;
}

FileSource::FileSource(Ref<Storage> file, const Options& options) : file_(std::move(file)), options_(options) {
  if (isCompiledModel(*file_)) compiled_ = openCompiledModel(file_, options_.name);
}

ImportOptions FileSource::importOptions() const {
  ImportOptions options;
  options.source = options_.name;
  options.folder = options_.folder;
  options.isSupported = &isSupported;
  options.copyFile = options_.copyFile;
  options.copyExternal = options_.copyExternal;
  if (isStored()) {
    options.compiledData = file_;
    options.compiledDataOffset = compiled_.dataOffset;
  }
  return options;
}

ImportedModel FileSource::import(const WeightTable& weights) const {
  ImportOptions options = importOptions();
  options.weights = &weights;
  ImportedModel imported = importOnnx(isStored() ? compiled_.graph : file_, options);
  for (auto& [path, storage] : imported.externalFiles) path = concat(options.folder, "/", path);
  if (options.copyExternal) imported.externalFiles.clear();
  return imported;
}

ModelInfo FileSource::inspect() const { return inspectOnnx(isStored() ? compiled_.graph : file_, importOptions()); }

namespace {

// Weights that are packed are never copied out of it.
class TransientFile final : public Storage {
 public:
  explicit TransientFile(Ref<Storage> file) : Storage(file->data(), file->size()), file_(std::move(file)) {}
  bool isTransient() const override { return true; }

 private:
  Ref<Storage> file_;
};

}  // namespace

RereadSource::RereadSource(File file, std::string path, const FileSource::Options& options)
    : path_(std::move(path)),
      identity_(file.identity()),
      options_(options),
      isStored_(isCompiledModel(file)),
      opened_(std::move(file)) {
  options_.copyFile = true;
}

File RereadSource::open() const {
  {
    const std::lock_guard lock(processMutex());
    if (opened_) {
      File file = std::move(*opened_);
      opened_.reset();
      return file;
    }
  }
  return File::openForRead(path_);
}

ImportedModel RereadSource::import(const WeightTable& weights) const {
  const File file = open();
  require(file.identity() == identity_, MAX_STATUS_FAILED_PRECONDITION, options_.name,
          ": The file has changed since it was loaded");
  return makeRef<FileSource>(makeRef<TransientFile>(readFile(file)), options_)->import(weights);
}

// Types are inferred again, since shapes may depend on contents.
ImportedModel BuiltSource::import(const WeightTable& weights) const {
  ImportedModel imported;
  imported.graph = graph_->clone();
  countNodes(*graph_, imported.info.operators);
  listWeights(*graph_, imported.info);
  for (const auto& [name, entry] : weights.entries) bindWeight(*imported.graph, name, entry);
  if (!weights.entries.empty()) imported.graph->inferTypes();
  return imported;
}

}  // namespace max
