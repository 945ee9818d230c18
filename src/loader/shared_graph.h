// SPDX-License-Identifier: Apache-2.0
// Compiled graphs that models of one file share, and what a model keeps of its loading.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "executor/model.h"
#include "loader/model_source.h"

namespace max {

// Key of equal loads; the path only matters if external data is next to the file.
struct GraphKey {
  FileIdentity file;
  std::string path;
  MaxPrecision precision = MAX_PRECISION_HIGHEST;
  Ref<MaxDevice> device;  // that it is compiled for
};

// A compiled graph of mapped files, shared in the process while a model uses it.
class SharedGraph : public RefCounted {
 public:
  struct Parts {
    GraphKey key;
    std::vector<std::pair<std::string, FileIdentity>> externalFiles;  // by path
    bool hasOwnWeights = true;                                        // none were replaced
    Ref<const Graph> graph;
    Ref<const GraphSource> source;
    Ref<MaxModelInfo> info;  // also describes the inputs and outputs
  };

  explicit SharedGraph(Parts parts);
  ~SharedGraph() override;
  const Parts& parts() const { return parts_; }
  void enter();  // into the table
  bool isEntered() const { return entered_; }

  // A graph with the files' own weights, if the files have not changed; NULL if there is none.
  static Ref<SharedGraph> find(const GraphKey& key);
  // Any graph of this file, for its packed weights; NULL if there is none.
  static Ref<SharedGraph> findRelated(const GraphKey& key);

 private:
  template <class Matches>
  static Ref<SharedGraph> findEntry(Matches matches);

  Parts parts_;
  bool entered_ = false;
};

// What a model keeps from its load.
class ModelOrigin : public RefCounted {
 public:
  Ref<const GraphSource> source;  // NULL = not kept, after loading from memory
  std::string missingSource;      // why, for messages
  std::mutex mutex;               // one replacement at a time
  WeightTable weights;            // instead of the source's own; guarded
  Ref<SharedGraph> shared;        // guarded; NULL if its graph is not shared
};

}  // namespace max
