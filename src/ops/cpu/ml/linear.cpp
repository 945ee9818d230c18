// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor of ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/ml/row_product.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"

namespace max {

namespace {

using ml::isPresent;
using ml::Labels;
using ml::PostTransform;
using ml::store;

// Scores of many rows of float32 at once; `work` holds one row.
void transformRows(PostTransform transform, float* scores, int64_t rows, int64_t columns, double* work) {
  const int64_t count = rows * columns;
  const auto apply = [&](ElementOp op) {
    inParts(count, 4, [&](int64_t begin, int64_t end) {
      float* part = scores + begin;
      findFloatTileFunction(op)({part, {part, nullptr, nullptr}, {1, 0, 0}, end - begin, 0, 0});
    });
  };
  if (transform == PostTransform::None) return;
  if (transform == PostTransform::Logistic) return apply(ElementOp::Sigmoid);
  if (transform == PostTransform::Softmax) {
    for (float* row = scores; row < scores + count; row += columns, passWork(4 * columns)) {
      const float largest = *std::max_element(row, row + columns);
      for (int64_t k = 0; k < columns; ++k) row[k] -= largest;
    }
    apply(ElementOp::Exp);
    for (float* row = scores; row < scores + count; row += columns) {
      const float sum = std::accumulate(row, row + columns, 0.0f);
      for (int64_t k = 0; k < columns; ++k) row[k] /= sum;
    }
    return;
  }
  const std::span<double> wide(work, static_cast<size_t>(columns));
  for (float* row = scores; row < scores + count; row += columns) {
    std::copy_n(row, columns, work);
    ml::transformScores(transform, wide);
    store(row, wide);
  }
}

class Coefficients final : public Prepared {
 public:
  explicit Coefficients(const ml::LinearReader& reader)
      : product(reader.coefficients, static_cast<int64_t>(reader.scores)) {}
  size_t bytes() const override { return product.bytes(); }

  const ml::RowProduct product;
};

Ref<Prepared> prepareLinear(const Node& node, std::span<const Tensor* const>) {
  return makeRef<Coefficients>(ml::LinearReader(node));
}

// scores[i] = intercepts[i] + coefficients[i] * x
class LinearOp final : public OpKernel {
 public:
  explicit LinearOp(const OpRequest& request) : LinearOp(request, ml::LinearReader(request.node)) {}

  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * laneFloats() * sizeof(float); }

  void run(const OpContext& context) const override {
    if (hasLabels_) labels_.keep();
    const int64_t grain = grainOf(kOperationsPerTask, {static_cast<int64_t>(scores_), rows_.columns + 16});
    context.parallelFor(rows_.count, grain, [&](int64_t begin, int64_t end, int lane) {
      float* scratch = reinterpret_cast<float*>(context.scratch) + static_cast<size_t>(lane) * laneFloats();
      for (int64_t row = begin; row < end; row += kBlock) runRows(context, row, std::min(kBlock, end - row), scratch);
    });
  }

 private:
  static constexpr int64_t kBlock = 64;
  static constexpr int64_t kOperationsPerTask = 32768;

  LinearOp(const OpRequest& request, const ml::LinearReader& reader)
      : rows_(request),
        coefficients_(static_cast<const Coefficients*>(request.node.prepared.get())),
        intercepts_(reader.intercepts),
        transform_(ml::postTransformOf(request.node)),
        isPair_(reader.isPair),
        hasLabels_(reader.isClassifier && isPresent(request, 0)),
        rowsAtOnce_(rows_.dtype == DType::Float32 ? kBlock : kMaxTileRows),
        lanes_(std::max(request.lanes, 1)),
        scoresOutput_(reader.isClassifier ? 1 : 0),
        labels_(reader.labels),
        scores_(reader.scores) {
    hasScores_ = isPresent(request, scoresOutput_);
    reader.requireFeatures(request.node, rows_.columns);
    if (!coefficients_) coefficients_ = makeRef<Coefficients>(reader);
  }

  // Rows converted to float32.
  size_t featureFloats() const { return rows_.bufferFloats(rowsAtOnce_); }
  // With a row of scores in float64, and scores that are not written at once.
  size_t laneFloats() const { return alignUp(featureFloats() + static_cast<size_t>(kBlock + 2) * scores_, 16); }

  void runRows(const OpContext& context, int64_t begin, int64_t count, float* scratch) const {
    const auto columns = static_cast<int64_t>(scores_);
    const bool isDirect = hasScores_ && !isPair_;
    double* work = reinterpret_cast<double*>(scratch);
    scratch += 2 * columns;
    float* scores = isDirect ? context.out<float>(scoresOutput_) + begin * columns : scratch + featureFloats();
    for (int64_t i = 0; i < count; i += rowsAtOnce_)
      multiply(context, begin + i, std::min(rowsAtOnce_, count - i), scratch, scores + i * columns);
    if (hasLabels_)
      for (int64_t i = 0; i < count; ++i) labels_.write(context.outputs[0], begin + i, labelOf(scores + i * columns));
    if (isDirect) return transformRows(transform_, scores, count, columns, work);
    if (!hasScores_) return;
    for (int64_t i = 0; i < count; ++i) {
      double pair[2];
      ml::transformPair(transform_, true, scores[i], pair);
      store(context.out<float>(scoresOutput_) + (begin + i) * 2, pair);
    }
  }

  void multiply(const OpContext& context, int64_t begin, int64_t count, float* buffer, float* scores) const {
    const float* x[kBlock];
    int64_t some = 0;
    do x[some] = rows_.at<float>(context.inputs[0], begin + some, buffer + some * rows_.columns);
    while (++some < count);
    coefficients_->product.run(x, count, scores);
    const auto columns = static_cast<int64_t>(scores_);
    for (int64_t i = 0; i < count && !intercepts_.empty(); ++i)
      for (int64_t k = 0; k < columns; ++k) scores[i * columns + k] += intercepts_[static_cast<size_t>(k)];
    passWork(count * (rows_.columns + 4 * columns));
  }

  int64_t labelOf(const float* row) const {
    if (scores_ == 1) return row[0] > 0;
    int64_t best = 0;
    for (int64_t k = 1; k < static_cast<int64_t>(scores_); ++k)
      if (row[k] > row[best]) best = k;
    return best;
  }

  ml::Rows rows_;
  Ref<const Coefficients> coefficients_;
  std::span<const float> intercepts_;
  PostTransform transform_;
  bool isPair_, hasLabels_, hasScores_ = false;
  int64_t rowsAtOnce_;
  int lanes_;
  size_t scoresOutput_;
  Labels labels_;
  size_t scores_;
};

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kLinear[] = {{"rows", nullptr, make<LinearOp>}};

const OpRow kRows[] = {
    {"ai.onnx.ml", "LinearClassifier", kLinear, prepareLinear},
    {"ai.onnx.ml", "LinearRegressor", kLinear, prepareLinear},
};

}  // namespace

std::span<const OpRow> mlLinearOps() { return kRows; }

}  // namespace max
