// SPDX-License-Identifier: Apache-2.0
// CumSum.
#include <type_traits>

#include "base/interrupt_point.h"
#include "graph/readers/reduction.h"
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
    WorkCounter work;
    for (int64_t o = 0; o < line.outer; ++o) {
      const T* x = context.in<T>(0) + o * line.size * line.inner;
      T* y = context.out<T>() + o * line.size * line.inner;
      for (int64_t step = 0; step < line.size; ++step, work.pass(2 + line.inner)) addStep(line, x, y, step);
    }
  }

 private:
  int axisOf(const OpContext& context) const {
    const RequestInputs inputs(saved_.request(), context.inputs);
    return readers::readCumulation(*inputs).axis.value();
  }

  // One row of `inner` sums from the row before it.
  void addStep(const Line& line, const T* x, T* y, int64_t step) const {
    using W = Wrapped<T>;
    const int64_t row = (known_.isReverse ? line.size - 1 - step : step) * line.inner;
    const int64_t before = known_.isReverse ? row + line.inner : row - line.inner;
    const T* added = x + (known_.isExclusive ? before : row);
    for (int64_t i = 0; i < line.inner; ++i) {
      if (step == 0)
        y[row + i] = known_.isExclusive ? T{0} : x[row + i];
      else
        y[row + i] = static_cast<T>(static_cast<W>(y[before + i]) + static_cast<W>(added[i]));
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
