// SPDX-License-Identifier: Apache-2.0
// CumSum.
#include <algorithm>
#include <type_traits>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/movement.h"
#include "ops/cpu/reduction/line.h"
#include "ops/families.h"
#include "ops/request_inputs.h"

namespace max {

namespace {

// Unsigned arithmetic for integers, since sums wrap.
template <class T>
using Wrapped = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T>
class CumSumOp final : public OpKernel {
 public:
  explicit CumSumOp(const OpRequest& request)
      : saved_(request), known_(readers::readCumulation(*RequestInputs(request))) {}

  void run(const OpContext& context) const override {
    const Line line(saved_.inputs[0].shape, known_.axis ? *known_.axis : axisOf(context));
    if (line.size == 0) return;
    const int64_t blocks = ceilDiv(line.inner, kColumns);
    const int64_t grain = grainOf(kElementsPerPart, {line.size, std::min(line.inner, kColumns)});
    context.parallelFor(line.outer * blocks, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % blocks * kColumns, start = i / blocks * line.size * line.inner + first;
        runColumns(line, context.in<T>(0) + start, context.out<T>() + start, std::min(kColumns, line.inner - first));
      }
    });
  }

 private:
  using W = Wrapped<T>;
  static constexpr int64_t kColumns = 1024;  // sums of a row and of the one before it that stay in a near cache
  static constexpr int64_t kElementsPerPart = 32768;

  int axisOf(const OpContext& context) const {
    const RequestInputs inputs(saved_.request(), context.inputs);
    return readers::readCumulation(*inputs).axis.value();
  }

  // Sums of some of the columns of a line, in the order of addition.
  void runColumns(const Line& line, const T* x, T* y, int64_t columns) const {
    const int64_t step = known_.isReverse ? -line.inner : line.inner;
    if (known_.isReverse) {
      x += (line.size - 1) * line.inner;
      y += (line.size - 1) * line.inner;
    }
    int64_t count = line.size;
    if (known_.isExclusive) {
      std::fill_n(y, columns, T{0});
      y += step;
      --count;
    }
    if (line.inner == 1)
      addUp(x, y, count, step);
    else
      addRows(x, y, count, step, columns);
  }

  // Four sums at a time, so that only one addition of them waits for the ones before.
  static void addUp(const T* x, T* y, int64_t count, int64_t step) {
    W sum = static_cast<W>(-T{0});  // -0 added to a number is that number
    inParts(count, 2, [&](int64_t begin, int64_t end) {
      int64_t i = begin;
      for (; i + 4 <= end; i += 4) {
        const T* from = x + i * step;
        T* to = y + i * step;
        const W a = static_cast<W>(from[0]), b = a + static_cast<W>(from[step]);
        const W c = b + static_cast<W>(from[2 * step]), d = c + static_cast<W>(from[3 * step]);
        const W next = sum + d;
        to[0] = static_cast<T>(sum + a);
        to[step] = static_cast<T>(sum + b);
        to[2 * step] = static_cast<T>(sum + c);
        to[3 * step] = static_cast<T>(next);
        sum = next;
      }
      for (; i < end; ++i) {
        sum += static_cast<W>(x[i * step]);
        y[i * step] = static_cast<T>(sum);
      }
    });
  }

  static void addRows(const T* x, T* y, int64_t count, int64_t step, int64_t columns) {
    if (count > 0) std::copy_n(x, columns, y);
    WorkCounter work;
    for (int64_t k = 1; k < count; ++k, work.pass(2 + columns)) {
      const T* before = y;
      x += step;
      y += step;
#pragma GCC ivdep
      for (int64_t i = 0; i < columns; ++i) y[i] = static_cast<T>(static_cast<W>(before[i]) + static_cast<W>(x[i]));
    }
  }

  SavedRequest saved_;
  readers::Cumulation known_;
};

const OpRow kRows[] = {
    {"", "CumSum", kTyped<CumSumOp>},
};

}  // namespace

std::span<const OpRow> cumulateOps() { return kRows; }

}  // namespace max
