// SPDX-License-Identifier: Apache-2.0
// Reductions, ArgMax and ArgMin, CumSum, CumProd, TopK.
#include "graph/readers/reduction.h"

#include <algorithm>
#include <numeric>

#include "base/interrupt_point.h"
#include "ops/ref/line.h"

namespace max::reference {

namespace {

std::array<bool, kMaxRank> reducedAxes(const Call& call) {
  return readers::readReduction(*call.read()).value().reduced;
}

// Strides of the output as the input's axes see it: zero along reduced ones.
Shape outputStrides(const Shape& shape, const std::array<bool, kMaxRank>& reduced) {
  Shape strides = Shape::filled(shape.rank(), 0);
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (reduced[static_cast<size_t>(i)]) continue;
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// out = finish(fold(step, start, elements), how many).
template <class D, class Step, class Finish>
void reduce(const Call& call, D start, Step step, Finish finish) {
  const Shape& shape = call.in().shape;
  const std::vector<D> x = load<D>(call.in());
  std::vector<D> y = repeated(call.out().count(), start);
  forEachOffset<1>(shape, {outputStrides(shape, reducedAxes(call))}, [&](int64_t k, const auto& at) {
    D& value = y[static_cast<size_t>(at[0])];
    value = static_cast<D>(step(value, x[static_cast<size_t>(k)]));
  });
  const double perOutput = y.empty() ? 0 : static_cast<double>(x.size()) / static_cast<double>(y.size());
  WorkCounter work;
  for (D& value : y) {
    value = static_cast<D>(finish(value, perOutput));
    work.pass(16);
  }
  store(call.out(), y);
}

template <auto Start, auto Step, auto Finish>
void reduction(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) { reduce<D>(call, static_cast<D>(Start(D{})), Step, Finish); });
}

constexpr auto kZero = [](auto x) { return x; };
constexpr auto kOne = [](auto x) { return x + 1; };
constexpr auto kAsIs = [](auto value, double) { return value; };

// The start value of max (or min, negative): the end of the dtype's range.
template <class D>
D extremeStart(DType dtype, bool isMax) {
  if constexpr (std::is_floating_point_v<D>) return static_cast<D>(isMax ? -INFINITY : INFINITY);
  const int bits = dtype == DType::Bool ? 1 : static_cast<int>(bitsOf(dtype));
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  if (!isSigned(dtype)) return isMax ? D{0} : static_cast<D>(all);
  return isMax ? static_cast<D>(~(all >> 1)) : static_cast<D>(all >> 1);
}

template <bool kMax>
void reduceExtreme(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) {
    const auto step = [](D a, D b) { return a != a || (kMax ? b <= a : b >= a) ? a : b; };
    reduce<D>(call, extremeStart<D>(call.in().dtype, kMax), step, kAsIs);
  });
}

void reduceMean(const Call& call) {
  visitDomain(call.in().dtype, [&]<class D>(D) {
    reduce<D>(
        call, D{0}, [](D a, D b) { return add(a, b); },
        [](D sum, double count) {
          return std::is_integral_v<D> && count == 0 ? D{0} : static_cast<D>(sum / static_cast<D>(count));
        });
  });
}

void reduceLogSumExp(const Call& call) {
  const Shape& shape = call.in().shape;
  const Shape strides = outputStrides(shape, reducedAxes(call));
  const std::vector<double> x = load<double>(call.in());
  std::vector<double> largest = repeated(call.out().count(), -double{INFINITY}),
                      sum = repeated(call.out().count(), 0.0);
  forEachOffset<1>(shape, {strides}, [&](int64_t k, const auto& at) {
    double& value = largest[static_cast<size_t>(at[0])];
    value = std::max(value, x[static_cast<size_t>(k)]);
  });
  for (double& value : largest)
    if (std::isinf(value)) value = 0;
  forEachOffset<1>(shape, {strides}, [&](int64_t k, const auto& at) {
    const size_t i = static_cast<size_t>(at[0]);
    sum[i] += std::exp(x[static_cast<size_t>(k)] - largest[i]);
  });
  WorkCounter work;
  for (size_t i = 0; i < sum.size(); ++i, work.pass(32)) sum[i] = std::log(sum[i]) + largest[i];
  store(call.out(), sum);
}

template <bool kMax>
void argExtreme(const Call& call) {
  const readers::ArgSearch search = readers::readArgSearch(*call.read());
  const Line line(call.in().shape, search.axis);
  if (line.size == 0) call.fail(MAX_STATUS_INVALID_ARGUMENT, "axis of size 0 in shape ", call.in().shape);
  std::vector<int64_t> y = repeated<int64_t>(call.out().count());
  visitDomain(call.in().dtype, [&]<class D>(D) {
    const std::vector<D> x = load<D>(call.in());
    line.forEach([&](int64_t first, int64_t number) {
      int64_t best = 0;
      WorkCounter work;
      for (int64_t i = 1; i < line.size; ++i, work.pass(4)) {
        const D a = x[static_cast<size_t>(first + i * line.inner)],
                b = x[static_cast<size_t>(first + best * line.inner)];
        if ((kMax ? a > b : a < b) || (search.takesLast && a == b)) best = i;
      }
      y[static_cast<size_t>(number)] = best;
    });
  });
  store(call.out(), y);
}

template <class D>
void cumulateIn(const Call& call, const readers::Cumulation& cumulation, auto step, D start) {
  const Line line(call.in().shape, cumulation.axis.value());
  std::vector<D> x = load<D>(call.in());
  line.forEach([&](int64_t first, int64_t) {
    D sum = start;
    WorkCounter work;
    for (int64_t i = 0; i < line.size; ++i, work.pass(4)) {
      D& value = x[static_cast<size_t>(first + (cumulation.isReverse ? line.size - 1 - i : i) * line.inner)];
      const D next = static_cast<D>(step(sum, value));
      value = cumulation.isExclusive ? sum : next;
      sum = next;
    }
  });
  store(call.out(), x);
}

template <auto Step, int kStart>
void cumulate(const Call& call) {
  const readers::Cumulation cumulation = readers::readCumulation(*call.read());
  visitDomain(call.in().dtype, [&]<class D>(D) {
    using Work = std::conditional_t<std::is_integral_v<D>, uint64_t, D>;
    cumulateIn<Work>(call, cumulation, Step, static_cast<Work>(kStart));
  });
}

// NaN is greater than all numbers.
template <class D>
bool isGreater(D a, D b) {
  const bool aIsNan = a != a, bIsNan = b != b;
  return aIsNan || bIsNan ? aIsNan && !bIsNan : a > b;
}

void topK(const Call& call) {
  const readers::TopK top = readers::readTopK(*call.read());
  const Line line(call.in().shape, top.axis);
  const Line kept(call.out(call.hasOutput(0) ? 0 : 1).shape, top.axis);
  visitDomain(call.in().dtype, [&]<class D>(D) {
    const std::vector<D> x = load<D>(call.in());
    std::vector<D> values(static_cast<size_t>(kept.outer * kept.size * kept.inner));
    std::vector<int64_t> indices(values.size()), order(static_cast<size_t>(line.size));
    line.forEach([&](int64_t first, int64_t number) {
      std::iota(order.begin(), order.end(), 0);
      WorkCounter work;
      const auto at = [&](int64_t i) {
        work.pass(4);
        return x[static_cast<size_t>(first + i * line.inner)];
      };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return top.takesLargest ? isGreater(at(a), at(b)) : isGreater(at(b), at(a));
      });
      const int64_t target = number / line.inner * kept.size * line.inner + number % line.inner;
      for (int64_t i = 0; i < kept.size; ++i) {
        values[static_cast<size_t>(target + i * line.inner)] = at(order[static_cast<size_t>(i)]);
        indices[static_cast<size_t>(target + i * line.inner)] = order[static_cast<size_t>(i)];
      }
    });
    if (call.hasOutput(0)) store(call.out(0), values);
    if (call.hasOutput(1)) store(call.out(1), indices);
  });
}

// A root or a logarithm in the domain of the sum. Integers lose the fraction; infinity and NaN, which they lack, become
// their least number.
template <class D>
D inDomain(D, double value) {
  if (std::is_integral_v<D> && !std::isfinite(value)) return std::numeric_limits<D>::min();
  return static_cast<D>(value);
}

#define MAX_REDUCE(name, start, step, finish)                                                 \
  {                                                                                           \
    "", name,                                                                                 \
        kReference<reduction<start, [](auto a, auto b) { return (step); },                    \
                             [](auto sum, double count) { return ((void)count, (finish)); }>> \
  }

const OpRow kRows[] = {
    MAX_REDUCE("ReduceSum", kZero, add(a, b), sum),
    MAX_REDUCE("ReduceProd", kOne, multiply(a, b), sum),
    MAX_REDUCE("ReduceSumSquare", kZero, add(a, multiply(b, b)), sum),
    MAX_REDUCE("ReduceL1", kZero, add(a, b < 0 ? subtract({}, b) : b), sum),
    MAX_REDUCE("ReduceL2", kZero, add(a, multiply(b, b)), inDomain(sum, std::sqrt(static_cast<double>(sum)))),
    MAX_REDUCE("ReduceLogSum", kZero, add(a, b), inDomain(sum, std::log(static_cast<double>(sum)))),
    {"", "ReduceMax", kReference<reduceExtreme<true>>},
    {"", "ReduceMin", kReference<reduceExtreme<false>>},
    {"", "ReduceMean", kReference<reduceMean>},
    {"", "ReduceLogSumExp", kReference<reduceLogSumExp>},
    {"", "ArgMax", kReference<argExtreme<true>>},
    {"", "ArgMin", kReference<argExtreme<false>>},
    {"", "CumSum", kReference<cumulate<[](auto a, auto b) { return a + b; }, 0>>},
    {"", "CumProd", kReference<cumulate<[](auto a, auto b) { return a * b; }, 1>>},
    {"", "TopK", kReference<topK>},
};

}  // namespace

}  // namespace max::reference

namespace max {

std::span<const OpRow> referenceReduceOps() { return reference::kRows; }

}  // namespace max
