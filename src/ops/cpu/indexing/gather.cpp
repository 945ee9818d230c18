// SPDX-License-Identifier: Apache-2.0
// Gather, GatherElements, GatherND. Every index is checked before it is used.
#include <algorithm>
#include <cstring>

#include "graph/readers/indexing.h"
#include "ops/cpu/element.h"
#include "ops/cpu/indexing/runs.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kGrainBytes = 64 * 1024;
constexpr int64_t kMostRunBytes = 64;  // of an element; larger ones are copied fast enough one by one

bool hasIndices(const OpRequest& request) {
  return hasByteElements(request) && request.has(1) &&
         (request.inputs[1].dtype == DType::Int64 || request.inputs[1].dtype == DType::Int32);
}

// data [outer, size, inner], indices [count] -> [outer, count, inner]
class GatherOp final : public OpKernel {
 public:
  explicit GatherOp(const OpRequest& request) : node_(request.node) {
    const Shape& data = request.inputs[0].shape;
    axis_ = readers::readGatherAxis(*RequestInputs(request));
    outer_ = data.product(0, axis_);
    size_ = data[axis_];
    bytes_ = data.product(axis_ + 1, data.rank()) * static_cast<int64_t>(sizeOf(request.inputs[0].dtype));
    count_ = request.inputs[1].shape.count();
    is64_ = request.inputs[1].dtype == DType::Int64;
    if (const Tensor* indices = request.inputs[1].constant) runs_ = knownRuns(indices->data());
  }

  void run(const OpContext& context) const override {
    if (count_ == 0) return;
    if (!runs_.empty()) return copyRuns(context);
    if (outer_ > 1 && bytes_ <= kMostRunBytes) return copyColumns(context);
    const std::byte* data = context.in<std::byte>(0);
    const void* indices = context.inputs[1];
    std::byte* out = context.out<std::byte>();
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes_, 1));
    context.parallelFor(outer_ * count_, grain, [&](int64_t begin, int64_t end, int) {
      visitElementBytes(bytes_, [&](auto size) {
        int64_t k = begin % count_;
        const std::byte* part = data + begin / count_ * size_ * bytes_;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t index = checkedIndex(node_, indexAt(indices, is64_, k), size_, axis_);
          copyElement(size, out + i * size, part + index * size);
          if (++k < count_) continue;
          k = 0;
          part += size_ * bytes_;
        }
      });
    });
  }

 private:
  WorkVector<Run> knownRuns(const void* indices) const {
    if (bytes_ > kMostRunBytes) return {};
    return runsOf(count_, [&](int64_t k) {
      const int64_t index = indexAt(indices, is64_, k), from = index < 0 ? index + size_ : index;
      return from < size_ ? from : -1;
    });
  }

  void copyRuns(const OpContext& context) const {
    const auto count = static_cast<int64_t>(runs_.size());
    const int64_t grain = std::max<int64_t>(1, kGrainBytes * count / (count_ * bytes_));
    context.parallelFor(outer_ * count, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const Run& run = runs_[static_cast<size_t>(i % count)];
        const int64_t row = i / count;
        copyElement(run.count * bytes_, context.out<std::byte>() + (row * count_ + run.first) * bytes_,
                    context.in<std::byte>(0) + (row * size_ + run.place) * bytes_);
      }
    });
  }

  // Many rows with the same indices: these are checked once.
  void copyColumns(const OpContext& context) const {
    if (is64_)
      copyColumns(context, context.in<int64_t>(1));
    else
      copyColumns(context, context.in<int32_t>(1));
  }

  template <class Index>
  void copyColumns(const OpContext& context, const Index* indices) const {
    inParts(count_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) checkedIndex(node_, indices[k], size_, axis_);
    });
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / (count_ * bytes_));
    context.parallelFor(outer_, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row)
        inParts(count_, 1, [&](int64_t first, int64_t last) {
          copyRow(indices, context.in<std::byte>(0) + row * size_ * bytes_,
                  context.out<std::byte>() + row * count_ * bytes_, first, last);
        });
    });
  }

  template <class Index>
  void copyRow(const Index* indices, const std::byte* from, std::byte* to, int64_t first, int64_t last) const {
    visitElementBytes(bytes_, [=, length = size_](auto size) {
      for (int64_t k = first; k < last; ++k) {
        const int64_t index = indices[k];
        copyElement(size, to + k * size, from + (index < 0 ? index + length : index) * size);
      }
    });
  }

  const Node& node_;
  int axis_;
  int64_t outer_, size_, bytes_, count_;
  bool is64_;
  WorkVector<Run> runs_;  // none = one by one
};

// indices has the output's shape; it may be smaller than data along the other axes.
class GatherElementsOp final : public OpKernel {
 public:
  explicit GatherElementsOp(const OpRequest& request)
      : node_(request.node), walk_(request, 1), bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))) {}

  void run(const OpContext& context) const override {
    const std::byte* data = context.in<std::byte>(0);
    std::byte* out = context.out<std::byte>();
    const int64_t rows = walk_.rows(), columns = walk_.columns();
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes_ * columns, 1));
    context.parallelFor(rows, grain, [&](int64_t begin, int64_t end, int) {
      visitElementBytes(bytes_, [&](auto size) {
        for (int64_t row = begin; row < end; ++row)
          walk_.forRow<true>(node_, row, context.inputs[1], [size, data, out](int64_t k, int64_t offset) {
            copyElement(size, out + k * size, data + offset * size);
          });
      });
    });
  }

 private:
  const Node& node_;
  ElementWalk walk_;
  int64_t bytes_;
};

class GatherNDOp final : public OpKernel {
 public:
  explicit GatherNDOp(const OpRequest& request)
      : node_(request.node),
        slices_(request, readers::readBatchDims(*RequestInputs(request))),
        bytes_(slices_.sliceElements() * static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        elementBytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))) {}

  void run(const OpContext& context) const override {
    const std::byte* data = context.in<std::byte>(0);
    std::byte* out = context.out<std::byte>();
    const int64_t grain = std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes_, 1));
    context.parallelFor(slices_.count(), grain, [&](int64_t begin, int64_t end, int) {
      visitElementBytes(bytes_, [&](auto size) {
        for (int64_t i = begin; i < end; ++i)
          copyElement(size, out + i * size, data + slices_.offset(node_, i, context.inputs[1]) * elementBytes_);
      });
    });
  }

 private:
  const Node& node_;
  SliceWalk slices_;
  int64_t bytes_, elementBytes_;
};

template <class K>
inline constexpr Implementation kGather[] = {
    {"gather", hasIndices,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "Gather", kGather<GatherOp>},
    {"", "GatherElements", kGather<GatherElementsOp>},
    {"", "GatherND", kGather<GatherNDOp>},
};

}  // namespace

std::span<const OpRow> gatherOps() { return kRows; }

}  // namespace max
