// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor of ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "ops/cpu/grain.h"
#include "ops/cpu/matrix/gemm.h"
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
        coefficients_(reader.coefficients),
        intercepts_(reader.intercepts),
        transform_(ml::postTransformOf(request.node)),
        isPair_(reader.isPair),
        hasLabels_(reader.isClassifier && isPresent(request, 0)),
        lanes_(std::max(request.lanes, 1)),
        scoresOutput_(reader.isClassifier ? 1 : 0),
        labels_(reader.labels),
        scores_(reader.scores) {
    hasScores_ = isPresent(request, scoresOutput_);
    reader.requireFeatures(request.node, rows_.columns);
  }

  // A row of scores in float64, one row converted to float32, and scores that are not written at once.
  size_t laneFloats() const {
    return alignUp(static_cast<size_t>(rows_.columns) + static_cast<size_t>(kBlock + 2) * scores_, 16);
  }

  void runRows(const OpContext& context, int64_t begin, int64_t count, float* scratch) const {
    const auto columns = static_cast<int64_t>(scores_);
    const bool isDirect = hasScores_ && !isPair_;
    double* work = reinterpret_cast<double*>(scratch);
    scratch += 2 * columns;
    float* scores = isDirect ? context.out<float>(scoresOutput_) + begin * columns : scratch + rows_.columns;
    const auto dot = gemmTable().dot;
    for (int64_t i = 0; i < count; ++i) {
      const float* x = rows_.at<float>(context.inputs[0], begin + i, scratch);
      float* row = scores + i * columns;
      dot(x, coefficients_.data(), rows_.columns, rows_.columns, columns, row);
      for (size_t k = 0; k < intercepts_.size(); ++k) row[k] += intercepts_[k];
      if (hasLabels_) labels_.write(context.outputs[0], begin + i, labelOf(row));
      passWork(rows_.columns + 4 * columns);
    }
    if (isDirect) return transformRows(transform_, scores, count, columns, work);
    if (!hasScores_) return;
    for (int64_t i = 0; i < count; ++i) {
      double pair[2];
      ml::transformPair(transform_, true, scores[i], pair);
      store(context.out<float>(scoresOutput_) + (begin + i) * 2, pair);
    }
  }

  int64_t labelOf(const float* row) const {
    if (scores_ == 1) return row[0] > 0;
    int64_t best = 0;
    for (int64_t k = 1; k < static_cast<int64_t>(scores_); ++k)
      if (row[k] > row[best]) best = k;
    return best;
  }

  ml::Rows rows_;
  std::span<const float> coefficients_, intercepts_;
  PostTransform transform_;
  bool isPair_, hasLabels_, hasScores_ = false;
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
    {"ai.onnx.ml", "LinearClassifier", kLinear},
    {"ai.onnx.ml", "LinearRegressor", kLinear},
};

}  // namespace

std::span<const OpRow> mlLinearOps() { return kRows; }

}  // namespace max
