// SPDX-License-Identifier: Apache-2.0
// The compiler: rewrites a graph in place, so that the executor can plan and run it fast.
//
// A compilation is a list of passes in a fixed order (passes()). Each pass keeps the
// meaning of the graph for every input shape it allows; subgraphs are rewritten too.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/compile_options.h"

namespace max {

class Rewriter;

// Whether the graph that a pass makes runs on any target, or it works for one through its operators.
enum class PassScope : uint8_t { Portable, Target };

struct Pass {
  std::string_view name;
  std::string_view summary;
  void (*run)(Rewriter& rewriter);  // on one graph, not on its subgraphs
  PassScope scope;
  bool required = false;  // also runs without optimisation, and cannot be disabled
};

// In execution order; a name may occur more than once.
std::span<const Pass> passes();

void compile(Graph& graph, const CompileOptions& options);

// One node per line with types and attributes, for tests, logs and people.
std::string dump(const Graph& graph);

}  // namespace max
