// SPDX-License-Identifier: Apache-2.0
// DFT and STFT: lines of the input form blocks of sequences that are
// transformed together. Two lines of real numbers are one sequence of complex
// numbers.
#include "ops/cpu/signal/fourier.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/interrupt_point.h"
#include "graph/readers/signal.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/movement/movement.h"
#include "ops/families.h"

namespace max {

namespace {

constexpr int64_t kBlockBytes = 192 << 10;  // of numbers that a block of sequences works on
constexpr int64_t kMostSequences = 16;

enum class Direction { Forward, Inverse, InverseToReal };

// Where a line is read and written, and its strides (in numbers).
template <class T>
struct Line {
  const T* from;
  int64_t fromStep;
  T* to;
  int64_t toStep;
};

template <class T>
class FourierOp : public OpKernel {
 public:
  FourierOp(const OpRequest& request, Direction direction, int64_t length, int64_t used, int64_t results, int64_t lines)
      : direction_(direction),
        parts_(request.inputs[0].shape.back()),
        resultParts_(request.outputs[0].shape.back()),
        used_(used),
        results_(results),
        lines_(lines),
        lanes_(std::max(request.lanes, 1)) {
    isPaired_ = direction == Direction::InverseToReal || (direction == Direction::Forward && parts_ == 1);
    if (lines == 0) return;
    plan_.emplace(length);
    const int64_t numbers = 2 * length + plan_->workCount(), needed = (lines + perSequence() - 1) / perSequence();
    const int64_t fitting = kBlockBytes / (numbers * static_cast<int64_t>(sizeof(T)));
    while (sequences_ * 2 <= std::min({fitting, needed, kMostSequences})) sequences_ *= 2;
    laneCount_ = checkedMultiply(numbers, sequences_);
  }

  size_t scratchBytes() const override {
    return static_cast<size_t>(checkedMultiply<int64_t>(lanes_ * static_cast<int64_t>(sizeof(T)), laneCount_));
  }

  void run(const OpContext& context) const override {
    if (!plan_) return;
    const int64_t perBlock = sequences_ * perSequence(), blocks = (lines_ + perBlock - 1) / perBlock;
    const int64_t grain = grainOf(2048, {plan_->length(), sequences_});
    context.parallelFor(blocks, grain, [&](int64_t begin, int64_t end, int lane) {
      T* memory = reinterpret_cast<T*>(context.scratch) + lane * laneCount_;
      for (int64_t block = begin; block < end; ++block) runBlock(context, block * perBlock, memory);
    });
  }

 protected:
  virtual Line<T> line(const OpContext& context, int64_t index) const = 0;
  // Factors of the elements; NULL = none.
  virtual const T* window(const OpContext&) const { return nullptr; }

 private:
  int64_t perSequence() const { return isPaired_ ? 2 : 1; }

  void runBlock(const OpContext& context, int64_t first, T* memory) const {
    const int64_t count = plan_->length() * sequences_;
    const Split<T> x{memory, memory + count};
    fillParts(memory, 2 * count, T{0});
    for (int64_t s = 0; s < sequences_; ++s)
      for (int64_t i = 0; i < perSequence(); ++i) {
        const int64_t index = first + s * perSequence() + i;
        if (index < lines_) read(line(context, index), window(context), i == 1, {x.real + s, x.imaginary + s});
      }
    const Split<T> y = plan_->run(x, memory + 2 * count, sequences_);
    for (int64_t s = 0; s < sequences_; ++s)
      for (int64_t i = 0; i < perSequence(); ++i) {
        const int64_t index = first + s * perSequence() + i;
        if (index < lines_) write({y.real + s, y.imaginary + s}, i == 1, line(context, index));
      }
  }

  void read(const Line<T>& line, const T* factors, bool isSecond, Split<T> x) const {
    if (direction_ == Direction::InverseToReal) return readSpectrum(line, isSecond, x);
    // The inverse transform is the transform with real and imaginary parts swapped.
    if (direction_ == Direction::Inverse || isSecond) std::swap(x.real, x.imaginary);
    WorkCounter work;
    for (int64_t i = 0; i < used_; ++i, work.pass(2)) {
      const T* value = line.from + i * line.fromStep;
      const T factor = factors ? factors[i] : T{1};
      x.real[i * sequences_] = value[0] * factor;
      if (parts_ == 2) x.imaginary[i * sequences_] = value[1] * factor;
    }
  }

  // Half a spectrum of real numbers, the other half mirrors it. Two lines a and b make a + i b; the parts are
  // exchanged for the inverse.
  void readSpectrum(const Line<T>& line, bool isSecond, Split<T> x) const {
    const int64_t n = plan_->length();
    WorkCounter work;
    for (int64_t k = 0; k < used_; ++k, work.pass(4)) {
      const T* value = line.from + k * line.fromStep;
      const bool isReal = k == 0 || 2 * k == n;
      const T real = value[0], imaginary = isReal || parts_ == 1 ? T{0} : value[1];
      const int64_t at = k * sequences_, mirrored = (n - k) * sequences_;
      x.imaginary[at] += isSecond ? -imaginary : real;
      x.real[at] += isSecond ? real : imaginary;
      if (isReal) continue;
      x.imaginary[mirrored] += isSecond ? imaginary : real;
      x.real[mirrored] += isSecond ? real : -imaginary;
    }
  }

  void write(Split<T> y, bool isSecond, const Line<T>& line) const {
    const int64_t n = plan_->length();
    if (direction_ == Direction::Forward && isPaired_) return writePair(y, isSecond, line);
    if (direction_ != Direction::Forward) std::swap(y.real, y.imaginary);
    const T scale = direction_ == Direction::Forward ? T{1} : T{1} / static_cast<T>(n);
    WorkCounter work;
    for (int64_t k = 0; k < results_; ++k, work.pass(2)) {
      T* target = line.to + k * line.toStep;
      const T real = y.real[k * sequences_] * scale, imaginary = y.imaginary[k * sequences_] * scale;
      target[0] = isSecond ? imaginary : real;
      if (resultParts_ == 2) target[1] = imaginary;
    }
  }

  // The spectrum of a real line is the even or the odd part of that of the pair.
  void writePair(Split<T> y, bool isSecond, const Line<T>& line) const {
    const int64_t n = plan_->length();
    constexpr T kHalf = T{0.5};
    WorkCounter work;
    for (int64_t k = 0; k < results_; ++k, work.pass(4)) {
      const int64_t at = k * sequences_, mirrored = (n - k) % n * sequences_;
      T* target = line.to + k * line.toStep;
      const T a = y.real[at], b = y.imaginary[at], c = y.real[mirrored], d = y.imaginary[mirrored];
      target[0] = kHalf * (isSecond ? b + d : a + c);
      target[1] = kHalf * (isSecond ? c - a : b - d);
    }
  }

  Direction direction_;
  int64_t parts_, resultParts_, used_, results_, lines_;
  int64_t lanes_, sequences_ = 1, laneCount_ = 0;
  bool isPaired_;
  std::optional<FourierPlan<T>> plan_;
};

// The axis and length of a DFT.
struct DftShape {
  Direction direction;
  int axis;
  int64_t size, results, length, used, inner, lines;

  explicit DftShape(const OpRequest& request) {
    const MovementCall call(request, nullptr);
    const readers::Transform transform = readers::readTransform(call.read());
    direction = !transform.isInverse   ? Direction::Forward
                : transform.isOneSided ? Direction::InverseToReal
                                       : Direction::Inverse;
    const int rank = call.in().rank();
    axis = transform.axis.value();
    size = call.in()[axis];
    results = call.out()[axis];
    length = transform.length.value().value();
    used = std::min(size, direction == Direction::InverseToReal ? length / 2 + 1 : length);
    inner = call.in().product(axis + 1, rank - 1);
    lines = call.in().product(0, axis) * inner;
    if (results == 0) lines = 0;
  }
};

template <class T>
class DftOp final : public FourierOp<T> {
 public:
  explicit DftOp(const OpRequest& request) : DftOp(request, DftShape(request)) {}

 private:
  DftOp(const OpRequest& request, const DftShape& shape)
      : FourierOp<T>(request, shape.direction, shape.length, shape.used, shape.results, shape.lines),
        shape_(shape),
        parts_(request.inputs[0].shape.back()),
        resultParts_(request.outputs[0].shape.back()) {}

  Line<T> line(const OpContext& context, int64_t index) const override {
    const int64_t outer = index / shape_.inner, inner = index % shape_.inner, step = shape_.inner;
    return {context.in<T>(0) + (outer * shape_.size * step + inner) * parts_, step * parts_,
            context.out<T>() + (outer * shape_.results * step + inner) * resultParts_, step * resultParts_};
  }

  DftShape shape_;
  int64_t parts_, resultParts_;
};

// Signals [batch, time, parts], spectra of frames [batch, frames, bins, 2].
struct StftShape {
  int64_t time, step, length, frames, bins, lines;

  explicit StftShape(const OpRequest& request) {
    const MovementCall call(request, nullptr);
    const readers::Frames read = readers::readFrames(call.read());
    time = call.in()[1];
    step = read.step.value().value();
    length = read.length.value().value();
    frames = call.out()[1];
    bins = call.out()[2];
    lines = call.out()[0] * frames;
  }
};

template <class T>
class StftOp final : public FourierOp<T> {
 public:
  explicit StftOp(const OpRequest& request) : StftOp(request, StftShape(request)) {}

 private:
  StftOp(const OpRequest& request, const StftShape& shape)
      : FourierOp<T>(request, Direction::Forward, shape.length, shape.length, shape.bins, shape.lines),
        shape_(shape),
        parts_(request.inputs[0].shape.product(2, request.inputs[0].shape.rank())),
        hasWindow_(request.has(2)) {}

  Line<T> line(const OpContext& context, int64_t index) const override {
    const int64_t start = index / shape_.frames * shape_.time + index % shape_.frames * shape_.step;
    return {context.in<T>(0) + start * parts_, parts_, context.out<T>() + index * shape_.bins * 2, 2};
  }
  const T* window(const OpContext& context) const override { return hasWindow_ ? context.in<T>(2) : nullptr; }

  StftShape shape_;
  int64_t parts_;
  bool hasWindow_;
};

// Lengths, steps and axes determine shapes, so a plan knows them.
template <DType kDType>
bool accepts(const OpRequest& request) {
  const auto isKnown = [&](size_t i) { return !request.has(i) || request.inputs[i].constant; };
  const bool known = request.node.is("DFT") ? isKnown(1) && isKnown(2) : isKnown(1) && isKnown(3);
  return known && request.inputs[0].dtype == kDType;
}

template <class K>
std::unique_ptr<OpKernel> create(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kDft[] = {{"fourier_f32", accepts<DType::Float32>, create<DftOp<float>>},
                                   {"fourier_f64", accepts<DType::Float64>, create<DftOp<double>>}};
constexpr Implementation kStft[] = {{"fourier_f32", accepts<DType::Float32>, create<StftOp<float>>},
                                    {"fourier_f64", accepts<DType::Float64>, create<StftOp<double>>}};
constexpr OpRow kRows[] = {{"", "DFT", kDft}, {"", "STFT", kStft}};

}  // namespace

std::span<const OpRow> fourierOps() { return kRows; }

}  // namespace max
