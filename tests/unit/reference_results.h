// SPDX-License-Identifier: Apache-2.0
// What reference kernels compute is the same on all CPU targets, and takes most of a test's time: the loop over the
// targets keeps it.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "ops/cpu/target.h"

namespace max::test {

using Results = std::vector<Ref<Tensor>>;

struct OutputType {
  DType dtype;
  Shape shape;
};

// Results are kept, up to a bound, while one lives.
class KeptResults {
 public:
  KeptResults();
  ~KeptResults();
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;
};

// What a reference kernel computes for a node outside of any graph: results that are kept, or those of now. They must
// not be changed.
Results referenceResults(const Node& node, const Results& inputs, const std::vector<OutputType>& outputs,
                         FunctionRef<Results()> compute);

// Runs the body on every CPU target that this machine has.
template <class Body>
void forEachCpuTarget(const Body& body) {
  const CpuTarget before = cpuTarget();
  const KeptResults kept;
  for (const CpuTarget target : kCpuTargets) {
    setCpuTargetForTest(target);
    if (cpuTarget() == target) body(target);
  }
  setCpuTargetForTest(before);
}

}  // namespace max::test
