// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <algorithm>

#include "base/active_call.h"
#include "base/log.h"
#include "compiler/passes.h"
#include "graph/subgraphs.h"

namespace max {

namespace {

constexpr Pass kPasses[] = {
    {"norm", "Samples that are normalised by their own statistics", recogniseInstanceNorms, PassScope::Portable},
    {"fold", "Quantised weights become constants; what dequantises them stays", foldQuantized, PassScope::Portable},
    {"merge", "A value that exporters quantise for each reader is quantised once", mergeDuplicates,
     PassScope::Portable},
    {"quantize", "Operators between DequantizeLinear and QuantizeLinear work on 8-bit integers", computeInIntegers,
     PassScope::Portable},
    {"fold", "Nodes whose inputs are all constants become constants", foldConstants, PassScope::Portable},
    {"inline", "If with a constant condition becomes the nodes of its branch", inlineBranches, PassScope::Portable},
    {"infer", "Types are inferred again, now that more is known", inferTypes, PassScope::Portable},
    {"fold", "Again, after inlining and new types", foldConstants, PassScope::Portable},
    {"inline", "Branches whose conditions became constant", inlineBranches, PassScope::Portable},
    {"simplify", "Operators without effect are removed, views and permutations merge", simplify, PassScope::Portable},
    {"infer", "Types after removed operators", inferTypes, PassScope::Portable},
    {"fold", "Shapes that became constant", foldConstants, PassScope::Portable},
    {"table", "Elementwise operators on one 8-bit tensor become tables", mapBytes, PassScope::Portable},
    {"merge", "Equal nodes become one", mergeDuplicates, PassScope::Portable},
    {"simplify", "Again, after new types and merging", simplify, PassScope::Portable},
    {"norm", "Normalisations that exporters write out become one operator", recogniseNorms, PassScope::Portable},
    {"activation", "Activations and softmax that exporters write out become one operator", recogniseActivations,
     PassScope::Portable},
    {"one_hot", "Products with one-hot matrices become Gathers of precomputed rows", gatherOneHot, PassScope::Portable},
    {"indices", "Indices that an Expand repeats select whole slices", selectSlices, PassScope::Portable},
    {"concat", "What follows joined convolutions is done to each of them", finishParts, PassScope::Portable},
    {"conv", "Scales, shifts and zero borders move into convolutions", foldIntoConv, PassScope::Portable},
    {"resize", "Pointwise convolutions of what Resize makes larger are computed before it", convolveBeforeResize,
     PassScope::Portable},
    {"matmul", "Matrix products take transposed operands, scale and bias", lowerMatMul, PassScope::Portable},
    {"attention", "softmax(Q K') V becomes one operator", recogniseAttention, PassScope::Portable},
    {"channels_last", "Convolutions and pools get Transposes around them", lowerToChannelsLast, PassScope::Portable},
    {"transpose", "Transposes move down and cancel", moveTransposes, PassScope::Portable},
    {"fold", "Constants from the previous passes", foldConstants, PassScope::Portable},
    {"simplify", "Again, after Transposes were removed", simplify, PassScope::Portable},
    {"merge", "Equal nodes become one", mergeDuplicates, PassScope::Portable},
    {"epilogue", "Bias, residual and activation join products and convolutions", fuseEpilogues, PassScope::Portable},
    {"squares", "Means of squares read their input once", joinSquares, PassScope::Portable},
    {"divide", "Convolutions of a few wide groups of the host become one for each", divideConvolutions,
     PassScope::Target},
    {"depthwise", "Pointwise convolutions of the host join the depthwise ones that read them", joinDepthwise,
     PassScope::Target},
    {"rotary", "Rotary embeddings of the host become one operator", joinRotations, PassScope::Target},
    {"selected", "Products of the host take one of several matrices themselves", joinSelections, PassScope::Target},
    {"scale", "Integer convolutions of the host make real numbers of their sums; softmax of bytes", scaleConvolutions,
     PassScope::Target},
    {"recurrent", "Recurrent layers of an accelerator get float32 weights", widenRecurrentWeights, PassScope::Target},
    {"fold", "Those weights", foldConstants, PassScope::Target},
    {"planes", "Pools of the host between Transposes work on planes", keepPlanes, PassScope::Target},
    {"elementwise", "Chains of elementwise operators become one program", fuseElementwise, PassScope::Target},
    {"count", "What an accelerator selects is counted there, so that only the count comes back", countSelections,
     PassScope::Target},
    {"group", "Products of one factor with several weights become one on an accelerator", groupProducts,
     PassScope::Target},
    {"place", "Nodes that the session's accelerator can run are prepared for it", placeNodes, PassScope::Target},
    {"legalise", "float16 and bfloat16 are computed in float32 where kernels need it", legaliseTypes, PassScope::Target,
     true},
    {"fold", "Constants whose type changed, but for weights that change it as they are packed", foldUnpacked,
     PassScope::Target},
    {"prepare", "Weights are packed", prepareWeights, PassScope::Target, true},
    {"narrow", "Values that only products of bfloat16 read are kept as bfloat16", narrowValues, PassScope::Target},
};

// A graph and its subgraphs, outer ones first. (Their depth is bounded where they are made.)
void collectGraphs(Graph& graph, std::vector<Graph*>& graphs) {
  graphs.push_back(&graph);
  for (Node* node : graph.nodes()) forEachSubgraph(*node, [&](Graph& subgraph) { collectGraphs(subgraph, graphs); });
}

bool isWanted(const Pass& pass, const CompileOptions& options) {
  return pass.required || (options.optimise && !options.isDisabled(pass.name));
}

bool isOfTarget(const Pass& pass) { return pass.scope == PassScope::Target; }

static_assert(std::is_partitioned(std::begin(kPasses), std::end(kPasses),
                                  [](const Pass& pass) { return pass.scope == PassScope::Portable; }),
              "Compiled models hold what the portable passes make, so that all of these come first");

const Pass* firstOfTarget() { return std::find_if(std::begin(kPasses), std::end(kPasses), isOfTarget); }

std::span<const Pass> passesFor(const CompileOptions& options) {
  const Pass* begin = options.resumeStored ? firstOfTarget() : std::begin(kPasses);
  const Pass* end = options.stopForStoring ? firstOfTarget() : std::end(kPasses);
  return {begin, end};
}

size_t constantBytes(const std::vector<Graph*>& graphs) {
  size_t bytes = 0;
  for (const Graph* graph : graphs)
    for (const Node* node : graph->nodes())
      for (const Value* input : node->inputs)
        if (input && input->constant) bytes += input->constant->bytes() / std::max<size_t>(input->uses.size(), 1);
  return bytes;
}

void runPass(const Pass& pass, Graph& graph, const CompileOptions& options) {
  std::vector<Graph*> graphs;
  collectGraphs(graph, graphs);
  // Inner graphs first: a pass may take whole subgraphs out of an outer one.
  for (auto each = graphs.rbegin(); each != graphs.rend(); ++each) {
    Rewriter rewriter(**each, options);
    pass.run(rewriter);
    if (rewriter.changed()) rewriter.finish();
  }
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

void compile(Graph& graph, const CompileOptions& options) {
  graph.sort();
  std::vector<Graph*> graphs;
  collectGraphs(graph, graphs);
  LoadBudget built(0);  // of a graph that comes from no file
  CompileBudget budget(activeLoadBudget() ? *activeLoadBudget() : built, constantBytes(graphs));
  CompileOptions own = options;
  own.budget = &budget;
  for (const Pass& pass : passesFor(own)) {
    if (!isWanted(pass, own)) continue;
    if (own.onPass) own.onPass(own.userData, pass.name);
    checkInterrupt();
    reportProgress(0.2 + 0.3 * static_cast<double>(&pass - std::begin(kPasses)) / std::size(kPasses), pass.name.data());
    logMessage(MAX_LOG_LEVEL_TRACE, "Graph '", graph.name(), "': pass ", pass.name, ", ", graph.nodes().size(),
               " nodes");
    runPass(pass, graph, own);
  }
  // Passes on subgraphs may leave outer nodes without readers.
  if (graph.eraseDead() > 0) graph.sort();
  if (own.stopForStoring) return;
  graphs.clear();
  collectGraphs(graph, graphs);
  for (Graph* each : graphs) settleConstants(*each);
}

}  // namespace max
