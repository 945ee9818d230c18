// SPDX-License-Identifier: Apache-2.0
// RandomNormal, RandomUniform, their Like forms, Bernoulli, Multinomial and Dropout.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/interrupt_point.h"
#include "base/number_access.h"
#include "graph/readers/generator.h"
#include "ops/cpu/generator/random.h"
#include "ops/families.h"

namespace max {

namespace {

using Pair = std::array<double, 2> (RandomSequence::*)(uint64_t index) const;

// Calls body(begin, count, numbers) for tiles of a stream of numbers; number i does not depend on the tiles.
template <Pair pair, class Body>
void forTiles(const OpContext& context, const RandomSequence& sequence, int64_t count, Body body) {
  context.parallelFor((count + kNumberTile - 1) / kNumberTile, 4, [&](int64_t begin, int64_t end, int) {
    double numbers[kNumberTile];
    for (int64_t i = begin * kNumberTile; i < std::min(count, end * kNumberTile); i += kNumberTile) {
      const int64_t part = std::min(kNumberTile, count - i);
      for (int64_t k = 0; k < part; k += 2) {
        const std::array<double, 2> two = (sequence.*pair)(static_cast<uint64_t>(i + k) / 2);
        numbers[k] = two[0];
        numbers[k + 1] = two[1];  // tiles are even
      }
      body(i, part, numbers);
    }
  });
}

// Numbers of a distribution, scaled and shifted.
template <Pair pair>
class DrawOp final : public OpKernel {
 public:
  explicit DrawOp(const OpRequest& request)
      : source_(request.node.attributes),
        dtype_(request.outputs[0].dtype),
        count_(request.outputs[0].shape.count()),
        distribution_(pair == &RandomSequence::normals ? readers::readNormal(request.node.attributes)
                                                       : readers::readUniform(request.node.attributes)) {}

  void run(const OpContext& context) const override {
    forTiles<pair>(context, source_.sequence(), count_, [&](int64_t begin, int64_t count, double* numbers) {
      for (int64_t k = 0; k < count; ++k) numbers[k] = distribution_.offset + numbers[k] * distribution_.scale;
      storeNumbers(dtype_, context.outputs[0], begin, count, numbers);
    });
  }

 private:
  RandomSource source_;
  DType dtype_;
  int64_t count_;
  readers::Distribution distribution_;
};

// 1 where a number in [0, 1) is below the probability; never for NaN.
class BernoulliOp final : public OpKernel {
 public:
  explicit BernoulliOp(const OpRequest& request)
      : source_(request.node.attributes),
        from_(request.inputs[0].dtype),
        to_(request.outputs[0].dtype),
        count_(request.outputs[0].shape.count()) {}

  void run(const OpContext& context) const override {
    const auto draw = [&](int64_t begin, int64_t count, double* numbers) {
      double probabilities[kNumberTile];
      loadNumbers(from_, context.inputs[0], begin, count, probabilities);
      for (int64_t k = 0; k < count; ++k) numbers[k] = numbers[k] < probabilities[k] ? 1 : 0;
      storeNumbers(to_, context.outputs[0], begin, count, numbers);
    };
    forTiles<&RandomSequence::uniforms>(context, source_.sequence(), count_, draw);
  }

 private:
  RandomSource source_;
  DType from_, to_;
  int64_t count_;
};

// Draws classes with probabilities in proportion to exp(input). A class whose input is NaN is never drawn.
class MultinomialOp final : public OpKernel {
 public:
  explicit MultinomialOp(const OpRequest& request)
      : source_(request.node.attributes),
        from_(request.inputs[0].dtype),
        to_(request.outputs[0].dtype),
        batch_(request.inputs[0].shape[0]),
        classes_(request.inputs[0].shape[1]),
        samples_(request.outputs[0].shape[1]) {}
  size_t scratchBytes() const override { return static_cast<size_t>(classes_) * sizeof(double); }

  void run(const OpContext& context) const override {
    const RandomSequence sequence = source_.sequence();
    auto* sums = reinterpret_cast<double*>(context.scratch);
    WorkCounter work;
    for (int64_t row = 0; row < batch_; ++row) {
      loadNumbers(from_, context.inputs[0], row * classes_, classes_, sums);
      accumulate(sums);
      for (int64_t i = 0; i < samples_; ++i, work.pass(64)) {
        const int64_t position = row * samples_ + i;
        const double number = sequence.uniforms(static_cast<uint64_t>(position))[0] * sums[classes_ - 1];
        const double* chosen = std::upper_bound(sums, sums + classes_ - 1, number);
        const auto index = static_cast<int64_t>(chosen - sums);
        storeNumbers(to_, context.outputs[0], position, 1, &index);
      }
    }
  }

 private:
  // Converts logarithms to running sums of their exponentials.
  void accumulate(double* logits) const {
    double largest = -HUGE_VAL, sum = 0;
    WorkCounter work;
    for (int64_t i = 0; i < classes_; ++i, work.pass()) largest = std::max(largest, logits[i]);
    for (int64_t i = 0; i < classes_; ++i, work.pass(8)) {
      const double weight = logits[i] == largest ? 1 : std::exp(logits[i] - largest);
      sum += weight > 0 ? weight : 0;
      logits[i] = sum;
    }
  }

  RandomSource source_;
  DType from_, to_;
  int64_t batch_, classes_, samples_;
};

// While training, elements are dropped with probability `ratio` and the others scaled up; else all stay.
class DropoutOp final : public OpKernel {
 public:
  explicit DropoutOp(const OpRequest& request)
      : node_(request.node),
        source_(request.node.attributes),
        dtype_(request.inputs[0].dtype),
        count_(request.inputs[0].shape.count()),
        ratioType_(request.has(1) ? request.inputs[1].dtype : DType::Invalid),
        hasTraining_(request.has(2)),
        hasMask_(request.outputs.size() > 1 && request.outputs[1].present()),
        hasOutput_(request.outputs[0].present()) {}
  static bool accepts(const OpRequest& request) { return isNumeric(request.inputs[0].dtype); }
  int inPlaceInput() const override { return 0; }

  void run(const OpContext& context) const override {
    const double ratio = hasTraining_ && *context.in<uint8_t>(2) ? ratioOf(context) : 0;
    if (ratio > 0) return drop(context, ratio);
    const size_t bytes = bytesFor(dtype_, count_);
    if (hasOutput_ && bytes > 0 && context.outputs[0] != context.inputs[0])
      copyBytes(context.outputs[0], context.inputs[0], bytes);
    if (hasMask_) fillParts(context.out<uint8_t>(1), count_, uint8_t{1});
  }

 private:
  double ratioOf(const OpContext& context) const {
    double ratio = 0.5;
    if (ratioType_ != DType::Invalid) loadNumbers(ratioType_, context.inputs[1], 0, 1, &ratio);
    require(ratio >= 0 && ratio < 1, MAX_STATUS_INVALID_ARGUMENT, node_.description(), ": ratio is ", ratio,
            ", not in [0, 1)");
    return ratio;
  }

  void drop(const OpContext& context, double ratio) const {
    const double scale = 1 / (1 - ratio);
    const auto work = [&](int64_t begin, int64_t count, const double* numbers) {
      double values[kNumberTile];
      uint8_t mask[kNumberTile];
      for (int64_t k = 0; k < count; ++k) mask[k] = numbers[k] >= ratio;
      if (hasMask_) std::memcpy(context.out<uint8_t>(1) + begin, mask, static_cast<size_t>(count));
      if (!hasOutput_) return;
      loadNumbers(dtype_, context.inputs[0], begin, count, values);
      for (int64_t k = 0; k < count; ++k) values[k] = mask[k] ? values[k] * scale : 0;
      storeNumbers(dtype_, context.outputs[0], begin, count, values);
    };
    forTiles<&RandomSequence::uniforms>(context, source_.sequence(), count_, work);
  }

  const Node& node_;
  RandomSource source_;
  DType dtype_;
  int64_t count_;
  DType ratioType_;
  bool hasTraining_, hasMask_, hasOutput_;
};

template <class K, bool (*Accepts)(const OpRequest&) = nullptr>
inline constexpr Implementation kRandom[] = {
    {"random", Accepts,
     [](const OpRequest& request) -> std::unique_ptr<OpKernel> { return std::make_unique<K>(request); }}};

const OpRow kRows[] = {
    {"", "RandomNormal", kRandom<DrawOp<&RandomSequence::normals>>},
    {"", "RandomNormalLike", kRandom<DrawOp<&RandomSequence::normals>>},
    {"", "RandomUniform", kRandom<DrawOp<&RandomSequence::uniforms>>},
    {"", "RandomUniformLike", kRandom<DrawOp<&RandomSequence::uniforms>>},
    {"", "Bernoulli", kRandom<BernoulliOp>},
    {"", "Multinomial", kRandom<MultinomialOp>},
    {"", "Dropout", kRandom<DropoutOp, DropoutOp::accepts>},
};

}  // namespace

std::span<const OpRow> randomOps() { return kRows; }

}  // namespace max
