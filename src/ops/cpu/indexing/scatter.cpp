// SPDX-License-Identifier: Apache-2.0
// ScatterElements and ScatterND: a copy of the data, then the updates of each element one after another, since indices
// may repeat. Threads share the elements, not the updates, so that results do not depend on their number.
#include <algorithm>
#include <complex>
#include <cstring>

#include "base/half.h"
#include "base/interrupt_point.h"
#include "graph/readers/indexing.h"
#include "ops/cpu/element.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/indexing/runs.h"
#include "ops/families.h"

namespace max {

namespace {

using readers::ScatterReduction;

constexpr int64_t kGrainElements = 16 * 1024;
constexpr int64_t kLeastVectors = 16;      // elements of a slice that are combined by vectors
constexpr int64_t kLeastSharedSlice = 16;  // elements; below, reading the indices takes longer than the updates

using Combine = void (*)(std::byte* target, const std::byte* update, int64_t count);

struct Half {
  uint16_t bits;
  static float load(uint16_t bits) { return floatFromHalf(bits); }
  static uint16_t store(float value) { return halfFromFloat(value); }
};
struct BFloat {
  uint16_t bits;
  static float load(uint16_t bits) { return floatFromBFloat16(bits); }
  static uint16_t store(float value) { return bfloat16FromFloat(value); }
};

template <class T>
T addOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return a + b;
}
template <class T>
T multiplyOf(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return a * b;
}
template <class T>
T largerOf(T a, T b) {
  return b > a || b != b ? b : a;
}
template <class T>
T smallerOf(T a, T b) {
  return b < a || b != b ? b : a;
}

// F combines two values of the arithmetic type of T.
template <class T, auto F>
void combine(std::byte* target, const std::byte* update, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, target + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(&b, update + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if constexpr (requires { T::load(0); })
      a.bits = T::store(F(T::load(a.bits), T::load(b.bits)));
    else
      a = F(a, b);
    std::memcpy(target + i * static_cast<int64_t>(sizeof(T)), &a, sizeof(T));
  }
}

// Complex numbers have no order.
template <class T>
Combine combineComplex(ScatterReduction reduction) {
  if (reduction == ScatterReduction::Add) return combine<T, [](T a, T b) { return a + b; }>;
  if (reduction == ScatterReduction::Multiply) return combine<T, [](T a, T b) { return a * b; }>;
  return nullptr;
}

template <class T>
Combine combineOf(ScatterReduction reduction) {
  using C = std::conditional_t<std::is_class_v<T>, float, T>;
  if (reduction == ScatterReduction::Add) return combine<T, addOf<C>>;
  if (reduction == ScatterReduction::Multiply) return combine<T, multiplyOf<C>>;
  if (reduction == ScatterReduction::Max) return combine<T, largerOf<C>>;
  if (reduction == ScatterReduction::Min) return combine<T, smallerOf<C>>;
  return nullptr;
}

Combine combineFor(DType dtype, ScatterReduction reduction) {
  switch (dtype) {
    case DType::Float32:
      return combineOf<float>(reduction);
    case DType::Float64:
      return combineOf<double>(reduction);
    case DType::Float16:
      return combineOf<Half>(reduction);
    case DType::BFloat16:
      return combineOf<BFloat>(reduction);
    case DType::Int8:
      return combineOf<int8_t>(reduction);
    case DType::Int16:
      return combineOf<int16_t>(reduction);
    case DType::Int32:
      return combineOf<int32_t>(reduction);
    case DType::Int64:
      return combineOf<int64_t>(reduction);
    case DType::Bool:
    case DType::UInt8:
      return combineOf<uint8_t>(reduction);
    case DType::UInt16:
      return combineOf<uint16_t>(reduction);
    case DType::UInt32:
      return combineOf<uint32_t>(reduction);
    case DType::UInt64:
      return combineOf<uint64_t>(reduction);
    case DType::Complex64:
      return combineComplex<std::complex<float>>(reduction);
    case DType::Complex128:
      return combineComplex<std::complex<double>>(reduction);
    default:
      return nullptr;
  }
}

// The same by vectors; NULL where there is no such code.
TileFunction tileFor(DType dtype, ScatterReduction reduction) {
  if (dtype != DType::Float32 && dtype != DType::Float64) return nullptr;
  if (reduction == ScatterReduction::Add) return findTileFunction(ElementOp::Add, dtype, dtype);
  if (reduction == ScatterReduction::Multiply) return findTileFunction(ElementOp::Mul, dtype, dtype);
  return nullptr;
}

ScatterReduction reductionOf(const OpRequest& request) {
  return readers::readScatterReduction(*RequestInputs(request));
}

bool canScatter(const OpRequest& request) {
  const ScatterReduction reduction = reductionOf(request);
  return hasByteElements(request) && request.has(1) && request.has(2) &&
         (request.inputs[1].dtype == DType::Int64 || request.inputs[1].dtype == DType::Int32) &&
         (reduction == ScatterReduction::None || combineFor(request.inputs[0].dtype, reduction));
}

class ScatterOp : public OpKernel {
 public:
  explicit ScatterOp(const OpRequest& request)
      : node_(request.node),
        combine_(combineFor(request.inputs[0].dtype, reductionOf(request))),
        tile_(tileFor(request.inputs[0].dtype, reductionOf(request))),
        elementBytes_(static_cast<int64_t>(sizeOf(request.inputs[0].dtype))),
        dataBytes_(request.inputs[0].shape.count() * elementBytes_) {}

  int inPlaceInput() const override { return 0; }

  void run(const OpContext& context) const override {
    std::byte* out = context.out<std::byte>();
    if (context.inputs[0] != out && dataBytes_ > 0) copyBytes(out, context.inputs[0], static_cast<size_t>(dataBytes_));
    update(context, out);
  }

 protected:
  virtual void update(const OpContext& context, std::byte* out) const = 0;
  void put(std::byte* target, const std::byte* source, int64_t elements) const {
    if (!combine_) return copyBytes(target, source, static_cast<size_t>(elements * elementBytes_));
    if (elements <= kStepsPerLook / 4) return combine(target, source, elements);
    inParts(elements, 1, [&](int64_t begin, int64_t end) {
      combine(target + begin * elementBytes_, source + begin * elementBytes_, end - begin);
    });
  }
  void combine(std::byte* target, const std::byte* source, int64_t elements) const {
    if (!tile_ || elements < kLeastVectors) return combine_(target, source, elements);
    tile_({target, {target, source, nullptr}, {1, 1, 0}, elements, 0, 0});
  }

  const Node& node_;
  Combine combine_;
  TileFunction tile_;
  int64_t elementBytes_, dataBytes_;
};

class ScatterElementsOp final : public ScatterOp {
 public:
  explicit ScatterElementsOp(const OpRequest& request) : ScatterOp(request), walk_(request, 1) {
    if (!(request.inputs[1].shape == request.inputs[2].shape))
      MovementCall(request, nullptr)
          .fail(MAX_STATUS_INVALID_ARGUMENT, "indices ", request.inputs[1].shape, " and updates ",
                request.inputs[2].shape, " differ in shape");
    const Shape& indices = request.inputs[1].shape;
    const int axis = readers::readGatherAxis(*RequestInputs(request));
    rowsPerGroup_ = std::max<int64_t>(1, indices.product(axis, indices.rank() - 1));
  }

 private:
  // Rows with different coordinates before the axis write to different elements.
  void update(const OpContext& context, std::byte* out) const override {
    const int64_t grain = grainOf(kGrainElements, {rowsPerGroup_, walk_.columns()});
    context.parallelFor(walk_.rows() / rowsPerGroup_, grain, [&](int64_t begin, int64_t end, int) {
      WorkCounter work;
      for (int64_t row = begin * rowsPerGroup_; row < end * rowsPerGroup_; ++row, work.pass(8 + 2 * walk_.columns()))
        updateRow(context, row, out);
    });
  }

  void updateRow(const OpContext& context, int64_t row, std::byte* out) const {
    const std::byte* updates = context.in<std::byte>(2);
    if (combine_)
      walk_.forRow(node_, row, context.inputs[1], [&](int64_t k, int64_t offset) {
        combine_(out + offset * elementBytes_, updates + k * elementBytes_, 1);
      });
    else
      visitElementBytes(elementBytes_, [&](auto size) {
        walk_.forRow(node_, row, context.inputs[1], [size, updates, out](int64_t k, int64_t offset) {
          copyElement(size, out + offset * size, updates + k * size);
        });
      });
  }

  int64_t rowsPerGroup_ = 1;
  ElementWalk walk_;
};

class ScatterNDOp final : public ScatterOp {
 public:
  explicit ScatterNDOp(const OpRequest& request) : ScatterOp(request), slices_(request, 0) {
    if (request.inputs[2].shape.count() != slices_.count() * slices_.sliceElements())
      MovementCall(request, nullptr)
          .fail(MAX_STATUS_INVALID_ARGUMENT, "updates of shape ", request.inputs[2].shape, " do not fit indices ",
                request.inputs[1].shape, " and data ", request.inputs[0].shape);
    const Tensor* indices = request.inputs[1].constant;
    const int64_t elements = slices_.sliceElements();
    if (indices && !combine_ && elements > 0 && elements < kLeastSharedSlice) runs_ = knownRuns(indices->data());
  }

 private:
  WorkVector<Run> knownRuns(const void* indices) const {
    try {
      return runsOf(slices_.count(),
                    [&](int64_t i) { return slices_.offset(node_, i, indices) / slices_.sliceElements(); });
    } catch (const Error&) {
      return {};  // an index out of range is an error of the run, if there ever is one
    }
  }

  void update(const OpContext& context, std::byte* out) const override {
    const int64_t elements = slices_.sliceElements();
    if (elements == 0) return;
    if (!runs_.empty()) return copyRuns(context, out);
    const int64_t slices = std::max<int64_t>(1, dataBytes_ / elementBytes_ / elements);
    // Every thread reads all indices.
    const bool isShared =
        context.lanes > 1 && elements >= kLeastSharedSlice && slices_.count() * elements > kGrainElements;
    const int64_t grain = isShared ? (slices + context.lanes - 1) / context.lanes : slices;
    context.parallelFor(slices, grain, [&](int64_t begin, int64_t end, int) {
      updateSlices(context, begin * elements, end * elements, out);
    });
  }

  // Applies the updates of the elements [begin, end), which are whole slices.
  void updateSlices(const OpContext& context, int64_t begin, int64_t end, std::byte* out) const {
    const SliceWalk slices = slices_;  // as a local, stores to `out` cannot change it
    const int64_t elements = slices.sliceElements();
    const std::byte* updates = context.in<std::byte>(2);
    const void* indices = context.inputs[1];
    WorkCounter work;
    for (int64_t i = 0; i < slices.count(); ++i, work.pass(8)) {
      const int64_t offset = slices.offset(node_, i, indices);
      if (offset < begin || offset >= end) continue;
      put(out + offset * elementBytes_, updates + i * elements * elementBytes_, elements);
      work.pass(elements * elementBytes_ / 4);
    }
  }

  void copyRuns(const OpContext& context, std::byte* out) const {
    const int64_t bytes = slices_.sliceElements() * elementBytes_;
    WorkCounter work;
    for (const Run& run : runs_) {
      copyElement(run.count * bytes, out + run.place * bytes, context.in<std::byte>(2) + run.first * bytes);
      work.pass(8 + run.count * bytes / 4);
    }
  }

  SliceWalk slices_;
  WorkVector<Run> runs_;  // none = one by one
};

template <class K>
inline constexpr Implementation kScatter[] = {
    {"scatter", canScatter,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "ScatterElements", kScatter<ScatterElementsOp>},
    {"", "ScatterND", kScatter<ScatterNDOp>},
};

}  // namespace

std::span<const OpRow> scatterOps() { return kRows; }

}  // namespace max
