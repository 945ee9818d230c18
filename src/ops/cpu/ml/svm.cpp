// SPDX-License-Identifier: Apache-2.0
// Support vector machines of ai.onnx.ml: SVMClassifier and SVMRegressor.
#include <algorithm>
#include <cmath>

#include "base/interrupt_point.h"
#include "ops/cpu/matrix/gemm.h"
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

// The kernel function of a support vector machine, of one row and all vectors at once, which are stored column by
// column.
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
    vectors_.resize(vectors.size());
    for (size_t i = 0; i < vectors.size(); ++i)
      vectors_[i % static_cast<size_t>(columns_) * count + i / static_cast<size_t>(columns_)] = vectors[i];
  }

  size_t bytes() const override { return vectors_.size() * sizeof(float); }
  int64_t columns() const { return columns_; }
  int64_t count() const { return count_; }
  // Floats that apply() needs besides its result.
  size_t workCount() const { return static_cast<size_t>(count_); }

  void apply(const float* x, float* out, float* work) const {
    std::fill_n(out, count_, 0.0f);
    WorkCounter steps;
    for (int64_t k = 0; k < columns_; ++k, steps.pass(64 + count_)) {
      const float* column = vectors_.data() + k * count_;
      if (function_ == SvmFunction::Rbf) {
        tile(ElementOp::Sub, work, column, Splat(x[k]));
        tile(ElementOp::MulAdd, out, work, work, out);
      } else {
        tile(ElementOp::MulAdd, out, column, Splat(x[k]), out);
      }
    }
    if (function_ == SvmFunction::Linear) return;
    if (function_ == SvmFunction::Rbf)
      scale(out, -gamma_, 0);
    else
      scale(out, gamma_, offset_);
    if (function_ == SvmFunction::Poly) return power(out, work);
    tile(function_ == SvmFunction::Rbf ? ElementOp::Exp : ElementOp::Tanh, out, out);
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

  // Small integer powers are products.
  void power(float* out, float* work) const {
    constexpr int kMostProducts = 8;
    const int degree = degree_ >= 1 && degree_ <= kMostProducts ? static_cast<int>(degree_) : 0;
    if (static_cast<float>(degree) != degree_) return tile(ElementOp::Pow, out, out, Splat(degree_));
    std::copy_n(out, count_, work);
    for (int i = 1; i < degree; ++i) tile(ElementOp::Mul, out, out, work);
  }

  SvmFunction function_;
  int64_t columns_, count_;
  float gamma_ = 0, offset_ = 0, degree_ = 0;
  std::vector<float> vectors_;
};

float dot(const float* a, const float* b, size_t count) {
  float sum = 0;
  const auto size = static_cast<int64_t>(count);
  gemmTable().dot(a, b, size, size, 1, &sum);
  return sum;
}

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

class SvmRegressorOp final : public ml::RowOp {
 public:
  explicit SvmRegressorOp(const OpRequest& request) : SvmRegressorOp(request, ml::SvmReader(request.node)) {}

 private:
  SvmRegressorOp(const OpRequest& request, const ml::SvmReader& reader)
      : RowOp(request),
        supports_(reader.supports),
        vectors_(vectorsOf(request, supports_, rows().columns)),
        coefficients_(reader.coefficients),
        transform_(ml::postTransformOf(request.node)),
        isOneClass_(request.node.attributes.getInt("one_class", 0) != 0),
        rho_(reader.rho[0]) {
    reader.requireFeatures(request.node, rows().columns);
  }

  size_t workCount() const override { return supports_ + 1; }
  int64_t operations() const override { return static_cast<int64_t>(supports_ + 1) * (rows().columns + 8) / 4; }

  // Without support vectors the model is linear, whatever its kernel type.
  void runRow(const OpContext& context, int64_t row, const float* x, double* work) const override {
    const float* terms = x;
    if (vectors_) {
      float* values = reinterpret_cast<float*>(work);
      vectors_->apply(x, values, values + supports_);
      terms = values;
    }
    double score = rho_ + static_cast<double>(dot(terms, coefficients_.data(), coefficients_.size()));
    if (isOneClass_)
      score = score > 0 ? 1 : -1;
    else
      ml::transformScores(transform_, {&score, 1});
    context.out<float>()[row] = static_cast<float>(score);
  }

  size_t supports_;
  Ref<const SupportVectors> vectors_;
  std::span<const float> coefficients_;
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

class SvmClassifierOp final : public ml::RowOp {
 public:
  explicit SvmClassifierOp(const OpRequest& request) : SvmClassifierOp(request, ml::SvmReader(request.node)) {}

 private:
  SvmClassifierOp(const OpRequest& request, const ml::SvmReader& reader)
      : RowOp(request),
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
        pairs_(reader.pairs),
        supports_(reader.supports) {
    reader.requireFeatures(request.node, rows().columns);
    findClasses(request.node);
    vectors_ = vectorsOf(request, supports_, rows().columns);
  }

  // Where the vectors of each class begin.
  void findClasses(const Node& node) {
    begins_.push_back(0);
    for (int64_t count : ml::integersOf(node, "vectors_per_class"))
      begins_.push_back(begins_.back() + static_cast<size_t>(count));
  }

  size_t workCount() const override {
    return supports_ == 0 ? classes_ : supports_ + pairs_ + classes_ * (2 * classes_ + 4) + 2;
  }
  int64_t operations() const override { return static_cast<int64_t>(supports_ + classes_) * (rows().columns + 8); }

  void runRow(const OpContext& context, int64_t row, const float* x, double* work) const override {
    if (supports_ > 0) return runVectors(context, row, x, work);
    const std::span<double> scores(work, classes_);
    for (size_t j = 0; j < classes_; ++j, passWork(2 * rows().columns)) {
      scores[j] = rho_[0];
      const float* weights = coefficients_.data() + j * static_cast<size_t>(rows().columns);
      for (int64_t k = 0; k < rows().columns; ++k) scores[j] += static_cast<double>(weights[k]) * x[k];
    }
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(scores)));
    writeScores(context, row, scores);
  }

  void runVectors(const OpContext& context, int64_t row, const float* x, double* work) const {
    const std::span<double> scores(work, pairs_), votes(work + pairs_, classes_);
    double* rest = votes.data() + classes_;
    float* terms = reinterpret_cast<float*>(rest);
    vectors_->apply(x, terms, terms + supports_);
    decide(terms, scores, votes);
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(votes)));
    if (!hasScores_) return;
    if (hasProbabilities_) return writeScores(context, row, probabilities(scores, rest));
    if (classes_ != 2) return writeScores(context, row, scores);
    ml::transformPair(transform_, false, scores[0], std::span<double, 2>(rest, 2));
    store(context.out<float>(1) + row * 2, {rest, 2});
  }

  // Every pair of classes has a decision function and gives a vote.
  void decide(const float* terms, std::span<double> scores, std::span<double> votes) const {
    std::fill(votes.begin(), votes.end(), 0.0);
    size_t pair = 0;
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = i + 1; j < classes_; ++j, ++pair) {
        scores[pair] = rho_[pair] + sumOf(terms, j - 1, i) + sumOf(terms, i, j);
        ++votes[scores[pair] > 0 ? i : j];
        passWork(16 + static_cast<int64_t>(begins_[i + 1] - begins_[i] + begins_[j + 1] - begins_[j]));
      }
  }

  double sumOf(const float* terms, size_t coefficientRow, size_t ofClass) const {
    const size_t begin = begins_[ofClass], count = begins_[ofClass + 1] - begin;
    return static_cast<double>(dot(coefficients_.data() + coefficientRow * supports_ + begin, terms + begin, count));
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
  size_t pairs_, supports_;
  std::vector<size_t> begins_;
  Ref<const SupportVectors> vectors_;
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
