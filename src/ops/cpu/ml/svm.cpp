// SPDX-License-Identifier: Apache-2.0
// Support vector machines of ai.onnx.ml: SVMClassifier and SVMRegressor.
#include <algorithm>
#include <cmath>

#include "base/align.h"
#include "base/interrupt_point.h"
#include "ops/cpu/elementwise/ops.h"
#include "ops/cpu/ml/row_product.h"
#include "ops/cpu/ml/scores.h"
#include "ops/families.h"

namespace max {

namespace {

using ml::isPresent;
using ml::Labels;
using ml::PostTransform;
using ml::store;

enum class SvmFunction { Linear, Poly, Rbf, Sigmoid };
constexpr std::string_view kSvmFunctions[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

// The kernel function of a support vector machine, of some rows and all vectors at once. Those of RBF are stored column
// by column.
class SupportVectors final : public Prepared {
 public:
  SupportVectors(const Node& node, size_t count) : count_(static_cast<int64_t>(count)) {
    const std::string name = node.attributes.getString("kernel_type", "LINEAR");
    const auto* found = std::find(std::begin(kSvmFunctions), std::end(kSvmFunctions), name);
    require(found != std::end(kSvmFunctions), MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": attribute 'kernel_type' is '", name, "', not LINEAR, POLY, RBF or SIGMOID");
    function_ = static_cast<SvmFunction>(found - kSvmFunctions);
    const std::span<const float> parameters = ml::floatsOf(node, "kernel_params");
    if (!parameters.empty()) {
      ml::requireCount(node, "kernel_params", parameters.size(), 3);
      gamma_ = parameters[0];
      offset_ = parameters[1];
      degree_ = parameters[2];
    }
    const std::span<const float> vectors = ml::floatsOf(node, "support_vectors");
    require(count > 0 && !vectors.empty() && vectors.size() % count == 0, MAX_STATUS_INVALID_ARGUMENT,
            node.description(), ": attribute 'support_vectors' has ", vectors.size(), " elements for ", count,
            " vectors");
    columns_ = static_cast<int64_t>(vectors.size() / count);
    if (function_ != SvmFunction::Rbf) {
      product_ = ml::RowProduct(vectors, count_);
      return;
    }
    vectors_.resize(vectors.size());
    for (size_t i = 0; i < vectors.size(); ++i)
      vectors_[i % static_cast<size_t>(columns_) * count + i / static_cast<size_t>(columns_)] = vectors[i];
  }

  size_t bytes() const override { return vectors_.size() * sizeof(float) + product_.bytes(); }
  int64_t columns() const { return columns_; }
  bool isLinear() const { return function_ == SvmFunction::Linear; }
  // Products of several rows read the vectors once; distances are found row by row, in a near cache.
  int64_t rowsAtOnce() const { return function_ == SvmFunction::Rbf ? 1 : kMaxTileRows; }

  // out[row, vector]; `work` has as many floats as there are vectors.
  void apply(const float* const* x, int64_t rows, float* out, float* work) const {
    if (function_ != SvmFunction::Rbf) product_.run(x, rows, out);
    for (int64_t row = 0; row < rows; ++row) applyFunction(x[row], out + row * count_, work);
  }

 private:
  // One value, repeated for tiles.
  struct Splat {
    explicit Splat(float value) { splatElement(block, &value, sizeof value); }
    alignas(kSplatBytes) std::byte block[kSplatBytes];
  };

  void tile(ElementOp op, float* out, const float* a, const float* b = nullptr, const float* c = nullptr) const {
    findFloatTileFunction(op)({out, {a, b, c}, {1, 1, 1}, count_, 0, 0});
  }
  void tile(ElementOp op, float* out, const float* a, const Splat& b, const float* c = nullptr) const {
    findFloatTileFunction(op)({out, {a, b.block, c}, {1, 0, 1}, count_, 0, 0});
  }
  void scale(float* out, float factor, float offset) const {
    findFloatTileFunction(ElementOp::Scale)({out, {out, nullptr, nullptr}, {1, 0, 0}, count_, factor, offset});
  }

  void applyFunction(const float* x, float* out, float* work) const {
    if (function_ == SvmFunction::Linear) return;
    passWork(4 * count_);
    if (function_ == SvmFunction::Rbf) {
      addSquares(x, out, work);
      scale(out, -gamma_, 0);
      return tile(ElementOp::Exp, out, out);
    }
    scale(out, gamma_, offset_);
    if (function_ == SvmFunction::Poly) return power(out, work);
    tile(ElementOp::Tanh, out, out);
  }

  // Of the distances.
  void addSquares(const float* x, float* out, float* work) const {
    std::fill_n(out, count_, 0.0f);
    WorkCounter steps;
    for (int64_t k = 0; k < columns_; ++k, steps.pass(64 + count_)) {
      tile(ElementOp::Sub, work, vectors_.data() + k * count_, Splat(x[k]));
      tile(ElementOp::MulAdd, out, work, work, out);
    }
  }

  // Small integer powers are products.
  void power(float* out, float* work) const {
    constexpr int kMostProducts = 8;
    const bool isSmallInteger = degree_ >= 1 && degree_ <= kMostProducts && degree_ == std::floor(degree_);
    if (!isSmallInteger) return tile(ElementOp::Pow, out, out, Splat(degree_));
    const int degree = static_cast<int>(degree_);
    if (degree == 2) tile(ElementOp::Mul, out, out, out);
    if (degree <= 2) return;
    tile(ElementOp::Mul, work, out, out);
    for (int i = 3; i < degree; ++i) tile(ElementOp::Mul, work, work, out);
    tile(ElementOp::Mul, out, work, out);
  }

  SvmFunction function_;
  int64_t columns_, count_;
  float gamma_ = 0, offset_ = 0, degree_ = 0;
  std::vector<float> vectors_;
  ml::RowProduct product_;  // of other functions
};

Ref<Prepared> prepareSvm(const Node& node, std::span<const Tensor* const>) {
  const size_t count = ml::SvmReader(node).supports;
  return count > 0 ? Ref<Prepared>(makeRef<SupportVectors>(node, count)) : nullptr;
}

Ref<const SupportVectors> vectorsOf(const OpRequest& request, size_t count, int64_t columns) {
  if (count == 0) return nullptr;
  Ref<const SupportVectors> vectors(static_cast<const SupportVectors*>(request.node.prepared.get()));
  if (!vectors) vectors = makeRef<SupportVectors>(request.node, count);
  require(vectors->columns() == columns, MAX_STATUS_INVALID_ARGUMENT, request.node.description(),
          ": the support vectors have ", vectors->columns(), " features, the input of shape ", request.inputs[0].shape,
          " has ", columns);
  return vectors;
}

// Runs a model row by row, on several lanes, after the kernel function of some rows at once.
class SvmOp : public OpKernel {
 public:
  SvmOp(const OpRequest& request, const ml::SvmReader& reader)
      : supports_(reader.supports),
        rows_(request),
        vectors_(vectorsOf(request, supports_, rows_.columns)),
        rowsAtOnce_(vectors_ ? vectors_->rowsAtOnce() : kMaxTileRows),
        lanes_(std::max(request.lanes, 1)) {
    reader.requireFeatures(request.node, rows_.columns);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * laneBytes(); }

  void run(const OpContext& context) const override {
    constexpr int64_t kOperationsPerTask = 16384;
    const int64_t operations = static_cast<int64_t>(supports_ + classes()) * (rows_.columns + 8) / 4;
    const int64_t grain = std::max<int64_t>(kMaxTileRows, kOperationsPerTask / std::max<int64_t>(operations, 1));
    begin();
    context.parallelFor(rows_.count, grain, [&](int64_t first, int64_t last, int lane) {
      std::byte* scratch = context.scratch + static_cast<size_t>(lane) * laneBytes();
      for (int64_t row = first; row < last; row += rowsAtOnce_)
        runRows(context, row, std::min(rowsAtOnce_, last - row), scratch);
    });
  }

 protected:
  // Before the rows, in the thread of the run.
  virtual void begin() const {}
  // `terms` of each row are those of the support vectors, row behind row, or the features; `work` holds workCount()
  // doubles.
  virtual void finishRows(const OpContext& context, int64_t row, std::span<const float* const> terms,
                          double* work) const = 0;
  virtual size_t workCount() const = 0;
  virtual size_t classes() const { return 1; }
  int64_t columns() const { return rows_.columns; }
  const SupportVectors* vectors() const { return vectors_.get(); }
  // Terms are the features then.
  void dropVectors() { vectors_ = nullptr; }

  const size_t supports_;

 private:
  size_t termFloats() const { return alignUp(supports_ * static_cast<size_t>(rowsAtOnce_), 16); }
  size_t featureFloats() const { return rows_.bufferFloats(rowsAtOnce_); }
  size_t laneBytes() const {
    const size_t floats = termFloats() + alignUp(supports_, 16) + alignUp(featureFloats(), 16);
    return alignUp(floats * sizeof(float) + workCount() * sizeof(double));
  }

  void runRows(const OpContext& context, int64_t row, int64_t count, std::byte* scratch) const {
    float* terms = reinterpret_cast<float*>(scratch);
    float* own = terms + termFloats();
    float* buffer = own + alignUp(supports_, 16);
    double* work = reinterpret_cast<double*>(buffer + alignUp(featureFloats(), 16));
    const float* x[kMaxTileRows];
    for (int64_t i = 0; i < count; ++i) x[i] = rows_.at<float>(context.inputs[0], row + i, buffer + i * rows_.columns);
    if (vectors_) {
      vectors_->apply(x, count, terms, own);
      for (int64_t i = 0; i < count; ++i) x[i] = terms + static_cast<size_t>(i) * supports_;
    }
    finishRows(context, row, {x, static_cast<size_t>(count)}, work);
    passWork(count * (static_cast<int64_t>(supports_ + classes()) + rows_.columns));
  }

  ml::Rows rows_;
  Ref<const SupportVectors> vectors_;
  int64_t rowsAtOnce_;
  int lanes_;
};

class SvmRegressorOp final : public SvmOp {
 public:
  explicit SvmRegressorOp(const OpRequest& request) : SvmRegressorOp(request, ml::SvmReader(request.node)) {}

 private:
  SvmRegressorOp(const OpRequest& request, const ml::SvmReader& reader)
      : SvmOp(request, reader),
        coefficients_(reader.coefficients),
        transform_(ml::postTransformOf(request.node)),
        isOneClass_(request.node.attributes.getInt("one_class", 0) != 0),
        rho_(reader.rho[0]) {
    if (vectors() && vectors()->isLinear()) addUpVectors(ml::floatsOf(request.node, "support_vectors"));
    sum_ = ml::RowProduct(weights_.empty() ? coefficients_ : weights_, 1);
  }

  // Products with all vectors, added up, are one with their sum.
  void addUpVectors(std::span<const float> vectors) {
    const auto features = static_cast<size_t>(columns());
    WorkVector<double> sums(features, 0.0);
    WorkCounter work;
    for (size_t i = 0; i < vectors.size(); ++i, work.pass())
      sums[i % features] += static_cast<double>(vectors[i]) * coefficients_[i / features];
    weights_.resize(features);
    ml::store(weights_.data(), sums);
    dropVectors();
  }

  size_t workCount() const override { return 1; }

  // Without support vectors the model is linear, whatever its kernel type.
  void finishRows(const OpContext& context, int64_t row, std::span<const float* const> terms, double*) const override {
    float sums[kMaxTileRows];
    const auto count = static_cast<int64_t>(terms.size());
    sum_.run(terms.data(), count, sums);
    for (int64_t i = 0; i < count; ++i) {
      double score = rho_ + static_cast<double>(sums[i]);
      if (isOneClass_)
        score = score > 0 ? 1 : -1;
      else
        ml::transformScores(transform_, {&score, 1});
      context.out<float>()[row + i] = static_cast<float>(score);
    }
  }

  std::span<const float> coefficients_;
  std::vector<float> weights_;
  ml::RowProduct sum_;  // of terms, with coefficients or weights
  PostTransform transform_;
  bool isOneClass_;
  double rho_;
};

// Probabilities of k classes from those of all pairs, by the second method of Wu, Lin and Weng (2004).
// `pairs`, `q`: k * k numbers; `qp`, `p`: k numbers.
void coupleProbabilities(size_t k, const double* pairs, double* q, double* qp, double* p) {
  for (size_t t = 0; t < k; ++t) {
    p[t] = 1.0 / static_cast<double>(k);
    q[t * k + t] = 0;
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += pairs[j * k + t] * pairs[j * k + t];
      q[t * k + j] = j < t ? q[j * k + t] : -pairs[j * k + t] * pairs[t * k + j];
    }
  }
  const double tolerance = 0.005 / static_cast<double>(k);
  const auto size = static_cast<int64_t>(k);
  WorkCounter work;
  for (size_t step = 0; step < std::max<size_t>(100, k); ++step) {
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
      work.pass(8 * size);
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (size_t t = 0; t < k; ++t) error = std::max(error, std::fabs(qp[t] - pqp));
    if (!(error >= tolerance)) return;
    for (size_t t = 0; t < k; ++t) {
      const double difference = (pqp - qp[t]) / q[t * k + t];
      p[t] += difference;
      pqp = (pqp + difference * (difference * q[t * k + t] + 2 * qp[t])) / ((1 + difference) * (1 + difference));
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + difference * q[t * k + j]) / (1 + difference);
        p[j] /= 1 + difference;
      }
    }
  }
}

class SvmClassifierOp final : public SvmOp {
 public:
  explicit SvmClassifierOp(const OpRequest& request) : SvmClassifierOp(request, ml::SvmReader(request.node)) {}

 private:
  SvmClassifierOp(const OpRequest& request, const ml::SvmReader& reader)
      : SvmOp(request, reader),
        labels_(reader.labels),
        classes_(reader.classes),
        coefficients_(reader.coefficients),
        rho_(reader.rho),
        probA_(reader.probA),
        probB_(reader.probB),
        transform_(ml::postTransformOf(request.node)),
        hasLabels_(isPresent(request, 0)),
        hasScores_(isPresent(request, 1)),
        hasProbabilities_(reader.hasProbabilities),
        pairs_(reader.pairs) {
    findClasses(request.node);
  }

  // Where the vectors of each class begin.
  void findClasses(const Node& node) {
    begins_.push_back(0);
    for (int64_t count : ml::integersOf(node, "vectors_per_class"))
      begins_.push_back(begins_.back() + static_cast<size_t>(count));
  }

  // Scores of pairs, votes, sums of pairs, and what the probabilities need.
  size_t workCount() const override {
    return supports_ == 0 ? classes_ : 2 * pairs_ + classes_ * (2 * classes_ + 4) + 2;
  }
  size_t classes() const override { return classes_; }

  void finishRows(const OpContext& context, int64_t row, std::span<const float* const> terms,
                  double* work) const override {
    for (size_t i = 0; i < terms.size(); ++i) runRow(context, row + static_cast<int64_t>(i), terms[i], work);
  }

  void runRow(const OpContext& context, int64_t row, const float* terms, double* work) const {
    if (supports_ > 0) return runVectors(context, row, terms, work);
    const std::span<double> scores(work, classes_);
    for (size_t j = 0; j < classes_; ++j, passWork(2 * columns())) {
      scores[j] = rho_[0];
      const float* weights = coefficients_.data() + j * static_cast<size_t>(columns());
      for (int64_t k = 0; k < columns(); ++k) scores[j] += static_cast<double>(weights[k]) * terms[k];
    }
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(scores)));
    writeScores(context, row, scores);
  }

  void runVectors(const OpContext& context, int64_t row, const float* terms, double* work) const {
    const std::span<double> scores(work, pairs_), votes(work + pairs_, classes_);
    float* sums = reinterpret_cast<float*>(votes.data() + classes_);
    double* rest = votes.data() + classes_ + pairs_;
    decide(terms, sums, scores, votes);
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(votes)));
    if (!hasScores_) return;
    if (hasProbabilities_) return writeScores(context, row, probabilities(scores, rest));
    if (classes_ != 2) return writeScores(context, row, scores);
    ml::transformPair(transform_, false, scores[0], std::span<double, 2>(rest, 2));
    store(context.out<float>(1) + row * 2, {rest, 2});
  }

  // Every pair of classes has a decision function and gives a vote. `sums`: of each class's vectors, one for each
  // other class.
  void decide(const float* terms, float* sums, std::span<double> scores, std::span<double> votes) const {
    const size_t others = classes_ - 1;
    for (size_t i = 0; i < classes_; ++i, passWork(64)) {
      const auto count = static_cast<int64_t>(begins_[i + 1] - begins_[i]);
      dot_(terms + begins_[i], coefficients_.data() + begins_[i], static_cast<int64_t>(supports_), count,
           static_cast<int64_t>(others), sums + i * others);
    }
    std::fill(votes.begin(), votes.end(), 0.0);
    size_t pair = 0;
    WorkCounter work;
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = i + 1; j < classes_; ++j, ++pair, work.pass(8)) {
        scores[pair] = rho_[pair] + static_cast<double>(sums[i * others + j - 1]) + sums[j * others + i];
        ++votes[scores[pair] > 0 ? i : j];
      }
  }

  std::span<double> probabilities(std::span<const double> scores, double* work) const {
    const size_t k = classes_;
    double* pairs = work;
    size_t pair = 0;
    for (size_t i = 0; i < k; ++i)
      for (size_t j = i + 1; j < k; ++j, ++pair) {
        const double margin = scores[pair] * probA_[pair] + probB_[pair];
        const double p = std::clamp(1 / (1 + std::exp(margin)), 1e-7, 1 - 1e-7);
        pairs[i * k + j] = p;
        pairs[j * k + i] = 1 - p;
      }
    double* q = pairs + k * k;
    coupleProbabilities(k, pairs, q, q + k * k, q + k * k + k);
    return {q + k * k + k, k};
  }

  void begin() const override {
    if (hasLabels_) labels_.keep();
  }

  void writeLabel(const OpContext& context, int64_t row, int64_t index) const {
    if (hasLabels_) labels_.write(context.outputs[0], row, index);
  }

  void writeScores(const OpContext& context, int64_t row, std::span<double> scores) const {
    if (!hasScores_) return;
    ml::transformScores(transform_, scores);
    store(context.out<float>(1) + static_cast<size_t>(row) * scores.size(), scores);
  }

  Labels labels_;
  size_t classes_;
  std::span<const float> coefficients_, rho_, probA_, probB_;
  PostTransform transform_;
  bool hasLabels_, hasScores_, hasProbabilities_;
  size_t pairs_;
  std::vector<size_t> begins_;
  decltype(GemmTable::dot) dot_ = gemmTable().dot;
};

template <class K>
std::unique_ptr<OpKernel> make(const OpRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kRegressor[] = {{"rows", nullptr, make<SvmRegressorOp>}};
constexpr Implementation kClassifier[] = {{"rows", nullptr, make<SvmClassifierOp>}};

const OpRow kRows[] = {
    {"ai.onnx.ml", "SVMClassifier", kClassifier, prepareSvm},
    {"ai.onnx.ml", "SVMRegressor", kRegressor, prepareSvm},
};

}  // namespace

std::span<const OpRow> mlSvmOps() { return kRows; }

}  // namespace max
