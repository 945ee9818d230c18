// SPDX-License-Identifier: Apache-2.0
// TopK by selection.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/reduction/line.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

template <class T>
bool isNan(T value) {
  return value != value;
}

// NaN is larger than everything; of equal values the first comes first.
template <class T>
bool comesBefore(const T* values, int64_t stride, bool largest, int64_t a, int64_t b) {
  const T x = values[a * stride], y = values[b * stride];
  if (isNan(x) || isNan(y)) {
    if (isNan(x) != isNan(y)) return isNan(x) == largest;
    return a < b;
  }
  if (x != y) return largest ? x > y : x < y;
  return a < b;
}

// kSorts: the whole line is sorted before its first elements are taken. (Equal values keep their order either way.)
template <class T, bool kSorts>
class TopKKernelOf final : public OpKernel {
 public:
  explicit TopKKernelOf(const OpRequest& request)
      : hasValues_(request.outputs[0].present()),
        hasIndices_(request.outputs.size() > 1 && request.outputs[1].present()) {
    const readers::TopK top = readers::readTopK(*RequestInputs(request));
    largest_ = top.takesLargest;
    const Line line(request.inputs[0].shape, top.axis);
    outer_ = line.outer;
    size_ = line.size;
    inner_ = line.inner;
    kept_ = request.outputs[hasValues_ ? 0 : 1].shape[top.axis];
    lanes_ = std::max(request.lanes, 1);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * laneElements() * sizeof(int64_t); }

  void run(const OpContext& context) const override {
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(size_, 1));
    context.parallelFor(outer_ * inner_, grain, [&](int64_t begin, int64_t end, int lane) {
      int64_t* order = reinterpret_cast<int64_t*>(context.scratch) + static_cast<size_t>(lane) * laneElements();
      for (int64_t i = begin; i < end; ++i) select(context, i / inner_, i % inner_, order);
    });
  }

 private:
  size_t laneElements() const { return alignUp(static_cast<size_t>(size_), 8); }

  void select(const OpContext& context, int64_t o, int64_t i, int64_t* order) const {
    const T* values = context.in<T>(0) + o * size_ * inner_ + i;
    WorkCounter work;
    const auto before = [&](int64_t a, int64_t b) {
      work.pass(4);
      return comesBefore(values, inner_, largest_, a, b);
    };
    if (!kSorts && kept_ * 4 < size_) {
      selectBest(values, order, before);
    } else {
      inParts(size_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
      std::sort(order, order + size_, before);
    }
    for (int64_t k = 0; k < kept_; ++k, work.pass(4)) {
      const int64_t at = (o * kept_ + k) * inner_ + i;
      if (hasValues_) context.out<T>(0)[at] = values[order[k] * inner_];
      if (hasIndices_) context.out<int64_t>(1)[at] = order[k];
    }
  }

  // A heap of the best so far, with the worst of them on top. Most elements are not better than that one, so blocks are
  // first checked as a whole.
  template <class Before>
  void selectBest(const T* values, int64_t* order, const Before& before) const {
    if (kept_ == 0) return;
    inParts(kept_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    std::make_heap(order, order + kept_, before);
    constexpr int64_t kBlock = 16;
    WorkCounter work;
    for (int64_t i = kept_; i < size_; i += kBlock, work.pass(kBlock)) {
      const int64_t end = std::min(i + kBlock, size_);
      if (inner_ == 1 && end - i == kBlock && !mayHoldBetter(values + i, values[order[0]])) continue;
      for (int64_t k = i; k < end; ++k) {
        if (!before(k, order[0])) continue;
        std::pop_heap(order, order + kept_, before);
        order[kept_ - 1] = k;
        std::push_heap(order, order + kept_, before);
      }
    }
    std::sort_heap(order, order + kept_, before);
  }

  // Of 16 elements; NaN on either side may be.
  bool mayHoldBetter(const T* values, T worst) const {
    int better = 0;
    if (largest_)
      for (int i = 0; i < 16; ++i) better |= !(values[i] <= worst);
    else
      for (int i = 0; i < 16; ++i) better |= !(values[i] >= worst);
    return better != 0;
  }

  bool largest_, hasValues_, hasIndices_;
  int lanes_;
  int64_t outer_, size_, inner_, kept_;
};

template <class T>
using TopKOp = TopKKernelOf<T, false>;
template <class T>
using SortingTopKOp = TopKKernelOf<T, true>;

template <class T, DType kDType>
constexpr Implementation sortingRow() {
  return {"full_sort",
          [](const OpRequest& request) { return request.settings.sortsForTopK && request.inputs[0].dtype == kDType; },
          [](const OpRequest& request) -> std::unique_ptr<OpKernel> {
            return std::make_unique<SortingTopKOp<T>>(request);
          }};
}

constexpr Implementation kSortingTopK[] = {sortingRow<float, DType::Float32>(), sortingRow<double, DType::Float64>(),
                                           sortingRow<int64_t, DType::Int64>(), sortingRow<int32_t, DType::Int32>()};

const OpRow kRows[] = {
    {"", "TopK", kSortingTopK},
    {"", "TopK", kTyped<TopKOp>},
};

}  // namespace

std::span<const OpRow> topKOps() { return kRows; }

}  // namespace max
