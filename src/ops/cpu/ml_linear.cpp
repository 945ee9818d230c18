// SPDX-License-Identifier: Apache-2.0
// LinearClassifier, LinearRegressor, SVMClassifier and SVMRegressor of ai.onnx.ml.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/cpu/gemm.h"
#include "ops/cpu/ml_scores.h"
#include "ops/families.h"

namespace max {

namespace {

using ml::Labels;
using ml::PostTransform;

// Output pointers that may be omitted.
template <class T>
T* rowOf(const KernelContext& context, size_t output, int64_t row, size_t columns) {
  T* data = context.out<T>(output);
  return data ? data + static_cast<size_t>(row) * columns : nullptr;
}

void store(float* out, std::span<const double> scores) {
  if (out) std::transform(scores.begin(), scores.end(), out, [](double score) { return static_cast<float>(score); });
}

bool isPresent(const KernelRequest& request, size_t output) {
  return output < request.outputs.size() && request.outputs[output].present();
}

// Scores of many rows of float32 at once; `work` holds one row.
void transformRows(PostTransform transform, float* scores, int64_t rows, int64_t columns, double* work) {
  const int64_t count = rows * columns;
  const auto apply = [&](ElementOp op) {
    findFloatTileFunction(op)({scores, {scores, nullptr, nullptr}, {1, 0, 0}, count, 0, 0});
  };
  if (transform == PostTransform::None) return;
  if (transform == PostTransform::Logistic) return apply(ElementOp::Sigmoid);
  if (transform == PostTransform::Softmax) {
    for (float* row = scores; row < scores + count; row += columns) {
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
class LinearKernel final : public Kernel {
 public:
  explicit LinearKernel(const KernelRequest& request)
      : rows_(request),
        coefficients_(ml::floatsOf(request.node, "coefficients")),
        intercepts_(ml::floatsOf(request.node, "intercepts")),
        transform_(ml::postTransformOf(request.node)),
        isClassifier_(request.node.op() == "LinearClassifier"),
        lanes_(std::max(request.lanes, 1)) {
    const Node& node = request.node;
    if (isClassifier_) {
      labels_ = Labels(node, "classlabels_ints", "classlabels_strings");
      scores_ = intercepts_.empty() ? std::max<size_t>(labels_.count(), 1) : intercepts_.size();
    } else {
      scores_ = static_cast<size_t>(node.attributes.getInt("targets", 1));
    }
    hasLabels_ = isClassifier_ && isPresent(request, 0);
    scoresOutput_ = isClassifier_ ? 1 : 0;
    hasScores_ = isPresent(request, scoresOutput_);
    isPair_ = isClassifier_ && scores_ == 1 && labels_.count() == 2;
    check(node);
  }

  size_t scratchBytes() const override { return static_cast<size_t>(lanes_) * laneFloats() * sizeof(float); }

  void run(const KernelContext& context) const override {
    if (hasLabels_) labels_.keep();
    const int64_t operations = static_cast<int64_t>(scores_) * (rows_.columns + 16);
    const int64_t grain = std::max<int64_t>(1, kOperationsPerTask / operations);
    context.parallelFor(rows_.count, grain, [&](int64_t begin, int64_t end, int lane) {
      float* scratch = reinterpret_cast<float*>(context.scratch) + static_cast<size_t>(lane) * laneFloats();
      for (int64_t row = begin; row < end; row += kBlock) runRows(context, row, std::min(kBlock, end - row), scratch);
    });
  }

 private:
  static constexpr int64_t kBlock = 64;
  static constexpr int64_t kOperationsPerTask = 32768;

  void check(const Node& node) const {
    if (!intercepts_.empty()) ml::requireCount(node, "intercepts", intercepts_.size(), scores_);
    require(!isClassifier_ || isPair_ || labels_.count() == 0 || labels_.count() >= scores_,
            MAX_STATUS_INVALID_ARGUMENT, node.description(), ": has ", labels_.count(), " class labels for ", scores_,
            " scores");
    require(rows_.columns > 0, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": its input has no features");
    ml::requireCount(node, "coefficients", coefficients_.size(), scores_ * static_cast<size_t>(rows_.columns));
  }

  // A row of scores in float64, one row converted to float32, and scores that are not written at once.
  size_t laneFloats() const {
    return (static_cast<size_t>(rows_.columns) + static_cast<size_t>(kBlock + 2) * scores_ + 15) / 16 * 16;
  }

  void runRows(const KernelContext& context, int64_t begin, int64_t count, float* scratch) const {
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
  bool isClassifier_, isPair_ = false, hasLabels_ = false, hasScores_ = false;
  int lanes_;
  size_t scoresOutput_ = 0;
  Labels labels_;
  size_t scores_;
};

float squaredDistance(const float* a, const float* b, int64_t count) {
  constexpr int64_t kParts = 8;
  float sums[kParts] = {};
  int64_t k = 0;
  for (; k + kParts <= count; k += kParts)
    for (int64_t i = 0; i < kParts; ++i) sums[i] += (a[k + i] - b[k + i]) * (a[k + i] - b[k + i]);
  for (; k < count; ++k) sums[0] += (a[k] - b[k]) * (a[k] - b[k]);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

enum class SvmFunction { Linear, Poly, Rbf, Sigmoid };
constexpr std::string_view kSvmFunctions[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

// The kernel function of a support vector machine, of one row and all vectors.
class SvmKernelFunction {
 public:
  SvmKernelFunction(const Node& node, int64_t columns, size_t vectors) : columns_(columns), count_(vectors) {
    const std::string name = node.attributes.getString("kernel_type", "LINEAR");
    const auto* found = std::find(std::begin(kSvmFunctions), std::end(kSvmFunctions), name);
    require(found != std::end(kSvmFunctions), MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": attribute 'kernel_type' is '", name, "', none of LINEAR, POLY, RBF, SIGMOID");
    function_ = static_cast<SvmFunction>(found - kSvmFunctions);
    const std::span<const float> parameters = ml::floatsOf(node, "kernel_params");
    if (!parameters.empty()) {
      ml::requireCount(node, "kernel_params", parameters.size(), 3);
      gamma_ = parameters[0];
      offset_ = parameters[1];
      degree_ = parameters[2];
    }
    vectors_ = ml::floatsOf(node, "support_vectors");
    ml::requireCount(node, "support_vectors", vectors_.size(), count_ * static_cast<size_t>(columns_));
  }

  void apply(const float* x, float* out) const {
    if (function_ == SvmFunction::Rbf) {
      for (size_t j = 0; j < count_; ++j)
        out[j] = -gamma_ * squaredDistance(x, vectors_.data() + static_cast<int64_t>(j) * columns_, columns_);
      return applyTile(ElementOp::Exp, out);
    }
    gemmTable().dot(x, vectors_.data(), columns_, columns_, static_cast<int64_t>(count_), out);
    if (function_ == SvmFunction::Linear) return;
    for (size_t j = 0; j < count_; ++j) out[j] = out[j] * gamma_ + offset_;
    if (function_ == SvmFunction::Sigmoid) return applyTile(ElementOp::Tanh, out);
    for (size_t j = 0; j < count_; ++j) out[j] = std::pow(out[j], degree_);
  }

 private:
  void applyTile(ElementOp op, float* out) const {
    findFloatTileFunction(op)({out, {out, nullptr, nullptr}, {1, 0, 0}, static_cast<int64_t>(count_), 0, 0});
  }

  SvmFunction function_;
  int64_t columns_;
  size_t count_;
  float gamma_ = 0, offset_ = 0, degree_ = 0;
  std::span<const float> vectors_;
};

class SvmRegressorKernel final : public ml::RowKernel {
 public:
  explicit SvmRegressorKernel(const KernelRequest& request)
      : RowKernel(request),
        supports_(countOf(request.node)),
        function_(supportsOnly(request.node, rows().columns, supports_)),
        coefficients_(ml::floatsOf(request.node, "coefficients")),
        transform_(ml::postTransformOf(request.node)),
        isOneClass_(request.node.attributes.getInt("one_class", 0) != 0) {
    const std::span<const float> rho = ml::floatsOf(request.node, "rho");
    require(!rho.empty(), MAX_STATUS_INVALID_ARGUMENT, request.node.description(), ": has no attribute 'rho'");
    rho_ = rho[0];
    ml::requireCount(request.node, "coefficients", coefficients_.size(),
                     supports_ > 0 ? supports_ : static_cast<size_t>(rows().columns));
  }

 private:
  static size_t countOf(const Node& node) {
    const int64_t count = node.attributes.getInt("n_supports", 0);
    require(count >= 0 && count <= INT32_MAX, MAX_STATUS_INVALID_ARGUMENT, node.description(),
            ": attribute 'n_supports' is ", count);
    return static_cast<size_t>(count);
  }
  // Without support vectors the model is linear, whatever its kernel type.
  static std::unique_ptr<SvmKernelFunction> supportsOnly(const Node& node, int64_t columns, size_t supports) {
    return supports > 0 ? std::make_unique<SvmKernelFunction>(node, columns, supports) : nullptr;
  }
  size_t workCount() const override { return supports_ / 2 + 1; }
  int64_t operations() const override { return static_cast<int64_t>(supports_ + 1) * (rows().columns + 8); }

  void runRow(const KernelContext& context, int64_t row, const float* x, double* work) const override {
    const float* terms = x;
    if (function_) {
      function_->apply(x, reinterpret_cast<float*>(work));
      terms = reinterpret_cast<const float*>(work);
    }
    double score = rho_;
    for (size_t j = 0; j < coefficients_.size(); ++j) score += static_cast<double>(coefficients_[j]) * terms[j];
    if (isOneClass_)
      score = score > 0 ? 1 : -1;
    else
      ml::transformScores(transform_, {&score, 1});
    context.out<float>()[row] = static_cast<float>(score);
  }

  size_t supports_;
  std::unique_ptr<SvmKernelFunction> function_;
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
  for (size_t step = 0; step < std::max<size_t>(100, k); ++step) {
    double pqp = 0, error = 0;
    for (size_t t = 0; t < k; ++t) {
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

class SvmClassifierKernel final : public ml::RowKernel {
 public:
  explicit SvmClassifierKernel(const KernelRequest& request)
      : RowKernel(request),
        labels_(request.node, "classlabels_ints", "classlabels_strings"),
        classes_(std::max<size_t>(labels_.count(), 1)),
        coefficients_(ml::floatsOf(request.node, "coefficients")),
        rho_(ml::floatsOf(request.node, "rho")),
        probA_(ml::floatsOf(request.node, "prob_a")),
        probB_(ml::floatsOf(request.node, "prob_b")),
        transform_(ml::postTransformOf(request.node)),
        hasLabels_(isPresent(request, 0)),
        hasScores_(isPresent(request, 1)) {
    const Node& node = request.node;
    pairs_ = classes_ * (classes_ - 1) / 2;
    countSupports(node);
    ml::requireCount(node, "coefficients", coefficients_.size(),
                     supports_ > 0 ? (classes_ - 1) * supports_ : classes_ * static_cast<size_t>(rows().columns));
    if (supports_ > 0) {
      function_ = std::make_unique<SvmKernelFunction>(node, rows().columns, supports_);
      require(rho_.size() >= pairs_, MAX_STATUS_INVALID_ARGUMENT, node.description(), ": attribute 'rho' has ",
              rho_.size(), " elements, needs ", pairs_);
    }
    require(!rho_.empty(), MAX_STATUS_INVALID_ARGUMENT, node.description(), ": has no attribute 'rho'");
    hasProbabilities_ = supports_ > 0 && !probA_.empty();
    if (hasProbabilities_) {
      ml::requireCount(node, "prob_a", probA_.size(), pairs_);
      ml::requireCount(node, "prob_b", probB_.size(), pairs_);
    }
  }

 private:
  void countSupports(const Node& node) {
    const std::span<const int64_t> counts = ml::integersOf(node, "vectors_per_class");
    for (int64_t count : counts) {
      require(count >= 0 && count <= INT32_MAX, MAX_STATUS_INVALID_ARGUMENT, node.description(),
              ": attribute 'vectors_per_class' holds ", count);
      begins_.push_back(supports_);
      supports_ += static_cast<size_t>(count);
    }
    begins_.push_back(supports_);
    if (supports_ > 0) ml::requireCount(node, "vectors_per_class", counts.size(), classes_);
  }

  size_t workCount() const override {
    return supports_ == 0 ? classes_ : supports_ + pairs_ + classes_ * (2 * classes_ + 4) + 2;
  }
  int64_t operations() const override { return static_cast<int64_t>(supports_ + classes_) * (rows().columns + 8); }

  void runRow(const KernelContext& context, int64_t row, const float* x, double* work) const override {
    if (supports_ > 0) return runVectors(context, row, x, work);
    const std::span<double> scores(work, classes_);
    for (size_t j = 0; j < classes_; ++j) {
      scores[j] = rho_[0];
      const float* weights = coefficients_.data() + j * static_cast<size_t>(rows().columns);
      for (int64_t k = 0; k < rows().columns; ++k) scores[j] += static_cast<double>(weights[k]) * x[k];
    }
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(scores)));
    writeScores(context, row, scores);
  }

  void runVectors(const KernelContext& context, int64_t row, const float* x, double* work) const {
    const std::span<double> scores(work, pairs_), votes(work + pairs_, classes_);
    double* rest = votes.data() + classes_;
    function_->apply(x, reinterpret_cast<float*>(rest));
    decide(reinterpret_cast<const float*>(rest), scores, votes);
    writeLabel(context, row, static_cast<int64_t>(ml::largestOf(votes)));
    if (!hasScores_) return;
    if (hasProbabilities_) return writeScores(context, row, probabilities(scores, rest));
    if (classes_ != 2) return writeScores(context, row, scores);
    ml::transformPair(transform_, false, scores[0], std::span<double, 2>(rest, 2));
    store(rowOf<float>(context, 1, row, 2), {rest, 2});
  }

  // Every pair of classes has a decision function and gives a vote.
  void decide(const float* terms, std::span<double> scores, std::span<double> votes) const {
    std::fill(votes.begin(), votes.end(), 0.0);
    size_t pair = 0;
    for (size_t i = 0; i < classes_; ++i)
      for (size_t j = i + 1; j < classes_; ++j, ++pair) {
        scores[pair] = rho_[pair] + sumOf(terms, j - 1, i) + sumOf(terms, i, j);
        ++votes[scores[pair] > 0 ? i : j];
      }
  }

  double sumOf(const float* terms, size_t coefficientRow, size_t ofClass) const {
    const float* weights = coefficients_.data() + coefficientRow * supports_;
    double sum = 0;
    for (size_t k = begins_[ofClass]; k < begins_[ofClass + 1]; ++k) sum += static_cast<double>(weights[k]) * terms[k];
    return sum;
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

  void writeLabel(const KernelContext& context, int64_t row, int64_t index) const {
    if (hasLabels_) labels_.write(context.outputs[0], row, index);
  }

  void writeScores(const KernelContext& context, int64_t row, std::span<double> scores) const {
    if (!hasScores_) return;
    ml::transformScores(transform_, scores);
    store(rowOf<float>(context, 1, row, scores.size()), scores);
  }

  Labels labels_;
  size_t classes_;
  std::span<const float> coefficients_, rho_, probA_, probB_;
  PostTransform transform_;
  bool hasLabels_, hasScores_, hasProbabilities_ = false;
  size_t pairs_ = 0, supports_ = 0;
  std::vector<size_t> begins_;
  std::unique_ptr<SvmKernelFunction> function_;
};

template <class K>
std::unique_ptr<Kernel> make(const KernelRequest& request) {
  return std::make_unique<K>(request);
}

constexpr Implementation kLinear[] = {{"rows", nullptr, make<LinearKernel>}};
constexpr Implementation kSvmRegressor[] = {{"rows", nullptr, make<SvmRegressorKernel>}};
constexpr Implementation kSvmClassifier[] = {{"rows", nullptr, make<SvmClassifierKernel>}};

const OpKernels kRows[] = {
    {"ai.onnx.ml", "LinearClassifier", kLinear},
    {"ai.onnx.ml", "LinearRegressor", kLinear},
    {"ai.onnx.ml", "SVMClassifier", kSvmClassifier},
    {"ai.onnx.ml", "SVMRegressor", kSvmRegressor},
};

}  // namespace

std::span<const OpKernels> mlLinearKernels() { return kRows; }

}  // namespace max
