// SPDX-License-Identifier: Apache-2.0
// The source of a model's graph: enough to rebuild it with other weights, and to let models of one file share its
// compiled form.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "executor/model.h"
#include "onnx/compiled.h"
#include "onnx/import.h"

namespace max {

// Can be read any number of times.
class GraphSource : public RefCounted {
 public:
  // With these weights instead of its own; marks those that it has. External files by path.
  virtual ImportedModel import(const WeightTable& weights) const = 0;
  virtual bool isStored() const { return false; }                  // already optimised, in the form of compiled models
  virtual bool isMapped() const { return false; }                  // weights lie in a mapped file
  virtual Ref<const Graph> builtGraph() const { return nullptr; }  // built in code
  virtual uint64_t fileBytes() const { return 0; }                 // not built in code
};

// An ONNX or compiled model.
class FileSource final : public GraphSource {
 public:
  struct Options {
    std::string name;    // name in messages
    std::string folder;  // for external data; empty = none
    bool copyFile = false;
    bool copyExternal = false;
  };
  FileSource(Ref<Storage> file, const Options& options);

  ImportedModel import(const WeightTable& weights) const override;
  bool isStored() const override { return bool(compiled_.graph); }
  bool isMapped() const override { return file_->file() != nullptr; }
  uint64_t fileBytes() const override { return file_->size(); }
  ModelInfo inspect() const;
  // The model itself in ONNX form, however it is stored.
  const Storage& onnxFile() const { return isStored() ? *compiled_.graph : *file_; }

 private:
  ImportOptions importOptions() const;

  Ref<Storage> file_;
  Options options_;
  CompiledModel compiled_;  // if it is one
};

// A small file, which is read again when needed instead of being kept in memory.
class RereadSource final : public GraphSource {
 public:
  // The first reader gets the current `file`, even if it is replaced meanwhile.
  RereadSource(File file, std::string path, const FileSource::Options& options);
  // FAILED_PRECONDITION if the file has changed.
  ImportedModel import(const WeightTable& weights) const override;
  bool isStored() const override { return isStored_; }
  uint64_t fileBytes() const override { return identity_.size; }

 private:
  File open() const;

  std::string path_;
  FileIdentity identity_;
  FileSource::Options options_;
  bool isStored_;
  mutable std::optional<File> opened_;  // until it is read; guarded by processMutex()
};

// A graph built in code. Shares the graph's constants, and keeps them besides their compiled form.
class BuiltSource final : public GraphSource {
 public:
  explicit BuiltSource(const Graph& graph) : graph_(graph.clone()) {}
  ImportedModel import(const WeightTable& weights) const override;
  Ref<const Graph> builtGraph() const override { return graph_; }

 private:
  Ref<const Graph> graph_;
};

// Memory borrowed from the caller for a call, and a copy of it.
Ref<Storage> borrowedStorage(const void* data, size_t size);
Ref<Storage> copiedStorage(const void* data, size_t size);

}  // namespace max
