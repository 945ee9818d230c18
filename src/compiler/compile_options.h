// SPDX-License-Identifier: Apache-2.0
// What a compilation is asked for, and what it may make.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/load_budget.h"
#include "graph/graph.h"

namespace max {

// What a compilation may still make, so that a small file cannot make large tensors.
struct CompileBudget {
  CompileBudget(LoadBudget& budget, size_t constantBytes);  // of the graph before
  LoadBudget& load;
  size_t folded;
  size_t packed;
};

struct CompileOptions {
  bool optimise = true;  // false: only the passes that running needs
  int lanes = 1;         // threads that packing may use
  std::vector<std::string> disabledPasses;
  // Asked between passes; throwing from it ends the compilation.
  void (*onPass)(void* userData, std::string_view pass) = nullptr;
  void* userData = nullptr;
  // Compiled models hold the graph as it is before passes that make what no file can hold (programs, packed weights) or
  // that depend on the machine: stop there, or go on from there.
  bool stopForStoring = false;
  bool resumeStored = false;
  // A compiled graph of the same file: what it has packed of equal weights is taken from it. NULL = none.
  const Graph* donor = nullptr;
  CompileBudget* budget = nullptr;  // set by compile()

  bool isDisabled(std::string_view pass) const;
};

}  // namespace max
