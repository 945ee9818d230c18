// SPDX-License-Identifier: Apache-2.0
#include "loader/shared_graph.h"

#include <algorithm>

#include "base/fork.h"

namespace max {

namespace {

// Never destroyed: models may be released while the process exits. Guarded by processMutex().
std::vector<SharedGraph*>& sharedGraphs() {
  static auto& graphs = *new std::vector<SharedGraph*>;
  return graphs;
}

bool isUnchanged(const std::pair<std::string, FileIdentity>& file) {
  try {
    return File::openForRead(file.first).identity() == file.second;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

SharedGraph::SharedGraph(Parts parts) : parts_(std::move(parts)) {}

void SharedGraph::enter() {
  const std::lock_guard lock(processMutex());
  sharedGraphs().push_back(this);
  entered_ = true;
}

SharedGraph::~SharedGraph() {
  if (!entered_) return;
  const std::lock_guard lock(processMutex());
  std::erase(sharedGraphs(), this);
}

template <class Matches>
Ref<SharedGraph> SharedGraph::findEntry(Matches matches) {
  const std::lock_guard lock(processMutex());
  for (SharedGraph* entry : sharedGraphs())
    if (matches(entry->parts_) && entry->tryRetain()) return Ref<SharedGraph>::adopt(entry);
  return nullptr;
}

Ref<SharedGraph> SharedGraph::find(const GraphKey& key) {
  Ref<SharedGraph> found = findEntry([&](const Parts& parts) {
    return parts.hasOwnWeights && parts.key.file == key.file && parts.key.precision == key.precision &&
           parts.key.device == key.device && (parts.externalFiles.empty() || parts.key.path == key.path);
  });
  if (!found) return nullptr;
  const auto& files = found->parts().externalFiles;
  return std::all_of(files.begin(), files.end(), isUnchanged) ? found : nullptr;
}

Ref<SharedGraph> SharedGraph::findRelated(const GraphKey& key) {
  return findEntry([&](const Parts& parts) { return parts.key.file == key.file; });
}

}  // namespace max
