// SPDX-License-Identifier: Apache-2.0
#include "ops/cpu/ml/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/number_access.h"
#include "base/object.h"

namespace max::ml {

namespace {

constexpr std::string_view kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

double logistic(double x) { return x < 0 ? 1 - 1 / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// Winitzki's approximation of the inverse error function, as in ONNX's reference and other runtimes.
double inverseErf(double x) {
  const double product = (1 - x) * (1 + x);
  if (product == 0) return 0;
  const double log = std::log(product);
  const double half = 2 / (std::numbers::pi * 0.147) + 0.5 * log;
  return std::copysign(std::sqrt(std::sqrt(half * half - log / 0.147) - half), x);
}

double probit(double x) { return std::numbers::sqrt2 * inverseErf(2 * x - 1); }

void divideBySum(std::span<double> scores, double fallback) {
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& score : scores) score = sum == 0 ? fallback : score / sum;
}

void softmax(std::span<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = std::exp(score - largest);
  divideBySum(scores, 0);
}

// Zero scores stay zero.
void softmaxZero(std::span<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  for (double& score : scores) score = std::fabs(score) > 1e-7 ? std::exp(score - largest) : score * std::exp(-largest);
  divideBySum(scores, 0.5);
}

}  // namespace

PostTransform postTransformOf(const Node& node) {
  const Attribute* attribute = node.attributes.find("post_transform");
  if (!attribute) return PostTransform::None;
  size_t index = std::size(kTransforms);
  if (const auto* name = std::get_if<std::string>(attribute))
    index = static_cast<size_t>(std::find(std::begin(kTransforms), std::end(kTransforms), *name) - kTransforms);
  else if (const auto* number = std::get_if<int64_t>(attribute); number && *number >= 0)
    index = static_cast<size_t>(*number);
  require(index < std::size(kTransforms), MAX_STATUS_INVALID_ARGUMENT, node.description(),
          ": attribute 'post_transform' is not NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
  return static_cast<PostTransform>(index);
}

void transformScores(PostTransform transform, std::span<double> scores) {
  if (scores.empty()) return;
  switch (transform) {
    case PostTransform::None:
      return;
    case PostTransform::Softmax:
      return softmax(scores);
    case PostTransform::SoftmaxZero:
      return softmaxZero(scores);
    case PostTransform::Logistic:
      std::transform(scores.begin(), scores.end(), scores.begin(), logistic);
      return;
    case PostTransform::Probit:
      std::transform(scores.begin(), scores.end(), scores.begin(), probit);
      return;
  }
}

void transformPair(PostTransform transform, bool isProbability, double score, std::span<double, 2> scores) {
  const bool isComplement = transform == PostTransform::Probit || (transform == PostTransform::None && isProbability);
  scores[0] = isComplement ? 1 - score : -score;
  scores[1] = score;
  transformScores(transform, scores);
}

size_t largestOf(std::span<const double> scores) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[best]) best = i;
  return best;
}

void store(float* out, std::span<const double> scores) {
  std::transform(scores.begin(), scores.end(), out, [](double score) { return static_cast<float>(score); });
}

template <class T>
const T* Rows::at(const void* data, int64_t i, T* buffer) const {
  const int64_t begin = i * columns;
  if (dtype == (std::is_same_v<T, float> ? DType::Float32 : DType::Float64)) return static_cast<const T*>(data) + begin;
  loadNumbers(dtype, data, begin, columns, buffer);
  return buffer;
}
template const float* Rows::at(const void*, int64_t, float*) const;
template const double* Rows::at(const void*, int64_t, double*) const;

Ref<Tensor> stringList(std::span<const std::string> texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return stringTensor(Shape{static_cast<int64_t>(views.size())}, views);
}

Labels::Labels(const LabelReader& reader) : integers_(reader.integers) {
  if (!reader.strings.empty()) strings_ = stringList(reader.strings);
}

void Labels::keep() const {
  if (strings_) ObjectPool::current().keep(strings_->storage());
}

void Labels::write(void* output, int64_t row, int64_t index) const {
  if (strings_)
    static_cast<const StringCell**>(output)[row] = strings_->as<const StringCell*>()[index];
  else
    static_cast<int64_t*>(output)[row] = integers_.empty() ? index : integers_[static_cast<size_t>(index)];
}

}  // namespace max::ml
