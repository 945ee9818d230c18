// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/movement/tensor_copy.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/interrupt_point.h"
#include "base/thread_pool.h"
#include "ops/cpu/movement/copied_runs.h"
#include "ops/cpu/movement/transpose_lines.h"
#include "ops/cpu/movement/transpose_tile.h"
#include "ops/cpu/streamed.h"

namespace max {

namespace {

constexpr int64_t kParallelBytes = 128 * 1024;  // below this a second thread costs more than it saves
constexpr int64_t kWidestElement = 16;

struct Wide {
  uint64_t low, high;
};

template <class F>
void visitElement(int64_t size, F function) {
  switch (size) {
    case 1:
      return function(uint8_t{});
    case 2:
      return function(uint16_t{});
    case 4:
      return function(uint32_t{});
    case 8:
      return function(uint64_t{});
    default:
      return function(Wide{});
  }
}

bool isElementSize(int64_t bytes) { return bytes <= kWidestElement && (bytes & (bytes - 1)) == 0; }

// Elements may be unaligned (wide ones consist of narrow ones), hence memcpy.
template <class T>
void copyElements(const std::byte* source, std::byte* target, int64_t count, int64_t sourceStep, int64_t targetStep) {
  T value;
  if (sourceStep == 0) {
    std::memcpy(&value, source, sizeof(T));
    if (targetStep == sizeof(T)) {
      for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * targetStep, &value, sizeof(T));
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(&value, source + i * sourceStep, sizeof(T));
    std::memcpy(target + i * targetStep, &value, sizeof(T));
  }
}

// Short runs are common (rows of a slice, channels of a concat) and cheaper than a call of memcpy.
void copyRun(const std::byte* source, std::byte* target, int64_t bytes) {
  if (bytes > kMostInRuns || bytes < kCopiedPiece) return copyBytes(target, source, static_cast<size_t>(bytes));
  copyPieces(source, bytes, target);
}

template <size_t kBytes>
void copyRunsOf(const std::byte* source, std::byte* target, int64_t count, int64_t sourceStep, int64_t targetStep) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * targetStep, source + i * sourceStep, kBytes);
}

// Runs of one or two halves of a piece, as three floats: the last half overlaps the one before it.
constexpr int64_t kHalfPiece = kCopiedPiece / 2;
void copyHalves(const std::byte* source, std::byte* target, int64_t count, int64_t sourceStep, int64_t targetStep,
                int64_t bytes) {
  for (int64_t i = 0; i < count; ++i, source += sourceStep, target += targetStep) {
    std::memcpy(target, source, kHalfPiece);
    std::memcpy(target + bytes - kHalfPiece, source + bytes - kHalfPiece, kHalfPiece);
  }
}

}  // namespace

void copyRuns(const std::byte* source, std::byte* target, int64_t count, int64_t sourceStep, int64_t targetStep,
              int64_t bytes) {
  // A few short runs are copied sooner one by one.
  const int64_t manyBytes = bytes < kCopiedPiece ? 8 * kCopiedPiece : 2048;
  if (sourceStep == 0 && targetStep == bytes && count * bytes >= manyBytes) {
    copyRun(source, target, bytes);
    return repeatRun(target, bytes, count, copyRun);
  }
  if (bytes >= kHalfPiece && bytes < kCopiedPiece)
    return copyHalves(source, target, count, sourceStep, targetStep, bytes);
  switch (bytes) {
    case 32:
      return copyRunsOf<32>(source, target, count, sourceStep, targetStep);
    case 64:
      return copyRunsOf<64>(source, target, count, sourceStep, targetStep);
    case 128:
      return copyRunsOf<128>(source, target, count, sourceStep, targetStep);
    default:
      for (int64_t i = 0; i < count; ++i) copyRun(source + i * sourceStep, target + i * targetStep, bytes);
  }
}

TensorCopy::TensorCopy(size_t elementSize, const Shape& shape, const Shape& sourceStrides, const Shape& targetStrides)
    : elementSize_(static_cast<int64_t>(elementSize)), bytes_(shape.count() * static_cast<int64_t>(elementSize)) {
  if (bytes_ == 0) return;
  addAxes(shape, sourceStrides, targetStrides);
  mergeAxes();
  widenElements();
  chooseForm();
  for (int i = 0; i < rank_; ++i) outerCount_ *= dims_[i];
}

void TensorCopy::addAxes(const Shape& shape, const Shape& sourceStrides, const Shape& targetStrides) {
  std::array<int, kMaxRank> order{};
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] != 1) order[static_cast<size_t>(rank_++)] = i;
  // In the order of the target, so that it is written front to back.
  std::stable_sort(order.begin(), order.begin() + rank_,
                   [&](int a, int b) { return targetStrides[a] > targetStrides[b]; });
  for (int i = 0; i < rank_; ++i) {
    const int axis = order[static_cast<size_t>(i)];
    dims_[i] = shape[axis];
    source_[i] = sourceStrides[axis] * elementSize_;
    target_[i] = targetStrides[axis] * elementSize_;
  }
}

// Merges neighbouring axes with compatible strides in both views.
void TensorCopy::mergeAxes() {
  int kept = 0;
  for (int i = 1; i < rank_; ++i) {
    if (source_[kept] == source_[i] * dims_[i] && target_[kept] == target_[i] * dims_[i]) {
      dims_[kept] *= dims_[i];
    } else {
      dims_[++kept] = dims_[i];
    }
    source_[kept] = source_[i];
    target_[kept] = target_[i];
  }
  rank_ = rank_ == 0 ? 0 : kept + 1;
}

// An innermost axis that is dense in both views becomes part of the element.
void TensorCopy::widenElements() {
  if (rank_ == 0 || source_[rank_ - 1] != elementSize_ || target_[rank_ - 1] != elementSize_) return;
  elementSize_ *= dims_[--rank_];
}

void TensorCopy::chooseForm() {
  if (rank_ == 0) {
    form_ = Form::Block;
    return;
  }
  if (!isElementSize(elementSize_)) {
    form_ = Form::Runs;
    return;
  }
  const int inner = --rank_;
  form_ = Form::Elements;
  rows_ = dims_[inner];
  rowSource_ = source_[inner];
  rowTarget_ = target_[inner];
  if (rowTarget_ != elementSize_ || elementSize_ == kWidestElement) return;
  for (int axis = 0; axis < rank_; ++axis) {
    if (source_[axis] != elementSize_) continue;
    form_ = Form::Transposed;
    columns_ = dims_[axis];
    columnSource_ = source_[axis];
    columnTarget_ = target_[axis];
    for (int i = axis; i + 1 < rank_; ++i) {
      dims_[i] = dims_[i + 1];
      source_[i] = source_[i + 1];
      target_[i] = target_[i + 1];
    }
    --rank_;
    return;
  }
}

int64_t TensorCopy::innerBytes() const { return elementSize_ * rows_ * columns_; }

bool TensorCopy::streams() const {
  return bytes_ >= kStreamedBytes && (form_ == Form::Transposed || form_ == Form::Runs);
}

// Whether runs are whole lines of the target, which begins here.
bool TensorCopy::streamsRuns(const std::byte* target) const {
  if (!streams() || form_ != Form::Runs || !transposeLinesTable().stream) return false;
  if (elementSize_ % kStreamedLine != 0 || elementSize_ > kStepsPerLook) return false;
  const auto isLine = [](int64_t step) { return step % kStreamedLine == 0; };
  return std::all_of(target_, target_ + rank_, isLine) && canStream(target, elementSize_, nullptr);
}

// At `count` positions of the innermost of the outer axes.
void TensorCopy::copyInner(const std::byte* source, std::byte* target, int64_t count) const {
  if (count == 0) return;
  const int64_t sourceStep = rank_ > 0 ? source_[rank_ - 1] : 0, targetStep = rank_ > 0 ? target_[rank_ - 1] : 0;
  if (form_ == Form::Runs) {
    if (!streamsRuns(target)) return copyRuns(source, target, count, sourceStep, targetStep, elementSize_);
    const auto stream = transposeLinesTable().stream;
    for (int64_t i = 0; i < count; ++i) stream(source + i * sourceStep, target + i * targetStep, elementSize_);
    return;
  }
  for (int64_t i = 0; i < count; ++i) copyInner(source + i * sourceStep, target + i * targetStep);
}

void TensorCopy::copyInner(const std::byte* source, std::byte* target) const {
  switch (form_) {
    case Form::Transposed:
      return transposeTiles(elementSize_, source, rowSource_, target, columnTarget_, rows_, columns_, streams());
    default:
      return visitElement(elementSize_, [&]<class T>(T) {
        if (rows_ <= kStepsPerLook) return copyElements<T>(source, target, rows_, rowSource_, rowTarget_);
        inParts(rows_, 4, [&](int64_t begin, int64_t end) {
          copyElements<T>(source + begin * rowSource_, target + begin * rowTarget_, end - begin, rowSource_,
                          rowTarget_);
        });
      });
  }
}

// Outer positions [begin, end), counted in the order of the target.
void TensorCopy::runRange(const std::byte* source, std::byte* target, int64_t begin, int64_t end) const {
  int64_t index[kMaxRank];
  int64_t rest = begin;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    index[axis] = rest % dims_[axis];
    rest /= dims_[axis];
    source += index[axis] * source_[axis];
    target += index[axis] * target_[axis];
  }
  const int64_t steps = 4 + innerBytes() / 4, most = std::max<int64_t>(kStepsPerLook / steps, 1);
  WorkCounter work;
  for (int64_t i = begin, count = 1; i < end; i += count) {
    if (rank_ > 0) count = std::min({end - i, dims_[rank_ - 1] - index[rank_ - 1], most});
    copyInner(source, target, count);
    work.pass(steps * count);
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      const int64_t taken = axis == rank_ - 1 ? count : 1;
      source += source_[axis] * taken;
      target += target_[axis] * taken;
      if ((index[axis] += taken) < dims_[axis]) break;
      source -= source_[axis] * dims_[axis];
      target -= target_[axis] * dims_[axis];
      index[axis] = 0;
    }
  }
  if (streams()) hwy::FlushStream();
}

// Large transposes, fewer than there are lanes: each is split along its longer side, whose tiles are independent.
void TensorCopy::runSplit(const std::byte* source, std::byte* target, int lanes) const {
  const bool isByRows = rows_ > columns_;
  const int64_t side = isByRows ? rows_ : columns_, across = isByRows ? columns_ : rows_;
  const int64_t sourceStep = isByRows ? rowSource_ : columnSource_, targetStep = isByRows ? rowTarget_ : columnTarget_;
  const int64_t grain = std::max<int64_t>(64, kParallelBytes / (elementSize_ * across) / 64 * 64);
  for (int64_t i = 0; i < outerCount_; ++i) {
    int64_t from = 0, to = 0, rest = i;
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      from += rest % dims_[axis] * source_[axis];
      to += rest % dims_[axis] * target_[axis];
      rest /= dims_[axis];
    }
    parallelFor(lanes, side, grain, [&](int64_t begin, int64_t end, int) {
      const int64_t count = end - begin;
      transposeTiles(elementSize_, source + from + begin * sourceStep, rowSource_, target + to + begin * targetStep,
                     columnTarget_, isByRows ? count : rows_, isByRows ? columns_ : count, streams());
      if (streams()) hwy::FlushStream();
    });
  }
}

void TensorCopy::run(const std::byte* source, std::byte* target, int lanes) const {
  if (form_ == Form::Empty) return;
  if (form_ == Form::Block) {
    if (lanes <= 1 || bytes_ <= 4 * kParallelBytes) {
      copyBytes(target, source, static_cast<size_t>(bytes_));
      return;
    }
    return parallelFor(lanes, bytes_, kParallelBytes, [&](int64_t begin, int64_t end, int) {
      std::memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
    });
  }
  if (lanes <= 1 || bytes_ <= kParallelBytes) return runRange(source, target, 0, outerCount_);
  if (form_ == Form::Transposed && outerCount_ < lanes) return runSplit(source, target, lanes);
  const int64_t grain = std::max<int64_t>(1, kParallelBytes / innerBytes());
  parallelFor(lanes, outerCount_, grain,
              [&](int64_t begin, int64_t end, int) { runRange(source, target, begin, end); });
}

}  // namespace max
