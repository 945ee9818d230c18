// SPDX-License-Identifier: Apache-2.0
// Packs weights for the kernels that want them packed, one tensor per lane at a time.
#include "compiler/passes.h"
#include "ops/kernel.h"

namespace max {

namespace {

struct Job {
  Node* node;
  const OpKernels* kernels;
};

Ref<Prepared> prepareNode(const Job& job) {
  std::vector<const Tensor*> constants;
  for (const Value* input : job.node->inputs) constants.push_back(input ? input->constant.get() : nullptr);
  return job.kernels->prepare(*job.node, constants);
}

}  // namespace

void prepareWeights(Rewriter& rewriter) {
  std::vector<Job> jobs;
  for (Node* node : rewriter.graph().nodes()) {
    const OpKernels* kernels = findKernels(node->domain(), node->op());
    if (kernels && kernels->prepare && !node->prepared) jobs.push_back({node, kernels});
  }
  parallelFor(rewriter.options().lanes, static_cast<int64_t>(jobs.size()), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const Job& job = jobs[static_cast<size_t>(i)];
      job.node->prepared = prepareNode(job);
    }
  });
}

}  // namespace max
