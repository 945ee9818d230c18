// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/convolution/add_lines.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cpu/convolution/add_lines.cpp"
#include "ops/cpu/dispatch.h"
#include "ops/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace max::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Vectors from `i` on.
template <class D>
HWY_INLINE void addVectors(D d, const float* from, int64_t count, int64_t& i, float* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
}

// Without stores of some lanes, which hold up the loads of what lies behind them, as the next line does.
void add(const AddedLines& lines) {
  const float* from = lines.from;
  float* to = lines.to;
  for (int64_t line = 0; line < lines.lines; ++line, from += lines.fromStep, to += lines.toStep) {
    int64_t i = 0;
    addVectors(hn::ScalableTag<float>(), from, lines.count, i, to);
    addVectors(hn::CappedTag<float, 8>(), from, lines.count, i, to);
    addVectors(hn::CappedTag<float, 4>(), from, lines.count, i, to);
    addVectors(hn::CappedTag<float, 1>(), from, lines.count, i, to);
  }
}

}  // namespace

extern const LinesTable kLinesTable;
const LinesTable kLinesTable = {add};

}  // namespace max::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace max {
const LinesTable& linesTable() { return MAX_CHOOSE_TARGET(kLinesTable); }
}  // namespace max
#endif
