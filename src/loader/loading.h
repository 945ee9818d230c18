// SPDX-License-Identifier: Apache-2.0
// What loading a model and making it anew have in common.
#pragma once

#include <span>

#include "base/load_budget.h"
#include "graph/graph.h"
#include "loader/shared_graph.h"

namespace max {

WeightTable tableOf(std::span<const char* const> names, std::span<MaxBuffer* const> buffers);

// NOT_FOUND naming the first weight that the graph does not have.
void requireUsed(const WeightTable& table, const GraphSource& source, const Graph& graph);

// FAILED_PRECONDITION naming the weights that have no contents yet.
void requireContents(const Graph& graph);

// INVALID_ARGUMENT naming the first value that is placed on a device which the session lacks.
void requireDevices(const Graph& graph, const MaxSession& session);

// UNIMPLEMENTED naming the first value that is placed on another device.
void requireOneDevice(const Graph& graph, const MaxDevice& first);

// For the target of the session's first device, and a precision that it has. `related`: a graph of the same file, or
// NULL.
void compileFor(const MaxSession& session, MaxPrecision precision, const GraphSource& source,
                const SharedGraph* related, const ImportedModel& imported);

// Budget for loading a source. Graphs built in code have no limit.
class SourceBudget {
 public:
  explicit SourceBudget(const GraphSource& source)
      : budget_(source.fileBytes()), scope_(source.builtGraph() ? nullptr : &budget_) {}

 private:
  LoadBudget budget_;
  LoadBudgetScope scope_;
};

}  // namespace max
