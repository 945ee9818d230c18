// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/elementwise/layout.h"

#include <algorithm>
#include <cstring>

#include "ops/cpu/movement/copied_runs.h"
#include "ops/cpu/movement/tensor_copy.h"

namespace max {

namespace {

// Rows at least this long get their own block if joining them would copy an input; shorter ones are joined.
constexpr int64_t kLongRow = 256;

Shape broadcastStrides(const Shape& output, const Shape& input, int64_t pitch) {
  Shape strides = Shape::filled(output.rank(), 0);
  int64_t stride = 1;
  for (int i = output.rank() - 1, j = input.rank() - 1; j >= 0; --i, --j) {
    if (input[j] != 1) strides[i] = stride;
    stride = pitch > 0 && j + 1 == input.rank() ? pitch : stride * input[j];
  }
  return strides;
}

bool canMerge(const std::vector<Shape>& strides, int outer, int inner, int64_t innerDim) {
  return std::all_of(strides.begin(), strides.end(), [=](const Shape& s) { return s[outer] == s[inner] * innerDim; });
}

Access accessOf(const BlockLayout& layout, const Shape& strides) {
  bool dense = true, constant = true, pattern = strides[layout.split] == 0;
  int64_t expected = 1;
  for (int i = layout.dims.rank() - 1; i >= layout.split; --i) {
    const bool single = i == layout.split ? layout.chunk == 1 : layout.dims[i] == 1;
    dense = dense && (strides[i] == expected || single);
    constant = constant && (strides[i] == 0 || single);
    expected *= layout.dims[i];
  }
  for (int i = 0; i < layout.split; ++i) pattern = pattern && strides[i] == 0;
  if (constant) return Access::Repeated;
  return dense ? Access::Direct : pattern ? Access::Pattern : Access::Gathered;
}

// The dimension that blocks split: inner rows shorter than `longRow` are joined to blocks of up to `limit` elements.
int chooseSplit(const Shape& dims, int64_t limit, int64_t longRow) {
  int split = dims.rank() - 1;
  int64_t inner = 1;
  while (split > 0 && inner * dims[split] < longRow && inner * dims[split] * 2 <= limit) inner *= dims[split--];
  return split;
}

// Short rows are common and cheaper than a call of memcpy.
void copyRow(const std::byte* from, std::byte* to, int64_t bytes) {
  constexpr int64_t kShortRow = 512;
  if (bytes >= kCopiedPiece && bytes <= kShortRow) return copyPieces(from, bytes, to);
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

// Walks one input's part of a block.
struct Gather {
  const BlockLayout& layout;
  const Shape& strides;
  size_t elementSize;
  SplatFunction splat;

  // `count` indices of dimension i, and all of the later ones; returns the end of the copy.
  std::byte* copy(int i, int64_t count, const std::byte* from, std::byte* to) const {
    const int last = layout.dims.rank() - 1;
    if (i == last) return copyRows(1, 0, count, from, to);
    if (strides[i] == 0) {
      const int64_t bytes = copy(i + 1, layout.dims[i + 1], from, to) - to;
      repeatRun(to, bytes, count, copyRow);
      return to + bytes * count;
    }
    const int64_t step = strides[i] * static_cast<int64_t>(elementSize);
    if (i + 1 == last) return copyRows(count, step, layout.dims[last], from, to);
    for (int64_t k = 0; k < count; ++k, from += step) to = copy(i + 1, layout.dims[i + 1], from, to);
    return to;
  }

  std::byte* copyRows(int64_t rows, int64_t step, int64_t count, const std::byte* from, std::byte* to) const {
    const int64_t bytes = count * static_cast<int64_t>(elementSize);
    if (strides.back() == 1 && bytes <= kMostInRuns)
      copyRuns(from, to, rows, step, bytes, bytes);
    else if (strides.back() == 1)
      for (int64_t r = 0; r < rows; ++r) copyRow(from + r * step, to + r * bytes, bytes);
    else
      splat(from, step, rows, count, to);
    return to + rows * bytes;
  }
};

}  // namespace

BroadcastDims collapseBroadcast(const Shape& output, std::span<const Shape> inputs, std::span<const int64_t> pitches) {
  std::vector<Shape> full;
  for (size_t k = 0; k < inputs.size(); ++k)
    full.push_back(broadcastStrides(output, inputs[k], k < pitches.size() ? pitches[k] : 0));
  BroadcastDims result;
  result.strides.resize(inputs.size());
  for (int i = 0; i < output.rank(); ++i) {
    if (output[i] == 1) continue;
    const int last = result.dims.rank() - 1;
    std::vector<Shape> pair;
    for (size_t k = 0; k < full.size(); ++k) pair.push_back({last >= 0 ? result.strides[k][last] : 0, full[k][i]});
    if (last >= 0 && canMerge(pair, 0, 1, output[i])) {
      result.dims[last] *= output[i];
      for (size_t k = 0; k < full.size(); ++k) result.strides[k][last] = full[k][i];
    } else {
      result.dims.push(output[i]);
      for (size_t k = 0; k < full.size(); ++k) result.strides[k].push(full[k][i]);
    }
  }
  if (result.dims.empty()) {
    result.dims.push(1);
    for (Shape& strides : result.strides) strides.push(0);
  }
  return result;
}

namespace {

BlockLayout layOut(const BroadcastDims& operands, int64_t limit, int64_t flatLimit, int64_t longRow) {
  BlockLayout layout;
  layout.dims = operands.dims;
  layout.strides = operands.strides;
  const int rank = layout.dims.rank();
  layout.split = chooseSplit(layout.dims, limit, longRow);
  for (int i = layout.split + 1; i < rank; ++i) layout.inner *= layout.dims[i];
  const int64_t extent = layout.dims[layout.split];
  layout.chunk = std::min(extent, std::max<int64_t>(1, limit / std::max<int64_t>(1, layout.inner)));
  if (rank == 1 && flatLimit > 0) layout.chunk = std::min(extent, flatLimit);
  layout.chunks = layout.chunk == 0 ? 0 : (extent + layout.chunk - 1) / layout.chunk;
  layout.blocks = layout.inner == 0 ? 0 : layout.chunks;
  for (int i = 0; i < layout.split; ++i) layout.blocks *= layout.dims[i];
  for (const Shape& strides : layout.strides) layout.access.push_back(accessOf(layout, strides));
  return layout;
}

}  // namespace

BlockLayout planBlocks(const BroadcastDims& operands, int64_t limit, int64_t flatLimit) {
  BlockLayout joined = layOut(operands, limit, flatLimit, INT64_MAX);
  const bool isCopied = std::count(joined.access.begin(), joined.access.end(), Access::Gathered) > 0;
  return isCopied ? layOut(operands, limit, flatLimit, kLongRow) : joined;
}

void gatherBlock(const BlockLayout& layout, size_t input, int64_t count, const std::byte* from, std::byte* to,
                 size_t elementSize, SplatFunction splat) {
  Gather{layout, layout.strides[input], elementSize, splat}.copy(layout.split, count, from, to);
}

}  // namespace max
