// SPDX-License-Identifier: Apache-2.0
// A pool that stands alone between Transposes works on planes, as its neighbours do: moving channels takes longer.
#include "compiler/passes.h"
#include "graph/readers/pool_rows.h"

namespace max {

namespace {

bool poolPlanes(Rewriter& rewriter, Node& node) {
  if (node.input(0)->type.dtype != DType::Float32) return false;
  const Node *before = producer(node.input(0), "Transpose"), *after = singleUser(node.output());
  if (!before || !after || !after->is("Transpose")) return false;
  const std::vector<int64_t> perm = permOf(*before);
  if (perm.size() < 3 || perm != channelsToLast(static_cast<int>(perm.size())) || permOf(*after) != inverse(perm))
    return false;
  const readers::Windows windows = readers::Pool(node.attributes, perm.size() - 2).windows;
  // Windows in one row have no rows to join: vectors of channels, which are read in whole lines, are faster.
  if (windows.taps() == windows.axes.back().size || !readers::fitsPoolRows(windows)) return false;
  Node* pool = rewriter.add("", node.op(), {before->input(0)}, node.attributes, {&node});
  return sameType(pool->output(), after->output()) && rewriter.replace(after->output(), pool->output());
}

constexpr Rule kRules[] = {{kMaxDomain, "MaxPool", poolPlanes}, {kMaxDomain, "AveragePool", poolPlanes}};

}  // namespace

void keepPlanes(Rewriter& rewriter) {
  if (!rewriter.options().accelerator) applyRules(rewriter, kRules, 1);
}

}  // namespace max
