// SPDX-License-Identifier: Apache-2.0
// Resize: nearest by index tables, linear and cubic one axis after another. Any axes may
// change, so images may have their channels first or last.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "base/work_vector.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/indexed_copy.h"
#include "ops/cpu/narrow.h"
#include "ops/cpu/resize/resize_axis.h"
#include "ops/families.h"

namespace max {

namespace {

bool isNearest(const OpRequest& request) { return resizeOf(request).interpolation == readers::Interpolation::Nearest; }

void requireSource(const MovementCall& call) {
  if (call.in().count() == 0 && call.out().count() > 0)
    call.fail(MAX_STATUS_INVALID_ARGUMENT, "cannot resize ", call.in(), ", which has no elements");
}

class NearestOp final : public OpKernel {
 public:
  explicit NearestOp(const OpRequest& request)
      : saved_(request),
        bytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        isEmpty_(request.outputs[0].shape.count() == 0) {
    const float outside = resizeOf(request).outside;
    storeNumbers(request.inputs[0].dtype, fill_, 0, 1, &outside);
    if (!isEmpty_ && allConstant(request, 1)) copy_.emplace(plan(MovementCall(request, nullptr)));
  }
  static bool accepts(const OpRequest& request) {
    return isNearest(request) && hasByteElements(request) && request.outputs[0].dtype == request.inputs[0].dtype;
  }

  void run(const OpContext& context) const override {
    if (isEmpty_) return;
    const OpRequest request = saved_.request();
    if (copy_)
      copy_->run(context.in<std::byte>(0), context.out<std::byte>(), fill_, context.lanes);
    else
      plan(MovementCall(request, context.inputs))
          .run(context.in<std::byte>(0), context.out<std::byte>(), fill_, context.lanes);
  }

 private:
  IndexedCopy plan(const MovementCall& call) const {
    requireSource(call);
    IndexTables tables(static_cast<size_t>(call.in().rank()));
    WorkCounter work;
    for (int axis = 0; axis < call.in().rank(); ++axis)
      for (int64_t i = 0; i < call.out()[axis]; ++i, work.pass(4)) tables[static_cast<size_t>(axis)].push_back(i);
    const readers::Resize resize = resizeOf(call.request());
    for (const ResizedAxis& axis : resizedAxes(call, resize))
      tables[static_cast<size_t>(axis.axis)] = nearestIndices(resize, axis);
    return IndexedCopy(bytes_, call.in(), tables);
  }

  SavedRequest saved_;
  int64_t bytes_;
  bool isEmpty_;  // whatever the tables of its axes would take
  alignas(8) std::byte fill_[8] = {};
  std::optional<IndexedCopy> copy_;
};

// Where a pass writes; the last one may round its results to bfloat16.
template <class T>
struct Results {
  T* numbers;
  uint16_t* narrow = nullptr;  // instead of numbers

  // `compute(to, begin, end)` makes the numbers [begin, end) of `count` that begin at `place`.
  template <class Compute>
  void write(int64_t place, int64_t count, const Compute& compute) const {
    if (!narrow) return compute(numbers + place, 0, count);
    constexpr int64_t kPart = 512;
    static const TileFunction round = findCastTileFunction(DType::Float32, DType::BFloat16);
    T part[kPart];
    for (int64_t begin = 0; begin < count; begin += kPart) {
      const int64_t end = std::min(count, begin + kPart);
      compute(part, begin, end);
      round({narrow + place + begin, {part, nullptr, nullptr}, {1, 0, 0}, end - begin, 0, 0});
    }
  }
};

// x [outer, inputSize, inner] -> y [outer, outputSize, inner]
template <class T>
struct Pass {
  int64_t outer, inputSize, outputSize, inner;
  int64_t taps;
  WorkVector<int64_t> index;
  WorkVector<T> weight;
  WorkVector<bool> isOutside;
  T outside;
  WorkVector<int64_t> outsideIndices;  // where isOutside

  void run(const T* x, const Results<T>& y, const OpContext& context) const {
    if (inner == 1) return runLines(x, y, context);
    const int64_t grain = grainOf(16384, {inner, taps});
    context.parallelFor(outer * outputSize, grain, [&](int64_t begin, int64_t end, int) {
      WorkCounter work;
      for (int64_t row = begin; row < end; ++row, work.pass(inner)) makeRow(x, y, row / outputSize, row % outputSize);
    });
  }

  // Along the last axis, every output is a sum of its own.
  void runLines(const T* x, const Results<T>& y, const OpContext& context) const {
    const int64_t grain = grainOf(16384, {outputSize, taps});
    context.parallelFor(outer, grain, [&](int64_t begin, int64_t end, int) {
      WorkCounter work;
      for (int64_t o = begin; o < end; ++o, work.pass(outputSize))
        y.write(o * outputSize, outputSize,
                [&](T* to, int64_t first, int64_t last) { makeLine(x + o * inputSize, first, last, to); });
    });
  }

  // body(begin, end) for [0, count), in parts if they are much work; the caller counts what is not.
  template <class Body>
  void divided(int64_t count, Body body) const {
    constexpr int64_t kLittleWork = 4096;
    if (count <= kLittleWork / taps) return body(0, count);
    inParts(count, taps, body);
  }

  void makeLine(const T* line, int64_t first, int64_t last, T* to) const {
    divided(last - first, [&](int64_t begin, int64_t end) {
      const int64_t* at = index.data() + (first + begin) * taps;
      const T* by = weight.data() + (first + begin) * taps;
      const bool isFloat = std::is_same_v<T, float>;  // doubles are not worth the code
      if (isFloat && taps == 2) return addTaps<2>(line, at, by, end - begin, to + begin);
      if (isFloat && taps == 4) return addTaps<4>(line, at, by, end - begin, to + begin);
      for (int64_t i = begin; i < end; ++i, at += taps, by += taps) {
        T sum = 0;
        for (int64_t tap = 0; tap < taps; ++tap) sum += by[tap] * line[at[tap]];
        to[i] = sum;
      }
    });
    if (outsideIndices.empty()) return;
    for (auto i = std::lower_bound(outsideIndices.begin(), outsideIndices.end(), first);
         i != outsideIndices.end() && *i < last; ++i)
      to[*i - first] = outside;
  }

  template <int kTaps>
  static void addTaps(const T* line, const int64_t* at, const T* by, int64_t count, T* __restrict to) {
    for (int64_t i = 0; i < count; ++i, at += kTaps, by += kTaps) {
      T sum = by[0] * line[at[0]];
      for (int tap = 1; tap < kTaps; ++tap) sum += by[tap] * line[at[tap]];
      to[i] = sum;
    }
  }

  void makeRow(const T* x, const Results<T>& y, int64_t o, int64_t i) const {
    const T* base = x + o * inputSize * inner;
    y.write((o * outputSize + i) * inner, inner, [&](T* to, int64_t first, int64_t last) {
      if (isOutside[static_cast<size_t>(i)])
        fillParts(to, last - first, outside);
      else
        makePart(base + first, i, last - first, to);
    });
  }

  void makePart(const T* base, int64_t i, int64_t count, T* out) const {
    const int64_t* at = index.data() + i * taps;
    const T* by = weight.data() + i * taps;
    divided(count, [=, this](int64_t begin, int64_t end) {
      if (taps == 2) return addRows(base + at[0] * inner, by[0], base + at[1] * inner, by[1], begin, end, out);
      std::fill(out + begin, out + end, T{0});
      for (int64_t tap = 0; tap < taps; ++tap) addRow(base + at[tap] * inner, by[tap], begin, end, out);
    });
  }

  static void addRows(const T* a, T wa, const T* b, T wb, int64_t begin, int64_t end, T* __restrict out) {
    for (int64_t k = begin; k < end; ++k) out[k] = wa * a[k] + wb * b[k];
  }
  static void addRow(const T* row, T w, int64_t begin, int64_t end, T* __restrict out) {
    for (int64_t k = begin; k < end; ++k) out[k] += w * row[k];
  }
};

template <class T>
using Passes = std::vector<Pass<T>>;

template <class T>
WorkVector<T> numbersOf(WorkVector<double> weights) {
  if constexpr (std::is_same_v<T, double>) return weights;
  WorkVector<T> numbers;
  numbers.reserve(weights.size());
  inParts(static_cast<int64_t>(weights.size()), 1, [&](int64_t begin, int64_t end) {
    numbers.insert(numbers.end(), weights.begin() + begin, weights.begin() + end);
  });
  return numbers;
}

// How much less the other axes have to do after this one, for what it costs. Along the last axis of a tensor, every
// output is a sum of its own, which takes longer than those of rows.
double gainOf(const ResizedAxis& axis, int rank) {
  constexpr double kCostOfLines = 6;
  const double shrinks =
      static_cast<double>(axis.inputSize) / static_cast<double>(std::max<int64_t>(axis.outputSize, 1)) - 1;
  return axis.axis + 1 == rank ? shrinks / kCostOfLines : shrinks;
}

template <class T>
Passes<T> passesOf(const MovementCall& call) {
  requireSource(call);
  const readers::Resize resize = resizeOf(call.request());
  std::vector<ResizedAxis> axes = resizedAxes(call, resize);
  const int rank = call.in().rank();
  std::sort(axes.begin(), axes.end(), [&](const ResizedAxis& a, const ResizedAxis& b) {
    const double first = gainOf(a, rank), second = gainOf(b, rank);
    return first == second ? a.axis > b.axis : first > second;
  });
  Shape shape = call.in();
  Passes<T> passes;
  for (const ResizedAxis& axis : axes) {
    AxisWeights weights = axisWeights(call.node(), resize, axis);
    Pass<T> pass{shape.product(0, axis.axis),
                 axis.inputSize,
                 axis.outputSize,
                 shape.product(axis.axis + 1, shape.rank()),
                 weights.taps,
                 std::move(weights.index),
                 numbersOf<T>(std::move(weights.weight)),
                 std::move(weights.isOutside),
                 static_cast<T>(resize.outside),
                 {}};
    for (int64_t i = 0; i < axis.outputSize; ++i)
      if (pass.isOutside[static_cast<size_t>(i)]) pass.outsideIndices.push_back(i);
    passes.push_back(std::move(pass));
    shape[axis.axis] = axis.outputSize;
  }
  return passes;
}

// T = the arithmetic: float or double. Other dtypes are converted at both ends.
template <class T>
class InterpolateOp final : public OpKernel {
 public:
  explicit InterpolateOp(const OpRequest& request)
      : saved_(request),
        dtype_(request.inputs[0].dtype),
        rounds_(dtype_ == DType::Float32 && isNarrow(request.outputs[0])),
        count_(request.outputs[0].shape.count()) {
    if (count_ == 0 || !allConstant(request, 1)) return;
    passes_.emplace(passesOf<T>(MovementCall(request, nullptr)));
  }

  void run(const OpContext& context) const override {
    if (count_ == 0) return;
    if (passes_) return runPasses(*passes_, context);
    const OpRequest request = saved_.request();
    runPasses(passesOf<T>(MovementCall(request, context.inputs)), context);
  }

  // Two blocks for alternating passes, and one for converted input or output.
  size_t scratchBytes() const override { return 3 * blockElements() * sizeof(T); }

 private:
  // No intermediate result is larger than all axes at their larger size.
  size_t blockElements() const {
    Shape largest = saved_.inputs[0].shape;
    for (int i = 0; i < largest.rank(); ++i) largest[i] = std::max(largest[i], saved_.outputs[0].shape[i]);
    return static_cast<size_t>(largest.count());
  }

  void runPasses(const Passes<T>& passes, const OpContext& context) const {
    T* blocks = reinterpret_cast<T*>(context.scratch);
    const size_t size = blockElements();
    const bool direct = dtype_ == (std::is_same_v<T, float> ? DType::Float32 : DType::Float64);
    const T* x = direct ? context.in<T>(0) : decode(context.inputs[0], blocks + 2 * size);
    for (size_t i = 0; i < passes.size(); ++i) {
      const bool isLast = direct && i + 1 == passes.size();
      T* y = isLast && !rounds_ ? context.out<T>() : blocks + (i % 2) * size;
      passes[i].run(x, {y, isLast && rounds_ ? context.out<uint16_t>() : nullptr}, context);
      x = y;
    }
    if (!direct || (passes.empty() && rounds_))
      encodeAll(x, context.outputs[0]);
    else if (passes.empty())
      copyBytes(context.outputs[0], x, static_cast<size_t>(count_) * sizeof(T));
  }

  const T* decode(const void* data, T* values) const {
    const TileFunction cast = findCastTileFunction(dtype_, DType::Float32);
    const auto size = static_cast<int64_t>(sizeOf(dtype_));
    inParts(saved_.inputs[0].shape.count(), 1, [&](int64_t begin, int64_t end) {
      const auto* from = static_cast<const std::byte*>(data) + begin * size;
      cast({values + begin, {from, nullptr, nullptr}, {1, 0, 0}, end - begin, 0, 0});
    });
    return values;
  }
  // Integers take the whole part.
  void encodeAll(const T* values, void* data) const {
    const DType made = rounds_ ? DType::BFloat16 : dtype_;
    if (isFloat(made)) {
      const TileFunction cast = findCastTileFunction(DType::Float32, made);
      const auto size = static_cast<int64_t>(sizeOf(made));
      return inParts(count_, 1, [&](int64_t begin, int64_t end) {
        auto* to = static_cast<std::byte*>(data) + begin * size;
        cast({to, {values + begin, nullptr, nullptr}, {1, 0, 0}, end - begin, 0, 0});
      });
    }
    inParts(count_, 1,
            [&](int64_t begin, int64_t end) { storeNumbers(dtype_, data, begin, end - begin, values + begin); });
  }

  SavedRequest saved_;
  DType dtype_;
  bool rounds_;    // float32 to bfloat16
  int64_t count_;  // 0 = nothing to do, whatever the weights of its axes would take
  std::optional<Passes<T>> passes_;
};

template <class T>
bool interpolates(const OpRequest& request) {
  const DType dtype = request.inputs[0].dtype;
  if (isNearest(request)) return false;
  const bool isRounded = std::is_same_v<T, float> && dtype == DType::Float32 && isNarrow(request.outputs[0]);
  if (request.outputs[0].dtype != dtype && !isRounded) return false;
  if (std::is_same_v<T, double>) return dtype == DType::Float64;
  constexpr DType kKnown[] = {DType::Float32, DType::Float16, DType::BFloat16, DType::UInt8,
                              DType::Int8,    DType::Int32,   DType::Int64};
  return std::find(std::begin(kKnown), std::end(kKnown), dtype) != std::end(kKnown);
}

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kResize[] = {
    {"nearest", NearestOp::accepts, make<NearestOp>},
    {"interpolate_f32", interpolates<float>, make<InterpolateOp<float>>},
    {"interpolate_f64", interpolates<double>, make<InterpolateOp<double>>},
};

NarrowOperands narrowOperands(const Node& node) {
  const Value* x = node.input(0);
  if (!x || !x->type.ranked) return {};
  const readers::Resize resize(node.attributes, x->type.rank());
  if (resize.interpolation == readers::Interpolation::Nearest) return narrowTogether(node, 1);
  return {0, mayBeNarrow(node) && x->type.dtype == DType::Float32 ? operandBit(0) : 0};
}

const OpRow kRows[] = {{"", "Resize", kResize, nullptr, nullptr, narrowOperands}};

}  // namespace

std::span<const OpRow> resizeOps() { return kRows; }

}  // namespace max
