// SPDX-License-Identifier: Apache-2.0
#include "ops/gpu/library_nodes.h"

#include "ops/gpu/product_source.h"

namespace max {

// Of what is not known, all but the rows of a matrix, which may be a batch, are taken to be large.
bool isForLibrary(const Node& node) {
  constexpr int64_t kLines = 64;
  if (node.op() != "MatMul" && node.op() != "Gemm") return false;
  if (!hasTensorForms(node.input(0)->type.dtype)) return false;
  const TensorType &a = node.input(0)->type, &b = node.input(1)->type;
  if (!a.ranked || !b.ranked || a.rank() < 2 || b.rank() < 2) return false;
  const auto isSmall = [](const Dim& dim) { return dim.isKnown() && dim.value() < kLines; };
  const auto end = b.dims.end();
  if (isSmall(end[-1]) || isSmall(end[-2])) return false;
  return a.rank() > 2 ? !isSmall(a.dims[1]) || !isSmall(a.dims[0]) : a.dims[0].isKnown() && !isSmall(a.dims[0]);
}

}  // namespace max
