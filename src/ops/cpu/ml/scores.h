// SPDX-License-Identifier: Apache-2.0
// Shared by the classifiers and regressors of ai.onnx.ml: rows of features, labels, scores.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "graph/readers/ml.h"
#include "ops/op_kernel.h"

namespace max::ml {

enum class PostTransform { None, Softmax, Logistic, SoftmaxZero, Probit };

// Of the attribute 'post_transform', by name or (TreeEnsemble) by number.
PostTransform postTransformOf(const Node& node);
void transformScores(PostTransform transform, std::span<double> scores);
// Writes one score of two classes as two and transforms them; a probability's counterpart is 1 - p, a margin's -m.
void transformPair(PostTransform transform, bool isProbability, double score, std::span<double, 2> scores);
size_t largestOf(std::span<const double> scores);  // the first of equal ones; NaN is never larger

inline bool isPresent(const OpRequest& request, size_t output) {
  return output < request.outputs.size() && request.outputs[output].present();
}
void store(float* out, std::span<const double> scores);
// A matrix of one row per example; a list is one row.
struct Rows {
  explicit Rows(const OpRequest& request)
      : dtype(request.inputs[0].dtype),
        count(request.inputs[0].shape.rank() == 1 ? 1 : request.inputs[0].shape[0]),
        columns(request.inputs[0].shape.back()) {}
  // Row i as T: in place if it has this type, else converted into `buffer`.
  template <class T>
  const T* at(const void* data, int64_t i, T* buffer) const;
  // Of buffers for so many rows as float32.
  size_t bufferFloats(int64_t rows) const { return dtype == DType::Float32 ? 0 : static_cast<size_t>(columns * rows); }

  DType dtype;
  int64_t count, columns;
};

// A self-contained list.
Ref<Tensor> stringList(std::span<const std::string> texts);

// Element `index` of labels as output; without labels, the index itself.
class Labels {
 public:
  Labels() = default;
  explicit Labels(const LabelReader& reader);
  // Called once per run, in its thread: strings that it writes live as long as the run's values.
  void keep() const;
  void write(void* output, int64_t row, int64_t index) const;

 private:
  std::span<const int64_t> integers_;
  Ref<Tensor> strings_;
};

}  // namespace max::ml
