// SPDX-License-Identifier: Apache-2.0
// Options and limits of a compilation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/load_budget.h"
#include "graph/graph.h"
#include "graph/kernel_code.h"
#include "ops/operator_library.h"

namespace max {

// Remaining budget of a compilation, so that a small file cannot create large tensors.
struct CompileBudget {
  CompileBudget(LoadBudget& budget, size_t constantBytes);  // of the graph before
  bool tryTakeFolded(size_t bytes);                         // false = there are fewer left
  LoadBudget& load;
  size_t folded;
  size_t packed;
};

struct CompileOptions {
  CompileOptions(const OperatorLibrary& target = cpuOperators()) : operators(target) {}

  const OperatorLibrary& operators;         // of the target
  MaxDevice* accelerator = nullptr;         // runs what it has operators for; NULL = the target is the host alone
  std::span<const Ref<MaxDevice>> devices;  // those of the session, on which values of the graph are placed
  const KernelCodes* kernels = nullptr;     // that the model's file has; NULL = none
  bool optimise = true;                     // false: only required passes
  int lanes = 1;                            // threads that packing may use
  std::vector<std::string> disabledPasses;
  // Called between passes; an exception ends the compilation.
  void (*onPass)(void* userData, std::string_view pass) = nullptr;
  void* userData = nullptr;
  // Compiled models store the graph as the portable passes leave it: stop after them, or continue from there.
  bool stopForStoring = false;
  bool resumeStored = false;
  MaxPrecision precision = MAX_PRECISION_HIGHEST;  // of products; one that the target has
  // A compiled graph of the same file, whose packed weights are reused. NULL = none.
  const Graph* donor = nullptr;
  std::string weightsFolder;        // where packed weights are kept on disk; empty = nowhere
  CompileBudget* budget = nullptr;  // set by compile()

  bool isDisabled(std::string_view pass) const;
  // Of what runs on the host: an accelerator's may be one that the host lacks.
  MaxPrecision hostPrecision() const { return accelerator ? MAX_PRECISION_HIGHEST : precision; }
};

}  // namespace max
