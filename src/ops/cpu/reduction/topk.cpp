// SPDX-License-Identifier: Apache-2.0
// TopK by selection.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "base/align.h"
#include "base/float_order.h"
#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/reduction/line.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

constexpr int kBlock = 16;
constexpr int64_t kMaxGroups = 1024, kGroupRows = 4;
constexpr int64_t kFew = 16, kShortLine = 512, kTinyLine = 24;  // of a short line, few are wanted
constexpr int64_t kColumns = 16, kCopiedBytes = 1 << 20;        // lines that are copied together, and their bytes

template <class T>
bool isNan(T value) {
  return value != value;
}

// NaN is larger than everything; of equal values the first comes first.
template <class T>
bool comesBefore(const T* values, bool largest, int64_t a, int64_t b) {
  const T x = values[a], y = values[b];
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
  uint32_t order;
  if constexpr (std::is_floating_point_v<T>)
    order = isNan(value) ? ~0u : floatOrder(value);
  else
    order = static_cast<uint32_t>(value) ^ 1u << 31;
  return static_cast<uint64_t>(largest ? ~order : order) << 32 | static_cast<uint64_t>(index);
}

template <class T>
class TopKOp final : public OpKernel {
 public:
  explicit TopKOp(const OpRequest& request)
      : sorts_(request.settings.sortsForTopK),
        hasValues_(request.outputs[0].present()),
        hasIndices_(request.outputs.size() > 1 && request.outputs[1].present()) {
    const readers::TopK top = readers::readTopK(*RequestInputs(request));
    largest_ = top.takesLargest;
    const Line line(request.inputs[0].shape, top.axis);
    outer_ = line.outer;
    size_ = line.size;
    inner_ = line.inner;
    kept_ = request.outputs[hasValues_ ? 0 : 1].shape[top.axis];
    lanes_ = std::max(request.lanes, 1);
    const int64_t most = std::min(inner_, kColumns), lineBytes = std::max<int64_t>(size_, 1) * kElementBytes;
    columns_ = std::clamp<int64_t>(kCopiedBytes / lineBytes, 1, std::max<int64_t>(most, 1));
  }

  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * laneElements() * sizeof(int64_t); }

  void run(const OpContext& context) const override {
    const int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(size_ * columns_, 1));
    const int64_t parts = ceilDiv(inner_, columns_);
    context.parallelFor(outer_ * parts, grain, [&](int64_t begin, int64_t end, int lane) {
      int64_t* order = reinterpret_cast<int64_t*>(context.scratch) + static_cast<size_t>(lane) * laneElements();
      for (int64_t i = begin; i < end; ++i) selectLines(context, i / parts, i % parts * columns_, order);
    });
  }

 private:
  static constexpr bool kHasKeys = sizeof(T) == 4;
  static constexpr int64_t kElementBytes = sizeof(T);

  size_t orderElements() const { return alignUp(static_cast<size_t>(size_), 8); }
  // Copies of lines follow the order.
  size_t laneElements() const {
    const int64_t copied = inner_ > 1 ? size_ * columns_ * kElementBytes : 0;
    return orderElements() + alignUp(static_cast<size_t>(copied)) / sizeof(int64_t);
  }

  // Lines whose elements lie apart are copied first.
  void selectLines(const OpContext& context, int64_t o, int64_t first, int64_t* order) const {
    const T* values = context.in<T>(0) + o * size_ * inner_ + first;
    const int64_t to = o * kept_ * inner_ + first;
    if (inner_ == 1) return select(context, values, to, order);
    T* lines = reinterpret_cast<T*>(order + orderElements());
    const int64_t count = std::min(columns_, inner_ - first);
    transposeTiles(kElementBytes, reinterpret_cast<const std::byte*>(values), inner_ * kElementBytes,
                   reinterpret_cast<std::byte*>(lines), size_ * kElementBytes, size_, count);
    for (int64_t i = 0; i < count; ++i) select(context, lines + i * size_, to + i, order);
  }

  void sortBest(const T* values, int64_t* order) const {
    if (!sorts_ && kept_ == 1 && findBest(values, order)) return;
    if constexpr (kHasKeys)
      if (!sorts_ && size_ >> 32 == 0) return selectKeys(values, reinterpret_cast<uint64_t*>(order));
    WorkCounter work;
    const auto before = [&](int64_t a, int64_t b) {
      work.pass(4);
      return comesBefore(values, largest_, a, b);
    };
    if (!sorts_ && kept_ * 4 < size_) return selectBest(values, order, before);
    inParts(size_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    std::sort(order, order + size_, before);
  }

  void select(const OpContext& context, const T* values, int64_t to, int64_t* order) const {
    sortBest(values, order);
    WorkCounter work;
    for (int64_t k = 0; k < kept_; ++k, to += inner_, work.pass(4)) {
      if (hasValues_) context.out<T>(0)[to] = values[order[k]];
      if (hasIndices_) context.out<int64_t>(1)[to] = order[k];
    }
  }

  // The best element; false where some are NaN.
  bool findBest(const T* values, int64_t* found) const {
    return largest_ ? findBest(values, found, [](auto a, auto b) { return a > b; })
                    : findBest(values, found, [](auto a, auto b) { return a < b; });
  }

  template <class Before>
  bool findBest(const T* values, int64_t* found, const Before& before) const {
    typedef T Vector __attribute__((vector_size(16)));
    constexpr int64_t kLanes = 16 / sizeof(T), kVectors = kBlock / kLanes;
    const auto load = [values](int64_t at) {
      Vector vector;
      std::memcpy(&vector, values + at, sizeof vector);
      return vector;
    };
    Vector best[kVectors];
    std::fill_n(best, kVectors, values[0] - Vector{});
    auto nans = best[0] != best[0];
    WorkCounter work;
    const int64_t whole = size_ / kBlock * kBlock;
    for (int64_t i = 0; i < whole; i += kBlock, work.pass(kBlock / 4))
#pragma GCC unroll 8
      for (int64_t k = 0; k < kVectors; ++k) {
        const Vector value = load(i + k * kLanes);
        best[k] = before(value, best[k]) ? value : best[k];
        nans |= value != value;
      }
    T wanted = values[0];
    int64_t isAnyNan = 0;
    for (int64_t k = 0; k < kLanes; ++k) isAnyNan |= nans[k];
    const auto join = [&](T value) {
      wanted = before(value, wanted) ? value : wanted;
      isAnyNan |= isNan(value);
    };
    for (const Vector& some : best)
      for (int64_t k = 0; k < kLanes; ++k) join(some[k]);
    for (int64_t i = whole; i < size_; ++i) join(values[i]);
    if (isAnyNan) return false;
    int64_t i = 0;
    for (; i < whole; i += kBlock, work.pass(kBlock / 4)) {
      auto equal = nans;
#pragma GCC unroll 8
      for (int64_t k = 0; k < kVectors; ++k) equal |= load(i + k * kLanes) == wanted;
      int64_t any = 0;
      for (int64_t k = 0; k < kLanes; ++k) any |= equal[k];
      if (any) break;
    }
    *found = std::find(values + i, values + size_, wanted) - values;
    return true;
  }

  typedef int32_t Orders __attribute__((vector_size(16)));
  static constexpr int64_t kOrders = 4;

  // Sort as elements do, the least to come first. Up to the next whole vector they are anything.
  void findOrders(const T* values, int32_t* orders) const {
    typedef T Vector __attribute__((vector_size(16)));
    const auto convert = [&](const T* from, int32_t* to) {
      Vector some;
      std::memcpy(&some, from, sizeof some);
      Orders rising = reinterpret_cast<Orders>(some + Vector{});  // zeros are equal
      if constexpr (std::is_floating_point_v<T>) {
        rising = signedFloatOrder(rising);
        rising = some != some ? std::numeric_limits<int32_t>::max() - Orders{} : rising;
      }
      rising = largest_ ? ~rising : rising;
      std::memcpy(to, &rising, sizeof rising);
    };
    int64_t i = 0;
    for (; i + kOrders <= size_; i += kOrders) convert(values + i, orders + i);
    T last[kOrders] = {};
    std::copy(values + i, values + size_, last);
    convert(last, orders + i);
  }

  // Of a short line every element's place follows from how many come before it, without a jump that depends on data.
  void selectShort(const T* values, int64_t* order) const {
    int32_t orders[kShortLine + kFew], places[kShortLine];
    findOrders(values, orders);
    const int64_t count = size_ > kTinyLine ? keepLikely(orders, places) : size_;
    if (size_ <= kTinyLine) std::iota(places, places + count, 0);
    const int64_t checked = std::min(kept_ + 1, count);
    std::fill_n(order, checked, int64_t{-1});
    countBefore(orders, count, [&](int64_t i, int64_t before) { order[before] = places[i]; });
    // Equal elements leave a place empty, at most one behind the last that is wanted.
    if (std::find(order, order + checked, -1) == order + checked) return;
    countBefore(orders, count, [&](int64_t i, int64_t before) {
      order[before + std::count(orders, orders + i, orders[i])] = places[i];
    });
  }

  // Calls body(i, how many of `count` orders are less than order i). What is behind them is overwritten.
  template <class Body>
  static void countBefore(int32_t* orders, int64_t count, const Body& body) {
    constexpr int64_t kVectors = kFew / kOrders;
    std::fill_n(orders + count, kFew, std::numeric_limits<int32_t>::max());
    for (int64_t first = 0; first < count; first += kFew) {
      Orders own[kVectors], before[kVectors] = {};
      std::memcpy(own, orders + first, sizeof own);
      for (int64_t i = 0; i < count; ++i) {
        const Orders other = orders[i] - Orders{};
#pragma GCC unroll 4
        for (int64_t k = 0; k < kVectors; ++k) before[k] -= other < own[k];
      }
      int32_t counts[kFew];
      std::memcpy(counts, before, sizeof counts);
      for (int64_t i = first; i < std::min(first + kFew, count); ++i) body(i, int64_t{counts[i - first]});
    }
  }

  // Closes up the orders that may be among the best, with their places: each of sixteen groups has a best one, and as
  // many groups as are wanted have one up to the bound. Returns their number.
  int64_t keepLikely(int32_t* orders, int32_t* places) const {
    int32_t best[2 * kFew];
    for (int64_t k = 0; k < kFew; k += kOrders) {
      Orders least, some;
      std::memcpy(&least, orders + k, sizeof least);
      for (int64_t i = kFew + k; i - k + kFew <= size_; i += kFew) {
        std::memcpy(&some, orders + i, sizeof some);
        least = some < least ? some : least;
      }
      std::memcpy(best + k, &least, sizeof least);
    }
    int32_t bound = std::numeric_limits<int32_t>::min();
    countBefore(best, kFew,
                [&](int64_t i, int64_t before) { bound = before < kept_ ? std::max(bound, best[i]) : bound; });
    int64_t count = 0;
    for (int64_t i = 0; i < size_; ++i) {
      const int32_t order = orders[i];
      orders[count] = order;
      places[count] = static_cast<int32_t>(i);
      count += order <= bound;
    }
    return count;
  }

  // Keys of elements that may be among the best are collected; when there are twice as many as wanted, the best stay,
  // and later ones must come before the last of them.
  void selectKeys(const T* values, uint64_t* keys) const {
    if (kept_ == 0) return;
    if (kept_ <= kFew && size_ <= kShortLine) return selectShort(values, reinterpret_cast<int64_t*>(keys));
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
      if (isKnown && end - i == kBlock && !mayHoldBetter(values + i, worst, mayEqual)) continue;
      for (int64_t k = i; k < end; ++k) {
        keys[count] = keyOf(values[k], k, largest_);
        count += keys[count] < last;
        if (count < room || room == size_) continue;
        std::nth_element(keys, keys + kept_ - 1, keys + count, before);
        last = keys[kept_ - 1];
        worst = values[last & 0xFFFFFFFF];
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
    if (kept_ > kMaxGroups / 4 || size_ < kGroupRows * groups) return std::nullopt;
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
      for (int64_t first = 0; first < groups; first += kBlock) {
        const T* from = values + i + first;
        T* to = best + first;
        for (int k = 0; k < kBlock; ++k) to[k] = before(from[k], to[k]) ? from[k] : to[k];
      }
    std::nth_element(best, best + kept_ - 1, best + groups, before);
    return best[kept_ - 1] == worst ? std::nullopt : std::optional(best[kept_ - 1]);
  }

  // A heap of the best so far, with the worst of them on top. Most elements are not better than that one.
  template <class Before>
  void selectBest(const T* values, int64_t* order, const Before& before) const {
    if (kept_ == 0) return;
    inParts(kept_, 1, [=](int64_t begin, int64_t end) { std::iota(order + begin, order + end, begin); });
    std::make_heap(order, order + kept_, before);
    T worst = values[order[0]];
    WorkCounter work;
    for (int64_t i = kept_; i < size_; i += kBlock, work.pass(kBlock)) {
      const int64_t end = std::min(i + kBlock, size_);
      // Any chip compares vectors of floating point.
      if (std::is_floating_point_v<T> && end - i == kBlock && !mayHoldBetter(values + i, worst)) continue;
      for (int64_t k = i; k < end; ++k) {
        if ((largest_ ? values[k] <= worst : values[k] >= worst) || !before(k, order[0])) continue;
        std::pop_heap(order, order + kept_, before);
        order[kept_ - 1] = k;
        std::push_heap(order, order + kept_, before);
        worst = values[order[0]];
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

  // Whether the whole line is sorted before its first elements are taken. (Equal values keep their order either way.)
  bool sorts_;
  bool largest_, hasValues_, hasIndices_;
  int lanes_;
  int64_t outer_, size_, inner_, kept_, columns_;
};

template <class T, DType kDType>
constexpr Implementation sortingRow() {
  Implementation row = rowOf<TopKOp, T, kDType>("full_sort");
  row.accepts = [](const OpRequest& request) {
    return request.settings.sortsForTopK && request.inputs[0].dtype == kDType;
  };
  return row;
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
