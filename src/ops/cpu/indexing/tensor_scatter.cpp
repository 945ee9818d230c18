// SPDX-License-Identifier: Apache-2.0
// TensorScatter: rows of a cache are replaced.
#include <algorithm>

#include "graph/readers/indexing.h"
#include "ops/cpu/element.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

// Caches [batch, before.., rows, inner]; an update replaces some rows of each.
class TensorScatterOp final : public OpKernel {
 public:
  explicit TensorScatterOp(const OpRequest& request) : node_(request.node), hasIndices_(request.has(2)) {
    const Shape& cache = request.inputs[0].shape;
    const auto [axis, isCircular] = readers::readTensorScatter(*RequestInputs(request));
    isCircular_ = isCircular;
    rows_ = cache[axis];
    updateRows_ = request.inputs[1].shape[axis];
    blocks_ = cache.product(0, axis);
    blocksPerItem_ = cache.product(1, axis);
    rowBytes_ = cache.product(axis + 1, cache.rank()) * static_cast<int64_t>(sizeOf(request.inputs[0].dtype));
  }
  int inPlaceInput() const override { return 0; }

  void run(const OpContext& context) const override {
    const auto* cache = context.in<std::byte>(0);
    const auto* update = context.in<std::byte>(1);
    auto* out = context.out<std::byte>();
    const int64_t blockBytes = rows_ * rowBytes_;
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(blockBytes, 1));
    context.parallelFor(blocks_, grain, [&](int64_t begin, int64_t end, int) {
      if (out != cache && blockBytes > 0)
        copyBytes(out + begin * blockBytes, cache + begin * blockBytes,
                  static_cast<size_t>((end - begin) * blockBytes));
      for (int64_t block = begin; block < end; ++block)
        replace(out + block * blockBytes, update + block * updateRows_ * rowBytes_,
                hasIndices_ ? context.in<int64_t>(2)[block / blocksPerItem_] : 0);
    });
  }

 private:
  void replace(std::byte* block, const std::byte* update, int64_t first) const {
    if (updateRows_ == 0 || rowBytes_ == 0) return;
    if (isCircular_)
      first = (first % rows_ + rows_) % rows_;
    else if (first < 0 || first > rows_ - updateRows_) [[unlikely]]
      fail(MAX_STATUS_OUT_OF_RANGE, node_.description(), ": write index ", first, " leaves no room for ", updateRows_,
           " of ", rows_, " rows");
    const int64_t before = std::min(updateRows_, rows_ - first);
    copyBytes(block + first * rowBytes_, update, static_cast<size_t>(before * rowBytes_));
    if (before < updateRows_)
      copyBytes(block, update + before * rowBytes_, static_cast<size_t>((updateRows_ - before) * rowBytes_));
  }

  const Node& node_;
  bool hasIndices_, isCircular_;
  int64_t rows_, updateRows_, blocks_, blocksPerItem_, rowBytes_;
};

constexpr Implementation kCopy[] = {
    {"copy", hasByteElements,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<TensorScatterOp>(request); }}};

const OpRow kRows[] = {
    {"", "TensorScatter", kCopy},
};

}  // namespace

std::span<const OpRow> tensorScatterOps() { return kRows; }

}  // namespace max
