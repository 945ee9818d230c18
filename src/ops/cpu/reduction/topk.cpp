// SPDX-License-Identifier: Apache-2.0
// TopK by selection.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/reduction/line.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int kBlock = 16;
constexpr int64_t kMaxGroups = 1024, kGroupRows = 4;

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

// Of elements of 32 bits: sorts as they do, the first to come first, and equal ones by their index, which is its lower
// half.
template <class T>
uint64_t keyOf(T value, int64_t index, bool largest) {
  constexpr uint32_t kSign = 1u << 31;
  uint32_t order;
  if constexpr (std::is_floating_point_v<T>) {
    const uint32_t bits = std::bit_cast<uint32_t>(value + 0.f);  // -0 is 0
    order = isNan(value) ? ~0u : bits ^ (bits & kSign ? ~0u : kSign);
  } else {
    order = static_cast<uint32_t>(value) ^ kSign;
  }
  return static_cast<uint64_t>(largest ? ~order : order) << 32 | static_cast<uint64_t>(index);
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
  static constexpr bool kHasKeys = !kSorts && sizeof(T) == 4;

  size_t laneElements() const { return alignUp(static_cast<size_t>(size_), 8); }

  void sortBest(const T* values, int64_t* order) const {
    if constexpr (kHasKeys)
      if (size_ >> 32 == 0) return selectKeys(values, reinterpret_cast<uint64_t*>(order));
    WorkCounter work;
    const auto before = [&](int64_t a, int64_t b) {
      work.pass(4);
      return comesBefore(values, inner_, largest_, a, b);
    };
    if (!kSorts && kept_ * 4 < size_) return selectBest(values, order, before);
    inParts(size_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    std::sort(order, order + size_, before);
  }

  void select(const OpContext& context, int64_t o, int64_t i, int64_t* order) const {
    const T* values = context.in<T>(0) + o * size_ * inner_ + i;
    sortBest(values, order);
    WorkCounter work;
    for (int64_t k = 0; k < kept_; ++k, work.pass(4)) {
      const int64_t at = (o * kept_ + k) * inner_ + i;
      if (hasValues_) context.out<T>(0)[at] = values[order[k] * inner_];
      if (hasIndices_) context.out<int64_t>(1)[at] = order[k];
    }
  }

  // Keys of elements that may be among the best are collected; when there are twice as many as wanted, the best stay,
  // and later ones must come before the last of them.
  void selectKeys(const T* values, uint64_t* keys) const {
    if (kept_ == 0) return;
    WorkCounter work;
    const auto before = [&work](uint64_t a, uint64_t b) {
      work.pass();
      return a < b;
    };
    const int64_t room = std::min(size_, 2 * kept_ + 64);
    const std::optional<T> bound = boundOf(values);
    T worst = bound.value_or(T{});
    bool isKnown = bound.has_value(), mayEqual = isKnown;
    uint64_t last = isKnown ? keyOf(worst, 0xFFFFFFFF, largest_) : ~uint64_t{0};
    int64_t count = 0;
    for (int64_t i = 0; i < size_; i += kBlock, work.pass(kBlock)) {
      const int64_t end = std::min(i + kBlock, size_);
      if (isKnown && inner_ == 1 && end - i == kBlock && !mayHoldBetter(values + i, worst, mayEqual)) continue;
      for (int64_t k = i; k < end; ++k) {
        keys[count] = keyOf(values[k * inner_], k, largest_);
        count += keys[count] < last;
        if (count < room || room == size_) continue;
        std::nth_element(keys, keys + kept_ - 1, keys + count, before);
        last = keys[kept_ - 1];
        worst = values[(last & 0xFFFFFFFF) * static_cast<uint64_t>(inner_)];
        isKnown = true;
        mayEqual = false;
        count = kept_;
      }
    }
    if (count > kept_) std::nth_element(keys, keys + kept_ - 1, keys + count, before);
    std::sort(keys, keys + kept_, before);
    for (int64_t k = 0; k < kept_; ++k, work.pass()) keys[k] &= 0xFFFFFFFF;
  }

  // A value that as many elements reach as are wanted, and not many more: of groups of the line, each has a best
  // element. Only where a few of many are wanted.
  std::optional<T> boundOf(const T* values) const {
    const auto groups = static_cast<int64_t>(alignUp(static_cast<size_t>(4 * kept_), 64));
    if (inner_ != 1 || kept_ > kMaxGroups / 4 || size_ < kGroupRows * groups) return std::nullopt;
    using Limits = std::numeric_limits<T>;
    constexpr T kHigh = Limits::has_infinity ? Limits::infinity() : Limits::max();
    constexpr T kLow = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return largest_ ? boundOf(values, groups, kLow, [](T a, T b) { return a > b; })
                    : boundOf(values, groups, kHigh, [](T a, T b) { return a < b; });
  }

  // `best` is never NaN, since no comparison with one holds; it may remain `worst`, which NaN may come after.
  template <class Before>
  std::optional<T> boundOf(const T* values, int64_t groups, T worst, const Before& before) const {
    T best[kMaxGroups];
    std::fill_n(best, groups, worst);
    WorkCounter work;
    for (int64_t i = 0; i + groups <= size_; i += groups, work.pass(groups / 4))
      for (int64_t k = 0; k < groups; ++k) best[k] = before(values[i + k], best[k]) ? values[i + k] : best[k];
    std::nth_element(best, best + kept_ - 1, best + groups, before);
    return best[kept_ - 1] == worst ? std::nullopt : std::optional(best[kept_ - 1]);
  }

  // A heap of the best so far, with the worst of them on top. Most elements are not better than that one, so blocks are
  // first checked as a whole.
  template <class Before>
  void selectBest(const T* values, int64_t* order, const Before& before) const {
    if (kept_ == 0) return;
    inParts(kept_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    std::make_heap(order, order + kept_, before);
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

  // Of a block; NaN on either side may be. `mayEqual`: an equal element may be, too.
  bool mayHoldBetter(const T* values, T worst, bool mayEqual = false) const {
    const auto any = [values](auto isWorse) {
      int better = 0;
      for (int i = 0; i < kBlock; ++i) better |= !isWorse(values[i]);
      return better != 0;
    };
    if (mayEqual) return largest_ ? any([=](T x) { return x < worst; }) : any([=](T x) { return x > worst; });
    return largest_ ? any([=](T x) { return x <= worst; }) : any([=](T x) { return x >= worst; });
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
